"""What doctor remembers, tells and repairs, and how it speaks to Prometheus."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.fault_server import FaultServer, refused_url

from infoforge import files
from infoforge.box import metrics, monitor, notify, postgres, repair, systemd
from infoforge.box.health import FAIL, PASS, WARN, CheckResult
from infoforge.box.monitor import EVENTS, StateChange, StateStore
from infoforge.box.podman import BoxError, Podman
from infoforge.box.repair import Defect, Repair
from infoforge.config.settings import MonitorSettings, Settings
from infoforge.contract import CheckFailed, WarningMessage

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
GOOD = [CheckResult("config", PASS, "fine"), CheckResult("kiwix", PASS, "serves 1 book(s)")]
DOWN = [
    CheckResult("config", PASS, "fine"),
    CheckResult("kiwix", FAIL, "does not answer", "start it"),
]


class MonitoredBox:
    """A box that is looked at again and again, each time a minute later."""

    def __init__(self, tmp_path: Path, settings: Settings | None = None) -> None:
        self.store = StateStore(tmp_path / "state")
        self.settings = settings or Settings()
        self.warnings: list[WarningMessage] = []
        self.now = NOW

    def look(
        self, checks: list[CheckResult], repairs: tuple[Repair, ...] = (), only: str = ""
    ) -> StateChange | None:
        self.now += timedelta(minutes=1)
        with self.store.locked() as memory:
            return monitor.record(
                self.settings,
                checks,
                repairs,
                memory,
                store=self.store,
                warn=self.warnings.append,
                asked_for=lambda name: not only or name == only,
                now=self.now,
            )

    @property
    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.store.events()]


# What is told, and how often


def test_a_change_is_told_once_and_its_end_once(tmp_path: Path) -> None:
    box = MonitoredBox(tmp_path)
    assert box.look(GOOD) is None
    bad = box.look(DOWN)
    assert bad is not None
    assert (bad.kind, dict(bad.new)) == ("bad", {"kiwix": "does not answer"})
    assert box.look(DOWN) is None
    assert box.look([DOWN[0], CheckResult("kiwix", FAIL, "another word for it")]) is None
    good = box.look(GOOD)
    assert good is not None
    assert (good.kind, good.over) == ("good", ("kiwix",))
    assert box.look(GOOD) is None
    assert box.kinds == ["bad", "good"]


def test_a_first_look_at_a_broken_box_is_told(tmp_path: Path) -> None:
    event = MonitoredBox(tmp_path).look(DOWN)
    assert event is not None
    assert event.kind == "bad"


def test_a_second_fault_is_told_and_the_end_of_one_of_two(tmp_path: Path) -> None:
    box = MonitoredBox(tmp_path)
    both = [DOWN[1], CheckResult("endpoint:o", FAIL, "refused")]
    box.look(DOWN)
    box.look(both)
    box.look([both[1]])
    box.look(GOOD)
    assert box.kinds == ["bad", "bad", "better", "good"]


def test_a_repair_is_told_even_if_nothing_failed_before(tmp_path: Path) -> None:
    box = MonitoredBox(tmp_path)
    box.look(GOOD)
    event = box.look(GOOD, (Repair("container", "it was gone", True, "made anew"),))
    assert event is not None
    assert (event.kind, event.healed) == ("healed", ("it was gone: made anew",))
    assert box.look(GOOD, (Repair("container", "it was gone", False, "enough"),)) is None


def test_warnings_are_no_change(tmp_path: Path) -> None:
    box = MonitoredBox(tmp_path)
    box.look(GOOD)
    assert box.look([*GOOD, CheckResult("zim:a", WARN, "old")]) is None


def test_a_look_at_a_part_leaves_the_rest_as_it_was_known(tmp_path: Path) -> None:
    box = MonitoredBox(tmp_path)
    box.look([*DOWN, CheckResult("endpoint:o", FAIL, "refused")])
    assert box.look([CheckResult("kiwix", FAIL, "does not answer")], only="kiwix") is None
    event = box.look([CheckResult("kiwix", PASS, "fine")], only="kiwix")
    assert event is not None
    assert (event.kind, event.failing) == ("better", ("endpoint:o",))


def test_since_is_when_good_turned_bad(tmp_path: Path) -> None:
    box = MonitoredBox(tmp_path)
    box.look(GOOD)
    box.look(DOWN)
    since = box.store.read().since
    box.look(DOWN)
    memory = box.store.read()
    assert memory.since == since < memory.last


# What is kept


def test_the_history_is_bounded(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    with store.locked():
        for number in range(EVENTS * 2):
            store.add(StateChange(str(number), "bad"))
    events = store.events()
    assert EVENTS <= len(events) <= EVENTS + EVENTS // 4
    assert events[-1]["time"] == str(EVENTS * 2 - 1)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"failing": 3}', "\x00"])
def test_a_damaged_memory_is_an_empty_one(tmp_path: Path, damage: str) -> None:
    box = MonitoredBox(tmp_path)
    box.look(DOWN)
    box.store.state_file.write_text(damage)
    event = box.look(DOWN)
    assert event is not None
    assert event.kind == "bad"


def test_a_torn_line_of_the_history_is_passed_over(tmp_path: Path) -> None:
    box = MonitoredBox(tmp_path)
    box.look(DOWN)
    with box.store.history_file.open("a") as out:
        out.write('{"time": "2026\n')
    box.look(GOOD)
    assert box.kinds == ["bad", "good"]


def test_on_a_full_disk_it_is_told_once_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    program = script(tmp_path, f'cat >> "{told}"; echo >> "{told}"')
    box = MonitoredBox(tmp_path, Settings(monitor=MonitorSettings(command=str(program))))
    box.look(GOOD)

    def full(path: Path, content: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def nothing(event: StateChange) -> None:
        raise CheckFailed("cannot keep it", code="state_folder")

    monkeypatch.setattr(files, "write_atomic", full)
    monkeypatch.setattr(box.store, "add", nothing)
    disk = [CheckResult("box:disk", FAIL, "0 bytes free")]
    for _ in range(3):
        box.look(disk)
    assert told.read_text().count("box:disk") == 1
    assert box.store.read().failing == {"box:disk": "0 bytes free"}


def test_a_folder_that_cannot_be_written_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(CheckFailed, match="cannot keep the box's state") as caught:
        MonitoredBox(tmp_path).look(GOOD)
    assert caught.value.code == "state_folder"


# The ways


def script(folder: Path, line: str, name: str = "tell") -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


EVENT = StateChange("2026-11-29T12:00:00Z", "bad", ("kiwix",), {"kiwix": "does not answer: 日本"})


def test_a_command_gets_the_message_and_its_arguments(tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = script(tmp_path, f'{{ echo "$1|$INFOFORGE_EVENT|$INFOFORGE_TITLE"; cat; }} > "{out}"')
    failed = notify.notify(
        MonitorSettings(command=f"{program} 'two words'"), EVENT, ("command",), fail
    )
    assert failed == []
    first, *rest = out.read_text().splitlines()
    assert first.startswith("two words|bad|infoforge on ")
    assert rest == ["fails: kiwix: does not answer: 日本", "what to do: infoforge doctor"]


def fail(warning: WarningMessage) -> None:
    raise AssertionError(warning)


def test_mail_desktop_and_wall_are_the_programs_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sendmail", "notify-send", "wall"):
        script(tmp_path, f'{{ echo "$@"; cat; }} > "{tmp_path}/{name}.out"', name)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monitor = MonitorSettings(mail="root", desktop=True, wall=True)
    assert notify.channels(monitor) == ("mail", "desktop", "wall")
    assert notify.notify(monitor, EVENT, notify.channels(monitor), fail) == []
    mail = (tmp_path / "sendmail.out").read_text()
    assert mail.startswith("-i -t\nTo: root\nSubject: infoforge on ")
    assert mail.endswith("\n\nfails: kiwix: does not answer: 日本\nwhat to do: infoforge doctor\n")
    assert "--urgency=critical" in (tmp_path / "notify-send.out").read_text()
    assert "1 check fails" in (tmp_path / "wall.out").read_text()


def test_a_webhook_gets_what_ntfy_reads(fault_server: Callable[..., FaultServer]) -> None:
    server = fault_server(files={"/infoforge": "{}"})
    monitor = MonitorSettings(webhook=f"{server.url}/infoforge")
    assert notify.notify(monitor, EVENT, ("webhook",), fail) == []
    (asked,) = server.requests
    assert asked.body.decode() == notify.body(EVENT)
    assert asked.headers["title"].startswith("infoforge on ")
    assert (asked.headers["priority"], asked.headers["tags"]) == ("high", "warning")


def test_a_webhook_may_get_json(fault_server: Callable[..., FaultServer]) -> None:
    server = fault_server(files={"/x": "{}"})
    monitor = MonitorSettings(webhook=f"{server.url}/x", webhook_format="json")
    assert notify.notify(monitor, EVENT, ("webhook",), fail) == []
    assert server.requests[0].json["event"]["new"] == {"kiwix": "does not answer: 日本"}


def test_a_webhook_on_a_public_address_is_never_connected_to() -> None:
    heard: list[WarningMessage] = []
    monitor = MonitorSettings(webhook="http://8.8.8.8/infoforge")
    assert notify.notify(monitor, EVENT, ("webhook",), heard.append) == ["webhook"]
    assert "public address" in heard[0].message


@pytest.mark.parametrize("behaviour", ["500", "404", "reset"])
def test_a_way_that_fails_is_a_warning_and_is_gone_again(
    tmp_path: Path, fault_server: Callable[..., FaultServer], behaviour: str
) -> None:
    server = fault_server(behaviour, script_all=True, files={"/secret-topic": "{}"})
    hook = f"{server.url}/secret-topic"
    box = MonitoredBox(tmp_path, Settings(monitor=MonitorSettings(webhook=hook)))
    box.look(DOWN)
    assert [warning.code for warning in box.warnings] == ["not_notified"]
    assert "secret-topic" not in box.warnings[0].message
    box.look(DOWN)
    assert len(server.requests) >= 2
    server.then("ok")
    asked = len(server.requests)
    box.look(DOWN)
    box.look(DOWN)
    assert len(server.requests) == asked + 1
    assert b"does not answer" in server.requests[-1].body


def test_what_cannot_be_told_for_long_is_bounded(tmp_path: Path) -> None:
    box = MonitoredBox(tmp_path, Settings(monitor=MonitorSettings(webhook=refused_url())))
    for _ in range(monitor.UNSENT):
        box.look(DOWN)
        box.look(GOOD)
    assert len(box.store.read().untold) == monitor.UNSENT


@pytest.mark.parametrize("command", ["/no/such/program", "false", "'unclosed"])
def test_a_command_that_fails_is_a_warning(command: str) -> None:
    heard: list[WarningMessage] = []
    monitor = MonitorSettings(command=command)
    assert notify.notify(monitor, EVENT, ("command",), heard.append) == ["command"]
    assert len(heard) == 1


@pytest.mark.parametrize("command", [" ", "\0", "~nobody-here/x", "'' x"])
def test_one_channel_that_fails_never_silences_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    script(tmp_path, f'cat > "{tmp_path}/wall.out"', "wall")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    heard: list[WarningMessage] = []
    monitor = MonitorSettings(command=command, wall=True)
    assert notify.notify(monitor, EVENT, notify.channels(monitor), heard.append) == ["command"]
    assert "does not answer" in (tmp_path / "wall.out").read_text()
    assert [warning.code for warning in heard] == ["not_notified"]


# Repairs


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A box whose container is always gone; the names of what was repaired."""
    made: list[str] = []
    monkeypatch.setattr(
        repair, "find_defects", lambda *_: iter([Defect("container", "it is gone")])
    )
    monkeypatch.setattr(systemd, "heal", lambda *_: made.append("container") or True)
    return made


