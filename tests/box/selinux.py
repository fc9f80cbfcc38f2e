#!/usr/bin/env python3
"""The playbook on a machine with SELinux enforcing, a power cut, and the ``z`` taken away.

usage: python tests/box/selinux.py [--from STAGE] [--keep]        (make test-selinux)

The stages: ``play`` (site.yml over ssh, then the power cut), ``boot`` (it comes back by itself),
``label`` (the ``z`` taken away, and given back). When a check fails, and with ``--keep``, the disk
stays as the power cut left it, and ``--from boot`` or ``--from label`` begin there: a late failure
does not cost another play.

Prints one line a check and the figures; exit code 1 when a check failed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from box import content, host, images, lab
from box.machine import Machine

STAGES = ("play", "boot", "label")

LIMIT = 1200.0
"""Seconds for a boot and an answer: the emulated processor is some twenty times slower, and this
host may be busy."""

PATIENCE = 180.0
"""Seconds for what may just be under way, such as a repair by the timer that heals."""

FOLDER = host.RUN / "selinux"
PLAYED = FOLDER / "played.img"
"""The disk as the power cut after the play left it."""

ZIMS = "/home/infoforge/zims"
READ_CATALOG = (
    # The shell's own means: an emulated Python takes five seconds to start.
    "exec 3<>/dev/tcp/127.0.0.1/8080 && "
    "printf 'GET /catalog/v2/entries?count=-1 HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n' >&3 && "
    "timeout 60 cat <&3"
)
failed: list[str] = []
figures: list[str] = []


def check(what: str, good: bool, shown: str = "") -> None:
    """Print and keep the outcome of one check."""
    print(f"{'ok  ' if good else 'FAIL'} {what}{f': {shown}' if shown else ''}", flush=True)
    if not good:
        failed.append(what)


def comes(what: str, probe: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Check that something becomes true in time."""
    try:
        host.until(what, seconds, probe, pause=5)
    except TimeoutError as error:
        check(what, False, str(error))
        return False
    check(what, True)
    return True


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
    done = machine.run(READ_CATALOG, check=False)
    said = done.stdout.split(maxsplit=2)
    good = done.returncode == 0 and len(said) == 3 and said[1] == "200"
    return done.stdout.count("<entry>") if good else -1


def answers(machine: Machine) -> bool:
    """Whether the question gets its cited answer."""
    said = machine.as_user(f"infoforge ask --json --deadline 120 '{content.QUESTION}'", check=False)
    return said.returncode == 0 and content.EXPECTED in said.stdout and "[1]" in said.stdout


def denials(machine: Machine) -> list[str]:
    """What the kernel refused kiwix-serve, or anybody in the ZIM folder, since the boot."""
    log = machine.run(
        "journalctl --boot --dmesg --no-pager --output=cat "
        "| grep -E 'avc: *denied|audit_lost|kauditd.*suppressed' || true"
    ).stdout.splitlines()
    lost = [line for line in log if "denied" not in line]
    check("the kernel lost no audit record", not lost, " ".join(lost[:1]))
    return [line for line in log if re.search(r'comm="kiwix-serve"|\.zim"|name="zims"', line)]


def domain(machine: Machine) -> str:
    """The security context of the server; empty when none runs."""
    look = "pid=$(pidof -s kiwix-serve) && tr -d '\\0' < /proc/$pid/attr/current"
    return machine.run(look, check=False).stdout.strip()


def examine(machine: Machine) -> None:
    """The state that the playbook, or a boot, has left."""
    check("SELinux enforces", machine.run("getenforce").stdout.strip() == "Enforcing")
    labels = machine.run(f"ls -Z {ZIMS}/*.zim").stdout
    check(
        "the ZIM files are container_file_t",
        labels.count(":container_file_t:") == 2,
        labels.strip().replace("\n", "; "),
    )
    comes("the server runs", lambda: bool(domain(machine)))
    shown = domain(machine)
    check("the server runs in container_t", ":container_t:" in shown, shown)
    comes("both books are in the catalog", lambda: books(machine) == 2)
    comes("a cited answer", lambda: answers(machine))
    found = denials(machine)
    check("no denial against the ZIM folder", not found, " ".join(found[:2]))


def stage_play(machine: Machine) -> None:
    """site.yml over ssh, then the power cut; keeps the disk."""
    start = machine.boot()
    machine.wait_ssh()
    figures.append(f"ssh {time.monotonic() - start:.0f} s after power-on")
    start = time.monotonic()
    code = play(inventory(machine, FOLDER))
    figures.append(f"site.yml {time.monotonic() - start:.0f} s")
    check("the play ends well", code == 0)
    if code:
        raise RuntimeError("the play failed: there is nothing to go on with")
    examine(machine)
    # Without a sync: what the play has done must be on the disk by its own care.
    machine.power_cut()
    machine.keep(PLAYED)


def come_back(machine: Machine) -> float:
    """Boot, and wait for the catalog and a cited answer; the seconds since power-on."""
    start = machine.boot()
    machine.wait_ssh()

    # The catalog first: while nobody serves, ask opens the files itself, and answers as well.
    def back() -> bool:
        return books(machine) == 2 and answers(machine)

    host.until("an answer after the power cut", LIMIT, back, pause=5)
    return time.monotonic() - start


