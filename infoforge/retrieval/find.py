"""The way from a question to ranked articles: titles and full text, reading, ranking, the gate."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from infoforge.contract import CorpusUnavailable, Notice
from infoforge.corpus.base import Corpus, CorpusError, Deadline, DeadlineExceeded
from infoforge.records import Article, Hit
from infoforge.retrieval import gate
from infoforge.retrieval.keywords import Keywords, Term, keywords
from infoforge.retrieval.matching import one_edit
from infoforge.retrieval.ranking import Ranked, score
from infoforge.retrieval.relax import FEW_ARTICLES, Candidate, FullText, Step
from infoforge.retrieval.respell import respell
from infoforge.retrieval.titles import fit, phrases
from infoforge.text.language import detect
from infoforge.text.words import fold, has_list, tokens

Warn = Callable[[Notice], None]

READ = 5
"""Articles read at first; each further corpus adds `READ_MORE`."""
READ_MORE = 2
READ_LARGE = 7
"""The first ones where a corpus has more than `FEW_ARTICLES`: more of them hold all words."""
READ_MOST = 24
"""Articles read while none of them holds `ENOUGH` of the question in one window."""
READ_AGAIN = 8
"""As many again after a second round of searches, while none does."""
ENOUGH = 0.8
TITLE_PHRASES = 1
TITLE_HITS = 6
NEAREST = 7
"""Notes that are asked for by meaning, where a corpus knows it."""
MISSPELT_HITS = 30
_SHORTEST_MISSPELT = 5
_BEGINNING = 3
BRANCHES = 3
"""Articles read for the links of one disambiguation page."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Attributes:
        keywords: The question's keywords.
        ranked: Articles that passed the gate, best first.
        refused: Articles that were read and did not pass, best first.
        steps: The requests for candidates, in order.
        seconds: Wall time by stage: ``candidates``, ``reading``, ``ranking``.
        partial: The time ran out or a corpus failed before all was looked at.
    """

    keywords: Keywords
    ranked: tuple[Ranked, ...]
    refused: tuple[Ranked, ...]
    steps: tuple[Step, ...]
    seconds: dict[str, float]
    partial: bool


def find(
    question: str,
    corpora: Sequence[Corpus],
    *,
    deadline: Deadline,
    warn: Warn,
    language: str = "",
) -> Found:
    """Find the articles that a question is about.

    Args:
        question: The question, in any language.
        corpora: Open corpora, most preferred first; at least one.
        deadline: For the whole search; what was found by then is used.
        warn: Takes warnings: a corpus that failed, time that ran out, a disambiguation page.
        language: ISO 639-1 code of the question; detected when empty.

    Returns:
        Ranked articles; none when nothing matches the question.

    Raises:
        CorpusUnavailable: Not one corpus could be searched.
    """
    search = _Search(question, corpora, deadline, warn, language)
    return search.run()


class _Search:
    def __init__(
        self,
        question: str,
        corpora: Sequence[Corpus],
        deadline: Deadline,
        warn: Warn,
        language: str,
    ) -> None:
        self.corpora = {corpus.name: corpus for corpus in corpora}
        self.deadline = deadline
        self.warn = warn
        spoken = [code for c in corpora for code in c.describe().languages]
        self.keywords = keywords(
            question, language or detect(question, list(dict.fromkeys(spoken)))
        )
        self.steps: list[Step] = []
        self.partial = False
        self.failed: dict[str, str] = {}
        self.articles: dict[tuple[str, str], Article] = {}
        self.evidence: dict[tuple[str, str], dict[str, float]] = {}
        self.near: dict[tuple[str, str], float] = {}
        self.absent: dict[str, frozenset[str]] = {}
        self.searches: dict[str, FullText] = {}
        self.ranked: list[Ranked] = []
        self.scored: set[tuple[str, str]] = set()
        self.again = False

    def run(self) -> Found:
        seconds: dict[str, float] = {}
        started = time.perf_counter()
        pool = self._pool(list(self.corpora.values()))
        if self._respelt():
            pool += self._pool([self.corpora[name] for name in self.absent])
        if len(self.failed) == len(self.corpora):
            name, reason = next(iter(self.failed.items()))
            raise CorpusUnavailable(
                f"no corpus could be searched: {reason or name}",
                "infoforge doctor says what is wrong",
            )
        seconds["candidates"] = time.perf_counter() - started
        started = time.perf_counter()
        self._read_all(pool, READ_MOST)
        seconds["reading"] = time.perf_counter() - started
        # A second round takes about as long as the first; what is there is not put at risk for it.
        if not self._enough() and self.deadline.left() > sum(seconds.values()):
            self._again(pool, seconds)
        ranked = self.ranked
        started = time.perf_counter()
        order = {name: place for place, name in enumerate(self.corpora)}
        ranked.sort(key=lambda r: (-r.scores.total, order[r.article.corpus], r.article.path))
        passed, refused = gate.split(ranked)
        seconds["ranking"] = time.perf_counter() - started
        return Found(
            self.keywords, tuple(passed), tuple(refused), tuple(self.steps), seconds, self.partial
        )

    def _pool(self, corpora: Sequence[Corpus]) -> list[Candidate]:
        return [candidate for corpus in corpora for candidate in self._candidates(corpus)]

    def _respelt(self) -> bool:
        """Whether a word that no corpus knows was taken for a misspelt one, as is then said."""
        absent = frozenset.intersection(*self.absent.values()) if self.absent else frozenset[str]()
        corpora = [corpus for name, corpus in self.corpora.items() if name in self.absent]
        try:
            found = respell(self.keywords, absent, corpora, self.deadline, self.steps)
        except (DeadlineExceeded, CorpusError):
            return False  # what was found is used
        if found is None:
            return False
        written, meant = found
        self.warn(Notice("spelling", f"{written} is not known here: searched for {meant}"))
        question = re.sub(rf"(?<!\w){re.escape(written)}(?!\w)", meant, self.keywords.question)
        self.keywords = keywords(question, self.keywords.language)
        return True

    def _candidates(self, corpus: Corpus) -> list[Candidate]:
        """Candidates of one corpus; what fails is warned of and what was found is kept."""
        found: dict[str, Candidate] = {}
        counted = not has_list(self.keywords.language)
        terms = self.keywords.by_rarity()
        fulltext = FullText(corpus, terms, self.deadline, counted=counted)
        try:
            for hit in self._nearest(corpus):
                found[hit.path] = Candidate(hit)
            for phrase in phrases(self.keywords, TITLE_PHRASES):
                started = time.perf_counter()
                hits = corpus.titles(phrase, TITLE_HITS, self.deadline)
                took = time.perf_counter() - started
                self.steps.append(Step(corpus.name, "titles", phrase, len(hits), took))
                for hit in hits:
                    found[hit.path] = Candidate(hit, suggested=True)
            fulltext.run()
            found |= self._misspelt(corpus, fulltext)
        except DeadlineExceeded:
            self._out_of_time(corpus)
        except CorpusError as error:
            self.partial = True
            if not found and not fulltext.steps:
                self.failed[corpus.name] = str(error)
            self.warn(Notice("corpus_failed", str(error)))
        else:
            self.absent[corpus.name] = frozenset(fulltext.absent)
            self.searches[corpus.name] = fulltext
        self.steps += fulltext.steps
        if counted:
            self._weigh(fulltext.terms)
        for path, candidate in fulltext.candidates.items():
            if path in found:
                found[path].evidence = candidate.evidence
            else:
                found[path] = candidate
        return list(found.values())

    def _nearest(self, corpus: Corpus) -> Sequence[Hit]:
        """What a corpus that knows meanings finds for the whole question; nothing in others."""
        nearest = getattr(corpus, "nearest", None)
        if nearest is None:
            return ()
        started = time.perf_counter()
        hits: tuple[Hit, ...] = nearest(self.keywords.question, NEAREST, self.deadline)
        took = time.perf_counter() - started
        question = self.keywords.question
        self.steps.append(Step(corpus.name, "meaning", question, len(hits), took))
        mass = sum(term.weight for term in self.keywords.terms) or 1.0
        for place, hit in enumerate(hits):
            self.near[hit.corpus, hit.path] = mass / (1.0 + 0.1 * place)
        return hits

    def _weigh(self, terms: Sequence[Term]) -> None:
        """Take over the weights that a corpus's own counts gave the terms."""
        weights = {term.stem: term.weight for term in terms}
        self.keywords = replace(
            self.keywords,
            terms=tuple(
                replace(t, weight=weights.get(t.stem, t.weight)) for t in self.keywords.terms
            ),
            words=tuple(
                replace(t, weight=weights.get(t.stem, t.weight)) for t in self.keywords.words
            ),
        )

    def _misspelt(self, corpus: Corpus, fulltext: FullText) -> dict[str, Candidate]:
        """Titles that hold a word one edit away from a name that the corpus does not know.

        The title index takes a beginning of a word, so a slip in the first letters is not found.
        """
        unknown = [
            term
            for term in self.keywords.by_rarity()
            if term.stem in fulltext.absent
            and term.kind == "word"
            and len(term.text) >= _SHORTEST_MISSPELT
            and not term.listed
        ]
        found: dict[str, Candidate] = {}
        for term in unknown[:1]:
            started = time.perf_counter()
            beginning = term.text[: max(_BEGINNING, len(term.text) // 2 - 1)]
            hits = corpus.titles(beginning, MISSPELT_HITS, self.deadline)
            took = time.perf_counter() - started
            self.steps.append(Step(corpus.name, "misspelt", beginning, len(hits), took))
            for hit in hits:
                words = (fold(word) for word, _, _ in tokens(hit.title))
                if any(one_edit(term.folded, word) for word in words):
                    evidence = {term.stem: 1.0}
                    found[hit.path] = Candidate(hit, evidence=evidence, suggested=True)
        return found

    def _out_of_time(self, corpus: Corpus) -> None:
        if self.again:
            return
        if not self.partial or corpus.name not in self.failed:
            self.warn(
                Notice("deadline", f"{corpus.name}: time ran out; answering from what was found")
            )
        self.partial = True
        if not any(step.corpus == corpus.name for step in self.steps):
            self.failed[corpus.name] = f"{corpus.name} did not answer in time"

    def _prior(self, candidate: Candidate) -> float:
        """How promising a candidate is before it is read."""
        value = sum(
            term.weight * candidate.evidence[term.stem]
            for term in self.keywords.terms
            if term.stem in candidate.evidence
        )
        value += self.near.get((candidate.hit.corpus, candidate.hit.path), 0.0)
        title = fit(candidate.hit.title, self.keywords)
        value += title.mass * title.covered**2
        value += 1.0 * title.exact * title.covered + 1.5 * title.qualified - 0.5 * title.foreign
        return value

    def _by_promise(self, pool: Sequence[Candidate]) -> list[Candidate]:
        """Candidates in the order of reading; the best of each corpus comes in the first round."""
        order = {name: place for place, name in enumerate(self.corpora)}
        ranked = sorted(pool, key=lambda c: (-self._prior(c), order[c.hit.corpus], c.hit.path))
        if len(order) == 1:
            return ranked
        firsts = {c.hit.corpus: c for c in reversed(ranked)}.values()
        head = [c for c in ranked if c in firsts]
        return head + [c for c in ranked if c not in head]

    def _read_all(self, pool: Sequence[Candidate], most: int) -> None:
        """Read the most promising candidates, and more of them while nothing fits well.

        Most questions are answered by one of the first; those that are not are worth the time.
        """
        large = any(c.describe().articles > FEW_ARTICLES for c in self.corpora.values())
        first = (READ_LARGE if large else READ) + READ_MORE * (len(self.corpora) - 1)
        for candidate in self._by_promise(pool):
            if len(self.scored) >= (first if self._enough() else max(first, most)):
                return
            article = self._read(candidate)
            if article is not None and article.disambiguation:
                self._branch(article)
            for key, known in self.articles.items():
                if key in self.scored:
                    continue
                self.scored.add(key)
                if not known.disambiguation and known.sections:
                    self.ranked.append(score(known, self.keywords, self.evidence[key]))

    def _enough(self) -> bool:
        """Whether an article that was read holds most of the question in one window."""
        return any(r.scores.window >= ENOUGH for r in self.ranked)

    def _again(self, pool: Sequence[Candidate], seconds: dict[str, float]) -> None:
        """A second round, in the time that is left; that it ran out then is no loss to tell of."""
        self.again = True
        started = time.perf_counter()
        more = self._more()
        seconds["candidates"] += time.perf_counter() - started
        started = time.perf_counter()
        if more:
            self._read_all([*pool, *more], READ_MOST + READ_AGAIN)
        seconds["reading"] += time.perf_counter() - started

    def _more(self) -> list[Candidate]:
        """Candidates of a second round of searches; none where there was none."""
        found: list[Candidate] = []
        for fulltext in self.searches.values():
            before = len(fulltext.steps)
            try:
                fulltext.more()
            except DeadlineExceeded:
                pass
            except CorpusError as error:
                self.partial = True
                self.warn(Notice("corpus_failed", str(error)))
            if len(fulltext.steps) > before:
                self.steps += fulltext.steps[before:]
                found += fulltext.candidates.values()
        return found

    def _read(self, candidate: Candidate) -> Article | None:
        hit = candidate.hit
        if (hit.corpus, hit.path) in self.articles:
            return None
        try:
            article = self.corpora[hit.corpus].read(hit.path, self.deadline)
        except DeadlineExceeded:
            if not self.partial:
                self._out_of_time(self.corpora[hit.corpus])
            return None
        except CorpusError as error:
            self.partial = True
            self.warn(Notice("article_unreadable", str(error)))
            return None
        if article is None:
            return None
        key = (hit.corpus, article.path)
        merged = self.evidence.setdefault(key, {})
        for stem, value in candidate.evidence.items():
            merged[stem] = max(merged.get(stem, 0.0), value)
        if key in self.articles:
            return None  # a redirect to what was read already
        self.articles[key] = article
        return article

    def _branch(self, page: Article) -> None:
        """A disambiguation page is no source; the articles it leads to are candidates."""
        if fit(page.title, self.keywords).mass > 0:
            self.warn(Notice("disambiguation", f"skipping disambiguation page: {page.title}"))
        own = {term.stem: term.weight for term in self.keywords.terms}
        scored = []
        for place, link in enumerate(page.links):
            said = keywords(f"{link.text} {link.context}", self.keywords.language)
            match = sum(own.get(stem, 0.0) for stem in {word.stem for word in said.words})
            title = fit(link.text or link.path.replace("_", " "), self.keywords)
            scored.append(
                (-(match + title.mass * title.covered + 2 * title.qualified), place, link)
            )
        scored.sort(key=lambda item: item[:2])
        for _, _, link in scored[:BRANCHES]:
            self._read(Candidate(Hit(page.corpus, link.path, link.text), context=link.context))
