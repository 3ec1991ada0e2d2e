"""The command `unbraid`: parses and calls; no logic. Heavy imports happen inside the commands."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from unbraid import __version__, catalog
from unbraid.errors import UserError, unknown
from unbraid.printing import ledger_rows, list_rows, print_table, score_rows, summary_rows

EXAMPLES = {
    "": """examples:
  unbraid list                                     what there is
  unbraid train beta_vae sprites --beta 4 --steps 20000 --seeds 10
  unbraid train beta_vae my_photos/ --latents 16   your own folder of images
  unbraid evaluate runs/beta_vae-sprites-…         score the runs
  unbraid report runs/beta_vae-sprites-…           one HTML file to look at
  unbraid score codes.npy factors.csv              any embedding, no model needed
  unbraid claims run 002/table-3.3 --scale cpu     a paper's table, ours beside it""",
    "list": "examples:\n  unbraid list\n  unbraid list methods\n  unbraid list claims --json",
    "train": """examples:
  unbraid train beta_vae sprites --beta 4 --steps 20000 --seeds 10
  unbraid train beta_vae sprites:pixels=32,positions=16 --latents 6
  unbraid train vae measurements.csv --net mlp:encoder=64-64,decoder=64-64
  unbraid train ./my_method.py photos/ --precision bf16
  unbraid train beta_vae --help                    the options of a method""",
    "evaluate": "examples:\n  unbraid evaluate runs/beta_vae-sprites-…/seed-0\n  unbraid evaluate RUN --metrics mig --json",
    "score": """examples:
  unbraid score codes.npy factors.csv
  unbraid score codes.csv factors.npy --metrics mig --kinds category,order,cycle --json""",
    "report": "examples:\n  unbraid report runs/beta_vae-sprites-…\n  unbraid report runs/* --out comparison.html",
    "claims": """examples:
  unbraid claims list
  unbraid claims run 002/table-3.3 --scale cpu
  unbraid claims run 002/figure-3.6 --data my_faces/""",
    "study": """examples:
  unbraid study study.yaml --processes 2

a study file:
  data: sprites:pixels=32        a list anywhere is an axis of the grid
  steps: 5000
  seeds: 5
  runs:
    - {method: beta_vae, beta: [1, 4, 8]}
    - {method: autoencoder}""",
}


def parser() -> argparse.ArgumentParser:
    """All commands and their options; methods' own options are read later."""
    top = _Parser("unbraid", "Learn, measure and trust disentangled representations.", "")
    top.add_argument("--version", action="version", version=f"unbraid {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=argparse.ArgumentParser)

    def command(name: str, summary: str) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=EXAMPLES[name],
            formatter_class=argparse.RawTextHelpFormatter,
        )

    listing = command("list", "What there is: methods, data, networks, metrics, claims.")
    listing.add_argument("room", nargs="?", help="methods, data, networks, metrics or claims; all by default")
    train = command("train", "Train a method on data; the last line is the run folder.")
    train.add_argument("method", help="a name (unbraid list methods) or a file ./my_method.py")
    train.add_argument("data", nargs="?", help="a name with options, a .npy, .npz or .csv file, or a folder of images")
    evaluate = command("evaluate", "Score trained runs: metrics, geometry, pictures.")
    evaluate.add_argument("run", nargs="+", type=Path, help="run folders, or folders of seeds")
    evaluate.add_argument("--metrics", help="names joined by commas; all by default")
    evaluate.add_argument("--data", help="the data, if they have moved")
    score = command("score", "Score any embedding against known factors; no model needed.")
    score.add_argument("codes", type=Path, help=".npy, .npz or .csv, one row per sample")
    score.add_argument("factors", type=Path, help=".npy, .npz or .csv, the same rows")
    score.add_argument("--metrics", help="names joined by commas; all by default")
    score.add_argument("--kinds", help="category, order, cycle or continuous for each factor, joined by commas")
    report = command("report", "One self-contained HTML file of runs; they are evaluated first if need be.")
    report.add_argument("run", nargs="+", type=Path, help="run folders, or folders of seeds")
    report.add_argument("--out", type=Path, help="the file to write; by default report.html in the run folder")
    claims = command("claims", "Claims of papers as recipes: list them, run them.")
    claims.add_argument("action", choices=["list", "run"], help="list all, or run some")
    claims.add_argument("claim", nargs="*", help="ids such as 002/table-3.3, or all")
    claims.add_argument("--scale", default="cpu", help="smoke (seconds), cpu (minutes, the default) or paper (full)")
    claims.add_argument(
        "--out", type=Path, default=Path("runs/claims"), help="folder of runs and results (runs/claims)"
    )
    claims.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="trainings at a time")
    claims.add_argument("--data", help="your own data, for claims that take any")
    claims.add_argument("--ledger", type=Path, help="the ledger to write; by default docs/ledger.md if it is there")
    study = command("study", "A grid of methods, options and seeds; finished runs are skipped, killed ones resumed.")
    study.add_argument("file", type=Path, help="a YAML file, see below")
    study.add_argument("--processes", type=int, help="trainings at a time; overrides the file")
    study.add_argument("--out", type=Path, help="folder of the runs; by default runs/ and the file's name")
    for each in (listing, evaluate, score, claims, study):
        each.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return top


