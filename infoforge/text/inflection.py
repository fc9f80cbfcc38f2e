"""Whether two words are forms of one word, in any language, and how common the word is in all.

A stemmer exists for thirty languages; an inflected form stands in no word list; and in half of the
world's scripts particles are attached to the word. What forms of one word share, whatever the
language, is most of their letters: a long common beginning with short endings (Porter 1980 calls
what follows it the suffix; Xu and Croft 1998 compare words by it), after attached particles and
vowel marks are taken off. An ending is what many listed words have behind another listed word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from infoforge.text.words import DATA, STEMMERS, fold, lines_with_prefix, listed_zipf, stem

_ATTACHED = {
    # Conjunctions, prepositions and the article, which are written together with the word.
    "ar": re.compile(r"^(?:[وف]?(?:[بكل]?ال|لل)|[وف][بكلس]?|[بكلس])(?=\w{2})"),
    "he": re.compile(r"^ו?(?:מה|שה|כש|לכש|[הבלמכש])?(?=\w{2})"),
    "yi": re.compile(r"^(?:גע)(?=\w{3})"),
}
"""What may stand before the word itself, by language."""

_KOREAN = re.compile(
    r"(?:에서는|에서도|으로는|으로써|으로서|이라는|이라고|입니까|습니까|인가요|에게서|부터|까지|에게|에서|"
    r"으로|이란|라는|라고|처럼|보다|마다|조차|밖에|이나|하고|은|는|이|가|을|를|의|에|로|와|과|도|만|란|나)$"
)
_APOSTROPHE = re.compile(r"(?<=\w\w)['’ʼ]\w{1,8}$")
_MARKS = re.compile(
    r"[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]"
)
"""Vowel points of Hebrew and Arabic, and the tatweel: written or left out at will."""

_LONGEST_ENDING = 8
_SHORTEST_BASE = 4
_SHORT_ENDING = 3


def without_marks(word: str) -> str:
    """A word without vowel points and tatweel."""
    return _MARKS.sub("", word) if not word.isascii() else word


def has_marks(text: str) -> bool:
    """Whether a text holds vowel points or tatweel."""
    return _MARKS.search(text) is not None


@lru_cache(maxsize=65536)
def forms(word: str, language: str) -> tuple[str, ...]:
    """The word as it may stand without what is attached to it.

    Args:
        word: One word, lower-case.
        language: ISO 639-1 code; empty when unknown.

    Returns:
        The word without marks first, then shorter forms; at least one.
    """
    plain = without_marks(unicodedata.normalize("NFC", word))
    found = [plain]
    if "'" in plain or "’" in plain or "ʼ" in plain:
        found.append(_APOSTROPHE.sub("", plain))
    attached = _ATTACHED.get(language)
    if attached is not None:
        found += [attached.sub("", form, count=1) for form in tuple(found)]
    if "\uac00" <= plain[:1] <= "\ud7a3":
        bare = _KOREAN.sub("", plain)
        if len(bare) >= 2:
            found.append(bare)
    return tuple(dict.fromkeys(form for form in found if form))


@lru_cache(maxsize=65536)
def stems(word: str, language: str) -> frozenset[str]:
    """Folded stems of the forms of a word; where there is no stemmer, the folded forms.

    Args:
        word: One word, lower-case.
        language: ISO 639-1 code.
    """
    return frozenset(stem(form, language) for form in forms(word, language))


def least_common(word: str) -> int:
    """Letters that a word must share with another form of itself, from the beginning.

    Three fifths of it, at least four letters; at least two where a character is a syllable.
    """
    if "\uac00" <= word[:1] <= "\ud7a3":
        return max(2, (len(word) * 3 + 4) // 5)
    return max(_SHORTEST_BASE, (len(word) * 3 + 4) // 5)


@lru_cache(maxsize=65536)
def same_word(one: str, other: str, language: str) -> bool:
    """Whether two words are forms of one word.

    Args:
        one: A word, lower-case.
        other: Another one.
        language: ISO 639-1 code of both; empty when unknown.
    """
    if one == other or stems(one, language) & stems(other, language):
        return True
    return any(_alike(a, b, language) for a in forms(one, language) for b in forms(other, language))


def _alike(one: str, other: str, language: str, *, listed: bool = False) -> bool:
    """Whether two words begin alike and end in what are endings of the language.

    Args:
        one: A word.
        other: Another one.
        language: ISO 639-1 code.
        listed: Take no ending that is not one of many listed words.
    """
    size = common_prefix(fold(one), fold(other))
    if size < max(least_common(one), least_common(other)):
        return False
    endings = (one[size:], other[size:])
    if size <= _SHORTEST_BASE and listed:
        return False  # too short to say that a word exists
    if not listed and size > _SHORTEST_BASE and max(map(len, endings)) <= _SHORT_ENDING:
        return True  # of names, whose forms no list holds
    return all(is_ending(ending, language) for ending in endings)


def common_prefix(one: str, other: str) -> int:
    """How many characters two words share from their beginnings."""
    size = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        size += 1
    return size


def is_ending(letters: str, language: str) -> bool:
    """Whether letters are an ending of the language (``data/words/LANG.endings``), or none at all.

    Args:
        letters: As written, lower-case.
        language: ISO 639-1 code; without a list any few letters may be an ending.
    """
    known = _endings(language)
    return not letters or (letters in known if known else len(letters) <= _SHORTEST_BASE)


@lru_cache(maxsize=8)
def _endings(language: str) -> frozenset[str]:
    try:
        return frozenset((DATA / f"{language}.endings").read_text(encoding="utf-8").split())
    except OSError:
        return frozenset()


@lru_cache(maxsize=16384)
def inflected_zipf(word: str, language: str) -> float | None:
    """Zipf value of the word that a form in no list belongs to.

    Args:
        word: Lower-case, in no list itself.
        language: ISO 639-1 code.

    Returns:
        The value of the commonest listed form of the same word, or ``None``.
    """
    return max(_relatives(word, language), default=None)


def _relatives(word: str, language: str) -> Iterator[float]:
    """Zipf values of listed words that are forms of the same word."""
    for form in forms(word, language):
        value = listed_zipf(form, language)
        if value is not None and form != word:
            yield value
        own = stem(form, language)
        if language in STEMMERS:
            beginning = form[: max(3, min(len(own), len(form)) - 1)]
            for other, value in lines_with_prefix(beginning, language):
                if stem(other, language) == own:
                    yield value
        least = least_common(form)
        for cut in range(len(form) - 1, least - 1, -1):
            base, ending = form[:cut], form[cut:]
            if len(ending) > _LONGEST_ENDING:
                break
            value = listed_zipf(base, language)
            if value is not None and is_ending(ending, language):
                yield value
                break
        else:
            for other, value in lines_with_prefix(form[:least], language):
                if _alike(form, other, language, listed=True):
                    yield value
