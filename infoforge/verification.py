"""Verification of an answer: which sources it names, and which numbers are in none of them.

The rules are written down in docs/model.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from infoforge.records import Source, Verification
from infoforge.text.numbers import find, forms, plain_digits
from infoforge.text.words import fold, listed_zipf, stop_words

_LIST = r"\d{1,4}(?:\s*(?:[,;、，&]|and|und|et|y|e|и|[-–—])\s*\d{1,4})*"
_SOURCE = (
    r"(?:sources?|quellen?|fuentes?|fontes?|fonti|bron(?:nen)?|источник(?:и|а|у|е|ом)?"
    r"|来源|來源|出典|출처|مصدر|المصدر|स्रोत)"
)
_ARTICLE = r"(?:articles?|refs?\.?|references?|citations?|artikel|artículos?|articoli|文章|記事)"
_SIGN = r"(?:no\.?\s*|nr\.?\s*|n[º°]\s*|#\s*|№\s*)?"
_LABEL = rf"(?:{_SOURCE}|{_ARTICLE})"
_CITATION = re.compile(
    # [1], [1, 2], [1-3], [Source 1], [^1], 【1†source】, ［１］, [1](https://...)
    rf"[\[【［〔]\s*\^?\s*(?P<inner>{_LABEL}\s*:?\s*)?{_SIGN}(?P<listed>{_LIST})"
    r"\s*(?:†[^\]】］〕\n]{0,60})?\s*[\]】］〕](?:\([^()\s]{1,400}\))?"
    # Source 1, Sources 1 and 2, (Source 1)
    rf"|(?P<open>[(（]\s*)?(?<![A-Za-zÀ-ɏЀ-ӿ\d])(?P<label>{_LABEL})(?P<gap>\s*){_SIGN}"
    rf"(?P<spoken>{_LIST})(?!\d|[.,:]\d|\s?[¼½¾⅐-⅞])(?P<close>\s*[)）])?",
    re.IGNORECASE,
)
_SPAN = re.compile(r"(\d{1,4})\s*[-–—]\s*(\d{1,4})")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_LIST_MARK = re.compile(r"^[ \t>]*(?:[-*•]\s+)?\(?\d{1,2}[.)](?=\s)", re.MULTILINE)
_URL = re.compile(r"(?:https?|zim|ftp)://[^\s)\]>]+", re.IGNORECASE)
_QUOTES = "\"“”„«»‹›「」『』《》‘’'*_"
_YEAR = 200
"""From here on a bracketed number is a year or a page; no prompt has that many sources."""


def verify(answer: str, sources: Sequence[Source], question: str = "") -> Verification:
    """Verify an answer against the sources it was to be written from.

    Args:
        answer: What the model wrote, reasoning gone.
        sources: The numbered sources as they stood in the prompt.
        question: What was asked: a number repeated from it counts as supported.

    Returns:
        The answer with citation numbers that name no source removed; which sources it names by
        number or title; numbers and dates that stand in no source, as written.
    """
    known = {source.number for source in sources}
    cited: set[int] = set()
    unknown: set[int] = set()
    text = answer
    while True:
        text, right, wrong = _citations(text, known)
        cited |= right
        unknown |= wrong
        # A removal may bring two halves of another together: "[[7]9]" leaves "[9]".
        if not wrong:
            break
    cited |= _named(text, sources)
    return Verification(
        text=text,
        cited=tuple(sorted(cited)),
        unknown=tuple(sorted(unknown)),
        unsupported=_unsupported(answer, sources, question),
    )


def _citations(answer: str, known: set[int]) -> tuple[str, set[int], set[int]]:
    """Find the numbers, and take out those that name no source."""
    digits = plain_digits(answer)
    code = _code(digits)
    cited: set[int] = set()
    unknown: set[int] = set()
    kept = ""
    position = 0
    for match in _CITATION.finditer(digits):
        start, end = match.span()
        if _is_other(digits, match) or any(a < end and start < b for a, b in code):
            continue
        numbers = list(dict.fromkeys(_numbers(match["listed"] or match["spoken"])))
        right = [n for n in numbers if n in known]
        cited.update(right)
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
    return kept + answer[position:], cited, unknown


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
    if text[:start][-1:].isdigit() and re.match(r"[.,]?\d", text[end:]):
        # "19[1]4", as editors put in what is missing; taken out, it would leave another number.
        return True
    if match["label"]:
        if re.fullmatch(_SOURCE, match["label"], re.IGNORECASE):
            return False
        # "Article 50 of the treaty": an article counts as a source where it stands in brackets.
        return not (match["open"] and match["close"])
    numbers = [int(n) for n in re.findall(r"\d{1,4}", match["listed"])]
    if not match["inner"] and (max(numbers) >= _YEAR or (len(numbers) > 1 and 0 in numbers)):
        return True
    before = text[:start].rstrip(" ")[-1:]
    if before in ("=", "$", "_", "\\"):
        return True
    glued = start > 0 and (text[start - 1].isalnum() or text[start - 1] == ")")
    return glued and re.match(r"\s?[+*/]?=(?!=)|\.[A-Za-z_]+\(|\(\)", text[end:]) is not None


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
    rest = answer[end:]
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


def _named(answer: str, sources: Sequence[Source]) -> set[int]:
    """Sources named by their title, or by their address."""
    named = {source.number for source in sources if source.url and source.url in answer}
    # Other addresses hold words by chance.
    text = re.sub(r"\s", " ", _URL.sub(lambda match: "\x00" * len(match.group()), answer))
    folded = fold(text)
    full = {source.number: " ".join(source.title.split()) for source in sources}
    bare = {n: re.sub(r"\s*[(（][^()（）]*[)）]$", "", title) for n, title in full.items()}
    shared = Counter(fold(name) for name in bare.values())
    languages = {source.number: source.language for source in sources}
    # Longest first, and out of the text once found: "Kokoro (film)" does not name "Kokoro".
    tries = sorted(full.items(), key=lambda item: -len(item[1]))
    # Without its "(film)" a title is named only where no other source goes by that name.
    tries += [(n, name) for n, name in bare.items() if shared[fold(name)] == 1 and name != full[n]]
    for number, title in tries:
        spans = _spans(text, folded, title, languages[number])
        if spans:
            named.add(number)
        for start, end in spans:
            blank = "\x00" * (end - start)
            text = text[:start] + blank + text[end:]
            folded = folded[:start] + blank + folded[end:]
    return named


def _spans(text: str, folded: str, title: str, language: str) -> list[tuple[int, int]]:
    """Where the title stands as a title, not as an everyday word."""
    name = fold(title)
    if not name.strip():
        return []
    wide = any("\u2e80" <= c <= "\u9fff" or "\uac00" <= c <= "\ud7ff" for c in name)
    pattern = re.escape(name) if wide else rf"(?<!\w){re.escape(name)}(?!\w)"
    found = [match.span() for match in re.finditer(pattern, folded)]
    quoted = [
        (start, end)
        for start, end in found
        if text[start - 1 : start] in _QUOTES and text[end : end + 1] in _QUOTES
        if start > 0 and end < len(text)
    ]
    if quoted or " " in name.strip() or (wide and len(name) > 1):
        return found
    if len(name) < 3 or name.isdigit() or name in stop_words(language or "en"):
        return []
    # One word counts where it is written like the name that the title is.
    exact = [span for span in found if text[span[0] : span[1]] == title and title[:1].isupper()]
    common = listed_zipf(title.lower(), language or "en")
    if common is None or common < 4.0:
        return exact
    if language == "de":
        # Every noun has a capital there, so it shows nothing.
        return []
    return [span for span in exact if not re.search(r"(?:^|[.!?:\n])[\s*_]*$", text[: span[0]])]


def _unsupported(answer: str, sources: Sequence[Source], question: str) -> tuple[str, ...]:
    """Numbers and dates that stand neither in a source nor in the question.

    They are read from the answer as it was written: where a citation was taken out, two numbers
    would be read as one.
    """
    said = _stating(answer)
    stated = [number for number in find(said) if number.certain]
    if not stated:
        return ()
    known = forms(question)
    for source in sources:
        whole = f"{source.title}\n{source.text}\n{source.date}"
        # A source has marks and lists of its own; who copies it states nothing new.
        known |= forms(whole) | forms(_stating(source.text))
    missing = [answer[f.start : f.end].strip() for f in stated if not f.forms & known]
    return tuple(dict.fromkeys(missing))


def _stating(text: str) -> str:
    """The text with blanks where its numbers state nothing: citations, list marks, addresses."""

    def blank(match: re.Match[str]) -> str:
        return " " * len(match.group())

    said = _LIST_MARK.sub(blank, _URL.sub(blank, plain_digits(text)))
    before = ""
    # One citation may stand within another: "[[7]9]".
    while said != before:
        before = said
        said = _CITATION.sub(lambda m: m.group() if _is_other(m.string, m) else blank(m), said)
    return said
