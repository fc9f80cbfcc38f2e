"""Tables in text files."""

from __future__ import annotations

import csv
import html
import io
import re
from collections import Counter
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
SNIFFED = 16384
"""Characters in which the delimiter is looked for."""


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn a table into pages."""
    return Rendered(items=list(pages(document, index, frame)))


def pages(document: SourceDocument, index: EntryIndex, frame: Frame) -> Iterator[Page]:
    """The pages of a table, one at a time; each repeats the heading row."""
    parts = _parts(document, frame)
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


def _parts(document: SourceDocument, frame: Frame) -> Iterator[str]:
    """The table as HTML, in parts."""
    with open(document.file.real, "rb") as stream:  # noqa: PTH123
        sample = stream.read(SAMPLE)
    if not sample.strip():
        yield "<p>(empty)</p>"
        return
    encoding = detect(sample, language=frame.language)
    if b"\x00" in sample and not encoding.startswith("utf"):
        raise UnreadableError("binary data under the name of a table")
    csv.field_size_limit(CELL)
    options = {"encoding": encoding, "errors": "replace", "newline": ""}
    with open(document.file.real, **options) as stream:  # type: ignore[call-overload]  # noqa: PTH123
        text = sample.decode(encoding, "ignore")
        tabs = document.file.rel.lower().endswith(".tsv")
        delimiter, named = _delimiter(text, tabs=tabs)
        lines_in = (line.replace("\x00", "") for line in stream)
        if named:
            next(lines_in, "")
        rows = csv.reader(lines_in, delimiter=delimiter)
        try:
            top = next(rows, [])
            head = row_html(top, "th")
            lines: list[str] = []
            size = 0
            first = True
            for row in rows:
                if not row:
                    continue
                line = row_html(_whole(row, len(top), delimiter), "td")
                lines.append(line)
                size += len(line)
                if len(lines) >= ROWS or size >= PART_BYTES:
                    yield table_html(head, lines)
                    lines, size, first = [], 0, False
            if lines or first:
                yield table_html(head, lines)
        except csv.Error as error:
            raise UnreadableError(f"not a table: {error}") from None


def _delimiter(text: str, *, tabs: bool) -> tuple[str, bool]:
    """What stands between the cells, and whether a first line ``sep=;`` says so."""
    named = re.match('\ufeff?"?sep=(.)"?\r?\n', text, re.IGNORECASE)
    if named is not None:
        return named.group(1), True
    # The sample may end inside a row.
    sample = text[:SNIFFED]
    lines = io.StringIO(sample[: sample.rfind("\n") + 1] or sample, newline="")
    found = []
    for place, delimiter in enumerate("\t,;|" if tabs else ",;\t|"):
        lines.seek(0)
        try:
            rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            continue
        widths = Counter(map(len, rows))
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        if width > 1 or max(widths, default=1) > 1:
            cells = [cell for row in rows for cell in row]
            broken = sum(_depth(cell) != 0 for cell in cells) / len(cells)
            alike = count / len(rows) if width > 1 else 0.0
            found.append((round(alike, 1) - 2 * broken, width, -place, delimiter))
    return (max(found)[3] if found else ","), False


def _depth(cell: str) -> int:
    """Brackets that are opened and not closed in a cell."""
    return sum(map(cell.count, "([{")) - sum(map(cell.count, ")]}"))


def _whole(row: list[str], width: int, delimiter: str) -> list[str]:
    """A row that is too long, with the values in brackets that were cut in it put together."""
    if len(row) <= width:
        return row
    cells: list[str] = []
    for cell in row:
        if cells and _depth(cells[-1]) > 0:
            cells[-1] += delimiter + cell
        else:
            cells.append(cell)
    return cells if len(cells) == width else row


def row_html(cells: list[str], tag: str) -> str:
    """A row of a table; line ends in a cell stay."""
    return (
        "<tr>"
        + "".join(
            f"<{tag}>{'<br>'.join(html.escape(c.strip()).splitlines())}</{tag}>" for c in cells
        )
        + "</tr>"
    )


def table_html(head: str, lines: list[str]) -> str:
    """A table of rows."""
    return f"<table><thead>{head}</thead><tbody>\n" + "\n".join(lines) + "\n</tbody></table>"
