"""A ZIM file without a server, read by libzim in a child process."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from infoforge.corpus import page
from infoforge.corpus.base import CorpusError, Deadline, DeadlineExceeded
from infoforge.records import Article, CorpusInfo, Hit, Hits
from infoforge.text.language import codes
from infoforge.zimreader.process import PATIENCE, ZimError, ZimFile, ZimProcess, ZimTimeout
from infoforge.zims import names

_SHARE = 0.5
"""Share of the time left that one call may take while other corpora wait."""
_ARTICLES = ("The ", "A ", "An ")
_SMALL_WORD = 3
"""Letters of words that titles do not capitalise."""


class ZimCorpus:
    """One ZIM file.

    Args:
        path: The file.
        process: Where it is opened; in a process of its own when not given.
        alone: No other corpus waits, so that one call may take all the time there is.

    Raises:
        CorpusError: The file cannot be opened as a ZIM.
    """

    def __init__(
        self, path: Path, process: ZimProcess | None = None, *, alone: bool = True
    ) -> None:
        self.path = path
        self.name = names.book_name(path.name)
        self._share = 1.0 if alone else _SHARE
        try:
            self._zim = ZimFile(path, process)
        except ZimError as error:
            raise CorpusError(f"{path.name} does not open as a ZIM file: {error}") from error
        facts = self._zim.facts
        self._info = CorpusInfo(
            name=self.name,
            kind="zim",
            title=facts.metadata["Title"] or self.name,
            languages=codes(facts.metadata["Language"]),
            date=names.month(path.name) or facts.metadata["Date"][:10],
            fulltext=facts.fulltext,
            titles=facts.titles,
            articles=facts.articles,
            origin=str(path),
            flavour=names.flavour(path.name),
        )

    def describe(self) -> CorpusInfo:
        """What the ZIM's metadata says."""
        return self._info

    def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
        """Full text through Xapian; every word of the query must be in an entry."""
        deadline.check()
        if not self._info.fulltext or not query.strip():
            return Hits((), 0)
        try:
            total, rows = self._zim.search(query, limit, self._seconds(deadline))
        except ZimError as error:
            raise self._failure(error, "search failed", deadline) from error
        return Hits(tuple(Hit(self.name, *row) for row in rows), total)

    def titles(self, phrase: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        """Titles that hold every word of the phrase, the last one as a prefix.

        Without a title index they are looked up by their beginnings.
        """
        deadline.check()
        if not phrase.strip():
            return ()
        indexed = self._info.titles and self._info.fulltext
        spellings = [phrase] if indexed else _beginnings(phrase)
        found: dict[str, Hit] = {}
        for spelling in spellings:
            try:
                rows = self._zim.titles(spelling, limit, self._seconds(deadline))
            except ZimError as error:
                raise self._failure(error, "title search failed", deadline) from error
            for path, title in rows:
                found.setdefault(path, Hit(self.name, path, title))
        return tuple(found.values())[:limit]

    def read(self, path: str, deadline: Deadline) -> Article | None:
        """Read one entry; a redirect gives the article that it leads to."""
        deadline.check()
        try:
            entry = self._zim.read(path, self._seconds(deadline))
        except ZimError as error:
            raise self._failure(error, f"damaged at {path}", deadline) from error
        if entry is None:
            return None
        url = f"zim://{quote(self.path.name)}/{quote(entry.path)}"
        return page.article(self._info, entry.path, entry.title, url, entry.content, entry.mimetype)

    def _seconds(self, deadline: Deadline) -> float:
        return min(PATIENCE, deadline.left() * self._share)

    def _failure(self, error: ZimError, what: str, deadline: Deadline) -> CorpusError:
        if not isinstance(error, ZimTimeout):
            return CorpusError(f"{self.path.name}: {what}: {error}")
        if deadline.left() < 0.01:
            return DeadlineExceeded(f"{self.path.name} did not answer in time")
        return CorpusError(f"{self.path.name}: {what}: no answer in half of the time")


def _beginnings(phrase: str) -> list[str]:
    """A phrase as titles may begin with it: as written, with capitals, with and without article."""
    plain = phrase.strip()
    for word in _ARTICLES:
        if plain.lower().startswith(word.lower()):
            plain = plain[len(word) :].lstrip()
            break
    bare = plain or phrase
    words = bare.split()
    capitals = [word[0].upper() + word[1:] for word in words]
    spellings = list(
        dict.fromkeys(
            (
                bare[0].upper() + bare[1:],
                " ".join(capitals),
                # A title's small words stay small: "B of the Bang".
                " ".join(
                    capital if not place or len(word) > _SMALL_WORD else word
                    for place, (word, capital) in enumerate(zip(words, capitals, strict=True))
                ),
            )
        )
    )
    after = [f"{word}{text}" for word in _ARTICLES for text in spellings]
    return list(dict.fromkeys((phrase, bare, *spellings, *after)))
