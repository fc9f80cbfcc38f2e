"""Citations in an answer: where they are, which sources they name, and which name none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from infoforge.records import Source
from infoforge.text.numbers import plain_digits
from infoforge.text.words import fold

_LIST = r"\d{1,4}(?:\s{0,2}(?:[,;、，&]|and|und|et|y|e|и|[-–—])\s{0,2}\d{1,4}){0,40}"
_SOURCE = (
    r"(?:sources?|quellen?|fuentes?|fontes?|fonti|bron(?:nen)?|источник(?:и|а|у|е|ом)?"
    r"|来源|來源|出典|출처|مصدر|المصدر|स्रोत)"
)
_ARTICLE = r"(?:articles?|refs?\.?|references?|citations?|artikel|artículos?|articoli|文章|記事)"
_SIGN = r"(?:(?:no\.?|nr\.?|n[º°]|#|№)\s{0,2})?"
_LABEL = rf"(?:{_SOURCE}|{_ARTICLE})"
_CITATION = re.compile(
    # [1], [1, 2], [1-3], [Source 1], [^1], 【1†source】, ［１］, [1](https://...)
    rf"[\[【［〔]\s{{0,3}}\^?\s{{0,3}}(?P<inner>{_LABEL}\s{{0,3}}:?\s{{0,3}})?{_SIGN}(?P<listed>{_LIST})"
    r"\s{0,3}(?:†[^\]】］〕\n]{0,60})?\s{0,3}[\]】］〕](?:\([^()\s]{1,400}\))?"
    # Source 1, Sources 1 and 2, (Source 1)
    rf"|(?P<open>[(（]\s{{0,3}})?(?<![A-Za-zÀ-ɏЀ-ӿ\d])(?P<label>{_LABEL})(?P<gap>\s{{0,3}}){_SIGN}"
    rf"(?P<spoken>{_LIST})(?![\dA-Za-zÀ-ɏ]|[.,:]\d|\s?[¼½¾⅐-⅞])(?P<close>\s{{0,3}}[)）])?",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(\d{1,4})\s*[-–—]\s*(\d{1,4})")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_LIST_MARK = re.compile(r"^[ \t>]*(?:[-*•]\s+)?\(?\d{1,2}[.)](?=\s)", re.MULTILINE)
_URL = re.compile(r"(?:https?|zim|ftp)://[^\s)\]>]+", re.IGNORECASE)
_QUOTES = "\"'“”„«»‹›「」『』《》‘’"
_VARIABLES = frozenset(
    [
        "array",
        "list",
        "matrix",
        "vector",
        "table",
        "data",
        "rows",
        "row",
        "cols",
        "columns",
        "values",
        "items",
        "nodes",
        "tuple",
        "string",
        "grid",
        "board",
        "stack",
        "queue",
        "cells",
        "index",
        "map",
        "points",
        "memory",
        "buffer",
        "result",
        "results",
    ]
)
_SHORT_VARIABLES = frozenset(
    [
        "arr",
        "mat",
        "vec",
        "lst",
        "tab",
        "buf",
        "ptr",
        "args",
        "argv",
        "dict",
        "dp",
        "nums",
        "memo",
        "tmp",
        "str",
        "val",
        "vals",
        "idx",
        "col",
        "tbl",
        "mem",
    ]
)
_VARIABLES |= _SHORT_VARIABLES
"""Names that programs give to what is indexed; brackets behind them are an index."""
_PASSES = 10
_MOST_MENTIONS = 200
_ACCORDING_TO = re.compile(
    r"(?:according to|as (?:stated|said|described) (?:in|by)|laut|gemäß|nach|zufolge|según"
    r"|de acuerdo con"
    r"|selon|d['’]après|secondo|segundo|de acordo com|volgens|enligt|ifølge|według|podle|согласно"
    r"|根据|根據|依据|据|وفقا? ل|بحسب)"
    r"(?:\s{1,2}(?:the|der|dem|die|den|das|el|la|los|las|le|les|l['’]|il|lo|o|a|os|de|het|article"
    r"|articles|artikel|artículo|articolo|artigo|source|quelle|fuente|статье|articulo|page"
    r"|entry)){0,3}"
    r"\s{0,2}$",
    re.IGNORECASE,
)
_YEAR = 200
"""From here on a bracketed number is a year or a page; no prompt has that many sources."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation in an answer: where it is, and the numbers it gives."""

    start: int
    end: int
    numbers: tuple[int, ...]


