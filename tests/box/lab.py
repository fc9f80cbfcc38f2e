#!/usr/bin/env python3
"""Boot the boxes of a scenario, and end them.

usage: python tests/box/lab.py way | create SCENARIO | destroy SCENARIO | reboot SCENARIO

``create`` writes an inventory for Ansible beside the boxes' ssh key; nothing of it is in the work
tree. The boxes are Podman containers with systemd as PID 1, on one network of their own, and ssh on
a loopback port. They hold nothing but what a fresh Debian has.
"""

from __future__ import annotations

import json
import shlex
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from box import content, host, images

NETWORK = "infoforge-lab"
MIRROR_PORT = 8090
BOOT_SECONDS = 120

_ISLAND = """\
[Unit]
DefaultDependencies=no
Before=sysinit.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=ip route flush default
[Install]
WantedBy=sysinit.target
"""


@dataclass(frozen=True)
class Box:
    """One box: its name in the inventory, what it boots, who logs in, has it a way out."""

    name: str
    suite: str
    python: str
    login: str = "root"
    routed: bool = True

    @property
    def container(self) -> str:
        """Name of its container and of its cgroup."""
        return f"infoforge-lab-{self.name}"

    def podman(self, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Podman in this box's own cgroup."""
        return host.podman(*args, cgroup=self.container, **options)

    def run(self, script: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """A shell script inside, as root."""
        return self.podman("exec", "-i", self.container, "bash", "-euc", script, check=check)

    def as_user(self, script: str, check: bool = True, user: str = "infoforge") -> str:
        """A shell script inside as the service user, with its runtime folder; its output."""
        runtime = f'XDG_RUNTIME_DIR="/run/user/$(id -u {user})"'
        command = f"cd / && sudo -u {user} -H env {runtime} bash -lc {shlex.quote(script)}"
        return self.run(command, check=check).stdout

    @property
    def address(self) -> str:
        """Its address on the boxes' network."""
        template = '{{(index .NetworkSettings.Networks "' + NETWORK + '").IPAddress}}'
        return self.podman("inspect", "-f", template, self.container).stdout.strip()

    @property
    def ssh_port(self) -> int:
        """The loopback port of this host that leads to its ssh."""
        return int(self.podman("port", self.container, "22/tcp").stdout.strip().rsplit(":", 1)[1])

    def create(self, key: Path) -> None:
        """Boot it for the first time, with the key of the tests let in."""
        options = ["--systemd=always", "--privileged", "--cgroups=disabled"]
        options += ["--ulimit=nofile=19000:19000", "--ulimit=nproc=9000:9000"]
        options += ["--device=/dev/net/tun", "--device=/dev/fuse"]
        options += [f"--name={self.container}", f"--hostname={self.name}", f"--network={NETWORK}"]
        options += ["--publish=127.0.0.1::22", "--label=infoforge-lab=1"]
        self.podman("run", "-d", "-t", *options, images.box_image(self.suite), "/sbin/init")
        public = key.with_suffix(".pub").read_text().strip()
        account = "" if self.login == "root" else f"useradd -m -s /bin/bash {self.login}"
        self.run(
            f"{account}\nhome=$(getent passwd {self.login} | cut -d: -f6)\n"
            f"echo '{self.login} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/{self.login}\n"
            # A box of the tests is thrown away: dpkg need not wait for the disk.
            "echo force-unsafe-io > /etc/dpkg/dpkg.cfg.d/lab\n"
            f'mkdir -p "$home/.ssh" /run/sshd && echo {shlex.quote(public)} > '
            '"$home/.ssh/authorized_keys"\n'
            f'chown -R {self.login}: "$home/.ssh" && chmod -R go= "$home/.ssh"\n'
        )
        self.wait_booted()
        self.wait_ssh()
        if not self.routed:
            self.cut_off()

    def cut_off(self) -> None:
        """Take away every route out, now and at every boot; the link of ssh's own stays."""
        self.podman(
            "exec",
            "-i",
            self.container,
            "tee",
            "/etc/systemd/system/lab-island.service",
            text=_ISLAND,
        )
        self.run("systemctl enable -q --now lab-island.service")

    def systemd_state(self) -> str:
        """What ``systemctl is-system-running`` says."""
        done = self.run("systemctl is-system-running || true", check=False)
        return done.stdout.strip()

    def wait_booted(self) -> None:
        """Wait until systemd has started everything."""
        done = ("running", "degraded")
        host.until(f"{self.name} boots", BOOT_SECONDS, lambda: self.systemd_state() in done)

    def wait_ssh(self) -> None:
        """Wait until ssh answers."""
        host.until(f"ssh of {self.name}", BOOT_SECONDS, lambda: _greets(self.ssh_port))

    def reboot(self) -> float:
        """Restart it in good order; the moment (monotonic) at which it began to boot."""
        self.podman("stop", "-t", "30", self.container)
        return self.boot()

    def power_cut(self) -> None:
        """End every process in it at once."""
        self.podman("kill", "--signal=KILL", self.container)
        gone = ("exited", "stopped")
        state = ("inspect", "-f", "{{.State.Status}}", self.container)
        host.until("power is off", 20, lambda: self.podman(*state).stdout.strip() in gone)

    def boot(self) -> float:
        """Start it again; the moment (monotonic) at which it began to boot."""
        begin = time.monotonic()
        self.podman("start", self.container)
        return begin

    def destroy(self) -> None:
        """End it and remove its disk.

        Raises:
            RuntimeError: It is still there.
        """
        for check in (False, False, True):
            # A busy host is late to see that it has ended; then the second time it goes.
            done = self.podman("rm", "-f", "-t", "2", "--ignore", self.container, check=check)
            if done.returncode == 0:
                return


SCENARIOS = {
    "default": (
        Box("debian13", "trixie", "3.13", login="admin"),
        Box("debian12", "bookworm", "3.11"),
    ),
    "airgapped": (Box("island", "trixie", "3.13", routed=False),),
}

SCENARIO_OF = {box.name: name for name, row in SCENARIOS.items() for box in row}


def boxes(scenario: str) -> tuple[Box, ...]:
    """The boxes of a scenario."""
    if scenario not in SCENARIOS:
        raise SystemExit(f"lab: no such scenario: {scenario} (there are: {', '.join(SCENARIOS)})")
    return SCENARIOS[scenario]


def folder(scenario: str) -> Path:
    """Where the inventory and the key of a scenario are."""
    return host.RUN / scenario


def ssh_args(key: Path) -> str:
    """Options of ssh: this key, no other configuration, no questions."""
    return (
        f"-F /dev/null -i {key} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no "
        "-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=20"
    )


def new_key(where: Path) -> Path:
    """A fresh ssh key in ``where``."""
    where.mkdir(parents=True, exist_ok=True)
    key = where / "key"
    key.unlink(missing_ok=True)
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "infoforge-lab", "-f", str(key)],
        check=True,
    )
    return key


