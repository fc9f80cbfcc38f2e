"""When a title is the right one and a text holds the answer."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from infoforge.text.words import is_cjk

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_CITATION = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]")
_PUNCTUATION = frozenset(string.punctuation)


def normal(text: str) -> str:
    """One form of texts that read the same: NFKC, case folded, one space between words."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def same_title(one: str, other: str) -> bool:
    """Whether two titles are the same but for case, spaces, underscores and Unicode form."""
    return normal(one.replace("_", " ")) == normal(other.replace("_", " "))


def holds(text: str, answers: Iterable[str]) -> bool:
    """Whether one of the answers stands in a text."""
    whole = normal(text)
    return any(normal(answer) in whole for answer in answers)


def squad(text: str) -> list[str]:
    """Words of an answer as SQuAD's own script counts them (Rajpurkar et al. 2016).

    No case, no punctuation, no English articles; Han characters and kana each count as a word.
    Citation numbers are left out.
    """
    plain = unicodedata.normalize("NFKC", _CITATION.sub(" ", text)).casefold()
    plain = "".join(
        " " if unicodedata.category(c).startswith("P") and c not in _PUNCTUATION else c
        for c in plain
        if c not in _PUNCTUATION
    )
    plain = _ARTICLES.sub(" ", plain)
    return "".join(f" {c} " if is_cjk(c) else c for c in plain).split()


def exact(answer: str, answers: Sequence[str]) -> bool:
    """SQuAD's exact match with any of the answers."""
    own = squad(answer)
    return any(own == squad(other) for other in answers)


def token_f1(answer: str, answers: Sequence[str]) -> float:
    """SQuAD's F1 over words, the best over the answers."""
    return max((_f1(squad(answer), squad(other)) for other in answers), default=0.0)


def _f1(own: list[str], wanted: list[str]) -> float:
    if not own or not wanted:
        return float(own == wanted)
    same = sum((Counter(own) & Counter(wanted)).values())
    return 2 * same / (len(own) + len(wanted))
