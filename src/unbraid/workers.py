"""Jobs in processes of their own: seeds that cannot be stacked, and the configurations of a study.

A worker is `python -m unbraid.workers` with a job as JSON on its standard input, so that a user's script needs no
`if __name__ == "__main__"`. Whatever a worker does is in the run folder; if it dies, the folder is resumed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from unbraid.errors import UserError
from unbraid.runs import group_folder, read_history

Job = dict[str, Any]  # the keywords of unbraid.train


def run_jobs(jobs: Sequence[Job], processes: int, folders: Sequence[Path], *, progress: bool = True) -> None:
    """Run jobs, so many at a time, each with its share of the cores; one bar over all steps.

    Arguments:
        jobs: keywords of `unbraid.train`, one dictionary per process.
        processes: how many at a time.
        folders: the run folder of each job, to see how far it is.
    """
    waiting, alive = list(enumerate(jobs)), {}
    threads = max(1, (os.cpu_count() or 1) // processes)
    failures: list[str] = []
    bar = tqdm(total=sum(job["steps"] for job in jobs), unit="step", disable=None if progress else True)
    try:
        while waiting or alive:
            while waiting and len(alive) < processes:
                place, job = waiting.pop(0)
                alive[place] = _start(job, threads)
            time.sleep(0.2)
            for place, process in list(alive.items()):
                if process.poll() is not None:
                    _, error = process.communicate()
                    del alive[place]
                    if process.returncode:
                        failures.append(_last_line(error) or f"a worker ended with code {process.returncode}")
                    elif error.strip():
                        tqdm.write(error.strip(), file=sys.stderr)
            if not bar.disable:
                bar.n = sum(_step(folder, job) for folder, job in zip(folders, jobs, strict=True))
                bar.refresh()
    finally:
        for process in alive.values():
            process.terminate()
        bar.close()
    if failures:
        raise UserError("; ".join(dict.fromkeys(failures)))


def _start(job: Job, threads: int) -> subprocess.Popen[str]:
    # UNBRAID_WORKER keeps a worker from starting workers of its own
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "UNBRAID_WORKER": "1", "PYTHONWARNINGS": "default"}
    process = subprocess.Popen(
        [sys.executable, "-m", "unbraid.workers"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps({**job, "progress": False}))
    process.stdin.close()
    process.stdin = None
    return process


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].removeprefix("unbraid: ") if lines else ""


def _step(folder: Path, job: Job) -> int:
    if (folder / "weights.safetensors").exists():
        return int(job["steps"])
    rows = read_history(folder)
    return int(rows[-1]["step"]) if rows else 0


def train_in_processes(config: Job, seeds: Sequence[int], out: Path, processes: int, job: Job) -> None:
    """Seeds of one configuration, a process each: on a CPU one-thread processes beat threads."""
    kept = ("method", "data", "net", "steps", "batch_size", "lr", "optimiser", "precision", "compile", "clip", "probe_every")
    base = {key: config[key] for key in kept} | config["options"] | {"out": str(out), "device": "cpu"}
    base["save_seconds"] = job["save_seconds"]
    group = group_folder(out, config)
    run_jobs([{**base, "seed": s} for s in seeds], min(processes, len(seeds)),
             [group / f"seed-{s}" for s in seeds], progress=job["progress"])  # fmt: skip


def main() -> int:
    """One job from standard input."""
    import torch

    from unbraid.training import train

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    try:
        train(**json.load(sys.stdin))
    except UserError as error:
        print(f"unbraid: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
