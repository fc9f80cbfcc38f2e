"""The box monitors itself: it repairs what it can, and reports each change once, and its end."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from box import content, host, lab
from box.conftest import FIGURES, answers, back, books

HOME = "/home/infoforge"
CONFIG = f"{HOME}/.config/infoforge/config.yaml"
LANDMARKS = f"{HOME}/zims/landmarks_en_all_2026-06.zim"
PERIOD = 60.0
"""Seconds between two looks: the shortest that can be configured."""
PATIENCE = PERIOD + 75
"""Until a change must be told: the period, the timer's slack, and the look itself."""
UNITS = ("infoforge-doctor.service", "infoforge-doctor.timer")

TELL = f"""#!/bin/sh
{{ echo "== $INFOFORGE_EVENT"; cat; echo; }} >> {HOME}/told
"""


@dataclass
class Watched:
    """A box whose doctor looks every minute and tells a file."""

    box: lab.Box

    @property
    def told(self) -> str:
        """All that was told."""
        return self.box.run(f"cat {HOME}/told 2>/dev/null || true").stdout

    def kinds(self) -> list[str]:
        return re.findall(r"^== (\w+)$", self.told, re.M)

    def after(self, what: str, begin: float, *words: str) -> float:
        """Wait until something with all of the words was told; the seconds since ``begin``."""

        def heard() -> bool:
            return any(
                all(word in message for word in words) for message in self.told.split("== ")[1:]
            )

        host.until(f"{self.box.name} tells of {what}: {words}", PATIENCE, heard, pause=1.0)
        seconds = time.monotonic() - begin
        FIGURES.append(f"{self.box.name}: told {seconds:5.1f} s after {what}")
        return seconds

    def look(self) -> None:
        """One more look, as the timer would have it: nothing may be told by it."""
        self.box.as_user("systemctl --user start infoforge-doctor.service", check=False)

    def forget(self) -> None:
        self.box.run(f"rm -f {HOME}/told")


def configure(box: lab.Box, **sections: Any) -> None:
    """Replace sections of the box's configuration."""
    config = yaml.safe_load(box.run(f"cat {CONFIG}").stdout) | sections
    box.as_user(f"cat > {CONFIG} <<'EOT'\n{yaml.safe_dump(config)}EOT")


@pytest.fixture
def watched(box: lab.Box) -> Iterator[Watched]:
    """The timer of role monitor, at its shortest period, with a command that keeps all."""
    box.as_user("systemctl --user stop infoforge-doctor.timer", check=False)
    box.run(f"cp -p {CONFIG} {CONFIG}.before; rm -rf {HOME}/told {HOME}/.local/state/infoforge")
    configure(box, monitor={"interval": 1, "heal_hourly": 20, "command": f"{HOME}/tell"})
    box.as_user(f"cat > {HOME}/tell <<'EOT'\n{TELL}EOT\nchmod 755 {HOME}/tell")
    for unit in UNITS:
        target = f"{HOME}/.config/systemd/user/{unit}"
        program = f"--program={HOME}/.local/bin/infoforge"
        box.as_user(
            f"cp -p {target} {target}.before 2>/dev/null || true\n"
            f"infoforge serve unit {unit} {program} > {target}.new; mv {target}.new {target}"
        )
    box.as_user("infoforge skill install", check=False)
    box.as_user("systemctl --user daemon-reload; systemctl --user start infoforge.service")
    box.as_user("systemctl --user start infoforge-doctor.service", check=False)
    box.as_user("systemctl --user restart infoforge-doctor.timer")
    watched = Watched(box)
    assert watched.kinds() == [], watched.told
    yield watched
    box.as_user("systemctl --user stop infoforge-doctor.timer", check=False)
    box.run(f"mv {CONFIG}.before {CONFIG}")
    for unit in UNITS:
        target = f"{HOME}/.config/systemd/user/{unit}"
        box.as_user(f"mv {target}.before {target} 2>/dev/null || rm {target}")
    box.as_user("systemctl --user daemon-reload; systemctl --user restart infoforge.service")
    # With role monitor the timer was there before, and goes on at its own period.
    box.as_user("systemctl --user start infoforge-doctor.timer", check=False)


def test_a_killed_container_is_healed_and_told_once(watched: Watched) -> None:
    begin = time.monotonic()
    watched.box.as_user("podman kill infoforge-kiwix && podman rm -f infoforge-kiwix")
    back(watched.box, "podman kill and rm", begin, PATIENCE)
    watched.after("podman kill and rm", begin, "repaired: ")
    watched.look()
    assert watched.kinds() == ["healed"], watched.told


def test_the_doctor_alone_heals_a_container_that_is_gone(watched: Watched) -> None:
    watched.box.as_user("systemctl --user stop infoforge-heal.timer")
    try:
        begin = time.monotonic()
        watched.box.as_user("podman rm -f infoforge-kiwix")
        watched.after("podman rm, without the heal timer", begin, "there is no container")
        assert answers(watched.box)
        watched.look()
        assert watched.kinds() == ["healed"], watched.told
        history = json.loads(watched.box.as_user("infoforge doctor --history --json"))
        assert [event["kind"] for event in history["data"]["events"]] == ["healed"]
    finally:
        watched.box.as_user("systemctl --user start infoforge-heal.timer")


