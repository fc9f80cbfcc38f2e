"""The effective settings: built-in defaults, overlaid by one validated file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from infoforge import __version__
from infoforge.config.build import build
from infoforge.config.keys import api_key
from infoforge.config.locate import Location, locate, xdg
from infoforge.config.settings import Settings
from infoforge.contract import ConfigError
from infoforge.files import write_atomic
from infoforge.text.parse import from_json

__all__ = ["api_key", "load", "read_file"]

_SCHEMA_FILE = Path(__file__).parent.parent / "data" / "schemas" / "config.schema.json"


def load(path: str | None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the configuration: ``--config``, ``INFOFORGE_CONFIG``, or the file in the default place.

    Args:
        path: The file named on the command line, or ``None``.
        environ: The environment.

    Returns:
        The settings; ``path`` is ``None`` when no file is there and all values are built in.

    Raises:
        ConfigError: A named file is missing, or a file is not valid; says file, key, value and
            what is allowed.
    """
    location = locate(path, environ)
    if not location.exists:
        return Settings()
    return read_file(location, environ)


def read_file(location: Location, environ: Mapping[str, str] = os.environ) -> Settings:
    """Settings from one file that is there.

    Args:
        location: The file; see `locate`.
        environ: The environment, for the place of the cache.

    Raises:
        ConfigError: It cannot be read or is not valid.
    """
    file = location.path
    try:
        text = file.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{file}: cannot be read: {error.strerror or error}", "check the path and its mode"
        ) from error
    data = _valid(text, file, environ)
    try:
        return replace(build(Settings, data, file.parent), path=file)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error.message}", error.hint) from error


def _valid(text: bytes, file: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """The file's data, validated now or, unchanged, in an earlier run.

    Importing YAML and JSON Schema takes longer than all else that a short command does, so the
    data of a file that was found valid is kept; its key is everything that the verdict hangs on.
    """
    parts = (__version__.encode(), _SCHEMA_FILE.read_bytes(), text)
    key = hashlib.sha256(b"\0".join(hashlib.sha256(p).digest() for p in parts)).hexdigest()
    marker = xdg("XDG_CACHE_HOME", ".cache", environ) / "infoforge" / "config-valid.json"
    known = _recall(marker, key)
    if known is not None:
        return known

    from infoforge.config.document import parse
    from infoforge.config.validate import problems

    document = parse(text, file)
    found = problems(document)
    if found:
        raise found[0].error(file, document.lines, len(found) - 1)
    _remember(marker, key, document.data)
    return document.data


def _recall(marker: Path, key: str) -> dict[str, Any] | None:
    """The data kept under this key; a damaged or foreign marker is as good as none."""
    with suppress(OSError, ValueError, RecursionError):
        kept = from_json(marker.read_bytes())
        if isinstance(kept, dict) and kept.get("key") == key:
            data = kept.get("data")
            body = json.dumps(data, sort_keys=True).encode()
            if isinstance(data, dict) and kept.get("sum") == hashlib.sha256(body).hexdigest():
                return data
    return None


def _remember(marker: Path, key: str, data: dict[str, Any]) -> None:
    """Keep the data for the next run; a cache that cannot be written costs only time."""
    body = json.dumps(data, sort_keys=True).encode()
    kept = {"key": key, "sum": hashlib.sha256(body).hexdigest(), "data": data}
    with suppress(OSError):
        marker.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(marker, json.dumps(kept), mode=0o600, durable=False)
