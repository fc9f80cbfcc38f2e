"""From one look to the next: what changed is kept, and told once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from infoforge.box.heal import Repair
from infoforge.box.history import Event, Journal, Memory
from infoforge.box.notify import tell, ways
from infoforge.box.walk import FAIL, Check
from infoforge.config.settings import Settings
from infoforge.contract import CheckFailed, Warn, WarningMessage


def note(
    settings: Settings,
    checks: Iterable[Check],
    repairs: Sequence[Repair],
    memory: Memory,
    *,
    journal: Journal,
    warn: Warn,
    looked_at: Callable[[str], bool] = lambda name: True,
    now: datetime | None = None,
) -> Event | None:
    """Compare a look with the one before; keep what changed, and tell it.

    Args:
        settings: The settings.
        checks: What was found, after the repairs.
        repairs: What was repaired, or could not be.
        memory: The last look; becomes this one. The journal's lock is held.
        journal: Takes the change.
        warn: Takes a warning for each way that could not be gone.
        looked_at: Whether a check of that name was looked for at all (``--only``).
        now: The time; this moment when not given.

    Returns:
        The change; ``None`` when all is as it was.
    """
    time = (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
    failing: dict[str, str] = {
        name: detail for name, detail in memory.failing.items() if not looked_at(name)
    }
    for check in checks:
        if check.status == FAIL:
            failing.setdefault(check.name, check.detail)
    event = _event(time, memory.failing, failing, repairs)
    if not memory.since or bool(failing) != bool(memory.failing):
        memory.since = time
    memory.last, memory.failing = time, failing
    _again(settings, memory, warn)
    if event is not None:
        _keep(settings, event, memory, journal, warn)
    return event


def note_repair(
    settings: Settings, reason: str, warn: Warn, journal: Journal | None = None
) -> None:
    """Keep and tell a repair that was made between two looks."""
    kept = journal or Journal()
    with kept.locked() as memory:
        time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        healed = (f"{reason}: the container was made anew",)
        kind = "better" if memory.failing else "healed"
        event = Event(time, kind, tuple(sorted(memory.failing)), healed=healed)
        _keep(settings, event, memory, kept, warn)


def _event(
    time: str, before: dict[str, str], now: dict[str, str], repairs: Sequence[Repair]
) -> Event | None:
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
    return Event(time, kind, tuple(sorted(now)), new, over, healed)


def _keep(settings: Settings, event: Event, memory: Memory, journal: Journal, warn: Warn) -> None:
    try:
        journal.add(event)
    except CheckFailed as error:  # a full disk, say, which is what has to be told
        warn(WarningMessage("state_folder", error.message))
    for way in tell(settings.monitor, event, ways(settings.monitor), warn):
        memory.untold.append({"way": way, "event": event.data()})


def _again(settings: Settings, memory: Memory, warn: Warn) -> None:
    """Tell what could not be told before; a way that is no longer configured is let go."""
    waiting, memory.untold = memory.untold, []
    down: set[str] = set()
    for item in waiting:
        way = str(item.get("way"))
        event = read_event(item.get("event"))
        if event is None or way not in ways(settings.monitor):
            continue
        if way in down or tell(settings.monitor, event, (way,), warn):
            down.add(way)
            memory.untold.append(item)


def read_event(data: Any) -> Event | None:  # noqa: ANN401 - from a file
    """An event from its JSON form; ``None`` when it is none."""
    try:
        return Event(
            time=str(data["time"]),
            kind=str(data["kind"]),
            failing=tuple(data["failing"]),
            new=dict(data["new"]),
            over=tuple(data["over"]),
            healed=tuple(data["healed"]),
        )
    except (KeyError, TypeError, ValueError):
        return None
