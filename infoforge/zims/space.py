"""Whether a file will fit, asked before its first byte is fetched."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from infoforge.contract import CheckFailed
from infoforge.zims.units import GIB, show_size

FAT_LIMIT = 4 * GIB - 1
"""The largest file on FAT, in bytes."""

_MARGIN_SHARE = 0.02


def margin(size: int) -> int:
    """Bytes to keep free beside a download of ``size`` bytes: the bigger of 1 GiB and 2 %."""
    return max(GIB, int(size * _MARGIN_SHARE))


@dataclass(frozen=True, slots=True)
class Space:
    """The balance of a file system before a download, in bytes.

    Attributes:
        need: What is still to be written (sizes less what is there), with the margin.
        free: What the file system gives to this user.
        short: How much is missing, 0 when it fits.
        margin: The part of ``need`` that stays free.
        filesystem: Its type (``ext4``, ``vfat``); empty when unknown.
    """

    need: int
    free: int
    short: int
    margin: int
    filesystem: str


def existing(path: Path) -> Path:
    """The path itself or its nearest ancestor that is there."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def balance(folder: Path, sizes: list[int], have: int, keep_free: int | None = None) -> Space:
    """What the folder's file system needs and has.

    Args:
        folder: Where the files will stand; need not exist yet.
        sizes: Bytes of every file.
        have: Bytes of them that already lie in the folder as partial downloads.
        keep_free: Bytes to keep free; the margin by rule when ``None``.
    """
    place = existing(folder)
    total = sum(sizes)
    spare = margin(total) if keep_free is None else keep_free
    need = max(0, total - have) + spare
    free = shutil.disk_usage(place).free
    return Space(need, free, max(0, need - free), spare, filesystem_of(place))


def require(folder: Path, space: Space, largest: tuple[str, int]) -> None:
    """Refuse when it will not fit.

    Args:
        folder: Where the files will stand.
        space: The balance.
        largest: Name and size in bytes of the largest file, for the file system's own limit.

    Raises:
        CheckFailed: Too little room (need, free and short are named), or FAT and a larger file.
    """
    name, size = largest
    if space.filesystem in {"vfat", "msdos"} and size > FAT_LIMIT:
        raise CheckFailed(
            f"{name} has {show_size(size)} and {folder} is on FAT ({space.filesystem}), "
            f"where a file ends at {show_size(FAT_LIMIT)}",
            "use a folder on ext4, btrfs, xfs or exFAT, or a smaller flavour",
            code="file_too_large",
        )
    if space.short:
        raise CheckFailed(
            f"too little space in {folder}: need {show_size(space.need)} (with "
            f"{show_size(space.margin)} to stay free), free {show_size(space.free)}, "
            f"short of {show_size(space.short)}",
            "free some space (infoforge zims prune), choose a smaller flavour or another folder",
            code="no_space",
            data={"need": space.need, "free": space.free, "short": space.short},
        )


def filesystem_of(path: Path, mountinfo: str | None = None) -> str:
    """The type of the file system that a path is on.

    Args:
        path: An existing path.
        mountinfo: Text in the form of ``/proc/self/mountinfo``; read from there when not given.

    Returns:
        ``ext4``, ``vfat`` …; empty when it cannot be told.
    """
    if mountinfo is None:
        try:
            mountinfo = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
        except OSError:
            return ""
    target = os.fsencode(path.resolve())
    best, kind = b"", ""
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:
            continue
        # The kernel writes blanks and the like in mount points as \040.
        point = os.fsencode(fields[4].replace("\\040", " ").replace("\\011", "\t"))
        point = point.replace(b"\\134", b"\\")
        inside = target == point or target.startswith(point.rstrip(b"/") + b"/")
        # Of two mounts on one point the later one is on top.
        if inside and len(point) >= len(best):
            best, kind = point, right.split(" ")[0]
    return kind
