"""PDF: its text, page by page; the file itself is kept next to it."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

from infoforge.text.words import listed_zipf
from infoforge.zimify.entries import EntryIndex, address
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.readers import PART_BYTES
from infoforge.zimify.readers.formulas import SUBSCRIPT, SUPERSCRIPT
from infoforge.zimify.readers.text import part_path
from infoforge.zimify.records import Page, Rendered, SourceDocument, UnreadableError

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

PAGES = 20000

_USELESS_TITLE = re.compile(
    r"^(untitled|microsoft word\b.*|.*\.(docx?|pdf|indd|tex|dvi|odt|rtf|pptx?)|\W*)$", re.IGNORECASE
)
_MONOSPACED = re.compile(
    r"mono|courier|typewriter|consol|menlo|inconsol|fixed|cmtt|cmsltt|ectt|sftt|lmtt|txtt|tctt",
    re.IGNORECASE,
)
_FIXED_PITCH = 1
"""The bit of a font's flags."""
_LIGATURES = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in (*range(0xFB00, 0xFB07), 0x132, 0x133)
}
_ACCENTS = {
    "´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "˚": "\u030a",
    "ˇ": "\u030c", "¯": "\u0304", "˘": "\u0306", "˙": "\u0307", "˝": "\u030b",
}  # fmt: skip
"""Accents that old fonts draw over the letter that follows."""
_HYPHEN = "\x02"
"""A hyphen at the end of a line, as PDFium gives it."""
_ITEM = re.compile(r"(?:[•‣◦▪▫–*·]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s")
_PREFIXES = frozenset({
    "anti", "auto", "counter", "dis", "hyper", "inter", "intra", "meta", "micro", "mis", "multi",
    "out", "over", "pre", "pro", "pseudo", "semi", "sub", "super", "trans", "ultra", "under", "un",
})  # fmt: skip
"""Words that are seldom written with a hyphen after them."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN = re.compile(r"([^\W\d_]+)[-‐]\n([^\W\d_]+)")

# Shares of the height of a line: measured on manuals of twelve producers.
_SMALL = 0.9
"""A smaller letter may be raised or lowered,"""
_RAISED = 0.08
"""when its baseline is so far above or below that of the line."""
_SPACE = 0.12
"""A wider gap between two letters is a space, though the file has none there."""
_APART = 1.35
"""Lines further apart than so many usual distances belong to different paragraphs."""
_OTHER_SIZE = 0.15
_SHORT = 0.85
"""A line that ends before this share of the width, after a full stop, ends a paragraph."""


@dataclass(slots=True)
class _Line:
    """A line of a page; positions in points from its lower left corner."""

    text: str
    left: float
    right: float
    bottom: float
    height: float
    wide: float
    """Width of a character, for monospaced lines; 0 for others."""


@dataclass(slots=True)
class _Paragraph:
    code: bool
    lines: list[_Line] = field(default_factory=list)


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn a PDF into pages of text."""
    import pypdfium2

    rel = document.file.rel
    with open(document.file.real, "rb"):  # noqa: PTH123  (PDFium does not say why it cannot)
        pass
    try:
        pdf = pypdfium2.PdfDocument(document.file.real)
    except pypdfium2.PdfiumError as error:
        text = " ".join(str(error).split())
        if "password" in text.lower():
            raise UnreadableError("protected by a password") from None
        raise UnreadableError(f"damaged PDF: {text}") from None
    with pdf:
        title = _title(pdf) or document.title
        pages = _pages(pdf)
    joined = _Hyphens(pages, frame.language)
    sections = [_section(number, page, joined) for number, page in enumerate(pages, 1)]
    rendered = Rendered(title=title)
    silent = [number for number, page in enumerate(pages, 1) if not page]
    if silent:
        which = "no page has" if len(silent) == len(pages) else f"{_ranges(silent)} without"
        rendered.leave_out(rel, f"{which} text, only pictures")
    parts: list[list[str]] = [[]]
    size = 0
    for section in sections:
        if size > PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(section)
        size += len(section)
    for count, part in enumerate(parts, 1):
        path = part_path(document, index, count)
        named = title if len(parts) == 1 else f"{title} ({count})"
        links = [f'<a href="{address(rel, path)}">{html.escape(rel, quote=False)}</a>']
        if count > 1:
            links.insert(
                0, f'<a href="{address(part_path(document, index, count - 1), path)}">←</a>'
            )
        if count < len(parts):
            links.append(f'<a href="{address(part_path(document, index, count + 1), path)}">→</a>')
        nav = f"<nav>{' '.join(links)}</nav>\n"
        page = wrap(frame, path, named, "\n".join(part), source=rel, after=nav)
        rendered.items.append(Page(path, named, page))
    return rendered


