"""A virtual machine with SELinux enforcing, in software emulation: KVM is not needed.

Debian 13 with the reference policy. The disk is built once and cached: its first boot (permissive)
labels every file and switches itself off. After that it boots enforcing, takes ssh on a loopback
port of this host and has no other way in or out; ending the emulator is a power cut.
"""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from box import host, images, lab

SUITE = "trixie"
_PACKAGES = (
    f"{images.BARE},linux-image-cloud-amd64,initramfs-tools,selinux-policy-default,policycoreutils,"
    f"selinux-utils,{images.FRIENDS[SUITE].replace(' ', ',')}"
)

_NETWORK = "[Match]\nName=e*\n[Network]\nDHCP=yes\n"

_LABEL = """\
#!/bin/bash
set -e
ssh-keygen -A
setfiles -F /etc/selinux/default/contexts/files/file_contexts /
systemctl disable lab-label.service
touch /labelled
restorecon /labelled
sync
poweroff -f
"""

_LABEL_UNIT = """\
[Unit]
ConditionPathExists=!/labelled
After=local-fs.target
[Service]
Type=oneshot
ExecStart=/usr/local/sbin/lab-label
TimeoutStartSec=1200
[Install]
WantedBy=multi-user.target
"""

# Without audit=1: denials are told all the same, and not lost among a record for every login.
_KERNEL_LINE = (
    "root=/dev/vda rw console=ttyS0 security=selinux selinux=1 "
    "systemd.default_timeout_start_sec=600 quiet"
)

# An emulated processor pays for every jump, and gains nothing by large pages.
_FASTER = "mitigations=off transparent_hugepage=never"


def _recipe() -> str:
    return images._recipe(_PACKAGES, _NETWORK, _LABEL, _LABEL_UNIT, _KERNEL_LINE)


def _qemu(disk: Path, boot: Path, log: Path, *, enforcing: bool, port: int = 0) -> list[str]:
    net = "user,model=virtio-net-pci,restrict=on"
    if port:
        net += f",hostfwd=tcp:127.0.0.1:{port}-:22"
    return [
        "qemu-system-x86_64",
        "-accel",
        "tcg,thread=multi",
        "-cpu",
        "max",
        "-smp",
        "2",
        "-m",
        "3000",
        "-display",
        "none",
        "-no-reboot",
        "-serial",
        f"file:{log}",
        "-kernel",
        str(boot / "vmlinuz"),
        "-initrd",
        str(boot / "initrd"),
        "-append",
        f"{_KERNEL_LINE} {_FASTER} enforcing={int(enforcing)}",
        "-drive",
        # What the machine wrote outlives the emulator in this host's page cache, synced or not.
        f"file={disk},format=raw,if=virtio,cache=unsafe",
        "-nic",
        net,
    ]


def disk() -> tuple[Path, Path]:
    """The labelled disk and the folder with its kernel, built if need be."""
    image = images.CACHE / f"selinux-{_recipe()}.img"
    boot = images.CACHE / f"selinux-{_recipe()}.boot"
    if image.exists():
        return image, boot
    tar = images._mmdebstrap(images.CACHE / f"selinux-{_recipe()}.tar", SUITE, _PACKAGES)
    with tempfile.TemporaryDirectory(dir=images.CACHE) as scratch:
        root = Path(scratch, "root")
        root.mkdir()
        subprocess.run(["tar", "xf", str(tar), "-C", str(root)], check=True)
        shutil.rmtree(boot, ignore_errors=True)
        boot.mkdir()
        shutil.copy(next(root.glob("boot/vmlinuz-*")), boot / "vmlinuz")
        shutil.copy(next(root.glob("boot/initrd.img-*")), boot / "initrd")
        _furnish(root)
        part = Path(scratch, "disk.img")
        subprocess.run(
            ["mke2fs", "-q", "-t", "ext4", "-d", str(root), "-L", "root", str(part), "6G"],
            check=True,
        )
        print("labelling the disk (first boot, emulated)", flush=True)
        log = image.with_suffix(".log")
        subprocess.run(_qemu(part, boot, log, enforcing=False), check=True, timeout=1800)
        look = subprocess.run(
            ["debugfs", "-R", "stat /labelled", str(part)],
            capture_output=True,
            text=True,
            check=True,
        )
        if "Inode:" not in look.stdout:
            raise RuntimeError(f"the disk was not labelled: see {log}")
        part.replace(image)
    tar.unlink()
    return image, boot


