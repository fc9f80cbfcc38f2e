"""The process in which libzim reads ZIM files: one request after the other, until its input ends.

It is started by the path of this file, without `site` and without the package, so that it is up
within the time that the parent needs for its own imports. libzim comes from the folder given as the
first argument. A request is a frame of the limit in milliseconds, the name of an operation, and its
arguments; the reply begins with ``ok``, ``none`` or ``error``.

A C++ exception in libzim's own threads or destructors, a bus error of a file cut short while it is
mapped, or a loop in a damaged index end this process and no other.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator

try:
    from frames import LENGTH, pack, unpack  # type: ignore[import-not-found]
except ImportError:  # imported as a module of the package, by tests
    from infoforge.zimreader.frames import LENGTH, pack, unpack

TYPE_CHECKING = False  # importing typing takes longer than a search
if TYPE_CHECKING:
    from typing import Any

    from libzim.reader import Archive, Entry

REDIRECTS = 8
TEXT_LIMIT = 4_000_000
"""Bytes of an entry that are sent; beyond it no question is answered better."""
ENTRY_LIMIT = 64_000_000
"""Bytes of an entry's text that are uncompressed at all."""
DATA_LIMIT = 2 << 30
"""Bytes of memory, mapped files not counted."""
GRACE = 1.0
"""Seconds after its limit in which the parent may end this process before it ends itself."""
TEXT = ("text/html", "application/xhtml+xml", "text/plain", "")

# What a probe looks at.
SAMPLES = 64
CONTENTS = 8
CONTENT_LIMIT = 8_000_000
"""Bytes of an entry that a quick probe reads; a film would be two gigabytes in memory."""
WORDS = 12