def test_a_corrupt_zim_is_told_and_the_rest_is_served(watched: Watched) -> None:
    box = watched.box
    begin = time.monotonic()
    box.as_user(f"cp {LANDMARKS} {HOME}/kept.zim && truncate -s 1000 {LANDMARKS}")
    name = Path(LANDMARKS).name
    watched.after("a ZIM file was cut", begin, "fails: ", name)
    watched.look()
    assert watched.kinds() == ["bad"], watched.told
    assert box.run(f"stat -c %s {LANDMARKS}").stdout.strip() == "1000"  # never deleted
    watched.forget()
    begin = time.monotonic()
    box.as_user(f"mv {HOME}/kept.zim {LANDMARKS}")
    watched.after("the ZIM file was mended", begin, "over: ", name)
    watched.look()
    assert len(watched.kinds()) == 1, watched.told
    assert answers(box)


def test_a_stopped_unit_is_told_and_left_stopped(watched: Watched) -> None:
    begin = time.monotonic()
    watched.box.as_user("systemctl --user stop infoforge.service")
    watched.after("the unit was stopped", begin, "fails: ", "box:service")
    watched.look()
    assert watched.kinds() == ["bad"], watched.told
    assert books(watched.box) == []  # the questions are answered from the files meanwhile
    watched.forget()
    begin = time.monotonic()
    watched.box.as_user("systemctl --user start infoforge.service")
    watched.after("the unit was started", begin, "over: ", "box:service")
    assert watched.kinds()[-1] == "good", watched.told


def test_a_disabled_unit_is_enabled_again(watched: Watched) -> None:
    begin = time.monotonic()
    watched.box.as_user("systemctl --user disable infoforge.service")
    watched.after("the unit was disabled", begin, "it was enabled")
    state = watched.box.as_user("systemctl --user is-enabled infoforge.service", check=False)
    assert state.strip() == "enabled"


def test_a_full_disk_is_told_once(watched: Watched) -> None:
    box, zims, state = watched.box, f"{HOME}/zims", f"{HOME}/.local/state/infoforge"
    box.as_user("systemctl --user stop infoforge-heal.timer infoforge.service")
    box.run(
        f"cp -a {zims} {HOME}/zims.kept\n"
        f"mount -t tmpfs -o size=140m tmpfs {zims} && cp {HOME}/zims.kept/*.zim {zims}/\n"
        f"cp -a {state} {HOME}/state.kept && mount -t tmpfs -o size=64k tmpfs {state}\n"
        f"cp -a {HOME}/state.kept/. {state}/ && chown -R infoforge: {zims} {state}\n"
    )
    try:
        box.as_user("systemctl --user start infoforge.service infoforge-heal.timer")
        watched.look()
        watched.forget()
        begin = time.monotonic()
        box.run(f"fallocate -l 100m {zims}/filler; cat /dev/zero > {state}/filler || true")
        watched.after("the disk was filled", begin, "fails: box:disk")
        watched.look()
        assert watched.kinds() == ["bad"], watched.told
        watched.forget()
        begin = time.monotonic()
        box.run(f"rm {zims}/filler {state}/filler")
        watched.after("the disk was emptied", begin, "over: box:disk")
        watched.look()
        assert watched.kinds() == ["good"], watched.told
    finally:
        box.as_user("systemctl --user stop infoforge-heal.timer infoforge.service", check=False)
        box.run(f"umount -l {zims} {state}; rm -rf {HOME}/zims.kept {HOME}/state.kept")
        box.as_user("systemctl --user start infoforge.service infoforge-heal.timer")


def test_a_model_server_that_goes_away_is_told_and_its_return(watched: Watched) -> None:
    box = watched.box
    support = content.REPO / "tests" / "support" / "fault_server.py"
    box.podman("cp", str(support), f"{box.container}:/opt/fault_server.py")
    # It reports 1000 tokens, whatever it is sent: more than the context that is configured here.
    serve = (
        "import sys, threading; sys.path.insert(0, '/opt'); import fault_server as f; "
        "server = f.FaultServer(f.reply('Yes [1].')); print(server.port, flush=True); "
        "threading.Event().wait()"
    )

    def start() -> None:
        box.as_user(f'systemd-run --user --collect --unit=model -- python3 -uc "{serve}"')
        host.until("the model server listens", 20, lambda: port() not in ("", before))
        endpoint = {"name": "model", "url": f"http://127.0.0.1:{port()}/v1", "model": "test-model"}
        configure(box, endpoints=[endpoint | {"context_tokens": 900, "max_tokens": 100}])

    def port() -> str:
        said = box.as_user("journalctl --user -u model -o cat --no-pager", check=False)
        return ["", *re.findall(r"^(\d{4,5})$", said, re.M)][-1]

    before = ""
    start()
    watched.look()
    assert watched.kinds() == [], watched.told
    begin = time.monotonic()
    box.as_user("systemctl --user stop model")
    watched.after("the model server went away", begin, "fails: endpoint:model")
    watched.look()
    assert watched.kinds() == ["bad"], watched.told
    found = json.loads(box.as_user(f"infoforge ask --json '{content.QUESTION}'", check=False))
    assert found["exit_code"] == 5
    assert found["data"]["results"]
    watched.forget()
    before = port()
    start()
    watched.after("the model server came back", time.monotonic(), "over: endpoint:model")
    assert watched.kinds() == ["good"], watched.told
    box.as_user("systemctl --user stop model")
