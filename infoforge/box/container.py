"""What the container should be and what it is: the spec with its fingerprint, and the state.

The spec is a pure function of the settings, the books and the machine, so that it can be tested
without any of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoforge.box.books import Selection
from infoforge.box.host import Host, Mount
from infoforge.box.podman import BoxError, Podman
from infoforge.config.settings import BoxSettings
from infoforge.text.parse import from_json

LABEL = "infoforge.fingerprint"
"""Label of the container that holds what it was made from."""

MADE_FROM_LABEL = "infoforge.zims"
"""Label that holds the names of the ZIM files, as JSON."""

INNER_PORT = 8080
"""Port inside the container, where the image's start script puts the server."""

MOUNT = "/data"

UNLABELLED = "label=disable"
"""The security option that takes SELinux's separation from a container."""

_URL = f"http://127.0.0.1:{INNER_PORT}/catalog/v2/entries?count=1"
HEALTH_COMMAND = (
    # The official image has busybox wget; images made of distribution packages may have curl, or
    # bash alone. Health means that a book is listed: a denied mount gives HTTP 200 and none.
    # Without a Host header kiwix-serve 3.7 answers 404.
    f"if command -v wget >/dev/null; then wget -q -T 9 -O - '{_URL}'; "
    f"elif command -v curl >/dev/null; then curl -s -m 9 '{_URL}'; "
    f"else bash -c 'exec 3<>/dev/tcp/127.0.0.1/{INNER_PORT}; "
    'printf "GET /catalog/v2/entries?count=1 HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n" >&3; '
    "cat <&3'; fi | grep -q '<entry>'"
)

_UNSAFE_IN_SHELL = re.compile(r"[\s*?\[\]\\]")


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that was decided by what the machine can give: what, how, and why."""

    what: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """The container to be.

    Attributes:
        argv: Arguments of ``podman``, from ``run`` on.
        fingerprint: Of all that the container is made from.
        choices: What was decided by what the machine can give.
    """

    argv: tuple[str, ...]
    fingerprint: str
    choices: tuple[Choice, ...]


def make_spec(
    box: BoxSettings,
    selection: Selection,
    host: Host,
    mount: Mount,
    *,
    image_id: str,
    foreign: str = "",
) -> ContainerSpec:
    """Decide what the container is made of.

    Args:
        box: The configuration.
        selection: The ZIM files to serve.
        host: The machine.
        mount: The mount that the ZIM folder is on.
        image_id: ID of the local image, so that a new one under the old tag makes a new container.
        foreign: Something in the folder that belongs to another user (`host.foreign_file`).

    Raises:
        BoxError: The folder must not be mounted.
    """
    folder = Path(selection.folder).resolve()
    _refuse(folder, mount, host)
    label = label_choice(folder, mount, host, foreign)
    volume = f"{folder}:{MOUNT}:ro" + (",z" if label.value == "z" else "")
    limits, limit_choices = _limits(box, host)
    address = f"[{box.bind}]" if ":" in box.bind else box.bind
    flags = [
        f"--name={box.container}",
        "--detach",
        "--replace",
        "--pull=never",
        "--restart=always",
        "--user=root",
        "--read-only",
        "--cap-drop=all",
        "--security-opt=no-new-privileges",
        *((f"--security-opt={UNLABELLED}",) if label.value == UNLABELLED else ()),
        *limits,
        f"--publish={address}:{box.port}:{INNER_PORT}",
        f"--volume={volume}",
        "--stop-timeout=10",
        # A file of bounded size: readable without the journal's group, and never a full disk.
        "--log-driver=k8s-file",
        "--log-opt=max-size=2mb",
        *_health(box),
    ]
    arguments = ["--nodatealiases"]
    if box.skip_invalid:
        # Never the short form: 3.7.0 lists it and refuses it.
        arguments.insert(0, "--skipInvalid")
    arguments += [shell_glob(f"{MOUNT}/{book.file}") for book in selection.books]
    made_from = {
        "flags": flags,
        "arguments": arguments,
        "image": [box.image, image_id],
        "books": [[b.file, b.uuid, b.size, b.modified] for b in selection.books],
    }
    text = json.dumps(made_from, ensure_ascii=True, sort_keys=True)
    fingerprint = hashlib.sha256(text.encode("ascii")).hexdigest()[:32]
    labels = (
        f"--label={LABEL}={fingerprint}",
        f"--label={MADE_FROM_LABEL}={json.dumps([b.file for b in selection.books])}",
    )
    return ContainerSpec(
        ("run", *flags, *labels, box.image, *arguments), fingerprint, (label, *limit_choices)
    )


def shell_glob(path: str) -> str:
    """A path as the image's start script takes it: unquoted, so what splits words becomes ``?``."""
    return _UNSAFE_IN_SHELL.sub("?", path)


