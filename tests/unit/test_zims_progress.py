"""How progress is told: a line a minute without a terminal, JSON events with --json; the lock."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

import pytest

from infoforge.cli.console import Console
from infoforge.cli.zims_progress import Progress
from infoforge.contract import CheckFailed, WarningMessage
from infoforge.zims.events import Event, silent
from infoforge.zims.lock import LOCK_FILE, folder_lock

GB = 10**9


def run(console: Console, monkeypatch: pytest.MonkeyPatch, seconds: int) -> Progress:
    """An hour-long download at 10 MB/s, told every second."""
    clock = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    progress = Progress(console)
    progress.report(Event("start", "a.zim", 0, 36 * GB, "fetching"))
    for second in range(seconds):
        clock[0] += 1
        progress.report(Event("progress", "a.zim", second * 10_000_000, 36 * GB))
    return progress


def test_a_line_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(Console(as_json=False), monkeypatch, 601)
    out, err = capsys.readouterr()
    assert out == ""
    first, *lines = err.splitlines()
    assert first == "infoforge: fetching a.zim (36.0 GB)"
    assert len(lines) == 10
    assert lines[-1] == "infoforge: a.zim: 17%, 6.0 GB of 36.0 GB, 10.0 MB/s, 50 min left"


def test_events(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    progress = run(Console(as_json=True), monkeypatch, 21)
    progress.report(Event("retry", "a.zim", 5, 9, "not there (HTTP 404)", "http://m/a.zim"))
    out, err = capsys.readouterr()
    assert out == ""
    events = [json.loads(line) for line in err.splitlines()]
    assert [e["event"] for e in events] == ["start", *["progress"] * 10, "retry"]
    assert events[5]["speed"] == 10_000_000
    assert events[-1] == {
        "event": "retry",
        "file": "a.zim",
        "done": 5,
        "total": 9,
        "message": "not there (HTTP 404)",
        "url": "http://m/a.zim",
    }


def test_control_characters_of_a_server_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress(Console(as_json=False))
    progress.report(Event("mirror", "a.zim", url="http://m/\x1b[2J", message="asking"))
    assert "\x1b" not in capsys.readouterr().err


def test_the_lock_names_its_holder_and_is_free_afterwards(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "zims"
    with folder_lock(folder, "infoforge zims pull x", wait=0, report=silent, warn=print):
        told: list[Event] = []
        with (
            pytest.raises(CheckFailed, match=r"'infoforge zims pull x' \(process \d+ on "),
            folder_lock(folder, "second", wait=0.1, report=told.append, warn=print),
        ):
            pytest.fail("two in one folder")
        assert [event.kind for event in told] == ["wait"]
    with folder_lock(folder, "third", wait=0, report=silent, warn=print):
        assert json.loads((folder / LOCK_FILE).read_text())["command"] == "third"


def test_a_file_system_without_locks_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_handle: int, _how: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    told: list[WarningMessage] = []
    with folder_lock(tmp_path, "x", wait=0, report=silent, warn=told.append):
        pass
    assert [warning.code for warning in told] == ["no_lock"]


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with (
        pytest.raises(CheckFailed, match="cannot write in"),
        folder_lock(tmp_path / "file" / "zims", "x", wait=0, report=silent, warn=print),
    ):
        pytest.fail("a folder in a file")
