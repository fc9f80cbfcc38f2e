"""What this machine is, as far as it decides how the container is made.

Podman's abilities, mounts and labels, user IDs, and who holds a port.
"""

from __future__ import annotations

import ipaddress
import os
import pwd
import re
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoforge.box.podman import BoxError, Podman
from infoforge.config.settings import BoxSettings

SUBUIDS_NEEDED = 65536
"""Width of the range of subordinate user IDs that images are made for."""

NO_LABELS = frozenset(
    {"exfat", "vfat", "msdos", "ntfs", "ntfs3", "fuseblk", "nfs", "nfs4", "cifs", "smb3", "9p"}
)
"""File systems that keep no SELinux label of a file."""


@dataclass(frozen=True, slots=True)
class Mount:
    """The mount that a folder lies on.

    Attributes:
        point: Mount point.
        kind: File system type (``ext4``, ``exfat``).
        options: Mount and super-block options.
    """

    point: str
    kind: str
    options: str

    def labels(self, selinux: bool) -> bool:
        """Whether a file here can be given an SELinux label of its own.

        Args:
            selinux: SELinux is on, so that the kernel itself says it of every mount. Elsewhere the
                kind of file system tells what would be.
        """
        if selinux:
            return "seclabel" in self.options.split(",")
        return self.kind not in NO_LABELS and not self.kind.startswith("fuse.")


@dataclass(frozen=True, slots=True)
class Host:
    """The machine and its Podman.

    Attributes:
        version: Podman's version as numbers (``(5, 4, 2)``).
        rootless: Whether containers run without root.
        cgroup_version: ``v1`` or ``v2``.
        cgroup_manager: ``systemd`` or ``cgroupfs``.
        controllers: cgroup controllers that containers can have.
        selinux: Whether Podman labels containers.
        enforcing: Whether the kernel enforces.
        uids: Number of user IDs that a rootless container can use; 0 when not rootless.
    """

    version: tuple[int, ...]
    rootless: bool
    cgroup_version: str
    cgroup_manager: str
    controllers: frozenset[str]
    selinux: bool
    enforcing: bool
    uids: int

    @property
    def version_text(self) -> str:
        """Podman's version as people write it."""
        return ".".join(str(part) for part in self.version)


def inspect_host(podman: Podman) -> Host:
    """Ask Podman what it has to work with.

    Raises:
        BoxError: There is no Podman, or it cannot even tell that.
    """
    info: Mapping[str, Any] = podman.json("info", "--format", "json")
    host = info.get("host", {})
    security = host.get("security", {})
    uidmap = (host.get("idMappings") or {}).get("uidmap") or []
    version = str(info.get("version", {}).get("Version", "0"))
    return Host(
        version=tuple(int(part) for part in re.findall(r"\d+", version)[:3]),
        rootless=bool(security.get("rootless")),
        cgroup_version=str(host.get("cgroupVersion", "")),
        cgroup_manager=str(host.get("cgroupManager", "")),
        controllers=frozenset(host.get("cgroupControllers") or ()),
        selinux=bool(security.get("selinuxEnabled")),
        enforcing=enforcing(),
        uids=sum(int(entry.get("size", 0)) for entry in uidmap),
    )


def enforcing() -> bool:
    """Whether SELinux enforces on this machine."""
    try:
        return Path("/sys/fs/selinux/enforce").read_text("ascii").strip() == "1"
    except OSError:
        return False


def mount_of(folder: Path, mountinfo: str | None = None) -> Mount:
    """The mount that a folder lies on.

    Args:
        folder: An existing folder.
        mountinfo: Text in the form of ``/proc/self/mountinfo``; read from there when not given.
    """
    if mountinfo is None:
        mountinfo = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
    target = os.path.realpath(folder)
    best = Mount("/", "", "")
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, rest = left.split(" "), right.split(" ")
        if len(fields) < 6 or len(rest) < 3:
            continue
        # The kernel writes blanks and the like in mount points as \040.
        point = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[4])
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        # Of two mounts on one point the later one is on top.
        if inside and len(point) >= len(best.point):
            best = Mount(point, rest[0], f"{fields[5]},{rest[2]}")
    return best


def foreign_file(folder: Path) -> str:
    """The first thing in a folder, or the folder, that belongs to another user; empty when none.

    Only an owner may label a file, and Podman gives up at the first that it may not label.
    """
    user = os.getuid()
    if user == 0:
        return ""
    for parent, folders, files in os.walk(folder):
        for name in ("", *sorted(folders), *sorted(files)):
            path = Path(parent, name)
            try:
                if path.lstat().st_uid != user:
                    return str(path)
            except OSError:
                continue  # a download that has just been renamed
    return ""


def label_of(path: Path) -> str:
    """The SELinux type of a file (``container_file_t``); empty without SELinux."""
    try:
        context = os.getxattr(path, "security.selinux").rstrip(b"\0").decode("ascii", "replace")
    except OSError:
        return ""
    parts = context.split(":")
    return parts[2] if len(parts) > 2 else ""


