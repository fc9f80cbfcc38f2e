"""What this machine is, as far as it decides how the container is made."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoforge.box.podman import Podman

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
