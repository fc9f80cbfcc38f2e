"""Documents that are ZIP archives inside, opened with limits: a small one can hold a huge one."""

from __future__ import annotations

import zipfile
from typing import NoReturn

from infoforge.zimify.records import UnreadableError

LARGEST = 1 << 30
"""Bytes that all members may have together when unpacked."""
RATIO = 200
"""Times that an archive of more than `HARMLESS` unpacked bytes may be larger than its file."""
HARMLESS = 64 << 20
MEMBERS = 50_000


def open_archive(real: str, size: int) -> zipfile.ZipFile:
    """Open a ZIP archive after a look at what it claims to hold.

    ``zipfile`` never unpacks more of a member than its directory claims, so the claim can be
    relied on.

    Args:
        real: The file.
        size: Its bytes.

    Raises:
        UnreadableError: No archive, a damaged or an encrypted one, or one made to fill the memory.
    """
    try:
        archive = zipfile.ZipFile(real)
    except OSError:
        raise  # of the disk, not of the archive: its own text says more
    except Exception as error:
        # Errors without a common base, for a damaged directory, a broken name, a newer format:
        # 60,000 damaged directories raised three kinds, and no version promises that these are all.
        _refuse(error)
    members = archive.infolist()
    total = sum(member.file_size for member in members)
    reason = ""
    if len(members) > MEMBERS:
        reason = f"holds {len(members)} files"
    elif total > LARGEST or (total > HARMLESS and total > RATIO * size):
        reason = f"would unpack to {total / 1e6:.0f} MB (a zip bomb?)"
    elif any(member.flag_bits & 1 for member in members):
        reason = "protected by a password"
    if reason:
        archive.close()
        raise UnreadableError(reason)
    return archive


def member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of one member.

    Raises:
        UnreadableError: It is missing or damaged.
    """
    try:
        return archive.read(name)
    except KeyError:
        raise UnreadableError(f"holds no {name}") from None
    except Exception as error:
        # zipfile, zlib and lzma have errors of their own, with no common base.
        _refuse(error)


def _refuse(error: Exception) -> NoReturn:
    text = " ".join(str(error).split()) or type(error).__name__
    # zipfile says so of a version or a compression that it does not know: the file may be sound.
    newer = isinstance(error, NotImplementedError)
    what = "a kind of archive that is not supported" if newer else "damaged"
    raise UnreadableError(f"{what}: {text}") from None