def _ranges(numbers: Sequence[int]) -> str:
    """Page numbers in words: ``pages 3, 7-9``."""
    parts: list[str] = []
    start = before = numbers[0]
    for number in [*numbers[1:], 0]:
        if number != before + 1:
            parts.append(str(start) if start == before else f"{start}-{before}")
            start = number
        before = number
    return ("page " if len(numbers) == 1 else "pages ") + ", ".join(parts)


def _title(pdf: PdfDocument) -> str:
    """The title in the metadata, unless a program filled it in by itself."""
    try:
        title = " ".join(pdf.get_metadata_value("Title").split())
    except Exception:
        # Broken metadata costs a title, not the text.
        return ""
    return "" if _USELESS_TITLE.match(title) else title[:300]


def _pages(pdf: PdfDocument) -> list[list[_Paragraph]]:
    """The paragraphs of each page; a damaged page is empty, not the end of the document."""
    pages: list[list[_Paragraph]] = []
    failed = 0
    for number in range(min(len(pdf), PAGES)):
        try:
            page = pdf[number]
            pages.append(_paragraphs(list(_lines(page))))
            page.close()
        except (MemoryError, RecursionError):
            raise
        except Exception:
            failed += 1
            pages.append([])
    if failed and failed == len(pages):
        raise UnreadableError("damaged PDF: no page of it can be read")
    return pages


@dataclass(slots=True)
class _Letter:
    text: str
    left: float
    right: float
    height: float
    place: int


def _lines(page: PdfPage) -> Iterator[_Line]:
    """The lines of a page in the order of the file."""
    import pypdfium2.raw as pdfium

    text_page = page.get_textpage()
    raw = text_page.raw
    box = pdfium.FS_RECTF()
    letters: list[_Letter] = []
    bottom, top = float("inf"), 0.0
    ended = False
    for place in range(pdfium.FPDFText_CountChars(raw)):
        code = pdfium.FPDFText_GetUnicode(raw, place)
        if code in (10, 13):
            ended = True
            continue
        if code == 0 or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
            continue
        char = _HYPHEN if code in (2, 0xAD, 0xFFFE) else _LIGATURES.get(code) or chr(code)
        if char.isspace():
            if letters and letters[-1].text != " " and not ended:
                last = letters[-1]
                letters.append(_Letter(" ", last.right, last.right, last.height, -1))
            continue
        pdfium.FPDFText_GetLooseCharBox(raw, place, box)
        # PDFium takes the start of another column or line for the rest of this one now and then,
        # and an exponent for a line of its own.
        apart = bool(letters) and top > bottom and (box.bottom > top or box.top < bottom)
        near = bool(letters) and 0 <= box.left - letters[-1].right < 0.3 * (top - bottom)
        if letters and (apart or (ended and not near)):
            yield _line(raw, letters, bottom, top)
            letters, bottom, top = [], float("inf"), 0.0
        ended = False
        letters.append(_Letter(char, box.left, box.right, box.top - box.bottom, place))
        bottom, top = min(bottom, box.bottom), max(top, box.top)
    if letters:
        yield _line(raw, letters, bottom, top)
    text_page.close()


def _line(raw: Any, letters: list[_Letter], bottom: float, top: float) -> _Line:  # noqa: ANN401
    """Put a line together: spaces that the file lacks, accents over their letters."""
    height = max(top - bottom, 1.0)
    drawn = [letter for letter in letters if letter.place >= 0]
    wide = 0.0
    if drawn and _monospaced(raw, drawn):
        wide = median(letter.right - letter.left for letter in drawn)
    usual = median([letter.height for letter in drawn] or [height])
    full = next((letter for letter in drawn if letter.height >= _SMALL * usual), None)
    pieces: list[str] = []
    before: _Letter | None = None
    space = False
    for letter in letters:
        if letter.place >= 0 and letter.height >= _SMALL * usual:
            full = letter
        elif full is not None and letter.place >= 0:
            raised = (_baseline(raw, letter) - _baseline(raw, full)) / usual
            if abs(raised) > _RAISED:
                letter.text = letter.text.translate(SUPERSCRIPT if raised > 0 else SUBSCRIPT)
        if letter.place < 0:
            space = True
            continue
        if before is not None:
            gap = letter.left - before.right
            over = letter.left < before.right - 0.3 * (before.right - before.left)
            if before.text in _ACCENTS and over and letter.text.isalpha():
                composed = unicodedata.normalize("NFC", letter.text + _ACCENTS[before.text])
                pieces[-1] = composed
                before, space = letter, False
                continue
            if wide and (space or gap > wide / 2):
                pieces.append(" " * max(1, round(gap / wide)))
            elif space or gap > _SPACE * height:
                pieces.append(" ")
        pieces.append(letter.text)
        before, space = letter, False
    first, last = (drawn[0], drawn[-1]) if drawn else (letters[0], letters[-1])
    return _Line("".join(pieces), first.left, last.right, bottom, height, wide)


