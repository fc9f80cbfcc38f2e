"""Is the data what the JSON Schema allows, and if not: which key, which value, what is allowed?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from infoforge.config.document import KeyPath, YamlDocument, dotted
from infoforge.contract import ConfigError
from infoforge.text.mask import mask_urls

Complaint: TypeAlias = Any
"""A ``jsonschema.ValidationError`` of our own schema, whose parts are all mappings."""

SCHEMA_FILE = Path(__file__).parent.parent / "data" / "schemas" / "config.schema.json"

_SECRET_KEY = re.compile(
    r"(.*_)?(api[-_]?key|key|token|bearer|passw(or)?d|secret|authorization|auth)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where (dotted key), what and what is allowed, what to do."""

    path: KeyPath
    message: str
    hint: str = ""

    def error(self, file: Path, lines: Mapping[KeyPath, int], more: int = 0) -> ConfigError:
        """The problem as the error that ends the run.

        Args:
            file: The configuration file.
            lines: Line numbers of its keys.
            more: How many further problems there are.
        """
        rest = f" (and {more} more: infoforge config check)" if more else ""
        return ConfigError(f"{self.text(file, lines)}{rest}", self.hint)

    def text(self, file: Path, lines: Mapping[KeyPath, int]) -> str:
        """``FILE:LINE: key: message``."""
        line = self.line(lines)
        where = f"{file}:{line}" if line else str(file)
        return ": ".join(filter(None, (where, self.key, self.message)))

    @property
    def key(self) -> str:
        """The dotted key; empty for the whole file."""
        return dotted(self.path)

    def line(self, lines: Mapping[KeyPath, int]) -> int:
        """The line of the key, or of the nearest one round it; 0 for the whole file."""
        path = self.path
        while path and path not in lines:
            path = path[:-1]
        return lines.get(path, 0)


def schema() -> dict[str, Any]:
    """The JSON Schema of the configuration."""
    loaded: dict[str, Any] = json.loads(SCHEMA_FILE.read_bytes())
    return loaded


def problems(document: YamlDocument) -> list[Problem]:
    """Everything that is wrong with a document, in the order of its lines.

    Args:
        document: What `document.parse` gives.
    """
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(schema())
    found: list[Problem] = []
    for error in validator.iter_errors(document.data):
        found.extend(_explain(error))
    # A key that is left empty means its default, but it must be a key that there is.
    for error in validator.iter_errors(document.whole):
        if error.validator == "additionalProperties":
            found.extend(_explain(error))
    found.extend(_beyond_schema(document.data))
    # The first complaint about a key is the one to mend; others often follow from it.
    first = {problem.path: problem for problem in reversed(found)}.values()
    return sorted(first, key=lambda problem: problem.line(document.lines))


