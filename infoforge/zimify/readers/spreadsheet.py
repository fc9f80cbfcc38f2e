"""Spreadsheets (.xlsx): a page for each sheet, as a table of values."""

from __future__ import annotations

import html
from collections.abc import Iterator

from infoforge.zimify.entries import EntryIndex, address
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.readers.archive import open_archive
from infoforge.zimify.readers.csv import ROWS, row_html, table_html
from infoforge.zimify.readers.text import part_path
from infoforge.zimify.records import Page, Rendered, SourceDocument

MOST_ROWS = 200_000


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn a workbook into pages."""
    import openpyxl

    rel = document.file.rel
    with open_archive(document.file.real, document.file.size):
        pass
    rendered = Rendered(title=document.title)
    book = openpyxl.load_workbook(document.file.real, read_only=True, data_only=True)
    parts: list[tuple[str, str]] = []
    for sheet in book.worksheets:
        rows = [row for row in _rows(sheet.iter_rows(max_row=MOST_ROWS, values_only=True)) if row]
        if not rows:
            continue
        head = row_html(rows[0], "th")
        for start in range(1, max(2, len(rows)), ROWS):
            lines = [row_html(row, "td") for row in rows[start : start + ROWS]]
            parts.append((sheet.title, table_html(head, lines)))
        if (sheet.max_row or 0) > MOST_ROWS:
            rendered.leave_out(rel, f"sheet {sheet.title}: rows after {MOST_ROWS}")
    book.close()
    nav = f'<nav><a href="{{}}">{html.escape(rel, quote=False)}</a></nav>\n'
    for number, (name, table) in enumerate(parts or [("", "<p>(empty)</p>")], 1):
        path = part_path(document, index, number)
        title = document.title if len(parts) < 2 else f"{document.title}: {name} ({number})"
        after = nav.format(address(rel, path))
        body = f"<h2>{html.escape(name, quote=False)}</h2>\n{table}" if name else table
        page = wrap(frame, path, title, body, source=rel, after=after)
        rendered.items.append(Page(path, title, page))
    return rendered


def _rows(rows: Iterator[tuple[object, ...]]) -> Iterator[list[str]]:
    """Rows as text, without the empty cells at their ends."""
    for row in rows:
        cells = ["" if value is None else str(value) for value in row]
        while cells and not cells[-1].strip():
            cells.pop()
        yield cells
