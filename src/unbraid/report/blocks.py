"""What each block of the code is responsible for: maps, and pictures decoded from blocks alone, of groups, between two samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unbraid.report.bars import heat_table
from unbraid.report.charts import Series, scatter_chart
from unbraid.report.folder import Run
from unbraid.report.markup import Safe, join, tag
from unbraid.report.page import figure, figures
from unbraid.report.pictures import picture
from unbraid.spelling import BACKGROUND

Part = tuple[str, str, Safe | None, str]


def block_parts(run: Run) -> list[Part]:
    """Key, heading, body and lead of each part; bodies are None where nothing was kept."""
    groups = run.pictures.get("group_names", np.array([]))
    shown, silent = ("targets", "; background is decoded without a salient code, as it was trained")
    if "background" not in groups:
        shown, silent = ("samples", "")
    return [
        ("maps", "Maps of the code", maps(run), _map_lead(run)),
        (
            "blocks",
            "What each block decodes to",
            block_pictures(run),
            f"The same {shown}, decoded from all of their code and from each block alone, the others being silent.",
        ),
        (
            "groups",
            "Reconstructions of each group",
            group_pictures(run),
            f"Originals above, reconstructions below{silent}.",
        ),
        (
            "deviation",
            "Which latents each domain uses",
            deviations(run),
            "Standard deviation of each latent's mean code over the samples of each domain: near 0 in blocks of other "
            "domains, about 1 in latents that are used.",
        ),
        (
            "counterfactual",
            "Decoded as another domain",
            counterfactual_pictures(run),
            "Samples of each domain as they are, decoded from the blocks of each domain, and from what one has for itself.",
        ),
        ("between", f"Between two {shown}", between(run), "One block moves from one to the other, all else stays."),
    ]


def maps(run: Run) -> Safe | None:
    """One chart per block, all groups together, background in grey behind the others."""
    number, names = run.maps.get("sort"), [str(name) for name in run.maps.get("sorts", ())]
    if number is None or not names:
        return None
    by = str(run.maps.get("sorted_by", "group"))
    charts = []
    for block, places in _named(run.maps, "map/"):
        if places.shape != (len(number), 2):
            continue
        where = run.blocks.get(block)
        itself = where is not None and where.stop - where.start == 2
        chart = scatter_chart(
            dots(places, number, names),
            title=f"Map of {block}, coloured by {by}",
            x_label=f"latent {where.start}" if itself and where else "",
            y_label=f"latent {where.stop - 1}" if itself and where else "",
            height=360,
        )
        charts.append(figure(_title(block), chart, f"coloured by {by}; " + ("its two latents" if itself else "t-SNE")))
    return figures(charts) if charts else None


def dots(places: np.ndarray, number: np.ndarray, names: Sequence[str]) -> list[Series]:
    """Places by the sort of each, background in grey and drawn first, hence behind."""
    series = []
    for at in sorted(range(len(names)), key=lambda at: names[at] != BACKGROUND):
        x, y = places[number == at].T.tolist()
        if x:
            series.append(Series(names[at], x, y, colour="ground" if names[at] == BACKGROUND else f"s{at % 10}"))
    return series


def _map_lead(run: Run) -> str:
    lead = "Every dot is a sample, near to those with a similar code"
    if {"common", "salient"} <= set(run.blocks):
        return f"{lead}. In a good salient code background is one cluster and targets fall apart; in a good common code all mix."
    return f"{lead}; all groups together."


def block_pictures(run: Run) -> Safe | None:
    """One row for each set: originals, all of the code, each block."""
    sets, rows = [str(name) for name in run.pictures.get("block_sets", ())], run.pictures.get("blocks")
    if rows is None or rows.ndim != 5 or len(rows) != len(sets) or not rows.size:
        return None
    parts: list[Safe] = []
    for name, images in zip(sets, rows, strict=True):
        alt = f"{len(images)} samples as they are" if name == "original" else f"The same decoded from {name}"
        parts += [tag("p", tag("b", _title(name))), picture(images, alt)]
    return tag("div", *parts, class_="rows")


def group_pictures(run: Run) -> Safe | None:
    """Originals above reconstructions, a picture for each group."""
    names, pairs = [str(name) for name in run.pictures.get("group_names", ())], run.pictures.get("groups")
    if pairs is None or pairs.ndim != 6 or len(pairs) != len(names) or not pairs.size:
        return None
    parts: list[Safe] = []
    for name, pair in zip(names, pairs, strict=True):
        alt = f"{pair.shape[1]} samples of {name}: originals above, reconstructions below"
        parts += [tag("p", tag("b", _title(name))), picture(pair, alt)]
    return tag("div", *parts, class_="rows")


def deviations(run: Run) -> Safe | None:
    """A table for each block, domains by latents."""
    mean, group = run.codes.get("mean"), run.codes.get("group")
    groups = [str(name) for name in run.codes.get("groups", ())]
    if mean is None or group is None or not groups or BACKGROUND in groups or not run.blocks:
        return None
    missing = np.full(mean.shape[1], np.nan)
    rows = [mean[group == place] for place in range(len(groups))]
    values = np.stack([own.std(0) if len(own) else missing for own in rows])
    found = []
    for name, where in run.blocks.items():
        if where.stop > where.start:
            latents = [str(at) for at in range(where.start, where.stop)]
            caption = f"Deviation of latents of {name} in each domain"
            table = heat_table(values[:, where], groups, latents, caption=caption, corner="latent", top=1.0)
            found.append(figure(_title(name), table))
    return join(found)


def counterfactual_pictures(run: Run) -> Safe | None:
    """One row for each way of decoding, domain after domain."""
    parts: list[Safe] = []
    for group, rows in _named(run.pictures, "counterfactual/"):
        names = run.pictures.get(f"counterfactual_rows/{group}", np.array([]))
        if rows.ndim != 5 or len(names) != len(rows) or not rows.size:
            continue
        for name, images in zip(map(str, names), rows, strict=True):
            parts += [tag("p", tag("b", _title(name))), picture(images, name)]
    return tag("div", *parts, class_="rows") if parts else None


def between(run: Run) -> Safe | None:
    """A grid for each block that was moved."""
    found = []
    for block, grid in _named(run.pictures, "between/"):
        if grid.ndim != 5 or not grid.size:
            continue
        still = [name for name in run.blocks if name != block]
        stays = f", {' and '.join(still)} of the first stays" if still else ""
        how = (
            "top left is the code of the first, bottom right that of the second, the diagonal the way between; "
            "down moves the first half of the latents, across the second"
            if len(grid) > 1
            else "from the code of the first to that of the second"
        )
        alt = f"Decoded images while {block} moves between two codes{stays}"
        found.append(figure(f"{_title(block)} moves{stays}", picture(grid, alt, 48), how))
    return join(found) if found else None


def _named(held: dict[str, np.ndarray], before: str) -> Iterator[tuple[str, np.ndarray]]:
    return ((name.removeprefix(before), held[name]) for name in held if name.startswith(before))


def _title(name: str) -> str:
    return name[:1].upper() + name[1:]