class Files:
    """The ZIM files that are open, by number.

    One searcher of each kind is kept for a file: opening an index takes longer than a search.
    """

    def __init__(self) -> None:
        self._archives: dict[int, Archive] = {}
        self._searchers: dict[int, Any] = {}
        self._suggesters: dict[int, Any] = {}
        self._next = 0

    def reset(self) -> list[bytes]:
        """Close all of them."""
        for kept in (self._searchers, self._suggesters, self._archives):
            kept.clear()
        return []

    def open(self, path: bytes, *keys: bytes) -> list[bytes]:
        """Open a file.

        Returns:
            Its number, its UUID, 1 or 0 for the full-text index, the title index and a main page,
            the number of articles, of entries and of all entries, and the metadata asked for
            (empty when absent).
        """
        from libzim.reader import Archive

        archive = Archive(os.fsdecode(path))
        number = self._next
        facts = [
            str(archive.uuid).lower(),
            str(int(archive.has_fulltext_index)),
            str(int(archive.has_title_index)),
            str(int(archive.has_main_entry)),
            str(archive.article_count),
            str(archive.entry_count),
            str(archive.all_entry_count),
        ]
        values = [_metadata(archive, key.decode()) for key in keys]
        self._archives[number] = archive
        self._next += 1
        return [str(number).encode(), *(fact.encode() for fact in facts), *values]

    def close(self, number: bytes) -> list[bytes]:
        """Close one of them."""
        for kept in (self._searchers, self._suggesters, self._archives):
            kept.pop(int(number), None)
        return []

    def search(self, number: bytes, query: bytes, limit: bytes) -> list[bytes]:
        """Full text: the estimate of all hits, then path and title of each."""
        from libzim.search import Query, Searcher

        archive = self._archives[int(number)]
        if int(number) not in self._searchers:
            self._searchers[int(number)] = Searcher(archive)
        searcher = self._searchers[int(number)]
        found = searcher.search(Query().set_query(query.decode()))
        hits = _hits(archive, found.getResults(0, int(limit)))
        return [str(found.getEstimatedMatches()).encode(), *hits]

    def titles(self, number: bytes, phrase: bytes, limit: bytes) -> list[bytes]:
        """Titles: path and title of each."""
        from libzim.suggestion import SuggestionSearcher

        archive = self._archives[int(number)]
        if int(number) not in self._suggesters:
            self._suggesters[int(number)] = SuggestionSearcher(archive)
        found = self._suggesters[int(number)].suggest(phrase.decode()).getResults(0, int(limit))
        return _hits(archive, found)

    def read(self, number: bytes, path: bytes) -> list[bytes] | None:
        """One entry, redirects followed: its path, title, MIME type and, when it is text, bytes.

        Raises:
            ValueError: More text than any article has.
        """
        archive = self._archives[int(number)]
        entry = _entry(archive, path.decode())
        for _ in range(REDIRECTS):
            if entry is None or not entry.is_redirect:
                break
            entry = entry.get_redirect_entry()
        if entry is None or entry.is_redirect:
            return None
        item = entry.get_item()
        kind = str(item.mimetype)
        content = b""
        if kind.split(";", 1)[0].strip().lower() in TEXT:
            if item.size > ENTRY_LIMIT:
                raise ValueError(f"{item.size} bytes of text are too many")
            content = bytes(item.content[:TEXT_LIMIT])
        return [entry.path.encode(), entry.title.encode(), kind.encode(), content]

    def missing(self, number: bytes, *paths: bytes) -> list[bytes]:
        """Those of some paths that the file does not have."""
        archive = self._archives[int(number)]
        return [path for path in paths if not archive.has_entry_by_path(path.decode())]

    def checksum(self, number: bytes) -> list[bytes]:
        """1 when the file's own checksum is right, else 0."""
        return [str(int(self._archives[int(number)].check())).encode()]

    def probe(self, number: bytes, full: bytes) -> list[bytes]:
        """Use a file as questions do: main page, some or all entries, titles, full text."""
        archive = self._archives[int(number)]
        count = int(archive.all_entry_count)
        every = bool(int(full))
        contents = 0
        words: dict[str, None] = {}
        if archive.has_main_entry:
            archive.main_entry.path  # noqa: B018 - reading it is the check
        # The same places every time: a check that says yes today and no tomorrow helps nobody.
        for place in range(0, count, 1 if every else max(1, count // SAMPLES)):
            entry = archive._get_entry_by_id(place)
            if len(words) < WORDS:
                words.update((word, None) for word in entry.title.split()[:3])
            if entry.is_redirect or not (every or contents < CONTENTS):
                continue
            item = entry.get_item()
            if item.size <= (ENTRY_LIMIT if every else CONTENT_LIMIT):
                bytes(item.content)
                contents += 1
        for word in (*words, "the", "a"):
            rows = self.titles(number, word.encode(), b"10")
            if archive.has_fulltext_index:
                rows += self.search(number, word.encode(), b"10")[1:]
            for path in rows[: 6 if every else 2 : 2]:
                self.read(number, path)
        return []


def _metadata(archive: Archive, key: str) -> bytes:
    try:
        return bytes(archive.get_metadata(key))[:TEXT_LIMIT]
    except (KeyError, RuntimeError):
        return b""


def _hits(archive: Archive, paths: Iterator[str]) -> list[bytes]:
    rows = []
    for path in paths:
        try:
            title = archive.get_entry_by_path(path).title
        except KeyError:  # some indexes name entries that the file does not hold
            continue
        rows += [path.encode(), title.encode()]
    return rows


def _entry(archive: Archive, path: str) -> Entry | None:
    for candidate in (path,) if path.startswith("A/") else (path, f"A/{path}"):
        if archive.has_entry_by_path(candidate):
            return archive.get_entry_by_path(candidate)
    return None


def answer(files: Files, operation: str, arguments: list[bytes]) -> list[bytes]:
    """Do one operation; what is wrong with a file becomes an ``error``."""
    work: Callable[..., list[bytes] | None] = getattr(files, operation)
    try:
        fields = work(*arguments)
    except MemoryError:
        return [b"error", b"it needs more memory than it may have"]
    except Exception as error:  # libzim raises RuntimeError and worse, by what is broken
        text = " ".join(str(error).split())[:200] or type(error).__name__
        return [b"error", text.encode("utf-8", "replace")]
    return [b"none"] if fields is None else [b"ok", *fields]


def serve(requests: int, replies: int, *, alarm: bool = True) -> None:
    """Answer the requests that come from one descriptor on another.

    Args:
        requests: Where they come from, to its end.
        replies: Where the answers go.
        alarm: Whether an operation that takes longer than its limit ends the process.
    """
    files = Files()
    while head := _exactly(requests, LENGTH):
        limit, operation, *arguments = unpack(_exactly(requests, int.from_bytes(head, "little")))
        if alarm:  # the parent may be gone: nobody else would end a loop in libzim
            signal.setitimer(signal.ITIMER_REAL, int(limit) / 1000 + GRACE)
        data = memoryview(pack(answer(files, operation.decode(), arguments)))
        if alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
        while data:
            data = data[os.write(replies, data) :]


def _exactly(descriptor: int, size: int) -> bytes:
    """So many bytes, or none when the other side is gone."""
    data = b""
    while len(data) < size:
        piece = os.read(descriptor, size - len(data))
        if not piece:
            return b""
        data += piece
    return data


def main() -> None:
    """Set the limits, bring libzim in and answer; output of native code goes nowhere."""
    import resource

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (DATA_LIMIT, DATA_LIMIT))
    replies = os.dup(1)
    os.dup2(2, 1)  # 2 is the null device
    sys.path.append(sys.argv[1])
    import libzim  # noqa: F401 - while the parent does something else

    serve(0, replies)


if __name__ == "__main__":
    main()
