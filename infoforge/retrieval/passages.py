"""From ranked articles to passages: each keeps its lead and what surrounds the rarest words.

The budget is shared by relevance: the article that fits best gets the most, since it holds the
answer nine times in ten (docs/retrieval.md). Inside an article, sentences compete by the question's
words that they and their neighbours hold; words that were shown already count less, so that a
question with two parts gets a passage for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infoforge.records import Source
from infoforge.retrieval.keywords import Keywords
from infoforge.retrieval.ranking import EXPECTED, Ranked, best_window
from infoforge.text.sentences import sentences

ANCHORED = 600
"""Characters in which the question's words are looked for, to say on which page they stand."""
LEAD_SHARE = 0.25
FALLOFF = 1.6
"""How steeply the budget falls with the score."""
LEAST = 240
"""Characters that the last source has at least."""
GAP = " … "
_SEEN = 0.35
_NEIGHBOUR = 0.45
_FOCUS = 0.5
"""What a sentence of the section that is closest in meaning is worth, as a share of all words."""
_CONTENDERS = 40
"""Sentences of one article that compete; the budget never holds more."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence: its place in the article's text, the line and the section it stands in."""

    start: int
    end: int
    line: int
    section: int


def passages(
    ranked: Sequence[Ranked], keywords: Keywords, budget: int, count: int = 5
) -> tuple[Source, ...]:
    """Trim articles to numbered passages.

    Args:
        ranked: Articles that passed the relevance filter, best first.
        keywords: The question's keywords.
        budget: Characters for all passages together.
        count: How many sources at most.

    Returns:
        The sources, numbered from 1; together no longer than the budget.
    """
    chosen = list(ranked[:count])
    found = []
    for number, (item, room) in enumerate(zip(chosen, shares(chosen, budget), strict=True), 1):
        article = item.article
        found.append(
            Source(
                number=number,
                title=article.title,
                url=article.url + _fragment(item, keywords),
                corpus=article.corpus,
                path=article.path,
                date=article.date,
                language=article.language,
                text=passage(item, keywords, room),
                score=round(item.scores.total, 4),
            )
        )
    return tuple(found)


