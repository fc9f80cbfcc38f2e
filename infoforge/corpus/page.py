"""One page as an article, whichever way its bytes came."""

from __future__ import annotations

from infoforge.corpus.base import CorpusError
from infoforge.records import Article, CorpusInfo, Section
from infoforge.text import html, markup

_TEXT_LIMIT = 4_000_000
"""Bytes of a page that are looked at; beyond it no question is answered better."""


def article(  # noqa: PLR0917 - six plain facts of one page
    info: CorpusInfo, path: str, title: str, url: str, content: bytes, mimetype: str
) -> Article | None:
    """Make an article of a page's bytes.

    Args:
        info: The corpus it stands in.
        path: The entry's own path.
        title: Its title where the corpus knows it, else empty.
        url: Where a person can open it.
        content: The bytes, always decoded as UTF-8: ZIMs hold nothing else, whatever a header says.
        mimetype: As the corpus gives it, parameters and all.

    Returns:
        The article; ``None`` for what is not text.

    Raises:
        CorpusError: The page's markup takes too long to read.
    """
    kind = mimetype.split(";", 1)[0].strip().lower()
    text = content[:_TEXT_LIMIT].decode("utf-8", "replace")
    language = info.languages[0] if info.languages else ""
    if kind in ("text/html", "application/xhtml+xml", ""):
        try:
            page = html.parse(text, path, title)
        except markup.TooComplexError as error:
            raise CorpusError(f"{info.name}: {path} is not read: {error}") from error
        return Article(
            corpus=info.name,
            path=path,
            title=page.title or path,
            url=url,
            date=info.date,
            language=language,
            sections=page.sections,
            links=page.links,
            disambiguation=page.disambiguation,
        )
    if kind == "text/plain":
        lines = "\n".join(line.strip() for line in text.splitlines() if line.strip())
        sections = (Section("", lines),) if lines else ()
        return Article(info.name, path, title or path, url, info.date, language, sections)
    return None
