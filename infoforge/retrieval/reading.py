"""Reading candidates: each article once, redirects followed, disambiguation pages led on from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from infoforge.contract import Warn, WarningMessage
from infoforge.corpus.base import Corpus, CorpusError, Deadline, DeadlineExceeded
from infoforge.records import Article, Hit, Relevance
from infoforge.retrieval.keywords import Keywords, keywords
from infoforge.retrieval.ranking import Ranked, score
from infoforge.retrieval.relax import Candidate
from infoforge.retrieval.titles import fit

ENOUGH = 0.8
"""Share of the question in one window of an article that ends the search for better ones."""
ENOUGH_LARGE = 0.82
"""The same among thousands of articles, where more of them hold most words by chance."""
STUB = 0.5
"""How short an article may be to end it: many short ones hold a few words together."""
BRANCHES = 3
"""Articles read for the links of one disambiguation page."""

Trouble = Callable[[Corpus, CorpusError], None]


def found_by_search(candidate: Candidate) -> bool:
    """Whether a search found an entry, so that its title is one and not the text of a link."""
    return candidate.suggested or bool(candidate.evidence)


class ArticleReader:
    """The articles that were read for one question.

    Args:
        corpora: The corpora by name.
        question: The question's keywords.
        deadline: For each reading.
        large: Names of the corpora with thousands of articles.
        relevance: How texts fit by meaning, by corpus and path, where they were found by that.
        warn: Takes warnings of disambiguation pages.
        trouble: Told of an article that can't be read, or not in time.
    """

    def __init__(
        self,
        corpora: Mapping[str, Corpus],
        question: Keywords,
        deadline: Deadline,
        *,
        large: Collection[str],
        relevance: Mapping[tuple[str, str], Relevance],
        warn: Warn,
        trouble: Trouble,
    ) -> None:
        self.ranked: list[Ranked] = []
        self._articles: dict[tuple[str, str], Article] = {}
        self._tried: set[tuple[str, str]] = set()
        self._corpora = corpora
        self._question = question
        self._deadline = deadline
        self._large = large
        self._relevance = relevance
        self._enough = ENOUGH_LARGE if large else ENOUGH
        self._warn = warn
        self._trouble = trouble
        self._evidence: dict[tuple[str, str], dict[str, float]] = {}
        self._scored: set[tuple[str, str]] = set()
        self.unread = 0
        """Articles that could not be read, of those that were tried."""

    @property
    def count(self) -> int:
        """Articles read, disambiguation pages among them."""
        return len(self._scored)

    def enough(self) -> bool:
        """Whether an article that is no stub holds most of the question in one window."""
        return any(r.scores.window >= self._enough and r.scores.stub < STUB for r in self.ranked)

    def look_at(self, candidate: Candidate) -> None:
        """Read a candidate, and score it and what it leads to."""
        article = self._read(candidate)
        if article is not None and article.disambiguation:
            self._branch(article)
        self._score_new()

    def _score_new(self) -> None:
        for key, known in self._articles.items():
            if key in self._scored:
                continue
            self._scored.add(key)
            if not known.disambiguation and known.sections:
                large = key[0] in self._large
                self.ranked.append(score(known, self._question, self._evidence[key], large=large))

    def _read(self, candidate: Candidate) -> Article | None:
        hit = candidate.hit
        entry = (hit.corpus, hit.path)
        if entry in self._articles or entry in self._tried:
            return None
        self._tried.add(entry)
        corpus = self._corpora[hit.corpus]
        try:
            article = corpus.read(hit.path, self._deadline)
        except CorpusError as error:  # one of them: the time is up
            self.unread += not isinstance(error, DeadlineExceeded)
            self._trouble(corpus, error)
            return None
        if article is None:
            self.unread += 1
            return None
        key = (hit.corpus, article.path)
        merged = self._evidence.setdefault(key, {})
        for stem, value in candidate.evidence.items():
            merged[stem] = max(merged.get(stem, 0.0), value)
        alias = hit.title if hit.path != article.path and found_by_search(candidate) else ""
        if key in self._articles:
            if alias:
                self._add_alias(key, alias)
            return None  # a redirect to what was read already
        if alias and alias != article.title:
            article = replace(article, aliases=(alias,))
        if (found := self._relevance.get(key)) is not None:
            freshness = article.relevance.freshness if article.relevance else found.freshness
            article = replace(article, relevance=replace(found, freshness=freshness))
        self._articles[key] = article
        return article

    def _add_alias(self, key: tuple[str, str], alias: str) -> None:
        """Score an article again that is now known by one more title."""
        article = self._articles[key]
        if alias in (article.title, *article.aliases):
            return
        self._articles[key] = replace(article, aliases=(*article.aliases, alias))
        self._scored.discard(key)
        self.ranked = [r for r in self.ranked if (r.article.corpus, r.article.path) != key]

    def _branch(self, page: Article) -> None:
        """A disambiguation page is not used; the articles it leads to are candidates."""
        if fit(page.title, self._question).mass > 0:
            self._warn(
                WarningMessage("disambiguation", f"skipping disambiguation page: {page.title}")
            )
        own = {term.stem: term.weight for term in self._question.terms}
        scored = []
        for place, link in enumerate(page.links):
            said = keywords(f"{link.text} {link.context}", self._question.language)
            match = sum(own.get(stem, 0.0) for stem in {word.stem for word in said.words})
            title = fit(link.text or link.path.replace("_", " "), self._question)
            scored.append(
                (-(match + title.mass * title.covered + 2 * title.qualified), place, link)
            )
        scored.sort(key=lambda item: item[:2])
        for _, _, link in scored[:BRANCHES]:
            self._read(Candidate(Hit(page.corpus, link.path, link.text), context=link.context))
