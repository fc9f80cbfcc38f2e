"""EPUB books: every chapter becomes a page, with the book's own pictures and styles."""

from __future__ import annotations

import html
import posixpath
import re
import zipfile
from collections import Counter
from dataclasses import dataclass
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from infoforge.text.xmltree import BadXML, parse
from infoforge.zimify.encoding import declared_in, decode
from infoforge.zimify.entries import EntryIndex, Target, address, join, mimetype_of
from infoforge.zimify.links import rewrite
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.readers.archive import member, open_archive
from infoforge.zimify.readers.html import in_utf8
from infoforge.zimify.records import Attachment, Page, Rendered, SourceDocument, UnreadableError
from infoforge.zimify.scan import html_head, plain

_CONTAINER = "META-INF/container.xml"
_HTML_TYPES = ("application/xhtml+xml", "text/html")
HEAD = 65536
"""Characters of a chapter in which its title is looked for."""
_KEPT = ("image/", "text/css", "font/", "application/font", "application/vnd.ms-opentype", "audio/")
_PROLOGUE = re.compile(
    r"^\s*(?:<\?xml[^>]*\?>)?\s*(?:<!--.*?-->\s*)*(?:<!DOCTYPE[^>\[]*>)?", re.DOTALL
)
_HEADING = re.compile(r"<h[1-3][^>]*>(.{0,1000}?)</h[1-3]", re.IGNORECASE | re.DOTALL)
_EMPTY = re.compile(
    r"<(a|b|cite|code|div|em|h[1-6]|i|iframe|li|p|script|section|span|strong|sub|sup|td|th|title)"
    r"(\s[^<>]*)?/>"
)


