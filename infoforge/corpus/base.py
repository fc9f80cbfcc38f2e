"""The calls that every corpus answers, and the deadline they all share."""

from __future__ import annotations

import time
from typing import Protocol, TypeGuard

from infoforge.records import Article, CorpusInfo, Hit, Hits


class CorpusError(Exception):
    """A corpus could not answer: down, damaged, or answering nonsense. One line for people."""


class DeadlineExceeded(CorpusError):
    """The time for the whole search is used up."""


class Deadline:
    """A point in time that every call of one search respects.

    Args:
        seconds: Time from now; ``None`` means no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, never negative; infinity without a limit."""
        return float("inf") if self._end is None else max(0.0, self._end - time.monotonic())

    def passed(self) -> bool:
        """Whether the time is used up."""
        return self.left() <= 0.0

    def check(self) -> None:
        """Raise when the time is used up.

        Raises:
            DeadlineExceeded: No time is left.
        """
        if self.passed():
            raise DeadlineExceeded("the time for the search is used up")


class Corpus(Protocol):
    """Something searchable. Every call may raise ``CorpusError`` and honours the deadline."""

    @property
    def name(self) -> str:
        """Stable name, unique among open corpora."""
        ...

    def describe(self) -> CorpusInfo:
        """What the corpus says of itself; cached after the first call."""
        ...

    def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
        """Full text: entries that hold every word of the query, best first."""
        ...

    def titles(self, phrase: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        """Entries whose title matches the phrase (exact first, then the engine's order)."""
        ...

    def read(self, path: str, deadline: Deadline) -> Article | None:
        """Read one entry, redirects followed; ``None`` when there is no such entry."""
        ...


class SemanticCorpus(Corpus, Protocol):
    """A corpus that also finds texts by meaning, as its description says (``semantic``)."""

    def nearest(self, question: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        """Texts for the whole question, best first; each hit says how it fits (`relevance`)."""
        ...


def is_semantic(corpus: Corpus) -> TypeGuard[SemanticCorpus]:
    """Whether a corpus finds texts by meaning."""
    return corpus.describe().semantic
