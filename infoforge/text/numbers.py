"""Numbers and dates in running text, brought to one form so that two texts can be compared.

A number's form is its plain decimal (``1000``, ``2.5``, ``-5``), a date's is ISO (``1867-02-09``,
or ``--02-09`` and ``1867-02`` when a part is missing). ``5 million`` and ``5 × 10⁶`` are
``5000000``. The unit behind a number, or the currency before it, is a property of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from infoforge.text.months import AMBIGUOUS, CARDINALS, MONTHS, NUMBERS, SCALES, SPELLED
from infoforge.text.units import BEFORE, UNITS


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
        unit: Its unit of measure as written, lower-case; empty when it has none that is known.
    """

    start: int
    end: int
    written: str
    forms: frozenset[str]
    kind: str
    parts: frozenset[str] = frozenset()
    certain: bool = True
    unit: str = ""

    def agrees(self, other: Number) -> bool:
        """Whether the other number says the same: the value, and no other unit.

        ``1.5 km`` and ``1,500 m`` agree, ``5 kg`` and ``5 t`` do not; a number without a unit
        agrees with every unit, since tables name it elsewhere.
        """
        here, there = UNITS.get(self.unit), UNITS.get(other.unit)
        if here is None or there is None or here == there:
            return not self.forms.isdisjoint(other.forms | other.parts)
        if here[0] != there[0] or self.kind == "date" or other.kind == "date":
            return False
        theirs = {Decimal(form) * there[1] for form in other.forms if _is_plain(form)}
        return any(Decimal(f) * here[1] in theirs for f in self.forms if _is_plain(f))


def _is_plain(form: str) -> bool:
    return len(form) < 40 and form.lstrip("-").replace(".", "", 1).isdigit()


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
_DATE_START = re.compile(r"\d+|[^\W\d_]+")
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
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUPERSCRIPT = {ord(c): " " for c in _SUPERSCRIPTS}
_RAISED = {ord(c): str(i) for i, c in enumerate(_SUPERSCRIPTS)} | {
    ord("⁻"): "-",
    ord("⁺"): "",
    0x2212: "-",
}
_POWER = re.compile(
    r"(?<![\w.,])(?:(?P<factor>\d{1,9}(?:[.,]\d{1,9})?)\s?[×x·⋅*]\s?)?(?P<base>\d{1,4})"
    rf"(?:(?P<raised>[⁺⁻]?[{_SUPERSCRIPTS}]{{1,3}})|(?:\^"
    rf"|\*\*)[({{]?(?P<caret>[-−+]?\d{{1,3}})(?!\d))"
)
_UNIT = re.compile(
    r"[ \u00a0\u2009\u202f-]{0,2}(?P<unit>"
    + "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
    + r")(?![^\W\d_\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]|[²³])",
    re.IGNORECASE,
)
_SQUARE = re.compile(r"\s?(?:sq(?:uare|\.)?)\s(?P<unit>km|kilomet\w+|mi(?:les?)?|m|met\w+)\b", re.I)
_SIGN = re.compile(
    r"(?:(?:^|(?<=[\s(（:=]))[-−–]|\b(?:minus|menos|moins|meno|минус)\s|[负負零下])$", re.I
)
_BELOW_ZERO = re.compile(
    r"[^.;,]{0,20}\b(?:below zero|unter null|bajo cero|sous zéro|sotto zero)", re.I
)
_ROMAN = re.compile(
    r"(?<![\w.])(?=[IVXLC])(?P<c>C{0,3})(?P<x>XC|XL|L?X{0,3})(?P<i>IX|IV|V?I{0,3})(?![\w]|\.\w)"
)
_HAN = re.compile("[〇零一二三四五六七八九十百千两兩]+")
_HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}


class _PlainDigits(dict[int, int]):
    """Code point of a digit of any script to that of the ASCII digit; others stay."""

    def __missing__(self, point: int) -> int:
        char = chr(point)
        digit = unicodedata.decimal(char, None)
        result = point if digit is None else ord(str(digit))
        self[point] = ord({"，": ",", "．": ".", "٫": ".", "٬": ","}.get(char, chr(result)))
        return self[point]


