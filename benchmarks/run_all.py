"""All benchmarks, one after another; options are handed on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

for name in ("startup", "rendering", "linear", "contrastive", "conv"):
    print(f"\n=== {name}", flush=True)
    subprocess.run([sys.executable, Path(__file__).with_name(f"{name}.py"), *sys.argv[1:]], check=False)
