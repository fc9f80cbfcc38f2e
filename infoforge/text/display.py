"""The one printer: text from outside, made fit for a terminal, for a line of JSON, for an agent.

Titles, languages, dates, file names, answers and articles are written by others. What steers a
terminal (control characters), reverses the order of letters (bidirectional controls) or is not
seen at all (tags, zero-width marks) goes; the joiners that Persian and Hindi need stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

_FORMAT = (
    "\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
UNWANTED = re.compile(f"[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f{_FORMAT}\ud800-\udfff]")
"""Controls but tab and newline, invisible and bidirectional marks, lone surrogates."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_HIDDEN = re.compile(f"[{_FORMAT}]")
_BREAK = re.compile("\r\n?|[\u2028\u2029\x85]")
_JSON = re.compile(f"[\\x7f-\\x9f{_FORMAT}\ud800-\udfff]")
_BLOCKS = {"answer", "text"}
"""Keys whose texts have several lines."""
_COLOUR = re.compile("\x1b\\[[0-9;]{0,20}m")
_GUARDED = re.compile(
    f"[\\x00-\\x08\\x0b-\\x1a\\x1c-\\x1f\\x7f-\\x9f{_FORMAT}]|\x1b(?!\\[[0-9;]{{0,20}}m)"
)


def line(text: object) -> str:
    r"""A field of one line: breaks become blanks, controls are shown (``\x1b``), marks go."""
    folded = " ".join(_HIDDEN.sub("", _BREAK.sub(" ", str(text))).split())
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", folded)


def lines(texts: Iterable[str]) -> str:
    """Lines of a list, each a `line` that keeps its indentation."""
    return "\n".join(" " * (len(text) - len(text.lstrip(" "))) + line(text) for text in texts)


def block(text: str) -> str:
    """Text of several lines (an answer, a passage) without what would steer the terminal."""
    return UNWANTED.sub("", _BREAK.sub("\n", text))


def shown(value: Any, key: str = "") -> Any:  # noqa: ANN401 - JSON
    """Plain data, every text in it made fit to be shown: a `block` by its key, else a `line`.

    Args:
        value: What ``json.dumps`` takes.
        key: The key that it stands under.
    """
    if isinstance(value, str):
        return block(value) if key in _BLOCKS else line(value)
    if isinstance(value, Mapping):
        return {line(name): shown(item, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [shown(item, key) for item in value]
    return value


def guard(text: str, *, colour: bool) -> str:
    """What is about to be written: whatever a field forgot is taken out here.

    Args:
        text: All of it, lines and colours.
        colour: Keep the sequences that set colours, which do nothing else.
    """
    text = _GUARDED.sub("", text)
    return text if colour else _COLOUR.sub("", text)


def to_json(document: object, *, indent: int | None = None) -> str:
    """JSON in UTF-8 that is safe to print: C1, bidirectional and invisible marks are escaped."""
    return _JSON.sub(_escape, json.dumps(document, ensure_ascii=False, indent=indent))


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
