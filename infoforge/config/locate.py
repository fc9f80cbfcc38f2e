"""Which configuration file is used, and why that one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infoforge.config.settings import home
from infoforge.contract import ConfigError

ENV_VARIABLE = "INFOFORGE_CONFIG"


@dataclass(frozen=True, slots=True)
class Location:
    """Where the configuration is read from.

    Attributes:
        path: The file, absolute; it exists when ``origin`` is not ``default``.
        origin: ``--config``, ``env`` (``INFOFORGE_CONFIG``) or ``default``.
        exists: Whether the file is there; a missing default file means built-in defaults.
    """

    path: Path
    origin: str
    exists: bool


def xdg(variable: str, fallback: str, environ: Mapping[str, str] = os.environ) -> Path:
    """A base directory of the XDG specification (which ignores relative values).

    Args:
        variable: ``XDG_CONFIG_HOME``, say.
        fallback: Directory below the home directory, ``.config``, say.
        environ: The environment.
    """
    value = environ.get(variable, "")
    if value and Path(value).is_absolute():
        return Path(value)
    own = environ.get("HOME", "")
    return (Path(own) if own else home()) / fallback


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where infoforge keeps what it must know the next time."""
    return xdg("XDG_STATE_HOME", ".local/state", environ) / "infoforge"


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """``$XDG_CONFIG_HOME/infoforge/config.yaml``."""
    return xdg("XDG_CONFIG_HOME", ".config", environ) / "infoforge" / "config.yaml"


def expand(text: str, base: Path) -> Path:
    """A path from a file or an option, made absolute.

    Args:
        text: May start with ``~`` or ``~user``.
        base: What a relative path is relative to.

    Raises:
        ConfigError: The user behind ``~`` has no home directory.
    """
    try:
        return base / Path(text).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{text}: no home directory for ~", "write the path in full") from error


def locate(path: str | None, environ: Mapping[str, str] = os.environ) -> Location:
    """Find the configuration file: ``--config``, ``INFOFORGE_CONFIG``, then the default place.

    Args:
        path: The file named on the command line, or ``None``.
        environ: The environment.

    Raises:
        ConfigError: A file was named and is not there.
    """
    named, origin = path, "--config"
    if not named:
        named, origin = environ.get(ENV_VARIABLE), "env"
    if not named:
        file = default_path(environ)
        return Location(file, "default", file.exists())
    if "\0" in named:
        raise ConfigError("configuration file: the name holds a NUL", f"check {origin}")
    file = expand(named, Path.cwd())
    if not file.exists():
        who = "--config" if origin == "--config" else ENV_VARIABLE
        raise ConfigError(
            f"{file}: no such configuration file ({who})",
            "write one with: infoforge config init --path " + str(file),
        )
    return Location(file, origin, True)
