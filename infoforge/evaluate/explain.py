"""One question explained: what was searched and found, why it was ranked and cut as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from infoforge.corpus.base import Corpus
from infoforge.evaluate import why
from infoforge.evaluate.lookup import Lookup, RecordingCorpus, budget, look_up

if TYPE_CHECKING:
    from infoforge.ask import Options
    from infoforge.config.settings import Settings
    from infoforge.records import Source
    from infoforge.retrieval.ranking import Ranked

_MARKS = re.compile(r"\n… | … |\n")
_HEADING = re.compile(r"^\[[^\]]*\] ?")
_JOIN = 2
"""Stretches with no more characters between them count as one."""


def explain(
    question: str, settings: Settings, options: Options, corpora: Sequence[Corpus]
) -> tuple[dict[str, Any], Lookup]:
    """Explain a question.

    Args:
        question: The question, cleaned.
        settings: The settings.
        options: As for ``ask``.
        corpora: Open corpora.

    Returns:
        ``data`` of ``explain`` (data/schemas/explain.schema.json), and what was found.

    Raises:
        CorpusUnavailable: Nothing could be searched.
    """
    recording = [RecordingCorpus(corpus) for corpus in corpora]
    lookup = look_up(question, recording, settings, options)
    found = lookup.found
    characters, count = budget(settings, options)
    everything = sorted((*found.ranked, *found.refused), key=lambda item: -item.scores.total)
    view = {
        "question": found.keywords.question,
        "language": found.keywords.language,
        "language_given": bool(options.language or settings.search.language),
        "expects": found.keywords.expects,
        "corpora": [
            {
                "name": info.name,
                "kind": info.kind,
                "languages": list(info.languages),
                "articles": info.articles,
                "fulltext": info.fulltext,
                "date": info.date,
            }
            for info in (corpus.describe() for corpus in corpora)
        ],
        "terms": [_term(term, lookup) for term in found.keywords.by_rarity()],
        "let_go": _let_go(lookup),
        "searches": [
            {
                "corpus": call.corpus,
                "kind": call.kind,
                "query": call.query,
                "hits": call.total,
                "first": list(call.paths[:3]),
                "milliseconds": round(call.seconds * 1000, 2),
            }
            for call in lookup.calls
        ],
        "requests": lookup.requests,
        "candidates": [_candidate(item, lookup) for item in everything],
        "budget": {"characters": characters, "sources": count},
        "passages": [_passage(source, lookup) for source in lookup.sources],
        "milliseconds": {s: round(value * 1000, 2) for s, value in lookup.seconds.items()},
        "partial": found.partial,
    }
    return view, lookup


def _term(term: Any, lookup: Lookup) -> dict[str, Any]:  # noqa: ANN401 - Term
    """A keyword: what it weighs, and in how many queries it went along."""
    row = asdict(term)
    row["weight"] = round(row["weight"], 2)
    row["searched"] = sum(
        _asked(term.text, call.query) for call in lookup.calls if call.kind == "fulltext"
    )
    return row


def _asked(word: str, query: str) -> bool:
    return f" {word} " in f" {query} "


def _let_go(lookup: Lookup) -> list[dict[str, str]]:
    """Words of the question that were not searched, or searched only at first, with why."""
    keywords = lookup.found.keywords
    queries = [call for call in lookup.calls if call.kind == "fulltext"]
    rows = []
    terms = {term.stem for term in keywords.terms}
    small = dict.fromkeys(word.text for word in keywords.words if word.stem not in terms)
    if small:
        told = "they ask or join, and say nothing by themselves"
        rows.append({"word": " ".join(small), "why": told})
    for term in keywords.by_rarity():
        along = [call for call in queries if _asked(term.text, call.query)]
        if not along:
            rows.append({"word": term.text, "why": "rarer words were enough"})
        elif not any(call.total for call in along):
            alone = any(call.query == term.text for call in along)
            told = "no article holds it" if alone else "no search with it found anything"
            rows.append({"word": term.text, "why": told})
    return rows


def _candidate(item: Ranked, lookup: Lookup) -> dict[str, Any]:
    article = item.article
    return {
        "title": article.title,
        "corpus": article.corpus,
        "path": article.path,
        "url": article.url,
        "characters": len(item.text),
        "score": round(item.scores.total, 4),
        "refused": why.refusal(lookup.found, item),
        "parts": why.parts(item),
        "shares": why.scores(item),
        "found_by": why.seen_in(lookup.calls, frozenset((why.key(item),))),
    }


def _passage(source: Source, lookup: Lookup) -> dict[str, Any]:
    item = next(
        item for item in lookup.found.ranked if why.key(item) == (source.corpus, source.path)
    )
    return {
        "number": source.number,
        "title": source.title,
        "corpus": source.corpus,
        "path": source.path,
        "characters": len(source.text),
        "of": len(item.text),
        "kept": stretches(source.text, item),
    }


def stretches(text: str, item: Ranked) -> list[dict[str, Any]]:
    """Where a passage stands in its article.

    Args:
        text: The passage.
        item: The article it was cut from.

    Returns:
        ``start`` and ``end`` in characters of the article's text, and the ``section``; stretches
        that meet are one.
    """
    found: list[tuple[int, int]] = []
    at = 0
    for piece in _MARKS.split(text):
        own = piece if item.text.find(piece, at) >= 0 else _HEADING.sub("", piece)
        own = own.strip()
        start = item.text.find(own, at) if own else -1
        if start < 0:
            continue
        at = start + len(own)
        if found and start - found[-1][1] <= _JOIN:
            found[-1] = (found[-1][0], at)
        else:
            found.append((start, at))
    return [
        {
            "start": start,
            "end": end,
            "section": item.article.sections[item.section(start)].heading,
        }
        for start, end in found
    ]
