"""A ZIM file read by libzim in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from infoforge.corpus import names, page
from infoforge.corpus.base import CorpusError, Deadline
from infoforge.records import Article, CorpusInfo, Hit, Hits
from infoforge.text.language import codes

if TYPE_CHECKING:
    from libzim.reader import Archive, Entry

_REDIRECTS = 8
_NO_STEMMER = (
    b"No stemming for language",
    # What it then says of such a ZIM's titles: they are looked up by their beginnings.
    b"There was a problem utilizing the suggestions DB",
)
_STDERR = Lock()


class ZimCorpus:
    """One ZIM file.

    Args:
        path: The file.

    Raises:
        CorpusError: The file cannot be opened as a ZIM.
    """

    def __init__(self, path: Path) -> None:
        from libzim.reader import Archive

        self.path = path
        self.name = names.stable_name(path.name)
        try:
            with _unstemmed():
                self._archive: Archive = Archive(path)
        except Exception as error:  # libzim raises RuntimeError and worse, by what is broken
            raise CorpusError(
                f"{path.name} does not open as a ZIM file: {_one_line(error)}"
            ) from error
        self._info: CorpusInfo | None = None
        self._searcher: Any = None
        self._suggester: Any = None

    def describe(self) -> CorpusInfo:
        """What the ZIM's metadata says."""
        if self._info is None:
            try:
                archive = self._archive
                file_date = names.date_of(self.path.name)
                self._info = CorpusInfo(
                    name=self.name,
                    kind="zim",
                    title=self._metadata("Title") or self.name,
                    languages=codes(self._metadata("Language")),
                    date=file_date or self._metadata("Date")[:10],
                    fulltext=archive.has_fulltext_index,
                    titles=archive.has_title_index,
                    articles=archive.article_count,
                    origin=str(self.path),
                    flavour=names.flavour_of(self.path.name),
                )
            except Exception as error:
                raise CorpusError(f"{self.path.name} is damaged: {_one_line(error)}") from error
        return self._info

    def _metadata(self, key: str) -> str:
        try:
            value: bytes = self._archive.get_metadata(key)
        except (KeyError, RuntimeError):
            return ""
        return value.decode("utf-8", "replace").strip()

    def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
        """Full text through Xapian; every word of the query must be in an entry."""
        deadline.check()
        if not self.describe().fulltext or not query.strip():
            return Hits((), 0)
        from libzim.search import Query, Searcher

        try:
            if self._searcher is None:
                self._searcher = Searcher(self._archive)
            search = self._searcher.search(Query().set_query(_safe(query)))
            paths = list(search.getResults(0, limit))
            hits = tuple(Hit(self.name, path, self._title(path)) for path in paths)
            return Hits(hits, search.getEstimatedMatches())
        except Exception as error:
            raise CorpusError(f"{self.path.name}: search failed: {_one_line(error)}") from error

    def titles(self, phrase: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        """Titles that hold every word of the phrase, the last one as a prefix."""
        deadline.check()
        if not phrase.strip():
            return ()
        from libzim.suggestion import SuggestionSearcher

        try:
            if self._suggester is None:
                self._suggester = SuggestionSearcher(self._archive)
                with _unstemmed():
                    self._suggester.suggest(_safe(phrase))
            found = self._suggester.suggest(_safe(phrase)).getResults(0, limit)
            # Some title indices name entries that the file does not hold.
            present = [path for path in found if self._archive.has_entry_by_path(path)]
            return tuple(Hit(self.name, path, self._title(path)) for path in present)
        except Exception as error:
            raise CorpusError(
                f"{self.path.name}: title search failed: {_one_line(error)}"
            ) from error

    def _title(self, path: str) -> str:
        title: str = self._archive.get_entry_by_path(path).title
        return title

    def read(self, path: str, deadline: Deadline) -> Article | None:
        """Read one entry; a redirect gives the article that it leads to."""
        deadline.check()
        try:
            entry = self._entry(path)
            if entry is None:
                return None
            for _ in range(_REDIRECTS):
                if not entry.is_redirect:
                    break
                entry = entry.get_redirect_entry()
            else:
                return None
            item = entry.get_item()
            url = f"zim://{quote(self.path.name)}/{quote(entry.path)}"
            return page.article(
                self.describe(), entry.path, entry.title, url, bytes(item.content), item.mimetype
            )
        except CorpusError:
            raise
        except Exception as error:
            raise CorpusError(
                f"{self.path.name} is damaged at {path}: {_one_line(error)}"
            ) from error

    def _entry(self, path: str) -> Entry | None:
        for candidate in (path, f"A/{path}") if not path.startswith("A/") else (path,):
            if self._archive.has_entry_by_path(candidate):
                return self._archive.get_entry_by_path(candidate)
        return None


def _safe(text: str) -> str:
    # libzim takes C strings: what follows a NUL would be lost, lone surrogates cannot be encoded.
    return text.replace("\0", " ").encode("utf-8", "ignore").decode("utf-8")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


@contextmanager
def _unstemmed() -> Iterator[None]:
    """Keep quiet that there is no stemmer: libzim says so on stderr when it opens an index.

    Nothing else that native code writes meanwhile is lost.
    """
    if not hasattr(os, "memfd_create"):
        yield
        return
    with _STDERR:
        try:
            real = os.dup(2)
        except OSError:  # a process without stderr
            yield
            return
        kept = os.memfd_create("stderr")
        os.dup2(kept, 2)
        try:
            yield
        finally:
            os.dup2(real, 2)
            os.close(real)
            with open(kept, "rb") as written:  # noqa: PTH123 - a descriptor, no path
                written.seek(0)
                rest = [line for line in written if not line.startswith(_NO_STEMMER)]
            if rest:
                os.write(2, b"".join(rest))
