"""Full-text search on an engine that only knows AND: which words to search together, which not.

Each search costs up to 0.7 s on a whole Wikipedia, so few are made: the rarest words together, more
of them while there are plenty of hits, fewer when there are none, and then single words as long as
there is budget. On a corpus of a few hundred short articles words seldom stand together, and single
words come first. What a hit is known to hold (the words of the queries that found it) and at which
rank it came is its evidence; reading decides later.

The engine ranks by BM25, which puts short articles first; users mostly mean a long one
(Singhal, Buckley and Mitra 1996: the chance that a text is relevant grows with its length beyond
what such a ranking gives). Where a search has more hits than can be read, a few words that only
long texts hold all of are asked for with it: among those hits the long articles come first.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import log10

from infoforge.corpus.base import Corpus, Deadline
from infoforge.records import Hit, Hits
from infoforge.retrieval.keywords import Term

SMALL_CORPUS = 150
"""Articles up to which single words are searched first."""

HITS = 10
"""Hits asked for per search: kiwix-serve reads each hit's article to make a snippet."""
HITS_FEW = 20
"""The same in a corpus of up to `FEW_ARTICLES`, where that costs nothing."""
FEW_ARTICLES = 20_000

LARGE = 2_000
"""Articles from which several words come before single ones: a single word has too many hits."""

MORE = 4
"""Searches of a second round, each for `HITS_FEW` hits."""

LONG = ((0,), (0, 1), (0, 2), (1, 2))
"""Terms by rarity whose long articles are asked for while nothing fits."""

COUNTED = 8
"""Words whose hits are counted where no list says how common they are."""

PAIRS = ((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3), (0, 4), (1, 4))
"""Pairs of terms by rarity, in the order in which they are searched."""
TRIPLES = ((0, 1), (0, 2, 3), (1, 2, 3), (0, 3, 4), (0, 2), (1, 2), (0, 3), (1, 3))
"""The same above `FEW_ARTICLES`, where a pair has too many hits as well."""

TOGETHER = 2
DECAY = 0.2
"""How fast a hit's evidence falls with its rank."""
PLENTY = 5


@dataclass(frozen=True, slots=True)
class SearchStep:
    """One request for candidates, for `explain` and benchmarks; ``seconds`` is its wall time."""

    corpus: str
    kind: str
    query: str
    total: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Set:
    """What a search found: how many hits there are about, the first ones, whether these are all."""

    terms: tuple[Term, ...]
    total: int
    paths: tuple[str, ...]
    whole: bool


@dataclass(slots=True)
class Candidate:
    """An entry that may become a source, with why it is one.

    Attributes:
        hit: The entry.
        evidence: For each stem it is known to hold, 1 for the first rank, less further down.
        suggested: The title index found it.
        context: The line of a disambiguation page that led here.
    """

    hit: Hit
    evidence: dict[str, float] = field(default_factory=dict)
    suggested: bool = False
    context: str = ""


def is_large(corpus: Corpus) -> bool:
    """Whether a corpus has thousands of articles; one that does not know counts as large."""
    return not 0 < corpus.describe().articles < LARGE


