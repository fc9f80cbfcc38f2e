"""The commented file that `config init` writes: every key, what it is, its default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from infoforge.config.discover import Discovered, ModelServer
from infoforge.config.document import Plain
from infoforge.config.explain import plain, resolve, short, yaml_text
from infoforge.config.settings import EndpointSettings, Settings
from infoforge.config.validate import schema

_HEAD = """\
# InfoForge: see docs/config.md, or run
#   infoforge config show     every value and where it comes from
#   infoforge config check    is all of this right?
# A key that is left out, or left empty, has the default that is shown behind its #.
"""
_WIDTH = 96


def chosen(found: Discovered) -> dict[str, Plain]:
    """The values that what was found speaks for; all others keep their defaults.

    Args:
        found: What is on this machine.

    Returns:
        Data as the file holds it.
    """
    data: dict[str, Plain] = {}
    if found.folders:
        data["zims"] = {"folder": short(str(found.folders[0].path))}
    if found.kiwix_url:
        data["kiwix"] = {"url": found.kiwix_url}
    data["endpoints"] = [_endpoint(server) for server in found.servers] or [
        {"name": "quote", "kind": "quote"}
    ]
    return data


def render(data: Mapping[str, Plain], remarks: Mapping[str, list[str]] | None = None) -> str:
    """The file's text.

    Args:
        data: Values to set; every other key stands there as a comment with its default.
        remarks: Comment lines to add above a dotted key (``endpoints[0]``).

    Returns:
        YAML that reads back as ``data``.
    """
    whole = schema()
    lines = [_HEAD.rstrip()]
    defaults = plain(Settings())
    for name, raw in whole["properties"].items():
        part = resolve(whole, raw)
        lines += ["", *_comment(part["description"], "")]
        if part.get("type") != "array" and "properties" not in part:
            value = yaml_text(data[name]) if name in data else _default(defaults[name])
            lines.append(f"{name}: {value}" if name in data else f"# {name}: {value}")
            continue
        lines.append(f"{name}:")
        if part.get("type") == "array":
            lines += _list(whole, part, name, data.get(name) or [], remarks or {})
        else:
            lines += _section(whole, part, defaults[name], data.get(name) or {}, "  ")
    return "\n".join(lines) + "\n"


def _section(
    whole: Mapping[str, Any],
    part: Mapping[str, Any],
    defaults: Mapping[str, Plain],
    data: Mapping[str, Plain],
    pad: str,
) -> Iterator[str]:
    for name, raw in part["properties"].items():
        sub = resolve(whole, raw)
        yield from _comment(sub["description"], pad)
        if "properties" in sub:
            # A commented-out section below a live key would need two edits to come alive.
            yield f"{pad}{name}:"
            yield from _section(
                whole, sub, defaults.get(name) or {}, data.get(name) or {}, pad + "  "
            )
        elif name in data:
            yield f"{pad}{name}: {yaml_text(data[name])}"
        else:
            default = defaults.get(name)
            yield f"{pad}# {name}: {'' if default is None else _default(default)}".rstrip()


def _list(
    whole: Mapping[str, Any],
    part: Mapping[str, Any],
    name: str,
    items: list[dict[str, Plain]],
    remarks: Mapping[str, list[str]],
) -> Iterator[str]:
    """The items, then one more as a comment that shows every key."""
    for number, item in enumerate(items):
        for remark in remarks.get(f"{name}[{number}]", []):
            yield from _comment(remark, "  ")
        for key, value in item.items():
            yield f"{'  - ' if key == next(iter(item)) else '    '}{key}: {yaml_text(value)}"
    yield "  # All that an item may hold:"
    sub = resolve(whole, part["items"])
    defaults = plain(EndpointSettings(name=""))
    for line in _example(whole, sub, defaults, "    "):
        yield f"  #{line.replace('    name', '  - name', 1)}"


def _example(
    whole: Mapping[str, Any], part: Mapping[str, Any], defaults: Mapping[str, Plain], pad: str
) -> Iterator[str]:
    for key, raw in part["properties"].items():
        sub = resolve(whole, raw)
        if "properties" in sub:
            yield f"{pad}{key}:"
            yield from _example(whole, sub, defaults.get(key) or {}, pad + "  ")
            continue
        default = defaults.get(key)
        empty = default in (None, "")
        value = yaml_text(sub["examples"][0]) if empty else _default(default)
        note = sub["description"]
        yield f"{pad}{key}: {value}  # {note}"


def _endpoint(server: ModelServer) -> dict[str, Plain]:
    item: dict[str, Plain] = {"name": server.name, "url": server.url}
    if len(server.models) > 1:
        # Embedding models are listed with the others and cannot answer.
        able = [m for m in server.models if "embed" not in m.lower()]
        item["model"] = (able or list(server.models))[0]
    if server.context_tokens:
        item["context_tokens"] = server.context_tokens
    return item


def _default(value: Plain) -> str:
    return short(yaml_text(value))


def _comment(text: str, pad: str) -> Iterator[str]:
    import textwrap

    for line in textwrap.wrap(text, _WIDTH - len(pad)):
        yield f"{pad}# {line}"
