"""The relevance filter: an article that lacks the question's rare words is not used.

Better nothing found than five irrelevant articles: the user can act on the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from infoforge.retrieval.ranking import Ranked

COVERAGE = 0.25
"""Least share of the weight of the question's words that a source must hold."""
WINDOW = 0.22
"""Least share that its best window must hold."""
TITLED = 0.5
"""Share of the question's words that a title holds that needs no window to speak for it."""
FALL = 0.35
"""A source scores at least this share of the best one's score."""
OUT_OF_VOCABULARY = 0.38
"""Share of words that do not exist at which nothing can be about the question."""
UNLISTED = 0.47
"""Share of rare words that the article lacks at which it cannot be about the question."""
UNKNOWN_NAMES = 0.25
"""Share of unheard-of names that a source may lack unless its title is in the question."""
MISSING_NAMES = 0.42
"""The same for known names: an article on Germany may well say "German" alone."""


REASONS = {
    "invented": "it lacks words of the question that no word list knows",
    "names": "it lacks a name that the question gives",
    "coverage": "it holds too few of the question's words",
    "window": "no stretch of it holds enough of the question's words together",
    "score": "it fits far worse than the best article",
}
"""Each reason of `reason`, in words."""


def reason(item: Ranked, best: float) -> str:
    """Why an article is rejected; empty when it is not.

    Args:
        item: The scored article.
        best: The best article's score.

    Returns:
        One of ``invented``, ``names``, ``coverage``, ``window``, ``score``, or empty.
    """
    if item.article.relevance is not None and item.article.relevance.near:
        return ""  # a note that says it in other words
    scores = item.scores
    meant = scores.exact and scores.covered == 1.0 and scores.title >= UNKNOWN_NAMES
    if scores.out_of_vocabulary >= OUT_OF_VOCABULARY or (scores.unlisted >= UNLISTED and not meant):
        return "invented"
    if not meant and (
        scores.unknown_names >= UNKNOWN_NAMES
        or scores.unknown_names + scores.missing_names >= MISSING_NAMES
    ):
        return "names"
    if scores.coverage < COVERAGE:
        return "coverage"
    # A redirect's title need not stand in the text: "Podagra" leads to an article on gout.
    titled = scores.covered == 1.0 and (meant or scores.title >= TITLED)
    if scores.window < WINDOW and not titled:
        return "window"
    return "score" if scores.total < FALL * best else ""


def split(ranked: Sequence[Ranked]) -> tuple[list[Ranked], list[Ranked]]:
    """Split ranked articles into those that pass and those that do not.

    Args:
        ranked: Scored articles, best first.

    Returns:
        Those that pass, then the others, both in order.
    """
    passed: list[Ranked] = []
    refused: list[Ranked] = []
    best = ranked[0].scores.total if ranked else 0.0
    for item in ranked:
        (refused if reason(item, best) else passed).append(item)
    return passed, refused
