"""The way from a question to ranked articles: titles, full text, reading, ranking, relevance."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from infoforge.contract import CorpusUnavailable, Warn, WarningMessage
from infoforge.corpus.base import Corpus, CorpusError, Deadline, DeadlineExceeded, is_semantic
from infoforge.records import Hit, Relevance
from infoforge.retrieval import relevance
from infoforge.retrieval.keywords import Keywords, Term, keywords
from infoforge.retrieval.matching import one_edit
from infoforge.retrieval.ranking import Ranked
from infoforge.retrieval.reading import ArticleReader
from infoforge.retrieval.relax import FEW_ARTICLES, Candidate, FullText, SearchStep, is_large
from infoforge.retrieval.respell import respell
from infoforge.retrieval.titles import beginnings, fit, phrases, separated, split_title
from infoforge.text.inflection import forms, least_common, same_word
from infoforge.text.language import detect
from infoforge.text.words import FORMS_LISTED, fold, has_list, is_unspaced, long_words, stem, tokens

READ = 5
"""Articles read at first; each further corpus adds `READ_MORE`."""
READ_MORE = 2
READ_LARGE = 7
"""The first ones where a corpus has more than `FEW_ARTICLES`: more of them hold all words."""
READ_MOST = 24
"""Articles read while none of them fits well."""
READ_AGAIN = 8
"""As many again after a second round of searches, while none does."""
TITLE_PHRASES = 1
PHRASES_ALONE = 8
"""The same in a corpus without a full-text index."""
TITLE_HITS = 6
NEAREST = 7
"""Notes that are asked for by meaning, where a corpus knows it."""
INFLECTED = 2
"""Words whose other forms are looked for among the titles."""
MISSPELT_HITS = 30
TITLE_BEGINNINGS = 30
"""Places of a question without spaces at which a title is looked for."""
_SHORTEST_MISSPELT = 5
_BEGINNING = 3


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a search found.

    Attributes:
        keywords: The question's keywords.
        ranked: Articles that passed the relevance filter, best first.
        refused: Articles that were read and did not pass, best first.
        steps: The requests for candidates, in order.
        seconds: Wall time by stage: ``candidates``, ``reading``, ``ranking``.
        partial: The time ran out or a corpus failed before all was looked at.
    """

    keywords: Keywords
    ranked: tuple[Ranked, ...]
    refused: tuple[Ranked, ...]
    steps: tuple[SearchStep, ...]
    seconds: dict[str, float]
    partial: bool


