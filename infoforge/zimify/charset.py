"""Which encoding a text is in that is not UTF-8 and does not say: the one that gives words.

A statistical detector fails on short texts, since several code pages decode the same bytes to
letters. Here each code page is tried with the languages it was made for, and the word lists of
these languages decide; the letters of the language decide where no word is listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from infoforge.text.words import listed_zipf, word_list

_WESTERN = ("en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "no", "fi", "is", "ca")
_CENTRAL = ("pl", "cs", "hu", "sk", "ro", "sl", "sr")
_PAGES: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("cp1252", _WESTERN, 0.0),
    ("iso8859-15", _WESTERN, -0.1),
    ("cp1250", _CENTRAL, -0.1),
    ("iso8859-2", _CENTRAL, -0.15),
    ("cp1251", ("ru", "uk", "bg", "sr", "mk"), -0.1),
    ("koi8-r", ("ru", "bg"), -0.15),
    ("koi8-u", ("uk",), -0.2),
    ("cp866", ("ru",), -0.3),
    ("iso8859-5", ("ru", "bg", "sr", "mk"), -0.3),
    ("cp1253", ("el",), -0.1),
    ("iso8859-7", ("el",), -0.15),
    ("cp1254", ("tr",), -0.1),
    ("cp1257", ("lt", "lv"), -0.1),
    ("cp1255", ("he",), -0.1),
    ("cp1256", ("ar", "fa", "ur"), -0.1),
    ("cp1258", ("vi",), -0.3),
    ("cp850", _WESTERN, -0.5),
    ("cp852", _CENTRAL, -0.6),
    ("mac-roman", _WESTERN, -1.5),
    ("euc-jp", ("ja",), 0.0),
    ("cp932", ("ja",), 0.0),
    ("gb18030", ("zh",), -0.05),
    ("big5", ("zh",), -0.05),
    ("cp949", ("ko",), 0.0),
)
"""Encoding, its languages, and what counts against it: the rarer of two that fit gives way."""
_EAST_ASIAN = frozenset({"ja", "zh", "ko"})
_WORDS = 150
"""Words looked at."""
_LINES = 6000
"""Bytes of lines with other than ASCII that are looked at."""
_COMMON = 3000
"""Characters of an East Asian language that make up nearly all of its texts."""
_GOOD = 2.0
"""Least score of a guess; below it another detector is asked."""
_COMMA_BELOW = str.maketrans("şţŞŢ", "șțȘȚ")
"""Romanian as its old code pages write it, and as it is written."""
_PUNCTUATION = frozenset("µ“”„‘’‚–—…•«»‹›¿¡°§©®€£ºª·×†№\u00a0、。，！？：；「」『』（）《》・ー～")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_IDEOGRAPH = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_OTHER_SCRIPTS = f"\u0370-\u03ff\u0400-\u052f\u0590-\u06ff{_IDEOGRAPH}"
_MIXED = re.compile(
    f"[A-Za-z][{_OTHER_SCRIPTS}]|[{_OTHER_SCRIPTS}][A-Za-z]|[\u2500-\u259f]"
    r"|[^\W\d_][\x80-\x9f\xa2-\xa9\xab-\xb4\xb6\xb8\xb9\xbb-\xbf\xd7\xf7](?=\w)"
)
"""What no word has: letters of two scripts, symbols, pieces of frames."""
_CASE = re.compile(r"[^\W\d_A-Z][A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]")


def guess(sample: bytes, language: str = "") -> str:
    """The likeliest encoding of bytes that are not UTF-8; an empty text when nothing fits.

    Args:
        sample: The start of a text; it may end inside a character.
        language: ISO 639-1 code of the language that is expected.
    """
    lines = [line for line in re.split(rb"[\r\n]+", sample) if not line.isascii()]
    data = b"\n".join(lines)[:_LINES]
    old_mac = b"\r" in sample and b"\n" not in sample
    best, found = _GOOD, ""
    for name, languages, bias in _PAGES:
        text = _decoded(data, name, cut=len(data) == _LINES)
        if text is None:
            continue
        handicap = 0.0 if name == "mac-roman" and old_mac else bias
        for code in languages:
            score = _score(text, code) + handicap + (0.3 if code == language else 0.0)
            if score > best:
                best, found = score, name
    return found


def _decoded(data: bytes, name: str, *, cut: bool) -> str | None:
    """The text, unless there are bytes that the encoding does not have (but where it was cut)."""
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        return data[: error.start].decode(name) if cut and error.start >= len(data) - 4 else None


def _score(text: str, language: str) -> float:
    """How well a text fits a language: its words, its letters, less what no text has."""
    foreign = [char for char in text if char > "\x7f"]
    if not foreign:
        return 0.0
    if language in _EAST_ASIAN:
        common = _characters(language)
        fitting = sum(char in common or char in _PUNCTUATION for char in foreign) / len(foreign)
        known = _pairs(text, language)
    else:
        alphabet = _alphabet(language)
        fitting = sum(char in alphabet or char in _PUNCTUATION for char in foreign) / len(foreign)
        known = _listed([w for w in _WORD.findall(text) if not w.isascii()], language)
    plain = _listed([w for w in _WORD.findall(text) if w.isascii() and len(w) > 1], language)
    strange = sum(not char.isprintable() for char in foreign) + len(_MIXED.findall(text))
    strange += len(_CASE.findall(text))
    return 3 * known + 3 * fitting + plain - 4 * strange / len(foreign)


def _listed(words: Sequence[str], language: str) -> float:
    """The share of words that are listed, the frequent ones counting more."""
    words = words[:_WORDS]
    if not words:
        return 0.0
    total = 0.0
    for word in words:
        key = word.lower().translate(_COMMA_BELOW) if language == "ro" else word.lower()
        zipf = listed_zipf(key, language)
        if zipf is not None:
            total += 0.7 + min(zipf, 6) / 20
    return total / len(words)


def _pairs(text: str, language: str) -> float:
    """The share of characters that stand in a listed word of one to four characters."""
    runs = re.findall(f"[{_IDEOGRAPH}]+", text)[:_WORDS]
    total = sum(map(len, runs))
    held = 0
    for run in runs:
        place = 0
        while place < len(run):
            size = next(
                (n for n in (4, 3, 2) if listed_zipf(run[place : place + n], language) is not None),
                0,
            )
            held += min(size, len(run) - place)
            place += size or 1
    return held / total if total else 0.0


@lru_cache(maxsize=64)
def _alphabet(language: str) -> frozenset[str]:
    text = word_list(language)
    least = max(3, text.count("\n") // 5000)
    counts = Counter(char for char in text if char > "\x7f")
    small = "".join(char for char, count in counts.items() if count >= least)
    old = "".join(map(chr, _COMMA_BELOW)) if language == "ro" else ""
    return frozenset(small + small.upper() + old)


@lru_cache(maxsize=4)
def _characters(language: str) -> frozenset[str]:
    counts = Counter(char for char in word_list(language) if char > "\x7f")
    kana = "".join(map(chr, range(0x3041, 0x30FF))) if language == "ja" else ""
    return frozenset([char for char, _ in counts.most_common(_COMMON)]) | frozenset(kana)