class NoPodman:
    def __init__(self) -> None:
        self.env: dict[str, str] = {}


def test_repairs_are_limited_by_the_hour(broken: list[str]) -> None:
    settings = Settings(monitor=MonitorSettings(heal_hourly=2))
    heals: list[float] = []
    podman: object = NoPodman()
    for minute in range(0, 50, 10):
        rows = repair.repair(settings, podman, heals, 1e9 + 60 * minute)  # type: ignore[arg-type]
    assert len(broken) == 2
    assert not rows[0].done
    assert "2 repairs in an hour" in rows[0].detail
    (row,) = repair.repair(settings, podman, heals, 1e9 + 3601)  # type: ignore[arg-type]
    assert row.done
    assert len(broken) == 3


def test_no_repair_when_none_is_allowed(broken: list[str]) -> None:
    settings = Settings(monitor=MonitorSettings(heal_hourly=0))
    (row,) = repair.repair(settings, NoPodman(), [], 1e9)  # type: ignore[arg-type]
    assert not row.done
    assert broken == []


def test_a_clock_that_went_back_does_not_block_repairs_for_ever(broken: list[str]) -> None:
    heals = [2e9] * 9
    (row,) = repair.repair(Settings(), NoPodman(), heals, 1e9)  # type: ignore[arg-type]
    assert row.done


