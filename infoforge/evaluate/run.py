"""A set of questions asked one by one; a row of plain data for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from infoforge.ask import Options
from infoforge.config.settings import Settings
from infoforge.contract import CorpusUnavailable, InfoForgeError
from infoforge.corpus.base import Corpus
from infoforge.evaluate import match, why
from infoforge.evaluate.answers import answer
from infoforge.evaluate.journal import Journal
from infoforge.evaluate.lookup import Gold, Lookup, RecordingCorpus, budget, look_up
from infoforge.evaluate.questions import Question
from infoforge.retrieval.passages import passages
from infoforge.retrieval.ranking import Ranked

RANKS = 10
"""Titles kept of each ranking."""
BUDGETS = (500, 1000, 1500, 2000, 2500, 3000, 4000, 6000, 8000, 12_000, 16_000)
"""Characters for which the HTML page plots how often the answer is in them."""
_GIVE_UP = 5
"""Questions in a row that could not be searched; then the corpora are taken to be down."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """How the questions are asked.

    Attributes:
        settings: The settings.
        options: As for ``ask``.
        answers: Whether the model is asked too.
        curve: Characters to which passages are also cut, to see how often the answer is in them.
    """

    settings: Settings
    options: Options
    answers: bool = False
    curve: tuple[int, ...] = ()


def run(
    questions: Sequence[Question],
    corpora: Sequence[Corpus],
    plan: EvalOptions,
    *,
    journal: Journal | None = None,
    progress: Callable[[], None] = lambda: None,
) -> list[Row]:
    """Ask the questions.

    Args:
        questions: The questions.
        corpora: Open corpora.
        plan: How they are asked.
        journal: Holds rows of an earlier run, and takes each new one.
        progress: Called after each question.

    Returns:
        A row for each question, in their order.

    Raises:
        CorpusUnavailable: Five questions in a row found nothing that could be searched.
        UsageError: The endpoint asked for is not configured.
    """
    recording = [RecordingCorpus(corpus) for corpus in corpora]
    gold = Gold(corpora)
    rows: list[Row] = []
    failing = 0
    for question in questions:
        row = journal.rows.get(question.id) if journal is not None else None
        if row is None:
            try:
                row = ask_one(question, recording, gold, plan)
                failing = 0
            except CorpusUnavailable as error:
                failing += 1
                if failing >= _GIVE_UP or failing == len(questions):
                    raise
                row = _failed(question, error)
            if journal is not None and not row["failed"]:
                journal.add(row)
            for corpus in recording:
                corpus.calls.clear()
        rows.append(row)
        progress()
    return rows


def ask_one(
    question: Question, corpora: Sequence[RecordingCorpus], gold: Gold, plan: EvalOptions
) -> Row:
    """Ask one question: a row of ``data.questions`` (data/schemas/eval.schema.json)."""
    lookup = look_up(question.text, corpora, plan.settings, plan.options)
    entries = frozenset(entry for title in question.titles for entry in gold.entries(title))
    entries |= {
        why.key(item)
        for item in (*lookup.found.ranked, *lookup.found.refused)
        if any(match.same_title(item.article.title, title) for title in question.titles)
    }
    row = _asked(question)
    context = "\n".join(source.text for source in lookup.sources)
    row |= {
        "detected": lookup.found.keywords.language,
        "rank": why.place(lookup.found.ranked, entries) if question.titles else None,
        "empty": not lookup.found.ranked,
        "refused": len(lookup.found.refused),
        "in_context": match.holds(context, question.answers) if question.answers else None,
        "characters": sum(len(source.text) for source in lookup.sources),
        "sources": len(lookup.sources),
        "requests": lookup.requests,
        "searches": sum(call.kind == "fulltext" for call in lookup.calls),
        "seconds": {stage: round(value, 5) for stage, value in lookup.seconds.items()},
        "warnings": [warning.code for warning in lookup.warnings],
        "partial": lookup.found.partial,
        "found": [_result(item) for item in lookup.found.ranked[:RANKS]],
        "why": _why(question, lookup, entries),
        "curve": _curve(question, lookup, plan) if plan.curve and question.answers else [],
        "answer": None,
    }
    if plan.answers and lookup.found.ranked:
        row["answer"] = answer(question, plan.settings, plan.options)
    return row


def _asked(question: Question) -> Row:
    return {
        "id": question.id,
        "language": question.language,
        "question": question.text,
        "titles": list(question.titles),
        "answers": list(question.answers),
        "failed": "",
    }


def _failed(question: Question, error: InfoForgeError) -> Row:
    return _asked(question) | {
        "detected": "",
        "rank": 0 if question.titles else None,
        "empty": False,
        "refused": 0,
        "in_context": False if question.answers else None,
        "characters": 0,
        "sources": 0,
        "requests": 0,
        "searches": 0,
        "seconds": {},
        "warnings": [],
        "partial": True,
        "found": [],
        "why": {"article": error.message, "answer": "", "tried": [], "refused": []},
        "curve": [],
        "answer": None,
        "failed": error.code,
    }


def _result(item: Ranked) -> Row:
    article = item.article
    return {
        "title": article.title,
        "corpus": article.corpus,
        "path": article.path,
        "score": round(item.scores.total, 4),
        "parts": why.parts(item),
    }


def _why(question: Question, lookup: Lookup, entries: why.Entries) -> Row | None:
    """What was tried and why it lost; None when all is as it should be."""
    article = why.lost(lookup, entries) if question.titles else ""
    passage = ""
    context = "\n".join(source.text for source in lookup.sources)
    if question.answers and not match.holds(context, question.answers):
        passage = why.missing(lookup, question.answers, entries) if question.titles else "not shown"
    if not (article or passage or not lookup.found.ranked):
        return None
    return {
        "article": article,
        "answer": passage,
        "tried": [
            {
                "corpus": call.corpus,
                "kind": call.kind,
                "query": call.query,
                "hits": call.total,
                "milliseconds": round(call.seconds * 1000, 1),
            }
            for call in lookup.calls
            if call.kind != "read"
        ],
        "refused": [
            {"title": item.article.title, "reason": why.refusal(lookup.found, item)}
            for item in lookup.found.refused[:RANKS]
        ],
    }


def _curve(question: Question, lookup: Lookup, plan: EvalOptions) -> list[list[int]]:
    """For each budget: the budget, the characters used, 1 if they hold the answer."""
    _, count = budget(plan.settings, plan.options)
    points = []
    for size in plan.curve:
        ranked = lookup.found.ranked
        sources = passages(ranked, lookup.found.keywords, size, count) if ranked else ()
        text = "\n".join(source.text for source in sources)
        used = sum(len(source.text) for source in sources)
        points.append([size, used, int(match.holds(text, question.answers))])
    return points
