"""Write the reference of the JSON documents into docs/json.md, from the schemas and the codes.

usage: python scripts/json_reference.py [--check]

With --check nothing is written; exit code 1 when the page is not what it should be.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
SCHEMAS = REPO / "infoforge" / "data" / "schemas"
CODES = REPO / "infoforge" / "data" / "codes.json"
PAGE = REPO / "docs" / "json.md"
BEGIN, END = "<!-- reference: begin -->\n", "<!-- reference: end -->\n"
NOT_DOCUMENTS = {"config", "envelope"}
"""Schemas of something else than a command's data."""


def schema(name):
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))


def commands():
    """Names of the commands that have a schema, as files are named, in alphabetical order."""
    names = (path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json"))
    return sorted(name for name in names if name not in NOT_DOCUMENTS)


def resolved(node, root):
    """A node with its reference followed; what stands beside the reference wins."""
    while "$ref" in node:
        target = root
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def kind(node):
    if "enum" in node:
        return " or ".join(f"`{json.dumps(value)}`" for value in node["enum"])
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "oneOf" in node:
        return "object or null" if {"type": "null"} in node["oneOf"] else "object"
    told = node.get("type", "any")
    return told if isinstance(told, str) else " or ".join(told)


def rows(node, root, prefix=""):
    """The rows of a table: key, type, meaning; what is nested follows its parent."""
    node = resolved(node, root)
    for name, raw in node.get("properties", {}).items():
        child = resolved(raw, root)
        always = "" if name in node.get("required", ()) else " (not always)"
        meaning = child.get("description", "").replace("|", "\\|")
        yield f"| `{prefix}{name}`{always} | {kind(child)} | {meaning} |"
        yield from below(child, root, f"{prefix}{name}")


def below(node, root, prefix):
    node = resolved(node, root)
    if node.get("type") == "array" and isinstance(node.get("items"), dict):
        yield from rows(node["items"], root, f"{prefix}[].")
    elif isinstance(node.get("additionalProperties"), dict):
        yield from rows(node["additionalProperties"], root, f"{prefix}.*.")
    elif "oneOf" in node:
        for branch in node["oneOf"]:
            if branch != {"type": "null"}:
                yield from rows(branch, root, f"{prefix}.")
    else:
        yield from rows(node, root, f"{prefix}.")


def table(node, root):
    found = list(rows(node, root))
    return "\n".join(["| key | type | what it is |", "|---|---|---|", *found])


def section(name):
    root = schema(name)
    title = root["title"].removeprefix("data of infoforge ").removesuffix(" --json")
    parts = [f"### `{title}`", root.get("description", "")]
    if "oneOf" in root:
        for branch in root["oneOf"]:
            child = resolved(branch, root)
            parts += [child.get("description", ""), table(child, root)]
    else:
        parts.append(table(root, root))
    return "\n\n".join(part for part in parts if part)


def reference():
    envelope = schema("envelope")
    codes = json.loads(CODES.read_text(encoding="utf-8"))
    parts = ["## The envelope", envelope["description"], table(envelope, envelope)]
    for heading, group in (("Codes of warnings", "warnings"), ("Codes of errors", "errors")):
        listed = [f"| `{code}` | {meaning} |" for code, meaning in sorted(codes[group].items())]
        parts += [f"## {heading}", "\n".join(["| code | meaning |", "|---|---|", *listed])]
    parts += ["## `data` of each command", *(section(name) for name in commands())]
    return "\n\n".join(parts) + "\n"


def renewed(text):
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + reference() + "\n" + END + rest.split(END)[1]


if __name__ == "__main__":
    old = PAGE.read_text(encoding="utf-8")
    new = renewed(old)
    if "--check" in sys.argv:
        sys.exit(f"{PAGE}: run scripts/json_reference.py" if old != new else 0)
    PAGE.write_text(new, encoding="utf-8")
