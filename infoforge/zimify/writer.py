"""Pages stream into libzim; the file appears under its name only when it is complete."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import struct
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from infoforge.contract import CheckFailed, InfoForgeError
from infoforge.files import publish
from infoforge.zimify.entries import clip_bytes, compressible
from infoforge.zimify.records import Attachment, Page
from infoforge.zimify.titleindex import add_title_index

FLUSH_DOCUMENTS = "1000"
TITLE_BYTES = 200
"""libzim refuses to finish when a title has a word of about 245 bytes."""


class ZimWriter:
    """Writes one ZIM file next to its final name; used in a ``with`` block.

    When the block ends without an error, the file is closed, but not yet renamed: see `commit`.
    After an error nothing is left.

    Args:
        target: The final path.
        language: ISO 639-3, for stemming in the index.
        main: Path of the main entry.
        threads: Threads that index and compress.
    """

    def __init__(self, target: Path, language: str, main: str, threads: int) -> None:
        self.target = target
        self.temporary = target.with_name(f".{target.name[:200]}.{os.getpid()}.part.zim")
        self.paths: set[str] = set()
        self.articles = 0
        self.redirects = 0
        self._seen: set[bytes] = set()
        self._bodies: dict[bytes, str] = {}
        self._language = language
        self._main = main
        self._threads = threads
        self._creator: Any = None

    def __enter__(self) -> ZimWriter:
        from libzim.writer import Creator

        try:
            creator = Creator(self.temporary)
        except (OSError, RuntimeError) as error:
            raise InfoForgeError(
                f"cannot write {self.target}: {error}", code="zimify_write"
            ) from None
        # Xapian keeps 10,000 documents in memory before it writes. Fewer cost little time.
        os.environ.setdefault("XAPIAN_FLUSH_THRESHOLD", FLUSH_DOCUMENTS)
        creator.config_indexing(True, self._language)
        creator.config_nbworkers(self._threads)
        creator.set_mainpath(self._main)
        self._creator = creator
        creator.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._abandon()
            return
        try:
            with _quiet():
                self._creator.__exit__(None, None, None)
            add_title_index(self.temporary)
        except Exception as failure:
            self._abandon()
            text = " ".join(str(failure).split())
            raise InfoForgeError(
                f"libzim could not finish {self.target}: {text}",
                f"the index needs room beside the file while it is made: df {self.target.parent}",
                code="zimify_write",
            ) from None

    def _abandon(self) -> None:
        """Leave libzim where it is.

        It has no cancel, and after a failure its destructor waits for threads that have ended. So
        the object is never destroyed, not even when the interpreter ends.
        """
        import ctypes

        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._creator))
        self.discard()

    def discard(self) -> None:
        """Remove the unfinished file, and the index files that libzim keeps next to it."""
        for path in self.temporary.parent.glob(f"{glob.escape(self.temporary.stem)}*"):
            with suppress(OSError):
                if path.is_dir():
                    import shutil

                    shutil.rmtree(path)
                else:
                    path.unlink()

    def commit(self) -> None:
        """Make the file durable and give it its name."""
        publish(self.temporary, self.target)

    def page(self, page: Page) -> None:
        """Add a page; one whose very bytes were added already is told apart by a comment."""
        body = part_braces(page.body)
        if self._known(body):
            body += f"<!-- {page.path.replace('--', '- -')} -->\n".encode("utf-8", "replace")
            self._known(body)
        self.articles += page.indexed
        self._add(page.path, page.title, "text/html", body, front=page.indexed, index=page.indexed)

    def attachment(self, attachment: Attachment) -> None:
        """Add any other entry; of several with the same bytes one is stored, the others lead to it.

        A style sheet is told apart by a comment instead: the addresses in it are relative to it.
        """
        path, mimetype, body = attachment.path, attachment.mimetype, attachment.body
        if attachment.real:
            self._add(path, "", mimetype, attachment.real, front=False, index=False)
            return
        digest = hashlib.blake2b(body, digest_size=12).digest()
        same = self._bodies.setdefault(digest, path)
        if same == path:
            self._add(path, "", mimetype, body, front=False, index=False)
        elif mimetype == "text/css":
            body += f"\n/* {path.replace('*/', '')} */\n".encode("utf-8", "replace")
            self._add(path, "", mimetype, body, front=False, index=False)
        else:
            self.redirect(path, "", same, front=False)

    def redirect(self, path: str, title: str, target: str, *, front: bool) -> None:
        """Add a redirect; with ``front`` its title is found by title search."""
        from libzim.writer import Hint

        self.paths.add(path)
        self.redirects += 1
        self._creator.add_redirection(
            path, clip_bytes(title, TITLE_BYTES), target, {Hint.FRONT_ARTICLE: int(front)}
        )

    def metadata(self, values: Mapping[str, str], name: str) -> None:
        """Add metadata and the illustration."""
        for key, value in values.items():
            if value:
                self._creator.add_metadata(key, value)
        self._creator.add_illustration(SIZE, illustration(name))

    def _known(self, body: bytes) -> bool:
        digest = hashlib.blake2b(body, digest_size=12).digest()
        if digest in self._seen:
            return True
        self._seen.add(digest)
        return False

    def _add(
        self, path: str, title: str, mimetype: str, body: bytes | str, *, front: bool, index: bool
    ) -> None:
        self.paths.add(path)
        title = clip_bytes(title, TITLE_BYTES) if title else ""
        squeeze = compressible(path, mimetype)
        entry = _entry_class()(
            path, title, mimetype, body, front=front, squeeze=squeeze, index=index
        )
        try:
            self._creator.add_item(entry)
        except SystemError as error:
            # Ctrl-C while libzim asks for the entry's content comes out wrapped.
            if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise


_item_class: Any = None


def _entry_class() -> Any:  # noqa: ANN401  (libzim has no types to name)
    """The class of our entries; made on first use, since it derives from libzim's."""
    global _item_class  # noqa: PLW0603
    if _item_class is None:
        from libzim.writer import FileProvider, Hint, Item, StringProvider

        class Entry(Item):  # type: ignore[misc]
            def __init__(
                self,
                path: str,
                title: str,
                mimetype: str,
                body: bytes | str,
                *,
                front: bool,
                squeeze: bool,
                index: bool,
            ) -> None:
                super().__init__()
                self._path, self._title, self._mimetype = path, title, mimetype
                self._body, self._front, self._squeeze = body, front, squeeze
                if not index:
                    # Without this method libzim indexes every HTML entry itself, in its threads.
                    self.get_indexdata = lambda: None

            def get_path(self) -> str:
                return self._path

            def get_title(self) -> str:
                return self._title

            def get_mimetype(self) -> str:
                return self._mimetype

            def get_hints(self) -> dict[Any, int]:
                return {Hint.FRONT_ARTICLE: int(self._front), Hint.COMPRESS: int(self._squeeze)}

            def get_contentprovider(self) -> FileProvider | StringProvider:
                if isinstance(self._body, str):
                    return FileProvider(self._body)
                return StringProvider(self._body)

        _item_class = Entry
    return _item_class


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep libzim's own words from stdout, which carries the answer alone."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:
        yield
        return
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(sink)


