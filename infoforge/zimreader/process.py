"""The parent's side of the process that reads ZIM files: limits, restarts, and what is given up.

One process reads all files that were opened together. When it dies in a call, every other file goes
on in a process of its own, and the call is tried once more in a fresh one, since another file may
have done the damage. A file that has ended `DEATHS` processes is not opened again while this
program runs and the file stays the same.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
import time
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from infoforge.zimreader.frames import LENGTH, pack, unpack

DEATHS = 3
"""Processes that one file may end."""
PATIENCE = 60.0
"""Seconds for one call without a deadline."""
SLOW = 5.0
"""Seconds from which on a call that did not end counts as one that ended its process."""
REPLY_LIMIT = 16_000_000
"""Bytes of one reply."""
_ARGUMENT_LIMIT = 60_000
_LONGEST = 1e6
_PIPE_SIZE = 1 << 20
_IDLE = 2

_CHILD = str(Path(__file__).with_name("child.py"))
_idle: deque[_Child] = deque()
_deaths: dict[tuple[str, int, int], int] = {}


class ZimError(Exception):
    """The file cannot be read, or not this part of it. One line for people."""


class ZimTimeout(ZimError):
    """The time for a call is used up."""


class _Died(Exception):
    """The process ended; one phrase says how."""


@dataclass(frozen=True, slots=True)
class ZimFacts:
    """What a ZIM file says of itself.

    Attributes:
        uuid: Hex with dashes, lower case.
        fulltext: Whether it has a full-text index.
        titles: Whether it has a title index.
        main_page: Whether it has a main page.
        articles: Number of articles.
        entries: Number of entries that a reader can reach.
        all_entries: Number of entries, metadata and indexes among them.
        metadata: The metadata that were asked for; empty ones are absent.
    """

    uuid: str
    fulltext: bool
    titles: bool
    main_page: bool
    articles: int
    entries: int
    all_entries: int
    metadata: dict[str, str]


@dataclass(frozen=True, slots=True)
class ZimEntry:
    """An entry, redirects followed; ``content`` is empty for what is not text."""

    path: str
    title: str
    mimetype: str
    content: bytes


class _Child:
    """One process, which answers one call at a time."""

    def __init__(self) -> None:
        from importlib.util import find_spec

        spec = find_spec("libzim")
        folder = Path(spec.origin).parent if spec is not None and spec.origin else Path()
        if spec is not None and spec.submodule_search_locations:
            folder = folder.parent  # a package, not a module of one file
        requests, self._requests = _pipe()
        self._replies, replies = _pipe()
        argv = [sys.executable, "-E", "-s", "-S", "-X", "utf8", _CHILD, str(folder)]
        actions = [
            (os.POSIX_SPAWN_DUP2, requests, 0),
            (os.POSIX_SPAWN_DUP2, replies, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        try:
            # Not a fork: other threads may hold locks, and this process may be large.
            self.pid = os.posix_spawn(sys.executable, argv, os.environ, file_actions=actions)
        except OSError as error:
            os.close(self._requests)
            os.close(self._replies)
            reason = error.strerror or str(error)
            raise ZimError(f"the process that reads ZIM files does not start: {reason}") from error
        finally:
            os.close(requests)
            os.close(replies)
        self.dead = False
        self.used = False
        self.lock = Lock()
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)

    def call(self, fields: Sequence[bytes], seconds: float) -> list[bytes]:
        """Send a request and wait for the reply.

        Raises:
            _Died: The process ended, or answered nonsense.
            ZimTimeout: No reply in time; the process is ended.
        """
        if self.dead:
            raise _Died("the process that read it is gone")
        end = time.monotonic() + seconds
        try:
            request = memoryview(pack([b"%d" % int(seconds * 1000), *fields]))
            while request:
                request = request[os.write(self._requests, request) :]
            size = int.from_bytes(self._receive(LENGTH, end), "little")
            if size > REPLY_LIMIT:
                raise ValueError
            if reply := unpack(self._receive(size, end)):
                return reply
            raise ValueError
        except (OSError, EOFError):
            raise _Died(self.end()) from None
        except ValueError:
            self.end()
            raise _Died("the process that read it answered nonsense") from None
        except BaseException:  # out of time, interrupted: a reply would answer the next call
            self.end()
            raise

    def _receive(self, size: int, end: float) -> bytes:
        pieces = []
        while size:
            left = end - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                raise ZimTimeout
            piece = os.read(self._replies, min(size, _PIPE_SIZE))
            if not piece:
                raise EOFError
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def end(self) -> str:
        """End the process.

        Returns:
            How it had ended, if it had.
        """
        if self.dead:
            return "it is gone"
        self.dead = True
        os.close(self._requests)
        os.close(self._replies)
        try:
            # What has died is a zombie until now, whose end the signal does not change.
            os.kill(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
        except OSError:
            return "it is gone"
        code = os.waitstatus_to_exitcode(status)
        return f"signal {-code}" if code < 0 else f"exit code {code}"


class ZimProcess:
    """A process for files that are opened together; it is used again when none of them is left."""

    def __init__(self) -> None:
        self.child = _idle_child() or _Child()
        self.child.used = True
        weakref.finalize(self, _recycle, self.child).atexit = False


def start() -> None:
    """Start a process for the first file, while this one still imports what it needs."""
    if not _idle:
        try:
            _idle.append(_Child())
        except ZimError:
            return  # opening a file reports it


def _idle_child() -> _Child | None:
    """A process that waits for files, those of its last use closed."""
    while _idle:
        try:
            child = _idle.pop()
            if child.used:
                child.call([b"reset"], SLOW)
            return child
        except (IndexError, _Died, ZimTimeout):  # another thread took it; it ended while idle
            continue
    return None


def _recycle(child: _Child) -> None:
    if not child.dead and len(_idle) < _IDLE:
        _idle.append(child)
    else:
        child.end()


class ZimFile:
    """One ZIM file, read in a process of its own or in one shared with others.

    Args:
        path: The file.
        process: Where to open it; a process of its own when not given.
        keys: Names of the metadata to bring.
        seconds: Time for opening it.

    Raises:
        ZimError: It cannot be opened.
        ZimTimeout: Not in time.
    """

    def __init__(
        self,
        path: Path,
        process: ZimProcess | None = None,
        *,
        keys: Sequence[str] = ("Title", "Language", "Date"),
        seconds: float = PATIENCE,
    ) -> None:
        self.path = path
        self._keys = tuple(keys)
        self._lock = Lock()
        try:
            status = path.stat()
        except OSError as error:
            raise ZimError(error.strerror or str(error)) from error
        self._identity = (str(path.absolute()), status.st_size, status.st_mtime_ns)
        self._process = process
        self._number = b""
        self.facts = self._facts(self._call([], seconds))

    def search(self, query: str, limit: int, seconds: float) -> tuple[int, list[tuple[str, str]]]:
        """Full text: an estimate of all hits; path and title of the first."""
        fields = self._call([b"search", _safe(query), b"%d" % limit], seconds)
        return _number(fields[0]) if fields else 0, _pairs(fields[1:])

    def titles(self, phrase: str, limit: int, seconds: float) -> list[tuple[str, str]]:
        """Path and title of entries whose titles hold the words, the last one as a prefix."""
        return _pairs(self._call([b"titles", _safe(phrase), b"%d" % limit], seconds))

    def read(self, path: str, seconds: float) -> ZimEntry | None:
        """One entry; ``None`` when there is none, or only a circle of redirects."""
        fields = self._call([b"read", _safe(path)], seconds)
        if len(fields) != 4:
            return None
        real, title, kind = (field.decode("utf-8", "replace") for field in fields[:3])
        return ZimEntry(real, title, kind, fields[3])

    def missing(self, paths: Sequence[str], seconds: float) -> list[str]:
        """Those of some paths that the file does not have."""
        absent = []
        for at in range(0, len(paths), 1000):
            some = [_safe(path) for path in paths[at : at + 1000]]
            absent += self._call([b"missing", *some], seconds)
        return [path.decode("utf-8", "replace") for path in absent]

    def checksum(self, seconds: float) -> bool:
        """Whether the file's own checksum is right; it is read through."""
        return self._call([b"checksum"], seconds) == [b"1"]

    def probe(self, seconds: float, *, full: bool = False) -> None:
        """Search and read in it as questions do, every entry with ``full``.

        Raises:
            ZimError: What is wrong with it.
        """
        self._call([b"probe", b"%d" % full], seconds)

    def _facts(self, fields: list[bytes]) -> ZimFacts:
        if len(fields) != 7 + len(self._keys):
            raise ZimError("the process that reads it answered nonsense")
        text = [field.decode("utf-8", "replace").strip() for field in fields]
        fulltext, titles, main_page = (value == "1" for value in text[1:4])
        articles, entries, every = map(_number, fields[4:7])
        metadata = dict(zip(self._keys, text[7:], strict=True))
        return ZimFacts(text[0], fulltext, titles, main_page, articles, entries, every, metadata)

    def _call(self, fields: list[bytes], seconds: float) -> list[bytes]:
        """One operation on the file, which is opened where it is not; only opened with no field.

        Raises:
            ZimError: The file is damaged there, or has ended its process.
            ZimTimeout: Not in time.
        """
        seconds = min(
            seconds,
            PATIENCE if fields[:1] not in ([b"probe"], [b"checksum"], [b"missing"]) else 1e6,
        )
        end = time.monotonic() + seconds
        if not self._lock.acquire(timeout=seconds):
            raise ZimTimeout("another call takes all the time")
        try:
            while True:
                deaths = _deaths.get(self._identity, 0)
                if deaths >= DEATHS:
                    raise ZimError(f"it has ended the process that reads it {deaths} times")
                try:
                    return self._attempt(fields, end)
                except _Died as error:
                    self._process = None
                    _deaths[self._identity] = deaths + 1
                    if deaths:
                        raise ZimError(f"it ended the process that reads it ({error})") from None
                except ZimTimeout:
                    self._process = None
                    if seconds >= SLOW:
                        _deaths[self._identity] = deaths + 1
                    raise
        finally:
            self._lock.release()

    def _attempt(self, fields: list[bytes], end: float) -> list[bytes]:
        if self._process is not None and self._process.child.dead:
            self._process = None  # another file has ended it
        opened: list[bytes] = []
        if self._process is None or not self._number:
            self._process = self._process or ZimProcess()
            request = [b"open", os.fsencode(self.path), *(key.encode() for key in self._keys)]
            opened = self._ask(self._process.child, request, end)
            self._number = opened.pop(0) if opened else b"0"
        if not fields:
            return opened
        return self._ask(self._process.child, [fields[0], self._number, *fields[1:]], end)

    def _ask(self, child: _Child, fields: list[bytes], end: float) -> list[bytes]:
        left = end - time.monotonic()
        if left <= 0 or not child.lock.acquire(timeout=left):
            raise ZimTimeout("the time is used up")
        try:
            status, *rest = child.call(fields, max(0.0, end - time.monotonic()))
        finally:
            child.lock.release()
        if status == b"error":
            raise ZimError(rest[0].decode("utf-8", "replace"))
        return rest


