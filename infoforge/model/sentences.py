"""Split text into sentences, in scripts with and without blanks."""

from __future__ import annotations

import re

_ABBREVIATIONS = frozenset(
    # Behind these a full stop ends no sentence (several languages; lower-case, without the stop).
    [
        "mr",
        "mrs",
        "ms",
        "dr",
        "prof",
        "st",
        "sr",
        "jr",
        "vs",
        "etc",
        "ca",
        "c",
        "cf",
        "e.g",
        "i.e",
        "al",
        "fig",
        "no",
        "nos",
        "vol",
        "ed",
        "eds",
        "pp",
        "p",
        "approx",
        "dept",
        "est",
        "inc",
        "ltd",
        "co",
        "corp",
        "mt",
        "ft",
        "gen",
        "col",
        "lt",
        "sgt",
        "capt",
        "rev",
        "hon",
        "pres",
        "gov",
        "sen",
        "rep",
        "univ",
        "assn",
        "bros",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
        "b",
        "d",
        "r",
        "fl",
        "z.b",
        "d.h",
        "u.a",
        "s",
        "bzw",
        "ggf",
        "geb",
        "gest",
        "nr",
        "bd",
        "hrsg",
        "jh",
        "jhd",
        "usw",
        "vgl",
        "sog",
        "mio",
        "mrd",
        "str",
        "v.chr",
        "n.chr",
        "chr",
        "m",
        "mm",
        "mme",
        "mlle",
        "av",
        "apr",
        "j.-c",
        "env",
        "chap",
        "art",
        "éd",
        "sra",
        "dña",
        "ee.uu",
        "pág",
        "págs",
        "núm",
        "avda",
        "sig",
        "sigg",
        "dott",
        "ecc",
        "ing",
        "avv",
        "bijv",
        "d.w.z",
        "o.a",
        "m.b.t",
        "г",
        "гг",
        "в",
        "вв",
        "ок",
        "т.е",
        "т.д",
        "т.п",
        "см",
        "стр",
        "им",
        "ул",
        "род",
        "u.s",
        "u.k",
        "u.n",
        "a.m",
        "p.m",
        "a.d",
        "b.c",
        "ph.d",
        "m.d",
        "d.c",
    ]
)
_END = re.compile(
    r"(?P<stop>[.!?…]+|[।॥։؟۔።፧။។᠃])(?P<close>[\"'”’»)\]›]*)(?P<refs>(?:\[\d{1,3}\])*)(?=\s|\Z)"
    r"|(?P<wide>[。！？｡]+[」』）】”’\"]*)"
)


def sentences(text: str) -> list[str]:
    """Split text into sentences.

    A line is never joined to the next: a ``key: value`` line of an infobox is a sentence.

    Args:
        text: Paragraphs, one a line.

    Returns:
        The sentences, verbatim but for blanks at their ends.
    """
    found: list[str] = []
    for line in text.splitlines():
        start = 0
        for match in _END.finditer(line):
            if match["stop"] and not _ends(line, match, start):
                continue
            found.append(line[start : match.end()].strip())
            start = match.end()
        found.append(line[start:].strip())
    return [sentence for sentence in found if sentence]


def _ends(line: str, match: re.Match[str], start: int) -> bool:
    """Whether a stop ends a sentence: not behind an abbreviation, an initial or an ordinal."""
    if match["stop"] != ".":
        # "Yahoo! said", "Who? he asked": a small letter goes on with the sentence.
        return not line[match.end() :].lstrip()[:1].islower()
    after = line[match.end() :].lstrip()
    if not after:
        return True
    if after[0].islower() or after[0] in ",;:)":
        return False
    if match["close"]:
        return True
    word = re.search(r"[^\s(\[„“\"«]*$", line[start : match.start()])
    last = word.group() if word else ""
    if last.lower().rstrip(".") in _ABBREVIATIONS or last.lower() in _ABBREVIATIONS:
        return False
    if len(last) == 1 and last.isalpha() and last.isupper():
        return False  # an initial: J. Smith
    if re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", last):
        return False  # U.S.A, z.B
    # An ordinal as in "9. Februar"; a year or a larger number does end a sentence.
    return not (last.isdigit() and len(last) <= 2 and not _starts_sentence(after))


def _starts_sentence(after: str) -> bool:
    from infoforge.text.months import MONTHS

    first = re.match(r"\w+", after)
    if first is None:
        return True
    word = first.group().lower()
    nouns = ("jahrhundert", "jh", "august", "armee", "auflage", "kapitel", "platz", "century")
    return word not in MONTHS and word not in nouns
