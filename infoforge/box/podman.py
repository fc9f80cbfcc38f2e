"""Podman, called as a program: its environment made whole, its complaints told in one line."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoforge.contract import CheckFailed
from infoforge.text.parse import from_json

UNIT_VARIABLE = "INFOFORGE_UNIT"
"""Set by the systemd unit for its own processes."""

_LONGEST = 500
"""Characters of a complaint that are told."""

_REMEDIES = (
    # pattern in Podman's complaint, what to do
    (
        r"boot ID|storage-run-\d+|containers-user-\d+",
        "stale state of an earlier boot: delete the directory that the message names "
        "(/tmp/storage-run-UID, /tmp/containers-user-UID) and start again; enable linger before "
        "Podman's first use",
    ),
    (
        r"newuidmap|newgidmap|subuid|subgid|insufficient UIDs",
        "give the user a range: usermod "
        "--add-subuids 100000-165535 --add-subgids 100000-165535 USER, then podman system migrate",
    ),
    (
        r"lsetxattr|relabel",
        "the ZIM folder cannot be labelled: let the service user own it, or put "
        "it on a file system that keeps labels",
    ),
    (r"address already in use", "another program has the port: see ss -ltnp, or set box.port"),
    (r"privileged port|ip_unprivileged_port_start", "set box.port to 1024 or above"),
    (r"no space left", "free some space"),
    (
        r"image not known|no such image|unable to find a name",
        "run: infoforge serve pull, or infoforge serve load ARCHIVE",
    ),
    (
        r"dbus|sd-bus|bus connection",
        "the user's systemd does not answer: loginctl enable-linger "
        "USER, install dbus-user-session, log in again",
    ),
)


class BoxError(CheckFailed):
    """Something about the container or its machine is not as it must be."""

    default_code = "box"


@dataclass(frozen=True, slots=True)
class PodmanResult:
    """How a call of Podman ended: exit code, standard output and standard error."""

    code: int
    out: str
    err: str


def remedy(complaint: str) -> str:
    """What to do about a complaint of Podman's."""
    for pattern, hint in _REMEDIES:
        if re.search(pattern, complaint, re.IGNORECASE):
            return hint
    return "infoforge doctor checks the parts one by one"


def environment(outer: Mapping[str, str] | None = None, uid: int | None = None) -> dict[str, str]:
    """The environment that Podman needs.

    `su`, `sudo` and ssh without PAM leave out the user's runtime folder, or leave another user's in
    place; Podman then keeps its state under ``/tmp`` and loses it at the next boot.

    Args:
        outer: Environment to start from; this process's when not given.
        uid: User; this process's when not given.
    """
    env = dict(os.environ if outer is None else outer)
    user = os.getuid() if uid is None else uid
    runtime = Path(f"/run/user/{user}")
    if user != 0 and env.get("XDG_RUNTIME_DIR") != str(runtime) and runtime.is_dir():
        env["XDG_RUNTIME_DIR"] = str(runtime)
        env.pop("DBUS_SESSION_BUS_ADDRESS", None)
    bus = Path(env.get("XDG_RUNTIME_DIR", "/nonexistent")) / "bus"
    if "DBUS_SESSION_BUS_ADDRESS" not in env and bus.exists():
        env["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={bus}"
    if UNIT_VARIABLE not in env:
        # With it Podman leaves the container's monitor in the caller's unit (a terminal, a timer),
        # and the container dies with that unit.
        env.pop("INVOCATION_ID", None)
    return env


class Podman:
    """The program ``podman``.

    Args:
        program: Name or path.
        env: Environment of the calls; `environment` when not given.
    """

    def __init__(self, program: str = "podman", env: Mapping[str, str] | None = None) -> None:
        self.program = program
        self.env = dict(environment() if env is None else env)

    def run(self, *args: str, timeout: float = 60.0, stream: bool = False) -> PodmanResult:
        """Call Podman.

        Args:
            args: Arguments after ``podman``.
            timeout: Seconds until it is killed.
            stream: Let its output through to ours (progress of a pull) instead of keeping it.

        Raises:
            BoxError: There is no Podman, or it did not end in time.
        """
        keep = None if stream else subprocess.PIPE
        try:
            done = subprocess.run(  # noqa: S603
                [self.program, *args],
                stdin=subprocess.DEVNULL,
                stdout=keep,
                stderr=keep,
                env=self.env,
                # A deleted or unreadable working directory makes Podman fail for nothing.
                cwd="/",
                timeout=timeout,
                check=False,
            )
        except FileNotFoundError:
            raise BoxError(
                f"no program '{self.program}'",
                "install it: apt install podman uidmap dbus-user-session, or dnf install podman",
                code="podman_missing",
            ) from None
        except PermissionError as error:
            raise BoxError(f"cannot run '{self.program}': {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise BoxError(
                f"podman {args[0]} did not end within {timeout:g} s",
                "see: podman ps -a",
                code="slow",
            ) from None
        return PodmanResult(done.returncode, _text(done.stdout), _text(done.stderr))

    def call(self, *args: str, timeout: float = 60.0) -> str:
        """Call Podman and take what it printed.

        Raises:
            BoxError: It failed; the message holds its own words, the hint a remedy.
        """
        reply = self.run(*args, timeout=timeout)
        if reply.code != 0:
            raise BoxError(
                f"podman {args[0]} failed ({reply.code}): {complaint(reply)}", remedy(reply.err)
            )
        return reply.out

    def json(self, *args: str) -> dict[str, Any]:
        """Call Podman and read its output as a JSON object; empty when it printed none."""
        out = self.call(*args)
        try:
            found = from_json(out)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def inspect(self, kind: str, name: str) -> dict[str, Any] | None:
        """What Podman knows of a container or image; ``None`` when there is none.

        Args:
            kind: ``container`` or ``image``.
            name: Name, reference or ID.
        """
        reply = self.run(kind, "inspect", name)
        if reply.code != 0:
            if re.search(r"no such|not known|unable to find", reply.err, re.IGNORECASE):
                return None
            raise BoxError(
                f"podman {kind} inspect {name} failed ({reply.code}): {complaint(reply)}",
                remedy(reply.err),
            )
        found: Sequence[dict[str, Any]] = from_json(reply.out or "[]")
        return found[0] if found else None


def complaint(reply: PodmanResult) -> str:
    """What Podman wrote on standard error about its failure, on one line."""
    lines = [line.strip() for line in reply.err.splitlines() if line.strip()]
    starts = [i for i, line in enumerate(lines) if line.startswith("Error")]
    # The reason can stand on the lines after the one that says "Error:" (pasta's does).
    telling = " ".join(lines[starts[-1] :] if starts else lines[-1:])
    return telling.removeprefix("Error: ")[:_LONGEST] or "it said nothing"


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "backslashreplace")
