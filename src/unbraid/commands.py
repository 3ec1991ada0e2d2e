"""What each command of `unbraid` does with what was said: calls the library, prints tables. Heavy imports happen inside."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unbraid import catalog
from unbraid.errors import UserError, unknown
from unbraid.printing import Row, ledger_rows, list_rows, print_rows, print_table, score_row, summary_rows


def train(words: list[str], examples: str) -> int:
    """`unbraid train METHOD DATA --option value …`: options of the training and of the method alike."""
    shared = [o for o in catalog.function_options("training", "train") if o.name not in ("method", "data", "options")]
    named, said = _sort(words, {o.name for o in shared if o.default == "False"})
    own = [o for o in catalog.entry("methods", named[0]).options if o.name != "net"] if named else []
    if not words or any(w in ("-h", "--help") for w in words):
        print(_train_help(named[0] if named else "METHOD", own, shared, examples))
        return 0
    if len(named) < 2:
        raise UserError("train what on what? unbraid train METHOD DATA: see unbraid list methods, unbraid list data")
    if named[2:]:
        raise UserError(f"unexpected {named[2]!r}: beside method and data there are only options such as --steps 20000")
    chosen = _options(said, [o.name for o in [*own, *shared]])

    from unbraid.training import train as start

    run = start(named[0], named[1], **chosen)
    stopped = [m for m in run.members if m.state["status"] == "stopped"]
    for member in stopped:
        print(f"unbraid: {member.path.name} {member.state['reason']}; its last good state (step {member.state['step']}) "
              "is kept: try a lower --lr or --clip 1", file=sys.stderr)  # fmt: skip
    print(run.path)
    return 1 if stopped else 0


def _sort(words: list[str], flags: set[str]) -> tuple[list[str], list[tuple[str, str | None]]]:
    """Names, and options with their values, in whatever order they were said; a flag alone means true."""
    named: list[str] = []
    said: list[tuple[str, str | None]] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if not word.startswith("-"):
            named.append(word)
            continue
        name, equals, value = word.partition("=")
        if name.removeprefix("--") in flags and not equals:
            alone = not left or left[0].lower() not in ("true", "false")
            said.append((name, "true" if alone else left.pop(0)))
        else:
            alone = not equals and (not left or left[0].startswith("--"))
            said.append((name, value if equals else None if alone else left.pop(0)))
    return named, said


def _options(said: list[tuple[str, str | None]], known: list[str]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    for word, text in said:
        name = word.removeprefix("--").replace("-", "_")
        if name not in known:
            raise unknown("option", word, [f"--{k.replace('_', '-')}" for k in known])
        if text is None:
            raise UserError(f"{word} needs a value")
        several = name == "seeds" and "," in text
        chosen[name] = [catalog.value_of(v) for v in text.split(",") if v] if several else catalog.value_of(text)
    return chosen


def _train_help(method: str, own: list[catalog.Option], shared: list[catalog.Option], examples: str) -> str:
    def lines(title: str, options: list[catalog.Option]) -> list[str]:
        named = [f"  --{o.name.replace('_', '-'):<16} {o.text} [{o.default}]" for o in options]
        return [f"{title}:", *named, ""] if named else []

    about = (
        catalog.entry("methods", method).summary if own else "Train a method on data; the last line is the run folder."
    )
    head = [f"usage: unbraid train {method} DATA [--option value …]", "", about, ""]
    if not own:
        head += ["METHOD is a name (unbraid list methods) or a file ./my_method.py; DATA is a name with options, a .npy,",
                 ".npz or .csv file, or a folder of images. unbraid train METHOD --help adds the options of a method.", ""]  # fmt: skip
    return "\n".join(
        [*head, *lines(f"options of {method}", own), *lines("options of every training", shared), examples]
    )


def listing(given: argparse.Namespace) -> int:
    """`unbraid list`."""
    rows = list_rows(given.room)
    return print_table(rows, given.json, group="kind")


def evaluate(given: argparse.Namespace) -> int:
    """`unbraid evaluate RUN…`."""
    from unbraid.evaluation import evaluate as score
    from unbraid.runs import Run

    rows = []
    for path in given.run:
        run = Run(path)
        rows += summary_rows(run, score(run, given.data, metrics=_names(given.metrics)))
    return print_table(rows, given.json)


def score(given: argparse.Namespace) -> int:
    """`unbraid score CODES FACTORS`: rows appear as they are computed, warnings once at the end."""
    from unbraid.scoring import scores_of

    said: dict[str, list[str]] = {}

    def rows() -> Iterator[Row]:
        for name, found in scores_of(
            given.codes, given.factors, _names(given.metrics), _names(given.kinds), given.bootstrap
        ):
            for warning in found.warnings:
                said.setdefault(warning, []).append(name)
            row = score_row(name, found)
            yield row | {"warnings": list(found.warnings)} if given.json else row

    if given.json:
        return print_table(list(rows()), True)
    print_rows(rows(), max(map(len, catalog.names("metrics"))))
    print("\nceiling: what a perfect code would reach on these factors; by chance: what a code of noise would")
    for warning, names in said.items():
        print(f"! {warning} ({', '.join(names) if len(names) < 4 else f'{len(names)} scores'})")
    return 0


def _names(text: str | None) -> list[str] | None:
    return [name.strip() for name in text.split(",") if name.strip()] if text else None


def report(given: argparse.Namespace) -> int:
    """`unbraid report RUN…`."""
    from unbraid.report import write_report
    from unbraid.runs import Run

    for path in given.run:
        for member in Run(path).members:
            if not (member.path / "results.json").exists():
                from unbraid.evaluation import evaluate as score

                score(member, given.data)
    first: Path = given.run[0]
    out = given.out or (first if len(given.run) == 1 else first.parent) / "report.html"
    print(write_report(given.run, out))
    return 0


def claims(given: argparse.Namespace) -> int:
    """`unbraid claims list|run`; exit code 1 if a judged claim was not reproduced."""
    from unbraid import claims as room

    if given.action == "list":
        return print_table(list_rows("claims"), given.json)
    wanted = room.matching(given.claim)
    from unbraid.claims.ledger import update

    results = []
    for identity in wanted:
        result = room.run_claim(identity, given.scale, given.out, processes=given.processes, data=given.data)
        results.append(result)
        if not given.json:
            print_table(ledger_rows(result), False)
            for sentence, held in result["orderings"].items():
                print(f"  {room.MARKS[held]} {sentence}")
            print(f"{identity}: {result['verdict']} ({result['budget']}; {result['seconds']} s)\n")
        update(
            given.ledger or (Path("docs/ledger.md") if Path("docs/ledger.md").exists() else given.out / "ledger.md"),
            result,
        )
    if given.json:
        print(json.dumps(results, indent=1))
    return int(any(result["verdict"] == room.FAILED for result in results))


def study(given: argparse.Namespace) -> int:
    """`unbraid study FILE`."""
    from unbraid.studies import run_study

    table, report_file = run_study(given.file, given.out, given.processes)
    print_table(table, given.json)
    if not given.json:
        print(report_file)
    return 0


COMMANDS = {
    "list": listing,
    "evaluate": evaluate,
    "score": score,
    "report": report,
    "claims": claims,
    "study": study,
}