def test_without_a_unit_of_ours_nothing_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert list(repair.find_defects(Settings(), NoPodman())) == []  # type: ignore[arg-type]


@dataclass
class Looked:
    """What `box_status` would find."""

    faults: tuple[str, ...] = ()
    problem: str | None = None
    health: str = "healthy"

    @property
    def container(self) -> Looked:
        return self


@pytest.mark.parametrize(
    ("enabled", "active", "looked", "expected"),
    [
        ("enabled", True, Looked(), []),
        ("enabled", True, Looked(("there is no container",)), ["container"]),
        ("enabled", True, Looked(health="unhealthy"), ["container"]),
        ("disabled", True, Looked(), ["unit"]),
        ("disabled", True, Looked(("it is not current",)), ["unit", "container"]),
        # No image, no ZIM that opens: making it anew would only take away what still runs.
        ("enabled", True, Looked(("no ZIM",), problem="no ZIM"), []),
        # Stopped on purpose, or starting: left alone.
        ("enabled", False, Looked(("there is no container",)), []),
    ],
)
def test_what_is_repaired(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    enabled: str,
    active: bool,
    looked: Looked,
    expected: list[str],
) -> None:
    file = tmp_path / "infoforge.service"
    file.touch()

    def systemctl(env: object, verb: str, *args: str, **more: object) -> tuple[int, str]:
        if verb == "is-enabled":
            return int(enabled != "enabled"), enabled
        return int(not active), ""

    monkeypatch.setattr(systemd, "unit_file", lambda: file)
    monkeypatch.setattr(systemd, "systemctl", systemctl)
    monkeypatch.setattr(repair, "box_status", lambda *_: looked)
    found = repair.find_defects(Settings(), NoPodman())  # type: ignore[arg-type]
    assert [defect.what for defect in found] == expected


