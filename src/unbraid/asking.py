"""What `unbraid train` was asked: names and options in whatever order, read as what they mean."""

from __future__ import annotations

from typing import Any

from unbraid import catalog
from unbraid.errors import UserError, unknown
from unbraid.seeds import seed_numbers

GROUPS = ("--target", "--background", "--domain")  # which stand for DATA and may come more than once


def sort(words: list[str], flags: set[str]) -> tuple[list[str], list[tuple[str, str | None]]]:
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
        if name.removeprefix("--").replace("-", "_") in flags and not equals:
            alone = not left or left[0].lower() not in ("true", "false")
            said.append((name, "true" if alone else left.pop(0)))
        else:
            alone = not equals and (not left or left[0].startswith("--"))
            said.append((name, value if equals else None if alone else left.pop(0)))
    return named, said


def groups(said: list[tuple[str, str | None]]) -> tuple[list[tuple[str, str | None]], list[list[str]]]:
    """The other options, and the data sets given as targets, as backgrounds and as domains."""
    given: dict[str, list[str]] = {word: [] for word in GROUPS}
    for word, text in said:
        if word in given:
            if not text:
                raise UserError(f"{word} needs a value")
            given[word].append(text)
    rest = [(word, text) for word, text in said if word not in given]
    return rest, list(given.values())


def options(
    said: list[tuple[str, str | None]], method: str, own: list[catalog.Option], shared: list[catalog.Option]
) -> dict[str, Any]:
    """What was said, as numbers where numbers are meant; what a method's own options may be, the method knows."""
    from unbraid.workers import at_once

    chosen: dict[str, Any] = {}
    every = {o.name: o for o in [*own, *shared]}
    for word, text in said:
        name = word.removeprefix("--").replace("-", "_")
        if name not in every:
            catalog.refuse_others(name, method)
            raise unknown("option", word, [*GROUPS, *(f"--{k.replace('_', '-')}" for k in every)])
        if text is None:
            raise UserError(f"{word} needs a value")
        if name == "seeds":
            values = [catalog.value_of(v) for v in text.split(",") if v]
            chosen[name] = seed_numbers(values if "," in text or not values else values[0])
        elif name == "processes":
            chosen[name] = at_once(catalog.value_of(text))
        else:
            chosen[name] = catalog.value_of(text) if every[name] in own else catalog.given(every[name], text)
    if "seed" in chosen and "seeds" in chosen:
        raise UserError("give --seed or --seeds, not both: --seed 3 is one seed, --seeds 3 are seeds 0, 1 and 2")
    return chosen


def help_of(method: str, own: list[catalog.Option], shared: list[catalog.Option], examples: str) -> str:
    """Usage, options and examples; without a method, of all of them."""

    def lines(title: str, options: list[catalog.Option]) -> list[str]:
        named = [f"  --{o.name.replace('_', '-'):<16} {o.text} [{o.default}]" for o in options]
        return [f"{title}:", *named, ""] if named else []

    about = (
        catalog.entry("methods", method).summary if own else "Train a method on data; the last line is the run folder."
    )
    head = [f"usage: unbraid train {method} DATA [--option value …]", "", about, ""]
    if not own:
        head += ["METHOD is a name (unbraid list methods) or a file ./my_method.py; DATA is a name with options, a .npy,",
                 ".npz or .csv file, or a folder of images. Instead of DATA, --target A --background B, or --domain A",
                 "--domain B, for methods that compare. unbraid train METHOD --help adds the options of a method.", ""]  # fmt: skip
    return "\n".join(
        [*head, *lines(f"options of {method}", own), *lines("options of every training", shared), examples]
    )
