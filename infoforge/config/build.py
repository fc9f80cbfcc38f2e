"""Validated plain data to frozen dataclasses, by their type hints alone."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from infoforge.config.locate import expand
from infoforge.config.settings import Size
from infoforge.contract import ConfigError
from infoforge.text.parse import parse_size

T = TypeVar("T")
Hint: TypeAlias = Any
"""What a type annotation evaluates to."""
Plain: TypeAlias = Any
"""Plain data: dict, list, str, int, float, bool."""


def build(cls: type[T], data: Mapping[str, Plain], base: Path, where: str = "") -> T:
    """Make a settings dataclass; keys that are not there keep the dataclass's default.

    Args:
        cls: A frozen dataclass whose fields are str, bool, int, float, ``Path``, ``Size``, another
            such dataclass, a tuple or mapping of these, or one of these or ``None``.
        data: Data that the JSON Schema has let through; keys are field names.
        base: Folder that relative paths are relative to.
        where: Dotted key of the data, with a dot at its end; for messages.

    Raises:
        ConfigError: A path cannot be expanded.
    """
    hints = get_type_hints(cls)
    return cls(
        **{key: _convert(hints[key], value, base, where + key) for key, value in data.items()}
    )


def _convert(hint: Hint, value: Plain, base: Path, where: str) -> Plain:
    origin: Hint = get_origin(hint)
    if origin is None:
        return _plain(hint, value, base, where)
    arguments = get_args(hint)
    if origin in (Union, types.UnionType):
        return _convert(next(a for a in arguments if a is not type(None)), value, base, where)
    if origin is tuple:
        return tuple(
            _convert(arguments[0], item, base, f"{where}[{i}]") for i, item in enumerate(value)
        )
    return {k: _convert(arguments[1], item, base, f"{where}.{k}") for k, item in value.items()}


def _plain(hint: Hint, value: Plain, base: Path, where: str) -> Plain:
    if hint is Size:
        return parse_size(value)
    if hint is Path:
        try:
            return expand(value, base)
        except ConfigError as error:
            raise ConfigError(f"{where}: {error.message}", error.hint) from error
    if is_dataclass(hint):
        return build(cast(type[Plain], hint), value, base, f"{where}.")
    # A whole float (5.0) is an integer to JSON Schema, and 5 is a number.
    return hint(value) if hint in (int, float) else value
