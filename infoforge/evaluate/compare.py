"""Two runs of the same questions: what changed, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import comb
from pathlib import Path
from typing import Any

from infoforge.contract import UsageError
from infoforge.text.parse import from_json

Row = Mapping[str, Any]

ALPHA = 0.05
_HINT = "give two files that were written by infoforge eval --json"

MEASURES: dict[str, Callable[[Row], bool | None]] = {
    "hit1": lambda row: None if row["rank"] is None else row["rank"] == 1,
    "hit5": lambda row: None if row["rank"] is None else 0 < row["rank"] <= 5,
    "found": lambda row: not row["empty"],
    "answer_in_context": lambda row: row["in_context"],
    "answer_exact": lambda row: row["answer"]["exact"] if row["answer"] else None,
    "answer_holds": lambda row: row["answer"]["holds"] if row["answer"] else None,
}


def mcnemar(lost: int, won: int) -> float:
    """McNemar's exact test, two-sided.

    Only questions that changed count; were the change mere chance, each would be as likely
    to be lost as won (McNemar 1947; exact binomial form).

    Args:
        lost: Questions right before and wrong now.
        won: Questions wrong before and right now.

    Returns:
        How likely so uneven a split is by chance alone.
    """
    changed = lost + won
    tail = sum(comb(changed, k) for k in range(min(lost, won) + 1))
    return float(min(1.0, 2 * tail / 2**changed))


def load(path: Path) -> dict[str, Row]:
    """The rows of a report by id.

    Raises:
        UsageError: The file is no report.
    """
    try:
        document = from_json(path.read_text(encoding="utf-8"))
        rows = document["data"]["questions"]
        return {row["id"]: row for row in rows if row["question"] is not None}
    except OSError as error:
        raise UsageError(f"cannot read the report {path}: {error.strerror}", _HINT) from error
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is no report of eval", _HINT) from error


def compare(before: Mapping[str, Row], after: Mapping[str, Row]) -> dict[str, Any]:
    """Hold two runs against each other.

    Args:
        before: Rows by id.
        after: Rows by id.

    Returns:
        ``data`` of ``eval --compare`` (data/schemas/eval.schema.json).

    Raises:
        UsageError: They have no question in common.
    """
    common = [
        name
        for name in before
        if name in after and before[name]["question"] == after[name]["question"]
    ]
    if not common:
        raise UsageError("the two reports have no question in common", _HINT)
    measures: dict[str, Any] = {}
    changed: dict[str, dict[str, Any]] = {}
    for measure, value in MEASURES.items():
        pairs = [(name, value(before[name]), value(after[name])) for name in common]
        judged = [(name, a, b) for name, a, b in pairs if a is not None and b is not None]
        if not judged:
            continue
        lost = [name for name, a, b in judged if a and not b]
        won = [name for name, a, b in judged if b and not a]
        p = mcnemar(len(lost), len(won))
        measures[measure] = {
            "questions": len(judged),
            "before": round(100 * sum(bool(a) for _, a, _ in judged) / len(judged), 2),
            "after": round(100 * sum(bool(b) for _, _, b in judged) / len(judged), 2),
            "lost": len(lost),
            "won": len(won),
            "p": round(p, 6),
            "more_than_chance": p < ALPHA,
        }
        for kind, names in (("lost", lost), ("won", won)):
            for name in names:
                entry = changed.setdefault(name, _entry(before[name], after[name]))
                entry[kind].append(measure)
    return {
        "common": len(common),
        "only_before": len(before) - len(common),
        "only_after": len(after) - len(common),
        "measures": measures,
        "changed": list(changed.values()),
    }


def _entry(before: Row, after: Row) -> dict[str, Any]:
    return {
        "id": before["id"],
        "question": before["question"],
        "titles": list(before["titles"]),
        "first_before": _first(before["found"]),
        "first_after": _first(after["found"]),
        "lost": [],
        "won": [],
    }


def _first(found: Sequence[Row]) -> str:
    return str(found[0]["title"]) if found else ""