def _copy(source: Path, target: Path) -> None:
    """Copy a disk without its holes."""
    subprocess.run(
        ["cp", "--sparse=always", "--reflink=auto", str(source), str(target)], check=True
    )


def _furnish(root: Path) -> None:
    """What the machine has beyond Debian's packages: a network, a label run, ssh for a key."""
    etc = root / "etc"
    (etc / "systemd/network/80-lab.network").write_text(_NETWORK)
    (root / "usr/local/sbin/lab-label").write_text(_LABEL)
    (root / "usr/local/sbin/lab-label").chmod(0o755)
    (etc / "systemd/system/lab-label.service").write_text(_LABEL_UNIT)
    wants = etc / "systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    for name, target in (
        ("lab-label.service", "../lab-label.service"),
        ("systemd-networkd.service", "/usr/lib/systemd/system/systemd-networkd.service"),
    ):
        (wants / name).unlink(missing_ok=True)
        (wants / name).symlink_to(target)
    (etc / "selinux/config").write_text("SELINUX=enforcing\nSELINUXTYPE=default\n")
    (etc / "hostname").write_text("enforcing\n")
    (etc / "fstab").write_text("/dev/vda / ext4 defaults 0 1\n")
    ssh = root / "root/.ssh"
    ssh.mkdir(mode=0o700, exist_ok=True)
    key = images.CACHE / "selinux-key"
    if not key.exists():
        made = lab.new_key(images.CACHE / ".new-key")
        made.with_suffix(".pub").replace(key.with_suffix(".pub"))
        made.replace(key)
    (ssh / "authorized_keys").write_text(key.with_suffix(".pub").read_text())


class Machine:
    """One machine on a disk of its own: a copy of the labelled one, or of ``source``."""

    def __init__(self, folder: Path, source: Path | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        labelled, self.boot_folder = disk()
        self.folder = folder
        self.disk = folder / "disk.img"
        self.log = folder / "console.log"
        self.key = images.CACHE / "selinux-key"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None
        _copy(source or labelled, self.disk)

    def boot(self) -> float:
        """Switch it on, enforcing; the moment (monotonic)."""
        # Of the connection that a power cut, or a run that was ended, has left.
        (self.folder / "ssh").unlink(missing_ok=True)
        begin = time.monotonic()
        command = _qemu(self.disk, self.boot_folder, self.log, enforcing=True, port=self.port)
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        return begin

    def wait_ssh(self, seconds: float = 900) -> float:
        """Wait until a command runs in it."""

        def up() -> bool:
            if self.process is None or self.process.poll() is not None:
                raise RuntimeError(f"the emulator ended: see {self.log}")
            return self.run("true", check=False).returncode == 0

        return host.until("ssh of the machine", seconds, up, pause=2)

    def run(self, script: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """A shell script inside, as root."""
        # One connection for all: a login starts a systemd of root's, which takes it ten seconds.
        shared = ["-o", "ControlMaster=auto", "-o", "ControlPersist=300"]
        shared += ["-o", f"ControlPath={self.folder}/ssh"]
        where = ["-p", str(self.port), "root@127.0.0.1"]
        line = ["ssh", *shlex.split(lab.ssh_args(self.key)), *shared, *where]
        done = subprocess.run(
            [*line, f"bash -c {shlex.quote(script)}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode:
            raise RuntimeError(f"{script!r}: {done.stderr.strip() or done.stdout.strip()}")
        return done

    def as_user(self, script: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """A shell script inside as the service user, with its runtime folder."""
        inner = f"XDG_RUNTIME_DIR=/run/user/$(id -u) bash -lc {shlex.quote(script)}"
        return self.run(f"cd / && sudo -u infoforge -H bash -c {shlex.quote(inner)}", check)

    def keep(self, where: Path) -> None:
        """Keep a copy of the disk of a machine that is off."""
        part = where.with_suffix(".part")
        _copy(self.disk, part)
        part.replace(where)

    def power_cut(self) -> None:
        """End the emulator at once: what was not on the disk is lost."""
        if self.process is not None and self.process.poll() is None:
            os.kill(self.process.pid, 9)
            self.process.wait()
