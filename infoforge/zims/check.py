"""Whether a ZIM file is whole: a quick look at header and index, or every byte."""

from __future__ import annotations

import hashlib
import os
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infoforge.zims.units import MIB

if TYPE_CHECKING:
    from libzim.reader import Archive

_HEADER = struct.Struct("<IHH16sIIQQQQIIQ")
_MAGIC = 0x044D495A
_MD5 = 16
_SAMPLES = 64
_CONTENTS = 8
# libzim gives an item as a whole: a film would be two gigabytes in memory.
_LARGEST_CONTENT = 8 * MIB
_READ = 4 * MIB


@dataclass(frozen=True, slots=True)
class Header:
    """What of a ZIM's first 80 bytes matters here.

    Attributes:
        uuid: Hex with dashes, as catalogs write it.
        entries: Number of directory entries.
        checksum_at: Position of the MD5 over all bytes before it; 0 when there is none.
    """

    uuid: str
    entries: int
    checksum_at: int


@dataclass(frozen=True, slots=True)
class Sums:
    """The result of reading a file through.

    Attributes:
        md5: Whether the ZIM's own checksum is right; ``None`` when it has none.
        sha256: Hex digest of the whole file.
    """

    md5: bool | None
    sha256: str


class Damaged(ValueError):
    """The file is no whole ZIM; one line says why."""


def read_header(path: Path) -> Header:
    """Read and check the header against the file's size.

    Raises:
        Damaged: No ZIM, or not all of it.
        OSError: The file cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        data = file.read(_HEADER.size)
    if len(data) < _HEADER.size:
        raise Damaged(f"{size} bytes are too few for a ZIM")
    magic, major, _, uuid, entries, clusters, paths_at, _, clusters_at, mime_at, _, _, sum_at = (
        _HEADER.unpack(data)
    )
    if magic != _MAGIC:
        raise Damaged("it does not begin as a ZIM does")
    if major not in {5, 6}:
        raise Damaged(f"its format version {major} is not known")
    if sum_at and sum_at + _MD5 != size and mime_at >= _HEADER.size:
        what = "cut off" if sum_at + _MD5 > size else "followed by something else"
        raise Damaged(f"it is {what}: {size} bytes, and its header says {sum_at + _MD5}")
    if max(paths_at + 8 * entries, clusters_at + 8 * clusters, mime_at) > size:
        raise Damaged("its index lies beyond its end")
    text = uuid.hex()
    dashed = "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
    # Files of the first years have no checksum, and the mime list where it is now.
    return Header(dashed, entries, sum_at if mime_at >= _HEADER.size else 0)


def quick(path: Path) -> str:
    """Look at the header, the index and a few articles; milliseconds even at 100 GB.

    Returns:
        What is wrong, empty when nothing is.
    """
    try:
        header = read_header(path)
        _sample(path, header)
    except Damaged as error:
        return str(error)
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}"
    return ""


def open_archive(path: Path) -> Archive:
    """Open with libzim.

    Raises:
        Damaged: libzim says no.
    """
    from libzim.reader import Archive

    try:
        return Archive(path)
    except (RuntimeError, ValueError, OSError) as error:
        raise Damaged(f"libzim cannot open it: {' '.join(str(error).split())}") from error


def _sample(path: Path, header: Header) -> None:
    archive = open_archive(path)
    count = int(archive.all_entry_count)
    if count != header.entries:
        raise Damaged(f"its header says {header.entries} entries and libzim finds {count}")
    # The same ones every time: a check that says yes today and no tomorrow helps nobody.
    chosen = sorted(random.Random(count).sample(range(count), min(count, _SAMPLES)))  # noqa: S311
    contents = 0
    try:
        for index in chosen:
            entry = archive._get_entry_by_id(index)
            entry.path, entry.title  # noqa: B018 - reading them is the check
            item = None if entry.is_redirect or contents >= _CONTENTS else entry.get_item()
            if item is not None and item.size <= _LARGEST_CONTENT:
                memoryview(item.content)[:1].tobytes()
                contents += 1
        if archive.has_main_entry:
            archive.main_entry.path  # noqa: B018 - as above
    except (RuntimeError, KeyError, IndexError, ValueError) as error:
        raise Damaged(f"its index is damaged: {' '.join(str(error).split())}") from error


def read_through(path: Path, progress: Callable[[int, int], None]) -> Sums:
    """Read every byte once, for the ZIM's own MD5 and for SHA-256.

    Args:
        path: The file.
        progress: Told bytes read and bytes in all.

    Raises:
        Damaged: The header is wrong.
        OSError: The disk cannot give a block.
    """
    header = read_header(path)
    with path.open("rb", buffering=0) as file:
        return sums_of(file.fileno(), path.stat().st_size, header.checksum_at, progress)


def sums_of(handle: int, size: int, checksum_at: int, progress: Callable[[int, int], None]) -> Sums:
    """As `read_through`, of an open file."""
    md5, sha256 = hashlib.md5(usedforsecurity=False), hashlib.sha256()
    position, stored = 0, b""
    while block := os.pread(handle, _READ, position):
        sha256.update(block)
        if checksum_at:
            inside = max(0, min(len(block), checksum_at - position))
            md5.update(block[:inside])
            stored += block[inside:][: _MD5 - len(stored)]
        # A hundred gigabytes read once must not push the searched pages out of memory.
        os.posix_fadvise(handle, position, len(block), os.POSIX_FADV_DONTNEED)
        position += len(block)
        progress(position, size)
    return Sums(stored == md5.digest() if checksum_at else None, sha256.hexdigest())
