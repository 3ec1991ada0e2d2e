"""Official files of published data sets: in the user's own folder or downloaded once, always checked."""

from __future__ import annotations

import hashlib
import os
import warnings
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from filelock import FileLock
from platformdirs import user_cache_dir
from tqdm import tqdm

from unbraid.errors import Notice, UserError
from unbraid.own_folders import data_folder, folders, named_after

TRIES = 3
TIMEOUT = 30.0
CHUNK = 1 << 18
LARGE = 1 << 26  # bytes from which on a checksum is remembered: reading so much at every start takes too long


@dataclass(frozen=True)
class Official:
    """A file as its authors published it.

    Arguments:
        name: of the file.
        checksum: "sha256:..." or, where only that is published, "md5:..."; None where none is published.
        addresses: where it can be had, tried in turn.
    """

    name: str
    checksum: str | None
    addresses: tuple[str, ...]

    def is_at(self, path: Path) -> bool:
        """Whether the file at a path is this one, byte for byte; taken on trust if no checksum is published."""
        return self.checksum is None or checksum(path, self.checksum.partition(":")[0]) == self.checksum

    def notes(self, path: Path) -> tuple[str, ...]:
        """What results made from the file at a path must say of it."""
        if self.checksum is not None:
            return ()
        return (f"made with {self.name}, which is unverified: no checksum of it is published (here {checksum(path)})",)


class OtherFile(UserError):
    """A file that has the name of an official one but not its content."""

    def __init__(self, path: Path, file: Official, dataset: str) -> None:
        kind, _, right = (file.checksum or "sha256:none published").partition(":")
        found = checksum(path, kind).partition(":")[2]
        super().__init__(
            f"{path} ({path.stat().st_size} bytes) is not the official file of {dataset}, or is damaged: "
            f"its {kind} is {found[:12]}..., not {right[:12]}...; remove it to have it downloaded"
        )
        self.path = path


def checksum(path: Path, kind: str = "sha256") -> str:
    """The checksum of a file, with the kind before it; of a large file it is remembered until the file changes."""
    about = path.stat()
    key = f"{path.resolve()} {about.st_size} {about.st_mtime_ns} {kind}"
    memory = cache_folder() / "checksums" / hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
    if about.st_size >= LARGE and memory.is_file():
        return memory.read_text()
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, lambda: hashlib.new(kind, usedforsecurity=False))
    found = f"{kind}:{digest.hexdigest()}"
    if about.st_size >= LARGE:
        with suppress(OSError):
            memory.parent.mkdir(parents=True, exist_ok=True)
            part = memory.with_suffix(f".{os.getpid()}.part")
            part.write_text(found)
            part.replace(memory)
    return found


def cache_folder() -> Path:
    """Where downloads and prepared data are kept: UNBRAID_CACHE, or the user's cache folder."""
    return Path(os.environ.get("UNBRAID_CACHE") or user_cache_dir("unbraid")).expanduser()


def fetch(dataset: str, file: Official) -> Path:
    """An official file, checked: from the folder UNBRAID_DATA, from the cache, or from its addresses."""
    if file.checksum is None:
        warnings.warn(f"{dataset}: {file.name} is unverified, as no checksum of it is published", Notice, stacklevel=2)
    own = _in_own_folder(dataset, file)
    if own is not None:
        return own
    path = cache_folder() / dataset / file.name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            if not path.exists():
                _download(dataset, file, path)
    except PermissionError as error:
        raise UserError(f"cannot write to {path.parent}: set UNBRAID_CACHE to a folder you own") from error
    if not file.is_at(path):
        raise OtherFile(path, file, dataset)
    return path


def _in_own_folder(dataset: str, file: Official) -> Path | None:
    """Look where the user keeps data; as data sets share file names, content decides before the folder."""
    folder = data_folder()
    if folder is None:
        return None
    meant = [folder, *named_after(folder, dataset)]
    found = [f / file.name for f in [*meant, *folders(folder)] if (f / file.name).is_file()]
    for path in found:
        if file.is_at(path):
            return path
    for path in found:
        if path.parent in meant:
            raise OtherFile(path, file, dataset)
    return None


def _download(dataset: str, file: Official, path: Path) -> None:
    part = path.with_name(f"{path.name}.part")
    failures = []
    for address in file.addresses:
        failure = _download_from(address, file, part)
        if failure is None:
            part.replace(path)
            return
        failures.append(f"{address}: {failure}")
    raise UserError(
        f"cannot download {file.name} of {dataset} ({'; '.join(failures)}); "
        f"put the file into {path.parent}, or set UNBRAID_DATA to a folder that has it"
    )


def _download_from(address: str, file: Official, part: Path) -> str | None:
    """Download to a partial file, going on where an earlier attempt stopped; what went wrong, or None."""
    failure = "no answer"
    for _ in range(TRIES):
        begun = part.stat().st_size if part.exists() else 0
        try:
            complete = _stream(address, begun, part, file.name)
        except HTTPError as error:
            error.close()
            if not (error.code == 416 and begun):
                return f"HTTP {error.code}"
            complete = True
        except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
            failure = str(getattr(error, "reason", error)) or type(error).__name__
            continue
        if not complete:
            failure = "the connection broke off"
            continue
        if file.is_at(part):
            return None
        part.unlink()
        failure = "sent another file than the official one"
        if not begun:
            break
    return failure


def _stream(address: str, begun: int, part: Path, name: str) -> bool:
    """Append what a file lacks, or begin anew if the server knows no ranges; whether it is complete."""
    headers = {"User-Agent": "unbraid", **({"Range": f"bytes={begun}-"} if begun else {})}
    response: HTTPResponse
    with urlopen(Request(address, headers=headers), timeout=TIMEOUT) as response:
        resumed = response.status == 206
        length = response.headers.get("Content-Length")
        done = begun if resumed else 0
        total = done + int(length) if length else None
        bar = tqdm(desc=name, initial=done, total=total, unit="B", unit_scale=True, disable=None, leave=False)
        with part.open("ab" if resumed else "wb") as out, bar:
            while chunk := response.read(CHUNK):
                out.write(chunk)
                bar.update(len(chunk))
                done += len(chunk)
    return total is None or done == total
