"""One ranked list over all corpora, by the texts themselves.

The score adds what information retrieval has long found to tell (BM25F: Robertson, Zaragoza and
Taylor 2004; proximity: Tao and Zhai 2007; neighbouring words in their order: Metzler and Croft
2005): the best windows of the text, saturated term frequencies over the whole of it, the question's
phrases, the lead, and the title; each as a share of what the question's words weigh. In a corpus of
thousands of articles stubs are demoted, since many of them hold any few words by chance, and longer
texts are what is asked for more often (Singhal, Buckley and Mitra 1996).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log

from infoforge.records import Article, Relevance
from infoforge.retrieval.keywords import Keywords
from infoforge.retrieval.matching import PAIR_SHARE, Matcher, Occurrence
from infoforge.retrieval.titles import TitleFit, best_fit
from infoforge.text.words import fold, is_cjk

WINDOW = 500
"""Characters of the window that is scored; `CJK_WINDOW` for texts in Han characters or kana."""
CJK_WINDOW = 160
SENTENCE = 160
"""Characters of the narrow window, about a sentence; `CJK_SENTENCE` as above."""
CJK_SENTENCE = 50
PHRASE_GAP = 10
"""Characters that may stand between neighbouring words beyond those of the question."""
LEAD = 600
STUB = (500, 10_000)
"""Characters up to which an article is a mere stub, and from which on it is none at all."""
CJK_STUB = (160, 3_300)

_K1 = 1.2
_LIST_TITLE = re.compile(
    r"^(?:list|lists|outline|index|timeline|glossary) of\b|^liste (?:der|des|von)\b|^liste d|"
    r"^(?:anexo|lista)\b|^list(?:a|e) |列表$|一覧$|^список\b",
    re.IGNORECASE,
)
_MAIN_PAGE = re.compile(
    r"^(?:main page|welcome to wikipedia|hauptseite|accueil|portada|página principal|"
    r"pagina principale|hoofdpagina|заглавная страница|首页|メインページ)$",
    re.IGNORECASE,
)
_BARE_YEAR = re.compile(
    r"^(?:ad )?\d{1,4}(?: (?:bc|bce|ad|ce))?$|^\d{1,4}年$|^\d{3,4}s$", re.IGNORECASE
)
EXPECTED = {
    "date": re.compile(
        r"\b1\d{3}\b|\b20\d{2}\b|\d{1,4}年|\bcentury\b|jahrhundert|\bsiglo\b|siècle|век"
    ),
    "number": re.compile(
        r"\d|%|\b(?:two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|dos|tres)\b|[一二三四五六七八九十百千万]"
    ),
}


@dataclass(frozen=True, slots=True)
class Scores:
    """What the rank of an article is made of; shares are of the weight of all terms, 0 to 1.

    Attributes:
        window: Share that the best window holds.
        sentence: Share that the best narrow window holds.
        phrases: Share of the question's pairs of neighbours that stand together in their order.
        expected: Whether that window holds the kind of thing the question asks for.
        coverage: Share that the whole text or title holds.
        frequency: Share by saturated term frequency.
        lead: Share that the lead holds.
        title: Share that the title holds.
        covered: Share of the title's own words that the question holds.
        exact: The title stands in the question as written.
        qualified: Share of the title's qualifier that the question holds.
        foreign: The title has a qualifier that the question has no word of.
        evidence: Share by the searches that found it.
        language_match: The article is in the question's language.
        demoted: A list, an outline, a bare year or a main page: its score is lowered.
        stub: How short an article in a large corpus is, 0 to 1.
        out_of_vocabulary: Share of the words that no list knows and the article lacks.
        unlisted: Share of the words in no frequency list that the article lacks.
        unknown_names: Share of those out of vocabulary that are written as names.
        missing_names: Share of the known names that the article lacks.
        total: The score.
        meaning: How close the article is in meaning, 0 to 1, where its corpus knows.
    """

    window: float
    sentence: float
    phrases: float
    expected: bool
    coverage: float
    frequency: float
    lead: float
    title: float
    covered: float
    exact: bool
    qualified: float
    foreign: bool
    evidence: float
    language_match: bool
    demoted: bool
    stub: float
    out_of_vocabulary: float
    unlisted: float
    unknown_names: float
    missing_names: float
    total: float = 0.0
    meaning: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """An article with its scores, and where the question's words stand in its text.

    ``text`` is the sections' texts joined by newlines; ``starts`` are the sections' offsets in it.
    """

    article: Article
    scores: Scores
    text: str
    starts: tuple[int, ...]
    occurrences: tuple[Occurrence, ...]

    def section(self, offset: int) -> int:
        """Index of the section that holds an offset of the text."""
        return bisect_right(self.starts, offset) - 1


WEIGHTS = {
    "window": 0.8,
    "sentence": 0.35,
    "phrases": 0.25,
    "expected": 0.04,
    "coverage": 0.02,
    "frequency": 0.66,
    "lead": 0.04,
    "title": 0.85,
    "exact": 0.2,
    "qualified": 0.5,
    "foreign": -0.15,
    "evidence": 0.2,
    "meaning": 1.8,
    "spoken": 0.3,
    "sinks": -0.35,
    "stub": -0.3,
}
"""Weights of the shares; tuned on the committed question sets by tests/eval."""


def score(
    article: Article,
    keywords: Keywords,
    evidence: dict[str, float],
    weights: Sequence[float] | None = None,
    *,
    large: bool = False,
) -> Ranked:
    """Score one article against a question.

    Args:
        article: The article as read.
        keywords: The question's keywords.
        evidence: What the searches said of it, by stem.
        weights: Weight of each term; the terms' own when not given.
        large: The article is one of thousands.

    Returns:
        The article with its scores and the places of the question's words.
    """
    own = list(weights) if weights is not None else [term.weight or 0.3 for term in keywords.terms]
    mass = sum(own) or 1.0
    starts = []
    offset = 0
    for section in article.sections:
        starts.append(offset)
        offset += len(section.text) + 1
    text = "\n".join(section.text for section in article.sections)
    matcher = Matcher(keywords, article.language or keywords.language)
    folded = fold(text)
    # A word of one title is not next to a word of another: a line ends each.
    folded_title = fold("\n".join((article.title, *article.aliases)))
    occurrences = matcher.find(folded)
    title = best_fit((article.title, *article.aliases), keywords)
    title_places = matcher.find(folded_title)
    held = {o.term for o in occurrences} | {o.term for o in title_places}
    odd = [i for i, t in enumerate(keywords.terms) if i not in held and not t.listed]
    if odd:
        occurrences += matcher.find_misspelt(folded, odd)
        occurrences.sort(key=lambda o: (o.start, -o.share))
        title_places += matcher.find_misspelt(folded_title, odd)
    in_title = {o.term: o.share for o in title_places}
    cjk = is_cjk(text[:2000])
    size, narrow = (CJK_WINDOW, CJK_SENTENCE) if cjk else (WINDOW, SENTENCE)
    window, at = best_window(occurrences, own, size)
    counts: dict[int, float] = {}
    best_share: dict[int, float] = {}
    lead: dict[int, float] = {}
    for o in occurrences:
        counts[o.term] = counts.get(o.term, 0.0) + o.share
        best_share[o.term] = max(best_share.get(o.term, 0.0), o.share)
        if o.start < LEAD:
            lead[o.term] = max(lead.get(o.term, 0.0), o.share)
    for term, share in in_title.items():
        best_share[term] = max(best_share.get(term, 0.0), share)
    lacking = [t for i, t in enumerate(keywords.terms) if best_share.get(i, 0.0) <= PAIR_SHARE]
    # Long articles hold many words by chance; the square root tempers what length takes away.
    norm = 0.4 + 0.6 * (max(len(text), 200) / 12_000) ** 0.5
    pattern = EXPECTED.get(keywords.expects)
    around = text[max(0, at - 60) : at + size + 60]
    parts = Scores(
        window=window / mass,
        sentence=best_window(occurrences, own, narrow)[0] / mass,
        phrases=_phrases(occurrences, keywords, own),
        expected=bool(pattern and pattern.search(around)),
        coverage=sum(own[t] * share for t, share in best_share.items()) / mass,
        frequency=sum(own[t] * n / (n + _K1 * norm) for t, n in counts.items()) / mass,
        lead=sum(own[t] * share for t, share in lead.items()) / mass,
        title=min(1.0, title.mass / mass),
        covered=title.covered,
        exact=title.exact,
        qualified=title.qualified,
        foreign=title.foreign,
        evidence=_evidence(keywords, own, evidence) / mass,
        language_match=bool(keywords.language) and article.language == keywords.language,
        demoted=_is_demoted(article, keywords, title),
        stub=_stub(len(text), CJK_STUB if cjk else STUB) if large else 0.0,
        out_of_vocabulary=sum(t.weight for t in lacking if not t.exists) / mass,
        unlisted=sum(t.weight for t in lacking if not t.listed and t.kind != "number") / mass,
        unknown_names=sum(t.weight for t in lacking if not t.exists and t.name) / mass,
        missing_names=sum(t.weight for t in lacking if t.exists and t.name) / mass,
    )
    relevance = article.relevance or Relevance()
    parts = replace(parts, meaning=relevance.similarity)
    return Ranked(
        article, _totalled(parts, relevance.freshness), text, tuple(starts), tuple(occurrences)
    )


def _totalled(parts: Scores, freshness: float) -> Scores:
    return replace(parts, total=round(total(parts, WEIGHTS) * freshness, 6))


def total(parts: Scores, weights: dict[str, float]) -> float:
    """The score of the parts under the given weights."""
    return (
        weights.get("meaning", WEIGHTS["meaning"]) * parts.meaning
        + weights["window"] * parts.window
        + weights["sentence"] * parts.sentence
        + weights["phrases"] * parts.phrases
        + weights["expected"] * parts.expected
        + weights["coverage"] * parts.coverage
        + weights["frequency"] * parts.frequency
        + weights["lead"] * parts.lead
        + weights["title"] * parts.title * parts.covered**2
        + weights["exact"] * parts.exact * parts.covered
        + weights["qualified"] * parts.qualified * parts.covered
        + weights["foreign"] * parts.foreign
        + weights["evidence"] * parts.evidence
        + weights["spoken"] * parts.language_match
        + weights["sinks"] * parts.demoted
        + weights["stub"] * parts.stub
    )


def _phrases(occurrences: Sequence[Occurrence], keywords: Keywords, own: Sequence[float]) -> float:
    """Share of the pairs of neighbouring words that stand together, in the question's order.

    A pair weighs as much as the lighter of its words.
    """
    order = sorted(range(len(own)), key=lambda term: keywords.terms[term].offset)
    before: dict[int, tuple[int, int]] = {}
    for first, second in pairwise(order):
        one, two = keywords.terms[first], keywords.terms[second]
        before[second] = first, two.offset - one.offset - len(one.text) + PHRASE_GAP
    ends: dict[int, int] = {}
    held: set[int] = set()
    for o in occurrences:
        if o.term in before and o.term not in held:
            first, gap = before[o.term]
            if first in ends and 0 <= o.start - ends[first] <= gap:
                held.add(o.term)
        ends[o.term] = o.end
    weights = {second: min(own[first], own[second]) for second, (first, _) in before.items()}
    whole = sum(weights.values())
    return sum(weights[second] for second in held) / whole if whole else 0.0


def _evidence(keywords: Keywords, own: Sequence[float], evidence: dict[str, float]) -> float:
    return sum(
        weight * (0.4 + 0.6 * evidence[term.stem])
        for term, weight in zip(keywords.terms, own, strict=True)
        if term.stem in evidence
    )


def best_window(
    occurrences: Sequence[Occurrence], weights: Sequence[float], size: int
) -> tuple[float, int]:
    """The window that holds the most weight of distinct terms.

    Args:
        occurrences: By offset.
        weights: Weight of each term.
        size: Length of the window in characters.

    Returns:
        The weight held and the offset where the window starts.
    """
    best, best_at = 0.0, 0
    inside: dict[int, list[float]] = {}
    held = 0.0
    left = 0
    for place, occurrence in enumerate(occurrences):
        shares = inside.setdefault(occurrence.term, [])
        before = max(shares, default=0.0)
        shares.append(occurrence.share)
        held += weights[occurrence.term] * (max(before, occurrence.share) - before)
        # A word longer than the window has one of its own.
        while left < place and occurrence.end - occurrences[left].start > size:
            gone = occurrences[left]
            rest = inside[gone.term]
            before = max(rest)
            rest.remove(gone.share)
            held -= weights[gone.term] * (before - max(rest, default=0.0))
            left += 1
        if held > best + 1e-9:
            best, best_at = held, occurrences[left].start
    return best, best_at


def _stub(length: int, bounds: tuple[int, int]) -> float:
    least, most = bounds
    grown = log(max(length, least) / least) / log(most / least)
    return max(0.0, 1.0 - grown)


def _is_demoted(article: Article, keywords: Keywords, title: TitleFit) -> bool:
    if title.exact:
        return False
    if _BARE_YEAR.search(article.title) or _MAIN_PAGE.search(article.title):
        return True
    if fold(article.title) in fold(keywords.question):
        return False  # "Show the list of rivers"
    return bool(_LIST_TITLE.search(article.title)) and not _LIST_TITLE.search(keywords.question)