_PLAIN = _PlainDigits()
_MOST_DIGITS = 60
"""A number that is longer is compared as text."""
_MOST_WORDS = 12
"""Of a number in words: more of them are a list."""


def plain_digits(text: str) -> str:
    """The text with every script's digits as ASCII digits, of the same length as before."""
    if text.isascii():
        return text
    return text.translate(_PLAIN)


def find(text: str, language: str = "") -> list[Number]:
    """Find every number and date.

    Args:
        text: Any text in any script.
        language: ISO 639-1 code: its number words are known in addition to those of the main ones.

    Returns:
        Numbers by where they stand; a date is one number, its day and year none of their own.
    """
    written, text = text, plain_digits(text).translate(_SUPERSCRIPT)
    found: list[Number] = []
    taken = bytearray(len(text) + 1)
    # A date's day is no number of its own, nor is the "million" of "5 million".
    for number in [
        *_powers(written),
        *_dates(text),
        *_numbers(text, written),
        *_roman(text),
        *_han(text),
        *_words(text, language),
    ]:
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


def _powers(text: str) -> Iterator[Number]:
    """``10⁶``, ``10^6``, ``3 × 10**8``."""
    if not re.search(rf"[\^{_SUPERSCRIPTS}]|\*\*", text):
        return
    for match in _POWER.finditer(text):
        base = Decimal(match["base"])
        exponent = int((match["raised"] or match["caret"]).translate(_RAISED))
        if base != 10 or abs(exponent) > 60:
            forms = frozenset({f"{match['factor'] or 1}*{base}^{exponent}"})
        else:
            factors = _readings(match["factor"]) if match["factor"] else [Decimal(1)]
            forms = frozenset(_plain(f.scaleb(exponent)) for f in factors)
        unit, end = _unit_after(text, match.end())
        yield Number(match.start(), end, match.group(), forms, "number", unit=unit)


def _unit_after(text: str, at: int) -> tuple[str, int]:
    """The unit that stands at a place, lower-case, and where the number with it ends."""
    if match := _SQUARE.match(text, at):
        word = match["unit"].lower()
        name = "km²" if word.startswith("k") else "mi²" if word.startswith("mi") else "m²"
        return name, at
    match = _UNIT.match(text, at)
    if match is None:
        return "", at
    unit = match["unit"].lower()
    if unit in ("k", "s") and not match[0][:1].isspace():
        # "747s" and "5k" have no unit.
        return "", at
    return unit, at


def _roman(text: str) -> Iterator[Number]:
    """Roman numerals: ``XIV``, and ``V`` behind a name."""
    for match in _ROMAN.finditer(text):
        written = match.group()
        if not written:
            continue
        named = re.search(r"[A-ZÀ-ÞА-Я]\w+\s$", text[max(0, match.start() - 20) : match.start()])
        if (len(written) < 2 and (not named or written in "CLI")) or written in ("CC", "CL", "CV"):
            continue
        tens = {"": 0, "X": 10, "XX": 20, "XXX": 30, "XL": 40, "L": 50, "LX": 60, "LXX": 70}
        tens |= {"LXXX": 80, "XC": 90}
        ones = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"].index(match["i"])
        value = 100 * len(match["c"]) + tens[match["x"]] + ones
        yield Number(
            match.start(), match.end(), written, frozenset({str(value)}), "roman", certain=False
        )


def _han(text: str) -> Iterator[Number]:
    """Chinese numerals: ``二十三``, and digit by digit ``一九一四``."""
    for match in _HAN.finditer(text):
        written = match.group()
        if all(c in _HAN_DIGITS for c in written):
            value = int("".join(str(_HAN_DIGITS[c]) for c in written[:18]))
        else:
            value = digit = 0
            for char in written:
                if char in _HAN_DIGITS:
                    digit = _HAN_DIGITS[char]
                else:
                    value += (digit or 1) * {"十": 10, "百": 100, "千": 1000}[char]
                    digit = 0
            value += digit
        end = match.end()
        scale = _AFTER.match(text, end)
        if scale:
            value, end = value * SCALES[scale["scale"].lower()], scale.end()
        certain = len(written) > 1 and (len(written) > 2 or "十" in written)
        unit, end = _unit_after(text, end)
        yield Number(
            match.start(), end, written, frozenset({str(value)}), "word", unit=unit,
            certain=certain or bool(unit),
        )  # fmt: skip


