"""Scoring an embedding that a user already has: every metric of codes and factors, on files, without any model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from unbraid import catalog
from unbraid.errors import Notice, UserError, unknown
from unbraid.factors import Factor
from unbraid.metrics import Score, bootstrap, check
from unbraid.tables import header_row, read_codes, read_factors

FEWEST = 20


def scores_of(
    codes: Path, factors: Path, metrics: list[str] | None, kinds: list[str] | None, repeats: int = 0
) -> Iterator[tuple[str, Score]]:
    """Every metric of codes and factors on a user's own files, one after another, those that take long last."""
    known = [name for name in catalog.names("metrics") if not wanting(name, ("codes", "factors"))]
    for name in metrics or []:
        if name in catalog.names("metrics") and name not in known:
            lacking = ", ".join(wanting(name, ("codes", "factors")))
            raise UserError(
                f"{name} needs more than codes and factors ({lacking}), which a trained run has: unbraid evaluate RUN"
            )
        if name not in known:
            raise unknown("metric", name, known)
    array = read_codes(str(codes))
    values, names, chosen = read_factors(str(factors), kinds)
    for shorter, longer, path in ((array, values, codes), (values, array, factors)):
        if len(shorter) + 1 == len(longer) and (header := header_row(str(path))):
            raise UserError(
                f"codes have {len(array)} rows but factors {len(values)}: if {','.join(header)!r} in {path} is "
                "a row and not a header, put a header above it"
            )
    check(array, values)
    if len(array) < FEWEST:
        turned = array.shape[1] == values.shape[1] >= FEWEST
        hint = "; samples come first: are both transposed?" if turned else ""
        raise UserError(f"{codes}: {len(array)} samples are too few for a score: at least {FEWEST} are needed{hint}")
    described = [
        Factor(name, 0 if kind == "continuous" else len(set(column)), kind)
        for name, kind, column in zip(names, chosen, values.T.tolist(), strict=True)
    ]
    refused: dict[str, UserError] = {}
    for name in metrics or sorted(known, key=lambda name: catalog.constant("metrics", name, "SECONDS", 0)):
        measure = catalog.load("metrics", name)
        supervised = "factors" in wanting(name, ())
        arrays = [array, values] if supervised else [array]
        options: dict[str, Any] = {"kinds": described} if supervised else {}
        try:
            score = bootstrap(measure, *arrays, repeats=repeats, **options) if repeats else measure(*arrays, **options)
        except UserError as error:
            # Of all scores, one that cannot say anything of these factors does not stop the others.
            if metrics:
                raise
            refused[name] = error
            continue
        yield from score.apart(name).items()
    if refused.keys() >= {name for name in known if "factors" in wanting(name, ())}:
        raise next(iter(refused.values()))
    for name, reason in refused.items():
        warnings.warn(f"{name} left out: {reason}", Notice, stacklevel=2)


def wanting(name: str, held: Sequence[str]) -> list[str]:
    """What a metric cannot do without and is not at hand."""
    return [o.name for o in catalog.entry("metrics", name).options if o.default is None and o.name not in held]
