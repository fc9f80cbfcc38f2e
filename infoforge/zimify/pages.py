"""The page around what a reader makes, the front page and the listings of folders."""

from __future__ import annotations

import html
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from infoforge.zimify.entries import INDEX_STEMS, EntryIndex, address, fold, stem
from infoforge.zimify.records import Page, SourceDocument

GENERATOR = '<meta name="generator" content="infoforge zimify">'
"""By this mark `text.html` knows a page made of someone's own document: all its sections count."""
STYLE_PATH = "_infoforge/style.css"
STYLE = """\
:root { color-scheme: light dark; }
body { font: 1rem/1.6 system-ui, sans-serif; margin: 0 auto; max-width: 46rem; padding: 1rem; }
img, video, svg { max-width: 100%; height: auto; }
pre { overflow-x: auto; padding: .8rem; background: #8882; border-radius: 4px; }
code { background: #8882; border-radius: 3px; padding: 0 .2em; }
pre code { background: none; padding: 0; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: .25rem .6rem; text-align: start; vertical-align: top; }
blockquote { margin-inline: 0; padding-inline-start: 1rem; border-inline-start: 3px solid #8886; }
nav { font-size: .9rem; }
.dmbox { font-style: italic; border-top: 1px solid #8886; padding-top: .5rem; }
.missing, [data-dead-href] { color: #a33; text-decoration: underline dotted; }
.plain { white-space: pre-wrap; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True, slots=True)
class Frame:
    """What all pages of one ZIM have in common.

    Attributes:
        language: For the ``lang`` attribute.
        home: Path of the front page.
        style: Path of the style sheet.
    """

    language: str
    home: str
    style: str = STYLE_PATH


def wrap(
    frame: Frame,
    path: str,
    title: str,
    body: str,
    *,
    source: str = "",
    heading: bool = True,
    after: str = "",
    language: str = "",
) -> bytes:
    """A whole HTML page.

    Args:
        frame: What all pages have in common.
        path: The entry that the page becomes; its own links are relative to it.
        title: For the title bar and, with ``heading``, the first heading.
        body: HTML.
        source: The file it was made of; it also tells apart pages of equal content.
        heading: Whether the body lacks its own first heading.
        after: HTML after the body (previous and next part, the original).
        language: The document's own, where it differs.
    """
    head = f"<h1>{html.escape(title, quote=False)}</h1>\n" if heading else ""
    origin = f'<meta name="source" content="{html.escape(source)}">' if source else ""
    # The way home has no words: they would stand in the search index of every page.
    home = "" if path == frame.home else f'<nav><a href="{address(frame.home, path)}">⌂</a></nav>\n'
    text = (
        f'<!DOCTYPE html>\n<html lang="{html.escape(language or frame.language)}"><head>'
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"{GENERATOR}{origin}"
        f"<title>{html.escape(title, quote=False)}</title>"
        f'<link rel="stylesheet" href="{address(frame.style, path)}"></head>\n'
        f"<body>\n{home}<main>\n{head}{body}\n</main>\n{after}</body></html>\n"
    )
    return text.encode("utf-8", "replace")


PER_PAGE = 1000
"""Entries of one page of a listing."""


def home_of(index: EntryIndex) -> str:
    """Path of the main entry: a site's own start page, else the listing of the whole folder."""
    for name in ("index.html", "index.htm", "index.xhtml"):
        document = index.by_rel.get(name)
        if document is not None and document.file.kind == "html":
            return document.path
    return index.listing("")


def listings(index: EntryIndex, frame: Frame, title: str) -> Iterator[Page]:
    """A page for each folder with documents: its folders, then its documents, by title."""
    children: dict[str, set[str]] = {"": set()}
    held: dict[str, list[SourceDocument]] = {"": []}
    for document in index.documents:
        if document.file.kind == "file":
            continue
        folder = posixpath.dirname(document.file.rel)
        held.setdefault(folder, []).append(document)
        while folder:
            above = posixpath.dirname(folder)
            children.setdefault(above, set()).add(folder)
            folder = above
    for folder in sorted(index.folders):
        yield from _listing(
            folder,
            sorted(children.get(folder, ())),
            held.get(folder, []),
            index=index,
            frame=frame,
            title=title,
        )


def _listing(
    folder: str,
    folders: list[str],
    documents: list[SourceDocument],
    *,
    index: EntryIndex,
    frame: Frame,
    title: str,
) -> Iterator[Page]:
    documents = sorted(documents, key=lambda d: (_rank(d), fold(d.title), d.file.rel))
    path = index.listing(folder)
    name = posixpath.basename(folder) if folder else title
    lines = [(f"{posixpath.basename(sub)}/", index.entrance(sub), "") for sub in folders]
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
            above = address(index.listing(posixpath.dirname(folder)), own)
            pager += f'<nav><a href="{above}">↑</a></nav>\n'
        heading = name if number == 1 else f"{name} ({number})"
        page = wrap(frame, own, heading, body, source=f"{folder}/", after=pager)
        yield Page(own, heading, page, indexed=False)


def _rank(document: SourceDocument) -> int:
    """Index files first: they introduce the folder."""
    name = fold(stem(posixpath.basename(document.file.rel)))
    return 0 if name in INDEX_STEMS else 1
