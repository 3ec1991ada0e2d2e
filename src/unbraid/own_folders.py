"""The user's own folder of data, UNBRAID_DATA, and what may be kept in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from unbraid.errors import UserError


def data_folder() -> Path | None:
    """Where the user keeps data; None if nothing says so."""
    text = os.environ.get("UNBRAID_DATA")
    if not text:
        return None
    folder = Path(text).expanduser()
    if not folder.is_dir():
        raise UserError(f"UNBRAID_DATA={text}: no such folder")
    return folder


def found(path: str) -> Path | None:
    """A file or folder as it is named, or else of that name where the user keeps data."""
    named = Path(path).expanduser()
    own = data_folder()
    places = [named] if own is None else [named, own / path]
    return next((place for place in places if place.exists()), None)


def folder_with(dataset: str, given: str, layouts: Sequence[Sequence[str]]) -> tuple[Path, Sequence[str]]:
    """The folder of a data set that cannot be downloaded, and which of the layouts it has.

    Arguments:
        dataset: its name, which its folder's name begins with.
        given: the folder, if the user named one.
        layouts: paths that are there together; the first is what an error asks for.
    """
    if given:
        folder = found(given)
        if folder is None or not folder.is_dir():
            raise UserError(f"{dataset}:folder={given}: no such folder, here or in UNBRAID_DATA")
        places = [folder]
    else:
        own = data_folder()
        places = [] if own is None else [*named_after(own, dataset), own]
    for place in places:
        for layout in layouts:
            if all((place / path).exists() for path in layout):
                return place, layout
    if not places:
        raise UserError(
            f"{dataset} may not be downloaded by a program: set UNBRAID_DATA to a folder that has "
            f"{' and '.join(layouts[0])}, or give {dataset}:folder=PATH"
        )
    lacking = [path for path in layouts[0] if not (places[0] / path).exists()]
    raise UserError(f"{dataset}: {places[0]} has no {' and no '.join(lacking)}, as in the official layout")


def folders(folder: Path) -> Iterator[Path]:
    """Those in a folder, sorted."""
    return (path for path in sorted(folder.iterdir()) if path.is_dir())


def named_after(folder: Path, dataset: str) -> list[Path]:
    """Those in a folder whose names begin with that of a data set."""
    return [path for path in folders(folder) if _plain(path.name).startswith(_plain(dataset))]


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")
