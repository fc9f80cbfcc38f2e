"""One question looked up as `ask` does it, with everything that was seen on the way."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infoforge.corpus.base import Deadline
from infoforge.evaluate.watch import Call, Watched
from infoforge.retrieval.find import Found, find
from infoforge.retrieval.passages import passages

if TYPE_CHECKING:
    from infoforge.ask import Options
    from infoforge.config.settings import Settings
    from infoforge.contract import WarningMessage
    from infoforge.records import Source


@dataclass(frozen=True, slots=True)
class Looked:
    """A question looked up.

    Attributes:
        found: What the search found.
        sources: The passages that a model would get.
        calls: What the corpora were asked, in order within each corpus.
        requests: How many requests that took.
        seconds: Wall time by stage, ``trim`` and ``total`` among them.
        warnings: The warnings.
    """

    found: Found
    sources: tuple[Source, ...]
    calls: tuple[Call, ...]
    requests: int
    seconds: dict[str, float]
    warnings: tuple[WarningMessage, ...]


def budget(settings: Settings, options: Options) -> tuple[int, int]:
    """Characters and number of sources that these settings and options give."""
    return (
        options.characters or settings.search.characters,
        options.sources or settings.search.sources,
    )


def look_up(
    question: str, corpora: Sequence[Watched], settings: Settings, options: Options
) -> Looked:
    """Look a question up.

    Raises:
        CorpusUnavailable: Not one corpus could be searched.
    """
    warnings: list[WarningMessage] = []
    made = {corpus.name: len(corpus.calls) for corpus in corpora}
    # Books of one server share its count.
    counters = {id(getattr(c.inner, "server", c)): c for c in corpora}.values()
    before = sum(corpus.requests for corpus in counters)
    started = time.perf_counter()
    found = find(
        question,
        corpora,
        deadline=Deadline(options.deadline or settings.search.deadline),
        warn=warnings.append,
        language=options.language or settings.search.language,
    )
    trimming = time.perf_counter()
    characters, count = budget(settings, options)
    sources = passages(found.ranked, found.keywords, characters, count) if found.ranked else ()
    ended = time.perf_counter()
    seconds = {**found.seconds, "trim": ended - trimming, "total": ended - started}
    calls = tuple(call for corpus in corpora for call in corpus.calls[made[corpus.name] :])
    requests = sum(corpus.requests for corpus in counters) - before
    return Looked(found, sources, calls, requests, seconds, tuple(warnings))
