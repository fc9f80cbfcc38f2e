"""Whose the port is: a program's, another container's, or a forwarder's that was left behind."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import suppress

from infoforge.box import ports
from infoforge.box.podman import BoxError, Podman
from infoforge.config.settings import BoxSettings

_FORWARDERS = ("pasta", "slirp4netns", "rootlessport", "exe", "conmon")
_PORT_PATIENCE = 6.0


def check_port(podman: Podman, box: BoxSettings) -> None:
    """Refuse a port that another program holds, before the old container is touched."""
    held = ports.holder(box.bind, box.port)
    if held is None:
        return
    owner = _publisher(podman, box)
    if owner == box.container or (not owner and _forwards(held)):
        return
    raise _port_held(box, held, owner)


def free_port(podman: Podman, box: BoxSettings) -> None:
    """See that the port is free once the old container is gone.

    A container that was killed together with Podman can leave its port forwarder behind, which
    nothing else would ever end.
    """
    end = time.monotonic() + _PORT_PATIENCE
    ended = False
    while (held := ports.holder(box.bind, box.port)) is not None:
        if time.monotonic() > end:
            raise _port_held(box, held, _publisher(podman, box))
        if not ended and _forwards(held) and end - time.monotonic() < _PORT_PATIENCE - 1.0:
            ended = True
            with suppress(OSError):
                os.kill(held.pid, signal.SIGTERM)
        time.sleep(0.1)


def _forwards(held: ports.Holder) -> bool:
    """Whether a process of ours is one of Podman's port forwarders."""
    return held.pid > 0 and held.name.startswith(_FORWARDERS)


def _publisher(podman: Podman, box: BoxSettings) -> str:
    """The running container that publishes our port; empty when none does."""
    rows = podman.run("ps", "--format", "{{.Names}} {{.Ports}}").out.splitlines()
    wanted = re.compile(rf":{box.port}->")
    return next((row.split()[0] for row in rows if wanted.search(row)), "")


def _port_held(box: BoxSettings, held: ports.Holder, owner: str = "") -> BoxError:
    who = f"the container '{owner}'" if owner else str(held)
    return BoxError(
        f"port {box.port} on {box.bind} is held by {who}",
        "stop that program, or set box.port to another port",
        code="port_held",
    )
