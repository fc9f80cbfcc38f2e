"""Small ZIM files built for a test, with libzim's own writer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def entry_path(title: str) -> str:
    """The path of an article, as the wiki scrapers make it."""
    return title.replace(" ", "_")


def build_zim(
    path: Path,
    articles: Mapping[str, str | bytes],
    *,
    redirects: Mapping[str, str] | None = None,
    language: str = "eng",
    title: str = "",
    date: str = "2026-06-01",
    name: str | None = None,
    fulltext: bool = True,
    metadata: Mapping[str, str] | None = None,
    main: str | None = None,
    extra: Mapping[str, tuple[str, bytes]] | None = None,
) -> Path:
    """Write a ZIM file.

    Args:
        path: The file to write.
        articles: Title -> HTML: a whole document, or what stands inside ``<body>``. Bytes are
            written as they are. The path of an article is its title with underscores.
        redirects: Title -> title of the target.
        language: ISO 639-3 code for the metadata and the index (as the wiki scrapers do, which
            leaves the stop words in the index); several joined by commas; empty for none.
        title: Metadata ``Title``; the name when not given.
        date: Metadata ``Date``.
        name: Metadata ``Name``; the stem of the file without its date when not given.
        fulltext: Whether there is a full-text index.
        metadata: More metadata, or others in their place; an empty value leaves one out.
        main: Title of the main page; the first article when not given.
        extra: Path -> (MIME type, bytes) of entries that are no articles (images, styles).

    Returns:
        The path.
    """
    from libzim.writer import Creator, Hint, Item, StringProvider

    class Entry(Item):  # type: ignore[misc]
        def __init__(self, where: str, label: str, mime: str, data: bytes, front: bool) -> None:
            super().__init__()
            self.where, self.label, self.mime, self.data, self.front = (
                where,
                label,
                mime,
                data,
                front,
            )

        def get_path(self) -> str:
            return self.where

        def get_title(self) -> str:
            return self.label

        def get_mimetype(self) -> str:
            return self.mime

        def get_contentprovider(self) -> Any:
            return StringProvider(self.data)

        def get_hints(self) -> dict[Any, int]:
            return {Hint.FRONT_ARTICLE: int(self.front)}

    plain = name if name is not None else path.stem.rpartition("_")[0] or path.stem
    told = {
        "Name": plain,
        "Title": title or plain,
        "Language": language,
        "Date": date,
        "Creator": "tests",
        "Publisher": "tests",
        "Description": "Made for a test",
        **(metadata or {}),
    }
    creator = Creator(path)
    creator.config_indexing(fulltext, language.partition(",")[0] or "eng")
    first = main or next(iter(articles), None)
    if first is not None:
        creator.set_mainpath(entry_path(first))
    with creator:
        for label, html in articles.items():
            data = html if isinstance(html, bytes) else _document(label, html).encode()
            creator.add_item(Entry(entry_path(label), label, "text/html", data, True))
        for where, (mime, data) in (extra or {}).items():
            creator.add_item(Entry(where, "", mime, data, False))
        for label, target in (redirects or {}).items():
            creator.add_redirection(
                entry_path(label), label, entry_path(target), {Hint.FRONT_ARTICLE: 1}
            )
        for key, value in told.items():
            if value:
                creator.add_metadata(key, value)
    return path


def _document(title: str, html: str) -> str:
    if "<html" in html or "<body" in html:
        return html
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body><h1>{title}</h1>{html}</body></html>"
    )
