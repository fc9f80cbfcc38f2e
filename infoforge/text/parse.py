"""Numbers, sizes and JSON that come from outside, read by one rule each."""

from __future__ import annotations

import json
import re
from typing import Any

LARGEST = 10**15
"""No count and no size from outside is larger; Python refuses to read or write 5,000 digits."""

_UNITS: dict[str, int] = {
    "": 1,
    **{prefix: 1000**power for power, prefix in enumerate("kmgt", 1)},
    **{f"{prefix}i": 1024**power for power, prefix in enumerate("kmgt", 1)},
}
_MOST_DIGITS = 40
_SIZE = re.compile(
    r"(?P<number>[0-9]{1,18}(?:\.[0-9]{1,18})?)\s*(?P<unit>[kmgt]i?)?b?", re.IGNORECASE
)


def integer(value: object, default: int = 0, *, most: int = LARGEST) -> int:
    """A count from outside: ASCII digits, or an integer of JSON; no sign, no other digits.

    Args:
        value: Text (blanks around it and commas between thousands are fine) or a JSON value.
        default: Taken when it is no such number, or larger than ``most``.
        most: The largest that makes sense.
    """
    if isinstance(value, str):
        digits = value.strip().replace(",", "")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
            return default
        value = int(digits)
    if isinstance(value, bool) or not isinstance(value, int):
        return default
    return value if 0 <= value <= most else default


def from_json(text: str | bytes, *, strict: bool = True) -> Any:  # noqa: ANN401 - JSON
    """A JSON document from outside.

    Args:
        text: The document; bytes in UTF-8.
        strict: Refuse control characters in strings, as the standard does.

    Raises:
        ValueError: Not JSON, not UTF-8, nested too deep, or a number with thousands of digits.
    """
    try:
        return json.loads(text, strict=strict)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


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
