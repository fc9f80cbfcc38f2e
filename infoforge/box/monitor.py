"""From one run of `doctor` to the next: bounded files of state and history, and notifications."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from infoforge import files
from infoforge.box.health import FAIL, CheckResult
from infoforge.box.notify import StateChange, channels, notify, read_change
from infoforge.box.repair import Repair
from infoforge.config.locate import state_folder
from infoforge.config.settings import Settings
from infoforge.contract import CheckFailed, Warn, WarningMessage
from infoforge.text.parse import from_json

EVENTS = 500
"""Changes that are kept; when a quarter more have come, the oldest go."""
UNSENT = 20
"""Messages that are kept for a channel that failed."""

_BLOCK = 16 * 1024


@dataclass(slots=True)
class MonitorState:
    """What is known from one run to the next.

    Attributes:
        last: Time of the last run; empty before the first.
        since: Time since which it has been good, or bad.
        failing: Detail of each failing check by name.
        heals: Times of the repairs of the last hour, in seconds since 1970.
        untold: Messages that a channel failed to deliver: ``way`` (the channel) and ``event``.
    """

    last: str = ""
    since: str = ""
    failing: dict[str, str] = field(default_factory=dict)
    heals: list[float] = field(default_factory=list)
    untold: list[dict[str, Any]] = field(default_factory=list)


class StateStore:
    """The state and the history in a folder.

    Args:
        folder: Where they are; `state_folder` when not given.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or state_folder()

    @property
    def state_file(self) -> Path:
        """The state."""
        return self.folder / "doctor.json"

    @property
    def history_file(self) -> Path:
        """The history, a change a line."""
        return self.folder / "doctor-history.jsonl"

    @contextmanager
    def locked(self) -> Iterator[MonitorState]:
        """The state, kept by one process at a time and written back at the end.

        Raises:
            CheckFailed: The folder cannot be written.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = (self.folder / "doctor.lock").open("w")
        except OSError as error:
            raise self._failed(error) from error
        with lock:
            files.lock(lock)
            state = self.read()
            yield state
            state.untold = state.untold[-UNSENT:]
            try:
                self._write(json.dumps(asdict(state), ensure_ascii=False))
            except OSError as error:
                raise self._failed(error) from error

    def _write(self, text: str) -> None:
        """Write the state, on a full disk too: a fault must not be reported twice."""
        size = len(text.encode("utf-8"))
        # Room to grow within the file, for the day on which there is no other.
        padded = text + " " * (-size % _BLOCK)
        try:
            files.write_atomic(self.state_file, padded)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT) or not self.state_file.exists():
                raise
            with self.state_file.open("r+b") as out:
                out.write(padded.encode("utf-8"))
                out.flush()
                os.fsync(out.fileno())
                out.truncate()

    def read(self) -> MonitorState:
        """The state; an empty one when there is none or it is damaged."""
        with suppress(OSError, ValueError, TypeError, AttributeError):
            known = from_json(self.state_file.read_text("utf-8"))
            state = MonitorState(
                **{key: known[key] for key in MonitorState.__slots__ if key in known}
            )
            state.failing, state.heals = dict(state.failing), [float(t) for t in state.heals]
            state.untold = [dict(item) for item in state.untold]
            return state
        return MonitorState()

    def add(self, change: StateChange) -> None:
        """Add a change; called with the lock held.

        Raises:
            CheckFailed: It cannot be written.
        """
        rows = self._rows()
        row = json.dumps(change.data(), ensure_ascii=False)
        try:
            if len(rows) >= EVENTS + EVENTS // 4:
                kept = "\n".join([*rows[-EVENTS + 1 :], row]) + "\n"
                files.write_atomic(self.history_file, kept)
                return
            with self.history_file.open("a", encoding="utf-8") as out:
                out.write(row + "\n")
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise self._failed(error) from error

    def events(self) -> list[dict[str, Any]]:
        """The changes, oldest first; lines that a power cut tore are passed over."""
        found = []
        for row in self._rows():
            with suppress(ValueError):
                change = from_json(row)
                if isinstance(change, dict):
                    found.append(change)
        return found

    def summary(self) -> dict[str, Any]:
        """The state and the changes, as ``doctor --history --json`` prints them."""
        state = self.read()
        return {
            "state": ("bad" if state.failing else "good") if state.last else "unknown",
            "since": state.since or None,
            "last": state.last or None,
            "failing": [{"name": n, "detail": d} for n, d in state.failing.items()],
            "events": self.events(),
        }

    def _rows(self) -> list[str]:
        try:
            return self.history_file.read_text("utf-8", "replace").splitlines()
        except OSError:
            return []

    def _failed(self, error: OSError) -> CheckFailed:
        return CheckFailed(
            f"cannot keep the box's state in {self.folder}: {error.strerror or error}",
            "make room, or check whose folder it is",
            code="state_folder",
        )


def record(
    settings: Settings,
    checks: Iterable[CheckResult],
    repairs: Sequence[Repair],
    state: MonitorState,
    *,
    store: StateStore,
    warn: Warn,
    asked_for: Callable[[str], bool] = lambda name: True,
    now: datetime | None = None,
) -> StateChange | None:
    """Compare a run with the one before; keep what changed, and notify of it.

    Args:
        settings: The settings.
        checks: What was found, after the repairs.
        repairs: What was repaired, or could not be.
        state: The state after the last run; becomes this one's. The store's lock is held.
        store: Takes the change.
        warn: Takes a warning for each channel that failed.
        asked_for: Whether a check of that name was asked for (``--only``).
        now: The time; this moment when not given.

    Returns:
        The change; ``None`` when all is as it was.
    """
    time = (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    failing: dict[str, str] = {
        name: detail for name, detail in state.failing.items() if not asked_for(name)
    }
    for check in checks:
        if check.status == FAIL:
            failing.setdefault(check.name, check.detail)
    change = _change(time, state.failing, failing, repairs)
    if not state.since or bool(failing) != bool(state.failing):
        state.since = time
    state.last, state.failing = time, failing
    _retry(settings, state, warn)
    if change is not None:
        _publish(settings, change, state, store, warn)
    return change


def record_repair(
    settings: Settings, reason: str, warn: Warn, store: StateStore | None = None
) -> None:
    """Record a repair made between two runs, and notify of it."""
    kept = store or StateStore()
    with kept.locked() as state:
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        healed = (f"{reason}: the container was recreated",)
        kind = "better" if state.failing else "healed"
        change = StateChange(time, kind, tuple(sorted(state.failing)), healed=healed)
        _publish(settings, change, state, kept, warn)


def _change(
    time: str, before: dict[str, str], now: dict[str, str], repairs: Sequence[Repair]
) -> StateChange | None:
    new = {name: detail for name, detail in now.items() if name not in before}
    over = tuple(sorted(set(before) - set(now)))
    healed = tuple(f"{made.reason}: {made.detail}" for made in repairs if made.done)
    if not (new or over or healed):
        return None
    if new:
        kind = "bad"
    elif now:
        kind = "better"
    else:
        kind = "healed" if healed else "good"
    return StateChange(time, kind, tuple(sorted(now)), new, over, healed)


def _publish(
    settings: Settings, change: StateChange, state: MonitorState, store: StateStore, warn: Warn
) -> None:
    try:
        store.add(change)
    except CheckFailed as error:  # a full disk, say, which is what has to be reported
        warn(WarningMessage("state_folder", error.message))
    for channel in notify(settings.monitor, change, channels(settings.monitor), warn):
        state.untold.append({"way": channel, "event": change.data()})


def _retry(settings: Settings, state: MonitorState, warn: Warn) -> None:
    """Send again what could not be sent; channels no longer configured are dropped."""
    waiting, state.untold = state.untold, []
    down: set[str] = set()
    for item in waiting:
        channel = str(item.get("way"))
        change = read_change(item.get("event"))
        if change is None or channel not in channels(settings.monitor):
            continue
        if channel in down or notify(settings.monitor, change, (channel,), warn):
            down.add(channel)
            state.untold.append(item)
