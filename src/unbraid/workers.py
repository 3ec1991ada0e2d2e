"""Jobs in processes of their own: seeds that cannot be stacked, and the configurations of a study.

A worker is `python -m unbraid.workers` with a job as JSON on its standard input, so that a user's script needs no
`if __name__ == "__main__"`. Whatever a worker does is in the run folder; if it dies, the folder is resumed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from unbraid import catalog
from unbraid.errors import Notice, UserError, show_notices_only
from unbraid.runs import IDENTITY
from unbraid.seeds import seed_numbers

Job = dict[str, Any]  # the keywords of unbraid.train
INSIDE = "UNBRAID_WORKER"  # set in a worker, which starts no workers of its own
SCORED = "scored by"  # in a job: the measures to score its runs on, None for all; without it they are not scored


class Worker:
    """One process with one job; knows how many steps it has done."""

    def __init__(self, job: Job, threads: int) -> None:
        self.job, self.steps, self.error = job, 0, ""
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), INSIDE: "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "unbraid.workers"], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.process.stdin.write(json.dumps(job))
        self.process.stdin.close()
        self.readers = [
            threading.Thread(target=self._count, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._complain, args=(self.process.stderr,), daemon=True),
        ]
        for reader in self.readers:
            reader.start()

    def _count(self, lines: Any) -> None:
        for line in lines:
            if line.strip().isdigit():
                self.steps = int(line)

    def _complain(self, lines: Any) -> None:
        self.error = lines.read()

    def finished(self) -> bool:
        """Whether the process has ended; its words are complete then."""
        if self.process.poll() is None:
            return False
        for reader, stream in zip(self.readers, (self.process.stdout, self.process.stderr), strict=True):
            reader.join()
            if stream:
                stream.close()
        return True


def run_jobs(jobs: Sequence[Job], processes: int, *, progress: bool = True) -> None:
    """Run jobs, so many at a time, each with its share of the cores; one bar over all steps.

    Arguments:
        jobs: keywords of `unbraid.train`, one dictionary per process.
        processes: how many at a time.
        progress: show the bar where a person is watching.
    """
    processes = max(1, min(at_once(processes), len(jobs)))
    waiting, alive, done = list(jobs), list[Worker](), 0
    threads = max(1, (os.cpu_count() or 1) // processes)
    failures: list[str] = []
    bar = tqdm(total=sum(map(_steps, jobs)), unit="step", disable=None if progress else True)
    try:
        while waiting or alive:
            while waiting and len(alive) < processes:
                alive.append(Worker(waiting.pop(0), threads))
            time.sleep(0.1)
            for worker in [w for w in alive if w.finished()]:
                alive.remove(worker)
                done += _steps(worker.job)
                if worker.process.returncode:
                    if "Traceback" in worker.error:  # a fault of ours, not of the user
                        tqdm.write(worker.error.strip(), file=sys.stderr)
                    failures.append(_last_line(worker.error) or f"a worker ended with code {worker.process.returncode}")
                else:
                    _pass_on(worker.error)
            bar.update(done + sum(w.steps for w in alive) - bar.n)
    finally:
        for worker in alive:
            worker.process.terminate()
        bar.close()
    if failures:
        raise UserError("; ".join(dict.fromkeys(failures)))


def at_once(processes: Any) -> int:
    """How many processes were asked for; one per core where it was left open."""
    if processes is None:
        return os.cpu_count() or 1
    if isinstance(processes, bool) or not isinstance(processes, int) or processes < 1:
        raise UserError(f"processes must be a whole number of at least 1, not {processes!r}")
    return processes


def _steps(job: Job) -> int:
    """The steps of a job, `train`'s own where it names none."""
    default = next(o.default for o in catalog.function_options("training", "train") if o.name == "steps")
    return job.get("steps", int(default or 0))


def _pass_on(text: str) -> None:
    """Notices of a worker are notices here."""
    for line in filter(str.strip, text.splitlines()):
        if line.startswith("unbraid: "):
            warnings.warn(line.removeprefix("unbraid: "), Notice, stacklevel=2)
        else:
            tqdm.write(line, file=sys.stderr)


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].removeprefix("unbraid: ") if lines else ""


def inside() -> bool:
    """Whether this process is a worker."""
    return INSIDE in os.environ


def train_in_processes(config: Job, seeds: Sequence[int], job: Job, processes: int, *, progress: bool) -> None:
    """Seeds of one configuration, a process each: on a CPU one-thread processes beat threads."""
    shared = {key: config[key] for key in IDENTITY if key not in ("options", "source")}
    run_jobs([{**shared, **config["options"], **job, "seed": s} for s in seeds], processes, progress=progress)


def apart(jobs: Sequence[Job]) -> list[Job]:
    """Jobs as processes take them: one per seed where seeds cannot be stacked, one for all seeds where they can."""
    import torch

    from unbraid.configuration import build, of_data, training_options
    from unbraid.data import open_data
    from unbraid.ensembles import pays

    parts = []
    for job in jobs:
        data = open_data(job["data"])
        options = {k: v for k, v in job.items() if k not in ("method", "data", *training_options())}
        config = {"method": job["method"], "net": job.get("net", "auto"), "options": options, "seed": 0}
        method = build({**config, **of_data(data)})
        seeds = seed_numbers(job["seeds"])
        together = pays(method, torch.device("cpu"))
        parts += [{**job, "seeds": group} for group in ([seeds] if together else [[s] for s in seeds])]
    return parts


def _end_with_parent() -> None:
    """A worker whose parent was killed stops too (where the system can tell): nobody would read what it does."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def main() -> int:
    """One job from standard input."""
    import torch

    from unbraid.evaluation import score_missing
    from unbraid.training import train

    show_notices_only()
    _end_with_parent()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    job = json.load(sys.stdin)
    scored = SCORED in job
    measures = job.pop(SCORED, None)
    try:
        run = train(**{**job, "progress": False})
        if scored:
            score_missing(run, measures)
    except UserError as error:
        print(f"unbraid: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
