"""One attempt at one mirror: ask for what is missing, take it, look at it while it comes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from infoforge import net
from infoforge.text.parse import integer
from infoforge.zims.metalink import Pieces
from infoforge.zims.net import explain, is_permanent, status_reason
from infoforge.zims.partial import Partial, piece_hash
from infoforge.zims.units import KIB, show_size

if TYPE_CHECKING:
    from infoforge.net import Session, Stream

_CHUNK = 256 * KIB
_SLOWEST = 1 * KIB
"""Bytes a second below which a mirror counts as stalled."""
_CONTENT_RANGE = re.compile(r"bytes ([0-9]+)-([0-9]+)/([0-9]+|\*)")


class AttemptFailed(Exception):
    """One mirror did not bring the file to its end.

    Attributes:
        reason: For people, without the URL.
        permanent: Asking this mirror again is no use.
        from_start: It can only give the whole file; worth it when nobody else can go on.
    """

    def __init__(self, reason: str, *, permanent: bool = False, from_start: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.permanent = permanent
        self.from_start = from_start


class Limiter:
    """Holds a transfer to a rate, over all attempts of one run.

    Args:
        rate: Bytes a second; 0 for none.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self._ready = 0.0

    @property
    def chunk(self) -> int:
        """Bytes to read at a time: small enough that the rate is even."""
        return _CHUNK if not self.rate else max(1, min(_CHUNK, self.rate // 8))

    def took(self, count: int) -> None:
        """Wait as long as ``count`` bytes are to take."""
        if not self.rate:
            return
        now = time.monotonic()
        self._ready = max(self._ready, now) + count / self.rate
        if self._ready > now:
            time.sleep(self._ready - now)


def attempt(
    session: Session,
    url: str,
    partial: Partial,
    *,
    stall: float,
    limiter: Limiter,
    progress: Callable[[int], None],
    allow_restart: bool,
) -> None:
    """Bring the file to its full size from one mirror.

    Args:
        session: From `net.public_session`.
        url: The mirror's address of the file.
        partial: What is there; grows.
        stall: Seconds of silence after which the mirror is given up.
        limiter: Holds the rate.
        progress: Told the bytes on disk.
        allow_restart: Take the whole file when the mirror cannot go on in the middle.

    Raises:
        AttemptFailed: The mirror failed; what came is kept, but for pieces that were wrong.
        CheckFailed: The disk failed.
    """
    headers = {"Accept-Encoding": "identity"}
    if partial.have:
        headers["Range"] = f"bytes={partial.have}-"
        if url in partial.note.validators:
            headers["If-Range"] = partial.note.validators[url]
    with ExitStack() as stack:
        # The whole has no time limit: a download ends with its size, or when it comes too slowly.
        opened = net.stream(
            session,
            "GET",
            url,
            total=None,
            limit=None,
            head=net.CONNECT_SECONDS + stall,
            idle=stall,
            headers=headers,
        )
        try:
            response = stack.enter_context(opened)
        except net.NetworkError as error:
            permanent = error.kind in ("redirects", "address", "insecure", "local")
            raise AttemptFailed(explain(error, stall)[0], permanent=permanent) from error
        _accept(response, url, partial, allow_restart=allow_restart)
        partial.given_by(url, _validator(response))
        _take(response, partial, stall, limiter, progress)


def _accept(response: Stream, url: str, partial: Partial, *, allow_restart: bool) -> None:
    """Look at status and headers; afterwards the body starts at ``partial.have``."""
    status, headers, size = response.status, response.headers, partial.source.size
    if status == 416:
        raise AttemptFailed(f"its file is shorter than {show_size(size)}", permanent=True)
    if status not in {200, 206}:
        raise AttemptFailed(status_reason(status), permanent=is_permanent(status))
    if headers.get("Content-Encoding", "identity").lower() != "identity":
        raise AttemptFailed("sends the file compressed", permanent=True)
    if status == 206:
        _accept_range(response, url, partial)
        return
    length = headers.get("Content-Length", "")
    if length and integer(length, -1) != size:
        raise AttemptFailed(f"its file has {length} bytes instead of {size}", permanent=True)
    if partial.have:
        if not allow_restart:
            reason = "ignores Range"
            if url in partial.note.validators and _validator(response):
                changed = partial.note.validators[url] != _validator(response)
                reason = "its file has changed" if changed else reason
            raise AttemptFailed(reason, from_start=True)
        partial.cut(0)


def _accept_range(response: Stream, url: str, partial: Partial) -> None:
    size = partial.source.size
    given = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
    if given is None or integer(given[1], -1) != partial.have:
        raise AttemptFailed("answers with another range than it was asked for", permanent=True)
    if given[3] != "*" and integer(given[3], -1) != size:
        raise AttemptFailed(f"its file has {given[3]} bytes instead of {size}", permanent=True)
    before, now = partial.note.validators.get(url, ""), _validator(response)
    if before and now and before != now:
        # Some servers do not know If-Range; the change shows all the same.
        raise AttemptFailed("its file has changed", from_start=True)


def _validator(response: Stream) -> str:
    """What may stand in ``If-Range``: a strong ETag, else the date."""
    etag: str = response.headers.get("ETag", "")
    if etag.startswith('"'):
        return etag
    return str(response.headers.get("Last-Modified", ""))


def _take(
    response: Stream,
    partial: Partial,
    stall: float,
    limiter: Limiter,
    progress: Callable[[int], None],
) -> None:
    size, pieces = partial.source.size, partial.source.pieces
    checker = PieceChecker(pieces, partial) if pieces else None
    window_start, window_bytes = time.monotonic(), 0
    while partial.have < size:
        try:
            block = response.read(min(limiter.chunk, size - partial.have), seconds=stall)
        except net.NetworkError as error:
            reason = explain(error, stall)[0]
            raise AttemptFailed(f"{reason} at {show_size(partial.have)}") from error
        if not block:
            raise AttemptFailed(f"ended at {show_size(partial.have)} of {show_size(size)}")
        partial.write(block)
        if checker is not None:
            checker.check()
        progress(partial.have)
        limiter.took(len(block))
        window_bytes += len(block)
        elapsed = time.monotonic() - window_start
        if elapsed >= stall:
            if not limiter.rate and window_bytes < _SLOWEST * elapsed:
                raise AttemptFailed(f"sent {show_size(window_bytes)} in {elapsed:.0f} s")
            window_start, window_bytes = time.monotonic(), 0


class PieceChecker:
    """Looks at each piece as soon as it is whole, so that a wrong byte costs one piece.

    Args:
        pieces: The hashes.
        partial: What grows.
    """

    def __init__(self, pieces: Pieces, partial: Partial) -> None:
        self._pieces = pieces
        self._partial = partial
        self._began = partial.have
        self._next = partial.have // pieces.length

    def check(self) -> None:
        """Look at the pieces that have become whole.

        Raises:
            AttemptFailed: One is wrong; it and all behind it are cut off.
        """
        length, size = self._pieces.length, self._partial.source.size
        while True:
            start = self._next * length
            end = min(start + length, size)
            if self._partial.have < end or start >= size:
                return
            data = self._partial.read(start, end)
            if piece_hash(self._pieces, data) != self._pieces.hashes[self._next]:
                self._partial.cut(start)
                raise AttemptFailed(
                    f"served a wrong byte between {show_size(start)} and {show_size(end)}",
                    # The start of the piece may be another mirror's fault.
                    permanent=start >= self._began,
                )
            self._next += 1
