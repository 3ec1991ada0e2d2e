"""The README's pictures: a run's traversals, and the top of its report as a headless browser shows it.

python docs/pictures/make.py runs/beta_vae-sprites-…/seed-0
"""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from unbraid.report.pictures import grid_png

LATENTS = 3  # the most precise ones
run, here = Path(sys.argv[1]), Path(__file__).parent
stored = np.load(run / "pictures.npz")
grid_png(stored["traversals"][:LATENTS], here / "traversals.png", scale=2)
browser = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("no chromium here")
page = (run / "report.html").resolve().as_uri()
options = [
    "--headless",
    "--no-sandbox",
    "--hide-scrollbars",
    "--force-device-scale-factor=1.5",
    "--window-size=1000,900",
]
subprocess.run([browser, *options, f"--screenshot={here / 'report.png'}", page], check=True, capture_output=True)
