"""How data sets are spelled: by a name with options, and several at once as `target=cases.npy & background=controls.npy`.

Imports no torch: the command line, studies and reports spell too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from unbraid.errors import UserError

BACKGROUND = "background"
AND = " & "
GROUP = r"[\w.-]+"  # what a group that is spelled may be called
LONGEST = 80  # of what a folder's name says of its data


def joined(groups: Mapping[str, str]) -> str:
    """The one spelling of several data sets, each under the name of its group."""
    for name in groups:
        if not isinstance(name, str) or not re.fullmatch(GROUP, name):
            raise UserError(f"group {name!r}: a group is named by letters, digits, and the marks _ - .")
    return AND.join(f"{name}={data}" for name, data in groups.items())


def apart(text: str) -> dict[str, str]:
    """The data sets of a joined spelling by group; none if the text spells one data set."""
    parts = re.split(rf"{AND}(?={GROUP}=)", text)
    if len(parts) < 2 or not re.match(f"{GROUP}=", parts[0]):
        return {}
    pairs = [part.partition("=")[::2] for part in parts]
    twice = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    if twice:
        raise UserError(f"{text}: two groups are called {twice[0]}: give each a name of its own")
    return dict(pairs)


def slug(name: str) -> str:
    """A name with its options and suffix cut off, fit for a file; of several data sets, theirs."""
    if several := apart(name):
        return "-".join(slug(each) for each in several.values())[:LONGEST]
    stem = Path(name.split(":")[0]).stem or "data"
    return re.sub(r"[^A-Za-z0-9_]+", "_", stem)


def in_short(name: str) -> str:
    """A name without options, for headings: `cases.npy against controls.npy`."""
    several = {group: each.partition(":")[0] for group, each in apart(name).items()}
    if not several:
        return name.partition(":")[0]
    behind = several.pop(BACKGROUND, "")
    return " and ".join(several.values()) + (f" against {behind}" if behind else "")


def from_options(targets: Sequence[str], backgrounds: Sequence[str], domains: Sequence[str]) -> str:
    """What `--target A --background B` or `--domain A --domain B` spell."""
    if domains:
        if targets or backgrounds:
            raise UserError("give either --domain or --target and --background, not both kinds of group")
        if len(domains) < 2:
            raise UserError(f"--domain {domains[0]} is one domain only: give --domain at least twice")
        return joined(dict(zip(_numbered(domains), domains, strict=True)))
    if not targets:
        raise UserError(f"--background {backgrounds[0]}: against which target? Give --target too")
    if len(backgrounds) != 1:
        given = f"{len(backgrounds)} backgrounds" if backgrounds else f"--target {targets[0]} has nothing behind it"
        raise UserError(f"{given}: give --background once")
    names = ["target"] if len(targets) == 1 else _numbered(targets, taken=BACKGROUND)
    return joined({**dict(zip(names, targets, strict=True)), BACKGROUND: backgrounds[0]})


def _numbered(names: Sequence[str], taken: str = "") -> list[str]:
    """A slug for each, numbered where two are alike."""
    slugs = [slug(name) for name in names]
    count, seen = Counter([*slugs, taken]), Counter[str]()
    found = []
    for each in slugs:
        seen[each] += 1
        found.append(f"{each}_{seen[each]}" if count[each] > 1 else each)
    return found