def stage_boot(machine: Machine) -> None:
    """After the power cut it comes back without a hand on it."""
    figures.append(f"a cited answer {come_back(machine):.0f} s after power came back")
    check("HTTP 200, both books, a cited answer after the power cut", True)
    examine(machine)


def verdict(machine: Machine) -> tuple[int, list[str]]:
    """The exit code of ``serve status``, and the faults that it tells."""
    done = machine.as_user("infoforge serve status --json", check=False)
    return done.returncode, json.loads(done.stdout)["data"]["faults"]


def stage_label(machine: Machine) -> None:
    """With the label taken away the box must be found ill, though it answers HTTP 200."""
    timers = "infoforge-heal.timer infoforge-doctor.timer"
    machine.as_user(f"systemctl --user stop {timers} infoforge.service")
    machine.run(f"chcon -R -t user_home_t {ZIMS}")
    line = machine.as_user("infoforge serve command").stdout.strip()
    if ":ro,z" not in line:
        raise RuntimeError(f"no z to take away: {line}")
    machine.as_user(line.replace(":ro,z", ":ro"))
    host.until("kiwix-serve without z", LIMIT, lambda: books(machine) >= 0, pause=5)
    check("without z: HTTP 200 and no books", books(machine) == 0)
    code, faults = verdict(machine)
    missing = [fault for fault in faults if fault.endswith("is not in the catalog")]
    check("without z: the verification fails", code == 1 and len(missing) == 2, "; ".join(faults))
    doctor = machine.as_user("infoforge doctor --json", check=False)
    rows = json.loads(doctor.stdout)["data"]["checks"]
    ill = {row["name"] for row in rows if row["status"] == "FAIL"}
    wanted = {"box:container", "box:label"}
    check(
        "without z: doctor fails, naming container and label", wanted <= ill, ", ".join(sorted(ill))
    )
    found = denials(machine)
    check("without z: the denial is in the log", bool(found), " ".join(found[:1]))
    machine.as_user(f"systemctl --user start {timers} infoforge.service")
    comes("with z again: both books are in the catalog", lambda: books(machine) == 2)
    code, faults = verdict(machine)
    check("with z again: the verification passes", code == 0, "; ".join(faults))
    relabelled(machine)
    of_another_user(machine)


def relabelled(machine: Machine) -> None:
    """``restorecon`` under a running server: the catalog is in its memory, the pages are not."""
    machine.run(f"restorecon -R -F {ZIMS}")
    labels = machine.run(f"ls -Z {ZIMS}/*.zim").stdout
    check("restorecon takes the labels away", ":container_file_t:" not in labels)
    machine.as_user("infoforge doctor --heal --only box", check=False)
    labels = machine.run(f"ls -Z {ZIMS}/*.zim").stdout
    check("doctor --heal gives them back", labels.count(":container_file_t:") == 2, labels.strip())
    code, faults = verdict(machine)
    check("and the verification passes", code == 0, "; ".join(faults))


def of_another_user(machine: Machine) -> None:
    """Podman gives up where it may not label: a file of root's must not keep the box down."""
    machine.run(f"touch {ZIMS}/of-root.txt")
    machine.as_user("infoforge serve start")
    status = json.loads(machine.as_user("infoforge serve status --json", check=False).stdout)
    choice = next(row for row in status["data"]["choices"] if row["what"] == "SELinux label")
    served = status["data"]["zims"]["served"]
    good = choice["value"] == "label=disable" and len(served) == 2
    check("a file of another user in the folder: label=disable, both books", good, str(choice))


def main() -> int:
    """The stages in order; the figures at the end."""
    parser = argparse.ArgumentParser(description="The playbook on a machine with SELinux.")
    parser.add_argument("--from", dest="first", choices=STAGES, default="play")
    parser.add_argument("--keep", action="store_true", help="keep the disk of the power cut")
    options = parser.parse_args()
    if options.first != "play" and not PLAYED.exists():
        parser.error(f"--from {options.first}: there is no {PLAYED}; run --from play --keep first")
    begin = time.monotonic()
    machine = Machine(FOLDER, None if options.first == "play" else PLAYED)
    figures.append(f"disk ready after {time.monotonic() - begin:.0f} s")
    try:
        if options.first == "play":
            stage_play(machine)
        if options.first == "label":
            come_back(machine)
        else:
            stage_boot(machine)
        stage_label(machine)
    except (RuntimeError, TimeoutError, KeyError, ValueError) as error:
        check(f"{type(error).__name__}: {error}", good=False)
    finally:
        machine.power_cut()
        machine.disk.unlink(missing_ok=True)
        if not (failed or options.keep):
            shutil.rmtree(FOLDER, ignore_errors=True)
    print("figures (emulated, no KVM):", "; ".join(figures))
    print("test-selinux:", f"{len(failed)} FAILED" if failed else "all passed")
    if PLAYED.exists():
        print(f"the disk of the power cut is kept: tests/box/run-selinux --from boot ({PLAYED})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
