"""One question lookup up as `ask` does it, with everything that was seen on the way."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infoforge.corpus.base import Corpus, Deadline
from infoforge.records import Article, CorpusInfo, Hit, Hits
from infoforge.retrieval.find import Retrieval, find
from infoforge.retrieval.passages import passages

if TYPE_CHECKING:
    from infoforge.ask import Options
    from infoforge.config.settings import Settings
    from infoforge.contract import WarningMessage
    from infoforge.records import Source


@dataclass(frozen=True, slots=True)
class Lookup:
    """A question lookup up.

    Attributes:
        found: What the search found.
        sources: The passages that a model would get.
        calls: What the corpora were asked, in order within each corpus.
        requests: How many requests that took.
        seconds: Wall time by stage, ``trim`` and ``total`` among them.
        warnings: The warnings.
    """

    found: Retrieval
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
    question: str, corpora: Sequence[RecordingCorpus], settings: Settings, options: Options
) -> Lookup:
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
    return Lookup(found, sources, calls, requests, seconds, tuple(warnings))


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a corpus.

    Attributes:
        corpus: Its name.
        kind: ``fulltext``, ``titles`` or ``read``.
        query: The words, the phrase or the path.
        paths: Paths of the hits, best first; of an article that was read, its own path.
        total: The engine's estimate of all hits.
        seconds: Wall time.
    """

    corpus: str
    kind: str
    query: str
    paths: tuple[str, ...]
    total: int
    seconds: float


class RecordingCorpus:
    """A corpus with a record of its calls.

    Args:
        corpus: The corpus that answers.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.inner = corpus
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else the corpus can do
        return getattr(self.inner, name)

    @property
    def name(self) -> str:
        """The corpus's name."""
        return self.inner.name

    @property
    def requests(self) -> int:
        """HTTP requests made so far; calls, for a corpus in this process."""
        server = getattr(self.inner, "server", None)
        return len(self.calls) if server is None else int(server.requests)

    def describe(self) -> CorpusInfo:
        """As the corpus."""
        return self.inner.describe()

    def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
        """As the corpus."""
        started = time.perf_counter()
        found = self.inner.search(query, limit, deadline)
        self._note("fulltext", query, found.hits, found.total, started)
        return found

    def titles(self, phrase: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        """As the corpus."""
        started = time.perf_counter()
        found = self.inner.titles(phrase, limit, deadline)
        self._note("titles", phrase, found, len(found), started)
        return found

    def read(self, path: str, deadline: Deadline) -> Article | None:
        """As the corpus."""
        started = time.perf_counter()
        article = self.inner.read(path, deadline)
        took = time.perf_counter() - started
        paths = (article.path,) if article is not None else ()
        self.calls.append(Call(self.name, "read", path, paths, len(paths), took))
        return article

    def _note(self, kind: str, query: str, hits: Sequence[Hit], total: int, started: float) -> None:
        took = time.perf_counter() - started
        paths = tuple(hit.path for hit in hits)
        self.calls.append(Call(self.name, kind, query, paths, total, took))


class Gold:
    """Which entries a title names: the right article may be known by the title of a redirect.

    Args:
        corpora: The corpora, unwatched: these calls are not the lookup's.
    """

    def __init__(self, corpora: Sequence[Corpus]) -> None:
        self._corpora = corpora
        self._known: dict[str, frozenset[tuple[str, str]]] = {}

    def entries(self, title: str) -> frozenset[tuple[str, str]]:
        """``(corpus, path)`` of the articles that a title leads to; empty when there is none."""
        if title not in self._known:
            self._known[title] = frozenset(self._find(title))
        return self._known[title]

    def _find(self, title: str) -> list[tuple[str, str]]:
        from infoforge.corpus.base import CorpusError
        from infoforge.evaluate.match import same_title

        found = []
        for corpus in self._corpora:
            paths = [title.replace(" ", "_"), title]
            try:
                hits = corpus.titles(title, 10, Deadline(10))
                paths += [hit.path for hit in hits if same_title(hit.title, title)]
                for path in dict.fromkeys(paths):
                    article = corpus.read(path, Deadline(10))
                    if article is not None:
                        found.append((corpus.name, article.path))
                        break
            except CorpusError:
                continue
        return found
