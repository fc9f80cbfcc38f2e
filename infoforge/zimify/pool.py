"""Documents are turned into pages by worker processes, and come back in order."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from types import FrameType, TracebackType
from typing import NoReturn

from infoforge.contract import InfoForgeError
from infoforge.zimify.entries import EntryIndex
from infoforge.zimify.pages import Frame
from infoforge.zimify.readers import read
from infoforge.zimify.records import Rendered, SourceDocument

SECONDS = 120
"""Time for one document; a parser that runs longer has met something made to stop it."""
ISOLATED = frozenset({"pdf"})
"""Kinds whose parser is in C: it may end its process, so each document gets one of its own."""
MEMORY = 3 << 30
"""Address space of a worker beyond what it starts with: a bomb ends in an error, not in swap."""
BATCH_BYTES = 256 << 10
BATCH_FILES = 32
FEW = 8
"""Below this many plain documents, starting processes costs more than it gives."""

_work: tuple[EntryIndex, Frame] | None = None
"""What a worker needs, handed over by fork: pickling it for each document would cost more."""


class Pool:
    """Worker processes; used in a ``with`` block that is entered before libzim starts its threads.

    Args:
        index: The names of the folder.
        frame: What all pages have in common.
        workers: Processes; 0 works in this one.
    """

    def __init__(self, index: EntryIndex, frame: Frame, workers: int) -> None:
        self._index = index
        self._frame = frame
        self._workers = workers
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> Pool:
        global _work  # noqa: PLW0603  (the fork copies it)
        if self._workers:
            _work = (self._index, self._frame)
            # Frozen objects are left alone by the collector of the children, and so stay shared.
            gc.collect()
            gc.freeze()
            self._executor = ProcessPoolExecutor(
                self._workers, multiprocessing.get_context("fork"), initializer=_start
            )
            # The processes are forked by the first call; it must not come later.
            self._executor.submit(os.getpid).result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global _work  # noqa: PLW0603
        if self._executor is not None:
            self._executor.shutdown(wait=error is None, cancel_futures=True)
            gc.unfreeze()
            _work = None

    def render(
        self, documents: Sequence[SourceDocument]
    ) -> Iterator[tuple[SourceDocument, Rendered]]:
        """Turn documents into pages.

        Yields:
            Every document with its pages, in the order given; no more than a few batches are ahead.

        Raises:
            InfoForgeError: A worker was killed; the message names what it may have been reading.
        """
        if self._executor is None:
            for document in documents:
                yield document, read(document, self._index, self._frame)
            return
        running: deque[tuple[list[SourceDocument], Future[list[Rendered]]]] = deque()
        batches = _batches(documents)
        while True:
            while len(running) < 2 * self._workers + 1 and (batch := next(batches, None)):
                running.append((batch, self._executor.submit(_render, batch)))
            if not running:
                return
            batch, future = running.popleft()
            try:
                rendered = future.result()
            except BrokenProcessPool:
                names = ", ".join(document.file.rel for document in batch[:5])
                raise InfoForgeError(
                    f"a reader process was killed, probably while reading one of: {names}",
                    "leave the document out with --exclude",
                    code="zimify_worker",
                ) from None
            yield from zip(batch, rendered, strict=True)


def workers_for(documents: Iterable[SourceDocument], wanted: int | None) -> int:
    """How many processes to use: as wanted, else one a core unless there is little to do."""
    if wanted is not None:
        return wanted
    if "fork" not in multiprocessing.get_all_start_methods():
        return 0
    kinds = [document.file.kind for document in documents]
    plain = all(kind in ("markdown", "html", "text", "csv") for kind in kinds)
    if plain and len(kinds) < FEW:
        return 0
    return max(1, min(len(os.sched_getaffinity(0)), 8))


def _batches(documents: Iterable[SourceDocument]) -> Iterator[list[SourceDocument]]:
    batch: list[SourceDocument] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += document.file.size
        if size >= BATCH_BYTES or len(batch) >= BATCH_FILES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _start() -> None:
    """Set the limits of a worker."""
    import resource

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, _late)
    with open("/proc/self/statm") as statm:  # noqa: PTH123
        now = int(statm.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = now + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (soft if hard < 0 else min(soft, hard), hard))
    sys.setrecursionlimit(5000)


class _TooLateError(BaseException):
    """Not an ``Exception``, so that no parser's own handler swallows it."""


def _late(number: int, frame: FrameType | None) -> NoReturn:
    raise _TooLateError


def _render(batch: list[SourceDocument]) -> list[Rendered]:
    assert _work is not None
    index, frame = _work
    done = []
    for document in batch:
        if document.file.kind in ISOLATED:
            done.append(_isolated(document, index, frame))
            continue
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            done.append(read(document, index, frame))
        except _TooLateError:
            done.append(Rendered(error=f"not read within {SECONDS} seconds"))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    return done


def _isolated(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Read a document in a child of this worker, which has one thread and so may fork."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_send, args=(sender, document, index, frame))
    child.start()
    sender.close()
    try:
        if receiver.poll(SECONDS):
            rendered = receiver.recv()
            assert isinstance(rendered, Rendered)
            return rendered
        return Rendered(error=f"not read within {SECONDS} seconds")
    except EOFError:
        child.join()
        return Rendered(error=f"ended the process that read it (exit status {child.exitcode})")
    finally:
        receiver.close()
        child.kill()
        child.join()


def _send(sender: Connection, document: SourceDocument, index: EntryIndex, frame: Frame) -> None:
    sender.send(read(document, index, frame))
    sender.close()
