"""Results written as they come, so that a long run that was cut off goes on where it stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infoforge.contract import UsageError
from infoforge.text.parse import from_json

_VERSION = 1


class Journal:
    """A JSONL file: what the run is, then a row a question.

    Args:
        path: The file; made when it is not there.
        plan: What must be the same for rows to be comparable (questions, corpora, options).

    Attributes:
        rows: Rows by the question's id.

    Raises:
        UsageError: The file belongs to another run or cannot be written.
    """

    def __init__(self, path: Path, plan: Mapping[str, Any]) -> None:
        self.path = path
        self.rows: dict[str, dict[str, Any]] = {}
        head = json.loads(json.dumps({"infoforge_eval": _VERSION, "plan": dict(plan)}))
        try:
            content = path.read_bytes() if path.exists() else b""
            if content.strip():
                self._take(content, head)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._append(head)
        except OSError as error:
            raise UsageError(
                f"cannot use {path} to resume: {error.strerror}", "give another file"
            ) from error

    def add(self, row: dict[str, Any]) -> None:
        """Keep a row; it is on disk when this returns."""
        self.rows[row["id"]] = row
        try:
            self._append(row)
        except OSError as error:
            raise UsageError(
                f"cannot write {self.path}: {error.strerror}", "make room, then rerun"
            ) from error

    def _take(self, content: bytes, head: dict[str, Any]) -> None:
        lines = content.split(b"\n")
        # A last line without its end was cut off while it was being written.
        whole, torn = lines[:-1], lines[-1]
        try:
            rows = [from_json(line) for line in whole if line.strip()]
            own = rows[0] if rows and isinstance(rows[0], dict) else {}
        except ValueError:
            own = {}
        if own.get("infoforge_eval") != _VERSION:
            raise UsageError(f"{self.path} is no file of eval --resume", "give another file")
        if own != head:
            differ = [
                name
                for name in sorted({*own["plan"], *head["plan"]})
                if own["plan"].get(name) != head["plan"].get(name)
            ]
            raise UsageError(
                f"{self.path} belongs to another run (different: {', '.join(differ)})",
                "give another file, or the same options",
            )
        self.rows = {row["id"]: row for row in rows[1:]}
        if torn:
            with self.path.open("r+b") as file:
                file.truncate(len(content) - len(torn))

    def _append(self, row: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
