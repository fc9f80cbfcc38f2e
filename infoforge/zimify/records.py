"""What flows between the stages of a conversion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from infoforge.contract import WarningMessage

Progress = Callable[[int, int], None]
"""Called with the number of files done and of all files."""


@dataclass(frozen=True, slots=True)
class ConversionOptions:
    """What the caller may say about the ZIM; empty means: derive it from the folder.

    Attributes:
        language: ISO 639-1 or 639-3 code of the documents.
        title: At most 30 characters (a rule of the format).
        name: Stable name without a date, as used in catalogs.
        description: At most 80 characters.
        date: ISO date; the newest modification time in the folder when empty.
        exclude: Globs; a file is left out when its path, its name or a folder above it matches.
        follow_links: Follow symbolic links that lead out of the folder.
        workers: Worker processes; 0 converts in this process, ``None`` takes one a core.
    """

    language: str = ""
    title: str = ""
    name: str = ""
    description: str = ""
    creator: str = ""
    publisher: str = ""
    date: str = ""
    exclude: tuple[str, ...] = ()
    follow_links: bool = False
    workers: int | None = None


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of the folder.

    Attributes:
        rel: Path inside the folder, ``/`` between the parts, always valid Unicode.
        real: Path to open (may hold bytes that are no UTF-8, as surrogates).
        size: Bytes.
        mtime: Modification time in seconds since 1970.
        kind: The module of its reader (``markdown``, ``pdf`` …), or ``file`` without one.
    """

    rel: str
    real: str
    size: int
    mtime: float
    kind: str


@dataclass(frozen=True, slots=True)
class DocumentHead:
    """What the start of a document says of it; empty where it says nothing.

    Attributes:
        language: As written there.
        front: Characters of its front matter, which are no text.
        disambiguation: It says that it only lists articles of one name.
        problem: Why its front matter is not valid; empty when it is.
    """

    title: str = ""
    aliases: tuple[str, ...] = ()
    language: str = ""
    front: int = 0
    disambiguation: bool = False
    problem: str = ""


@dataclass(slots=True)
class SourceDocument:
    """A file and its place in the ZIM. ``title`` may be bettered by the reader later.

    Attributes:
        head: What its start says.
        path: Path of the entry that a link to this file leads to.
    """

    file: SourceFile
    head: DocumentHead
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Page:
    """A finished HTML page. ``indexed`` false keeps it out of search and title index."""

    path: str
    title: str
    body: bytes
    indexed: bool = True


@dataclass(frozen=True, slots=True)
class Attachment:
    """Any other entry: ``body``, or the file ``real`` to be streamed."""

    path: str
    mimetype: str
    body: bytes = b""
    real: str = ""


@dataclass(slots=True)
class LinkCount:
    """What became of the links of one or many documents.

    Attributes:
        rewritten: Links that needed another address in the ZIM.
        dead: (document, link) pairs that lead nowhere in the folder.
        external: (document, address) of things that would have to be loaded from the network.
    """

    rewritten: int = 0
    dead: list[tuple[str, str]] = field(default_factory=list)
    external: list[tuple[str, str]] = field(default_factory=list)

    def add(self, other: LinkCount) -> None:
        """Take over another count."""
        self.rewritten += other.rewritten
        self.dead += other.dead
        self.external += other.external


@dataclass(slots=True)
class Rendered:
    """What a reader made of one document.

    Attributes:
        items: The entries, in order.
        title: A better title than its name or its start give.
        links: What became of its links.
        warnings: For people.
        left_out: Parts of it that are not in the ZIM, or not as text, and why.
        error: Why nothing was made of it.
    """

    items: list[Page | Attachment] = field(default_factory=list)
    title: str = ""
    links: LinkCount = field(default_factory=LinkCount)
    warnings: list[WarningMessage] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    error: str = ""

    def leave_out(self, rel: str, reason: str) -> None:
        """Name a part of the file ``rel`` that is left out."""
        self.left_out.append(reason)
        self.warnings.append(WarningMessage("zimify_no_text", f"{rel}: {reason}"))


class UnreadableError(Exception):
    """A document cannot be read; the message is one line for people."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a conversion did; the data of the command's JSON.

    Attributes:
        unreadable: (document, reason) of those that could not be converted.
        unsupported: (document, format) of those that are only kept as files.
        left_out: (document, reason) of everything else that is not in the ZIM, or not as text.
    """

    path: str
    name: str
    title: str
    language: str
    date: str
    size: int
    files: int
    entries: int
    articles: int
    redirects: int
    links_rewritten: int
    dead_links: tuple[tuple[str, str], ...]
    external: tuple[tuple[str, str], ...]
    unreadable: tuple[tuple[str, str], ...]
    unsupported: tuple[tuple[str, str], ...]
    left_out: tuple[tuple[str, str], ...]
