"""Numbers and dates in running text, brought to one form so that two texts can be compared.

A number's form is its plain decimal (``1000``, ``2.5``), a date's is ISO (``1867-02-09``, or
``--02-09`` and ``1867-02`` when a part is missing). Percent and units beside a number are left out:
what is compared is the number. ``5 million`` is ``5000000``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from infoforge.text.months import AMBIGUOUS, CARDINALS, MONTHS, NUMBERS, SCALES


@dataclass(frozen=True, slots=True)
class Number:
    """A number or date as it stands in a text.

    Attributes:
        start, end: Where it stands, in characters.
        written: As written.
        forms: Every form it may have: ``1.000`` is a thousand here and one there.
        kind: ``number``, ``word`` (a number in words) or ``date``.
        parts: Forms that a text with this number supports as well (a date's year).
        certain: Whether it surely states a number: ``three`` does, ``second`` and ``once`` may not.
    """

    start: int
    end: int
    written: str
    forms: frozenset[str]
    kind: str
    parts: frozenset[str] = frozenset()
    certain: bool = True


_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2212"
_SPACES = "\u0020\u00a0\u2009\u202f\u2007"
_MONTH = "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True))
_OF = r"(?:(?:de|del|of|di|den|в)\s|d['’])"
_GAP = rf"[\s,]{{1,3}}{_OF}?"


def _year(n: int) -> str:
    return rf"(?P<y{n}>(?<![\d.,])\d{{3,4}}(?!\d|[.,]\d))"


def _day(n: int) -> str:
    return rf"(?P<d{n}>(?<![\d.,])(?:[0-2]?\d|3[01]))(?:st|nd|rd|th|er|[.º°ª])?"


def _name(n: int) -> str:
    return rf"(?P<m{n}>(?<!\w)(?:{_MONTH})(?!\w)\.?)"


def _low(name: str, n: int) -> str:
    """A month or a day in numbers."""
    return rf"(?P<{name}{n}>" + (r"0?[1-9]|1[0-2])" if name == "n" else r"0?[1-9]|[12]\d|3[01])")


_FORMS = (
    # 9 February 1867, 9. Februar 1867, 9 de febrero de 1867, 9th of February, 1867
    rf"{_day(1)}\s{{0,2}}{_OF}?{_name(1)}(?:{_GAP}{_year(1)})?",
    # February 9, 1867
    rf"{_name(2)}\s{{1,2}}{_day(2)}(?![\d:])(?:\s?,\s?|\s){_year(2)}",
    # February 1867
    rf"{_name(3)}{_GAP}{_year(3)}",
    # February 9
    rf"{_name(4)}\s{{1,2}}{_day(4)}(?![\d:.,]\d|\d)",
    # 1867 February 9
    rf"{_year(5)}[\s,.]{{1,2}}{_name(5)}(?:\s{{1,2}}{_day(5)}(?!\d))?",
    # 1867-02-09, 1867/02/09, 1867.02.09
    rf"(?<![\d.,])(?P<y6>\d{{4}})(?P<s6>[-/.‐‑–]){_low('n', 6)}(?P=s6){_low('d', 6)}(?!\d)",
    # 1867年2月9日, 1867년 2월 9일
    rf"(?<!\d)(?P<y7>\d{{3,4}})\s?[年년]\s?{_low('n', 7)}\s?[月월](?:\s?{_low('d', 7)}\s?[日일])?",
    rf"(?<!\d){_low('n', 8)}\s?[月월]\s?{_low('d', 8)}\s?[日일]",
    # 09.02.1867, 9/2/1867: day or month first, both are kept
    rf"(?<![\d.,]){_low('d', 9)}(?P<s9>[-/.])(?P<n9>0?[1-9]|[12]\d|3[01])(?P=s9)"
    r"(?P<y9>\d{4})(?!\d)",
)
_DATE = re.compile("|".join(_FORMS), re.IGNORECASE)
_NUMBER = re.compile(
    # Not inside a name such as B52 or 1.2.3, but right behind a letter of a script without blanks.
    r"(?:(?<![\w.,])|(?<=[^\W\d_A-Za-z]))(?P<number>"
    rf"\d{{1,3}}(?:[{_SPACES}'’]\d{{3}})+(?:[.,]\d+)?(?!\d)"
    r"|\d{1,3}(?:,\d{2,3})+(?:\.\d+)?(?!\d)"
    r"|\d{1,3}(?:\.\d{3})+(?:,\d+)?(?!\d)"
    r"|\d+(?:[.,·]\d+)?)(?P<fraction>\s?[¼½¾⅐-⅞])?"
    r"|(?P<alone>[¼½¾⅐-⅞])"
)
_SPAN_END = re.compile(rf"(?<!\d)(\d{{2}})(\d{{2}})\s?[{_DASHES}/]\s?$")
_SCALE = "|".join(sorted(map(re.escape, SCALES), key=len, reverse=True))
_AFTER = re.compile(rf"[{_SPACES}]{{0,2}}(?P<scale>{_SCALE})(?![a-zà-ÿ])", re.IGNORECASE)
_TOKEN_NUMBER = re.compile(r"[^\W\d_]+")
_SUPERSCRIPT = {ord(c): " " for c in "⁰¹²³⁴⁵⁶⁷⁸⁹"}


def plain_digits(text: str) -> str:
    """The text with every script's digits as ASCII digits, of the same length as before."""
    if text.isascii():
        return text
    return "".join(
        str(unicodedata.decimal(char))
        if not char.isascii() and unicodedata.decimal(char, None) is not None
        else {"，": ",", "．": ".", "٫": ".", "٬": ","}.get(char, char)
        for char in text
    )


def find(text: str) -> list[Number]:
    """Find every number and date.

    Args:
        text: Any text in any script.

    Returns:
        Numbers by where they stand; a date is one number, its day and year none of their own.
    """
    written, text = text, plain_digits(text).translate(_SUPERSCRIPT)
    found: list[Number] = []
    taken = bytearray(len(text) + 1)
    # A date's day is no number of its own, nor is the "million" of "5 million".
    for number in [*_dates(text), *_numbers(text), *_words(text)]:
        if not any(taken[number.start : number.end]):
            found.append(number)
            taken[number.start : number.end] = b"\x01" * (number.end - number.start)
    found = [
        replace(number, written=written[number.start : number.end].strip()) for number in found
    ]
    return sorted(found, key=lambda number: (number.start, -number.end))


def forms(text: str) -> set[str]:
    """Every form of every number in a text, the parts of dates with them."""
    known: set[str] = set()
    for number in find(text):
        known |= number.forms | number.parts
    return known


def _dates(text: str) -> Iterator[Number]:
    for match in _DATE.finditer(text):
        group = {key: value for key, value in match.groupdict().items() if value is not None}
        index = next(key[1:] for key in group if key[0] in "mn")
        year, day = group.get(f"y{index}", ""), int(group.get(f"d{index}", "0"))
        month = _month(group.get(f"m{index}") or group.get(f"n{index}") or "")
        days = {(month, day), (day, month)} if index == "9" else {(month, day)}
        days = {(m, d) for m, d in days if 1 <= m <= 12 and d <= 31}
        if not days:
            continue
        parts = {str(int(year))} if year else set()
        for m, d in days:
            if year:
                parts.add(_iso(year, m, 0))
            if d:
                parts |= {_iso("", m, d), str(d)}
        iso = frozenset(_iso(year, m, d) for m, d in days)
        yield Number(match.start(), match.end(), match.group(), iso, "date", frozenset(parts))


def _month(name: str) -> int:
    return int(name) if name.isdigit() else MONTHS.get(name.lower().rstrip("."), 0)


def _iso(year: str, month: int, day: int) -> str:
    head = f"{int(year):04d}-" if year else "--"
    return f"{head}{month:02d}" + (f"-{day:02d}" if day else "")


def _numbers(text: str) -> Iterator[Number]:
    for match in _NUMBER.finditer(text):
        digits = match["number"] or ""
        values = set(_readings(digits)) if digits else {Decimal(0)}
        if fraction := match["alone"] or match["fraction"]:
            values = {value + _value_of(fraction.strip()) for value in values}
        end = match.end()
        parts: set[str] = set()
        if scale := _AFTER.match(text, end):
            # "5 million" is five million and never five: "5 books" would support it otherwise.
            values = {value * SCALES[scale["scale"].lower()] for value in values}
            end = scale.end()
        head = _SPAN_END.search(text, max(0, match.start() - 8), match.start())
        if head and len(digits) == 2 and digits.isdigit():
            # 1905–06 ends in 1906.
            values.add(Decimal(head[1] + digits))
        if " " in digits:
            # What looks like thousands may be two numbers side by side in a table.
            parts |= {str(int(piece)) for piece in re.findall(r"\d+", digits)}
        yield Number(
            match.start(),
            end,
            text[match.start() : end].strip(),
            frozenset(_plain(value) for value in values),
            "number",
            frozenset(parts),
        )


def _readings(number: str) -> Iterator[Decimal]:
    """What a number may mean: the separators differ from land to land."""
    body = re.sub(rf"[{_SPACES}'’]", "", number).replace("·", ".")
    marks = [char for char in body if char in ",."]
    if not marks:
        yield Decimal(body)
        return
    digits = re.sub("[.,]", "", body)
    head, _, tail = body.rpartition(marks[-1])
    if len(set(marks)) == 1 and len(tail) == 3:
        # Thousands (1,000), or thousandths where the comma is the decimal sign: both are kept.
        yield Decimal(digits)
    if marks[-1] not in marks[:-1]:
        yield Decimal(re.sub("[.,]", "", head) + "." + tail)
    elif len(tail) != 3:
        yield Decimal(digits)


def _value_of(fraction: str) -> Decimal:
    return Decimal(str(round(unicodedata.numeric(fraction), 6)))


def _plain(value: Decimal) -> str:
    if value == value.to_integral_value():
        return str(int(value))
    return format(value.normalize(), "f")


def _words(text: str) -> Iterator[Number]:
    """Numbers in words, also those of several words (``twenty-three``, ``two hundred``)."""
    run: list[tuple[int, int, int]] = []
    for match in _TOKEN_NUMBER.finditer(text):
        value = NUMBERS.get(match.group().lower())
        joined = run and re.fullmatch(
            rf"[{_DASHES}\s]{{1,2}}|\s?(?:and|und|y|e|et)\s", text[run[-1][1] : match.start()]
        )
        if value is None and match.group().lower() in ("and", "und", "y", "e", "et"):
            continue
        if run and (value is None or not joined):
            yield from _spelled(text, run)
            run = []
        if value is not None:
            run.append((match.start(), match.end(), value))
    if run:
        yield from _spelled(text, run)


def _spelled(text: str, run: list[tuple[int, int, int]]) -> Iterator[Number]:
    total, current = 0, 0
    for _, _, value in run:
        if value == 100:
            current = max(current, 1) * 100
        elif value >= 1000:
            total, current = total + max(current, 1) * value, 0
        else:
            current += value
    start, end = run[0][0], run[-1][1]
    known = {str(total + current)}
    names = text[start:end].lower()
    words = _TOKEN_NUMBER.findall(names)
    certain = any(word in CARDINALS and word not in AMBIGUOUS for word in words)
    if len(run) > 1 and all(value < 20 for _, _, value in run):
        # "one two three" is a count, not a sum.
        known |= {str(value) for _, _, value in run}
    yield Number(start, end, text[start:end], frozenset(known), "word", certain=certain)
