"""The front page and the listings of folders: how to get around without searching."""

from __future__ import annotations

import html
import posixpath
from collections.abc import Iterator

from infoforge.zimify.model import Document, Page
from infoforge.zimify.names import INDEX_STEMS, address, fold, stem
from infoforge.zimify.page import Frame, wrap
from infoforge.zimify.shelf import Shelf

PER_PAGE = 1000
"""Entries of one page of a listing."""


def home_of(shelf: Shelf) -> str:
    """Path of the main entry: a site's own start page, else the listing of the whole folder."""
    for name in ("index.html", "index.htm", "index.xhtml"):
        document = shelf.by_rel.get(name)
        if document is not None and document.file.kind == "html":
            return document.path
    return shelf.listing("")


def listings(shelf: Shelf, frame: Frame, title: str) -> Iterator[Page]:
    """A page for each folder with documents: its folders, then its documents, by title."""
    children: dict[str, set[str]] = {"": set()}
    held: dict[str, list[Document]] = {"": []}
    for document in shelf.documents:
        if document.file.kind == "file":
            continue
        folder = posixpath.dirname(document.file.rel)
        held.setdefault(folder, []).append(document)
        while folder:
            above = posixpath.dirname(folder)
            children.setdefault(above, set()).add(folder)
            folder = above
    for folder in sorted(shelf.folders):
        yield from _listing(
            folder,
            sorted(children.get(folder, ())),
            held.get(folder, []),
            shelf=shelf,
            frame=frame,
            title=title,
        )


def _listing(
    folder: str,
    folders: list[str],
    documents: list[Document],
    *,
    shelf: Shelf,
    frame: Frame,
    title: str,
) -> Iterator[Page]:
    documents = sorted(documents, key=lambda d: (_rank(d), fold(d.title), d.file.rel))
    path = shelf.listing(folder)
    name = posixpath.basename(folder) if folder else title
    lines = [(f"{posixpath.basename(sub)}/", shelf.entrance(sub), "") for sub in folders]
    titles: dict[str, int] = {}
    for document in documents:
        titles[fold(document.title)] = titles.get(fold(document.title), 0) + 1
    for document in documents:
        double = titles[fold(document.title)] > 1
        note = posixpath.basename(document.file.rel) if double else ""
        lines.append((document.title, document.path, note))
    count = max(1, -(-len(lines) // PER_PAGE))
    for number in range(1, count + 1):
        own = path if number == 1 else f"{path} ({number})"
        items = []
        for label, target, note in lines[(number - 1) * PER_PAGE : number * PER_PAGE]:
            extra = f" <small>{html.escape(note)}</small>" if note else ""
            shown = html.escape(label, quote=False)
            items.append(f'<li><a href="{address(target, own)}">{shown}</a>{extra}</li>')
        body = "<ul>\n" + "\n".join(items) + "\n</ul>" if items else "<p>No documents.</p>"
        pager = ""
        if count > 1:
            links = [
                f'<a href="{address(path if n == 1 else f"{path} ({n})", own)}">{n}</a>'
                for n in range(1, count + 1)
            ]
            pager = f"<nav>{' '.join(links)}</nav>\n"
        if folder:
            above = address(shelf.listing(posixpath.dirname(folder)), own)
            pager += f'<nav><a href="{above}">↑</a></nav>\n'
        heading = name if number == 1 else f"{name} ({number})"
        page = wrap(frame, own, heading, body, source=f"{folder}/", after=pager)
        yield Page(own, heading, page, indexed=False)


def _rank(document: Document) -> int:
    """Index files first: they introduce the folder."""
    name = fold(stem(posixpath.basename(document.file.rel)))
    return 0 if name in INDEX_STEMS else 1
