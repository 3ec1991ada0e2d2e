"""Files that are whole or absent: everything is written beside its place and renamed into it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unbraid.errors import UserError


def write(path: Path, fill: Callable[[Path], Any]) -> None:
    """Let `fill` write a temporary file, then move it to `path` in one step; a full disk leaves the old file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        fill(part)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.chmod(0o644)
        part.replace(path)
    except (OSError, RuntimeError) as error:  # torch.save turns a full disk into a RuntimeError
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).split("\n")[0]
        raise UserError(f"cannot write {path}: {reason}; what was saved before is untouched") from error
    finally:
        part.unlink(missing_ok=True)


def sweep(folder: Path, name: str = "*") -> None:
    """Remove what a killed process had begun to write, of one file or of all; for whoever holds the folder's lock."""
    for part in folder.glob(f".{name}.*.part"):
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file."""
    write(path, lambda part: part.write_text(text))


def write_json(path: Path, value: Any) -> None:
    """Write JSON; NaN becomes null, so that any reader can read it."""
    write_text(path, json.dumps(plain(value), indent=1, allow_nan=False) + "\n")


def plain(value: Any) -> Any:
    """Arrays, tensors, dataclass-free: what JSON knows."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value
