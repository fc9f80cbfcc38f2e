"""A name that no corpus knows: the word that it was most probably meant to be."""

from __future__ import annotations

import time
from collections.abc import Sequence

from infoforge.corpus.base import Corpus, Deadline
from infoforge.retrieval.keywords import Keywords, Term
from infoforge.retrieval.relax import SearchStep
from infoforge.text.spelling import corrections

TRIED = 6
"""Spellings that are looked for."""


def respell(
    asked: Keywords,
    absent: frozenset[str],
    corpora: Sequence[Corpus],
    deadline: Deadline,
    steps: list[SearchStep],
) -> tuple[str, str] | None:
    """Find what the rarest unknown word of a question was meant to be.

    A word is taken for misspelt when no list knows it and no corpus holds it. Of the known words
    one edit away, the first that stands together with the question's next rare word is taken; for
    what is written as a name, or stands alone, else the first that is found at all. (A common word
    that no list knows is an inflection or a compound more often than a slip.)

    Args:
        asked: The question's keywords.
        absent: Stems that were looked for in every corpus, in vain.
        corpora: Where to look.
        deadline: For the whole search.
        steps: Takes the searches that were made.

    Returns:
        The word as written and as meant; ``None`` when nothing is known to be misspelt.

    Raises:
        DeadlineExceeded: The time ran out.
        CorpusError: A corpus failed.
    """
    ranked = asked.by_rarity()
    wrong = next(
        (t for t in ranked if t.stem in absent and t.kind == "word" and not t.exists), None
    )
    if wrong is None:
        return None
    language = asked.language if asked.language not in ("zh", "ja") else "en"
    spellings = corrections(wrong.text.lower(), language)[:TRIED]
    anchor = next((t for t in ranked if t.stem not in absent), None)
    ways: list[Term | None] = [anchor, None] if anchor and wrong.name else [anchor]
    for neighbour in ways:
        for spelling in spellings:
            if any(_found(spelling, neighbour, corpus, deadline, steps) for corpus in corpora):
                return wrong.text, spelling.capitalize() if wrong.name else spelling
    return None


def _found(
    spelling: str,
    neighbour: Term | None,
    corpus: Corpus,
    deadline: Deadline,
    steps: list[SearchStep],
) -> bool:
    query = f"{spelling} {neighbour.text}" if neighbour else spelling
    started = time.perf_counter()
    total = corpus.search(query, 1, deadline).total
    steps.append(SearchStep(corpus.name, "spelling", query, total, time.perf_counter() - started))
    return total > 0
