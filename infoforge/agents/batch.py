"""Many questions from a file: answered in order, several at once, and resumed after a stop."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoforge.contract import (
    EXIT_FAILED,
    EXIT_NO_ENDPOINT,
    CheckFailed,
    CorpusUnavailable,
    InfoForgeError,
    NoEndpoint,
    UsageError,
    Warn,
    WarningMessage,
)
from infoforge.text.display import to_json
from infoforge.text.mask import mask_document
from infoforge.text.parse import from_json

GIVE_UP = 3
"""Questions in a row that find everything down, after which the batch stops."""

_DOWN = (EXIT_FAILED, EXIT_NO_ENDPOINT)

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """A question of the batch, with the name that its answer will carry."""

    id: str
    question: str


def read_questions(file: Path) -> tuple[Line, ...]:
    """The questions of a file: a JSON object (``question``, ``id``) or a JSON string a line.

    Raises:
        UsageError: It cannot be read, a line is neither, or an id stands twice.
    """
    try:
        rows = file.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _bad(f"cannot read {file}: {getattr(error, 'strerror', '') or error}") from error
    lines = []
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        if not row.strip():
            continue
        line = _line(row, number, file)
        if line.id in seen:
            raise _bad(f"{file}:{number}: the id {line.id} stands twice")
        seen.add(line.id)
        lines.append(line)
    return tuple(lines)


def _line(row: str, number: int, file: Path) -> Line:
    try:
        found = from_json(row)
    except ValueError as error:
        raise _bad(f"{file}:{number}: not JSON: {error}") from error
    if isinstance(found, str):
        found = {"question": found}
    question = found.get("question") if isinstance(found, dict) else None
    if not isinstance(question, str):
        raise _bad(f"{file}:{number}: no question")
    return Line(str(found.get("id", number)), question)


def _bad(message: str) -> UsageError:
    hint = 'a line a question: {"id": "1", "question": "Who wrote Kokoro?"}'
    return UsageError(message, hint, code="batch_file")


def answered(output: Path, lines: Sequence[Line], warn: Warn) -> list[Document]:
    """The answers of an earlier run; a line that was torn by a power cut is cut off the file.

    Raises:
        UsageError: The file holds the answers of other questions.
    """
    try:
        data = output.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _bad(f"cannot read {output}: {error.strerror}") from error
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        warn(WarningMessage("batch_torn", f"{output}: the last line was half written: asked again"))
        os.truncate(output, len(whole))
    found: list[Document] = []
    try:
        found = [from_json(row) for row in whole.decode("utf-8").split("\n") if row]
        ids = [document["id"] for document in found]
    except (ValueError, KeyError, TypeError):
        ids = [""]
    if ids != [line.id for line in lines[: len(ids)]]:
        raise UsageError(
            f"{output} holds the answers of other questions",
            "give another file with --output, or remove it",
            code="batch_file",
        )
    return found


def run(
    lines: Sequence[Line],
    output: Path,
    answer: Callable[[str], Document],
    *,
    jobs: int,
    warn: Warn,
    progress: Callable[[int], None] = lambda done: None,
) -> Document:
    """Answer the questions that have no answer yet.

    Args:
        lines: The questions.
        output: Takes one document a line, in the order of the questions, each safe on disk before
            the next begins.
        answer: Gives the envelope of one question; never raises.
        jobs: Questions in work at once.
        warn: Takes warnings.
        progress: Told how many are done with each one.

    Returns:
        ``questions``, ``answered``, ``resumed``, ``statuses`` and ``seconds``.

    Raises:
        UsageError: The output is of another batch.
        NoEndpoint: The model went away, or was never there.
        CorpusUnavailable: The corpora did.
    """
    begun = time.monotonic()
    before = answered(output, lines, warn)
    statuses = Counter(str(document.get("status")) for document in before)
    left = lines[len(before) :]
    done = 0
    progress(len(before))
    waiting: list[Document] = []  # of questions that found everything down
    try:
        out = output.open("ab")
    except OSError as error:
        raise CheckFailed(f"cannot write {output}: {error.strerror}", "give --output") from error
    with out:
        for document in _in_order(left, answer, jobs):
            waiting.append(document)
            if document["exit_code"] in _DOWN:
                if len(waiting) >= GIVE_UP:
                    # Not written: the same command asks them again when things are up.
                    raise _down(document, len(before) + done, len(lines))
                continue
            for item in waiting:
                out.write(to_json(mask_document(item)).encode() + b"\n")
                statuses[item["status"]] += 1
            out.flush()
            os.fsync(out.fileno())
            done += len(waiting)
            waiting.clear()
            progress(len(before) + done)
        if waiting:
            raise _down(waiting[-1], len(before) + done, len(lines))
    return {
        "questions": len(lines),
        "answered": done,
        "resumed": len(before),
        "statuses": dict(sorted(statuses.items())),
        "seconds": round(time.monotonic() - begun, 2),
    }


def _down(document: Document, done: int, total: int) -> InfoForgeError:
    error = document["errors"][0]
    kind = NoEndpoint if document["exit_code"] == EXIT_NO_ENDPOINT else CorpusUnavailable
    return kind(
        f"the batch stopped after {done} of {total} questions: {error['message']}",
        f"{error['hint']}; then the same command goes on from there".lstrip("; "),
        code=error["code"],
    )


def _in_order(
    lines: Sequence[Line], answer: Callable[[str], Document], jobs: int
) -> Iterator[Document]:
    """The documents in the order of the questions, a few of them made ahead.

    The threads are daemons: a model server that hangs must not hold up a Ctrl-C.
    """
    asked: queue.SimpleQueue[tuple[Line, queue.SimpleQueue[Document]] | None] = queue.SimpleQueue()

    def work() -> None:
        while (item := asked.get()) is not None:
            line, reply = item
            reply.put({"id": line.id, **answer(line.question)})

    for _ in range(jobs):
        threading.Thread(target=work, name="infoforge batch", daemon=True).start()
    replies: list[queue.SimpleQueue[Document]] = []
    ahead = 0
    try:
        for _ in lines:
            while ahead < len(lines) and len(replies) < 2 * jobs:
                reply: queue.SimpleQueue[Document] = queue.SimpleQueue()
                asked.put((lines[ahead], reply))
                replies.append(reply)
                ahead += 1
            yield replies.pop(0).get()
    finally:
        for _ in range(jobs):
            asked.put(None)
