"""From the rows of a run to its figures."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

HITS = (1, 3, 5)
STAGES = ("candidates", "reading", "ranking", "trim", "total")


def percent(values: Sequence[bool]) -> float | None:
    """Share of true ones in percent; None of nothing."""
    return round(100 * sum(values) / len(values), 2) if values else None


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest-rank percentile of values that need not be sorted; 0 of nothing."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures of some rows. Shares are percent, times milliseconds, means a question."""
    count = len(rows)
    titled = [row for row in rows if row["rank"] is not None]
    answered = [row for row in rows if row["in_context"] is not None]
    hits: dict[str, Any] = {
        f"hit{most}": percent([0 < row["rank"] <= most for row in titled]) for most in HITS
    }
    stages = [s for s in STAGES if any(s in row["seconds"] for row in rows)]
    stages += sorted({s for row in rows for s in row["seconds"]} - set(stages))
    times = {
        stage: {
            "p50": round(percentile(taken, 0.50) * 1000, 2),
            "p95": round(percentile(taken, 0.95) * 1000, 2),
        }
        for stage in stages
        if (taken := [row["seconds"][stage] for row in rows if stage in row["seconds"]])
    }
    warned = Counter(code for row in rows for code in row["warnings"])
    return {
        "questions": count,
        "with_title": len(titled),
        "with_answers": len(answered),
        **hits,
        "empty": percent([row["empty"] for row in rows]),
        "refused": percent([row["empty"] and row["refused"] > 0 for row in rows]),
        "failed": sum(bool(row["failed"]) for row in rows),
        "partial": sum(row["partial"] for row in rows),
        "answer_in_context": percent([row["in_context"] for row in answered]),
        "characters": int(statistics.median(r["characters"] for r in rows)) if rows else 0,
        "requests": _spread([row["requests"] for row in rows]),
        "searches": _spread([row["searches"] for row in rows]),
        "warnings": dict(sorted(warned.items())),
        "milliseconds": times,
        "answers": _answers(rows),
    }


def _spread(values: Sequence[int]) -> dict[str, float]:
    if not values:
        return {"mean": 0.0, "median": 0.0, "most": 0.0}
    return {
        "mean": round(statistics.fmean(values), 2),
        "median": float(statistics.median(values)),
        "most": float(max(values)),
    }


def _answers(rows: Sequence[Row]) -> dict[str, Any] | None:
    """The figures of the model's answers; None when it was not asked."""
    given = [row["answer"] for row in rows if row["answer"] is not None]
    if not given:
        return None
    made = [answer for answer in given if not answer["error"]]
    judged = [answer for answer in made if answer["exact"] is not None]
    f1 = [answer["f1"] for answer in judged]
    taken = [answer["seconds"] for answer in made]
    right = [answer["right_source"] for answer in made if answer["right_source"] is not None]
    return {
        "asked": len(given),
        "failed": len(given) - len(made),
        "exact": percent([answer["exact"] for answer in judged]),
        "f1": round(100 * statistics.fmean(f1), 2) if f1 else None,
        "holds": percent([answer["holds"] for answer in judged]),
        "cited": percent([answer["cited"] > 0 for answer in made]),
        "right_source": percent(right),
        "grounded": percent([answer["grounded"] for answer in made]),
        "unsupported": percent([bool(answer["unsupported"]) for answer in made]),
        "refusals": percent([answer["refusal"] for answer in made]),
        "p50": round(percentile(taken, 0.50), 2),
        "p95": round(percentile(taken, 0.95), 2),
    }


def by_language(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """The figures of each language: the file's word for it, else the detected one."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["language"] or row["detected"] or "unknown", []).append(row)
    return {language: summary(groups[language]) for language in sorted(groups)}


def recall(rows: Sequence[Row], most: int) -> list[float]:
    """hit@1 to hit@most in percent."""
    titled = [row for row in rows if row["rank"] is not None]
    return [percent([0 < row["rank"] <= k for row in titled]) or 0.0 for k in range(1, most + 1)]


def curve(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Median characters and answer in context (percent) for each budget that was tried."""
    points: dict[int, list[tuple[int, int]]] = {}
    for row in rows:
        for budget, used, held in row["curve"]:
            points.setdefault(budget, []).append((used, held))
    return [
        (
            float(statistics.median(used for used, _ in tried)),
            100 * statistics.fmean(held for _, held in tried),
        )
        for _, tried in sorted(points.items())
    ]


CHECKS = {
    # option: (key of the summary, whether more is better)
    "min_hit1": ("hit1", True),
    "min_hit3": ("hit3", True),
    "min_hit5": ("hit5", True),
    "min_answer": ("answer_in_context", True),
    "max_empty": ("empty", False),
    "min_empty": ("empty", True),
}


def checks(figures: Mapping[str, Any], wanted: Mapping[str, float | None]) -> list[dict[str, Any]]:
    """Thresholds held against the figures.

    Args:
        figures: A summary.
        wanted: Threshold by its name in `CHECKS`; None for one that was not given.

    Returns:
        ``name``, ``wanted``, ``value`` and ``passed`` of each. A figure that could not be measured
        does not pass.
    """
    found = []
    for name, (key, more) in CHECKS.items():
        limit = wanted.get(name)
        if limit is None:
            continue
        value = figures[key]
        passed = value is not None and (value >= limit if more else value <= limit)
        found.append({"name": name, "wanted": limit, "value": value, "passed": passed})
    return found
