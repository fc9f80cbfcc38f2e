"""The systemd user units, as the role installs them and a person may."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from infoforge.box.podman import BoxError
from infoforge.config.settings import Settings

UNIT_NAME = "infoforge.service"
UNITS = (
    UNIT_NAME,
    "infoforge-heal.service",
    "infoforge-heal.timer",
    "infoforge-doctor.service",
    "infoforge-doctor.timer",
)
"""The unit that starts the box, the pair that checks it twice a minute, and the pair
that examines it and tells of changes."""

_SLACK_SECONDS = 120
"""Seconds beyond the wait for the books: removing an old container, labelling the files."""


def unit_text(name: str, settings: Settings, command: tuple[str, ...]) -> str:
    """One unit.

    Args:
        name: One of `UNITS`.
        settings: The configuration.
        command: The CLI with an absolute path, since a unit has no ``~/.local/bin`` in its PATH.
    """
    template = resources.files("infoforge") / "data" / f"{name}.in"
    text = template.read_text("utf-8")
    line = " ".join(quote(word) for word in command)
    seconds = int(settings.box.start_timeout) + _SLACK_SECONDS
    text = text.replace("@INTERVAL@", str(settings.monitor.interval))
    return text.replace("@COMMAND@", line).replace("@START_SECONDS@", str(seconds))


def unit_file() -> Path:
    """Where the user unit stands."""
    config = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(config) / "systemd" / "user" / UNIT_NAME


def own_command(config: str | None) -> tuple[str, ...]:
    """How this very CLI is called again, from any directory.

    Args:
        config: Configuration file that was asked for; ``None`` for the usual one.
    """
    sibling = Path(sys.executable).parent / "infoforge"
    called = Path(sys.argv[0]).absolute()
    if called.name == "infoforge" and os.access(called, os.X_OK) and called.is_file():
        command: tuple[str, ...] = (str(called),)
    elif sibling.is_file():
        command = (str(sibling),)
    else:
        command = (sys.executable, "-m", "infoforge")
    return (*command, "--config", str(Path(config).absolute())) if config else command


def systemctl(env: Mapping[str, str], *args: str, timeout: float = 30.0) -> tuple[int, str]:
    """Ask or tell this user's systemd.

    Args:
        env: An environment with the user's bus in it (`podman.environment`).
        args: Arguments after ``systemctl --user``.
        timeout: Seconds until it is given up.

    Returns:
        Exit code (255: no systemctl, or no end in time) and what it said, on one line.
    """
    line = ["systemctl", "--user", *args]
    try:
        done = subprocess.run(  # noqa: S603
            line, env=dict(env), capture_output=True, timeout=timeout, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 255, " ".join(str(error).split())
    return done.returncode, " ".join((done.stdout + done.stderr).decode("utf-8", "replace").split())


def shutting_down(env: Mapping[str, str]) -> bool:
    """Whether this user's systemd is on its way out, with or without the machine."""
    return systemctl(env, "is-system-running", timeout=5.0)[1] == "stopping"


def active(env: Mapping[str, str], name: str = UNIT_NAME) -> bool:
    """Whether a unit is active, and not at work on its container this moment."""
    code, said = systemctl(env, "is-active", name)
    return code == 0 and said != "reloading"


def settle(env: Mapping[str, str], seconds: float) -> None:
    """Wait while the unit recreates the container, which another run may have asked for."""
    end = time.monotonic() + seconds
    while systemctl(env, "is-active", UNIT_NAME)[1] == "reloading" and time.monotonic() < end:
        time.sleep(0.5)


def heal(env: Mapping[str, str], seconds: float, name: str = UNIT_NAME) -> bool:
    """Have a unit recreate its container, in the unit's own cgroup.

    Args:
        env: An environment with the user's bus in it.
        seconds: How long that may take.
        name: The unit; its reload recreates the container.

    Returns:
        False when the unit is not active: stopped on purpose, or at work already.

    Raises:
        BoxError: The unit could not do it.
    """
    if not active(env, name):
        return False
    code, said = systemctl(env, "reload", name, timeout=seconds)
    if code != 0:
        raise BoxError(
            f"{name} could not recreate the container: {said}",
            f"see: journalctl --user -u {name}",
            code="not_healed",
        )
    return True


def quote(word: str) -> str:
    """A word of an ExecStart line: systemd expands ``%`` and ``$``, and splits at blanks."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if any(c.isspace() or c in "\\\"';" for c in word) else escaped
