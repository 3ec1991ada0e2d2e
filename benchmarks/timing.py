"""What the benchmarks share: every measurement in a process of its own, in turns, and a table of ratios.

One process per measurement, because training with Unbraid changes the allocator of its whole process, and because a
process may escape page faults by luck: several fresh ones show how much luck matters.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from statistics import median

ALLOCATOR = ("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD")  # environment variables that may change it
KEPT = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1)}  # what unbraid.devices sets, from outside


@dataclass
class Variant:
    """Something to measure.

    Arguments:
        name: in the table.
        measure: returns seconds; runs in a fresh process.
        environment: of that process, added to everything else.
        optional: may fail, for instance because a peer is not installed.
    """

    name: str
    measure: Callable[[argparse.Namespace], float]
    environment: dict[str, str] = field(default_factory=dict)
    optional: bool = False


@dataclass
class Row:
    """A line of a table: values of several rounds, and the mark that their median should stay under."""

    name: str
    values: Sequence[float]
    mark: float | None = None
    unit: str = ""


def options(about: str | None, *, threads: int | None = None) -> argparse.Namespace:
    """The options that all scripts share."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="measurements of every variant (5)")
    parser.add_argument("--threads", type=int, default=threads or os.cpu_count(), help="of every process (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="tiny counts: shows that it runs, measures nothing")
    parser.add_argument("--variant", help=argparse.SUPPRESS)  # the one to measure, in its own process
    parser.add_argument("--folder", help=argparse.SUPPRESS)  # where the data of all variants are
    given = parser.parse_args()
    if given.quick:
        given.rounds = 1
    return given


def answer(variants: Sequence[Variant], given: argparse.Namespace) -> None:
    """In a process of its own: measure the one variant and print its seconds."""
    seconds = next(v for v in variants if v.name == given.variant).measure(given)
    print(json.dumps(seconds))


def rounds(variants: Sequence[Variant], given: argparse.Namespace) -> dict[str, list[float]]:
    """Seconds of every variant, in turns, each round beginning with another one; failed optional ones are left out."""
    found: dict[str, list[float]] = {v.name: [] for v in variants}
    for number in range(given.rounds):
        first = number % len(variants)
        for variant in [*variants[first:], *variants[:first]]:
            if variant.name not in found:
                continue
            seconds = _measure(variant, given)
            if seconds is None:
                del found[variant.name]
                continue
            found[variant.name].append(seconds)
            print(f"round {number + 1}: {variant.name}: {seconds * 1e3:.3f} ms", file=sys.stderr, flush=True)
    return found


def _measure(variant: Variant, given: argparse.Namespace) -> float | None:
    command = [sys.executable, sys.argv[0], "--variant", variant.name, "--threads", str(given.threads)]
    command += ["--quick"] * given.quick + (["--folder", given.folder] if given.folder else [])
    environment = clean(given.threads) | variant.environment
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    if done.returncode == 0:
        return float(json.loads(done.stdout.strip().splitlines()[-1]))
    if not variant.optional:
        raise SystemExit(f"{variant.name} failed:\n{done.stderr}")
    print(f"{variant.name}: left out: {done.stderr.strip().splitlines()[-1]}")
    return None


def clean(threads: int) -> dict[str, str]:
    """This environment with so many threads and the allocator as it comes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ALLOCATOR)}
    return kept | {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}


def ratios(found: dict[str, list[float]], name: str, base: str, times: float = 1.0) -> list[float]:
    """Round by round, so that what slows a whole round down cancels; empty if a variant was left out."""
    return [a / (times * b) for a, b in zip(found.get(name, []), found.get(base, []), strict=False)]


def print_setting(given: argparse.Namespace, **more: str) -> None:
    """What a number means nothing without."""
    setting = {
        "torch": version("torch"),
        "unbraid": version("unbraid"),
        "python": platform.python_version(),
        "threads": f"{given.threads} in every process, of {os.cpu_count()} cores",
        "allocator": f"{' '.join(platform.libc_ver())} as it comes: MALLOC_*, GLIBC_TUNABLES and LD_PRELOAD are unset",
        "rounds": f"{given.rounds}, in turns, every measurement in a fresh process",
        **more,
    }
    for name, value in setting.items():
        print(f"{name:<10} {value}")
    if given.quick:
        print("--quick: the numbers below mean nothing")


def print_table(title: str, column: str, rows: Sequence[Row], least: bool = False) -> None:
    """Medians, how far the rounds lie apart, and the marks beside them: what they should stay under, or reach."""
    rows = [row for row in rows if row.values]
    width = max([len(title), *(len(row.name) for row in rows)])
    print(f"\n{title:<{width}}  {column:>10}  {'rounds':>17}  {'mark':>8}")
    for row in rows:
        value, spread = median(row.values), f"{min(row.values):.3g} - {max(row.values):.3g}"
        mark = "" if row.mark is None else f"{row.mark:g}{row.unit}"
        print(
            f"{row.name:<{width}}  {f'{value:.3f}{row.unit}':>10}  {spread:>17}  {mark:>8}  {_verdict(value, row.mark, least)}"
        )


def _verdict(value: float, mark: float | None, least: bool) -> str:
    if mark is None:
        return ""
    if least:
        return "ok" if value >= mark else "under"
    return "ok" if value <= mark else "over"
