"""Read a cited article, a window at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from infoforge.config.settings import Settings
from infoforge.contract import CorpusUnavailable, NothingFound, UsageError, Warn
from infoforge.records import Article, Section

_MOST_HEADINGS = 60


def read(
    settings: Settings,
    warn: Warn,
    *,
    corpus: str,
    path: str,
    section: str = "",
    offset: int = 0,
    characters: int = 6000,
) -> dict[str, Any]:
    """A window of an article's text.

    Args:
        settings: The settings.
        warn: Takes warnings.
        corpus: Name of the corpus, as the citation has it.
        path: The entry's path, as the citation has it.
        section: A heading, or the last part of one; empty: the whole article.
        offset: Where the window begins, in characters of the text.
        characters: Its length.

    Returns:
        The article's title, url, date and headings, the ``text`` of the window, ``total``
        characters, and ``next_offset``: where the next one begins, ``None`` after the last.

    Raises:
        UsageError: No such corpus or section, or an offset beyond the end.
        NothingFound: The corpus has no such article.
        CorpusUnavailable: The corpus cannot be read.
    """
    article = _article(settings, warn, corpus, path)
    headings = [item.heading for item in article.sections if item.heading]
    text = _text(_chosen(article, section, headings))
    if offset > len(text):
        raise UsageError(f"the text has {len(text)} characters; offset is {offset}", "begin at 0")
    end = offset + characters
    return {
        "corpus": article.corpus,
        "path": article.path,
        "title": article.title,
        "url": article.url,
        "date": article.date,
        "language": article.language,
        "section": section,
        "headings": headings[:_MOST_HEADINGS],
        "text": text[offset:end],
        "offset": offset,
        "total": len(text),
        "next_offset": end if end < len(text) else None,
    }


def _article(settings: Settings, warn: Warn, corpus: str, path: str) -> Article:
    from infoforge.corpus.base import CorpusError, Deadline
    from infoforge.corpus.opened import open_corpora

    deadline = Deadline(settings.search.deadline)
    opened = {item.name: item for item in open_corpora(settings, warn, deadline=deadline)}
    if corpus not in opened:
        raise UsageError(f"no such corpus: {corpus}", f"there are: {', '.join(opened)}")
    try:
        article = opened[corpus].read(path, deadline)
    except CorpusError as error:
        raise CorpusUnavailable(str(error), "infoforge doctor says what is wrong") from error
    if article is None:
        raise NothingFound(
            f"{corpus} has no article at {path}",
            "give corpus and path as search or a citation has them",
            code="no_article",
        )
    return article


def _chosen(article: Article, section: str, headings: Sequence[str]) -> tuple[Section, ...]:
    """The sections that are meant, with what stands below them."""
    wanted = section.strip().casefold()
    if not wanted:
        return article.sections
    for item in article.sections:
        heading = item.heading.casefold()
        if heading == wanted or heading.rpartition(" > ")[2] == wanted:
            return tuple(
                other
                for other in article.sections
                if other.heading == item.heading or other.heading.startswith(f"{item.heading} > ")
            )
    told = "; ".join(headings[:_MOST_HEADINGS]) or "it has none"
    raise UsageError(f"'{article.title}' has no section '{section}'", f"its headings: {told}")


def _text(sections: Sequence[Section]) -> str:
    return "\n\n".join(
        f"## {item.heading}\n{item.text}" if item.heading else item.text for item in sections
    )
