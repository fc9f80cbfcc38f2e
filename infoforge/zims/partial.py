"""A download that is not whole yet: its bytes, what it is to become, and what vouches for it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infoforge.contract import CheckFailed
from infoforge.files import publish, write_atomic
from infoforge.text.parse import from_json
from infoforge.zims.metalink import Pieces
from infoforge.zims.source import DownloadSource
from infoforge.zims.space import balance
from infoforge.zims.units import MIB, show_size

PARTIAL_DIR = ".partial"

_READ = 1 * MIB
# Written back and dropped from the page cache this often: the cache belongs to searches,
# and a power cut then costs seconds of downloading instead of gigabytes.
_FLUSH = 64 * MIB


@dataclass(slots=True)
class PartialInfo:
    """What is kept next to the bytes, so that another process can go on with them.

    Attributes:
        origin: Address that it was asked by.
        size: Bytes when whole.
        sha256: What it must hash to; empty when unknown.
        validators: Mirror -> strong ETag or Last-Modified, for ``If-Range``.
        givers: Mirrors that gave any of the bytes.
    """

    origin: str
    size: int
    sha256: str
    validators: dict[str, str] = field(default_factory=dict)
    givers: list[str] = field(default_factory=list)

    def fits(self, source: DownloadSource) -> bool:
        """Whether these bytes are the start of that file, as far as one can know."""
        if self.size != source.size:
            return False
        if self.sha256 or source.sha256:
            return self.sha256 == source.sha256
        return self.origin == source.origin


class Partial:
    """The file under ``.partial/``, open for writing at its end.

    Everything is written unbuffered, so that what was fetched is there after ``kill -9``.

    Args:
        folder: The ZIM folder.
        source: What it is to become.

    Attributes:
        have: Bytes on disk.
        digest: Running SHA-256 of all of them, ``None`` after a resume (the file is read again).
        received: Bytes written by this process, those that were thrown away included.
        inherited: Some of the bytes are from an earlier process.
    """

    def __init__(self, folder: Path, source: DownloadSource) -> None:
        self.folder = folder
        self.source = source
        self.path = folder / PARTIAL_DIR / source.file
        self._note_path = note_path(self.path)
        self.stale = False
        """Bytes of another edition or file were found and thrown away."""
        self._flushed = 0
        with self._disk():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            note = read_note(self.path)
            there = self.path.stat().st_size if self.path.exists() else 0
            usable = note is not None and note.fits(source) and there <= source.size
            self.stale = there > 0 and not usable
            self.note = (
                note
                if note is not None and usable
                else PartialInfo(source.origin, source.size, source.sha256)
            )
            self._save_note()
            # A link in this place would let the download write elsewhere.
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._handle = os.open(self.path, flags | (0 if usable else os.O_TRUNC), 0o644)
        self.have = there if usable else 0
        self.received = 0
        self.inherited = self.have > 0
        self.digest: hashlib._Hash | None = None if self.have else hashlib.sha256()

    @property
    def handle(self) -> int:
        """The open file, to be read from."""
        return self._handle

    def flush(self) -> None:
        """Bring everything to the disk, so that what is read back comes from there."""
        with self._disk():
            os.fsync(self._handle)
            self._forget_cache()

    def close(self) -> None:
        """Close the file; the bytes stay."""
        os.close(self._handle)

    def write(self, data: bytes) -> None:
        """Append.

        Raises:
            CheckFailed: The disk is full or the file may not grow; the bytes so far stay.
        """
        view = memoryview(data)
        with self._disk():
            while view:
                written = os.pwrite(self._handle, view, self.have)
                if self.digest is not None:
                    self.digest.update(view[:written])
                self.have += written
                self.received += written
                view = view[written:]
            if self.have - self._flushed >= _FLUSH:
                os.fdatasync(self._handle)
                self._forget_cache()
                self._flushed = self.have

    def cut(self, length: int) -> None:
        """Keep only the first ``length`` bytes."""
        with self._disk():
            os.ftruncate(self._handle, length)
        self.have = length
        self._flushed = min(self._flushed, length)
        if length == 0:
            self.inherited = False
            self.digest = hashlib.sha256()
            self.note.givers.clear()
            self._save_note()
        else:
            self.digest = None

    def given_by(self, url: str, validator: str) -> None:
        """Remember who gives bytes, before the first one is written."""
        if url not in self.note.givers or self.note.validators.get(url, "") != validator:
            if url not in self.note.givers:
                self.note.givers.append(url)
            if validator:
                self.note.validators[url] = validator
            else:
                self.note.validators.pop(url, None)
            with self._disk():
                self._save_note()

    def read(self, start: int, end: int) -> bytes:
        """Bytes of what is there."""
        return os.pread(self._handle, end - start, start)

    def sha256(self, progress: Callable[[int], None]) -> str:
        """Hex digest of the whole file: the running one, or by reading it all from the disk."""
        if self.digest is not None:
            return self.digest.hexdigest()
        self.flush()
        digest = hashlib.sha256()
        position = 0
        while block := os.pread(self._handle, _READ, position):
            digest.update(block)
            position += len(block)
            progress(position)
        return digest.hexdigest()

    def whole_pieces(self, pieces: Pieces, progress: Callable[[int], None]) -> None:
        """Cut before the first piece that is not as its hash says."""
        for index in range(self.have // pieces.length):
            start = index * pieces.length
            block = self.read(start, start + pieces.length)
            progress(start + len(block))
            if piece_hash(pieces, block) != pieces.hashes[index]:
                self.cut(start)
                return

    def publish(self, target: Path) -> None:
        """Give it its final name, durably; an earlier file of that name is replaced at once."""
        with self._disk():
            with contextlib.suppress(PermissionError):
                # The user that serves it may be another one; FAT has no modes to set.
                os.fchmod(self._handle, 0o644)
            publish(self.path, target)
            self._note_path.unlink(missing_ok=True)

    def discard(self) -> None:
        """Throw the bytes away."""
        self.path.unlink(missing_ok=True)
        self._note_path.unlink(missing_ok=True)

    def _forget_cache(self) -> None:
        with contextlib.suppress(OSError):
            os.posix_fadvise(self._handle, 0, 0, os.POSIX_FADV_DONTNEED)

    def _save_note(self) -> None:
        write_atomic(self._note_path, json.dumps(_plain(self.note), indent=1))

    @contextlib.contextmanager
    def _disk(self) -> Iterator[None]:
        """Turn what a disk may say into our words."""
        try:
            yield
        except OSError as error:
            raise self._disk_error(error) from error

    def _disk_error(self, error: OSError) -> CheckFailed:
        file, have = self.source.file, getattr(self, "have", 0)
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            space = balance(self.folder, [self.source.size], have, keep_free=0)
            return CheckFailed(
                f"the disk is full: {file} still needs {show_size(space.need)}, free "
                f"{show_size(space.free)}, short of {show_size(space.short)}; "
                f"{show_size(have)} of {show_size(self.source.size)} are kept",
                "free some space and give the same command again: it goes on from there",
                code="no_space",
                data={"need": space.need, "free": space.free, "short": space.short},
            )
        return CheckFailed(
            f"cannot write {self.path}: {error.strerror or error}",
            "check the folder's owner and mode, and the disk (dmesg)",
            code="folder",
        )


def piece_hash(pieces: Pieces, data: bytes) -> str:
    """Hash of one piece, in the metalink's way."""
    return hashlib.new(pieces.algorithm, data, usedforsecurity=False).hexdigest()


def note_path(partial: Path) -> Path:
    """Where the note of a partial file stands."""
    return partial.with_name(partial.name + ".json")


def read_note(partial: Path) -> PartialInfo | None:
    """The note of a partial file; ``None`` when there is none that can be read."""
    try:
        data = from_json(note_path(partial).read_bytes())
        return PartialInfo(
            origin=str(data["origin"]),
            size=int(data["size"]),
            sha256=str(data["sha256"]),
            validators={str(k): str(v) for k, v in dict(data["validators"]).items()},
            givers=[str(url) for url in data["givers"]],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def kept_bytes(folder: Path, source: DownloadSource) -> int:
    """Bytes of a source that lie in the folder already and can be gone on with."""
    path = folder / PARTIAL_DIR / source.file
    note = read_note(path)
    if note is None or not note.fits(source):
        return 0
    try:
        size = path.stat().st_size
    except OSError:
        return 0
    return size if size <= source.size else 0


def _plain(note: PartialInfo) -> dict[str, Any]:
    return {
        "origin": note.origin,
        "size": note.size,
        "sha256": note.sha256,
        "validators": note.validators,
        "givers": note.givers,
    }
