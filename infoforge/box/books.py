"""Which ZIM files are served: of each name the newest edition that opens."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from infoforge.config.settings import ZimSettings
from infoforge.zims.check import read_header
from infoforge.zims.inventory import CachedCheck, ExcludedFile, QualityCheck, choose
from infoforge.zims.names import is_part, join_command, parts_of

_PLAIN = re.compile(r"[A-Za-z0-9._+-]+")


@dataclass(frozen=True, slots=True)
class Book:
    """A ZIM file that is served.

    Attributes:
        file: Its name in the folder.
        uuid: The UUID inside it, by which kiwix-serve's catalog names it.
        size: Bytes.
        modified: Time of the last change, in nanoseconds.
    """

    file: str
    uuid: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a folder is served, in order of preference, and what is not."""

    folder: Path
    books: tuple[Book, ...]
    left_out: tuple[ExcludedFile, ...]

    @property
    def bad(self) -> tuple[ExcludedFile, ...]:
        """What is left out for a fault of its own."""
        return tuple(item for item in self.left_out if not item.older)


def select(zims: ZimSettings, check: QualityCheck | None = None) -> Selection:
    """Choose the ZIM files to serve, by the inventory.

    Args:
        zims: The folder and the enabled names.
        check: How to find out whether a file is good; the quick check, cached, when not given.
    """
    folder, quality = zims.folder, check or CachedCheck()

    def problem(path: Path) -> str:
        return _not_servable(folder, path) or _in_words(path, quality(path))

    choice = choose(zims, problem)
    books: dict[str, Book] = {}
    left_out: list[ExcludedFile] = []
    for path in choice.paths:
        book = _book(path)
        if book.uuid in books:
            # kiwix-serve knows books by UUID: of two copies it would serve only the last.
            text = f"a copy of {books[book.uuid].file}"
            left_out.append(ExcludedFile(path.name, text, older=True))
        else:
            books[book.uuid] = book
    left_out += map(_instead, choice.excluded)
    return Selection(folder, tuple(books.values()), tuple(left_out))


def _book(path: Path) -> Book:
    file, size, modified = _identity(path)
    return Book(file, read_header(path).uuid, size, modified)


def _identity(path: Path) -> tuple[str, int, int]:
    """The name that is served, the size in bytes and the time of change in ns.

    libzim finds the parts of a split file by the name of the whole.
    """
    stats = [part.stat() for part in parts_of(path)]
    file = path.name[:-2] if is_part(path.name) else path.name
    return file, sum(s.st_size for s in stats), max((s.st_mtime_ns for s in stats), default=0)


def _not_servable(folder: Path, path: Path) -> str:
    """Why the container must not serve a file, however good; empty when it may."""
    from infoforge.box.crashes import excluded_reason

    if not path.name.isprintable():
        return "its name holds control characters"
    if path.is_symlink() and not _inside(folder, path):
        return "a link that leads out of the folder, which the container cannot follow"
    if is_part(path.name) and not _PLAIN.fullmatch(path.name):
        # The image's start script splits words, and a pattern matches no name of a whole file.
        return f"it is split, with a name that is served in one file only: {join_command(path)}"
    try:
        return excluded_reason(*_identity(path))
    except OSError:
        return ""  # the quick check says what is wrong


def _in_words(path: Path, problem: str) -> str:
    """What is wrong with a file, in the words of this command; empty when nothing is."""
    if problem.startswith("it cannot be"):
        return problem.removeprefix("it ")
    return f"does not open: {problem}" if problem and not is_part(path.name) else problem


def _instead(item: ExcludedFile) -> ExcludedFile:
    if not item.instead:
        return item
    return replace(item, reason=f"{item.reason}; {item.instead} is served in its place")


def _inside(folder: Path, link: Path) -> bool:
    """Whether a symbolic link means the same file when the folder is mounted elsewhere."""
    target = link.readlink()
    return not target.is_absolute() and link.resolve().is_relative_to(folder.resolve())