def _Parser(name: str, summary: str, example: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        name,
        description=summary,
        epilog=EXAMPLES[example],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def main(argv: list[str] | None = None) -> int:
    """Run a command; a user's mistake is one line on standard error and exit code 2."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(words)
    except UserError as error:
        print(f"unbraid: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("unbraid: interrupted; the same command goes on where this one stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _dispatch(words: list[str]) -> int:
    top = parser()
    known = ["list", "train", "evaluate", "score", "report", "claims", "study"]
    if words and not words[0].startswith("-") and words[0] not in known:
        raise unknown("command", words[0], known)
    if words[:1] == ["train"]:
        return train(words[1:], top)
    given = top.parse_args(words)
    if given.command is None:
        top.print_help()
        return 0
    return COMMANDS[given.command](given)


def train(words: list[str], top: argparse.ArgumentParser) -> int:
    """`unbraid train METHOD DATA --option value …`: options of the training and of the method alike."""
    positional = [w for w in words[:2] if not w.startswith("-")]
    wants_help = any(w in ("-h", "--help") for w in words)
    if not positional or (wants_help and not positional):
        top.parse_args(["train", *words])
    own = [o for o in catalog.entry("methods", positional[0]).options if o.name != "net"]
    shared = [o for o in catalog.function_options("training", "train") if o.name not in ("method", "data", "options")]
    if wants_help:
        print(_train_help(positional[0], own, shared))
        return 0
    if len(positional) < 2:
        raise UserError(f"train what on what? give a data set after {positional[0]!r}: see unbraid list data")
    chosen = _options(words[2:], [o.name for o in [*own, *shared]], {o.name for o in shared if o.default == "False"})

    from unbraid.training import train as start

    _quiet_warnings()
    run = start(positional[0], positional[1], **chosen)
    stopped = [m for m in run.members if m.state["status"] == "stopped"]
    for member in stopped:
        print(f"unbraid: {member.path.name} {member.state['reason']}; its last good state (step {member.state['step']}) "
              "is kept: try a lower --lr or --clip 1", file=sys.stderr)  # fmt: skip
    print(run.path)
    return 1 if stopped else 0


def _options(words: list[str], known: list[str], flags: set[str]) -> dict[str, Any]:
    chosen: dict[str, Any] = {}
    words = list(words)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            raise UserError(f"unexpected {word!r}: after method and data come options such as --steps 20000")
        name, equals, value = word[2:].partition("=")
        name = name.replace("-", "_")
        if name not in known:
            raise unknown("option", f"--{name}", [f"--{k}" for k in known])
        if not equals and name in flags and (not words or words[0].startswith("--")):
            chosen[name] = True
            continue
        if not equals:
            if not words:
                raise UserError(f"--{name} needs a value")
            value = words.pop(0)
        chosen[name] = (
            [int(v) for v in value.split(",")] if name == "seeds" and "," in value else catalog.value_of(value)
        )
    return chosen


def _train_help(method: str, own: list[catalog.Option], shared: list[catalog.Option]) -> str:
    def lines(options: list[catalog.Option]) -> list[str]:
        return [f"  --{o.name.replace('_', '-'):<16} {o.text} [{o.default}]" for o in options]

    head = [
        f"usage: unbraid train {method} DATA [--option value …]",
        "",
        catalog.entry("methods", method).summary,
        "",
    ]
    return "\n".join([*head, f"options of {method}:", *lines(own), "", "options of every training:", *lines(shared), "", EXAMPLES["train"]])  # fmt: skip


def _quiet_warnings() -> None:
    """Warnings of ours are sentences; torch's own are noise to a user."""
    import warnings

    def show(message: Warning | str, category: type[Warning], filename: str, *rest: Any) -> None:
        if "unbraid" in filename or str(message).startswith(("seed", "no working", "compile")):
            print(f"unbraid: {message}", file=sys.stderr)

    warnings.showwarning = show  # type: ignore[assignment]


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
        rows += summary_rows(run, score(run, given.data, metrics=given.metrics.split(",") if given.metrics else None))
    return print_table(rows, given.json)


def score(given: argparse.Namespace) -> int:
    """`unbraid score CODES FACTORS`."""
    rows, warnings = score_rows(
        given.codes, given.factors,
        given.metrics.split(",") if given.metrics else None, given.kinds.split(",") if given.kinds else None,
    )  # fmt: skip
    print_table(rows, given.json)
    for warning in [] if given.json else warnings:
        print(f"! {warning}")
    return 0


def report(given: argparse.Namespace) -> int:
    """`unbraid report RUN…`."""
    from unbraid.report import write_report
    from unbraid.runs import Run

    for path in given.run:
        for member in Run(path).members:
            if not (member.path / "results.json").exists():
                from unbraid.evaluation import evaluate as score

                score(member)
    first: Path = given.run[0]
    out = given.out or (first if len(given.run) == 1 else first.parent) / "report.html"
    print(write_report(given.run, out))
    return 0


def claims(given: argparse.Namespace) -> int:
    """`unbraid claims list|run`; exit code 1 if a judged claim was not reproduced."""
    from unbraid import claims as room

    if given.action == "list":
        return print_table(list_rows("claims"), given.json)
    known = room.claim_ids()
    wanted = known if given.claim == ["all"] else given.claim
    if not wanted:
        raise UserError(f"which claim? one of {', '.join(known)}, or all")
    for identity in wanted:
        room.title(identity)
    from unbraid.claims.ledger import update

    _quiet_warnings()
    results = []
    for identity in wanted:
        result = room.run_claim(identity, given.scale, given.out, processes=given.processes, data=given.data)
        results.append(result)
        if not given.json:
            print_table(ledger_rows(result), False)
            for sentence, held in result["orderings"].items():
                print(f"  {'✓' if held else '✗'} {sentence}")
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

    _quiet_warnings()
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

if __name__ == "__main__":
    raise SystemExit(main())
