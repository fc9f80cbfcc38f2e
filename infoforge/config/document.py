"""YAML text to plain data, strictly: no duplicate keys, no surprises of YAML 1.1, no bombs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from infoforge.contract import ConfigError

KeyPath = tuple[str | int, ...]
Plain: TypeAlias = Any
"""dict, list, str, int, float, bool or None, nested."""

MAX_BYTES = 1_000_000
_MOST_DIGITS = 40
MAX_VALUES = 20_000
"""Values after aliases are expanded: a few lines of nested aliases can mean billions."""
MAX_DEPTH = 24

_TAG = "tag:yaml.org,2002:"


@dataclass(slots=True)
class YamlDocument:
    """What a file holds.

    Attributes:
        data: The top-level mapping, without the keys that are left empty: they mean the default.
        whole: The same with the empty keys, for who wants to know whether there are such keys.
        lines: Line number (from 1) of every key and list item.
    """

    data: dict[str, Plain] = field(default_factory=dict)
    whole: dict[str, Plain] = field(default_factory=dict)
    lines: dict[KeyPath, int] = field(default_factory=dict)


def dotted(path: KeyPath) -> str:
    """A key path as people write it: ``endpoints[0].url``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader with the scalars of YAML 1.2.

    In 1.1 the language ``no`` is false, ``12:30`` is 750 and ``2026-06`` next to a day is a date.
    """

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


for _name, _pattern, _first in (
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", "tTfF"),
    ("int", r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z",
        "-+.0123456789",
    ),
    ("null", r"(?:~|null|Null|NULL|)\Z", ["~", "n", "N", ""]),
):
    _Loader.add_implicit_resolver(_TAG + _name, re.compile(_pattern), list(_first))


def parse(text: bytes, file: Path) -> YamlDocument:
    """Read a configuration file's bytes.

    Args:
        text: The file's content, UTF-8.
        file: Its path, for messages.

    Returns:
        Plain data (dict, list, str, int, float, bool) and where each key stands.

    Raises:
        ConfigError: Not UTF-8, not YAML (with line and column), a key twice, a tag, or not a
            mapping at the top.
    """
    if len(text) > MAX_BYTES:
        raise ConfigError(f"{file}: {len(text)} bytes is no configuration file", "check the path")
    try:
        decoded = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{file}:{line}: not UTF-8 text", "save the file as UTF-8") from error
    try:
        node = yaml.compose(decoded, Loader=_Loader)
    except yaml.YAMLError as error:
        raise _syntax(error, file) from error
    except (RecursionError, ValueError) as error:
        raise ConfigError(f"{file}: cannot be read as YAML: nested too deep") from error
    document = YamlDocument()
    if node is None or node.tag == _TAG + "null":
        return document
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(
            f"{file}:{node.start_mark.line + 1}: the file must be a mapping of keys to values",
            "see docs/config.md, or write a fresh one with: infoforge config init",
        )
    document.whole = _YamlReader(file, document.lines).mapping(node, ())
    document.data = _without_empty(document.whole)
    return document


def _without_empty(value: Plain) -> Plain:
    if isinstance(value, dict):
        return {key: _without_empty(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(text)
    return int(text, 0 if text[:2] in ("0x", "0o") else 10)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


_SCALARS: dict[str, Callable[[str], Plain]] = {
    "str": str,
    "null": lambda text: None,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
    "int": _integer,
    "float": _float,
}


class _YamlReader:
    """Turns composed nodes into plain data."""

    def __init__(self, file: Path, lines: dict[KeyPath, int]) -> None:
        self._file = file
        self._lines = lines
        self._values = 0

    def mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Plain]:
        """A mapping; no key may stand in it twice."""
        result: dict[str, Plain] = {}
        for key, value_node in self._pairs(node, path):
            here = (*path, key)
            if here in self._lines:
                raise self._error(
                    value_node,
                    f"{dotted(here)}: the key stands twice (first in line {self._lines[here]})",
                    "keep one of them",
                )
            self._lines[here] = value_node.start_mark.line + 1
            result[key] = self._value(value_node, here)
        return result

    def _pairs(self, node: yaml.MappingNode, path: KeyPath) -> Iterator[tuple[str, yaml.Node]]:
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._error(key, f"{dotted(path) or 'the file'}: a key must be a word")
            yield key.value, value

    def _value(self, node: yaml.Node, path: KeyPath) -> Plain:
        self._values += 1
        if self._values > MAX_VALUES or len(path) > MAX_DEPTH:
            raise self._error(node, f"{dotted(path[:4])}: too many values, or nested too deep")
        if isinstance(node, yaml.MappingNode) and node.tag == _TAG + "map":
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == _TAG + "seq":
            items = []
            for number, item in enumerate(node.value):
                here = (*path, number)
                self._lines[here] = item.start_mark.line + 1
                items.append(self._value(item, here))
            return items
        return self._scalar(node, path)

    def _scalar(self, node: yaml.Node, path: KeyPath) -> Plain:
        kind = node.tag.removeprefix(_TAG)
        if not isinstance(node, yaml.ScalarNode) or kind not in _SCALARS:
            raise self._error(node, f"{dotted(path)}: the tag {node.tag} is not allowed")
        try:
            return _SCALARS[kind](node.value)
        except (KeyError, ValueError) as error:
            raise self._error(node, f"{dotted(path)}: not a usable {kind}") from error

    def _error(self, node: yaml.Node, message: str, hint: str = "") -> ConfigError:
        line = node.start_mark.line + 1
        return ConfigError(f"{self._file}:{line}: {message}", hint)


def _syntax(error: yaml.YAMLError, file: Path) -> ConfigError:
    """YAML's complaint in one line, with line and column, without the text around it."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    context = getattr(error, "context", None)
    what = " ".join(f"{context}: {problem}".split()) if context else " ".join(str(problem).split())
    where = f"{file}"
    if mark is not None:
        where += f":{mark.line + 1}:{mark.column + 1}"
        what += f" (line {mark.line + 1}, column {mark.column + 1})"
    return ConfigError(
        f"{where}: not valid YAML: {what}",
        "quote values that hold ': ' or '#', indent with blanks only",
    )