def clean(answer: str, known: set[int]) -> tuple[str, set[int]]:
    """Take out the citation numbers that name no source.

    Args:
        answer: What the model wrote.
        known: The numbers of the sources.

    Returns:
        The answer without them, and what was taken out.
    """
    unknown: set[int] = set()
    text = answer
    for _ in range(_PASSES):
        text, wrong = _without_unknown(text, known)
        unknown |= wrong
        # A removal may bring two halves of another together: "[[7]9]" leaves "[9]".
        if not wrong:
            break
    return text, unknown


def find_citations(text: str) -> list[Citation]:
    """The citations by number, in order."""
    digits = plain_digits(text)
    return [
        Citation(*match.span(), tuple(dict.fromkeys(_numbers(match["listed"] or match["spoken"]))))
        for match in _matches(digits)
    ]


def _matches(digits: str) -> Iterator[re.Match[str]]:
    code = _code(digits)
    at = 0
    for match in _CITATION.finditer(digits):
        start, end = match.span()
        while at < len(code) and code[at][1] <= start:
            at += 1
        if _is_other(digits, match) or (at < len(code) and code[at][0] < end):
            continue
        yield match


def _without_unknown(answer: str, known: set[int]) -> tuple[str, set[int]]:
    """The answer without numbers that name no source, and these numbers."""
    unknown: set[int] = set()
    kept = ""
    position = 0
    for match in _matches(plain_digits(answer)):
        start, end = match.span()
        numbers = list(dict.fromkeys(_numbers(match["listed"] or match["spoken"])))
        right = [n for n in numbers if n in known]
        if len(right) == len(numbers):
            continue
        unknown.update(n for n in numbers if n not in known)
        kept += answer[position:start]
        position = end
        if match["listed"] and right:
            kept += "".join(f"[{n}]" for n in right)
        elif right:
            spoken = ", ".join(map(str, right))
            kept += f"{match['open'] or ''}{match['label']} {spoken}{match['close'] or ''}"
        elif match["label"] and not (match["open"] and match["close"]):
            # "According to Source 9, he ..." would not be a sentence without the word.
            kept += (match["open"] or "") + match["label"] + (match["close"] or "")
        else:
            kept, position = _close_gap(kept, answer, end)
    return kept + answer[position:], unknown


def _code(text: str) -> list[tuple[int, int]]:
    """Where code stands; a citation alone between backticks is a citation all the same."""
    return [
        match.span()
        for match in _CODE.finditer(text)
        if not _CITATION.fullmatch(match.group().strip("`").strip())
    ]


def _is_other(text: str, match: re.Match[str]) -> bool:
    """Whether it only looks like a citation: a year, an interval, an index, a law's article."""
    start, end = match.span()
    after = text[end : end + 80]
    if text[start - 1 : start].isdigit() and re.match(r"[.,]?\d", after):
        # "19[1]4", as editors put in what is missing; taken out, it would leave another number.
        return True
    if match["label"]:
        # "Article 50 of the treaty": an article counts as a source where it stands in brackets.
        article = not re.fullmatch(_SOURCE, match["label"], re.IGNORECASE)
        return article and not (match["open"] and match["close"])
    numbers = [int(n) for n in re.findall(r"\d{1,4}", match["listed"])]
    if not match["inner"] and (max(numbers) >= _YEAR or (len(numbers) > 1 and 0 in numbers)):
        return True
    before = text[max(0, start - 60) : start]
    # "[18]annulene", "[2.2]paracyclophane": part of a name.
    of_name = not match["inner"] and re.match(r"[a-zà-ÿ]", after) and not before[-1:].isalnum()
    if of_name or before.rstrip(" ")[-1:] in ("=", "$", "_", "\\"):
        return True
    if start == 0 or not (before[-1].isalnum() or before[-1] in ")]"):
        return False
    call = re.match(r"\s?[+*/]?=(?!=)|\.[A-Za-z_]+\(|\(\)", after)
    return call is not None or _indexes(before, after)


def _indexes(before: str, after: str) -> bool:
    """Whether brackets behind a word are an index (``arr[7]``, ``matrix[1][2]``)."""
    match = re.search(r"(?<![^\W\d])([A-Za-z_]\w*)(?:\[\d{1,4}\]){0,4}$", before)
    if match is None or not match[1].isascii():
        return False
    word = match[1]
    if "_" in word or re.search(r"[a-z][A-Z]|[A-Za-z]\d", word) or len(word) == 1:
        return True
    if word not in _VARIABLES:
        return False
    # "as in a matrix[1]." ends a sentence: there it cites.
    return word in _SHORT_VARIABLES or not re.match(r"(?:\[\d{1,4}\])*[.,;!?]?\s*$", after)