def probe_zim(path: Path, *, full: bool = False, seconds: float = PATIENCE) -> str:
    """Whether a ZIM file can be used: it is opened, searched and read in a child process.

    Args:
        path: The file.
        full: Read every entry.
        seconds: Time for all of it.

    Returns:
        What is wrong, empty when nothing is.
    """
    try:
        ZimFile(path, seconds=seconds).probe(seconds, full=full)
    except ZimTimeout:
        return f"it did not answer within {seconds:.0f} seconds"
    except ZimError as error:
        return str(error)
    return ""


def _pairs(rows: Sequence[bytes]) -> list[tuple[str, str]]:
    text = [row.decode("utf-8", "replace") for row in rows]
    return list(zip(text[::2], text[1::2], strict=False))


def _number(field: bytes) -> int:
    return int(field) if field.isdigit() and len(field) < 20 else 0


def _safe(text: str) -> bytes:
    # libzim takes C strings: what follows a NUL would be lost, lone surrogates cannot be encoded.
    data = text.replace("\0", " ").encode("utf-8", "ignore")
    return data[:_ARGUMENT_LIMIT].decode("utf-8", "ignore").encode()


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are not among the standard descriptors, which the child's replace."""
    ends = []
    for end in os.pipe():
        ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10))
        os.close(end)
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # an article goes through in one piece, or else in several
            fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
    return ends[0], ends[1]
