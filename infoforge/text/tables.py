"""Tables as lines of ``key: value``, since dates and figures live there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

COLUMNS = 200
"""Columns of a table that are told apart."""
COPIES = 20_000
"""Copies that the spanning cells of a table may have."""
_REPEATED = 200
"""Characters of a cell that is repeated in each row that it spans."""
_LAYOUT = "h1,h2,h3,h4,h5,h6,pre,article,section,main,blockquote,form"
_TEXT_CELLS = 3
_TEXT = 400
"""A single row of few cells with so many characters holds a page, no data."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell, or its copy in a row or column that it spans.

    Attributes:
        heading: A ``th``.
        text: Its text.
        across: A copy of the cell to the left.
    """

    heading: bool
    text: str
    across: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Cells by column.

    Attributes:
        cells: Spanning ones repeated.
        heading: It stands in a ``thead``, or has headings alone.
        own: How many cells it is written with.
    """

    cells: tuple[Cell, ...]
    heading: bool
    own: int


def row_nodes(table: LexborNode) -> list[tuple[LexborNode, bool]]:
    """The rows of a table, not of those inside it, and whether they stand in its head."""
    found = []
    child = table.child
    while child is not None:
        if child.tag == "tr":
            found.append((child, False))
        elif child.tag in ("tbody", "thead", "tfoot"):
            row = child.child
            while row is not None:
                if row.tag == "tr":
                    found.append((row, child.tag == "thead"))
                row = row.next
        child = child.next
    return found


def cell_nodes(row: LexborNode) -> list[LexborNode]:
    """The cells of a row."""
    cells = []
    child = row.child
    while child is not None:
        if child.tag in ("th", "td"):
            cells.append(child)
        child = child.next
    return cells


def is_layout(table: LexborNode, kind: str) -> bool:
    """Whether a table puts text into columns of a page instead of holding data."""
    if "infobox" in kind:
        return False
    if table.attributes.get("role") in ("presentation", "none"):
        return True
    rows = row_nodes(table)
    # A search in an element finds the element itself, too.
    nested = len(table.css("table")) > 1
    if table.css_first("th,caption") is None and (nested or table.css_first(_LAYOUT) is not None):
        return True
    if table.css_first("pre,h1,h2,article,main") is not None:
        return True
    cells = [cell for row, _ in rows for cell in cell_nodes(row)] if len(rows) == 1 else []
    return 0 < len(cells) <= _TEXT_CELLS and sum(len(cell.text()) for cell in cells) > _TEXT


def grid(nodes: Sequence[tuple[LexborNode, bool]], text: Callable[[LexborNode], str]) -> list[Row]:
    """Rows with spanning cells repeated where they reach.

    Args:
        nodes: The rows.
        text: Gives a cell's text.
    """
    rows: list[Row] = []
    reaching: dict[int, tuple[int, Cell]] = {}
    copies = 0
    for node, in_head in nodes:
        cells: list[Cell] = []
        own = 0

        def fill(cells: list[Cell]) -> None:
            while (column := len(cells)) in reaching:
                left, cell = reaching.pop(column)
                cells.append(cell)
                if left > 1:
                    reaching[column] = left - 1, cell

        for element in cell_nodes(node):
            fill(cells)
            if len(cells) >= COLUMNS:
                break
            cell = Cell(element.tag == "th", text(element))
            own += 1
            attributes = element.attributes
            width = _span(attributes.get("colspan"))
            height = _span(attributes.get("rowspan"))
            if copies > COPIES:
                width = height = 1
            copies += width * min(height, len(nodes)) - 1
            again = cell if len(cell.text) <= _REPEATED else replace(cell, text="")
            for place in range(min(width, COLUMNS - len(cells))):
                if height > 1:
                    reaching[len(cells)] = height - 1, replace(again, across=place > 0)
                cells.append(cell if place == 0 else replace(again, across=True))
        fill(cells)
        if any(cell.text for cell in cells):
            heading = own > 1 and (in_head or all(cell.heading for cell in cells))
            rows.append(Row(tuple(cells), heading, own))
    return rows


def _span(value: str | None) -> int:
    text = (value or "").strip()
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 6 else 1


def lines(rows: Sequence[Row]) -> list[str]:
    """Each row as a line; a row of headings names the cells below."""
    found: list[str] = []
    names: list[str] = []
    for heading, group in groupby(rows, key=lambda row: row.heading):
        members = list(group)
        if heading and (members[-1] is not rows[-1]):
            names = _names(members)
            continue
        for row in members:
            line = _named(row, names) if len(row.cells) == len(names) else _plain(row)
            if line:
                found.append(line)
    return found


def _names(rows: Sequence[Row]) -> list[str]:
    width = max(len(row.cells) for row in rows)
    names = []
    for column in range(width):
        parts = [row.cells[column].text for row in rows if column < len(row.cells)]
        names.append(" ".join(dict.fromkeys(part for part in parts if part)))
    return names


def _named(row: Row, names: Sequence[str]) -> str:
    if row.own == 1 and all(cell.across for cell in row.cells[1:]):
        return row.cells[0].text
    parts: list[tuple[list[str], str]] = []
    for name, cell in zip(names, row.cells, strict=True):
        if cell.across and parts:
            if name and name not in parts[-1][0]:
                parts[-1][0].append(name)
        else:
            parts.append(([name] if name else [], cell.text))
    return "; ".join(
        f"{', '.join(keys).rstrip(':')}: {text}" if keys else text for keys, text in parts if text
    )


def _plain(row: Row) -> str:
    texts = [cell.text for cell in row.cells if cell.text and not cell.across]
    if len(texts) > 1 and (row.cells[0].heading or len(texts) == 2):
        return f"{texts[0].rstrip(':').rstrip()}: {'; '.join(texts[1:])}"
    return "; ".join(texts)