def _refuse(folder: Path, mount: Mount, host: Host) -> None:
    """Refuse folders that must be neither shown to a container nor labelled for one."""
    home = Path.home().resolve()
    hint = "give the ZIM files a folder of their own, such as ~/zims, and set zims.folder"
    if folder == home or folder in home.parents:
        raise BoxError(
            f"the ZIM folder is {folder}, which holds more than ZIM files: mounting it would label "
            "all of it for containers",
            hint,
            code="folder_refused",
        )
    if ":" in str(folder):
        raise BoxError(
            f"the ZIM folder {folder} has a colon in its path, which Podman's volumes cannot hold",
            hint,
        )
    if len(folder.parts) == 2 and folder.name in _SYSTEM:
        raise BoxError(f"the ZIM folder is {folder}, a system folder", hint, code="folder_refused")
    if folder == Path(mount.point) and host.selinux and mount.labels(host.selinux):
        raise BoxError(
            f"the ZIM folder {folder} is the root of a mounted file system, and mounting it would "
            "label all of that for containers",
            f"use a folder in it: mkdir {folder}/zims, and set zims.folder",
            code="folder_refused",
        )


_SYSTEM = frozenset(
    {
        *("bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "proc"),
        *("root", "run", "sbin", "srv", "sys", "tmp", "usr", "var"),
    }
)


def label_choice(folder: Path, mount: Mount, host: Host, foreign: str) -> Choice:
    """Whether the files get a label, the container goes without separation, or neither is needed.

    Args:
        folder: The ZIM folder, resolved.
        mount: The mount that it is on.
        host: The machine.
        foreign: Something in the folder that belongs to another user, or empty.

    Returns:
        A choice of ``z``, `UNLABELLED` or ``none``.
    """
    what = "SELinux label"
    if not mount.labels(host.selinux):
        kind = mount.kind or "the file system"
        return Choice(what, UNLABELLED, f"{kind} at {mount.point} keeps no labels")
    if host.selinux:
        if not foreign:
            return Choice(what, "z", "the files are labelled container_file_t")
        reason = f"{foreign} belongs to another user, who alone may label it"
        return Choice(what, UNLABELLED, reason)
    off = "Podman is set to use no labels" if host.enforcing else "SELinux is off here"
    if folder == Path(mount.point):
        reason = f"the folder is the root of a mount; {off}, so no label is needed"
        return Choice(what, "none", reason)
    return Choice(what, "z", off)


def _limits(box: BoxSettings, host: Host) -> tuple[list[str], list[Choice]]:
    """Limits of processes and memory, where the cgroups can hold them."""
    flags, choices = [], []
    if "pids" in host.controllers:
        flags.append(f"--pids-limit={box.pids}")
        choices.append(Choice("process limit", str(box.pids), "box.pids"))
    else:
        # 0, not -1: crun refuses -1 where there is no controller.
        flags.append("--pids-limit=0")
        reason = f"no pids controller for this user (cgroups {host.cgroup_version})"
        choices.append(Choice("process limit", "none", reason))
    if box.memory and "memory" in host.controllers:
        flags.append(f"--memory={box.memory}b")
        choices.append(Choice("memory limit", f"{box.memory} bytes", "box.memory"))
    elif box.memory:
        reason = f"no memory controller for this user (cgroups {host.cgroup_version})"
        choices.append(Choice("memory limit", "none", reason))
    return flags, choices


def _health(box: BoxSettings) -> list[str]:
    """The health command. What follows when it fails is `serve heal`'s part.

    Podman's own actions were tried (4.3.1 and 5.4.2): after ``kill`` the restart policy does not
    apply, and after ``restart`` the container stays down too.
    """
    return [
        f"--health-cmd={box.health_command or HEALTH_COMMAND}",
        "--health-interval=60s",
        "--health-timeout=10s",
        "--health-retries=3",
        f"--health-start-period={int(box.start_timeout)}s",
    ]


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
        return tuple(str(name) for name in from_json(label))
    except (ValueError, TypeError):
        return ()
