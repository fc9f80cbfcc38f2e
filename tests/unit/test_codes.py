"""The codes in the source are those that are documented; docs/json.md is made of the schemas."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from support.envelope import codes, schema

REPO = Path(__file__).resolve().parents[2]
TERSE = {"config", "eval", "explain", "zimify"}
"""Schemas whose keys are described by a page of their own (docs/config.md, eval.md, zimify.md)."""
SOURCES = sorted((REPO / "infoforge").rglob("*.py"))


def named(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The codes that a piece of source names: ``warning`` or ``error``, and the code."""
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        first = node.args[0] if node.args else None
        if name in ("WarningMessage", "Fault") and isinstance(first, ast.Constant):
            yield "warning", str(first.value)
        for keyword in node.keywords:
            if (
                keyword.arg == "code"
                and isinstance(keyword.value, ast.Constant)
                and keyword.value.value
            ):
                yield "error", str(keyword.value.value)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if getattr(target, "id", "") == "default_code" and isinstance(node.value, ast.Constant):
            yield "error", str(node.value.value)
    # A server's fault is chosen from a table or by steps; its code always begins like this.
    if isinstance(node, ast.Constant) and re.fullmatch(r"endpoint_[a-z_]+", str(node.value)):
        yield "warning", str(node.value)


def in_source() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {"warning": set(), "error": set()}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for kind, code in named(node):
                found[kind].add(code)
    return found


def test_every_code_is_documented() -> None:
    found = in_source()
    assert found["warning"] - set(codes()["warnings"]) == set()
    assert found["error"] - set(codes()["errors"]) - set(codes()["warnings"]) == set()
    assert len(found["warning"]) > 40
    assert len(found["error"]) > 50


def test_no_code_is_documented_that_is_never_used() -> None:
    found = in_source()
    documented = {*codes()["warnings"], *codes()["errors"]}
    assert documented - found["warning"] - found["error"] == set()


def test_docs_json_is_made_of_the_schemas() -> None:
    done = subprocess.run(
        [sys.executable, REPO / "scripts" / "json_reference.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name",
    [p.name.removesuffix(".schema.json") for p in (REPO / "infoforge/data/schemas").iterdir()],
)
def test_every_schema_is_valid_and_says_what_each_key_is(name: str) -> None:
    body = schema(name)
    jsonschema.Draft202012Validator.check_schema(body)
    if name not in TERSE:
        assert list(silent(body)) == []


def silent(node: object, path: str = "") -> Iterator[str]:
    """Properties without a description."""
    if isinstance(node, dict):
        properties = node.get("properties")
        if isinstance(properties, dict) and "type" in node:
            for key, child in properties.items():
                if "description" not in child:
                    yield f"{path}/{key}"
        for key, child in node.items():
            yield from silent(child, f"{path}/{key}")
    elif isinstance(node, list):
        for child in node:
            yield from silent(child, path)
