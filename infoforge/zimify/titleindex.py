"""The list of all entries in the order of their titles, for readers older than 2025.

libzim 9.3 stopped writing it; without it the readers before (Debian 12 and 13 ship them) call a
file structurally invalid. The format has a place for it: the header says where the list is.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
from pathlib import Path

_COUNT_AT = 24
_PATHS_AT = 32
_TITLES_AT = 40
_CHECKSUM_AT = 72
_ABSENT = 0xFFFFFFFFFFFFFFFF
_REDIRECT = 0xFFFF
_BLOCK = 1 << 20


def add_title_index(path: Path) -> bool:
    """Add the list to a finished ZIM file, in place.

    Args:
        path: The file; it must not be in use.

    Returns:
        Whether it was missing.
    """
    with path.open("r+b") as stream:
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            (count,) = struct.unpack_from("<I", data, _COUNT_AT)
            (paths,) = struct.unpack_from("<Q", data, _PATHS_AT)
            (titles,) = struct.unpack_from("<Q", data, _TITLES_AT)
            (end,) = struct.unpack_from("<Q", data, _CHECKSUM_AT)
            if titles != _ABSENT:
                return False
            offsets = struct.unpack_from(f"<{count}Q", data, paths)
            keys = [_title(data, offset) for offset in offsets]
        order = sorted(range(count), key=keys.__getitem__)
        del keys, offsets
        start = end + (-end % 8)
        stream.seek(end)
        stream.write(b"\0" * (start - end) + struct.pack(f"<{count}I", *order))
        finish = stream.tell()
        stream.seek(_TITLES_AT)
        stream.write(struct.pack("<Q", start))
        stream.seek(_CHECKSUM_AT)
        stream.write(struct.pack("<Q", finish))
        stream.truncate(finish)
        stream.seek(0)
        digest = hashlib.md5(usedforsecurity=False)
        while block := stream.read(_BLOCK):
            digest.update(block)
        stream.seek(0, os.SEEK_END)
        stream.write(digest.digest())
    return True


def _title(data: mmap.mmap, offset: int) -> tuple[int, bytes]:
    """Namespace and title of the entry at ``offset``; an empty title means: the path."""
    (kind,) = struct.unpack_from("<H", data, offset)
    start = offset + (12 if kind == _REDIRECT else 16)
    middle = data.find(b"\0", start)
    end = data.find(b"\0", middle + 1)
    return data[offset + 3], data[middle + 1 : end] or data[start:middle]