def test_a_unit_that_cannot_be_enabled_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        repair, "find_defects", lambda *_: iter([Defect("unit", "it is not enabled")])
    )
    for code, done in ((0, True), (1, False)):
        monkeypatch.setattr(systemd, "systemctl", lambda *_, code=code: (code, "no such file"))
        (row,) = repair.repair(Settings(), NoPodman(), [], 1e9)  # type: ignore[arg-type]
        assert row.done == done


def test_a_repair_that_fails_and_a_podman_that_is_gone_are_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> bool:
        raise BoxError("the unit could not", code="not_healed")

    monkeypatch.setattr(
        repair, "find_defects", lambda *_: iter([Defect("container", "it is gone")])
    )
    monkeypatch.setattr(systemd, "heal", broken)
    (row,) = repair.repair(Settings(), NoPodman(), [], 1e9)  # type: ignore[arg-type]
    assert (row.done, row.detail) == (False, "the unit could not")
    monkeypatch.setattr(repair, "find_defects", broken)
    (row,) = repair.repair(Settings(), NoPodman(), [], 1e9)  # type: ignore[arg-type]
    assert not row.done


# Prometheus


def test_metrics_are_in_the_text_format() -> None:
    checks = [
        CheckResult("zim:a.zim", PASS, "fine", "", 'a "b" \\ c.zim', {"age_days": 31.0}),
        CheckResult("search:wiki", PASS, "fine", "", "wiki", {"search_seconds": 0.0125}),
        CheckResult("box:disk", PASS, "fine", "", "/srv", {"free_bytes": 12345678901.0}),
        CheckResult("box:disk", FAIL, "full", "", "/home", {"free_bytes": 0.0}),
        CheckResult("kiwix", WARN, "hm"),
    ]
    text = metrics.text(checks, seconds=1.5, now=1795990000.0)
    lines = text.splitlines()
    assert text.endswith("\n")
    assert "infoforge_up 0" in lines
    assert 'infoforge_checks{status="fail"} 1' in lines
    assert 'infoforge_check_ok{check="box:disk"} 0' in lines
    assert 'infoforge_check_ok{check="kiwix"} 1' in lines
    assert 'infoforge_dump_age_days{zim="a \\"b\\" \\\\ c.zim"} 31' in lines
    assert 'infoforge_search_seconds{corpus="wiki"} 0.0125' in lines
    assert 'infoforge_disk_free_bytes{path="/srv"} 12345678901' in lines
    names = [line.split("{")[0].split(" ")[0] for line in lines if not line.startswith("#")]
    typed = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert set(names) == typed
    samples = [line.rsplit(" ", 1)[0] for line in lines if not line.startswith("#")]
    assert len(samples) == len(set(samples))


