"""Where the words of a question stand in a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from infoforge.retrieval.keywords import Keywords, Term
from infoforge.text.inflection import forms, least_common, same_word
from infoforge.text.words import COMPOUNDING, FORMS_LISTED, STEMMERS, stem

_COMPOUND_SHARE = 0.6
FUZZY_SHARE = 0.8
"""Share of a word that is one edit away from the question's."""
_MIN_FUZZY = 5
_MIN_FUZZY_COMMON = 7
PAIR_SHARE = 0.3
"""Share of two neighbouring characters of a word in Han characters that the text lacks."""
_PAIR = 2
_IDEOGRAPHS = "\u2e80"
"""From here on a character is a word or a syllable; Thai, Lao and Khmer come before."""
_MIN_COMPOUND = 5
_MIN_PREFIX = 3
_JOINS = "'\u0640" + "".join(map(chr, (*range(0x064B, 0x0660), *range(0x0591, 0x05BE))))
"""What stands inside a word though it is no letter: apostrophes and vowel points."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A word of the question at an offset of the text; ``share`` is 1 for the word itself."""

    start: int
    end: int
    term: int
    share: float


class Matcher:
    """Finds a question's terms in texts of one language.

    A term is looked for by the part that its inflections have in common, with plain substring
    search, and each find is then checked by stemming the whole word: that is many times faster
    than splitting the text into words, and finds the same.

    Args:
        keywords: The question's keywords; ``terms`` decides the indices.
        language: Language of the texts.
    """

    def __init__(self, keywords: Keywords, language: str) -> None:
        self.terms: Sequence[Term] = keywords.terms
        self.language = language
        self._stems = [
            stem(term.text.lower(), language) if term.kind == "word" else term.stem
            for term in self.terms
        ]
        self._prefixes = [
            _common_prefix(term, own) for term, own in zip(self.terms, self._stems, strict=True)
        ]
        self._compounds = language in COMPOUNDING
        self._inflects = language not in FORMS_LISTED
        """No list holds the forms of words: they are compared by what they have in common."""
        if self._inflects:
            self._prefixes = [
                _shared_beginning(term, language) if term.kind == "word" else prefix
                for term, prefix in zip(self.terms, self._prefixes, strict=True)
            ]

    def find(self, text: str) -> list[Occurrence]:
        """All occurrences in a text that was folded with `text.words.fold`, by offset."""
        found: list[Occurrence] = []
        for index, term in enumerate(self.terms):
            if term.kind == "word" and self._inflects:
                self._inflected(text, index, term, found)
            elif term.kind == "word":
                self._words(text, index, term, found)
            elif term.kind == "cjk":
                if not _literal(text, term.folded, index, found) and len(term.folded) > _PAIR:
                    for at in range(len(term.folded) - 1):
                        pair = term.folded[at : at + _PAIR]
                        _literal(text, pair, index, found, PAIR_SHARE)
            else:
                _pattern(text, term, index, found)
        found.sort(key=lambda o: (o.start, -o.share))
        return found

    def find_misspelt(self, text: str, missing: Sequence[int]) -> list[Occurrence]:
        """Occurrences of words one edit away from terms that no list holds and the text lacks.

        Args:
            text: Folded text.
            missing: Indices of the terms to look for.

        Returns:
            Occurrences with a share of `FUZZY_SHARE`.
        """
        found: list[Occurrence] = []
        for index in missing:
            term = self.terms[index]
            word = term.folded
            if term.kind != "word" or len(word) < (_MIN_FUZZY if term.name else _MIN_FUZZY_COMMON):
                continue
            # One edit leaves the first or the last two letters as they are.
            between = f"{{{len(word) - 3},{len(word) - 1}}}"
            head, tail = re.escape(word[:2]), re.escape(word[-2:])
            shape = rf"(?<!\w)(?:{head}\w{between}|\w{between}{tail})(?!\w)"
            for match in re.finditer(shape, text):
                if one_edit(word, match.group()):
                    found.append(Occurrence(match.start(), match.end(), index, FUZZY_SHARE))
        return found

    def _words(self, text: str, index: int, term: Term, found: list[Occurrence]) -> None:
        prefix = self._prefixes[index]
        wanted = self._stems[index]
        at = text.find(prefix)
        size = len(text)
        while at >= 0:
            end = at + len(prefix)
            while end < size and (text[end].isalnum() or text[end] in "'’"):
                end += 1
            inside = at > 0 and text[at - 1].isalnum()
            share = 0.0
            if not inside:
                share = self._same(text[at:end], term, wanted)
            elif self._compounds and len(prefix) >= _MIN_COMPOUND:
                share = _COMPOUND_SHARE
            if share:
                found.append(Occurrence(at, end, index, share))
            at = text.find(prefix, end if not inside else at + len(prefix))

    def _inflected(self, text: str, index: int, term: Term, found: list[Occurrence]) -> None:
        """Words that are forms of the term; the folded text is compared with the folded term."""
        prefix = self._prefixes[index]
        at = text.find(prefix)
        while at >= 0:
            start, end = at, at + len(prefix)
            while start > 0 and (text[start - 1].isalnum() or text[start - 1] in _JOINS):
                start -= 1
            while end < len(text) and (text[end].isalnum() or text[end] in _JOINS):
                end += 1
            word = text[start:end].strip("'")
            if same_word(term.folded, word, self.language):
                found.append(Occurrence(start, end, index, 1.0))
            elif self._compounds and len(prefix) >= _MIN_COMPOUND:
                found.append(Occurrence(at, end, index, _COMPOUND_SHARE))
            at = text.find(prefix, end)

    def _same(self, word: str, term: Term, wanted: str) -> float:
        """1 for an inflection of the term, less for a compound that begins with it, 0 else."""
        word = word.rstrip("'’")
        if word.endswith(("'s", "’s")):
            word = word[:-2]
        if word == term.folded or stem(word, self.language) == wanted:
            return 1.0
        if self.language not in STEMMERS and word.startswith(term.folded) and len(term.folded) > 3:
            return 1.0 if len(word) - len(term.folded) <= 3 else 0.0
        if self._compounds and len(term.folded) >= _MIN_COMPOUND:
            return _COMPOUND_SHARE
        return 0.0