def user_name() -> str:
    """This user's name, or the number when it has none."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def subordinate_ids(user: str, uid: int, table: Path = Path("/etc/subuid")) -> int:
    """How many subordinate IDs a user has.

    Args:
        user: User name.
        uid: User ID, which may stand in the table instead of the name.
        table: ``/etc/subuid`` or ``/etc/subgid``.
    """
    try:
        lines = table.read_text("utf-8", "replace").splitlines()
    except OSError:
        return 0
    rows = (line.split(":") for line in lines)
    return sum(
        int(row[2])
        for row in rows
        if len(row) == 3 and row[0] in (user, str(uid)) and row[2].isdigit()
    )


def unprivileged_from() -> int:
    """The lowest port that a user may open."""
    try:
        path = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return 1024


_LISTEN = "0A"


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening TCP socket.

    Attributes:
        address: Address it is bound to (``127.0.0.1``, ``0.0.0.0``, ``::``).
        port: Port.
        uid: User whose socket it is.
        inode: The socket's inode.
    """

    address: str
    port: int
    uid: int
    inode: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return ipaddress.ip_address(self.address).is_loopback


@dataclass(frozen=True, slots=True)
class Holder:
    """The process behind a listener; ``pid`` 0 and a name like ``user www-data`` when hidden."""

    name: str
    pid: int
    address: str

    def __str__(self) -> str:
        """For messages: the program with its process ID, or whose program it is."""
        return f"'{self.name}' (process {self.pid})" if self.pid else f"a program of {self.name}"


def listeners(port: int, proc: Path = Path("/proc")) -> tuple[Listener, ...]:
    """All sockets that listen on a port.

    Args:
        port: The port.
        proc: Where ``/proc`` is.
    """
    found = []
    for table in ("tcp", "tcp6"):
        try:
            lines = (proc / "net" / table).read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            address, _, number = fields[1].partition(":")
            if fields[3] == _LISTEN and int(number, 16) == port:
                found.append(Listener(_address(address), port, int(fields[7]), int(fields[9])))
    return tuple(found)


def holder(address: str, port: int, proc: Path = Path("/proc")) -> Holder | None:
    """Who keeps us from binding an address and port.

    Args:
        address: Address that we want.
        port: Port that we want.
        proc: Where ``/proc`` is.

    Returns:
        The process; ``None`` when the port is free.
    """
    wanted = ipaddress.ip_address(address)
    for listener in listeners(port, proc):
        bound = ipaddress.ip_address(listener.address)
        mapped = getattr(bound, "ipv4_mapped", None) or bound
        if mapped == wanted or bound.is_unspecified or wanted.is_unspecified:
            return _process(listener, proc)
    return None


def _process(listener: Listener, proc: Path) -> Holder:
    """The process that has the socket open, if we may see it."""
    wanted = f"socket:[{listener.inode}]"
    for entry in proc.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            for fd in (entry / "fd").iterdir():
                if str(fd.readlink()) == wanted:
                    name = (entry / "comm").read_text("utf-8", "backslashreplace").strip()
                    return Holder(name, int(entry.name), listener.address)
        except OSError:
            continue  # gone meanwhile, or another user's
    try:
        user = pwd.getpwuid(listener.uid).pw_name
    except KeyError:
        user = str(listener.uid)
    return Holder(f"user {user}", 0, listener.address)


def _address(text: str) -> str:
    """An address as the kernel prints it: 32-bit words in the machine's byte order."""
    words = [int(text[i : i + 8], 16) for i in range(0, len(text), 8)]
    packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
    family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
    return socket.inet_ntop(family, packed)


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own."""
    return ipaddress.ip_address(address).is_loopback


_FORWARDERS = ("pasta", "slirp4netns", "rootlessport", "exe", "conmon")
_PORT_PATIENCE = 6.0


def check_port(podman: Podman, box: BoxSettings) -> None:
    """Refuse a port that another program holds, before the old container is touched."""
    held = holder(box.bind, box.port)
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
    while (held := holder(box.bind, box.port)) is not None:
        if time.monotonic() > end:
            raise _port_held(box, held, _publisher(podman, box))
        if not ended and _forwards(held) and end - time.monotonic() < _PORT_PATIENCE - 1.0:
            ended = True
            with suppress(OSError):
                os.kill(held.pid, signal.SIGTERM)
        time.sleep(0.1)


def _forwards(held: Holder) -> bool:
    """Whether a process of ours is one of Podman's port forwarders."""
    return held.pid > 0 and held.name.startswith(_FORWARDERS)


def _publisher(podman: Podman, box: BoxSettings) -> str:
    """The running container that publishes our port; empty when none does."""
    rows = podman.run("ps", "--format", "{{.Names}} {{.Ports}}").out.splitlines()
    wanted = re.compile(rf":{box.port}->")
    return next((row.split()[0] for row in rows if wanted.search(row)), "")


def _port_held(box: BoxSettings, held: Holder, owner: str = "") -> BoxError:
    who = f"the container '{owner}'" if owner else str(held)
    return BoxError(
        f"port {box.port} on {box.bind} is held by {who}",
        "stop that program, or set box.port to another port",
        code="port_held",
    )
