"""Readers: one module a family of formats, each turning one document into finished pages."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from infoforge.zimify.entries import EntryIndex
from infoforge.zimify.pages import Frame
from infoforge.zimify.records import LinkCount, Rendered, SourceDocument, UnreadableError

PART_BYTES = 1 << 20
"""A page is cut into parts above this: browsers, indexers and models choke on longer ones."""


class Reader(Protocol):
    """What each module of this package offers under the name ``read``."""

    def __call__(self, document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
        """Read one document.

        Raises:
            UnreadableError: The document cannot be read; why.
            OSError: Its file cannot be.
        """
        ...


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Read a document with the reader of its kind; every failure is told in ``error``."""
    module = import_module(f"{__name__}.{document.file.kind}")
    reader: Reader = module.read
    try:
        return reader(document, index, frame)
    except UnreadableError as error:
        return Rendered(error=str(error))
    except OSError as error:
        return Rendered(error=error.strerror or str(error))
    except MemoryError:
        return Rendered(error="needs too much memory")
    except RecursionError:
        return Rendered(error="nested too deeply")
    except Exception as error:
        # Parsers of other people's formats fail in ways of their own; one bad file must not
        # cost the others.
        text = " ".join(str(error).split())[:200]
        return Rendered(error=f"{type(error).__name__}: {text}" if text else type(error).__name__)


__all__ = ["PART_BYTES", "LinkCount", "Reader", "read"]