def _baseline(raw: Any, letter: _Letter) -> float:  # noqa: ANN401
    import ctypes

    import pypdfium2.raw as pdfium

    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(raw, letter.place, x, y)
    return y.value


def _monospaced(raw: Any, letters: Sequence[_Letter]) -> bool:  # noqa: ANN401
    """Whether a line is in a font whose letters are all of one width, by a few of its letters."""
    import ctypes

    import pypdfium2.raw as pdfium

    flags = ctypes.c_int()
    buffer = ctypes.create_string_buffer(128)
    for letter in letters[:: max(1, len(letters) // 4)]:
        pdfium.FPDFText_GetFontInfo(raw, letter.place, buffer, 128, flags)
        name = buffer.value.decode("utf-8", "replace")
        if not (flags.value & _FIXED_PITCH or _MONOSPACED.search(name)):
            return False
    return True


def _paragraphs(lines: list[_Line]) -> list[_Paragraph]:
    """Lines that belong together: the same kind of font, near each other, none a new item."""
    lines = [line for line in lines if line.text.strip()]
    pitches = [a.bottom - b.bottom for a, b in pairwise(lines)]
    usual = median([pitch for pitch in pitches if pitch > 1] or [12.0])
    width = max((line.right for line in lines), default=0.0)
    found: list[_Paragraph] = []
    for before, line in zip([None, *lines], lines, strict=False):
        if before is None or _parts(before, line, usual, width):
            found.append(_Paragraph(code=line.wide > 0))
        found[-1].lines.append(line)
    return found


def _parts(before: _Line, line: _Line, usual: float, width: float) -> bool:
    """Whether a line begins a new paragraph."""
    pitch = before.bottom - line.bottom
    if (before.wide > 0) != (line.wide > 0):
        # One code word alone on the last line of a paragraph is no listing.
        return True
    if line.wide:
        return not 0 <= pitch <= 3 * max(usual, line.height)
    apart = pitch > _APART * max(usual, line.height * 0.9) or pitch < -usual
    resized = abs(line.height - before.height) > _OTHER_SIZE * before.height and pitch > 1
    ended = before.right < _SHORT * width and before.text.rstrip()[-1:] in ".!?:。！？：;"
    return apart or resized or (ended and pitch > 1) or bool(_ITEM.match(line.text))


class _Hyphens:
    """Joins words that were broken at the end of a line, by the words of the document itself.

    Args:
        pages: The whole document.
        language: ISO 639-1 code, for the list of known words.
    """

    def __init__(self, pages: Sequence[Sequence[_Paragraph]], language: str) -> None:
        self._language = language
        self._words: Counter[str] = Counter()
        for page in pages:
            for paragraph in page:
                for line in paragraph.lines:
                    self._words.update(word.lower() for word in _WORD.findall(line.text)[:-1])

    def join(self, lines: Sequence[str]) -> str:
        """One paragraph of its lines."""
        text = "\n".join(line.strip() for line in lines).replace(f"{_HYPHEN}\n", "-\n")
        # PDFium gives no line end after a hyphen that it knows.
        text = text.replace(_HYPHEN, "-\n").removesuffix("\n")
        text = _BROKEN.sub(self._mend, text)
        # After a hyphen that stays (UTF-8, a number) there is no space either.
        return " ".join(re.sub(r"(?<=\w)([-‐])\n(?=\w)", r"\1", text).split())

    def _mend(self, match: re.Match[str]) -> str:
        first, second = match.group(1), match.group(2)
        whole, hyphened = f"{first}{second}", f"{first}-{second}"
        counts = self._words[whole.lower()], self._words[hyphened.lower()]
        if counts[0] != counts[1]:
            return whole if counts[0] > counts[1] else hyphened
        if second[0].isupper() and not first.isupper():
            return hyphened
        if first.lower() in _PREFIXES or self._listed(whole):
            return whole
        both = all(len(part) > 2 and self._listed(part) for part in (first, second))
        return hyphened if both else whole

    def _listed(self, word: str) -> bool:
        return listed_zipf(word.lower(), self._language) is not None


def _section(number: int, paragraphs: Sequence[_Paragraph], hyphens: _Hyphens) -> str:
    """One page as a section."""
    blocks = []
    for paragraph in paragraphs:
        if paragraph.code:
            left = min(line.left for line in paragraph.lines)
            rows = [
                " " * round((line.left - left) / line.wide) + line.text.replace(_HYPHEN, "-")
                for line in paragraph.lines
            ]
            code = html.escape("\n".join(rows))
            blocks.append(f"<pre>{code}</pre>")
        elif text := hyphens.join([line.text for line in paragraph.lines]):
            blocks.append(f"<p>{html.escape(text)}</p>")
    return f'<section id="page={number}">\n' + "\n".join(blocks) + "\n</section>"
