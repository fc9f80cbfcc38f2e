#!/usr/bin/env python3
"""The playbook on a machine with SELinux enforcing, a power cut, and the ``z`` taken away.

usage: python tests/box/selinux.py        (make test-selinux)

Prints one line a check and the figures; exit code 1 when a check failed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from box import content, host, images, lab
from box.machine import Machine

LIMIT = 600.0
"""Seconds for a boot and an answer: the emulated processor is some twenty times slower."""

ZIMS = "/home/infoforge/zims"
CATALOG = "http://127.0.0.1:8080/catalog/v2/entries?count=-1"
failed: list[str] = []


def check(what: str, good: bool, shown: str = "") -> None:
    """Print and keep the outcome of one check."""
    print(f"{'ok  ' if good else 'FAIL'} {what}{f': {shown}' if shown else ''}", flush=True)
    if not good:
        failed.append(what)


def inventory(machine: Machine, where: Path) -> Path:
    """The inventory: one machine, everything carried in, since it has no network."""
    values: dict[str, Any] = {
        "ansible_host": "127.0.0.1",
        "ansible_port": machine.port,
        "ansible_user": "root",
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_timeout": 120,
        "cli_wheels": str(content.wheels("3.13")),
        "kiwix_image_archive": str(images.kiwix_archive()),
        "kiwix_start_seconds": 900,
        "host_bus_timeout": 300,
    }
    path = lab.write_inventory("selinux", where, {"enforcing": values}, machine.key)
    document = json.loads(path.read_text())
    shared = document["infoforge"]["vars"]
    shared["zims_copy"] = [shared["lab_zims"]["landmarks"], shared["lab_zims"]["rivers"]]
    shared["cli_config"]["box"]["start_timeout"] = 600
    path.write_text(json.dumps(document, indent=2))
    return path


def play(where: Path) -> int:
    """site.yml, its output shown."""
    return subprocess.run(
        ["ansible-playbook", f"--inventory={where}", "playbooks/site.yml"],
        cwd=content.REPO,
        stdin=subprocess.DEVNULL,
        check=False,
    ).returncode


def books(machine: Machine) -> int:
    """How many books the catalog lists; -1 when nobody answers."""
    read = f"import urllib.request as u; print(u.urlopen('{CATALOG}', timeout=60).read().decode())"
    done = machine.run(f'python3 -c "{read}"', check=False)
    return done.stdout.count("<entry>") if done.returncode == 0 else -1


def answers(machine: Machine) -> bool:
    """Whether the question gets its cited answer."""
    said = machine.as_user(f"infoforge ask --json --deadline 120 '{content.QUESTION}'", check=False)
    return said.returncode == 0 and content.EXPECTED in said.stdout and "[1]" in said.stdout


def denials(machine: Machine) -> list[str]:
    """What the kernel refused kiwix-serve, or anybody in the ZIM folder, since the boot."""
    log = machine.run("journalctl --boot --no-pager --output=cat | grep 'avc: *denied' || true")
    return [
        line
        for line in log.stdout.splitlines()
        if re.search(r'comm="kiwix-serve"|\.zim"|name="zims"', line)
    ]


def examine(machine: Machine) -> None:
    """The state that the playbook, or a boot, has left."""
    check("SELinux enforces", machine.run("getenforce").stdout.strip() == "Enforcing")
    labels = machine.run(f"ls -Z {ZIMS}/*.zim").stdout
    check(
        "the ZIM files are container_file_t",
        labels.count(":container_file_t:") == 2,
        labels.strip(),
    )
    domain = machine.run(
        "ps -eo label,comm | grep kiwix-serve || cat /proc/$(pidof kiwix-serve)/attr/current"
    )
    check("the server runs in container_t", ":container_t:" in domain.stdout, domain.stdout.strip())
    found = denials(machine)
    check("no denial against the ZIM folder", not found, " ".join(found[:2]))
    check("both books are in the catalog", books(machine) == 2)
    check("a cited answer", answers(machine))


def without_z(machine: Machine) -> None:
    """With the label taken away the box must be found ill, though it answers HTTP 200."""
    machine.as_user("systemctl --user stop infoforge-heal.timer infoforge.service")
    machine.run(f"chcon -R -t user_home_t {ZIMS}")
    line = machine.as_user("infoforge serve command").stdout.strip()
    assert ":ro,z" in line, line
    machine.as_user(line.replace(":ro,z", ":ro"))

    def up() -> bool:
        return books(machine) >= 0

    host.until("kiwix-serve without z", LIMIT, up, pause=2)
    check("without z: HTTP 200 and no books", books(machine) == 0)
    status = machine.as_user("infoforge serve status --json", check=False)
    said = json.loads(status.stdout)
    check(
        "without z: the verification fails",
        status.returncode == 1,
        "; ".join(said["data"]["faults"]),
    )
    check("without z: the denial is in the log", bool(denials(machine)))


def main() -> int:
    """Everything in order; the figures at the end."""
    folder = host.RUN / "selinux"
    figures = []
    begin = time.monotonic()
    machine = Machine(folder)
    figures.append(f"disk ready after {time.monotonic() - begin:.0f} s")
    try:
        start = machine.boot()
        machine.wait_ssh()
        figures.append(f"ssh {time.monotonic() - start:.0f} s after power-on")
        start = time.monotonic()
        code = play(inventory(machine, folder))
        figures.append(f"site.yml {time.monotonic() - start:.0f} s")
        check("the play ends well", code == 0)
        examine(machine)
        machine.run("sync")
        machine.power_cut()
        start = machine.boot()
        machine.wait_ssh()

        # The catalog first: while nobody serves, ask opens the files itself, and answers as well.
        def back() -> bool:
            return books(machine) == 2 and answers(machine)

        host.until("an answer after the power cut", LIMIT, back, pause=2)
        figures.append(f"a cited answer {time.monotonic() - start:.0f} s after a power cut")
        examine(machine)
        without_z(machine)
    except (RuntimeError, TimeoutError, AssertionError) as error:
        check(f"{type(error).__name__}: {error}", good=False)
    finally:
        machine.power_cut()
        shutil.rmtree(folder, ignore_errors=True)
    print("figures (emulated, no KVM):", "; ".join(figures))
    print("test-selinux:", f"{len(failed)} FAILED" if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
