"""Tables in text files."""

from __future__ import annotations

import csv
import html
from collections.abc import Iterator

from infoforge.zimify.encoding import SAMPLE, detect
from infoforge.zimify.entries import EntryIndex, address
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.readers import PART_BYTES
from infoforge.zimify.readers.text import part_path
from infoforge.zimify.records import Page, Rendered, SourceDocument, UnreadableError

ROWS = 2000
"""Rows of one page."""
CELL = 1 << 20


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn a table into pages."""
    return Rendered(items=list(pages(document, index, frame)))


def pages(document: SourceDocument, index: EntryIndex, frame: Frame) -> Iterator[Page]:
    """The pages of a table, one at a time; each repeats the heading row."""
    parts = _parts(document)
    current = next(parts)
    number = 1
    original = document.file.rel
    while True:
        following = next(parts, None)
        alone = number == 1 and following is None
        title = document.title if alone else f"{document.title} ({number})"
        path = part_path(document, index, number)
        links = [f'<a href="{address(original, path)}">{html.escape(original, quote=False)}</a>']
        if number > 1:
            before = part_path(document, index, number - 1)
            links.insert(0, f'<a rel="prev" href="{address(before, path)}">←</a>')
        if following is not None:
            after = part_path(document, index, number + 1)
            links.append(f'<a rel="next" href="{address(after, path)}">→</a>')
        nav = f"<nav>{' '.join(links)}</nav>\n"
        yield Page(path, title, wrap(frame, path, title, current, source=original, after=nav))
        if following is None:
            return
        current, number = following, number + 1


def _parts(document: SourceDocument) -> Iterator[str]:
    """The table as HTML, in parts."""
    with open(document.file.real, "rb") as stream:  # noqa: PTH123
        sample = stream.read(SAMPLE)
    if not sample.strip():
        yield "<p>(empty)</p>"
        return
    encoding = detect(sample)
    if b"\x00" in sample and not encoding.startswith("utf"):
        raise UnreadableError("binary data under the name of a table")
    csv.field_size_limit(CELL)
    options = {"encoding": encoding, "errors": "replace", "newline": ""}
    with open(document.file.real, **options) as stream:  # type: ignore[call-overload]  # noqa: PTH123
        rows = csv.reader((line.replace("\x00", "") for line in stream), _dialect(sample, encoding))
        try:
            head = _row(next(rows, []), "th")
            lines: list[str] = []
            size = 0
            first = True
            for row in rows:
                if not row:
                    continue
                line = _row(row, "td")
                lines.append(line)
                size += len(line)
                if len(lines) >= ROWS or size >= PART_BYTES:
                    yield _table(head, lines)
                    lines, size, first = [], 0, False
            if lines or first:
                yield _table(head, lines)
        except csv.Error as error:
            raise UnreadableError(f"not a table: {error}") from None


def _dialect(sample: bytes, encoding: str) -> type[csv.Dialect] | csv.Dialect:
    text = sample.decode(encoding, "ignore")
    try:
        return csv.Sniffer().sniff(text[:8192], ",;\t|")
    except csv.Error:
        return csv.excel


def _row(cells: list[str], tag: str) -> str:
    return (
        "<tr>" + "".join(f"<{tag}>{html.escape(c, quote=False)}</{tag}>" for c in cells) + "</tr>"
    )


def _table(head: str, lines: list[str]) -> str:
    return f"<table><thead>{head}</thead><tbody>\n" + "\n".join(lines) + "\n</tbody></table>"
