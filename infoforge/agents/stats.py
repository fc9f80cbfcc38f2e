"""Counts and latencies of what was asked; the questions themselves only when the admin says so."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from infoforge.config.locate import state_folder
from infoforge.contract import STATUS_BY_EXIT
from infoforge.files import lock
from infoforge.text.parse import from_json

LARGEST = 1_000_000
"""Bytes of the file; beyond it the older half goes."""
_LONGEST = 500
_SHOWN = 20


def stats_file() -> Path:
    """Where the records are, one a line."""
    return state_folder() / "stats.jsonl"


def record(command: str, exit_code: int, seconds: float, question: str = "") -> None:
    """Keep one run. It never fails: an answer does not hang on its being counted.

    Args:
        command: ``ask``, ``search`` …
        exit_code: How it ended.
        seconds: Wall time.
        question: What was asked; empty unless ``log.questions`` is on.
    """
    row: dict[str, Any] = {
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": command,
        "exit_code": exit_code,
        "milliseconds": round(seconds * 1000, 1),
    }
    if question:
        row["question"] = question[:_LONGEST]
    line = json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    with suppress(OSError):
        path = stats_file()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            lock(file)
            if os.fstat(descriptor).st_size > LARGEST:
                _halve(descriptor)
            file.write(line)


def _halve(descriptor: int) -> None:
    """Let the older half go; a first line says how many went."""
    rows = os.pread(descriptor, 2 * LARGEST, 0).splitlines(keepends=True)
    gone = 0
    with suppress(ValueError, KeyError, TypeError, IndexError):
        gone = int(from_json(rows[0])["dropped"])
        del rows[0]
    half = len(rows) // 2
    head = json.dumps({"dropped": gone + half}).encode() + b"\n"
    os.ftruncate(descriptor, 0)
    os.write(descriptor, head + b"".join(rows[half:]))


def summary(*, questions_logged: bool) -> dict[str, Any]:
    """``data`` of ``stats``.

    Args:
        questions_logged: ``log.questions``; without it no question is shown, whatever was kept.
    """
    path = stats_file()
    dropped, rows = _read(path)
    times: dict[str, list[float]] = {}
    for row in rows:
        times.setdefault(row["command"], []).append(row["milliseconds"])
    asked = [row for row in reversed(rows) if row.get("question")] if questions_logged else []
    return {
        "file": str(path),
        "since": rows[0]["time"] if rows else None,
        "runs": len(rows),
        "dropped": dropped,
        "by_command": dict(sorted(Counter(row["command"] for row in rows).items())),
        "by_status": dict(
            sorted(Counter(STATUS_BY_EXIT.get(r["exit_code"], "failed") for r in rows).items())
        ),
        "milliseconds": {name: _spread(times[name]) for name in sorted(times)},
        "questions_logged": questions_logged,
        "questions": asked[:_SHOWN],
    }


def _read(path: Path) -> tuple[int, list[dict[str, Any]]]:
    """How many records went, and those that are left; what is no record is passed over."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return 0, []
    dropped, rows = 0, []
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            row = from_json(line)
            if "dropped" in row:
                dropped = int(row["dropped"])
                continue
            rows.append(
                {
                    "time": str(row["time"]),
                    "command": str(row["command"]),
                    "exit_code": int(row["exit_code"]),
                    "milliseconds": float(row["milliseconds"]),
                    **({"question": str(row["question"])} if "question" in row else {}),
                }
            )
    return dropped, rows


def _spread(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return {"p50": at(0.5), "p95": at(0.95), "most": ordered[-1]}
