"""What is remembered of a shelf: each file's origin and hash, and which names are pinned."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from infoforge.files import write_atomic
from infoforge.text.parse import from_json

STATE_FILE = ".infoforge.json"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one file.

    Attributes:
        size: Bytes when it was verified.
        mtime_ns: Its time of change then; another one means that it must be looked at again.
        sha256: Hex digest of the whole file.
        verified: When every byte was last read and found right (ISO, UTC).
        origin: Address or path that it came from.
        ident: ``name`` or ``name:flavour`` of the catalog; empty when it did not come from there.
    """

    size: int
    mtime_ns: int
    sha256: str
    verified: str
    origin: str = ""
    ident: str = ""


@dataclass(slots=True)
class State:
    """The records of a folder, by file name, and the pins: stable name -> edition."""

    files: dict[str, Record] = field(default_factory=dict)
    pins: dict[str, str] = field(default_factory=dict)

    def trusted(self, path: Path) -> Record | None:
        """The record of a file that has not changed since every byte of it was read."""
        record = self.files.get(path.name)
        try:
            now = path.stat()
        except OSError:
            return None
        if record is None or (record.size, record.mtime_ns) != (now.st_size, now.st_mtime_ns):
            return None
        return record

    def remember(self, path: Path, sha256: str, *, origin: str = "", ident: str = "") -> None:
        """Record that every byte of a file was read just now and was right."""
        now, old = path.stat(), self.files.get(path.name)
        record = Record(
            size=now.st_size,
            mtime_ns=now.st_mtime_ns,
            sha256=sha256,
            verified=datetime.now(UTC).isoformat(timespec="seconds"),
            origin=origin,
            ident=ident,
        )
        if old is not None and old.sha256 == sha256:
            record = replace(record, origin=origin or old.origin, ident=ident or old.ident)
        self.files[path.name] = record


def load_state(folder: Path) -> State:
    """Read a folder's state; a missing or damaged file is an empty one, since it is only memory."""
    try:
        data = from_json((folder / STATE_FILE).read_bytes())
        files = {str(name): _record(item) for name, item in dict(data["files"]).items()}
        pins = {str(name): str(period) for name, period in dict(data["pins"]).items()}
    except (OSError, ValueError, KeyError, TypeError):
        return State()
    return State(files, pins)


def save_state(folder: Path, state: State) -> None:
    """Write a folder's state, without what is no longer there."""
    files = {name: asdict(r) for name, r in state.files.items() if (folder / name).exists()}
    data: dict[str, Any] = {"version": _VERSION, "files": files, "pins": state.pins}
    write_atomic(folder / STATE_FILE, json.dumps(data, indent=1, sort_keys=True) + "\n")


def _record(item: dict[str, Any]) -> Record:
    return Record(
        size=int(item["size"]),
        mtime_ns=int(item["mtime_ns"]),
        sha256=str(item["sha256"]),
        verified=str(item["verified"]),
        origin=str(item.get("origin", "")),
        ident=str(item.get("ident", "")),
    )
