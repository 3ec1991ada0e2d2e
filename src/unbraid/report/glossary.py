"""What each score is called and how to read it, in one short sentence."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from unbraid import catalog


class Word(NamedTuple):
    """A score's name for readers, and how to read it."""

    name: str
    meaning: str


COMPARED = (  # where groups are compared
    "clustering_accuracy",
    "common_clustering",
    "common_w2",
    "salient_silence",
    "block_deviation",
    "block_attribution",
)
HEADLINES = (
    "mig",
    "disentanglement_score",
    "distance_to_orthogonality",
    "active_units",
    "polarized_regime",
    "ima_contrast",
)
GEOMETRY = ("distance_to_orthogonality", "ima_contrast", "active_units", "polarized_regime")


def word(name: str, best: str = "high") -> Word:
    """The words for a score: the first line of its docstring, "NAME: meaning."."""
    direction = "Lower is better" if best == "low" else "Higher is better"
    member, _, facet = name.partition(".")
    room = next((room for room in ("metrics", "geometry") if member in catalog.names(room)), None)
    if room is None:
        return Word(name.replace("_", " "), f"{direction}.")
    title, _, meaning = catalog.entry(room, member).summary.partition(": ")
    return Word(f"{title}: {facet.replace('_', ' ')}" if facet else title, f"{direction}: {meaning}")


def inline(name: str) -> str:
    """A score's name inside a sentence: only acronyms keep their capitals."""
    named = word(name).name
    return named if named[:2].isupper() else named[:1].lower() + named[1:]


def headlines(names: Collection[str]) -> list[str]:
    """The scores to show first: where groups are compared those that say what each block knows."""
    return [name for name in COMPARED if name in names] or [name for name in HEADLINES if name in names]


def in_words(names: Collection[str]) -> list[str]:
    """The scores that a sentence about a run names."""
    told = (*COMPARED, "mig", "disentanglement_score", "distance_to_orthogonality")
    return [name for name in told if name in headlines(names)]


def ordered(names: Collection[str]) -> list[str]:
    """Score names with the headlines first."""
    first = headlines(names)
    return first + [name for name in names if name not in first]
