"""Rich Text Format: its text."""

from __future__ import annotations

import html
from pathlib import Path

from infoforge.zimify.entries import EntryIndex, address
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.records import Page, Rendered, SourceDocument, UnreadableError

LARGEST = 64 << 20


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn an RTF file into a page."""
    from striprtf.striprtf import rtf_to_text

    rel, path = document.file.rel, document.path
    if document.file.size > LARGEST:
        raise UnreadableError(f"RTF of more than {LARGEST >> 20} MiB")
    data = Path(document.file.real).read_bytes()
    if not data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableError("no RTF")
    text: str = rtf_to_text(data.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
    paragraphs = [" ".join(line.split()) for line in text.split("\n")]
    body = "\n".join(f"<p>{html.escape(line)}</p>" for line in paragraphs if line)
    nav = f'<nav><a href="{address(rel, path)}">{html.escape(rel, quote=False)}</a></nav>\n'
    page = wrap(frame, path, document.title, body or "<p>(empty)</p>", source=rel, after=nav)
    return Rendered(items=[Page(path, document.title, page)])
