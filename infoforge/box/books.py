"""Which ZIM files are served: of each name the newest edition that opens."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from infoforge.config.settings import ZimSettings
from infoforge.zims.names import edition, stable_name


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
class ExcludedFile:
    """A ZIM that is not served, and why.

    ``older`` says that a newer edition of the same name is served: no fault, only a fact.
    """

    file: str
    reason: str
    older: bool = False


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


def select(zims: ZimSettings) -> Selection:
    """Choose the ZIM files, opening each once in a child process.

    Args:
        zims: The folder and the enabled names (file names, or names without the date).
    """
    folder = zims.folder
    names = (p.name for p in folder.glob("*.zim")) if folder.is_dir() else ()
    files = sorted(name for name in names if not name.startswith("."))
    groups: dict[str, list[str]] = {}
    for file in files:
        groups.setdefault(stable_name(file), []).append(file)
    books: list[Book] = []
    left_out: list[ExcludedFile] = []
    for name in zims.enabled or tuple(groups):
        exact = next((f for f in files if name in (f, f.removesuffix(".zim"))), None)
        editions = [exact] if exact and name not in groups else groups.get(name, [])
        if not editions:
            left_out.append(ExcludedFile(name, "enabled, but not in the folder"))
        _choose(folder, editions, books, left_out)
    return Selection(folder, tuple(books), tuple(left_out))


def _choose(
    folder: Path, editions: list[str], books: list[Book], left_out: list[ExcludedFile]
) -> None:
    """Take the newest edition that opens; an older one steps in for a broken newer one."""
    chosen = ""
    for file in sorted(editions, key=lambda f: (edition(f), f), reverse=True):
        if any(book.file == file for book in books):
            continue
        if chosen:
            left_out.append(ExcludedFile(file, f"older than {chosen}", older=True))
            continue
        book = _open(folder, file)
        if isinstance(book, ExcludedFile):
            left_out.append(book)
            continue
        twin = next((b.file for b in books if b.uuid == book.uuid), None)
        if twin is not None:
            # kiwix-serve knows books by UUID: of two copies it would serve only the last.
            left_out.append(ExcludedFile(file, f"a copy of {twin}", older=True))
            continue
        books.append(book)
        chosen = file


def _open(folder: Path, file: str) -> Book | ExcludedFile:
    """One file as a book, or why it is none."""
    from infoforge.box.crashes import excluded_reason
    from infoforge.zimreader.process import ZimError, ZimFile

    path = folder / file
    if not file.isprintable():
        return ExcludedFile(file, "its name holds control characters")
    if path.is_symlink() and not _inside(folder, path):
        return ExcludedFile(
            file, "a link that leads out of the folder, which the container cannot follow"
        )
    try:
        stat = path.stat()
        with path.open("rb") as stream:
            stream.read(1)
        reason = excluded_reason(file, stat.st_size, stat.st_mtime_ns)
        if reason:
            return ExcludedFile(file, reason)
        return Book(file, ZimFile(path).facts.uuid, stat.st_size, stat.st_mtime_ns)
    except OSError as error:
        return ExcludedFile(file, f"cannot be read: {error.strerror or error}")
    except ZimError as error:
        return ExcludedFile(file, f"does not open: {error}")


def _inside(folder: Path, link: Path) -> bool:
    """Whether a symbolic link means the same file when the folder is mounted elsewhere."""
    target = link.readlink()
    return not target.is_absolute() and link.resolve().is_relative_to(folder.resolve())
