"""The terminal view of an evaluation, of a comparison and of an explanation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infoforge.cli.console import table
from infoforge.text.display import line, shown

Row = Mapping[str, Any]

_MISSES = 10
_NAMES = {
    "min_hit1": "hit@1 at least",
    "min_hit3": "hit@3 at least",
    "min_hit5": "hit@5 at least",
    "min_answer": "answer in context at least",
    "max_empty": "nothing found at most",
    "min_empty": "nothing found at least",
}


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def check(row: Row) -> str:
    """A threshold in one line."""
    word = "met" if row["passed"] else "missed"
    return f"{_NAMES[row['name']]} {row['wanted']:g} %: {_share(row['value'])} ({word})"


def report(data: Row) -> str:
    """The figures of an evaluation, and its first misses."""
    data = shown(data)
    figures = data["summary"]
    corpora = ", ".join(f"{c['name']} ({c['kind']})" for c in data["run"]["corpora"])
    blocks = [
        f"{figures['questions']} questions on {corpora}",
        _languages(figures, data["by_language"]),
        _costs(figures),
    ]
    if figures["answers"] is not None:
        blocks.append(_answers(figures["answers"]))
    misses = [row for row in data["questions"] if row["why"] is not None]
    if misses:
        blocks.append(_misses(misses))
    if data["checks"]:
        blocks.append("\n".join(check(row) for row in data["checks"]))
    return "\n\n".join(blocks)


def _languages(figures: Row, groups: Mapping[str, Row]) -> str:
    rows = [
        [
            "",
            "questions",
            "hit@1",
            "hit@3",
            "hit@5",
            "empty",
            "answer",
            "@ chars",
            "p50 ms",
            "p95 ms",
        ]
    ]
    shown = list(groups.items()) if len(groups) > 1 else []
    for name, own in [*shown, ("all", figures)]:
        total = own["milliseconds"].get("total", {"p50": 0.0, "p95": 0.0})
        rows.append(
            [
                name,
                str(own["questions"]),
                *(_share(own[k]) for k in ("hit1", "hit3", "hit5", "empty", "answer_in_context")),
                str(own["characters"]),
                f"{total['p50']:.1f}",
                f"{total['p95']:.1f}",
            ]
        )
    return table(rows)


def _costs(figures: Row) -> str:
    lines = [
        f"a question: {figures['requests']['median']:g} requests (most "
        f"{figures['requests']['most']:g}), {figures['searches']['median']:g} full-text searches "
        f"(most {figures['searches']['most']:g}); medians",
        "time by stage, p50 / p95 ms: "
        + ", ".join(
            f"{stage} {t['p50']:.1f} / {t['p95']:.1f}"
            for stage, t in figures["milliseconds"].items()
        ),
    ]
    if figures["refused"]:
        lines.append(f"rejected by the relevance filter: {figures['refused']:.1f} %")
    if figures["failed"] or figures["partial"]:
        lines.append(f"failed: {figures['failed']}, cut short: {figures['partial']}")
    if figures["warnings"]:
        told = ", ".join(f"{code} {count}" for code, count in figures["warnings"].items())
        lines.append(f"warnings: {told}")
    return "\n".join(lines)


def _answers(answers: Row) -> str:
    rows = [
        [
            "answers",
            "exact",
            "F1",
            "holds it",
            "cited",
            "right source",
            "grounded",
            "unsupported",
            "refusals",
        ],
        [
            str(answers["asked"] - answers["failed"]),
            *(
                _share(answers[key])
                for key in (
                    "exact",
                    "f1",
                    "holds",
                    "cited",
                    "right_source",
                    "grounded",
                    "unsupported",
                    "refusals",
                )
            ),
        ],
    ]
    note = f"\nno answer from the model: {answers['failed']}" if answers["failed"] else ""
    return table(rows) + note


def _misses(misses: Sequence[Row]) -> str:
    lines = [f"misses: {len(misses)} (--html or --json has them all, with what was tried)"]
    for row in misses[:_MISSES]:
        why = row["why"]
        told = "; ".join(text for text in (why["article"], why["answer"]) if text)
        lines.append(f"  {line(row['question'])}")
        lines.append(f"    {line(told or 'nothing found')}")
    return "\n".join(lines)


def comparison(changes: Row) -> str:
    """What changed between two runs."""
    changes = shown(changes)
    lines = [f"{changes['common']} questions in both"]
    if changes["only_before"] or changes["only_after"]:
        lines[0] += f" ({changes['only_before']} only in A, {changes['only_after']} only in B)"
    rows = [["", "questions", "A", "B", "lost", "won", "p", ""]]
    for name, own in changes["measures"].items():
        rows.append(
            [
                name.replace("_", " "),
                str(own["questions"]),
                _share(own["before"]),
                _share(own["after"]),
                str(own["lost"]),
                str(own["won"]),
                f"{own['p']:.4f}",
                "more than chance" if own["more_than_chance"] else "may be chance",
            ]
        )
    blocks = [lines[0], table(rows)]
    if changes["changed"]:
        told = []
        for row in changes["changed"]:
            marks = [f"-{m}" for m in row["lost"]] + [f"+{m}" for m in row["won"]]
            told.append(f"  {line(row['question'])}  [{' '.join(marks)}]")
            first = f"    {row['first_before'] or 'nothing'} -> {row['first_after'] or 'nothing'}"
            told.append(line(first))
        blocks.append("\n".join([f"changed: {len(changes['changed'])}", *told]))
    else:
        blocks.append("no question changed")
    return "\n\n".join(blocks)


def explanation(view: Row) -> str:
    """One page of why."""
    view = shown(view)
    how = "as given" if view["language_given"] else "detected"
    head = [
        f"question: {line(view['question'])}",
        f"language: {view['language'] or 'unknown'} ({how})"
        + (f"; it asks for a {view['expects']}" if view["expects"] else ""),
    ]
    head += [
        f"corpus: {c['name']} ({c['kind']}, {c['articles']:,} articles, "
        f"{', '.join(c['languages']) or 'language unknown'}"
        f"{'' if c['fulltext'] else ', no full text'})"
        for c in view["corpora"]
    ]
    blocks = ["\n".join(head), _terms(view), _searches(view), _candidates(view), _kept(view)]
    times = ", ".join(f"{stage} {value:.1f}" for stage, value in view["milliseconds"].items())
    blocks.append(f"time in ms: {times}; {view['requests']} requests")
    if view["partial"]:
        blocks.append("the time ran out, or a corpus failed, before all was lookup at")
    return "\n\n".join(blocks)


def _terms(view: Row) -> str:
    rows = [["keyword", "rarity", "kind", "stem", "searches with it"]]
    for term in view["terms"]:
        kind = term["kind"] + (", a name" if term["name"] else "")
        kind += "" if term["listed"] else ", in no list"
        rows.append(
            [
                line(term["text"]),
                f"{term['weight']:.1f}",
                kind,
                term["stem"],
                str(term["searched"]),
            ]
        )
    lines = [table(rows)]
    if view["let_go"]:
        lines.append("let go:")
        lines += [f"  {line(row['word'])}: {row['why']}" for row in view["let_go"]]
    return "\n".join(lines)


def _searches(view: Row) -> str:
    rows = [["request", "hits", "ms", "query"]]
    rows += [
        [call["kind"], str(call["hits"]), f"{call['milliseconds']:.1f}", line(call["query"])]
        for call in view["searches"]
    ]
    return table(rows)


def _candidates(view: Row) -> str:
    if not view["candidates"]:
        return "no article was read"
    lines = ["articles read, best first:"]
    for item in view["candidates"]:
        word = f"refused: {item['refused']}" if item["refused"] else "a source"
        lines.append(f"  {item['score']:.3f}  {line(item['title'])} ({item['corpus']}): {word}")
        parts = ", ".join(f"{name} {value:+.2f}" for name, value in item["parts"].items())
        lines.append(f"         {parts}")
        by = "; ".join(item["found_by"][:3]) or "a link of a disambiguation page"
        lines.append(f"         found by {line(by)}")
    return "\n".join(lines)


def _kept(view: Row) -> str:
    if not view["passages"]:
        return "nothing passed the relevance filter: ask would exit with code 3"
    lines = [
        f"passages, at most {view['budget']['sources']} in "
        f"{view['budget']['characters']:,} characters:"
    ]
    for passage in view["passages"]:
        lines.append(
            f"  [{passage['number']}] {line(passage['title'])}: {passage['characters']:,} of "
            f"{passage['of']:,} characters"
        )
        for piece in passage["kept"]:
            section = line(piece["section"]) or "the lead"
            lines.append(f"      {piece['start']:,}-{piece['end']:,} of {section}")
    return "\n".join(lines)
