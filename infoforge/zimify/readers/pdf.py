"""PDF: its text, page by page; the file itself stays beside it."""

from __future__ import annotations

import html
import logging
import re
from typing import TYPE_CHECKING

from infoforge.contract import WarningMessage
from infoforge.zimify.entries import EntryIndex, address
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.readers import PART_BYTES
from infoforge.zimify.readers.text import part_path
from infoforge.zimify.records import Page, Rendered, SourceDocument, UnreadableError

if TYPE_CHECKING:
    from pypdf import PdfReader

PAGES = 20000

_HYPHEN = re.compile(r"(\w)[-\u00ad]\n(\w)")
_USELESS_TITLE = re.compile(
    r"^(untitled|microsoft word\b.*|.*\.(docx?|pdf|indd|tex|dvi|odt|rtf|pptx?)|\W*)$", re.IGNORECASE
)


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn a PDF into pages of text."""
    import pypdf
    from pypdf.errors import PyPdfError

    # pypdf tells of every repair it makes; what matters is whether text comes out.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    rel = document.file.rel
    try:
        reader = pypdf.PdfReader(document.file.real)
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError("protected by a password")
        title = _title(reader) or document.title
        texts = _texts(reader)
    except pypdf.errors.DependencyError:
        raise UnreadableError("encrypted in a way that needs a library we do not have") from None
    except PyPdfError as error:
        raise UnreadableError(f"damaged PDF: {' '.join(str(error).split())}") from None
    rendered = Rendered(title=title)
    if not any(text.strip() for text in texts):
        message = f"{rel} has no text, only pictures: it is kept, but cannot be searched"
        rendered.warnings.append(WarningMessage("zimify_no_text", message))
    parts: list[list[tuple[int, str]]] = [[]]
    size = 0
    for number, text in enumerate(texts, 1):
        if size > PART_BYTES:
            parts.append([])
            size = 0
        parts[-1].append((number, text))
        size += len(text)
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
        body = "\n".join(_section(number, text) for number, text in part)
        nav = f"<nav>{' '.join(links)}</nav>\n"
        page = wrap(frame, path, named, body, source=rel, after=nav)
        rendered.items.append(Page(path, named, page))
    return rendered


def _title(reader: PdfReader) -> str:
    """The title in the metadata, unless a program filled it in by itself."""
    try:
        meta = reader.metadata
        title = " ".join(str(meta.title).split()) if meta is not None and meta.title else ""
    except Exception:
        # Broken metadata costs a title, not the text.
        return ""
    return "" if _USELESS_TITLE.match(title) else title[:300]


def _texts(reader: PdfReader) -> list[str]:
    """The text of each page; a damaged page is empty, not the end of the document."""
    texts = []
    failed = 0
    for number, page in enumerate(reader.pages):
        if number >= PAGES:
            break
        try:
            texts.append(page.extract_text())
        except (MemoryError, RecursionError):
            raise
        except Exception:
            failed += 1
            texts.append("")
    if failed and failed == len(texts):
        raise UnreadableError("damaged PDF: no page of it can be read")
    return texts


def _section(number: int, text: str) -> str:
    """One page as a section with paragraphs: lines of running text are joined."""
    text = _HYPHEN.sub(r"\1\2", text.replace("\x00", "").replace("\r", ""))
    paragraphs = []
    for block in re.split(r"\n[ \t]*\n", text):
        line = html.escape(" ".join(block.split()), quote=False)
        if line:
            paragraphs.append(f"<p>{line}</p>")
    return f'<section id="page={number}">\n' + "\n".join(paragraphs) + "\n</section>"
