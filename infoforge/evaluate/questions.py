"""The questions of an evaluation, read from a JSONL file."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoforge.contract import InfoForgeError, UsageError
from infoforge.text.parse import from_json

_HINT = 'one JSON object a line: {"question": "...", "title": "...", "answers": ["..."]}'


@dataclass(frozen=True, slots=True)
class Question:
    """One question with what is known of its answer.

    Attributes:
        id: Unique in its file.
        text: The question.
        titles: Titles of the articles that answer it, any of which is right; empty when unknown.
        answers: Answers as they stand in the article, any of which is right; empty when unknown.
        language: What the file says; empty when it says nothing.
    """

    id: str
    text: str
    titles: tuple[str, ...]
    answers: tuple[str, ...]
    language: str


def load(path: Path) -> list[Question]:
    """Read a file of questions.

    Args:
        path: JSONL in UTF-8; ``question`` is needed, ``id``, ``title`` (one or a list),
            ``answers`` and ``lang`` are not, and other keys are left alone.

    Raises:
        UsageError: The file cannot be read, or a line of it is no question.
    """
    from infoforge.ask import clean_question

    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # no UTF-8, or no path
        reason = getattr(error, "strerror", "") or "it is not UTF-8"
        raise UsageError(f"cannot read the questions {path}: {reason}", _HINT) from error
    found: list[Question] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = from_json(line)
        except ValueError as error:
            raise UsageError(f"{where} is no JSON: {error}", _HINT) from error
        if not isinstance(row, dict) or not isinstance(row.get("question"), str):
            raise UsageError(f"{where} has no question", _HINT)
        try:
            asked = clean_question(row["question"])
        except InfoForgeError as error:
            raise UsageError(f"{where}: the question is empty", _HINT) from error
        found.append(
            Question(
                id=str(row.get("id") or number),
                text=asked,
                titles=_strings(row.get("title"), "title", where),
                answers=_strings(row.get("answers"), "answers", where),
                language=str(row.get("lang") or ""),
            )
        )
    if not found:
        raise UsageError(f"no question in {path}", _HINT)
    seen: set[str] = set()
    for question in found:
        if question.id in seen:
            raise UsageError(f"{path}: two questions have the id {question.id}", "make ids unique")
        seen.add(question.id)
    return found


def _strings(value: Any, key: str, where: str) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    values = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(item, str) for item in values):
        raise UsageError(f"{where}: {key} is no string and no list of strings", _HINT)
    return tuple(item for item in values if item.strip())


def sample(questions: Sequence[Question], count: int, seed: int) -> list[Question]:
    """A seeded sample, in an order that the seed decides too; all of them when ``count`` is 0."""
    if not count or count >= len(questions):
        return list(questions)
    return random.Random(seed).sample(list(questions), count)  # noqa: S311 - a sample, no secret
