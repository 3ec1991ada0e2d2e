"""Files that are whole or absent: everything is written beside its place and renamed into it."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from unbraid.errors import UserError


def write(path: Path, fill: Callable[[Path], Any]) -> None:
    """Let `fill` write a temporary file, then move it to `path` in one step; a full disk leaves the old file."""
    part: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(handle)
        part = Path(name)
        fill(part)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.chmod(0o644)
        part.replace(path)
    except Exception as error:
        if not (reason := _reason(error)):
            raise
        raise UserError(f"cannot write {path}: {reason}; what was saved before is untouched") from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def _reason(error: BaseException) -> str:
    """What the system said of a file; libraries wrap it. Nothing if the fault is not the system's."""
    if isinstance(error, OSError):
        return error.strerror or str(error).split("\n")[0]
    if isinstance(error, RuntimeError) and isinstance(error.__context__, OSError):  # torch.save
        return _reason(error.__context__)
    told = re.search(r"\(os error (\d+)\)", str(error))  # safetensors
    return os.strerror(int(told[1])) if told else ""


def check_folder(folder: Path, what: str = "the folder") -> None:
    """Refuse a place where no folder can be made or written into, before any work is done for it."""
    there = next(p for p in (folder, *folder.absolute().parents) if os.path.exists(p))
    if not there.is_dir():
        raise UserError(f"cannot use {folder} as {what}: {there} is a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"cannot use {folder} as {what}: {there} may not be written into")


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write a compressed `.npz`."""
    import numpy as np

    def fill(part: Path) -> None:
        with part.open("wb") as file:
            np.savez_compressed(file, **arrays)

    write(path, fill)


def check_file(path: Path) -> None:
    """Refuse a place where no file can be written."""
    if path.is_dir():
        raise UserError(f"cannot write {path}: it is a folder; name a file")
    check_folder(path.parent, f"the folder of {path.name}")


def read_yaml(path: Path) -> Any:
    """What a YAML file holds, or one line saying where it is wrong."""
    import yaml

    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (UnicodeDecodeError, yaml.reader.ReaderError) as error:
        raise UserError(f"{path} is not a text file: {error.reason}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        cause = getattr(error, "problem", None) or str(error).split("\n")[0]
        raise UserError(f"{path} is not valid YAML: {f'line {mark.line + 1}: ' if mark else ''}{cause}") from error


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
