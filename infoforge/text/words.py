"""Words: tokens of any script, folding, stems, stop words, and how common a word is.

The word lists under ``data/words`` are made by ``scripts/make-words``. Each ``.freq`` file is
sorted by bytes and bisected where it lies on disk, so looking up ten words loads nothing.
"""

from __future__ import annotations

import mmap
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from infoforge.text import bloom

DATA = Path(__file__).resolve().parent.parent / "data" / "words"

COMPOUNDING = frozenset(("de", "nl", "sv", "da", "no", "fi", "hu", "is"))
"""Languages that write compounds as one word, so that a word may stand inside another."""

UNKNOWN_ZIPF = 1.8
"""Zipf value of a word that its language's list does not hold: rarer than any listed word."""

# \w leaves out combining marks, which would split words of Indic and South-East Asian scripts at
# their vowel signs, and vocalised Hebrew and Arabic at every point.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0957"
    "\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a4d\u0a70\u0a71\u0a81-\u0a83"
    "\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3e-\u0c56"
    "\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0d82\u0d83\u0dca-\u0ddf\u0e31"
    "\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f71-\u0f84\u102b-\u103e"
    "\u1056-\u1059\u17b4-\u17d3\u200c\u200d"
)

_INNER = rf"[\w{_MARKS}]"
_CJK = (
    "\u2e80-\u2fdf\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)

_UNSPACED = re.compile("[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff]")
"""A character of Thai, Lao, Tibetan, Burmese or Khmer, which are written without spaces."""


def is_unspaced(text: str) -> bool:
    """Whether a text holds characters of a script that has no spaces and no segmenter here."""
    return not text.isascii() and _UNSPACED.search(text) is not None


_TOKEN = re.compile(
    rf"(?P<cjk>[{_CJK}]+)"
    r"|(?P<number>\d+(?:[.,]\d+)*)(?![^\W_])"
    rf"|(?P<acronym>(?:(?![{_CJK}])[^\W\d_]\.){{2,}}(?:(?![{_CJK}])[^\W\d_](?!{_INNER}))?"
    # "V&A", "AT&T": the index keeps these as one word, too.
    rf"|(?<!{_INNER})[^\W\d_]{{1,3}}(?:&[^\W\d_]{{1,3}})+(?!{_INNER})(?:['’ʼ]s(?!{_INNER}))?"
    # "C#", "C++": the index keeps the signs.
    rf"|(?<!{_INNER})[A-Za-z](?:#|\+\+)(?![\w#+]))"
    rf"|(?P<word>(?:(?![{_CJK}])[\w{_MARKS}])+(?:['’ʼ](?:(?![{_CJK}])[\w{_MARKS}])+)*)"
)

_ELISION = {
    "fr": re.compile(r"^(?:[ldcjmnst]|qu|lorsqu|puisqu|jusqu)['’ʼ](?=.)", re.IGNORECASE),
    "it": re.compile(r"^(?:l|un|d|c|s|dell|nell|all|dall|sull|quell)['’ʼ](?=.)", re.IGNORECASE),
    "ca": re.compile(r"^(?:[ldmnst])['’ʼ](?=.)", re.IGNORECASE),
}
_POSSESSIVE = re.compile(r"['’ʼ]s?$")

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Languages with a Snowball stemmer, by ISO 639-1 code."""


_VARIANTS = str.maketrans(
    # Forms of alef, yeh and kaf; final letters of Hebrew and Greek; the dotless i.
    "\u0623\u0625\u0622\u0671\u0649\u06cc\u06a9\u06c1\u05da\u05dd\u05df\u05e3\u05e5\u03c2\u0131",
    "\u0627\u0627\u0627\u0627\u064a\u064a\u0643\u0647\u05db\u05de\u05e0\u05e4\u05e6\u03c3i",
)
"""Letters that are written one way or the other in the same word."""


class _FoldMap(dict[int, int]):
    """Code point to folded code point, one to one, so that offsets stay what they were."""

    def __missing__(self, point: int) -> int:
        folded = chr(point)
        # Accents go in Latin, Greek and Cyrillic alone: elsewhere a mark makes another letter.
        if point < 0x0530 or 0x1E00 <= point < 0x2000 or 0xFF00 <= point < 0xFFF0:
            folded = unicodedata.normalize("NFKD", folded)
        result = ord("'") if folded in "’ʼ‘`´" else ord(folded[0])
        result = _VARIANTS.get(result, result)
        self[point] = result
        return result


_FOLD = _FoldMap()
_NON_ASCII = re.compile("[^\x00-\x7f]")


def fold(text: str) -> str:
    """Lower-case text without accents, of the same length as the text itself."""
    # U+0130 is the one character whose lower case is longer than itself.
    lower = text.replace("\u0130", "I").lower()
    if lower.isascii():
        return lower
    if len(lower.encode("utf-8", "surrogatepass")) * 8 < len(lower) * 9:
        return _NON_ASCII.sub(lambda match: chr(_FOLD[ord(match.group())]), lower)
    return lower.translate(_FOLD)


@lru_cache(maxsize=64)
def _mapped(name: str) -> mmap.mmap | None:
    path = DATA / name
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=64)
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a language, lower-case; empty when there is no list."""
    try:
        return frozenset((DATA / f"{language}.stop").read_text(encoding="utf-8").split())
    except OSError:
        return frozenset()


@lru_cache(maxsize=64)
def long_words(language: str) -> tuple[str, ...]:
    """Words that a long text of any subject holds and a short one seldom; empty without a list."""
    try:
        return tuple((DATA / f"{language}.long").read_text(encoding="utf-8").split())
    except OSError:
        return ()


def has_list(language: str) -> bool:
    """Whether the package knows how common the words of this language are."""
    return _mapped(f"{language}.freq") is not None


@lru_cache(maxsize=4)
def mapped_list(language: str) -> bytes | None:
    """The frequency list as it lies on disk: ``word TAB ten times its Zipf value``, by bytes."""
    table = _mapped(f"{language}.freq")
    return None if table is None else table[:]


def lines_with_prefix(beginning: str, language: str, limit: int = 400) -> list[tuple[str, float]]:
    """Listed words that begin so, with their Zipf values, in byte order.

    Args:
        beginning: Lower-case letters.
        language: ISO 639-1 code.
        limit: Words given at most.
    """
    table = mapped_list(language)
    if table is None or not beginning:
        return []
    key = unicodedata.normalize("NFC", beginning).encode("utf-8", "surrogatepass")
    low, high = 0, len(table)
    while low < high:
        start = max(table.rfind(b"\n", 0, (low + high) // 2) + 1, low)
        end = table.find(b"\n", start)
        if table[start:end] < key:
            low = end + 1
        else:
            high = start
    found: list[tuple[str, float]] = []
    while low < len(table) and table.startswith(key, low) and len(found) < limit:
        end = table.find(b"\n", low)
        word, _, value = table[low:end].partition(b"\t")
        found.append((word.decode("utf-8"), int(value) / 10))
        low = end + 1
    return found


@lru_cache(maxsize=65536)
def listed_zipf(word: str, language: str) -> float | None:
    """Zipf value (log10 of occurrences in a billion words) of a lower-case word, if it is listed.

    Args:
        word: The word, lower-case; accents as they are written.
        language: ISO 639-1 code.

    Returns:
        About 1.5 (rare) to 7.7 ("the"), or ``None`` for a word or language without entry.
    """
    table = _mapped(f"{language}.freq")
    if table is None:
        return None
    # The lists, like Swiss spelling, write ss for the sharp s.
    key = unicodedata.normalize("NFC", word.replace("ß", "ss")).encode("utf-8", "surrogatepass")
    low, high = 0, len(table)
    while low < high:
        start = table.rfind(b"\n", 0, (low + high) // 2) + 1
        start = max(start, low)
        end = table.find(b"\n", start)
        entry, _, value = table[start:end].partition(b"\t")
        if entry == key:
            return int(value) / 10
        if entry < key:
            low = end + 1
        else:
            high = start
    return None


def zipf(word: str, language: str) -> float:
    """As `listed_zipf`, with `UNKNOWN_ZIPF` for what is not listed."""
    value = listed_zipf(word, language)
    return UNKNOWN_ZIPF if value is None else value


@lru_cache(maxsize=8)
def _stemmer(language: str) -> Any:  # noqa: ANN401 - a C extension without types
    name = STEMMERS.get(language)
    if name is None:
        return None
    import Stemmer

    return Stemmer.Stemmer(name)


@lru_cache(maxsize=65536)
def stem(word: str, language: str) -> str:
    """Snowball stem of a lower-case word, folded; the folded word where there is no stemmer."""
    stemmer = _stemmer(language)
    if stemmer is None:
        return fold(word)
    return fold(stemmer.stemWord(word))


def _strip_affixes(word: str, language: str) -> str:
    elision = _ELISION.get(language)
    if elision is not None:
        word = elision.sub("", word)
    return _POSSESSIVE.sub("", word) or word


def tokens(text: str, language: str = "") -> Iterator[tuple[str, int, str]]:
    """Split text of any script into words.

    Args:
        text: Any text.
        language: ISO 639-1 code; decides on elisions and how a run of CJK characters is split.

    Yields:
        The word as written (possessive and elided article gone), its offset, and its kind:
        ``word``, ``number``, ``acronym`` or ``cjk``.
    """
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "word"
        found = match.group()
        if kind == "cjk":
            spoken = "ja" if _has_kana(found) else "zh"
            for piece, offset in _names_joined(segment(found, spoken), spoken):
                yield piece, match.start() + offset, "cjk"
            continue
        if kind == "word" and is_unspaced(found):
            yield found, match.start(), "cjk"  # a stretch of words, found as characters are
            continue
        if kind == "word":
            stripped = _strip_affixes(found, language)
            offset = found.find(stripped)
            yield stripped, match.start() + max(offset, 0), "word"
            continue
        yield _POSSESSIVE.sub("", found), match.start(), kind


_FOREIGN = frozenset(
    "阿埃艾安奥巴贝本比彼毕波伯博布查茨达大戴丹道德登邓迪蒂丁杜多厄恩尔法凡范菲费芬弗福冈高戈格根古"
    "哈海汉豪赫亨胡华霍基吉加贾杰金津卡凯坎康考科克肯库夸拉莱赖兰朗劳勒雷里利林列卢鲁伦罗洛马玛迈麦"
    "曼芒梅门蒙米密明摩莫姆穆纳内尼涅宁努诺欧帕潘庞佩彭皮平珀普齐奇恰乔切琼冉热日瑞若萨塞桑沙尚舍申"
    "圣施史舒斯松苏索塔泰坦汤特滕提廷图托瓦万汪旺威维韦魏温文翁沃乌伍武西希锡席夏香谢欣辛休许雅亚延扬"
    "耶叶伊因英尤于约扎赞泽曾詹珍芝朱珠兹宗祖佐森"
)
"""Characters that foreign names are written with in Chinese (the usual transcription tables)."""
_SHORTEST_NAME = 3


def _names_joined(pieces: list[tuple[str, int]], language: str) -> Iterator[tuple[str, int]]:
    """Join what the dictionary split at random: a foreign name, most probably.

    Such a name is written with characters that say nothing alone, so the dictionary finds single
    characters and chance words in it. A stop word ends the run.
    """
    stops = stop_words(language)

    def closed(run: list[tuple[str, int]]) -> list[tuple[str, int]]:
        text = "".join(piece for piece, _ in run)
        chance = any(len(piece) == 1 for piece, _ in run)
        foreign = len(text) >= _SHORTEST_NAME and chance and all(c in _FOREIGN for c in text)
        singles = all(len(piece) == 1 for piece, _ in run)
        return [(text, run[0][1])] if run and (foreign or singles) else run

    run: list[tuple[str, int]] = []
    of_name = False
    for piece, offset in pieces:
        foreign = piece not in stops and all(c in _FOREIGN for c in piece)
        single = piece not in stops and len(piece) == 1 and "\u3400" <= piece <= "\u9fff"
        if run and (foreign != of_name or not (foreign or single)):
            yield from closed(run)
            run = []
        if foreign or single:
            of_name = foreign
            run.append((piece, offset))
        else:
            yield piece, offset
    yield from closed(run)


def is_cjk(text: str) -> bool:
    """Whether the text holds Han characters or kana."""
    return re.search(f"[{_CJK}]", text) is not None


def _has_kana(text: str) -> bool:
    return re.search("[\u3040-\u30ff]", text) is not None


_LINKS = ("", "s", "es", "n", "en", "er", "e")
_PART = 4


def exists(word: str, language: str) -> bool:
    """Whether a word is known to exist in a language, listed or not, or is made of listed words.

    Args:
        word: Lower-case word.
        language: ISO 639-1 code; where there is no list nothing is known, so any word may exist.
    """
    if not has_list(language):
        return True
    if listed_zipf(word, language) is not None or known(word, language):
        return True
    return language in COMPOUNDING and _is_compound(word.replace("ß", "ss"), language)


FORMS_LISTED = frozenset(("de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "sv", "zh"))
"""Languages whose lists hold nearly every form of their words, or whose words have one form."""


def known(word: str, language: str) -> bool:
    """Whether the larger list, that says no more than that a word exists, holds a word.

    Wrong for about one invented word in a hundred; false where there is no such list.
    """
    table = _mapped(f"{language}.known")
    return table is not None and bloom.holds(memoryview(table), word.replace("ß", "ss"))


def word_list(language: str) -> str:
    """The frequency list of a language as text, a word a line; empty where there is none."""
    table = _mapped(f"{language}.freq")
    return table[:].decode("utf-8") if table is not None else ""


@lru_cache(maxsize=64)
def letters(language: str) -> str:
    """The letters that the words of a language's list are written with, in code point order."""
    text = word_list(language)
    least = text.count("\n") / 500
    return "".join(sorted(c for c in set(text) if c.isalpha() and text.count(c) >= least))


def _is_compound(word: str, language: str) -> bool:
    """Whether a word is listed words in a row, with the letters that German puts between."""
    for cut in range(_PART, len(word) - _PART + 1):
        if listed_zipf(word[cut:], language) is None:
            continue
        for link in _LINKS:
            head = word[:cut]
            if not head.endswith(link):
                continue
            head = head.removesuffix(link)
            if len(head) < _PART:
                continue
            if listed_zipf(head, language) is not None:
                return True
            if len(head) >= 3 * _PART and _is_compound(head, language):
                return True
    return False


_LONGEST = 8  # characters; longer dictionary words are rare and are found as their parts


def segment(run: str, language: str) -> list[tuple[str, int]]:
    """Split a run of CJK characters into the most probable words.

    A unigram Viterbi search over the word list: the split whose words are together the most
    frequent wins (Sproat, Shih, Gale and Chang 1996 describe the method for Chinese).

    Args:
        run: CJK characters without blanks.
        language: ``zh`` or ``ja``.

    Returns:
        The words with their offsets, in order.
    """
    unknown = -9.0  # log10 probability of a character that the list does not hold
    best = [0.0] + [float("-inf")] * len(run)
    back = [0] * (len(run) + 1)
    for end in range(1, len(run) + 1):
        for start in range(max(0, end - _LONGEST), end):
            piece = run[start:end]
            value = listed_zipf(piece, language)
            if value is None:
                if len(piece) > 1:
                    continue
                score = unknown
            else:
                score = value - 9.0
            if best[start] + score > best[end]:
                best[end] = best[start] + score
                back[end] = start
    pieces: list[tuple[str, int]] = []
    end = len(run)
    while end > 0:
        start = back[end]
        pieces.append((run[start:end], start))
        end = start
    return pieces[::-1]
