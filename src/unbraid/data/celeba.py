"""CelebA (Liu et al. 2015) as paper 001 has it: faces with hats and faces with glasses against faces with neither."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unbraid.data import FEWEST, Data, named, whole
from unbraid.data.linear_square import generator
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.groups import join
from unbraid.own_folders import folder_with
from unbraid.photographs import Shot, photographs

LAYOUTS = (
    ("img_align_celeba", "list_attr_celeba.txt"),
    ("img_align_celeba", "Anno/list_attr_celeba.txt"),
    ("Img/img_align_celeba", "Anno/list_attr_celeba.txt"),
)
HAT, GLASSES = "Wearing_Hat", "Eyeglasses"
SIDE = 64


def celeba(folder: str = "", per_class: int = 5000, background: int = 10000, crop: int = 108, seed: int = 0) -> Data:
    """Faces with a hat or with glasses, but not both, against faces without either; 64x64 in colour, from your own copy.

    Read are img_align_celeba/ and list_attr_celeba.txt, as they are published. Where a class has fewer faces than asked
    for, all of them are taken, and results say so.

    Arguments:
        folder: where they are; by default UNBRAID_DATA, or a folder in it whose name begins with celeba.
        per_class: targets with a hat, and with glasses.
        background: faces with neither.
        crop: side of the square that is cut from the middle of a picture, before it is scaled.
        seed: which faces.
    """
    options = {"folder": folder, "per_class": per_class, "background": background, "crop": crop, "seed": seed}
    whole({"per_class": per_class, "background": background}, least=FEWEST)
    whole({"crop": crop})
    random = generator(seed)
    place, (pictures, table) = folder_with("celeba", folder, LAYOUTS)
    files, hat, glasses = attributes(place / table)
    wanted = {"hat": (hat & ~glasses, per_class), "glasses": (glasses & ~hat, per_class), "neither": (~hat & ~glasses, background)}  # fmt: skip
    rows, notes = dict[str, NDArray[np.int64]](), list[str]()
    for name, (own, most) in wanted.items():
        rows[name] = random.permutation(np.flatnonzero(own))[:most]
        if len(rows[name]) < FEWEST:
            raise UserError(f"celeba: {place / table} has {len(rows[name])} faces with {name}: at least {FEWEST} are needed")  # fmt: skip
        if len(rows[name]) < most:
            notes.append(f"CelebA here has only {len(rows[name])} faces with {name}, not {most}")
    shots = {name: [Shot(place / pictures / files[row], crop) for row in own] for name, own in rows.items()}
    accessory = np.repeat([0, 1], [len(shots["hat"]), len(shots["glasses"])])[:, None]
    name = named("celeba", options)
    factor = Factor("accessory", 2, "category", ("hat", "glasses"))
    target = photographs("celeba", f"{name} (target)", shots["hat"] + shots["glasses"], SIDE, [factor], accessory, notes)  # fmt: skip
    behind = photographs("celeba", f"{name} (background)", shots["neither"], SIDE, notes=notes)
    return join({"target": target, "background": behind}, name)


def attributes(table: Path) -> tuple[list[str], NDArray[np.bool_], NDArray[np.bool_]]:
    """File names, and which faces have a hat and glasses: a count, forty names, then a row of 1 and -1 per file."""
    lines = table.read_text().splitlines()
    header = lines[1].split() if len(lines) > 2 else []
    for attribute in (HAT, GLASSES):
        if attribute not in header:
            raise UserError(f"celeba: {table} has no attribute {attribute} in its second line: is it the official list?")  # fmt: skip
    rows = [line.split() for line in lines[2:] if line.strip()]
    for number, row in enumerate(rows):
        if len(row) != len(header) + 1:
            raise UserError(f"celeba: {table}: line {number + 3} has {len(row)} words, not {len(header) + 1}")
    cells = np.array([[row[1 + header.index(attribute)] for attribute in (HAT, GLASSES)] for row in rows])
    return [row[0] for row in rows], cells[:, 0] == "1", cells[:, 1] == "1"
