"""The systemd user unit, as the role installs it and a person may."""

from __future__ import annotations

import os
import sys
from importlib import resources
from pathlib import Path

from infoforge.config.settings import Settings

UNIT_NAME = "infoforge.service"

_SLACK_SECONDS = 120
"""Seconds beyond the wait for the books: removing an old container, labelling the files."""


def unit_text(settings: Settings, command: tuple[str, ...]) -> str:
    """The unit.

    Args:
        settings: The configuration; its path is named in the unit when it is not the usual one.
        command: The CLI with an absolute path, since a unit has no ``~/.local/bin`` in its PATH.
    """
    template = resources.files("infoforge") / "data" / "infoforge.service.in"
    text = template.read_text("utf-8")
    line = " ".join(_quote(word) for word in command)
    seconds = int(settings.box.start_timeout) + _SLACK_SECONDS
    return text.replace("@COMMAND@", line).replace("@START_SECONDS@", str(seconds))


def own_command(config: str | None) -> tuple[str, ...]:
    """How this very CLI is called again, from any directory.

    Args:
        config: Configuration file that was asked for; ``None`` for the usual one.
    """
    beside = Path(sys.executable).parent / "infoforge"
    called = Path(sys.argv[0]).absolute()
    if called.name == "infoforge" and os.access(called, os.X_OK) and called.is_file():
        command: tuple[str, ...] = (str(called),)
    elif beside.is_file():
        command = (str(beside),)
    else:
        command = (sys.executable, "-m", "infoforge")
    return (*command, "--config", str(Path(config).absolute())) if config else command


def _quote(word: str) -> str:
    """A word of an ExecStart line: systemd expands ``%`` and ``$``, and splits at blanks."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if any(c.isspace() or c in "\\\"';" for c in word) else escaped
