"""Numbers and sizes that come from outside, read by one rule each."""

from __future__ import annotations

import re

_UNITS: dict[str, int] = {
    "": 1,
    **{prefix: 1000**power for power, prefix in enumerate("kmgt", 1)},
    **{f"{prefix}i": 1024**power for power, prefix in enumerate("kmgt", 1)},
}
_SIZE = re.compile(
    r"(?P<number>[0-9]{1,18}(?:\.[0-9]{1,18})?)\s*(?P<unit>[kmgt]i?)?b?", re.IGNORECASE
)


def parse_size(value: int | str) -> int:
    """Bytes from ``7 GB`` (powers of 1000), ``1.5GiB`` (powers of 1024), ``500M`` or a number.

    Raises:
        ValueError: Not a size.
    """
    if isinstance(value, int):
        return value
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise ValueError(f"not a size: {value}")
    return round(float(match["number"]) * _UNITS[(match["unit"] or "").lower()])


def parse_count(text: str) -> int:
    """A count from outside (``1234``, ``1,234``); 0 for everything that is none.

    Only ASCII digits: ``isdigit`` takes a superscript two, which ``int`` does not; and no more of
    them than any count has, since ``int`` refuses thousands.
    """
    match = re.fullmatch(r"\s*([0-9][0-9,]{0,23})\s*", text)
    return int(match[1].replace(",", "")) if match else 0