@dataclass(frozen=True, slots=True)
class _Book:
    title: str
    language: str
    chapters: tuple[str, ...]
    """Members in reading order."""
    types: dict[str, str]
    """Media type of every member that the book declares."""
    labels: dict[str, str]
    """What the table of contents calls a member."""


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn a book into a page of contents, a page for each chapter, and attachments."""
    rel = document.file.rel
    with open_archive(document.file.real, document.file.size) as archive:
        if _CONTAINER not in archive.namelist():
            raise UnreadableError("no EPUB book")
        if "META-INF/encryption.xml" in archive.namelist() and _locked(archive):
            raise UnreadableError("protected by digital rights management")
        book = _book(archive, document)
        rendered = Rendered(title=book.title)
        names = set(archive.namelist())
        places = {name: f"{rel}.book/{name}" for name in book.types if name in names}
        chapters = frozenset(book.chapters)
        kept = {
            name: place
            for name, place in places.items()
            if name in chapters or book.types[name].startswith(_KEPT)
        }
        named = Counter(_own_title(archive, name, book) for name in book.chapters)
        titles = []
        for number, name in enumerate(book.chapters, 1):
            page = _chapter(
                archive,
                name,
                kept,
                document=document,
                book=book,
                rendered=rendered,
                number=number,
                shared=frozenset(title for title, count in named.items() if count > 1),
            )
            titles.append((page.title, page.path))
            rendered.items.append(page)
        for name, kind in book.types.items():
            if name in names and name not in chapters and kind.startswith(_KEPT):
                data = member(archive, name)
                if data:
                    rendered.items.append(Attachment(places[name], kind, data))
    path = document.path
    lines = "\n".join(
        f'<li><a href="{address(to, path)}">{html.escape(title, quote=False)}</a></li>'
        for title, to in titles
    )
    nav = f'<nav><a href="{address(rel, path)}">{html.escape(rel, quote=False)}</a></nav>\n'
    contents = wrap(frame, path, book.title, f"<ol>\n{lines}\n</ol>", source=rel, after=nav)
    rendered.items.append(Page(path, book.title, contents))
    return rendered


def _chapter(
    archive: zipfile.ZipFile,
    name: str,
    kept: dict[str, str],
    *,
    document: SourceDocument,
    book: _Book,
    rendered: Rendered,
    number: int,
    shared: frozenset[str],
) -> Page:
    data = member(archive, name)
    text = in_utf8(decode(data, declared_in(data)), ascii_only=data.isascii())
    # Served as HTML, where <a/> opens an element that nothing closes.
    text = _EMPTY.sub(r"<\1\2></\1>", text)

    def resolve(url: str) -> Target | None:
        bare, _, fragment = url.partition("#")
        found = join(unquote(bare.partition("?")[0]), name) if bare else name
        return Target(kept[found], unquote(fragment)) if found in kept else None

    path = kept[name]
    text = rewrite(text, path, f"{document.file.rel}/{name}", resolve, rendered.links)
    title = f"{_heading(text, name, book, shared) or f'part {number}'} ({book.title})"
    return Page(path, title, text.encode("utf-8", "replace"))


def _heading(text: str, name: str, book: _Book, shared: frozenset[str]) -> str:
    """What a chapter calls itself, when that is more than the name of the book or of its file.

    Args:
        text: The chapter.
        name: Its member.
        book: The book.
        shared: Titles that several chapters have: they tell none of them from the others.
    """
    base = posixpath.basename(name)
    useless = {"", book.title, base, posixpath.splitext(base)[0], *shared}
    found = [html_head(text[:HEAD]).title, book.labels.get(name, "")]
    found += [plain(match.group(1)) for match in _HEADING.finditer(text[:HEAD])]
    return next((heading for heading in found if heading not in useless), "")


def _own_title(archive: zipfile.ZipFile, name: str, book: _Book) -> str:
    """The ``<title>`` of a chapter."""
    with archive.open(name) as stream:
        start = stream.read(HEAD)
    return html_head(decode(start, declared_in(start))).title


def _locked(archive: zipfile.ZipFile) -> bool:
    """Whether the text is encrypted (obfuscated fonts are listed in the same place)."""
    root = _xml(member(archive, "META-INF/encryption.xml"))
    return any(
        element.attrib.get("URI", "").lower().endswith((".xhtml", ".html", ".htm", ".xml"))
        for element in root.iter()
    )


def _book(archive: zipfile.ZipFile, document: SourceDocument) -> _Book:
    root = _xml(member(archive, _CONTAINER))
    package = next((e.attrib["full-path"] for e in root.iter() if "full-path" in e.attrib), "")
    if not package:
        raise UnreadableError("an EPUB without a package file")
    opf = _xml(member(archive, package))
    title = language = ""
    manifest: dict[str, str] = {}
    types: dict[str, str] = {}
    spine: list[str] = []
    contents = ""
    for element in opf.iter():
        tag = str(element.tag).rpartition("}")[2]
        if tag == "title" and not title:
            title = " ".join("".join(element.itertext()).split())
        elif tag == "language" and not language:
            language = "".join(element.itertext()).strip()
        elif tag == "item" and "href" in element.attrib:
            href = unquote(element.attrib["href"].partition("#")[0])
            name = posixpath.normpath(posixpath.join(posixpath.dirname(package), href))
            types[name] = element.attrib.get("media-type") or mimetype_of(name)
            manifest[element.attrib.get("id", "")] = name
            if "nav" in element.attrib.get("properties", "").split() or (
                types[name] == "application/x-dtbncx+xml" and not contents
            ):
                contents = name
        elif tag == "itemref":
            spine.append(element.attrib.get("idref", ""))
    present = set(archive.namelist())
    chapters = dict.fromkeys(
        manifest[key]
        for key in spine
        if key in manifest and manifest[key] in present and types[manifest[key]] in _HTML_TYPES
    )
    if not chapters:
        raise UnreadableError("an EPUB without chapters")
    labels = _labels(archive, contents) if contents in present else {}
    return _Book(title or document.title, language, tuple(chapters), types, labels)


def _labels(archive: zipfile.ZipFile, contents: str) -> dict[str, str]:
    """What the table of contents (EPUB 3 or NCX) calls each member, by its first entry."""
    try:
        data = member(archive, contents)
        root = _xml(data)
    except UnreadableError:
        return {}
    found: dict[str, str] = {}
    for element in root.iter():
        tag = str(element.tag).rpartition("}")[2]
        if tag == "a":
            link, label = element.attrib.get("href", ""), "".join(element.itertext())
        elif tag == "navPoint":
            inner = {str(child.tag).rpartition("}")[2]: child for child in element}
            if "content" not in inner or "navLabel" not in inner:
                continue
            link = inner["content"].attrib.get("src", "")
            label = "".join(inner["navLabel"].itertext())
        else:
            continue
        bare = unquote(link.partition("#")[0])
        name = posixpath.normpath(posixpath.join(posixpath.dirname(contents), bare))
        if label := " ".join(label.split()):
            found.setdefault(name, label)
    return found


def _xml(data: bytes) -> Element:
    """Parse XML without entities; a document type that declares none is passed over."""
    text = _PROLOGUE.sub("", decode(data, declared_in(data)), count=1)
    try:
        return parse(text.encode("utf-8", "replace"))
    except BadXML as error:
        raise UnreadableError(f"damaged EPUB: {error}") from None
