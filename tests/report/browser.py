"""A report in a real headless browser: what it measures of itself at one width and in one colour scheme."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')

FRAME = """<!doctype html><meta charset="utf-8">
<style>:root{color-scheme:light dark}body{margin:0}</style>
<script>
addEventListener("message", event => { document.querySelector("pre").textContent = event.data; });
</script>
<iframe src="%s" style="border:0;width:%dpx;height:3000px"></iframe><pre></pre>
"""


def find_browser() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def measure(browser: str, report: Path, folder: Path, width: int, dark: bool) -> dict:
    """Open the report in a frame (no window is as narrow as a phone) and read what it says of itself."""
    folder.mkdir(parents=True, exist_ok=True)
    script = (Path(__file__).parent / "measure.js").read_text(encoding="utf-8")
    page = POLICY.sub("", report.read_text(encoding="utf-8")).replace("</body>", f"<script>{script}</script></body>")
    (folder / "copy.html").write_text(page, encoding="utf-8")
    (folder / "frame.html").write_text(FRAME % ("copy.html", width), encoding="utf-8")
    for budget in (
        4000,
        20_000,
        60_000,
    ):  # virtual milliseconds, which run out on a busy machine before the frame has spoken
        said, error = _dump(browser, folder, width, dark, budget)
        if found := re.search(r"<pre>(\{.*?\})</pre>", said, re.S):
            return json.loads(html.unescape(found.group(1)))
    raise AssertionError(f"the browser said nothing: {error[-2000:]}")


def _dump(browser: str, folder: Path, width: int, dark: bool, budget: int) -> tuple[str, str]:
    """The page after so much time, and what the browser complained of."""
    command = [
        browser,
        *FLAGS,
        f"--virtual-time-budget={budget}",
        f"--user-data-dir={folder / 'profile'}",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        f"--window-size={max(width, 500) + 20},1200",
        "--dump-dom",
        (folder / "frame.html").as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout, done.stderr
