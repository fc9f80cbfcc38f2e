"""Whether a ZIM file is whole: a quick look at header and index, or every byte."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from infoforge.zims.names import is_part, join_command, parts_of
from infoforge.zims.units import MIB

_HEADER = struct.Struct("<IHH16sIIQQQQIIQ")
_MAGIC = 0x044D495A
_MD5 = 16
_READ = 4 * MIB
QUICK_SECONDS = 60.0
"""Seconds for the quick check; a disk that sleeps or is on a network needs some."""
_ALL_SECONDS = 2 * 86400.0
_MIME_LIST = 64 << 10


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
    size = sum(part.stat().st_size for part in parts_of(path))
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


def quick(path: Path, *, seconds: float = QUICK_SECONDS) -> str:
    """Search and read in a file as questions do; milliseconds even at 100 GB.

    libzim runs in a child process: a damaged file may end that, and not this program.

    Args:
        path: The file; of a split one, its first part.
        seconds: Time for it.

    Returns:
        What is wrong, empty when nothing is.
    """
    return examine(path, seconds=seconds)[0]


def examine(path: Path, *, seconds: float = QUICK_SECONDS) -> tuple[str, bool]:
    """As `quick`, and whether the result holds for as long as the file stays the same."""
    from infoforge.zimreader.process import ZimError, ZimFile, ZimTimeout

    try:
        header = read_header(path)
        try:
            file = ZimFile(path, keys=(), seconds=seconds)
        except ZimTimeout:
            raise
        except ZimError as error:
            raise Damaged(f"libzim cannot open it: {error}") from error
        if file.facts.all_entries != header.entries:
            found = file.facts.all_entries
            raise Damaged(f"its header says {header.entries} entries and libzim finds {found}")
        file.probe(seconds)
        if is_part(path.name) and not file.facts.fulltext and _has_index(path):
            # Xapian reads one file; libzim then says that there is no index.
            raise Damaged("its full-text index lies in more than one part")
    except Damaged as error:
        return _split(path, str(error)), True
    except OSError as error:
        return f"it cannot be read: {error.strerror or error}", False
    except ZimTimeout:
        return f"it cannot be searched and read within {seconds:.0f} seconds", False
    except ZimError as error:
        return _split(path, f"it cannot be searched and read: {error}"), True
    return "", True


def _has_index(path: Path) -> bool:
    """Whether the list of media types has that of the search indexes."""
    with path.open("rb") as file:
        return b"octet-stream+xapian" in file.read(_MIME_LIST)


def _split(path: Path, problem: str) -> str:
    """What is wrong with a file, and of a split one, how to join it."""
    if not is_part(path.name):
        return problem
    return f"it is split and cannot be opened so ({problem}); join it: {join_command(path)}"


def read_entries(path: Path) -> str:
    """Read every entry, in a child process; what a file's checksum says nothing about.

    Returns:
        What is wrong, empty when nothing is.
    """
    from infoforge.zimreader.process import probe_zim

    return probe_zim(path, full=True, seconds=_ALL_SECONDS)


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
    with ExitStack() as files:
        parts = [files.enter_context(p.open("rb", buffering=0)) for p in parts_of(path)]
        handles = [file.fileno() for file in parts]
        size = sum(os.fstat(handle).st_size for handle in handles)
        return _sums(handles, size, header.checksum_at, progress)


def sums_of(handle: int, size: int, checksum_at: int, progress: Callable[[int, int], None]) -> Sums:
    """As `read_through`, of an open file."""
    return _sums([handle], size, checksum_at, progress)


def _sums(
    handles: Sequence[int], size: int, checksum_at: int, progress: Callable[[int, int], None]
) -> Sums:
    md5, sha256 = hashlib.md5(usedforsecurity=False), hashlib.sha256()
    position, stored = 0, b""
    for block in _blocks(handles):
        sha256.update(block)
        if checksum_at:
            inside = max(0, min(len(block), checksum_at - position))
            md5.update(block[:inside])
            stored += block[inside:][: _MD5 - len(stored)]
        position += len(block)
        progress(position, size)
    return Sums(stored == md5.digest() if checksum_at else None, sha256.hexdigest())


def _blocks(handles: Sequence[int]) -> Iterator[bytes]:
    for handle in handles:
        position = 0
        while block := os.pread(handle, _READ, position):
            yield block
            # A hundred gigabytes read once must not push the searched pages out of memory.
            os.posix_fadvise(handle, position, len(block), os.POSIX_FADV_DONTNEED)
            position += len(block)
