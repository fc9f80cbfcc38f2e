"""One writer a folder: a lock that says who holds it and vanishes with its holder."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from infoforge.contract import CheckFailed, Warn, WarningMessage
from infoforge.files import lock
from infoforge.text.parse import from_json
from infoforge.zims.events import Event, Report

LOCK_FILE = ".infoforge.lock"


@contextmanager
def folder_lock(
    folder: Path, command: str, *, wait: float, report: Report, warn: Warn
) -> Iterator[None]:
    """Hold the folder for one writer.

    The kernel drops the lock when the process ends, however it ends; the file's text only says who
    has it and is never trusted to mean that somebody has.

    Args:
        folder: The ZIM folder; made when it is not there.
        command: What is being done, shown to the second process.
        wait: Seconds to wait for another holder; 0 refuses at once.
        report: Told once when waiting begins.
        warn: Told when the file system knows no locks.

    Raises:
        CheckFailed: Somebody else holds it (who, since when), or the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise CheckFailed(
            f"cannot write in {folder}: {error.strerror}",
            "check the folder's owner and mode, or name another one with --folder",
            code="folder",
        ) from error
    try:
        _acquire(handle, folder, wait, report, warn)
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(_self(command)).encode() + b"\n", 0)
        yield
    finally:
        os.close(handle)


def _acquire(handle: int, folder: Path, wait: float, report: Report, warn: Warn) -> None:
    def waiting() -> None:
        report(Event("wait", "", message=f"waiting for {_holder(handle)}"))

    try:
        lock(handle, wait=wait, on_wait=waiting)
    except BlockingIOError:
        raise CheckFailed(
            f"{folder} is in use by {_holder(handle)}",
            "wait for it, or let this command wait with --wait 3600",
            code="locked",
        ) from None
    except OSError as error:
        warn(
            WarningMessage(
                "no_lock",
                f"the file system of {folder} has no locks ({error.strerror}): "
                "run one command at a time",
            )
        )


def _self(command: str) -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "command": command,
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _holder(handle: int) -> str:
    """Who holds the lock, as the file says."""
    try:
        who = from_json(os.pread(handle, 4096, 0))
        return f"'{who['command']}' (process {who['pid']} on {who['host']}, since {who['since']})"
    except (ValueError, KeyError, TypeError):
        return "another process"
