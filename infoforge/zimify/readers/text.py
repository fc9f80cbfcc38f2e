"""Plain text, of any length: a long one becomes a chain of pages, read as a stream."""

from __future__ import annotations

import html
from collections.abc import Iterator

from infoforge.zimify.encoding import SAMPLE, detect
from infoforge.zimify.entries import EntryIndex, address
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.readers import PART_BYTES
from infoforge.zimify.records import Page, Rendered, SourceDocument, UnreadableError


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn a text file into pages."""
    return Rendered(items=list(pages(document, index, frame)))


def pages(document: SourceDocument, index: EntryIndex, frame: Frame) -> Iterator[Page]:
    """The pages of a text file, one at a time; only one part is in memory."""
    parts = _parts(document, frame)
    current = next(parts, "")
    number = 1
    while True:
        following = next(parts, None)
        alone = number == 1 and following is None
        title = document.title if alone else f"{document.title} ({number})"
        path = part_path(document, index, number)
        links = []
        if number > 1:
            before = part_path(document, index, number - 1)
            links.append(f'<a rel="prev" href="{address(before, path)}">←</a>')
        if following is not None:
            after = part_path(document, index, number + 1)
            links.append(f'<a rel="next" href="{address(after, path)}">→</a>')
        body = f'<div class="plain">{html.escape(current)}</div>'
        if not current.strip():
            body = "<p>(empty)</p>"
        nav = f"<nav>{' '.join(links)}</nav>\n" if links else ""
        page = wrap(frame, path, title, body, source=document.file.rel, after=nav)
        yield Page(path, title, page)
        if following is None:
            return
        current, number = following, number + 1


def part_path(document: SourceDocument, index: EntryIndex, number: int) -> str:
    """Path of one part; the first has the document's own."""
    if number == 1:
        return document.path
    path = f"{document.path} ({number})"
    while path in index.entries:
        path += "_"
    return path


def _parts(document: SourceDocument, frame: Frame) -> Iterator[str]:
    with open(document.file.real, "rb") as stream:  # noqa: PTH123
        sample = stream.read(SAMPLE)
    if _binary(sample):
        raise UnreadableError("binary data under the name of a text")
    encoding = detect(sample, language=frame.language)
    with open(document.file.real, encoding=encoding, errors="replace") as stream:  # noqa: PTH123
        rest = ""
        while True:
            block = stream.read(PART_BYTES)
            if not block:
                break
            rest += block
            while len(rest) > PART_BYTES:
                cut = _cut(rest)
                yield rest[:cut].replace("\x00", "")
                rest = rest[cut:].lstrip("\n")
        if rest:
            yield rest.replace("\x00", "")


def _cut(text: str) -> int:
    """Where to end a part: a paragraph, a line, a word, or just there."""
    for mark in ("\n\n", "\n", " "):
        cut = text.rfind(mark, PART_BYTES // 2, PART_BYTES)
        if cut >= 0:
            return cut + len(mark)
    return PART_BYTES


def _binary(sample: bytes) -> bool:
    """Whether the bytes are no text: NULs, unless they come as regularly as in UTF-16."""
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" not in sample:
        return False
    zeros = sample.count(b"\x00")
    odd = sample[1::2].count(b"\x00")
    even = sample[::2].count(b"\x00")
    return zeros < len(sample) * 0.1 or min(odd, even) > max(odd, even) * 0.2
