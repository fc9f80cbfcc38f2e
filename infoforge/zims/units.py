"""Sizes and durations as people write and read them."""

from __future__ import annotations

from infoforge.contract import UsageError
from infoforge.text.parse import parse_size

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def size_argument(text: str) -> int:
    """Read a size that was given on the command line.

    Args:
        text: ``10GB`` (powers of 1000), ``10GiB`` (powers of 1024), ``500k`` or plain bytes.

    Returns:
        Bytes.

    Raises:
        UsageError: It is not a size.
    """
    try:
        return parse_size(text)
    except ValueError:
        raise UsageError(f"'{text}' is no size", "write 10GB, 500MB or 1.5GiB") from None


def show_size(count: float) -> str:
    """A size for people, in powers of 1000 as catalogs and shops write them (``53.1 GB``)."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} TB"


def show_duration(seconds: float) -> str:
    """A duration for people: ``45 s``, ``12 min``, ``3 h 20 min``, ``2 d 4 h``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"