def find(
    question: str,
    corpora: Sequence[Corpus],
    *,
    deadline: Deadline,
    warn: Warn,
    language: str = "",
) -> Retrieval:
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
        # Where texts are found by meaning, a short one is no stub.
        self.large = {
            corpus.name for corpus in corpora if is_large(corpus) and not is_semantic(corpus)
        }
        self.deadline = deadline
        self.warn = warn
        spoken = [code for c in corpora for code in c.describe().languages]
        self.keywords = keywords(
            question, language or detect(question, list(dict.fromkeys(spoken)))
        )
        self.steps: list[SearchStep] = []
        self.partial = False
        self.failed: dict[str, str] = {}
        self.near: dict[tuple[str, str], float] = {}
        self.relevance: dict[tuple[str, str], Relevance] = {}
        self.absent: dict[str, frozenset[str]] = {}
        self.searches: dict[str, FullText] = {}
        self.titled: dict[str, list[Hit]] = {}
        """Titles that stand in a question without spaces, by corpus."""
        self.extra = False
        """What is looked for now is beyond what every question gets."""

    def run(self) -> Retrieval:
        seconds: dict[str, float] = {}
        started = time.perf_counter()
        self._separate()
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
        seconds["reading"] = 0.0
        # After respelling: the keywords are now what they will be.
        reader = ArticleReader(
            self.corpora,
            self.keywords,
            self.deadline,
            large=self.large,
            relevance=self.relevance,
            warn=self.warn,
            trouble=self._trouble,
        )
        self._read_all(reader, pool, 0 if self.large else READ_MOST, seconds)
        most = READ_MOST
        if self.large:
            first = reader.count
            self._long(reader, seconds)
            most += reader.count - first
            self._read_all(reader, pool, most, seconds)
        self._again(reader, pool, most + READ_AGAIN, seconds)
        started = time.perf_counter()
        ranked = reader.ranked
        if not reader.count and reader.unread:
            raise CorpusUnavailable(
                f"{reader.unread} articles were found and none of them could be read",
                "infoforge doctor checks the ZIM files; a damaged one is to be downloaded again",
                code="articles_unreadable",
            )
        order = {name: place for place, name in enumerate(self.corpora)}
        ranked.sort(key=lambda r: (-r.scores.total, order[r.article.corpus], r.article.path))
        passed, refused = relevance.split(ranked)
        seconds["ranking"] = time.perf_counter() - started
        return Retrieval(
            self.keywords, tuple(passed), tuple(refused), tuple(self.steps), seconds, self.partial
        )

    def _separate(self) -> None:
        """Make words of the titles in a question of a script without spaces."""
        question = self.keywords.question
        held: dict[str, None] = {}
        if not is_unspaced(question):
            return
        for corpus in self.corpora.values():
            try:
                for offset, texts in beginnings(question, TITLE_BEGINNINGS):
                    for text in texts:
                        hits = self._titles(corpus, text)
                        for hit in hits:
                            if question.startswith(split_title(hit.title)[0], offset):
                                held[hit.title] = None
                                self.titled.setdefault(corpus.name, []).append(hit)
                        if len(hits) < MISSPELT_HITS:
                            break  # longer beginnings have no others
            except CorpusError:
                continue  # the searches to come say so
        if held:
            self.keywords = keywords(separated(question, held), self.keywords.language)

    def _titles(self, corpus: Corpus, beginning: str) -> tuple[Hit, ...]:
        started = time.perf_counter()
        hits = corpus.titles(beginning, MISSPELT_HITS, self.deadline)
        took = time.perf_counter() - started
        self.steps.append(SearchStep(corpus.name, "titles", beginning, len(hits), took))
        return hits

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
        self.warn(WarningMessage("spelling", f"{written} is not known here: searched for {meant}"))
        question = re.sub(rf"(?<!\w){re.escape(written)}(?!\w)", meant, self.keywords.question)
        self.keywords = keywords(question, self.keywords.language)
        return True

    def _candidates(self, corpus: Corpus) -> list[Candidate]:
        """Candidates of one corpus; what fails is warned of and what was found is kept."""
        found: dict[str, Candidate] = {}
        counted = not has_list(self.keywords.language)
        terms = self.keywords.by_rarity()
        language, spoken = self.keywords.language, corpus.describe().languages
        fitting = corpus.name in self.large and (language in spoken or not spoken)
        long = long_words(language) if fitting else ()
        fulltext = FullText(corpus, terms, self.deadline, counted=counted, long_words=long)
        try:
            for hit in self._nearest(corpus):
                found[hit.path] = Candidate(hit)
            for hit in self.titled.get(corpus.name, ()):
                found[hit.path] = Candidate(hit, suggested=True)
            for phrase in phrases(self.keywords, TITLE_PHRASES):
                started = time.perf_counter()
                hits = corpus.titles(phrase, TITLE_HITS, self.deadline)
                took = time.perf_counter() - started
                self.steps.append(SearchStep(corpus.name, "titles", phrase, len(hits), took))
                for hit in hits:
                    found[hit.path] = Candidate(hit, suggested=True)
            found = self._by_title_alone(corpus) | found
            fulltext.run()
            found |= self._misspelt(corpus, fulltext)
            found |= self._inflected(corpus, found)
        except DeadlineExceeded:
            self._out_of_time(corpus)
        except CorpusError as error:
            self.partial = True
            if not found and not fulltext.steps:
                self.failed[corpus.name] = str(error)
            self.warn(WarningMessage("corpus_failed", str(error)))
        else:
            # A title is an occurrence, too: that of a redirect stands in no text.
            titled = {
                stem(fold(word), language)
                for candidate in found.values()
                if candidate.suggested
                for word, _, _ in tokens(candidate.hit.title, language)
            }
            self.absent[corpus.name] = frozenset(fulltext.absent - titled)
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

    def _by_title_alone(self, corpus: Corpus) -> dict[str, Candidate]:
        """More titles where there is no full text to find articles by; none in other corpora.

        Titles are then looked up by their beginnings, and any word of the question may begin one.
        """
        if corpus.describe().fulltext:
            return {}
        question = self.keywords.question.strip(" ?!.¿¡？！。")
        words = [term.text for term in self.keywords.by_rarity()]
        found: dict[str, Candidate] = {}
        for phrase in dict.fromkeys((question, *phrases(self.keywords, PHRASES_ALONE), *words)):
            started = time.perf_counter()
            hits = corpus.titles(phrase, TITLE_HITS, self.deadline)
            took = time.perf_counter() - started
            self.steps.append(SearchStep(corpus.name, "titles", phrase, len(hits), took))
            found |= {hit.path: Candidate(hit, suggested=True) for hit in hits}
        return found

    def _nearest(self, corpus: Corpus) -> Sequence[Hit]:
        """What a corpus that knows meanings finds for the whole question; nothing in others."""
        if not is_semantic(corpus):
            return ()
        started = time.perf_counter()
        hits = corpus.nearest(self.keywords.question, NEAREST, self.deadline)
        took = time.perf_counter() - started
        question = self.keywords.question
        self.steps.append(SearchStep(corpus.name, "meaning", question, len(hits), took))
        mass = sum(term.weight for term in self.keywords.terms) or 1.0
        for place, hit in enumerate(hits):
            self.near[hit.corpus, hit.path] = mass / (1.0 + 0.1 * place)
            if hit.relevance is not None:
                self.relevance[hit.corpus, hit.path] = hit.relevance
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
            self.steps.append(SearchStep(corpus.name, "misspelt", beginning, len(hits), took))
            for hit in hits:
                words = (fold(word) for word, _, _ in tokens(hit.title))
                if any(one_edit(term.folded, word) for word in words):
                    evidence = {term.stem: 1.0}
                    found[hit.path] = Candidate(hit, evidence=evidence, suggested=True)
        return found

    def _inflected(self, corpus: Corpus, known: Mapping[str, Candidate]) -> dict[str, Candidate]:
        """Titles that hold another form of one of the rarest words.

        The index has no stemmer for most languages in which words change their endings.
        """
        language = self.keywords.language
        if language in FORMS_LISTED:
            return {}
        found: dict[str, Candidate] = {}
        for term in [t for t in self.keywords.by_rarity() if t.kind == "word"][:INFLECTED]:
            word = term.text.lower()
            shortest = min(forms(word, language), key=len)
            beginning = shortest[: least_common(shortest)] if shortest == word else shortest
            for hit in self._titles(corpus, beginning):
                words = (fold(word) for word, _, _ in tokens(hit.title, language))
                same = any(same_word(term.folded, word, language) for word in words)
                if same and hit.path not in known:
                    found[hit.path] = Candidate(hit, evidence={term.stem: 1.0}, suggested=True)
        return found

    def _trouble(self, corpus: Corpus, error: CorpusError) -> None:
        """An article that could not be read."""
        if not isinstance(error, DeadlineExceeded):
            self.partial = True
            self.warn(WarningMessage("article_unreadable", str(error)))
        elif not self.partial:
            self._out_of_time(corpus)

    def _out_of_time(self, corpus: Corpus) -> None:
        if self.extra:
            return  # no loss to tell of
        if not self.partial or corpus.name not in self.failed:
            self.warn(
                WarningMessage(
                    "deadline", f"{corpus.name}: time ran out; answering from what was found"
                )
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

    def _read_all(
        self, reader: ArticleReader, pool: Sequence[Candidate], most: int, seconds: dict[str, float]
    ) -> None:
        """Read the most promising candidates, and more of them while nothing fits well.

        Most questions are answered by one of the first; those that are not are worth the time.
        """
        started = time.perf_counter()
        large = any(c.describe().articles > FEW_ARTICLES for c in self.corpora.values())
        first = (READ_LARGE if large else READ) + READ_MORE * (len(self.corpora) - 1)
        for candidate in self._by_promise(pool):
            if reader.count >= (first if reader.enough() else max(first, most)):
                break
            reader.look_at(candidate)
        seconds["reading"] += time.perf_counter() - started

    def _long(self, reader: ArticleReader, seconds: dict[str, float]) -> None:
        """Read the long articles among many hits, and while nothing fits those of rare words."""
        self.extra = True
        for fulltext in list(self.searches.values()):
            for terms in fulltext.truncated():
                self._long_of(reader, fulltext, terms, seconds)
            for terms in fulltext.rarest():
                if not reader.enough():
                    self._long_of(reader, fulltext, terms, seconds)
        self.extra = False

    def _long_of(
        self,
        reader: ArticleReader,
        fulltext: FullText,
        terms: tuple[Term, ...],
        seconds: dict[str, float],
    ) -> None:
        if fulltext.corpus.name not in self.searches or not self._time_left(seconds):
            return
        started = time.perf_counter()
        found = self._further(fulltext, partial(fulltext.long, terms))
        seconds["candidates"] += time.perf_counter() - started
        for candidate in found:
            if not self._time_left(seconds):
                return
            started = time.perf_counter()
            reader.look_at(candidate)
            seconds["reading"] += time.perf_counter() - started

    def _again(
        self, reader: ArticleReader, pool: Sequence[Candidate], most: int, seconds: dict[str, float]
    ) -> None:
        """A second round of searches, while nothing fits and in the time that is left."""
        if reader.enough() or not self._time_left(seconds):
            return
        self.extra = True
        started = time.perf_counter()
        before = len(self.steps)
        more = [c for f in list(self.searches.values()) for c in self._further(f, f.more)]
        seconds["candidates"] += time.perf_counter() - started
        if len(self.steps) > before:
            self._read_all(reader, [*pool, *more], most, seconds)

    def _time_left(self, seconds: dict[str, float]) -> bool:
        """Whether there is as much time as was used: what is there is not put at risk for more."""
        return self.deadline.left() > sum(seconds.values())

    def _further(
        self, fulltext: FullText, search: Callable[[], list[Candidate]]
    ) -> list[Candidate]:
        """Search beyond the first round; a corpus that fails or has no time left finds nothing."""
        before = len(fulltext.steps)
        try:
            return search()
        except DeadlineExceeded:
            return []
        except CorpusError as error:
            self.partial = True
            self.warn(WarningMessage("corpus_failed", str(error)))
            self.searches.pop(fulltext.corpus.name, None)  # it is not asked again
            return []
        finally:
            self.steps += fulltext.steps[before:]