_CHECK_SECONDS = 3600.0
"""For each look at the finished file; its checksum reads all of it."""


def check(writer: ZimWriter) -> int:
    """Open the finished file, search and read in it, and compare it with what was put in.

    Args:
        writer: The writer, closed but not committed.

    Returns:
        The number of entries.

    Raises:
        CheckFailed: The file is damaged, entries are missing, or the search index finds nothing.
    """
    from infoforge.zimreader.process import ZimError, ZimFile

    try:
        zim = ZimFile(writer.temporary)
        whole = zim.checksum(_CHECK_SECONDS)
        missing = zim.missing(sorted(writer.paths), _CHECK_SECONDS)
        zim.probe(_CHECK_SECONDS)
    except ZimError as error:
        raise CheckFailed(f"the finished ZIM cannot be read: {error}") from None
    if not whole:
        raise CheckFailed("the finished ZIM fails its own checksum")
    if missing:
        raise CheckFailed(
            f"{len(missing)} entries are missing in the ZIM, the first is {missing[0]}"
        )
    if not zim.facts.main_page:
        raise CheckFailed("the ZIM has no front page")
    if writer.articles and not (zim.facts.fulltext and zim.facts.titles):
        raise CheckFailed("the ZIM has no search index")
    return zim.facts.entries


PART = b'<input type="hidden">'
_BRACE = rb"(?:\{|&#123;|&#[xX]7[bB];|&lbrace;|&lcub;)"
_TWO = re.compile(_BRACE + rb"(?:<[^<>]*>)*" + _BRACE, re.DOTALL)
_PIECES = re.compile(
    rb"(?P<kept><!--.*?-->|<(?P<raw>script|style|textarea|title|svg|math)\b.*?</(?P=raw)\s*>)"
    rb"|(?P<tag><[a-zA-Z/!?](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>)"
    rb"|(?P<brace>" + _BRACE + rb")"
    rb"|(?P<text>[^<{&]+|.)",
    re.IGNORECASE | re.DOTALL,
)


def part_braces(body: bytes) -> bytes:
    """Part opening braces that stand side by side in the text of a page.

    Args:
        body: HTML in UTF-8.

    Returns:
        The page; the same object when no two braces stand side by side.
    """
    if _TWO.search(body) is None:
        return body
    pieces: list[bytes] = []
    open_before = False
    for match in _PIECES.finditer(body):
        piece = match.group()
        kind = match.lastgroup
        if kind == "brace":
            pieces += (PART, piece) if open_before else (piece,)
            open_before = True
            continue
        if kind == "text":
            open_before = False
        pieces.append(piece)
    return b"".join(pieces)


SIZE = 48


def illustration(name: str) -> bytes:
    """A 48x48 PNG; the colour follows from the name, so that two ZIMs look different."""
    hue = zlib.crc32(name.encode("utf-8", "replace"))
    colour = bytes(60 + (hue >> shift) % 120 for shift in (0, 8, 16)) + b"\xff"
    clear, paper, line = b"\0\0\0\0", b"\xff\xff\xff\xff", bytes((*colour[:3], 110))
    rows = []
    for y in range(SIZE):
        row = bytearray(b"\0")
        for x in range(SIZE):
            pixel = clear
            if 3 <= y < 45 and 7 <= x < 41:
                pixel = colour
                if (36 <= y < 41 and 12 <= x < 41) or (
                    15 <= x < 35 and y in (12, 13, 18, 19, 24, 25) and (y < 24 or x < 28)
                ):
                    pixel = paper
                elif 10 <= x < 12 and y < 36:
                    pixel = line
            row += pixel
        rows.append(bytes(row))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(b"".join(rows), 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