def _numbers(listed: str) -> list[int]:
    """The numbers of a list, spans written out: ``1, 3-5``."""
    numbers: list[int] = []

    def span(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2])
        numbers.extend(range(first, last + 1) if first <= last <= first + 50 else (first, last))
        return " "

    rest = _SPAN.sub(span, listed)
    return numbers + [int(n) for n in re.findall(r"\d{1,4}", rest)]


def _close_gap(kept: str, answer: str, end: int) -> tuple[str, int]:
    """Mend the spacing where a citation was taken out."""
    rest = answer[end : end + 80]
    trimmed = kept.rstrip(" \u00a0")
    if trimmed[-1:] in ("(", "（") and rest.lstrip(" ")[:1] in (")", "）"):
        # "([9])": brackets round nothing.
        end += len(rest) - len(rest.lstrip(" ")) + 1
        return trimmed[:-1].rstrip(" \u00a0"), end
    if not rest or rest[0] in " \u00a0\n.,;:!?)]。，、；：！？…":
        if not trimmed.strip() or trimmed.endswith("\n"):
            return trimmed, end + (1 if rest[:1] == " " else 0)
        return trimmed, end
    if (kept[-1:].isdigit() and rest[0].isalnum()) or (kept[-1:].isalnum() and rest[0].isdigit()):
        # "In May[9]1914": a number is another one with a letter before it.
        return f"{kept} ", end
    return kept, end


def find_titles(answer: str, sources: Sequence[Source]) -> list[Citation]:
    """Sources cited by their address, or by their title in quotation marks or after "according to".

    A title that is only mentioned cites nothing: "Natsume Sōseki was born in Osaka" is no proof.
    """
    found: list[Citation] = []
    for source in sources:
        if source.url and (at := answer.find(source.url)) >= 0:
            found.append(Citation(at, at + len(source.url), (source.number,)))
    # Other addresses hold words by chance.
    text = re.sub(r"\s", " ", _URL.sub(lambda match: "\x00" * len(match.group()), answer))
    folded = fold(text)
    full = {source.number: " ".join(source.title.split()) for source in sources}
    bare = {n: re.sub(r"\s?[(（][^()（）]{1,200}[)）]$", "", title) for n, title in full.items()}
    shared = Counter(fold(name) for name in bare.values())
    # Longest first, and out of the text once found: "Kokoro (film)" does not name "Kokoro".
    tries = sorted(full.items(), key=lambda item: -len(item[1]))
    # Without its "(film)" a title is named only where no other source goes by that name.
    tries += [(n, name) for n, name in bare.items() if shared[fold(name)] == 1 and name != full[n]]
    for number, title in tries:
        for start, end in _spans(text, folded, title):
            found.append(Citation(start, end, (number,)))
            blank = "\x00" * (end - start)
            text = text[:start] + blank + text[end:]
            folded = folded[:start] + blank + folded[end:]
    return sorted(found, key=lambda citation: citation.start)


def _spans(text: str, folded: str, title: str) -> list[tuple[int, int]]:
    """Where a title is cited."""
    name = fold(title)
    if not name.strip():
        return []
    found: list[tuple[int, int]] = []
    at = folded.find(name)
    while at >= 0 and len(found) < _MOST_MENTIONS:
        end = at + len(name)
        inside = text[at - 1 : at].isalnum() and name[0].isascii()
        quoted = at > 0 and text[at - 1] in _QUOTES and text[end : end + 1] in tuple(_QUOTES + ",.")
        inside = inside or (text[end : end + 1].isalpha() and name[-1].isascii())
        if quoted or (not inside and _ACCORDING_TO.search(text[max(0, at - 60) : at])):
            found.append((at, end))
        at = folded.find(name, end)
    return found


def blank(text: str) -> str:
    """The text with blanks where its numbers state nothing: citations, list marks, addresses."""

    def blanked(match: re.Match[str]) -> str:
        return " " * len(match.group())

    said = _LIST_MARK.sub(blanked, _URL.sub(blanked, plain_digits(text)))
    for _ in range(_PASSES):
        before = said
        said = _CITATION.sub(lambda m: m.group() if _is_other(m.string, m) else blanked(m), said)
        # One citation may stand within another: "[[7]9]".
        if said == before:
            break
    return said
