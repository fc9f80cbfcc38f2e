"""Which words of a question to search, how much each says, and which phrases may be titles."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from infoforge.text.inflection import inflected_zipf, without_marks
from infoforge.text.words import (
    DATA,
    FORMS_LISTED,
    exists,
    fold,
    has_list,
    listed_zipf,
    stem,
    stop_words,
    tokens,
)

_UNLISTED = 1.8
_TOP = 7.5
_QUESTION_LIMIT = 2000  # characters of a question that are looked at
_TERM_LIMIT = 24
NAME_BONUS = 0.8
_LETTER = 3.0  # what a name of one letter says
_SHORTEST_JOINED_NAME = 3
_LONGEST_SHORT_FORM = 5


@dataclass(frozen=True, slots=True)
class Term:
    """One word of the question.

    Attributes:
        text: As written.
        folded: Lower-case, without accents.
        stem: Snowball stem of it, folded.
        weight: How much finding it says: about 0.5 (common) to 5.7 (in no word list); 0 for a stop
            word.
        kind: ``word``, ``number``, ``acronym`` or ``cjk``.
        offset: Where it stands in the question.
        name: Written as a name: a capital where the language asks for none.
        listed: Whether the language's word list holds it.
        exists: Whether it is known to be a word at all (always, where nothing is known).
    """

    text: str
    folded: str
    stem: str
    weight: float
    kind: str
    offset: int
    name: bool
    listed: bool
    exists: bool


@dataclass(frozen=True, slots=True)
class Keywords:
    """What a question searches for.

    Attributes:
        question: The question, trimmed.
        language: ISO 639-1 code, empty when unknown.
        terms: Content words in the question's order, each stem once.
        words: All words of the question, stop words too, in order.
        expects: What the passage should hold: ``person``, ``date``, ``place``, ``number`` or empty.
    """

    question: str
    language: str
    terms: tuple[Term, ...]
    words: tuple[Term, ...]
    expects: str

    def by_rarity(self) -> tuple[Term, ...]:
        """The terms, the one that says most first; the question's order breaks ties.

        A name comes before a common word of its rarity: the article is more likely to hold it.
        """
        return tuple(sorted(self.terms, key=lambda t: (-t.weight - NAME_BONUS * t.name, t.offset)))


def keywords(question: str, language: str) -> Keywords:
    """Pick the words of a question that are worth a search.

    Args:
        question: The question, in any script.
        language: ISO 639-1 code; empty or unknown takes the neutral path (length for rarity).

    Returns:
        The keywords; when all words are stop words, all of them.
    """
    text = " ".join(question[:_QUESTION_LIMIT].split())
    shouting = text.isupper()
    asking = _ASKING.get(language, frozenset())
    stops = stop_words(language) | asking
    weak = _weak_words(language)
    # Where no list holds inflected forms, they count as the listed words that they belong to.
    inflects = has_list(language) and language not in FORMS_LISTED
    words: list[Term] = []
    sentence_start = True
    asked = False
    end = 0
    for word, offset, kind in tokens(text, language):
        between = text[end:offset]
        if re.search(r"[.?!:;¿¡]\s*$", between):
            sentence_start = True
        end = offset + len(word)
        lower = word.lower()
        zipf = listed_zipf(lower, language) if kind in ("word", "cjk") else None
        if inflects and kind == "word":
            # A form is rarer than its word, and says no more of an article than the word does.
            zipf = max((z for z in (zipf, inflected_zipf(lower, language)) if z), default=None)
        capital = word[0].isupper() and not shouting
        joined = kind == "cjk" and zipf is None and len(word) > 1
        name = capital and (not sentence_start or _odd_capitals(word)) and language != "de"
        if language == "de" and capital:
            name = zipf is None and not exists(lower, language)
        if inflects and zipf is None and not exists(lower, language):
            # No word of the language: with a capital, also the first of a sentence, or where a
            # script has none, it is a name.
            name = name or capital or lower == word.upper()
        if joined:
            name = len(word) >= _SHORTEST_JOINED_NAME
        weight = _weight(word, kind, zipf, language)
        if not words and not has_list(language) and kind != "cjk":
            weight *= 0.5  # the first word asks, in most languages
        # A stop word is one as it is written in running text: "May" and "US" may be names.
        if lower.replace("ß", "ss") in stops and not (name and zipf is not None and zipf <= 6.0):
            weight = 0.0
        elif lower in weak or (asked and kind != "number" and not name):
            weight *= 0.5
        asked = lower in asking
        form = kind
        if kind == "word" and len(word) == 1 and not word.isdigit() and word.isascii():
            # A capital by itself is a name ("vitamin C"), with a full stop an initial.
            letter = capital and not sentence_start and text[end : end + 1] != "." and weight > 0
            form, weight = ("acronym", _LETTER) if letter else (kind, 0.0)
        words.append(
            Term(
                text=word,
                folded=fold(without_marks(word)),
                stem=stem(without_marks(lower), language),
                weight=weight,
                kind=form,
                offset=offset,
                name=name,
                listed=zipf is not None,
                exists=(joined and not name)
                or form in ("number", "acronym")
                or _mixed(word)
                or _short_form(word, shouting)
                or zipf is not None
                or exists(lower, "en" if language in ("zh", "ja") and kind == "word" else language),
            )
        )
        sentence_start = False
    terms = _unique([w for w in words if w.weight > 0]) or _unique(words)
    return Keywords(
        text, language, tuple(terms[:_TERM_LIMIT]), tuple(words), expects(text, language)
    )


def _unique(words: list[Term]) -> list[Term]:
    found: dict[str, Term] = {}
    for word in words:
        found.setdefault(word.stem, word)
    return list(found.values())


def _mixed(word: str) -> bool:
    """Letters and digits in one word ("22nd", "F16"): no list can hold them all."""
    return any(c.isdigit() for c in word)


def _short_form(word: str, shouting: bool) -> bool:
    """Initials in capitals ("MLS")."""
    return len(word) <= _LONGEST_SHORT_FORM and word.isupper() and not shouting


def _odd_capitals(word: str) -> bool:
    return any(c.isupper() for c in word[1:])


def _weight(  # noqa: PLR0911 - a table of cases
    word: str, kind: str, zipf: float | None, language: str
) -> float:
    if kind == "number":
        return 3.6 if len(word) >= 4 else 2.4
    if kind == "acronym" or _mixed(word):
        return 4.0 if not word[:1].isdigit() else 3.0
    if zipf is not None:
        # One character stands inside many words of other meaning.
        return max(0.4, _TOP - zipf) * (0.5 if kind == "cjk" and len(word) == 1 else 1.0)
    if not has_list(language):
        # Without a list, length stands for rarity: short words are the common ones (Zipf's law of
        # abbreviation, 1935).
        shortest = 1 if kind == "cjk" else 0  # a syllable in Tibetan says something
        return min(5.0, 0.7 * max(shortest, len(word) - 2))
    if kind == "cjk":
        return 3.0 if len(word) == 1 else 5.0
    if len(word) <= 2:
        return 3.0
    return _TOP - _UNLISTED


# The noun behind one of these names the kind of answer ("which decade"), not what the article says.
_ASKING = {
    "en": frozenset(("what", "which", "whose", "many", "much")),
    "de": frozenset(("welche", "welcher", "welches", "welchem", "welchen", "viele", "wieviele")),
    "fr": frozenset(("quel", "quelle", "quels", "quelles")),
    "es": frozenset(("qué", "cuál", "cuáles", "cuántos", "cuántas")),
    "it": frozenset(("qual", "quale", "quali", "quanti", "quante")),
    "pt": frozenset(("qual", "quais", "quantos", "quantas")),
    "nl": frozenset(("welke", "welk", "hoeveel")),
    "ru": frozenset(("какой", "какая", "какое", "какие", "каком", "какую")),
}


@lru_cache(maxsize=8)
def _weak_words(language: str) -> frozenset[str]:
    """Words that ask rather than name: "called", "describe", "happened"."""
    try:
        return frozenset((DATA / f"{language}.weak").read_text(encoding="utf-8").split())
    except OSError:
        return frozenset()


_EXPECTS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("date", r"\b(?:when|what (?:year|date|day|month|decade|century)|"
                 r"which (?:year|date|day|decade))\b"),
        ("number", r"\bhow (?:many|much|old|long|tall|high|far|large|big|deep|fast|often)\b|"
                   r"\bwhat (?:percent\w*|number|amount|population)\b"),
        ("person", r"\bwho(?:m|se)?\b"),
        ("place", r"\bwhere\b|"
                  r"\b(?:what|which) (?:country|city|state|town|place|region|continent)\b"),
    ),
    "de": (
        ("date", r"\bwann\b|"
                 r"\b(?:welche\w*|in welchem) (?:jahr|datum|tag|monat|jahrzehnt|jahrhundert)"),
        ("number", r"\bwie ?(?:viele?|alt|lange|hoch|gro(?:ss|ß)|weit|tief|schnell|oft)\b|"
                   r"\bprozent"),
        ("person", r"\bwer\b|\bwem\b|\bwen\b|\bwessen\b"),
        ("place", r"\bwo\b|\bwohin\b|\bwoher\b|"
                  r"\bwelche\w* (?:land|stadt|staat|ort|region|kontinent)"),
    ),
    "fr": (
        ("date", r"\bquand\b|\bquelle (?:année|date|décennie)|\bquel (?:jour|mois|siècle)"),
        ("number", r"\bcombien\b|\bquel(?:le)? (?:nombre|âge|pourcentage|population)"),
        ("person", r"\bqui\b"),
        ("place", r"\boù\b|\bquel(?:le)? (?:pays|ville|région|état|lieu|continent)"),
    ),
    "es": (
        ("date", r"\bcu[aá]ndo\b|\b(?:qu[eé]|cu[aá]l) (?:año|fecha|d[ií]a|mes|siglo|d[eé]cada)"),
        ("number", r"\bcu[aá]nt[oa]s?\b|\bqu[eé] (?:porcentaje|n[uú]mero|cantidad)"),
        ("person", r"\bqui[eé]n(?:es)?\b"),
        ("place", r"\bd[oó]nde\b|\bqu[eé] (?:pa[ií]s|ciudad|estado|lugar|regi[oó]n|continente)"),
    ),
    "pt": (("date", r"\bquando\b"), ("number", r"\bquant[oa]s?\b"), ("person", r"\bquem\b"),
           ("place", r"\bonde\b")),
    "it": (("date", r"\bquando\b"), ("number", r"\bquant[oaie]\b"), ("person", r"\bchi\b"),
           ("place", r"\bdove\b|\bdov'")),
    "nl": (("date", r"\bwanneer\b"), ("number", r"\bhoeveel\b"), ("person", r"\bwie\b"),
           ("place", r"\bwaar\b")),
    "ru": (("date", r"\bкогда\b|\bкаком году\b"), ("number", r"\bсколько\b"),
           ("person", r"\bкто\b|\bкем\b"),
           ("place", r"\bгде\b|\bкуда\b|\bоткуда\b")),
    "zh": (
        ("date", r"什么时候|何时|哪一年|哪年|几年|什么时间|哪一天|几月|什么年"),
        ("number", r"多少|几[个名位次种]|多大|多高|多长|多远|百分之"),
        ("person", r"谁|哪位|什么人|何人"),
        ("place", r"哪里|哪儿|何处|什么地方|"
                  r"哪个(?:国家|城市|州|省|地区)"),
    ),
    "ja": (("date", r"いつ|何年"), ("number", r"いくつ|何人|どれくらい|いくら"),
           ("person", r"誰|だれ"), ("place", r"どこ")),
}  # fmt: skip


def expects(question: str, language: str) -> str:
    """What kind of thing the question asks for, by its question word.

    Returns:
        ``date``, ``number``, ``person``, ``place``, or empty when nothing tells.
    """
    text = question.lower()
    for kind, pattern in _EXPECTS.get(language, ()):
        if re.search(pattern, text):
            return kind
    return ""