def shares(ranked: Sequence[Ranked], budget: int) -> list[int]:
    """Characters for each article, by relevance; what a short one leaves goes to the others."""
    if not ranked:
        return []
    best = max(item.scores.total for item in ranked) or 1.0
    weights = [
        max(0.02, item.scores.total / best) ** FALLOFF * 0.62**place
        for place, item in enumerate(ranked)
    ]
    sizes = [max(1, len(item.text)) for item in ranked]
    least = min(LEAST, budget // len(ranked))
    rooms = [0] * len(ranked)
    open_places = set(range(len(ranked)))
    left = budget
    while open_places:
        mass = sum(weights[i] for i in open_places)
        full = [i for i in open_places if sizes[i] <= max(least, left * weights[i] / mass)]
        if not full:
            spare = left - least * len(open_places)
            for i in open_places:
                rooms[i] = least + int(spare * weights[i] / mass)
            break
        for i in full:
            rooms[i] = min(sizes[i], left)
            left -= rooms[i]
            open_places.discard(i)
    return rooms


def passage(item: Ranked, keywords: Keywords, room: int) -> str:
    """The part of one article that says most about the question.

    Args:
        item: The scored article.
        keywords: The question's keywords.
        room: Most characters.

    Returns:
        Whole sentences in the article's order; left-out stretches are marked, and a heading stands
        before text that is not under the one before.
    """
    if len(item.text) <= room:
        return _whole(item)[:room]
    units = _units(item)
    if not units:
        return item.text[:room]
    keep = _lead(units, int(room * LEAD_SHARE))
    spent = sum(units[i].end - units[i].start for i in keep)
    for index in _by_worth(item, keywords, units, keep):
        size = units[index].end - units[index].start + len(GAP)
        if spent + size <= room:
            keep.add(index)
            spent += size
        elif spent > room * 0.8:
            break
    if not keep:
        return _window(item, keywords, room)
    text = _joined(item, units, sorted(keep))
    if len(text) <= room:
        return text
    return _joined(item, units, sorted(keep), headings=False)[:room].rstrip()


def _fragment(item: Ranked, keywords: Keywords) -> str:
    """Where in the article most of the question's words stand, if it has anchors for that."""
    if not any(section.anchor for section in item.article.sections):
        return ""
    weights = [term.weight or 0.3 for term in keywords.terms]
    _, at = best_window(item.occurrences, weights, ANCHORED)
    anchor = item.article.sections[max(0, item.section(at))].anchor
    return f"#{anchor}" if anchor else ""


def _window(item: Ranked, keywords: Keywords, room: int) -> str:
    """Of a text whose sentences are all too long: what surrounds most of the question's words."""
    weights = [term.weight or 0.3 for term in keywords.terms]
    _, at = best_window(item.occurrences, weights, room * 3 // 4)
    begin = max(0, at - room // 8)
    text = item.text[begin : begin + room]
    if begin and (blank := text.find(" ", 0, room // 8)) >= 0:
        text = text[blank + 1 :]
    if begin + room < len(item.text) and (blank := text.rfind(" ")) > room // 2:
        text = text[:blank]
    return text.strip()


def _whole(item: Ranked) -> str:
    lines = []
    for section in item.article.sections:
        if section.heading:
            lines.append(f"[{section.heading}]")
        lines.append(section.text)
    text = "\n".join(lines)
    return text if len(text) <= len(item.text) else item.text


def _units(item: Ranked) -> list[_Unit]:
    """Sentences of the lines that matter: the lead, with the question's words, beside such."""
    lines: list[tuple[int, int]] = []
    at = 0
    for line in item.text.split("\n"):
        lines.append((at, at + len(line)))
        at += len(line) + 1
    wanted = set(range(min(4, len(lines))))
    focus = item.article.relevance.focus if item.article.relevance else ()
    for number, (start, _) in enumerate(lines):
        if focus and item.section(start) in focus:
            wanted.add(number)
    place = 0
    for occurrence in item.occurrences:
        while place + 1 < len(lines) and lines[place + 1][0] <= occurrence.start:
            place += 1
        wanted.update((place - 1, place, place + 1))
    units = []
    for number in sorted(wanted):
        if not 0 <= number < len(lines):
            continue
        start, end = lines[number]
        section = item.section(start)
        at = start
        for sentence in sentences(item.text[start:end]):
            begin = item.text.find(sentence, at, end)
            if begin < 0:
                continue
            end_of_sentence = begin + len(sentence)
            if at == start and item.text[start:begin].isspace():
                begin = start  # the indentation of code
            units.append(_Unit(begin, end_of_sentence, number, section))
            at = end_of_sentence
    return units


def _lead(units: Sequence[_Unit], room: int) -> set[int]:
    keep: set[int] = set()
    spent = 0
    for index, unit in enumerate(units):
        size = unit.end - unit.start
        if unit.section != 0 or (keep and spent + size > room):
            break
        if size > room * 2:
            break
        keep.add(index)
        spent += size
        if spent > room:
            break
    return keep


def _by_worth(
    item: Ranked, keywords: Keywords, units: Sequence[_Unit], shown: set[int]
) -> list[int]:
    """Sentences in the order in which they are worth their room."""
    weights = [term.weight or 0.3 for term in keywords.terms]
    held: list[dict[int, float]] = [{} for _ in units]
    place = 0
    for o in item.occurrences:
        while place + 1 < len(units) and units[place + 1].start <= o.start:
            place += 1
        if units[place].start <= o.start < units[place].end:
            held[place][o.term] = max(held[place].get(o.term, 0.0), o.share)
    pattern = EXPECTED.get(keywords.expects)
    bonus = 0.12 * sum(weights)
    extra = [
        bonus if pattern and held[i] and pattern.search(item.text, unit.start, unit.end) else 0.0
        for i, unit in enumerate(units)
    ]
    focus = item.article.relevance.focus if item.article.relevance else ()
    for i, unit in enumerate(units):
        if unit.section in focus:
            extra[i] += _FOCUS * sum(weights)
    seen: dict[int, float] = {}
    for index in shown:
        for term, share in held[index].items():
            seen[term] = max(seen.get(term, 0.0), share * 0.5)

    def own(index: int) -> float:
        return sum(
            weights[term] * share * (1.0 - _SEEN * seen.get(term, 0.0))
            for term, share in held[index].items()
        )

    def near(index: int, other: int) -> float:
        if not 0 <= other < len(units) or abs(units[index].line - units[other].line) > 1:
            return 0.0
        gain = 0.0
        for term, share in held[other].items():
            if term not in held[index]:
                gain += weights[term] * share
        return gain if units[index].line == units[other].line else gain * 0.6

    def context(index: int) -> float:
        around = max(near(index, index - 1), near(index, index + 1))
        further = 0.5 * max(near(index, index - 2), near(index, index + 2))
        return extra[index] + _NEIGHBOUR * max(around, further)

    # What surrounds a sentence does not change while sentences are picked; what it adds does.
    contexts = {i: context(i) for i in range(len(units)) if i not in shown}
    worth = {i: own(i) + contexts[i] for i in contexts}
    left = set(sorted(worth, key=lambda i: (-worth[i], i))[:_CONTENDERS])
    order: list[int] = []
    while left:
        best = max(left, key=lambda i: (round(worth[i], 9), -i))
        order.append(best)
        left.remove(best)
        for term, share in held[best].items():
            seen[term] = max(seen.get(term, 0.0), share)
        for index in left:
            if not held[best].keys().isdisjoint(held[index]):
                worth[index] = own(index) + contexts[index]
    return order


def _joined(
    item: Ranked, units: Sequence[_Unit], kept: Sequence[int], *, headings: bool = True
) -> str:
    parts: list[str] = []
    before: _Unit | None = None
    for index in kept:
        unit = units[index]
        text = item.text[unit.start : unit.end]
        heading = item.article.sections[unit.section].heading
        if before is None:
            parts.append(f"[{heading}] {text}" if heading and headings else text)
        elif unit.section != before.section:
            parts.append(f"\n[{heading}] {text}" if heading and headings else f"\n{text}")
        elif unit.line != before.line:
            between = item.text[before.end : unit.start]
            parts.append(f"{between}{text}" if between.isspace() else f"\n… {text}")
        elif unit.start - before.end <= 2:
            parts.append(f" {text}")
        else:
            parts.append(f"{GAP}{text}")
        before = unit
    return "".join(parts)
