"""What the box knew of itself at the last look, and what changed before: bounded files."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from infoforge import files
from infoforge.config.locate import state_folder
from infoforge.contract import CheckFailed

EVENTS = 500
"""Changes that are kept; when a quarter more have come, the oldest go."""
UNTOLD = 20
"""Messages that are kept for a way that could not be gone."""

_BLOCK = 16 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    """A change of the box's state.

    Attributes:
        time: When it was seen: ISO text in UTC.
        kind: ``bad`` (something new fails), ``better`` (something is over, not all), ``good`` (all
            is over) or ``healed`` (a repair was made, and nothing fails any longer).
        failing: Names of all checks that fail now.
        new: Detail of each check that fails since this look, by name.
        over: Names of the checks that no longer fail.
        healed: What was repaired, a sentence each.
    """

    time: str
    kind: str
    failing: tuple[str, ...] = ()
    new: Mapping[str, str] = field(default_factory=dict)
    over: tuple[str, ...] = ()
    healed: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """The JSON form."""
        return {**asdict(self), "new": dict(self.new)}


@dataclass(slots=True)
class Memory:
    """What is known from one look to the next.

    Attributes:
        last: Time of the last look; empty before the first.
        since: Time since which it has been good, or bad.
        failing: Detail of each failing check by name.
        heals: Times of the repairs of the last hour, in seconds since 1970.
        untold: Messages that a way could not deliver: ``way`` and ``event``.
    """

    last: str = ""
    since: str = ""
    failing: dict[str, str] = field(default_factory=dict)
    heals: list[float] = field(default_factory=list)
    untold: list[dict[str, Any]] = field(default_factory=list)


class Journal:
    """The memory and the history in a folder.

    Args:
        folder: Where they are; `state_folder` when not given.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or state_folder()

    @property
    def state_file(self) -> Path:
        """The memory."""
        return self.folder / "doctor.json"

    @property
    def history_file(self) -> Path:
        """The history, a change a line."""
        return self.folder / "doctor-history.jsonl"

    @contextmanager
    def locked(self) -> Iterator[Memory]:
        """The memory, kept by one process at a time and written back at the end.

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
            memory = self.read()
            yield memory
            memory.untold = memory.untold[-UNTOLD:]
            try:
                self._remember(json.dumps(asdict(memory), ensure_ascii=False))
            except OSError as error:
                raise self._failed(error) from error

    def _remember(self, text: str) -> None:
        """Write the memory, on a full disk too: that is what must not be told twice."""
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

    def read(self) -> Memory:
        """The memory; an empty one when there is none or it is damaged."""
        with suppress(OSError, ValueError, TypeError, AttributeError):
            known = json.loads(self.state_file.read_text("utf-8"))
            memory = Memory(**{key: known[key] for key in Memory.__slots__ if key in known})
            memory.failing, memory.heals = dict(memory.failing), [float(t) for t in memory.heals]
            memory.untold = [dict(item) for item in memory.untold]
            return memory
        return Memory()

    def add(self, event: Event) -> None:
        """Add a change; called with the lock held.

        Raises:
            CheckFailed: It cannot be written.
        """
        rows = self._rows()
        row = json.dumps(event.data(), ensure_ascii=False)
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
                event = json.loads(row)
                if isinstance(event, dict):
                    found.append(event)
        return found

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
