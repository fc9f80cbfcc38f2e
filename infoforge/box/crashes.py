"""Deaths of kiwix-serve: which ZIM file ended it, and is therefore no longer served.

A file whose damage ends the server is found by an article's reader, not by its header: the server
dies, Podman starts it again, and the next reader of the article ends it again. After the second
death within ten minutes every served file is searched and read in a child process, and one that
cannot be is excluded until it is replaced.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from infoforge.box.container import Container
from infoforge.config.locate import state_folder
from infoforge.files import write_atomic
from infoforge.text.parse import from_json

WINDOW_SECONDS = 600.0
DEATHS = 2
PROBE_SECONDS = 20.0
"""For each file; one that takes longer is busy or large, and no culprit."""


def observe(container: Container, folder: Path, now: float | None = None) -> tuple[str, ...]:
    """Count the deaths of the server; at the second within ten minutes, look for the file.

    Args:
        container: As Podman knows it now.
        folder: The ZIM folder.
        now: Seconds since 1970; this moment when not given.

    Returns:
        The files that are excluded from now on; most often none.
    """
    moment = time.time() if now is None else now
    state = _read()
    # Podman 5 does not bring back a server whose port is still held: then it has ended, and the
    # next container starts its count at zero.
    count = max(container.restarts, int(container.status in ("exited", "stopped")))
    seen = state.get("container")
    same = isinstance(seen, dict) and seen.get("id") == container.id
    known = seen.get("deaths", 0) if isinstance(seen, dict) and same else 0
    if same and count == known:
        return ()
    new = max(0, count - known) if isinstance(known, int) else 0
    before = [t for t in state.get("recent", ()) if isinstance(t, int | float)]
    recent = [t for t in before if 0 <= moment - t < WINDOW_SECONDS] + [moment] * min(new, DEATHS)
    state = {**state, "container": {"id": container.id, "deaths": count}, "recent": recent}
    if len(recent) < DEATHS:
        _write(state)
        return ()
    # Written first: should the search be ended, the next look does not begin it again.
    _write({**state, "recent": []})
    return exclude_culprits(folder, container.files)


def exclude_culprits(folder: Path, files: Sequence[str]) -> tuple[str, ...]:
    """Search and read each file in a child process; those that cannot be are excluded."""
    found = {}
    for file in files:
        try:
            status = (folder / file).stat()
        except OSError:
            continue
        reason = _fault(folder / file)
        if reason:
            found[file] = {
                "size": status.st_size,
                "modified": status.st_mtime_ns,
                "reason": reason,
            }
    if found:
        state = _read()
        _write({**state, "excluded": {**_excluded(state), **found}})
    return tuple(found)


def excluded_reason(file: str, size: int, modified: int) -> str:
    """Why a file is not served; empty when it is, or was replaced since.

    Args:
        file: Its name.
        size: Bytes.
        modified: Time of the last change, in nanoseconds.
    """
    entry = _excluded(_read()).get(file)
    if not isinstance(entry, dict) or (entry.get("size"), entry.get("modified")) != (
        size,
        modified,
    ):
        return ""
    return f"kiwix-serve ended twice within ten minutes, and {entry.get('reason')}"


def any_excluded() -> bool:
    """Whether any file was ever excluded."""
    return bool(_excluded(_read()))


def _fault(path: Path) -> str:
    """What is wrong with a file that a child searches and reads; empty when nothing is known."""
    from infoforge.zimreader.process import ZimError, ZimFile, ZimTimeout

    try:
        ZimFile(path, seconds=PROBE_SECONDS).probe(PROBE_SECONDS)
    except ZimTimeout:
        return ""
    except ZimError as error:
        return str(error)
    return ""


def _state_file() -> Path:
    return state_folder() / "crashes.json"


def _read() -> dict[str, Any]:
    with suppress(OSError, ValueError):
        known = from_json(_state_file().read_text("utf-8"))
        return known if isinstance(known, dict) else {}
    return {}


def _excluded(state: dict[str, Any]) -> dict[str, Any]:
    found = state.get("excluded")
    return found if isinstance(found, dict) else {}


def _write(state: dict[str, Any]) -> None:
    """Keep the state; on a full disk the deaths are counted from the next look on."""
    with suppress(OSError):
        _state_file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(_state_file(), json.dumps(state), mode=0o600)
