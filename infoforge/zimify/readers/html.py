"""HTML pages: kept as they are, with their links made to work inside the ZIM."""

from __future__ import annotations

import re
from pathlib import Path

from infoforge.zimify.encoding import declared_in, decode
from infoforge.zimify.entries import EntryIndex
from infoforge.zimify.links import rewrite
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.records import Page, Rendered, SourceDocument, UnreadableError

LARGEST = 64 << 20

_CHARSET = re.compile(r"""(<meta\b[^>]*?charset\s*=\s*["']?)([\w.:-]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(r"""^(\s*<\?xml[^>]*?encoding\s*=\s*["'])([\w.:-]+)""", re.IGNORECASE)
_ROBOTS = re.compile(r"""(<meta\b[^>]*?\bname\s*=\s*["']?)(robots\b[^>]*?noindex)""", re.IGNORECASE)
_HEAD = re.compile(r"<head\b[^>]*>", re.IGNORECASE)


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn an HTML file into a page."""
    if document.file.size > LARGEST:
        raise UnreadableError(f"HTML of more than {LARGEST >> 20} MiB")
    data = Path(document.file.real).read_bytes()
    rendered = Rendered()
    rel = document.file.rel
    if not data.strip():
        page = wrap(frame, document.path, document.title, "<p>(empty)</p>", source=rel)
        rendered.items.append(Page(document.path, document.title, page))
        return rendered
    text = in_utf8(decode(data, declared_in(data)), ascii_only=data.isascii())
    # Meant for the search engines of the web; libzim would leave the page out of the index too.
    text = _ROBOTS.sub(r"\1former-\2", text, count=1)
    text = rewrite(text, document.path, rel, lambda url: index.link(url, rel), rendered.links)
    rendered.items.append(Page(document.path, document.title, text.encode("utf-8", "replace")))
    return rendered


def in_utf8(text: str, *, ascii_only: bool = False) -> str:
    """Make a page say that it is UTF-8, since that is what it becomes.

    kiwix-serve sends no charset, so a page that names none, or its former one, is misread.
    """
    head = text[:4096]
    match = _CHARSET.search(head)
    if match is not None:
        if match.group(2).lower() == "utf-8":
            return text
        return text[: match.start(2)] + "utf-8" + text[match.end(2) :]
    xml = _XML_ENCODING.match(head)
    if xml is not None and xml.group(2).lower() != "utf-8":
        text = text[: xml.start(2)] + "utf-8" + text[xml.end(2) :]
    if ascii_only:
        return text
    opening = _HEAD.search(text[:4096])
    where = opening.end() if opening is not None else 0
    if where == 0 and text[:200].lstrip().lower().startswith(("<!doctype", "<?xml", "<html")):
        return text
    return text[:where] + '<meta charset="utf-8">' + text[where:]
