"""Data and methods of paper 001's tables, as keywords of `unbraid.train`, with each scale's budget."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

from unbraid import own_folders
from unbraid.claims import Bench
from unbraid.data import Data
from unbraid.data.grassy_mnist import Overlaid
from unbraid.datafiles import IMAGES
from unbraid.groups import Chained

METHODS = {"cVAE": "cvae", "sRb-VAE": "srb_vae", "Eq. 7": "zero_salient_vae", "Eq. 8": "w2_vae"}
OURS = ("Eq. 7", "Eq. 8")


class Column(NamedTuple):
    """Data as the paper calls them, with the sizes of both codes (A.3) and how many targets there are."""

    data: str
    common: int
    salient: int
    targets: int
    net: str = "grassy"


# z in R^8, s in R^4 as A.3's formula says; the 16 and 8 of its text would have a W2 floor of 14, not 4.4
COLUMNS = {
    "L-MNIST": Column("", 8, 4, 49_860),
    "NL-MNIST": Column("nonlinear", 8, 4, 49_860),
    "CelebA": Column("celeba", 16, 6, 10_000, "grassy:layers=8"),
    "AffectNet": Column("affectnet", 32, 32, 35_000, "grassy:layers=8"),
}
KINDS = ("L-MNIST", "NL-MNIST")
BETA, BATCH, EPOCHS = 2.0, 128, 200  # Fig. 6 for the epochs
CPU_STEPS = 3_500
FOLDER, GRASS = "grass", ("grass", "meadow")  # in UNBRAID_DATA, and what pictures of grass are called


def textures(bench: Bench) -> str:
    """What the user named; else pictures of grass in UNBRAID_DATA; else none, and grass is drawn."""
    folder = own_folders.found(FOLDER)
    if bench.data or folder is None or not folder.is_dir():
        return bench.data or ""
    pictures = [file.name for file in sorted(folder.iterdir()) if file.suffix.lower() in IMAGES]
    return "+".join(f"{FOLDER}/{name}" for name in pictures if any(word in name.lower() for word in GRASS))


def digits(bench: Bench, kind: str) -> str:
    """The data."""
    told = {"kind": kind} if kind else {}
    told |= {"textures": over} if (over := textures(bench)) else {}
    told |= bench.pick({"per_digit": "24", "patches": "240"}, {}, {})
    return f"grassy_mnist:{','.join(f'{k}={v}' for k, v in told.items())}" if told else "grassy_mnist"


def job(bench: Bench, method: str, column: str, **options: Any) -> dict[str, Any]:
    """One cell row of a table: Adam 1e-3 (A.3).

    Arguments:
        bench: where.
        method: its name.
        column: the data as the paper calls them.
        options: others of the method.
    """
    about = COLUMNS[column]
    thin = f"{about.net}{',' if ':' in about.net else ':'}first=16"
    return {
        "method": method, "data": digits(bench, about.data) if column in KINDS else bench.data or about.data,
        "net": bench.pick("mlp", thin, about.net), "batch_size": BATCH, "lr": bench.pick(1e-3, 2e-3, 1e-3),
        "reconstruction": "squared", "steps": bench.pick(5, CPU_STEPS, paper_steps(column)),
        "precision": bench.pick("float32", "bf16", "float32"), "seeds": list(range(bench.pick(1, 3, 3))),
        "probe_every": bench.pick(5, 100, 1000), **options,
    }  # fmt: skip


def row(bench: Bench, label: str, column: str, **options: Any) -> dict[str, Any]:
    """The same by what the paper calls a method with common and salient codes; sRb-VAE has no beta, and is slow."""
    about = COLUMNS[column]
    own: dict[str, Any] = {"common": about.common, "salient": about.salient}
    own |= {"beta": BETA} if label != "sRb-VAE" else bench.pick({}, {"steps": CPU_STEPS // 2}, {})
    return job(bench, METHODS[label], column, **{**own, **options})


def paper_steps(column: str) -> int:
    """200 epochs of the targets' training part."""
    return round(EPOCHS * 0.8 * COLUMNS[column].targets / BATCH)


def reduced(bench: Bench, column: str = "L-MNIST") -> list[str]:
    """What was changed at this scale, and why."""
    if bench.scale != "cpu":
        return []
    return [
        f"At cpu scale {CPU_STEPS:,} steps of {BATCH} stand for the paper's {paper_steps(column):,} ({EPOCHS} epochs of "
        f"{COLUMNS[column].targets:,} targets), with twice its learning rate, narrow convolutions (16 channels in the first), in bf16; sRb-VAE, whose step costs four of the "
        "others', has half as many."
    ]


def shown(data: Data, count: int, group: str = "target") -> Tensor:
    """The first rows of one group's test part."""
    rows = data.rows("test")
    assert data.group is not None
    return rows[data.group[rows] == data.groups.index(group)][:count]


def beneath(data: Data, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The digit (rows, 28, 28) and the patch of grass (rows, 3, 28, 28) that targets were made of, 0 to 1."""
    assert isinstance(data.source, Chained)
    made = next(source for source in data.source.sources if isinstance(source, Overlaid))
    own = rows - int(data.rows_of("target")[0])
    return made.digits[own] / 255, made.patches[made.behind[own]] / 255


def correlation(a: Tensor, b: Tensor) -> Tensor:
    """Of each row with the same row; 0 where nothing varies."""
    a, b = (each.flatten(1) - each.flatten(1).mean(1, keepdim=True) for each in (a, b))
    return (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1)).clamp_min(1e-9)


def colours(images: Tensor) -> Tensor:
    """The mean colour of each, (channels, images)."""
    return images.mean((2, 3)).T
