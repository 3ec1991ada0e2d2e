"""How long a user waits before anything happens: `import unbraid` beside `import torch`, and the command line.

These marks are in seconds, because a person waits in seconds; they hold for a machine that is doing nothing else.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import timing
from timing import Row

SCRIPT = Path(sys.executable).with_name("unbraid")
UNBRAID = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "unbraid"]
TORCH, BOTH, TRAIN = "import torch", "import torch, unbraid", "import torch; from unbraid import train"
LIST, HELP = "unbraid list", "unbraid --help"
COMMANDS = {
    "python": [sys.executable, "-c", ""],
    **{code: [sys.executable, "-c", code] for code in (TORCH, BOTH, TRAIN)},
    LIST: [*UNBRAID, "list"],
    HELP: [*UNBRAID, "--help"],
}


def wall(command: list[str], threads: int) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=timing.clean(threads))
    return time.perf_counter() - began


def main() -> None:
    given = timing.options(__doc__)
    timing.print_setting(given)
    found: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(given.rounds + 1):  # the first brings the files into memory and is not counted
        for name, command in COMMANDS.items():
            seconds = wall(command, given.threads)
            if number:
                found[name].append(seconds)
    added = [both - alone for both, alone in zip(found[BOTH], found[TORCH], strict=True)]
    more = [train - alone for train, alone in zip(found[TRAIN], found[TORCH], strict=True)]
    rows = [
        Row("python, doing nothing", found["python"], unit=" s"),
        Row(TORCH, found[TORCH], unit=" s"),
        Row("import unbraid, on top of torch", added, 0.3, " s"),
        Row("from unbraid import train, on top of torch", more, unit=" s"),
        Row(LIST, found[LIST], 0.5, " s"),
        Row(HELP, found[HELP], 0.5, " s"),
    ]
    timing.print_table("start-up, wall time", "seconds", rows)


if __name__ == "__main__":
    main()
