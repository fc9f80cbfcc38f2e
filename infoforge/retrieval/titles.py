"""Titles: which phrases of a question may be one, and how well a title fits a question."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from infoforge.retrieval.keywords import Keywords, Term
from infoforge.text.words import fold, is_unspaced, stem, tokens

_QUALIFIER = re.compile(r"\s*[(（]([^()（）]*)[)）]\s*$")
_QUOTED = re.compile('["“”«»„「『《]([^"“”«»„「」『』《》]{2,80})["“”«»」』》]')
_CONNECTING = frozenset(
    (
        "of", "the", "and", "in", "for", "on", "at", "to", "a", "an", "de", "la", "le", "les", "du",
        "des", "del", "della", "di", "da", "do", "dos", "von", "van", "der", "den", "und", "et",
        "e", "y", "i",
    )
)  # fmt: skip
_BEGINNINGS = (2, 4, 7)  # letters of a title that are looked for, more while there are many
_LONGEST = 6  # words of a phrase; longer titles are found by full text


def phrases(keywords: Keywords, most: int) -> list[str]:
    """Phrases of the question that may be titles, the most promising first.

    Quoted phrases, then runs of capitalised words (with the small words inside them), then
    neighbouring content words by what they say, then the rarest word alone.

    Args:
        keywords: The question's keywords.
        most: How many at most.
    """
    found: dict[str, float] = {}
    for match in _QUOTED.finditer(keywords.question):
        found.setdefault(match.group(1).strip(), 100.0)
    for run in _capitalised(keywords):
        text = keywords.question[run[0].offset : run[-1].offset + len(run[-1].text)]
        found.setdefault(text, 20.0 + sum(term.weight for term in run))
    for left, right in zip(keywords.words, keywords.words[1:], strict=False):
        between = keywords.question[left.offset + len(left.text) : right.offset]
        if left.weight and right.weight and between.strip(" -") == "":
            text = keywords.question[left.offset : right.offset + len(right.text)]
            found.setdefault(text, left.weight + right.weight)
    for term in keywords.terms:
        if term.kind != "number":
            found.setdefault(term.text, term.weight + (1.5 if term.name else 0.0))
    ranked = sorted(found, key=lambda phrase: -found[phrase])
    return ranked[:most]


def beginnings(question: str, most: int) -> list[tuple[int, tuple[str, ...]]]:
    """Where titles may begin in a question in a script without spaces.

    The index holds a stretch without spaces as one word, and a title is found by the beginning of a
    word alone. A title begins with a letter, so one place is given for each; a mark begins none.

    Args:
        question: The question.
        most: How many at most.

    Returns:
        An offset of the question, and the letters there with their marks: a few, then more of them
        for an index that has too many titles with these few.
    """
    found: list[tuple[int, tuple[str, ...]]] = []
    for run in re.finditer(r"[^\W\d_](?:[^\s\u200b])*", question):
        text = run.group()
        if not is_unspaced(text):
            continue
        starts = [n for n, c in enumerate(text) if unicodedata.category(c) == "Lo"]
        for place, start in enumerate(starts):
            ends = [starts[place + n] if place + n < len(starts) else None for n in _BEGINNINGS]
            # In Tibetan a dot ends each syllable; the last one of a title may have none.
            texts = tuple(dict.fromkeys(text[start:end].rstrip("་།") for end in ends))
            found.append((run.start() + start, texts))
    return found[:most]


def separated(question: str, titles: Iterable[str]) -> str:
    """A question in which the titles that it holds are words of their own.

    Args:
        question: A question in a script without spaces.
        titles: Titles; of those that overlap, the first counts, and of these the longest.

    Returns:
        The question with a zero-width space, the word boundary of such scripts, around each title.
    """
    bases = sorted({split_title(title)[0] for title in titles}, key=lambda t: (-len(t), t))
    own = [re.escape(base) for base in bases if is_unspaced(base)]
    if not own:
        return question
    apart = re.sub("|".join(own), "\u200b\\g<0>\u200b", question)
    return re.sub("\u200b+", "\u200b", apart).strip("\u200b")


def _capitalised(keywords: Keywords) -> list[list[Term]]:
    runs: list[list[Term]] = []
    run: list[Term] = []
    for position, word in enumerate(keywords.words):
        gap = ""
        if run:
            gap = keywords.question[run[-1].offset + len(run[-1].text) : word.offset]
        joins = not run or (gap.strip() in ("", "-", "–", ".", "'", "&") or gap in ("'s ", "’s "))
        small = bool(run) and word.text in _CONNECTING and len(run) < _LONGEST
        if joins and (word.name or (run and _starts_title(word)) or small):
            run.append(word)
        else:
            _close(run, runs)
            run = [word] if word.name else []
        if not run and position == 0 and word.text[:1].isupper() and word.weight:
            run = [word]  # the first word's capital says little, unless a name follows
    _close(run, runs)
    return runs


def _starts_title(word: Term) -> bool:
    return word.text[:1].isupper() or word.kind in ("number", "acronym")


def _close(run: list[Term], runs: list[list[Term]]) -> None:
    while run and run[-1].text in _CONNECTING:
        run.pop()
    if run and any(term.weight for term in run) and (len(run) > 1 or run[0].name):
        runs.append(list(run))
    run.clear()


@dataclass(frozen=True, slots=True)
class TitleFit:
    """How a title fits a question.

    Attributes:
        mass: Weight of the question's words that the title holds.
        covered: Share of the title's words (without its qualifier) that the question holds, 0 to 1.
        exact: The title stands in the question as it is written, capitals and accents included.
        qualified: Share of the qualifier's words ("novel" of "Kokoro (novel)") in the question.
        foreign: The title has a qualifier and the question none of its words.
    """

    mass: float
    covered: float
    exact: bool
    qualified: float
    foreign: bool


@lru_cache(maxsize=4096)
def _stems(text: str, language: str) -> tuple[str, ...]:
    return tuple(
        stem(word.lower(), language) if kind == "word" else fold(word)
        for word, _, kind in tokens(text, language)
    )


def split_title(title: str) -> tuple[str, str]:
    """A title without its qualifier, and the qualifier ("Kokoro", "novel")."""
    match = _QUALIFIER.search(title)
    if match is None or not title[: match.start()].strip():
        return title, ""
    return title[: match.start()], match.group(1)


def fit(title: str, keywords: Keywords) -> TitleFit:
    """Compare a title with a question.

    Args:
        title: An article's title.
        keywords: The question's keywords.
    """
    base, qualifier = split_title(title)
    weights: dict[str, float] = {}
    for word in keywords.words:
        weights[word.stem] = max(weights.get(word.stem, 0.0), word.weight)
    stems = _stems(base, keywords.language)
    held = [s for s in dict.fromkeys(stems) if s in weights]
    mass = sum(weights[s] for s in held)
    content = [s for s in stems if s not in _CONNECTING] or list(stems)
    covered = sum(1 for s in content if s in weights) / len(content) if content else 0.0
    marks = _stems(qualifier, keywords.language) if qualifier else ()
    named = sum(1 for s in marks if weights.get(s, 0.0) > 0)
    return TitleFit(
        mass=mass,
        covered=covered,
        exact=mass > 0 and _stands_in(base, keywords.question),
        qualified=named / len(marks) if marks else 0.0,
        foreign=bool(marks) and not named,
    )


def best_fit(titles: Sequence[str], keywords: Keywords) -> TitleFit:
    """How the best of an article's titles fits a question.

    Args:
        titles: The article's title, then its aliases; the first of equal ones counts.
        keywords: The question's keywords.
    """
    fits = [fit(title, keywords) for title in titles]
    return max(fits, key=lambda f: (f.mass * f.covered**2 + f.qualified - 0.5 * f.foreign, f.exact))


def _stands_in(title: str, question: str) -> bool:
    at = question.find(title)
    while at >= 0:
        before = question[at - 1] if at else " "
        end = at + len(title)
        after = question[end] if end < len(question) else " "
        if not before.isalnum() and not after.isalnum():
            return True
        at = question.find(title, at + 1)
    return False
