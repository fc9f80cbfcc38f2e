"""What is there: the container as Podman and the kernel see it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoforge.box.plan import LABEL, MADE_FROM_LABEL
from infoforge.box.podman import Podman


@dataclass(frozen=True, slots=True)
class Container:
    """A container that exists.

    Attributes:
        id: Its ID.
        status: Podman's word (``running``, ``exited``, ``created`` …).
        fingerprint: What it was made from; empty when it is not ours.
        files: The ZIM files it was given.
        image: Reference of its image.
        pid: Process ID of its first process on this machine; 0 when none runs.
        monitored: Whether its conmon, which restarts it, is alive.
        health: ``healthy``, ``unhealthy``, ``starting`` or empty.
        restarts: How often it was restarted.
        started: Time of its start, as Podman writes it.
    """

    id: str
    status: str
    fingerprint: str
    files: tuple[str, ...]
    image: str
    pid: int
    monitored: bool
    health: str
    restarts: int
    started: str

    @property
    def running(self) -> bool:
        """Whether it runs and something looks after it.

        Without conmon Podman still says "running", but nobody restarts it.
        """
        return self.status == "running" and self.monitored


def read_container(podman: Podman, name: str) -> Container | None:
    """Look at a container; ``None`` when there is none of that name.

    Raises:
        BoxError: Podman cannot tell.
    """
    found = podman.inspect("container", name)
    if found is None:
        return None
    state: Mapping[str, Any] = found.get("State") or {}
    labels: Mapping[str, str] = (found.get("Config") or {}).get("Labels") or {}
    health: Mapping[str, Any] = state.get("Health") or state.get("Healthcheck") or {}
    pid = int(state.get("Pid") or 0)
    return Container(
        id=str(found.get("Id", "")),
        status=str(state.get("Status", "")),
        fingerprint=labels.get(LABEL, ""),
        files=_files(labels.get(MADE_FROM_LABEL, "")),
        image=str(found.get("ImageName", "")),
        pid=pid,
        monitored=pid > 0 and _is_conmon(int(state.get("ConmonPid") or 0)),
        health=str(health.get("Status", "")),
        restarts=int(found.get("RestartCount") or 0),
        started=str(state.get("StartedAt", "")),
    )


def last_lines(podman: Podman, name: str, count: int = 5) -> str:
    """The last lines that the server wrote, joined by `` | ``; empty when there are none."""
    reply = podman.run("logs", f"--tail={count}", name)
    lines = [line.strip() for line in (reply.out + "\n" + reply.err).splitlines()]
    return " | ".join(line for line in lines if line) if reply.code == 0 else ""


def _is_conmon(pid: int) -> bool:
    """Whether a process is a living conmon (its number may long be another's)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return False
    # "123 (conmon) S …": a zombie monitors nothing.
    return "(conmon)" in stat and stat.rpartition(")")[2].split()[:1] != ["Z"]


def _files(label: str) -> tuple[str, ...]:
    try:
        return tuple(str(name) for name in json.loads(label))
    except (ValueError, TypeError):
        return ()
