"""Split text into sentences, in scripts with and without blanks."""

from __future__ import annotations

import re

from infoforge.text.months import MONTHS

# Behind these a full stop ends no sentence (several languages; lower-case, without the last stop).
_LISTED = """
mr mrs ms dr prof st sr jr vs etc ca c cf e.g i.e al fig no nos vol ed eds pp p approx dept est
inc ltd co corp mt ft gen col lt sgt capt rev hon pres gov sen rep univ assn bros jan feb mar
apr jun jul aug sep sept oct nov dec b d r fl z.b d.h u.a s bzw ggf geb gest nr bd hrsg jh
jhd usw vgl sog mio mrd str v.chr n.chr chr m mm mme mlle av apr j.-c env chap éd sra
dña ee.uu pág págs núm avda sig sigg dott ecc ing avv bijv d.w.z o.a m.b.t г гг в вв ок т.е
т.д т.п см стр им ул род u.s u.k u.n a.m p.m a.d b.c ph.d m.d d.c
"""
_ABBREVIATIONS = frozenset(_LISTED.split())
_NOT_FIRST = frozenset(("jahrhundert", "jh", "armee", "auflage", "kapitel", "platz"))
"""Nouns that follow an ordinal with a stop (19. Jahrhundert)."""
_END = re.compile(
    r"(?P<stop>[.!?…]+|[।॥։؟۔።፧။។᠃])(?P<close>[\"'”’»)\]›]*)(?P<refs>(?:\[\d{1,3}\])*)(?=\s|\Z)"
    r"|(?P<wide>[。！？｡]+[」』）】”’\"]*)"
)
_LAST = re.compile(r"[\s(\[„“\"«]")


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
    after = line[match.end() : match.end() + 80].lstrip()
    if match["stop"] != ".":
        # "Yahoo! said", "Who? he asked": a small letter goes on with the sentence.
        return not after[:1].islower()
    if after[:1].islower() or after[:1] in tuple(",;:)"):
        return False
    # A window: an abbreviation is short, and looking back over a long line at each stop is slow.
    last = _LAST.split(line[max(start, match.start() - 24) : match.start()])[-1].lower()
    goes_on = not match["close"] and (
        last in _ABBREVIATIONS
        or (len(last) == 1 and last.isalpha())  # an initial: J. Smith
        or re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", last) is not None  # U.S.A, z.B
        or (last.isdigit() and len(last) <= 2 and not _starts_sentence(after))  # 9. Februar
        or (last.isdigit() and len(last) <= 3 and match.start() == len(last))  # 2. of a list
    )
    return match.end() == len(line) or not goes_on


def _starts_sentence(after: str) -> bool:
    first = re.match(r"\w+", after)
    word = first.group().lower() if first else ""
    return word not in MONTHS and word not in _NOT_FIRST