class FullText:
    """The searches of one question in one corpus.

    Args:
        corpus: The corpus.
        terms: The question's terms, rarest first.
        deadline: The deadline of the whole search.
        budget: Most searches to make; one or two more when nothing was found at all.
        counted: No list says how common the words are, so their hits are counted first.
        long_words: Words that long texts hold; none where the corpus does not rank by BM25.
    """

    def __init__(
        self,
        corpus: Corpus,
        terms: Sequence[Term],
        deadline: Deadline,
        *,
        budget: int = 4,
        counted: bool = False,
        long_words: Sequence[str] = (),
    ) -> None:
        self.corpus = corpus
        self.terms = list(terms)
        self.deadline = deadline
        self.budget = budget
        self.steps: list[SearchStep] = []
        self.candidates: dict[str, Candidate] = {}
        self.absent: set[str] = set()
        self.totals: dict[str, int] = {}
        self.counted = counted
        self._asked: set[frozenset[str]] = set()
        self._sets: dict[frozenset[str], _Set] = {}
        self._long_words = tuple(long_words)
        self._long_asked: set[frozenset[str]] = set()
        self._only_short: list[frozenset[str]] = []
        few = 0 < corpus.describe().articles <= FEW_ARTICLES
        self._groups = PAIRS if few else TRIPLES
        self._large = is_large(corpus)
        self._hits = HITS_FEW if few else HITS

    def run(self) -> None:
        """Make the searches; candidates gather as they go, so a deadline loses nothing."""
        if not self.terms:
            return
        if self.counted:
            self._count()
        if 0 < self.corpus.describe().articles <= SMALL_CORPUS:
            self._singles()
            return
        self._together()
        if self._large:
            self._several(self.budget)
        self._singles()

    def more(self) -> list[Candidate]:
        """A second round, when nothing that the first one found fits the question well.

        In a corpus where single words have few hits the first round has found what there is.
        """
        if not self._large:
            return []
        self._hits = HITS_FEW
        self.budget = len(self.steps) + MORE
        self._several(self.budget)
        self._singles()
        return list(self.candidates.values())

    def truncated(self) -> list[tuple[Term, ...]]:
        """The terms of the search with the fewest hits, if not all of these were taken."""
        found = self._sets.values()
        sets = sorted(found, key=lambda s: (s.total, -len(s.terms), [t.stem for t in s.terms]))
        return [sets[0].terms] if self._large and sets and not sets[0].whole else []

    def rarest(self) -> list[tuple[Term, ...]]:
        """The rarest terms, alone and together, where not all of their hits were taken."""
        terms = [term for term in self.terms if term.stem not in self.absent]
        groups = LONG if self._large else ()
        found = [tuple(terms[i] for i in group) for group in groups if group[-1] < len(terms)]
        return [group for group in found if not self._taken(group)]

    def long(self, terms: Sequence[Term]) -> list[Candidate]:
        """The first long articles that hold some terms: all of the long words, or half of them."""
        key = frozenset(term.stem for term in terms)
        words = self._long_words
        if key in self._long_asked or any(short <= key for short in self._only_short):
            return []
        self._long_asked.add(key)
        for some in (words, words[: len(words) // 2]) if words else ():
            query = " ".join([*(term.text for term in terms), *some])
            found = self._search(query, terms, HITS)
            if self._unheard(key, found):
                self._long_words = ()
                return []
            if found.hits:
                return [self.candidates[hit.path] for hit in found.hits]
        self._only_short.append(key)
        return []

    def _unheard(self, key: frozenset[str], found: Hits) -> bool:
        """Whether the index leaves the long words out: the same hits, and not fewer.

        Their number is an estimate, which may well be the same for fewer hits.
        """
        known = self._sets.get(key)
        paths = tuple(hit.path for hit in found.hits)
        return (
            known is not None and found.total >= known.total and paths == known.paths[: len(paths)]
        )

    def _taken(self, terms: Sequence[Term]) -> bool:
        known = self._sets.get(frozenset(term.stem for term in terms))
        return known is not None and known.whole

    def _several(self, budget: int) -> None:
        terms = [term for term in self.terms if term.stem not in self.absent]
        for group in self._groups:
            if len(self.steps) >= budget:
                return
            known = [terms[place] for place in group if place < len(terms)]
            if len(known) > 1:
                self._ask(known)

    def _together(self) -> None:
        terms = self.terms
        first = min(TOGETHER, len(terms))
        total = self._ask(terms[:first])
        if total > PLENTY and len(terms) > first:
            if self._ask(terms[: first + 2]) == 0 and len(terms) > first + 1:
                self._ask(terms[: first + 1])
        elif total == 0 and first > 1:
            # The rarest word alone says whether it is to blame.
            if self._ask(terms[:1]) > 0 and len(terms) > first:
                self._ask([terms[0], terms[2]])
            elif len(terms) > first:
                self._ask(terms[1:3])

    def _count(self) -> None:
        """Ask for single words to learn how common they are, and put the rarest first."""
        articles = max(self.corpus.describe().articles, 10)
        for term in self.terms[:COUNTED]:
            self._ask([term])
        for place, term in enumerate(self.terms):
            hits = self.totals.get(term.stem)
            if hits is not None:
                # Inverse document frequency, on the scale of the word lists' weights; in a small
                # corpus it says little, so the word's length keeps a half.
                weight = min(5.7, max(0.1, 1.6 * log10((articles + 1) / (hits + 0.5)) + 0.2))
                self.terms[place] = replace(term, weight=(weight + term.weight) / 2)
        self.terms.sort(key=lambda term: (-term.weight, term.offset))
        self.budget = len(self.steps) + 2

    def _singles(self) -> None:
        for term in self.terms:
            spent = len(self.steps) - self.budget
            if spent >= 2 or (spent >= 0 and self.candidates):
                return
            self._ask([term])

    def _ask(self, terms: Sequence[Term]) -> int:
        """Search words together; how many hits there are, -1 when that was asked before."""
        key = frozenset(term.stem for term in terms)
        if key in self._asked:
            return -1
        self._asked.add(key)
        found = self._search(" ".join(term.text for term in terms), terms, self._hits)
        if len(key) == 1:
            self.totals[terms[0].stem] = found.total
        if not found.hits:
            if len(key) == 1:
                self.absent |= key
            return 0
        total = max(found.total, len(found.hits))
        paths = tuple(hit.path for hit in found.hits)
        whole = total <= len(paths) or len(paths) < self._hits
        self._sets[key] = _Set(tuple(terms), total, paths, whole)
        return total

    def _search(self, query: str, terms: Sequence[Term], limit: int) -> Hits:
        """Search, and note that each hit holds the terms."""
        started = time.perf_counter()
        found = self.corpus.search(query, limit, self.deadline)
        took = time.perf_counter() - started
        self.steps.append(SearchStep(self.corpus.name, "fulltext", query, found.total, took))
        for rank, hit in enumerate(found.hits):
            evidence = self.candidates.setdefault(hit.path, Candidate(hit)).evidence
            for term in terms:
                value = 1.0 / (1.0 + DECAY * rank)
                evidence[term.stem] = max(evidence.get(term.stem, 0.0), value)
        return found
