"""Root file systems of the boxes and the kiwix image, built of Debian packages and cached.

Nothing here is downloaded twice: a file's name carries the hash of the recipe it was made from, and
a file that is there is whole (written beside, then renamed). Boxes are **bare**: Podman and its
friends are not installed, only their packages lie in apt's cache, so that the role really installs
them and needs no network to do it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from box.host import CACHE, podman

KIWIX_REFERENCE = "localhost/kiwix-serve:3.7.0"

_COMMON = "systemd,systemd-sysv,dbus,libpam-systemd,python3,sudo,openssh-server,iproute2"
BARE = f"{_COMMON},ca-certificates,apt,python3-apt"
FRIENDS = {
    "trixie": "podman uidmap dbus-user-session passt crun fuse-overlayfs python3-venv acl",
    "bookworm": "podman uidmap dbus-user-session slirp4netns crun fuse-overlayfs python3-venv acl",
}

# The devices that rootless Podman needs have mode 0600 in a container; they are made anew at every
# boot, so a unit opens them before anything of the user's starts.
_DEVICES = """\
[Unit]
DefaultDependencies=no
Before=sysinit.target
[Service]
Type=oneshot
ExecStart=chmod 0666 /dev/net/tun /dev/fuse
# The image holds no host keys: every box makes its own.
ExecStart=ssh-keygen -A
[Install]
WantedBy=sysinit.target
"""

# The contract of the upstream image: arguments are ZIM paths or options, it listens on 8080.
_START = """\
#!/bin/sh
exec_line="/usr/bin/kiwix-serve --port=${PORT:-8080} $*"
echo "$exec_line"
$exec_line
"""


# Half the files of the kiwix image: an emulated box takes minutes to unpack them.
_UNREAD = ("doc", "info", "locale", "man")
_LEAN = tuple(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in _UNREAD)


def _recipe(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:10]


def _mmdebstrap(target: Path, suite: str, include: str, *options: str) -> Path:
    """Build a root file system as a tar, unless it is there."""
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.stem}.{os.getpid()}.tar")
    log = target.with_suffix(".log")
    print(f"building {target.name} (log: {log})", file=sys.stderr, flush=True)
    command = ["nice", "-n5", "mmdebstrap", "--variant=minbase", f"--include={include}", *options]
    try:
        with log.open("w") as out:
            done = subprocess.run([*command, suite, str(part)], stdout=out, stderr=out, check=False)
        if done.returncode:
            tail = " ".join(log.read_text().splitlines()[-3:])
            raise RuntimeError(f"mmdebstrap {suite} failed: {tail}")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


def box_rootfs(suite: str) -> Path:
    """The bare box of one Debian release, with the packages that the role installs in its cache."""
    friends = FRIENDS[suite]
    fetch = f'chroot "$1" apt-get install -y --no-install-recommends --download-only {friends}'
    unit = "/etc/systemd/system/lab-devices.service"
    with tempfile.TemporaryDirectory() as scratch:
        devices = Path(scratch, "lab-devices.service")
        devices.write_text(_DEVICES)
        return _mmdebstrap(
            CACHE / f"{suite}-{_recipe(suite, BARE, fetch, _DEVICES)}.tar",
            suite,
            BARE,
            "--skip=cleanup/apt",
            f"--customize-hook={fetch}",
            f"--customize-hook=upload {devices} {unit}",
            '--customize-hook=chroot "$1" systemctl enable lab-devices.service',
            '--customize-hook=chroot "$1" systemctl mask systemd-modules-load.service',
            '--customize-hook=rm -f "$1"/etc/ssh/ssh_host_*',
        )


def box_image(suite: str) -> str:
    """The box as an image that Podman can run; its reference."""
    tar = box_rootfs(suite)
    reference = f"localhost/infoforge-test-{tar.stem}"
    if podman("image", "exists", reference, check=False).returncode:
        podman("import", "-q", str(tar), reference)
    return reference


def kiwix_archive() -> Path:
    """The kiwix image as an archive, which is how a box without internet gets it."""
    packages = "kiwix-tools,dumb-init"
    archive = CACHE / f"kiwix-image-{_recipe(packages, _START, KIWIX_REFERENCE, _LEAN)}.tar"
    if archive.exists():
        return archive
    with tempfile.TemporaryDirectory() as scratch:
        start = Path(scratch, "start.sh")
        start.write_text(_START)
        start.chmod(0o755)
        tar = _mmdebstrap(
            CACHE / f"kiwix-{_recipe(packages, _START, _LEAN)}.tar",
            "trixie",
            packages,
            *_LEAN,
            f"--customize-hook=upload {start} /usr/local/bin/start.sh",
            '--customize-hook=chmod 755 "$1"/usr/local/bin/start.sh',
        )
    entrypoint = 'ENTRYPOINT ["/usr/bin/dumb-init", "--", "/usr/local/bin/start.sh"]'
    podman(
        "import", "-q", "--change", entrypoint, "--change", "EXPOSE 8080", str(tar), KIWIX_REFERENCE
    )
    part = archive.with_suffix(".part")
    part.unlink(missing_ok=True)
    podman("save", "-q", "-o", str(part), KIWIX_REFERENCE)
    podman("rmi", KIWIX_REFERENCE, check=False)
    part.replace(archive)
    tar.unlink()
    return archive


def free_space(needed: int = 6) -> None:
    """Refuse to build where ``needed`` GiB are not free."""
    CACHE.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(CACHE).free / 1024**3
    if free < needed:
        raise RuntimeError(f"{CACHE}: {free:.1f} GiB free, {needed} GiB are needed for the boxes")