def _shared_beginning(term: Term, language: str) -> str:
    """The letters with which every form of a term begins, after what may be attached to it."""
    shortest = min(forms(term.folded, language), key=len)
    return shortest[: min(least_common(shortest), len(shortest))]


def _common_prefix(term: Term, own_stem: str) -> str:
    size = 0
    for a, b in zip(term.folded, own_stem, strict=False):
        if a != b:
            break
        size += 1
    if size < _MIN_PREFIX:
        return term.folded
    # Stemmers turn a last y into i ("theories", "theory"): the last letter is left to the check.
    return term.folded[: size - 1] if size > _MIN_PREFIX + 1 else term.folded[:size]


def _literal(text: str, word: str, index: int, found: list[Occurrence], share: float = 1.0) -> bool:
    if share < 1.0 and word[0] < _IDEOGRAPHS:
        return False  # two letters of an alphabet say nothing
    at = first = text.find(word)
    while at >= 0:
        found.append(Occurrence(at, at + len(word), index, share))
        at = text.find(word, at + len(word))
    return first >= 0


def _pattern(text: str, term: Term, index: int, found: list[Occurrence]) -> None:
    if term.kind == "number":
        digits = re.split("[.,]", term.folded)
        body = "[., \u00a0\u202f']?".join(digits)
        pattern = rf"(?<![\d.,]){body}(?![\d]|[.,]\d)" if len(digits) > 1 else _plain(digits[0])
    elif term.folded[-1] in "#+":
        pattern = rf"(?<!\w){re.escape(term.folded)}(?![\w#+])"
    elif len(term.folded) == 1:
        pattern = rf"(?<![\w#+]){term.folded}(?![\w#+])"  # C, not C++
    elif "&" in term.folded:
        pattern = r"(?<!\w)" + r" ?& ?".join(map(re.escape, term.folded.split("&"))) + r"(?!\w)"
    else:
        letters = [re.escape(c) for c in term.folded if c.isalnum()]
        pattern = r"(?<!\w)" + r"\.?".join(letters) + r"(?!\w)"
    for match in re.finditer(pattern, text):
        found.append(Occurrence(match.start(), match.end(), index, 1.0))


def _plain(digits: str) -> str:
    """A number written without separators also stands for the same one with them (1000, 1,000)."""
    groups: list[str] = []
    while digits:
        groups.insert(0, digits[-3:] if len(digits) > 3 else digits)
        digits = digits[: -len(groups[0])]
    return rf"(?<!\d)(?<!\d[.,]){'[., ]?'.join(groups)}(?!\d)(?![.,]\d)"


def one_edit(a: str, b: str) -> bool:
    """Whether two words differ by one letter: put in, left out, changed or swapped with the next.

    (Damerau 1964: four of five misspellings are one of these.)
    """
    if abs(len(a) - len(b)) > 1 or a == b:
        return False
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    rest_a, rest_b = a[start:], b[start:]
    if len(a) == len(b):
        swapped = len(rest_a) > 1 and rest_a[1] + rest_a[0] + rest_a[2:] == rest_b
        return rest_a[1:] == rest_b[1:] or swapped
    return rest_a[1:] == rest_b or rest_a == rest_b[1:]
