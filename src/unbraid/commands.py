"""What each command of `unbraid` does with what was said: calls the library, prints tables. Heavy imports happen inside."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unbraid import catalog, storage
from unbraid.asking import groups, help_of, options, sort
from unbraid.errors import Notice, UserError
from unbraid.printing import Row, ledger_rows, list_rows, print_rows, print_table, score_row, summary_rows
from unbraid.spelling import from_options, slug


def train(words: list[str], examples: str) -> int:
    """`unbraid train METHOD DATA --option value …`: options of the training and of the method alike."""
    shared = [o for o in catalog.function_options("training", "train") if o.name not in ("method", "data", "options")]
    likely = catalog.method_options(words[0]) if words and not words[0].startswith("-") else []
    named, said = sort(words, {o.name for o in [*shared, *likely] if o.default == "False"})
    said, several = groups(said)
    own = catalog.method_options(named[0]) if named else []
    if not words or any(w in ("-h", "--help") for w in words):
        print(help_of(named[0] if named else "METHOD", own, shared, examples))
        return 0
    if not named or (len(named) < 2 and not any(several)):
        raise UserError("train what on what? unbraid train METHOD DATA: see unbraid list methods, unbraid list data")
    chosen = options(said, named[0], own, shared)
    if any(several) and named[1:]:
        raise UserError(f"unexpected {named[1]!r}: --target, --background and --domain stand for DATA")
    if named[2:]:
        raise UserError(f"unexpected {named[2]!r}: beside method and data there are only options such as --steps 20000")
    data = from_options(*several) if any(several) else named[1]
    storage.check_folder(Path(chosen.get("out", "runs")), "--out")

    from unbraid.training import train as start

    run = start(named[0], data, **chosen)
    stopped = _say_stopped(run)
    print(run.path)
    return 1 if stopped else 0


def _say_stopped(run: Any) -> bool:
    """Each time anybody asks for it, a run that a bad number stopped says so."""
    from unbraid.loop import stop_words

    stopped = [member for member in run.members if member.status == "stopped"]
    for member in stopped:
        warnings.warn(stop_words(member.path, member.state), Notice, stacklevel=2)
    return bool(stopped)


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
        _say_stopped(run)
    return print_table(rows, given.json)


def score(given: argparse.Namespace) -> int:
    """`unbraid score CODES FACTORS`: rows appear as they are computed, warnings once at the end."""
    from unbraid.scoring import scores_of

    said: dict[str, list[str]] = {}
    taken: dict[str, list[str]] = {}

    def rows() -> Iterator[Row]:
        for name, found in scores_of(
            given.codes, given.factors, _names(given.metrics), _words(given.kinds), given.bootstrap
        ):
            for warning in found.warnings:
                said.setdefault(warning, []).append(name)
            if kinds := found.settings.get("kinds"):
                taken["kinds"] = kinds
            row = score_row(name, found)
            if given.json:
                yield row | {"settings": found.settings, "warnings": list(found.warnings)}
            elif "." in name:  # another facet of the score above
                yield row | {"score": f"  .{name.partition('.')[2]}", "made with": "as above"}
            else:
                yield row

    if given.json:
        return print_table(list(rows()), True)
    print_rows(rows(), max(map(len, catalog.names("metrics"))))
    print("\nceiling: what a perfect code would reach on these factors; by chance: what a code of noise would")
    if taken:
        print(f"factors were taken as {', '.join(taken['kinds'])}; --kinds says otherwise")
    for warning, names in said.items():
        print(f"! {warning} ({', '.join(names) if len(names) < 4 else f'{len(names)} scores'})")
    return 0


def _words(text: str | None) -> list[str] | None:
    return [word.strip() for word in text.split(",") if word.strip()] if text else None


def _names(text: str | None) -> list[str] | None:
    """Words, each of them once."""
    return list(dict.fromkeys(_words(text) or [])) or None


def report(given: argparse.Namespace) -> int:
    """`unbraid report RUN…`; of several, what is no run or cannot be scored is said and does not stop the rest."""
    from unbraid.report import write_report
    from unbraid.runs import Run

    # `runs/*` names the report of last time too
    folders = [path for path in given.run if not path.is_file()] if len(given.run) > 1 else given.run
    if not folders:
        raise UserError(f"none of {', '.join(map(str, given.run))} is a run folder")
    several = len(folders) > 1
    out = given.out or (folders[0].parent if several else folders[0]) / "report.html"
    storage.check_file(out)
    shown = []
    for path in folders:
        try:
            run = Run(path)
        except UserError as error:
            if not several:
                raise
            print(f"unbraid: left out: {error}", file=sys.stderr)
            continue
        shown.append(path)
        for member in run.members:
            _score_for_report(member, given.data)
    if not shown:
        raise UserError(f"none of {', '.join(map(str, folders))} is a run folder")
    print(write_report(shown, out))
    return 0


def _score_for_report(run: Any, data: str | None) -> None:
    """Score a run that was not; one that cannot be is shown without scores."""
    if (run.path / "results.json").exists():
        return
    if run.status not in ("finished", "stopped"):
        words = "is unfinished (running, or cut off): the same train command goes on"
        print(f"unbraid: {run.path} {words}; shown without scores", file=sys.stderr)
        return
    from unbraid.evaluation import evaluate as score

    try:
        score(run, data)
    except UserError as error:
        print(f"unbraid: {run.path} is shown without scores: {error}", file=sys.stderr)


def blocks(given: argparse.Namespace) -> int:
    """`unbraid blocks RUN OPERATION NAME`: what each row is, and where the sheet is."""
    import numpy as np

    from unbraid.block_sheets import sheet
    from unbraid.data import open_data
    from unbraid.report.pictures import grid_png
    from unbraid.runs import Run

    run = Run(given.run).members[0]
    data = open_data(given.data) if given.data else run.data
    images = len(data.shape) == 3
    suffix = ".png" if images else ".npz"
    said = "-".join(["blocks", given.operation, *([slug(given.name)] if given.name else [])])
    out = given.out or run.path / f"{said}{suffix}"
    if out.suffix not in (".png", ".npz") or (out.suffix == ".png" and not images):
        raise UserError(f"--out {out}: must end in {'.png or .npz' if images else '.npz'}")
    storage.check_file(out)
    if given.samples < 2:
        raise UserError(f"--samples {given.samples}: at least 2 are needed")
    found = sheet(run, data, given.operation, given.name, given.samples)
    for name in found.names:
        print(name)
    if out.suffix == ".png":
        grid_png(found.samples, out, scale=max(1, round(64 / data.shape[-1])))
    else:
        storage.write_arrays(out, {"names": np.array(found.names), "samples": found.samples})
    print(out)
    return 0


def claims(given: argparse.Namespace) -> int:
    """`unbraid claims list|run`; exit code 1 if a judged claim was not reproduced, or one of several could not be run."""
    from unbraid import claims as room
    from unbraid.workers import at_once

    if given.action == "list":
        return print_table(list_rows("claims", room.matching(given.claim) if given.claim else None), given.json)
    processes = at_once(given.processes)
    storage.check_folder(given.out, "--out")
    if given.ledger:
        storage.check_file(given.ledger)
    wanted = room.matching(given.claim)
    from unbraid.claims.ledger import update

    results, left_out = [], 0
    for identity in wanted:
        try:
            result = room.run_claim(identity, given.scale, given.out, processes=processes, data=given.data)
        except UserError as error:  # data that only others have, say
            if len(wanted) == 1:
                raise
            print(f"unbraid: {identity} is left out: {error}", file=sys.stderr)
            left_out += 1
            continue
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
    return int(left_out > 0 or any(result["verdict"] == room.FAILED for result in results))


def study(given: argparse.Namespace) -> int:
    """`unbraid study FILE`."""
    from unbraid.report.glossary import headlines
    from unbraid.studies import run_study

    study = run_study(given.file, given.out, given.processes)
    if given.json:
        print(json.dumps(study._asdict(), indent=1, default=str))
        return 0
    scored = {row["score"] for row in study.board}
    scores = scored - {*headlines(scored)[:4], "dci"}
    print_table([{k: v for k, v in row.items() if k not in scores} for row in study.rows], False)
    if study.board:
        print(
            "\nwho leads, by the mean over seeds; (noise): no worse than the best beyond noise, by a paired rank test"
        )
        print_table(study.board, False)
        print("\ndo scores without labels prefer the same runs as those with labels? (rank correlation over runs)")
        print_table(study.agreement, False)
    for note in study.notes:
        print(f"! {note}")
    print(study.report)
    return 0


COMMANDS = {
    "list": listing,
    "evaluate": evaluate,
    "score": score,
    "report": report,
    "blocks": blocks,
    "claims": claims,
    "study": study,
}
