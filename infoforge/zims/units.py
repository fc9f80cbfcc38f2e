"""Sizes and durations as people write and read them."""

from __future__ import annotations

import re

from infoforge.config.build import parse_size as config_size
from infoforge.contract import UsageError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

_SIZE = re.compile(r"\d+(\.\d+)?\s*([kmgt]i?)?b?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Read a size.

    Args:
        text: ``10GB`` (powers of 1000), ``10GiB`` (powers of 1024), ``500k`` or plain bytes.

    Returns:
        Bytes.

    Raises:
        UsageError: It is no size.
    """
    if not _SIZE.fullmatch(text.strip()):
        raise UsageError(f"'{text}' is no size", "write 10GB, 500MB or 1.5GiB")
    return config_size(text)


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
