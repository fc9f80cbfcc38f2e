"""Why an article was left out, came late, or was cut in the wrong place: in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from infoforge.evaluate.lookup import Call, Lookup
from infoforge.retrieval import ranking, relevance
from infoforge.retrieval.find import Retrieval
from infoforge.retrieval.ranking import Ranked

_PARTS = 3
"""Parts of the score named when one article is compared with another."""
_LEAST = 0.005

_KEYS = {
    "language_match": "spoken",
    "demoted": "sinks",
    "out_of_vocabulary": "invented",
    "unknown_names": "strangers",
    "missing_names": "unnamed",
}
"""Keys of `explain --json` that keep the names they were published with."""

Entries = frozenset[tuple[str, str]]


def refusal(found: Retrieval, item: Ranked) -> str:
    """The relevance filter's reason against an article, in words; empty when it passed."""
    everything = (*found.ranked, *found.refused)
    best = max((other.scores.total for other in everything), default=0.0)
    code = relevance.reason(item, best)
    return relevance.REASONS.get(code, code)


def parts(item: Ranked) -> dict[str, float]:
    """What each part adds to an article's score; parts that add nothing are left out."""
    none = dict.fromkeys(ranking.WEIGHTS, 0.0)
    found = {
        name: ranking.total(item.scores, none | {name: weight})
        for name, weight in ranking.WEIGHTS.items()
    }
    return {name: round(value, 4) for name, value in found.items() if value}


def scores(item: Ranked) -> dict[str, Any]:
    """The raw shares of an article's score."""
    return {
        _KEYS.get(name, name): round(value, 4) if isinstance(value, float) else value
        for name, value in asdict(item.scores).items()
    }


def seen_in(calls: Sequence[Call], entries: Entries) -> list[str]:
    """Which searches brought up an entry, and at which place."""
    found = []
    for call in calls:
        if call.kind == "read":
            continue
        for place, path in enumerate(call.paths, 1):
            if (call.corpus, path) in entries:
                found.append(f"{call.kind} “{call.query}” (place {place} of {call.total})")
                break
    return found


def key(item: Ranked) -> tuple[str, str]:
    """Which entry of which corpus an article is."""
    return item.article.corpus, item.article.path


def place(items: Sequence[Ranked], entries: Entries) -> int:
    """1 for the first, 0 when none of the entries is among them."""
    return next((n for n, item in enumerate(items, 1) if key(item) in entries), 0)


def lost(lookup: Lookup, entries: Entries) -> str:
    """Why the right article is not first, as one sentence.

    Args:
        lookup: The question lookup up.
        entries: The entries that would have been right; empty when there are none.
    """
    found = lookup.found
    if not entries:
        return "no article of this title is in the corpora"
    at = place(found.ranked, entries)
    if at == 1:
        return ""
    if at:
        return _beaten(found.ranked[at - 1], found.ranked[0], at)
    refused = place(found.refused, entries)
    if refused:
        return f"refused: {refusal(found, found.refused[refused - 1])}"
    return _unread(lookup, entries)


def _unread(lookup: Lookup, entries: Entries) -> str:
    read = {(c.corpus, path) for c in lookup.calls if c.kind == "read" for path in c.paths}
    if read & entries:
        return "read, but taken for a disambiguation page or for empty"
    seen = seen_in(lookup.calls, entries)
    if seen:
        return f"found by {seen[0]}, but others ranked before it and it was not read"
    return "no search and no title lookup brought it up"


def _beaten(own: Ranked, other: Ranked, at: int) -> str:
    mine, theirs = parts(own), parts(other)
    gains = {
        name: theirs.get(name, 0.0) - mine.get(name, 0.0) for name in dict.fromkeys(theirs | mine)
    }
    most = sorted(gains, key=lambda name: -gains[name])[:_PARTS]
    told = ", ".join(f"{name} +{gains[name]:.2f}" for name in most if gains[name] > _LEAST)
    lead = other.scores.total - own.scores.total
    return f"place {at}: “{other.article.title}” leads by {lead:.2f}" + (
        f" ({told})" if told else ""
    )


def missing(lookup: Lookup, answers: Sequence[str], entries: Entries) -> str:
    """Why no answer stands in the passages, as one sentence."""
    from infoforge.evaluate.match import holds

    shown = {(source.corpus, source.path) for source in lookup.sources}
    read = [item for item in (*lookup.found.ranked, *lookup.found.refused) if key(item) in entries]
    if not read:
        return "the right article was not read"
    if not any(holds(item.text, answers) for item in read):
        return "the right article, as it was read, does not hold the answer's words"
    if not any(key(item) in shown for item in read):
        return "the right article is not among the sources"
    kept = [s for s in lookup.sources if (s.corpus, s.path) in entries]
    size = sum(len(source.text) for source in kept)
    whole = sum(len(item.text) for item in read)
    return f"cut away: {size:,} of {whole:,} characters of the right article were kept"
