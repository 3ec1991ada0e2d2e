"""The command `unbraid`: what may be said, with examples; what is done about it is in `commands`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import NoReturn

from unbraid import __version__, commands
from unbraid.errors import UserError, show_notices_only, unknown

EXAMPLES = {
    "": """examples:
  unbraid list                                     what there is
  unbraid train beta_vae sprites --beta 4 --steps 20000 --seeds 10
  unbraid train beta_vae my_photos/ --latents 16   your own folder of images
  unbraid evaluate runs/beta_vae-sprites-…         score the runs
  unbraid report runs/beta_vae-sprites-…           one HTML file to look at
  unbraid blocks runs/masked_vae-…                 what each block of a code does
  unbraid score codes.npy factors.csv              any embedding, no model needed
  unbraid claims run 002/table-3.3 --scale cpu     a paper's table, ours beside it""",
    "list": "examples:\n  unbraid list\n  unbraid list methods\n  unbraid list claims --json",
    "train": """examples:
  unbraid train beta_vae sprites --beta 4 --steps 20000 --seeds 10
  unbraid train beta_vae sprites:pixels=32,positions=16 --latents 6
  unbraid train vae measurements.csv --net mlp:encoder=64-64,decoder=64-64
  unbraid train ./my_method.py photos/ --precision bf16
  unbraid train ./my_method.py --target cases.npy --background controls.npy
  unbraid train ./my_method.py --domain mnist --domain fashion_mnist
  unbraid train beta_vae --help                    the options of a method""",
    "evaluate": "examples:\n  unbraid evaluate runs/beta_vae-sprites-…/seed-0\n  unbraid evaluate RUN --metrics mig --json",
    "score": """examples:
  unbraid score codes.npy factors.csv
  unbraid score codes.csv factors.npy --metrics mig --kinds category,order,cycle --json
  unbraid score codes.npy factors.csv --metrics mig --bootstrap 100""",
    "report": "examples:\n  unbraid report runs/beta_vae-sprites-…\n  unbraid report runs/* --out comparison.html",
    "blocks": """examples:
  unbraid blocks runs/masked_vae-…/seed-0                          every group decoded as every other one
  unbraid blocks runs/masked_vae-…/seed-0 as fashion_mnist         from the blocks of one group
  unbraid blocks runs/masked_vae-…/seed-0 traverse shared          one latent of a block after another
  unbraid blocks runs/w2_vae-…/seed-0 swap salient --samples 12    each with a block of its neighbour
  unbraid blocks runs/beta_vae-…/seed-0 plane                      the two latents that change most""",
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


class _Parser(argparse.ArgumentParser):
    """Answers a mistake in one line, as every part of the library does."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (see {self.prog} --help)")


def parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The whole command, and each of its commands by name; options of `train` are read by `commands.train`."""
    layout = argparse.RawTextHelpFormatter
    about = "Learn, measure and trust disentangled representations."
    top = _Parser("unbraid", description=about, epilog=EXAMPLES[""], formatter_class=layout)
    top.add_argument("--version", action="version", version=f"unbraid {__version__}")
    all_commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    def command(name: str, about: str) -> argparse.ArgumentParser:
        return all_commands.add_parser(
            name, help=about, description=about, epilog=EXAMPLES[name], formatter_class=layout, allow_abbrev=False
        )

    listing = command("list", "What there is: methods, data, networks, metrics, claims.")
    listing.add_argument("room", nargs="?", help="methods, data, networks, metrics or claims; all by default")
    command("train", "Train a method on data; the last line is the run folder.")
    evaluate = command("evaluate", "Score trained runs: metrics, geometry, pictures.")
    evaluate.add_argument("run", nargs="+", type=Path, help="run folders, or folders of seeds")
    evaluate.add_argument("--metrics", help="names joined by commas; all by default")
    evaluate.add_argument("--data", help="the data, if they have moved")
    score = command("score", "Score any embedding against known factors; no model needed.")
    score.add_argument("codes", type=Path, help=".npy, .npz or .csv, one row per sample")
    score.add_argument("factors", type=Path, help=".npy, .npz or .csv, the same rows")
    score.add_argument("--metrics", help="names joined by commas; all by default")
    score.add_argument("--kinds", help="category, order, cycle or continuous for each factor, joined by commas")
    score.add_argument("--bootstrap", type=int, default=0, help="add 95 %% intervals from so many half samples")
    report = command("report", "One self-contained HTML file of runs; they are evaluated first if need be.")
    report.add_argument("run", nargs="+", type=Path, help="run folders, or folders of seeds")
    report.add_argument("--out", type=Path, help="the file to write; by default report.html in the run folder")
    report.add_argument("--data", help="the data, if they have moved")
    blocks = command("blocks", "What the blocks of a code do, on a sheet of samples: decode, silence, swap, move.")
    blocks.add_argument("run", type=Path, help="a run folder")
    blocks.add_argument(
        "operation",
        nargs="?",
        default="counterfactual",
        help="counterfactual (the default), as GROUP, zero, swap or traverse BLOCK, plane",
    )
    blocks.add_argument("name", nargs="?", default="", help="of the group or block")
    blocks.add_argument("--samples", type=int, default=8, help="of each group (8)")
    blocks.add_argument("--data", help="the data, if they have moved")
    blocks.add_argument("--out", type=Path, help="a .png, or .npz for samples that are no images")
    claims = command("claims", "Claims of papers as recipes: list them, run them.")
    claims.add_argument("action", choices=["list", "run"], help="list all, or run some")
    claims.add_argument("claim", nargs="*", help="ids such as 002/table-3.3, a paper such as 002, or all")
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
    return top, dict(all_commands.choices)


def main(argv: list[str] | None = None) -> int:
    """Run a command; a user's mistake is one line on standard error and exit code 2."""
    try:
        return _dispatch(list(sys.argv[1:] if argv is None else argv))
    except UserError as error:
        print(f"unbraid: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("unbraid: interrupted; the same command goes on where this one stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _dispatch(words: list[str]) -> int:
    top, known = parser()
    if words and not words[0].startswith("-") and words[0] not in known:
        raise unknown("command", words[0], known)
    show_notices_only()
    if words[:1] == ["train"]:
        return commands.train(words[1:], EXAMPLES["train"])
    if not words or words[0].startswith("-"):
        top.parse_args(words)
        top.print_help()
        return 0
    # Options may stand anywhere, also between `run` and the names of claims.
    given, rest = known[words[0]].parse_known_intermixed_args(words[1:])
    if rest and not rest[0].startswith("-"):
        raise UserError(f"unexpected {rest[0]!r} (see unbraid {words[0]} --help)")
    if rest:
        options = [o for action in known[words[0]]._actions for o in action.option_strings if o.startswith("--")]
        raise unknown(f"option of {words[0]}", rest[0].partition("=")[0], options)
    return commands.COMMANDS[words[0]](given)


if __name__ == "__main__":
    raise SystemExit(main())
