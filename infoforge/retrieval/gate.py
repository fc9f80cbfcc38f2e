"""The gate: what does not match the question's rare words is no source.

Better nothing found than five irrelevant articles: whoever asks can act on the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from infoforge.retrieval.keywords import Keywords
from infoforge.retrieval.ranking import Ranked

COVERAGE = 0.45
"""Least share of the weight of the question's words that a source must hold."""
WINDOW = 0.3
"""Least share that its best window must hold."""
FALL = 0.45
"""A source scores at least this share of the best one's score."""


def split(keywords: Keywords, ranked: Sequence[Ranked]) -> tuple[list[Ranked], list[Ranked]]:
    """Split ranked articles into those that pass and those that do not.

    Args:
        keywords: The question's keywords.
        ranked: Scored articles, best first.

    Returns:
        Those that pass, then the others, both in order.
    """
    passed: list[Ranked] = []
    refused: list[Ranked] = []
    best = ranked[0].scores.total if ranked else 0.0
    for item in ranked:
        scores = item.scores
        holds = scores.coverage >= COVERAGE and scores.window >= WINDOW
        near = scores.total >= FALL * best
        (passed if holds and near else refused).append(item)
    return passed, refused
