"""Pages stream into libzim; the file appears under its name only when it is whole."""

from __future__ import annotations

import glob
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from infoforge.contract import InfoForgeError
from infoforge.zimify.braces import part_braces
from infoforge.zimify.illustration import SIZE, illustration
from infoforge.zimify.model import Attachment, Page
from infoforge.zimify.names import clip_bytes, compressible
from infoforge.zimify.titleindex import add_title_index

FLUSH_DOCUMENTS = "1000"
TITLE_BYTES = 200
"""libzim refuses to finish when a title has a word of about 245 bytes."""


class ZimWriter:
    """Writes one ZIM file beside its final name; used in a ``with`` block.

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
        """Remove the unfinished file, and the index files that libzim keeps beside it."""
        for path in self.temporary.parent.glob(f"{glob.escape(self.temporary.stem)}*"):
            with suppress(OSError):
                if path.is_dir():
                    import shutil

                    shutil.rmtree(path)
                else:
                    path.unlink()

    def commit(self) -> None:
        """Make the file durable and give it its name."""
        descriptor = os.open(self.temporary, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(self.temporary, self.target)  # noqa: PTH105
        folder = os.open(self.target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

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
        self._creator.add_item(
            _entry_class()(path, title, mimetype, body, front=front, squeeze=squeeze, index=index)
        )


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
