"""Every effective value, and where it comes from; the reference of all keys for the manual."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoforge.config.document import KeyPath, Plain, YamlDocument, dotted, parse
from infoforge.config.load import read_file
from infoforge.config.locate import Location, locate
from infoforge.config.settings import EndpointSettings, Settings, home
from infoforge.config.validate import schema
from infoforge.contract import ConfigError
from infoforge.text.mask import mask_command, mask_urls


@dataclass(frozen=True, slots=True)
class Value:
    """One effective value.

    Attributes:
        key: Dotted key, ``endpoints[0].url``.
        value: As plain data; paths in full, secrets masked.
        line: Its line in the file; 0 when the value is built in.
    """

    key: str
    value: Plain
    line: int = 0


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole configuration, explained.

    Attributes:
        location: Which file, and why that one (``--config``, ``env``, ``default``).
        settings: The effective settings.
        values: Every value, in the order of the schema.
        document: The file as it is written; empty without a file.
    """

    location: Location
    settings: Settings
    values: tuple[Value, ...]
    document: YamlDocument


def explain(path: str | None, environ: Mapping[str, str] = os.environ) -> Explanation:
    """The effective values and where each comes from.

    Args:
        path: The file named on the command line, or ``None``.
        environ: The environment.

    Raises:
        ConfigError: As `load.load`.
    """
    location = locate(path, environ)
    document = YamlDocument()
    settings = Settings()
    if location.exists:
        settings = read_file(location, environ)
        document = read_document(location.path)
    rows = _rows(settings, (), document)
    return Explanation(location, settings, tuple(r for r in rows if r.key != "path"), document)


def read_document(file: Path) -> YamlDocument:
    """A file as it is written, with its line numbers; not validated.

    Raises:
        ConfigError: It cannot be read, or is no YAML.
    """
    try:
        return parse(file.read_bytes(), file)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from error


def plain(value: object) -> Plain:
    """A settings value as data that JSON takes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, Path) else value


def _rows(value: object, path: KeyPath, document: YamlDocument) -> Iterator[Value]:
    """The leaves below a value; a list of plain values is one leaf."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _rows(getattr(value, field.name), (*path, field.name), document)
    elif isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
        for number, item in enumerate(value):
            yield from _rows(item, (*path, number), document)
    else:
        line = document.lines.get(path, 0) if _given(document.data, path) else 0
        yield Value(dotted(path), _masked(dotted(path), plain(value)), line)


def _masked(key: str, value: Plain) -> Plain:
    """A value without the secrets that it may hold: nobody needs them to see what is in effect."""
    if isinstance(value, list):
        return [_masked(key, item) for item in value]
    if not isinstance(value, str):
        return value
    if key in ("monitor.command", "box.health_command"):
        return mask_command(value) if value else value
    return mask_urls(value, path=key == "monitor.webhook")


def _given(data: Plain, path: KeyPath) -> bool:
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


@dataclass(frozen=True, slots=True)
class Key:
    """One key that the file may hold.

    Attributes:
        key: Dotted key; items of a list are ``[]``.
        description: From the schema.
        default: In YAML's words; empty when the key must be given or has no value by default.
        example: In YAML's words.
        section: Whether it only holds other keys.
    """

    key: str
    description: str
    default: str
    example: str
    section: bool


def keys() -> tuple[Key, ...]:
    """Every key of the schema with its default (from the dataclasses) and an example."""
    whole = schema()
    defaults = plain(Settings())

    def walk(part: Mapping[str, Any], path: str, default: Plain) -> Iterator[Key]:
        for name, raw in part.get("properties", {}).items():
            sub = resolve(whole, raw)
            here = f"{path}.{name}" if path else name
            own = default.get(name) if isinstance(default, dict) else None
            items = resolve(whole, sub.get("items", {}))
            section = "properties" in sub or "properties" in items
            text = "" if section or own is None else short(yaml_text(own))
            if name in part.get("required", ()):
                text = "must be given"
            shown = [yaml_text(e) for e in sub.get("examples", [])]
            yield Key(here, sub["description"], text, shown[0] if shown else "", section)
            if "properties" in items:
                yield from walk(items, f"{here}[]", plain(EndpointSettings(name="")))
            else:
                yield from walk(sub, here, own)

    return tuple(walk(whole, "", defaults))


def short(text: str) -> str:
    """A path with ``~`` for the home directory, as it is for every reader."""
    own = str(home())
    return text.replace(own, "~", 1) if own != "/" and text.startswith(own) else text


def resolve(whole: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """A subschema with its ``$ref`` followed; keys next to the ``$ref`` win."""
    reference = part.get("$ref")
    base = whole["$defs"][reference.removeprefix("#/$defs/")] if reference else {}
    return {**base, **part}


def yaml_text(value: Plain) -> str:
    """A plain value in one line of YAML."""
    if isinstance(value, list):
        return "[" + ", ".join(yaml_text(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {yaml_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, str):
        from infoforge.config.edit import word

        return word(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value)


def reference() -> str:
    """All keys as a Markdown table, for docs/config.md."""
    lines = ["| key | default | example | what it is |", "|---|---|---|---|"]
    for key in keys():
        default = f"`{key.default}`" if key.default else ""
        if key.default == "must be given":
            default = key.default
        example = f"`{key.example}`" if key.example else ""
        text = key.description.replace("|", "\\|")
        lines.append(f"| `{key.key}` | {default} | {example} | {text} |")
    return "\n".join(lines) + "\n"
