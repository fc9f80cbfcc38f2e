"""What kind of host this is, and how to run a command where boxes can boot.

A box runs systemd as PID 1, which wants a cgroup v2 tree of its own. A laptop with systemd has one;
on a host with cgroup v1 or a mixture, everything that touches a box runs in one private mount
namespace whose ``/sys/fs/cgroup`` is a plain cgroup2 mount. A process that does nothing holds that
namespace open for as long as there are boxes: what was started in one cannot be stopped cleanly
from another.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "infoforge-tests"
RUN = Path(os.environ.get("INFOFORGE_LAB") or CACHE / "run")
"""Inventories, keys and process ids of the boxes that are up now."""

MEBIBYTE = 1024 * 1024

_HOLD = r"""
awk '$2 ~ /^\/sys\/fs\/cgroup/ {print $2}' /proc/mounts | sort -r | xargs -r -n1 umount
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo ready
exec sleep infinity
"""


class Unfit(Exception):
    """This host cannot boot a box; the message says why and what to do."""


def unified() -> bool:
    """Whether ``/sys/fs/cgroup`` is one cgroup v2 tree."""
    return Path("/sys/fs/cgroup/cgroup.controllers").exists()


@functools.cache
def private() -> bool:
    """Whether boxes need the private namespace."""
    return not unified()


def way() -> str:
    """One line for people: which way the boxes are booted here."""
    who = "root" if os.geteuid() == 0 else "rootless"
    if private():
        return (
            f"{who}, cgroup v1: boxes boot in a private namespace with a cgroup2 mount of its own"
        )
    return f"{who}, cgroup v2: boxes boot as plain Podman containers"


def fit() -> None:
    """Raise `Unfit` unless boxes can boot here."""
    missing = [tool for tool in ("podman", "mmdebstrap", "ssh") if not shutil.which(tool)]
    if missing:
        raise Unfit(f"{', '.join(missing)} not installed (apt-get install {' '.join(missing)})")
    if private() and os.geteuid() != 0:
        raise Unfit("a cgroup v1 host needs root: a private cgroup2 mount has to be made")
    for device in ("/dev/net/tun", "/dev/fuse"):
        if not Path(device).exists():
            raise Unfit(f"there is no {device}, which Podman inside a box needs")
    if private():
        hold()


def _holder_file() -> Path:
    return RUN / "namespace.pid"


def _holder() -> int:
    """Process id of the holder, 0 when there is none."""
    try:
        pid = int(_holder_file().read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return 0
    return pid if command.startswith(b"sleep\0infinity") else 0


def hold() -> int:
    """The process id of the namespace's holder, started if need be."""
    pid = _holder()
    if pid:
        return pid
    RUN.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "bash", "-euc", _HOLD],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdout is not None
    if process.stdout.readline() != b"ready\n":
        raise Unfit("no private cgroup2 mount could be made: root with CAP_SYS_ADMIN is needed")
    _holder_file().write_text(str(process.pid))
    return process.pid


def release() -> None:
    """Let the private namespace go."""
    pid = _holder()
    if pid:
        os.kill(pid, 15)
    _holder_file().unlink(missing_ok=True)


def inside(cgroup: str, command: Sequence[str]) -> list[str]:
    """The argv that runs ``command`` where boxes can boot.

    Args:
        cgroup: Name of the cgroup that the command, and so the box, gets to itself: two systemds in
            one would end each other's services.
        command: The argv.
    """
    if not private():
        return list(command)
    enter = ["nsenter", f"--mount=/proc/{hold()}/ns/mnt", f"--wd={Path.cwd()}", "--"]
    join = (
        f"mkdir -p /sys/fs/cgroup/{cgroup} && echo $$ > /sys/fs/cgroup/{cgroup}/cgroup.procs "
        '&& exec "$@"'
    )
    return [*enter, "sh", "-c", join, "sh", *command]


def podman(
    *args: str, cgroup: str = "infoforge-lab", check: bool = True, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Podman where boxes can boot; its complaint becomes the exception's message."""
    done = subprocess.run(
        inside(cgroup, ["podman", *args]), input=text, capture_output=True, text=True, check=False
    )
    if check and done.returncode:
        raise RuntimeError(f"podman {' '.join(args)}: {done.stderr.strip() or done.stdout.strip()}")
    return done


def until(what: str, seconds: float, probe: object, pause: float = 0.3) -> float:
    """Call ``probe`` until it returns something true; the seconds that took.

    Raises:
        TimeoutError: It did not within ``seconds``.
    """
    assert callable(probe)
    begin = time.monotonic()
    while not probe():
        if time.monotonic() - begin > seconds:
            raise TimeoutError(f"not within {seconds:.0f} s: {what}")
        time.sleep(pause)
    return time.monotonic() - begin