def connection(box: Box) -> dict[str, Any]:
    """Host variables: how Ansible reaches the box."""
    return {
        "ansible_host": "127.0.0.1",
        "ansible_port": box.ssh_port,
        "ansible_user": box.login,
        "ansible_python_interpreter": "/usr/bin/python3",
    }


def variables(box: Box, archive: Path) -> dict[str, Any]:
    """Host variables: the connection, and what the roles are to do on this box."""
    values = connection(box) | {
        "lab_container": box.container,
        "lab_address": box.address,
        "lab_routed": box.routed,
    }
    if not box.routed:
        values |= {
            "infoforge_bundle": str(folder(SCENARIO_OF[box.name]) / "bundle"),
            "lab_image_archive": str(archive),
            "lab_python": box.python,
            "lab_zims_pulled": [],
        }
    else:
        values |= {
            "cli_wheels": str(content.wheels(box.python)),
            "kiwix_image_archive": str(archive),
        }
    return values


def write_inventory(
    scenario: str, where: Path, hosts: dict[str, dict[str, Any]], key: Path
) -> Path:
    """Write the inventory (JSON is YAML) with what all boxes share."""
    zims = content.make_zims(where / "zims")
    shared = {
        "ansible_ssh_common_args": ssh_args(key),
        "cli_config": {
            "box": {"image": images.KIWIX_REFERENCE, "digest": ""},
            "catalog": {"url": f"http://127.0.0.1:{MIRROR_PORT}/catalog/v2/entries"},
        },
        "kiwix_proof_question": content.QUESTION,
        "lab_scenario": scenario,
        "lab_zims": {name: str(path) for name, path in zims.items()},
        "lab_mirror": str(Path(__file__).with_name("mirror.py")),
        "lab_mirror_port": MIRROR_PORT,
        "lab_question": content.QUESTION,
        "lab_zims_pulled": ["landmarks_en_all", "rivers_en_all"],
        "lab_expected": content.EXPECTED,
    }
    path = where / "hosts.yml"
    path.write_text(
        json.dumps({"infoforge": {"hosts": hosts, "vars": shared}}, indent=2), encoding="utf-8"
    )
    return path


def create(scenario: str) -> Path:
    """Boot a scenario's boxes; the inventory."""
    host.fit()
    images.free_space()
    print(f"lab: {host.way()}", flush=True)
    key = new_key(folder(scenario))
    if host.podman("network", "exists", NETWORK, check=False).returncode:
        host.podman("network", "create", "--disable-dns", NETWORK)
    archive = images.kiwix_archive()
    for box in boxes(scenario):
        box.destroy()
        box.create(key)
    hosts = {box.name: variables(box, archive) for box in boxes(scenario)}
    if any(box.routed for box in boxes(scenario)):  # the others have the bundle's
        wheel = str(content.own_wheel(folder(scenario)))
        hosts = {name: values | {"cli_wheel": wheel} for name, values in hosts.items()}
    return write_inventory(scenario, folder(scenario), hosts, key)


def destroy(scenario: str) -> None:
    """End a scenario's boxes; with the last of them the network and the namespace go."""
    if not host.RUN.exists():
        return
    for box in boxes(scenario):
        box.destroy()
    shutil.rmtree(folder(scenario), ignore_errors=True)
    left = host.podman("ps", "-aq", "--filter", "label=infoforge-lab=1", check=False)
    # Podman fails here while a box of another lab stands in another namespace.
    if left.returncode == 0 and not left.stdout.strip():
        host.podman("network", "rm", NETWORK, check=False)
        host.release()


def _greets(port: int) -> bool:
    """Whether an ssh server says its name on a loopback port."""
    try:
        with socket.create_connection(("127.0.0.1", port), 2) as link:
            return link.recv(4) == b"SSH-"
    except OSError:
        return False


def main(argv: list[str]) -> int:
    """The command line."""
    actions = {"create": create, "destroy": destroy}
    try:
        if argv == ["way"]:
            host.fit()
            print(host.way())
        elif len(argv) == 2 and argv[0] in actions:
            print(actions[argv[0]](argv[1]) or "")
        elif len(argv) == 2 and argv[0] == "reboot":
            for box in boxes(argv[1]):
                box.reboot()
                box.wait_ssh()
        else:
            print(__doc__, file=sys.stderr)
            return 2
    except (host.Unfit, RuntimeError, TimeoutError) as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