def test_the_metrics_file_is_replaced_whole_and_readable(tmp_path: Path) -> None:
    path = tmp_path / "infoforge.prom"
    metrics.write(path, "a 1\n")
    metrics.write(path, "a 2\n")
    assert path.read_text() == "a 2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(CheckFailed, match="cannot write"):
        metrics.write(tmp_path / "no" / "x.prom", "")


# The units


def test_the_timer_looks_at_the_configured_interval() -> None:
    settings = Settings(monitor=MonitorSettings(interval=7))
    timer = systemd.unit_text("infoforge-doctor.timer", settings, ("/opt/infoforge",))
    service = systemd.unit_text("infoforge-doctor.service", settings, ("/opt/infoforge",))
    assert "OnUnitInactiveSec=7min\n" in timer
    assert "OnStartupSec=2min\n" in timer
    assert "ExecStart=/opt/infoforge doctor --heal --quiet\n" in service
    assert "@" not in timer + service


def test_a_repair_between_two_looks_is_kept_and_told(tmp_path: Path) -> None:
    told = tmp_path / "told"
    program = script(tmp_path, f'cat >> "{told}"')
    settings = Settings(monitor=MonitorSettings(command=str(program)))
    store = StateStore(tmp_path / "state")
    monitor.record_repair(settings, "there is no container", fail, store)
    assert "repaired: there is no container" in told.read_text()
    assert [json.loads(row)["kind"] for row in store.history_file.read_text().splitlines()] == [
        "healed"
    ]


def test_the_databases_container_is_made_anew_by_its_own_unit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, ...]] = []

    def systemctl(env: object, *args: str, **more: object) -> tuple[int, str]:
        asked.append(args)
        return 0, "active"

    monkeypatch.setattr(systemd, "systemctl", systemctl)
    assert postgres.heal(Podman(env={})) is True
    assert {args[1] for args in asked} == {"infoforge-postgres.service"}
    assert asked[-1][0] == "reload"


def test_what_another_run_has_begun_is_waited_for_and_not_begun_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    states = ["reloading", "reloading", "active"]
    asked: list[str] = []

    def systemctl(env: object, verb: str, *args: str, **more: object) -> tuple[int, str]:
        asked.append(verb)
        return 0, states.pop(0) if len(states) > 1 else states[0]

    monkeypatch.setattr(systemd, "systemctl", systemctl)
    monkeypatch.setattr(systemd.time, "sleep", lambda _: None)
    assert systemd.heal({}, 5) is False  # at work already
    systemd.settle({}, 60)
    assert systemd.heal({}, 5) is True
    assert asked.count("reload") == 1
