"""Word documents: headings, lists, tables, links and pictures; the file itself stays beside."""

from __future__ import annotations

import hashlib
import html
import mimetypes
import re
import zipfile
from contextlib import AbstractContextManager
from typing import IO, Protocol

from infoforge.zimify.entries import EntryIndex, address
from infoforge.zimify.links import rewrite
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.readers.archive import open_archive
from infoforge.zimify.readers.formulas import with_formulas
from infoforge.zimify.records import Attachment, Page, Rendered, SourceDocument, UnreadableError

_TITLE = re.compile(rb"<dc:title[^>]*>([^<]{1,1000})</dc:title>")
_H1 = re.compile(r"(?:\s|<p>|</p>|<a id=\"[^\"]*\">\s*</a>)*<h1[^>]*>(.*?)</h1>", re.DOTALL)
"""The first heading; empty paragraphs and the marks of bookmarks may stand before it."""
_TAG = re.compile(r"<[^>]*>")


class _Picture(Protocol):
    """A picture as mammoth hands it over."""

    content_type: str

    def open(self) -> AbstractContextManager[IO[bytes]]:
        """Open its bytes."""
        ...


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn a Word document into a page, its pictures into attachments."""
    import mammoth

    rel, path = document.file.rel, document.path
    rendered = Rendered()
    pictures: dict[bytes, str] = {}

    def picture(image: _Picture) -> dict[str, str]:
        with image.open() as stream:
            data = stream.read()
        digest = hashlib.blake2b(data, digest_size=8).digest()
        if digest not in pictures:
            ending = mimetypes.guess_extension(image.content_type) or ".bin"
            pictures[digest] = f"{rel}.pictures/{len(pictures) + 1}{ending}"
            rendered.items.append(Attachment(pictures[digest], image.content_type, data))
        return {"src": address(pictures[digest], path)}

    with open_archive(document.file.real, document.file.size) as archive:
        if "word/document.xml" not in archive.namelist():
            raise UnreadableError("no Word document")
        title = _title(archive)
        with with_formulas(document.file.real, archive) as stream:
            convert = mammoth.images.img_element(picture)
            markup: str = mammoth.convert_to_html(
                stream, convert_image=convert, style_map="p[style-name='Title'] => h1:fresh"
            ).value
    heading = _H1.match(markup)
    if not title and heading is not None:
        title = html.unescape(_TAG.sub("", heading.group(1))).strip()
    rendered.title = title = title or document.title
    inside = frozenset(pictures.values())
    markup = rewrite(
        markup,
        path,
        rel,
        lambda url: index.link(url, rel, inside),
        rendered.links,
        exact=False,
    )
    nav = f'<nav><a href="{address(rel, path)}">{html.escape(rel, quote=False)}</a></nav>\n'
    page = wrap(frame, path, title, markup, source=rel, heading=heading is None, after=nav)
    rendered.items.append(Page(path, title, page))
    return rendered


def _title(archive: zipfile.ZipFile) -> str:
    """The title among the document's properties, or an empty text."""
    if "docProps/core.xml" not in archive.namelist():
        return ""
    match = _TITLE.search(archive.read("docProps/core.xml"))
    if match is None:
        return ""
    title = " ".join(html.unescape(match.group(1).decode("utf-8", "replace")).split())
    return "" if title.lower() in ("word document", "untitled") else title
