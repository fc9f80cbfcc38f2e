"""A ZIM behind kiwix-serve, over HTTP; versions 3.3 to 3.8.

What differs between versions, and why this reads as it does: links are followed as the server
gives them (the prefix moved in 3.4); ``start`` is never sent (its base moved in 3.8); bytes are
UTF-8 whatever the header says; an error's body is not parsed, its status code is enough.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit

from infoforge import kiwix_catalog
from infoforge.corpus import page
from infoforge.corpus.base import CorpusError, Deadline, DeadlineExceeded
from infoforge.records import Article, CorpusInfo, Hit, Hits
from infoforge.text import xmltree
from infoforge.text.language import codes
from infoforge.text.parse import from_json, integer
from infoforge.text.words import fold
from infoforge.zims import names

if TYPE_CHECKING:
    from infoforge.net import Reply

_REDIRECTS = 8
_BODY_LIMIT = 32_000_000  # bytes; no page or list of hits is longer
_LONGEST_SECONDS = 60.0
_FAILURES = 12
"""Error budget of a search: two hits among twenty that cannot be shown cost eleven."""
_QUERY_LIMIT = 1500  # bytes of a pattern; kiwix-serve answers 414 to URLs much above 8 KB


class KiwixServer:
    """The HTTP side: one server, and a count of the requests made to it.

    Args:
        url: Base URL, with the root prefix if the server has one.
        allow_public: Whether it may be on a public address.
    """

    def __init__(self, url: str, *, allow_public: bool = False) -> None:
        self.url = url.rstrip("/")
        self.allow_public = allow_public
        self.requests = 0

    def get(self, target: str, deadline: Deadline) -> Reply:
        """GET a path or URL of this server.

        Redirects are followed on this server alone. No proxy is ever used.

        Raises:
            DeadlineExceeded: The time is used up.
            CorpusError: The server does not answer, or answers no HTTP.
        """
        from infoforge import net

        base = urlsplit(self.url)
        url = target if target.startswith("http") else urljoin(self.url + "/", target)
        for _ in range(_REDIRECTS):
            deadline.check()
            parts = urlsplit(url)
            here = (parts.scheme, parts.hostname, parts.port)
            if here != (base.scheme, base.hostname, base.port):
                raise CorpusError(f"{self.url} redirects away to {parts.netloc}; not followed")
            self.requests += 1
            try:
                reply = net.get(
                    url,
                    total=min(deadline.left(), _LONGEST_SECONDS),
                    limit=_BODY_LIMIT,
                    allow_public=self.allow_public,
                    what="kiwix.url",
                )
            except net.NetworkError as error:
                if error.kind == "timeout":
                    raise DeadlineExceeded(f"{self.url} did not answer in time") from error
                raise CorpusError(f"{self.url} does not answer: {error.message}") from error
            location = reply.headers.get("location", "")
            if reply.status in (301, 302, 303, 307, 308) and location:
                url = urljoin(url, location)
                continue
            return reply
        raise CorpusError(f"{self.url}: too many redirects at {target}")

    def books(self, deadline: Deadline) -> list[CorpusInfo]:
        """The books in the server's catalog; ``origin`` is the URL under which a book's pages are.

        Raises:
            CorpusError: No catalog to be had.
        """
        reply = self.get(f"{self.url}{kiwix_catalog.PATH}", deadline)
        try:
            served = kiwix_catalog.books(reply.status, reply.body, self.url)
        except kiwix_catalog.CatalogError as error:
            raise CorpusError(f"{self.url} has {error}") from error
        return [_info(book) for book in served if book.url]


def _info(book: kiwix_catalog.ServedBook) -> CorpusInfo:
    file_name = unquote(book.url.rpartition("/")[2])
    return CorpusInfo(
        name=names.book_name(file_name),
        kind="kiwix",
        title=book.title or file_name,
        languages=codes(book.languages),
        date=names.month(file_name) or book.issued[:10],
        fulltext="_ftindex:no" not in book.tags,
        articles=book.articles,
        origin=book.url,
        flavour=names.flavour(file_name),
    )


class KiwixCorpus:
    """One book of a kiwix-serve.

    Args:
        server: The server.
        info: The book as the server's catalog describes it.
    """

    def __init__(self, server: KiwixServer, info: CorpusInfo) -> None:
        self.server = server
        self.name = info.name
        self._info = info
        self._book = unquote(info.origin.rpartition("/")[2])
        # The catalog says "no index" of any ZIM without tags; the server's 404 is what counts.
        self._fulltext = True

    def describe(self) -> CorpusInfo:
        """What the catalog says."""
        return self._info

    def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
        """Full text; nothing, without a request, once the server said that there is no index."""
        # The index holds no accents; 3.3 would look for those of the query all the same.
        pattern = _cut(fold(query))
        if not self._fulltext or not pattern:
            return Hits((), 0)
        hits, total = self._page(pattern, 0, limit, deadline, [_FAILURES])
        return Hits(tuple(hits), total if total is not None else len(hits))

    def _page(
        self, pattern: str, start: int, size: int, deadline: Deadline, left: list[int]
    ) -> tuple[list[Hit], int | None]:
        """Hits from a place on, and how many there are in all; ``left`` failures are tolerated.

        The server puts excerpts through its template engine, and fails when one holds two opening
        braces. What it cannot show at once is asked for by halves, so that only that hit is lost.

        Raises:
            CorpusError: Nothing can be had.
        """
        parameters = {
            # The legacy selector takes the URL name in every version; books.name takes the
            # metadata's name, which two files may share.
            "content": self._book,
            "pattern": pattern,
            "format": "xml",
            "pageLength": str(size),
        }
        if start:
            parameters["start"] = str(start + 1)  # the server counts from one
        answer = self.server.get(f"{self.server.url}/search?{urlencode(parameters)}", deadline)
        if answer.status == 404 and b"ulltext" in answer.body:
            self._fulltext = False
            return [], 0
        if answer.status == 500:
            left[0] -= 1
            if size > 1 and left[0] > 0:
                return self._halves(pattern, start, size, deadline, left)
        if answer.status != 200:
            detail = " (a book in several languages)" if b"anguages" in answer.body else ""
            raise CorpusError(f"{self.name}: search answers HTTP {answer.status}{detail}")
        try:
            channel = xmltree.parse(answer.body)
        except xmltree.BadXML as error:
            raise CorpusError(f"{self.name}: search answers no XML: {error}") from error
        hits = []
        for item in channel.iter("item"):
            title = item.findtext("title", "")
            if path := self._path(item.findtext("link", "")):
                hits.append(Hit(self.name, path, title))
        total = channel.findtext(".//{http://a9.com/-/spec/opensearch/1.1/}totalResults", "0")
        # 3.3 groups the digits by the locale's sign.
        digits = re.sub(r"[^0-9]", "", total)
        return hits, integer(digits) if digits else None

    def _halves(
        self, pattern: str, start: int, size: int, deadline: Deadline, left: list[int]
    ) -> tuple[list[Hit], int | None]:
        """A page of results in two; a half that fails is lost, not both."""
        half = size // 2
        hits: list[Hit] = []
        totals: list[int | None] = []
        failed: CorpusError | None = None
        for at, length in ((start, half), (start + half, size - half)):
            if left[0] <= 0:
                break
            try:
                more, total = self._page(pattern, at, length, deadline, left)
            except CorpusError as error:
                failed = error
                continue
            hits += more
            totals.append(total)
        if not totals:
            raise failed or CorpusError(f"{self.name}: search answers HTTP 500")
        return hits, totals[0]

    def titles(self, phrase: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        """Titles that hold every word of the phrase, the last one as a prefix."""
        term = _cut(phrase)
        if not term:
            return ()
        parameters = urlencode({"content": self._book, "term": term, "count": str(limit)})
        answer = self.server.get(f"{self.server.url}/suggest?{parameters}", deadline)
        if answer.status != 200:
            raise CorpusError(f"{self.name}: suggest answers HTTP {answer.status}")
        try:
            rows = from_json(answer.body.decode("utf-8", "replace"), strict=False)
            return tuple(
                Hit(self.name, html.unescape(row["path"]), html.unescape(row["value"]))
                for row in rows
                if row.get("kind") == "path"
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CorpusError(f"{self.name}: suggest answers no list of titles") from error

    def read(self, path: str, deadline: Deadline) -> Article | None:
        """Read one page; the server's redirects lead from an alias to the article."""
        answer = self.server.get(f"{self._info.origin}/{quote(path)}", deadline)
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise CorpusError(f"{self.name}: reading {path} answers HTTP {answer.status}")
        real = self._path(urlsplit(answer.url).path) or path
        url = f"{self._info.origin}/{quote(real)}"
        kind = answer.headers.get("content-type", "")
        return page.article(self._info, real, "", url, answer.body, kind)

    def _path(self, link: str) -> str:
        """The entry's path that a link leads to: what follows the book's name."""
        path = unquote(urlsplit(link).path)
        _, found, rest = path.partition(f"/{self._book}/")
        return rest if found else ""


def _cut(text: str) -> str:
    """A pattern without control characters, short enough for a URL."""
    clean = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return clean.encode("utf-8", "ignore")[:_QUERY_LIMIT].decode("utf-8", "ignore")