def _dates(text: str) -> Iterator[Number]:
    end = 0
    for word in _DATE_START.finditer(text):
        # A date begins with digits or with a month: at other places the pattern need not be tried.
        if word.start() < end or not (word[0].isdigit() or word[0].lower() in MONTHS):
            continue
        match = _DATE.match(text, word.start())
        if match is None:
            continue
        end = match.end()
        group = {key: value for key, value in match.groupdict().items() if value is not None}
        index = next(key[1:] for key in group if key[0] in "mn")
        year, day = group.get(f"y{index}", ""), int(group.get(f"d{index}", "0"))
        month = _month(group.get(f"m{index}") or group.get(f"n{index}") or "")
        days = {(month, day), (day, month)} if index == "9" else {(month, day)}
        days = {(m, d) for m, d in days if 1 <= m <= 12 and d <= 31}
        if not days:
            end = 0
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


def _numbers(text: str, written: str) -> Iterator[Number]:
    for match in _NUMBER.finditer(text):
        digits = match["number"] or ""
        if len(digits) > _MOST_DIGITS:
            # Nobody states it as a quantity (pi, a key): it is what it is written as.
            form = frozenset({re.sub(r"\D", "", digits)})
            yield Number(match.start(), match.end(), match.group(), form, "number")
            continue
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
        unit, end = _unit_after(written, end)
        before = text[max(0, match.start() - 8) : match.start()]
        if not unit:
            unit = next((sign.lower() for sign in BEFORE if before.rstrip().endswith(sign)), "")
        if (sign := _SIGN.search(before)) or (unit and _BELOW_ZERO.match(text, end)):
            negative = {-value for value in values}
            # A hyphen may be a dash or the mark of a list: then both readings are kept.
            sure = sign is None or sign[0] not in ("-", "–") or unit.startswith(("°", "℃", "℉"))
            values = negative if sure else values | negative
        yield Number(
            match.start(),
            end,
            text[match.start() : end].strip(),
            frozenset(_plain(value) for value in values),
            "number",
            frozenset(parts),
            unit=unit,
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


def _words(text: str, language: str) -> Iterator[Number]:
    """Numbers in words, also those of several words (``twenty-three``, ``two hundred``)."""
    run: list[tuple[int, int, int]] = []
    own = SPELLED.get(language, {})
    for match in _TOKEN_NUMBER.finditer(text):
        value = own.get(word := match.group().lower(), NUMBERS.get(word))
        joined = run and re.fullmatch(
            rf"[{_DASHES}\s]{{1,2}}|\s?(?:and|und|y|e|et)\s", text[run[-1][1] : match.start()]
        )
        if value is None and match.group().lower() in ("and", "und", "y", "e", "et"):
            continue
        if run and (value is None or not joined or len(run) == _MOST_WORDS):
            yield from _spelled(text, run, own)
            run = []
        if value is not None:
            run.append((match.start(), match.end(), value))
    if run:
        yield from _spelled(text, run, own)


def _spelled(
    text: str, run: list[tuple[int, int, int]], own: Mapping[str, int]
) -> Iterator[Number]:
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
    certain = any(
        (word in CARDINALS and word not in AMBIGUOUS) or (len(word) > 3 and word in own)
        for word in words
    )
    if len(run) > 1 and all(value < 20 for _, _, value in run):
        # "one two three" is a count, not a sum.
        known |= {str(value) for _, _, value in run}
    unit, end = _unit_after(text, end)
    yield Number(start, end, text[start:end], frozenset(known), "word", certain=certain, unit=unit)
