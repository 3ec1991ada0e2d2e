"""AffectNet (Mollahosseini et al. 2017) as paper 001 has it: seven expressions against neutral faces."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from unbraid.data import FEWEST, Data, named, whole
from unbraid.data.linear_square import generator
from unbraid.errors import UserError
from unbraid.factors import Factor
from unbraid.groups import join
from unbraid.own_folders import folder_with
from unbraid.photographs import Shot, photographs

LAYOUTS = (
    ("Manually_Annotated_Images", "training.csv"),
    ("Manually_Annotated_Images", "Manually_Annotated_file_lists/training.csv"),
    ("Manually_Annotated/Manually_Annotated_Images", "Manually_Annotated_file_lists/training.csv"),
)
FILE, FACE, EXPRESSION = "subDirectory_filePath", ("face_x", "face_y", "face_width", "face_height"), "expression"
EXPRESSIONS = ("happy", "sad", "surprise", "fear", "disgust", "anger", "contempt")  # numbered from 1; neutral is 0
SIDE = 96


def affectnet(folder: str = "", per_class: int = 5000, background: int = 5000, seed: int = 0) -> Data:
    """Faces with seven expressions against neutral ones; 96x96 in colour, from your own copy.

    Read are Manually_Annotated_Images/ and training.csv, as they are published. A face is what its box in the list shows;
    it is not turned upright. Where an expression has fewer faces than asked for, all of them are taken, and results say so.

    Arguments:
        folder: where they are; by default UNBRAID_DATA, or a folder in it whose name begins with affectnet.
        per_class: targets of each expression.
        background: neutral faces.
        seed: which faces.
    """
    options = {"folder": folder, "per_class": per_class, "background": background, "seed": seed}
    whole({"per_class": per_class, "background": background}, least=FEWEST)
    random = generator(seed)
    place, (pictures, table) = folder_with("affectnet", folder, LAYOUTS)
    shots = annotated(place / table, place / pictures)
    notes = ["AffectNet's faces are cut by the boxes of its list, and not aligned by their landmarks"]
    chosen = list[list[Shot]]()
    for number, name in enumerate(("neutral", *EXPRESSIONS)):
        own, most = shots.get(number, []), per_class if number else background
        chosen.append([own[i] for i in random.permutation(len(own))[:most]])
        if len(own) < FEWEST:
            raise UserError(f"affectnet: {place / table} has {len(own)} {name} faces: at least {FEWEST} are needed")
        if len(own) < most:
            notes.append(f"AffectNet here has only {len(own)} {name} faces, not {most}")
    values = np.repeat(np.arange(len(EXPRESSIONS)), [len(each) for each in chosen[1:]])[:, None]
    targets = [shot for each in chosen[1:] for shot in each]
    name = named("affectnet", options)
    factor = Factor("expression", len(EXPRESSIONS), "category", EXPRESSIONS)
    target = photographs("affectnet", f"{name} (target)", targets, SIDE, [factor], values, notes)
    behind = photographs("affectnet", f"{name} (background)", chosen[0], SIDE, notes=notes)
    return join({"target": target, "background": behind}, name)


def annotated(table: Path, pictures: Path) -> dict[int, list[Shot]]:
    """Expression → faces; other numbers (none, uncertain, no face) are there too and are not asked for."""
    found: dict[int, list[Shot]] = {}
    with table.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        lacking = [column for column in (FILE, *FACE, EXPRESSION) if column not in (reader.fieldnames or [])]
        if lacking:
            raise UserError(f"affectnet: {table} has no column {', '.join(lacking)}: is it the official list?")
        for number, row in enumerate(reader):
            try:
                left, top, width, height = (int(float(row[column])) for column in FACE)
                expression = int(row[EXPRESSION])
            except (TypeError, ValueError) as error:
                raise UserError(f"affectnet: {table}: row {number + 2} has a cell that is not a number") from error
            found.setdefault(expression, []).append(Shot(pictures / row[FILE], (left, top, left + width, top + height)))
    return found
