"""Jupyter notebooks: their text as markdown, their code and what it printed as code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from infoforge.text.markdown import title_of
from infoforge.text.parse import from_json
from infoforge.zimify.entries import EntryIndex, address
from infoforge.zimify.pages import Frame
from infoforge.zimify.readers.markdown import render
from infoforge.zimify.records import Page, Rendered, SourceDocument, UnreadableError

LARGEST = 64 << 20


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn a notebook into a page; pictures that it holds stay in the file."""
    if document.file.size > LARGEST:
        raise UnreadableError(f"a notebook of more than {LARGEST >> 20} MiB")
    try:
        book = from_json(Path(document.file.real).read_bytes())
    except ValueError as error:
        raise UnreadableError(f"no notebook: {error}") from None
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        sheets = book.get("worksheets") if isinstance(book, dict) else None
        if not isinstance(sheets, list):
            raise UnreadableError("no notebook: it has no cells")
        cells = [c for s in sheets if isinstance(s, dict) for c in s.get("cells") or ()]
    info = book.get("metadata") if isinstance(book.get("metadata"), dict) else {}
    language = str((info.get("kernelspec") or {}).get("language") or "")
    blocks: list[str] = []
    pictures = 0
    for cell in cells:
        if isinstance(cell, dict):
            written, drawn = _cell(cell, language)
            blocks += written
            pictures += drawn
    body = "\n\n".join(blocks)
    rendered = Rendered()
    if pictures:
        rendered.leave_out(document.file.rel, f"{pictures} picture(s) that code drew")
    rendered.title = title_of(body) or document.title
    link = f'<a href="{address(document.file.rel, document.path)}">{document.file.rel}</a>'
    page = render(
        body, document, index, frame, rendered, title=rendered.title, after=f"<nav>{link}</nav>\n"
    )
    rendered.items.append(Page(document.path, rendered.title, page))
    return rendered


def _cell(cell: dict[str, Any], language: str) -> tuple[list[str], int]:
    """A cell as markdown, and the number of its pictures."""
    source = _text(cell.get("source") or cell.get("input"))
    kind = cell.get("cell_type")
    if kind == "markdown":
        return [source], 0
    if kind == "heading":
        return [f"{'#' * int(cell.get('level') or 1)} {source}"], 0
    blocks = [_fenced(source, language)] if source.strip() else []
    pictures = 0
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        data = data if isinstance(data, dict) else {}
        printed = _text(output.get("text") or data.get("text/plain"))
        if "image/png" in data or "image/svg+xml" in data or "image/jpeg" in data:
            pictures += 1
        elif printed.strip():
            blocks.append(_fenced(re.sub(r"\x1b\[[0-9;]*m", "", printed), ""))
    return blocks, pictures


def _text(value: object) -> str:
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))


def _fenced(code: str, language: str) -> str:
    ticks = "`" * (max((len(run) for run in re.findall("`{3,}", code)), default=2) + 1)
    return f"{ticks}{language}\n{code.rstrip()}\n{ticks}"
