"""The documents of ``--json`` held to the schemas that ship in the package."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema


@cache
def schema(name: str) -> Any:
    """A schema of the package, by its name without ``.schema.json``."""
    path = files("infoforge") / "data" / "schemas" / f"{name}.schema.json"
    return json.loads(path.read_text("utf-8"))


def tight(node: Any) -> Any:
    """The schema with every object closed: a key that it does not name is a fault.

    What ships leaves objects open, since within one version keys may be added; what is made today
    must be described today.
    """
    if isinstance(node, dict):
        closed = {key: tight(value) for key, value in node.items()}
        if "properties" in node and node.get("type") == "object":
            closed.setdefault("additionalProperties", False)
        return closed
    return [tight(item) for item in node] if isinstance(node, list) else node


@cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """A validator of the tightened schema."""
    body = tight(schema(name))
    jsonschema.Draft202012Validator.check_schema(body)
    return jsonschema.Draft202012Validator(body)


@cache
def codes() -> dict[str, Any]:
    """The documented codes."""
    found: dict[str, Any] = json.loads(
        (files("infoforge") / "data" / "codes.json").read_text("utf-8")
    )
    return found


def check_document(document: Any, command: str, exit_code: int) -> None:
    """Hold one document to the envelope, its command's schema and the codes."""
    validator("envelope").validate(document)
    assert document["command"] == command
    assert document["exit_code"] == exit_code
    if document["data"] is not None:
        validator(command.replace(" ", "-")).validate(document["data"])
    for warning in document["warnings"]:
        assert warning["code"] in codes()["warnings"], warning
    for error in document["errors"]:
        assert error["code"] in {**codes()["errors"], **codes()["warnings"]}, error
        assert "\n" not in error["message"] + error["hint"]
