"""Add: ZIM files from a USB stick or another folder, with the checks that a pull has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from infoforge.contract import CheckFailed, UsageError, Warn, WarningMessage
from infoforge.files import temporary_name
from infoforge.zims.check import Damaged, quick, read_header, sums_of
from infoforge.zims.events import Event, Report
from infoforge.zims.metalink import parse_metalink, parse_sha256
from infoforge.zims.partial import Partial, kept_bytes
from infoforge.zims.source import DownloadSource
from infoforge.zims.space import balance, require
from infoforge.zims.state import State, save_state
from infoforge.zims.units import MIB

_READ = 4 * MIB
_META_LIMIT = 64 * MIB


@dataclass(frozen=True, slots=True)
class Addition:
    """One file to be added.

    Attributes:
        path: Where it is.
        size: Bytes.
        sha256: What a ``.sha256`` or ``.meta4`` beside it says; empty without one.
        present: The very file is on the shelf already.
    """

    path: Path
    size: int
    sha256: str
    present: bool

    @property
    def file(self) -> str:
        """The file name, there and here."""
        return self.path.name


@dataclass(frozen=True, slots=True)
class Adding:
    """Where and how to add; the fields are those of `pull.Job`.

    Attributes:
        link: Link to the file instead of copying it.
    """

    folder: Path
    report: Report
    warn: Warn
    verify: bool = True
    keep_free: int | None = None
    link: bool = False


def gather(folder: Path, paths: Sequence[Path], state: State) -> list[Addition]:
    """Find the files and look at each quickly.

    Args:
        folder: The ZIM folder.
        paths: ZIM files, or folders that hold some (a mounted stick).
        state: The folder's memory.

    Raises:
        UsageError: Nothing there, or no ZIM in the folder.
        CheckFailed: A file is damaged.
    """
    files: list[Path] = []
    for path in paths:
        found = sorted(path.glob("*.zim")) if path.is_dir() else [path]
        if not found or not found[0].is_file() or (path.suffix != ".zim" and not path.is_dir()):
            raise UsageError(
                f"{path}: no ZIM file there", "name a .zim file, or a folder with some"
            )
        files += [f for f in found if f not in files and not f.name.startswith(".")]
    additions = []
    for path in files:
        problem = quick(path)
        if problem:
            raise CheckFailed(f"{path} is no good ZIM: {problem}", "copy it again", code="bad_zim")
        present = _same(path, folder / path.name, state)
        additions.append(Addition(path, path.stat().st_size, _beside(path), present))
    return additions


def _same(path: Path, target: Path, state: State) -> bool:
    """Whether the shelf has this very file: the same one on disk, or of the same checksum."""
    if not target.exists():
        return False
    if target.samefile(path):
        return True
    size = path.stat().st_size
    if target.stat().st_size != size or state.trusted(target) is None:
        return False
    # The first bytes hold the UUID, the last ones the MD5 of all others; the shelf's own file is
    # known to fit its own.
    has_sum = read_header(path).checksum_at > 0
    return has_sum and all(_bytes(path, at) == _bytes(target, at) for at in (0, size - 80))


def _bytes(path: Path, at: int) -> bytes:
    with path.open("rb") as file:
        file.seek(at)
        return file.read(80)


def _beside(path: Path) -> str:
    """The SHA-256 that a file beside it states.

    Raises:
        CheckFailed: There is one, and it says nothing of this file.
    """
    for suffix in (".sha256", ".meta4"):
        other = path.with_name(path.name + suffix)
        if not other.is_file():
            continue
        with other.open("rb") as file:
            body = file.read(_META_LIMIT)
        digest = (
            parse_sha256(body, path.name)
            if suffix == ".sha256"
            else parse_metalink(body, str(other), path.name).sha256
        )
        if digest:
            return digest
        raise CheckFailed(
            f"{other} holds no SHA-256 of {path.name}", "remove it if it is not the file's own"
        )
    return ""


def require_space(adding: Adding, additions: Sequence[Addition]) -> None:
    """Refuse what does not fit; links take no room.

    Raises:
        CheckFailed: Need, free and short are named.
    """
    to_copy = [a for a in additions if not a.present]
    if adding.link or not to_copy:
        return
    have = sum(kept_bytes(adding.folder, _source(a)) for a in to_copy)
    space = balance(adding.folder, [a.size for a in to_copy], have, adding.keep_free)
    largest = max(to_copy, key=lambda a: a.size)
    require(adding.folder, space, (largest.file, largest.size))


def _source(addition: Addition) -> DownloadSource:
    path = str(addition.path.resolve())
    return DownloadSource(addition.file, path, addition.size, addition.sha256, None, (path,))


def add(adding: Adding, addition: Addition, state: State) -> str:
    """Add one file; the folder's lock is held by the caller.

    Args:
        adding: Where and how.
        addition: The file.
        state: The folder's memory; written.

    Returns:
        ``present``, ``copied`` or ``linked``.

    Raises:
        CheckFailed: Its checksum is wrong, it has none (with ``verify``), or the disk failed.
    """
    target = adding.folder / addition.file
    if addition.present:
        return "present"
    if adding.link:
        with addition.path.open("rb", buffering=0) as file:
            digest = _checked(adding, addition, file.fileno())
        _link(adding, addition.path, target)
        what = "linked"
    else:
        digest = _copy(adding, addition, target)
        what = "copied"
    state.remember(target, digest, origin=str(addition.path.resolve()))
    save_state(adding.folder, state)
    return what


def _copy(adding: Adding, addition: Addition, target: Path) -> str:
    """Copy through ``.partial/``, going on where an earlier try ended; then read the copy back."""
    partial = Partial(adding.folder, _source(addition))
    try:
        with addition.path.open("rb", buffering=0) as file:
            file.seek(partial.have)
            while block := file.read(_READ):
                partial.write(block)
                adding.report(Event("progress", addition.file, partial.have, addition.size))
        partial.flush()
        try:
            digest = _checked(adding, addition, partial.handle)
        except CheckFailed:
            partial.discard()
            raise
        partial.publish(target)
    except OSError as error:
        raise CheckFailed(
            f"{addition.path} cannot be read: {error.strerror or error}",
            "is the stick still plugged in? The same command goes on from here",
            code="unreadable",
        ) from error
    finally:
        partial.close()
    return digest


def _checked(adding: Adding, addition: Addition, handle: int) -> str:
    """Read all of an open file; its SHA-256 when everything that is known of it fits."""
    file = addition.file
    try:
        sums = sums_of(
            handle,
            addition.size,
            read_header(addition.path).checksum_at,
            lambda done, total: adding.report(Event("verify", file, done, total)),
        )
    except Damaged as error:
        raise CheckFailed(f"{addition.path} is no good ZIM: {error}", code="bad_zim") from error
    problem = ""
    if addition.sha256 and sums.sha256 != addition.sha256:
        problem = "it is not as the hash beside it says (SHA-256 differs)"
    elif sums.md5 is False:
        problem = "its bytes do not fit its own checksum"
    elif sums.md5 is None and not addition.sha256 and adding.verify:
        problem = "it has no checksum, neither its own nor one beside it"
    if problem:
        raise CheckFailed(
            f"{addition.path}: {problem}",
            "copy it again from where it came; --no-verify takes a file that has no checksum",
            code="bad_zim",
        )
    return sums.sha256


def _link(adding: Adding, path: Path, target: Path) -> None:
    """A hard link where that is possible, else a symbolic one; put in place by rename."""
    temporary = temporary_name(adding.folder / target.name)
    try:
        try:
            os.link(path.resolve(), temporary)
        except OSError:
            temporary.symlink_to(path.resolve())
            adding.warn(
                WarningMessage(
                    "symbolic_link",
                    f"{target.name} is a symbolic link to another file system: it is there only "
                    "while that is mounted, and a container does not see it",
                )
            )
        try:
            temporary.replace(target)
        finally:
            # rename does nothing when both are already the same file.
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise CheckFailed(
            f"cannot link {target}: {error.strerror or error}", "copy it: leave --link out"
        ) from error