def shown(value: object, limit: int = 60) -> str:
    """A value for one line of a message, in YAML's words, cut when long."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else text[:limit] + "…"


def nearest(name: str, valid: Iterator[str] | list[str]) -> str:
    """The valid name that is most like this one, or nothing."""
    import difflib

    near = difflib.get_close_matches(name.lower().replace("-", "_"), list(valid), 1, 0.55)
    return near[0] if near else ""


def _explain(error: Complaint) -> Iterator[Problem]:
    path: KeyPath = tuple(error.absolute_path)
    rule, part = error.validator, error.schema
    if rule == "additionalProperties":
        valid = list(part.get("properties", {}))
        for key in error.instance:
            if key not in valid:
                yield _unknown(path, key, valid)
    elif rule == "required":
        for key in error.validator_value:
            if key not in error.instance:
                yield Problem((*path, key), "must be given", _example(part, key))
    else:
        value = "the value" if _secret(part) else mask_urls(shown(error.instance), path=True)
        yield Problem(path, f"{value} is not allowed; allowed: {_allowed(error)}")


def _secret(part: Mapping[str, Any]) -> bool:
    """Whether a value may be a misplaced secret, and is better not shown."""
    return bool(part.get("x-secret"))


def _unknown(path: KeyPath, key: str, valid: list[str]) -> Problem:
    """An unknown key. Its value is never shown: it may be a secret."""
    here = (*path, key)
    if _SECRET_KEY.fullmatch(key) and "api_key_env" in valid:
        return Problem(
            here,
            "a secret does not belong in this file (value not shown)",
            "name where it is: api_key_env: VARIABLE, or api_key_file: FILE with mode 0600",
        )
    near = nearest(key, valid)
    allowed = "allowed: " + ", ".join(valid)
    return Problem(here, f"unknown key; {allowed}", f"did you mean '{near}'?" if near else "")


def _example(part: Mapping[str, Any], key: str) -> str:
    examples = part.get("properties", {}).get(key, {}).get("examples", [])
    return f"for example {key}: {examples[0]}" if examples else ""


_TYPES = {
    "object": "a mapping of keys to values",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}


def _allowed(error: Complaint) -> str:
    """What is allowed, in words, from the whole subschema and not the one broken rule alone."""
    part = error.schema
    if "x-allowed" in part:
        return str(part["x-allowed"])
    if "enum" in part:
        return ", ".join(str(v) for v in part["enum"])
    types = part.get("type", [])
    words = " or ".join(_TYPES[t] for t in ([types] if isinstance(types, str) else types))
    low, above, high = (part.get(k) for k in ("minimum", "exclusiveMinimum", "maximum"))
    if low is not None and high is not None:
        words += f" from {low} to {high}"
    elif above is not None and high is not None:
        words += f" above {above}, at most {high}"
    elif low is not None:
        words += f", at least {low}"
    if error.validator == "uniqueItems":
        words += " without repetition"
    elif error.validator in ("minLength", "pattern", "maxLength", "minItems"):
        words += " as in: " + part.get("description", str(error.validator_value)).rstrip(".")
    return words or str(error.validator_value)


def _beyond_schema(data: Mapping[str, Any]) -> Iterator[Problem]:
    """What JSON Schema cannot say, or cannot say in words."""
    yield from _texts(data, ())
    kiwix = data.get("kiwix")
    if isinstance(kiwix, Mapping):
        yield from _url(kiwix.get("url"), ("kiwix", "url"))
    endpoints = data.get("endpoints")
    names: dict[Any, int] = {}
    for number, item in enumerate(endpoints if isinstance(endpoints, list) else []):
        if isinstance(item, Mapping):
            yield from _endpoint(item, number, names)


def _endpoint(item: Mapping[str, Any], number: int, names: dict[Any, int]) -> Iterator[Problem]:
    here: KeyPath = ("endpoints", number)
    name, kind, url = item.get("name"), item.get("kind", "openai"), item.get("url")
    if isinstance(name, str):
        if name in names:
            first = f"endpoints[{names[name]}]"
            yield Problem((*here, "name"), f"{shown(name)} is already the name of {first}")
        names.setdefault(name, number)
    if kind == "quote" and url:
        yield Problem(
            (*here, "url"),
            "not allowed with kind: quote, which needs no server",
            "leave url out, or use kind: openai",
        )
    if kind == "openai" and not url:
        yield Problem(
            (*here, "url"),
            "must be given for kind: openai",
            "for example url: http://127.0.0.1:11434/v1",
        )
    if item.get("api_key_env") and item.get("api_key_file"):
        yield Problem((*here, "api_key_file"), "is set together with api_key_env; set one of them")
    yield from _url(url, (*here, "url"))


def _url(url: object, path: KeyPath) -> Iterator[Problem]:
    if not isinstance(url, str) or not url.lower().startswith(("http://", "https://")):
        return
    try:
        parts = urlsplit(url)
        good = bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        yield Problem(
            path, "not a URL; allowed: http://HOST:PORT or https://HOST:PORT, with a path"
        )
    elif parts.username is not None or parts.password is not None:
        yield Problem(
            path,
            "a name or password in a URL is not allowed (value not shown)",
            "use api_key_env or api_key_file",
        )


def _texts(value: object, path: KeyPath) -> Iterator[Problem]:
    """No value has use for control characters, and a line break in a name misleads readers."""
    if isinstance(value, str):
        if any(ord(c) < 32 or 127 <= ord(c) < 160 for c in value):
            yield Problem(path, f"{shown(value)} holds a control character or a line break")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, (*path, number))
