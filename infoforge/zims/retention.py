"""Keeping the shelf: verify what is there, remove what is not wanted, prune what is superseded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from infoforge.contract import CheckFailed, UsageError
from infoforge.zims.check import Damaged, Sums, quick, read_entries, read_through
from infoforge.zims.events import Event, Report
from infoforge.zims.inventory import CachedCheck, editions, find, is_enabled, is_meant, is_older
from infoforge.zims.listing import unfinished
from infoforge.zims.names import book_name, edition, parts_of, stable_name, url_name
from infoforge.zims.partial import PARTIAL_DIR, note_path
from infoforge.zims.state import State, save_state


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """What a check of one file found.

    Attributes:
        file: File name.
        problem: What is wrong; empty when it is good.
        checked: ``header`` (and index), or ``all`` bytes.
        sha256: Hex digest, when all bytes were read.
    """

    file: str
    problem: str
    checked: str
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class RemovedFile:
    """A file that was removed (or would be), with its size in bytes and the reason."""

    file: str
    size: int
    reason: str


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file that might have been removed and was not, and why."""

    file: str
    reason: str


def verify(folder: Path, file: str, state: State, report: Report, *, full: bool) -> VerifyResult:
    """Check one file.

    Args:
        folder: The ZIM folder.
        file: File name.
        state: The folder's memory; a file found right is entered.
        report: Told how far the reading is.
        full: Read every byte; else header, index and a few articles.
    """
    path = folder / file
    problem = CachedCheck(fresh=True)(path)
    if problem or not full:
        return VerifyResult(file, problem, "header")
    try:
        sums = read_through(path, lambda done, all_: report(Event("verify", file, done, all_)))
    except Damaged as error:
        return VerifyResult(file, str(error), "all")
    except OSError as error:
        return VerifyResult(
            file, f"the disk cannot read all of it: {error.strerror or error}", "all"
        )
    problem = _compare(sums, state, path) or read_entries(path)
    if not problem:
        state.remember(path, sums.sha256)
    return VerifyResult(file, problem, "all", sums.sha256)


def _size(path: Path) -> int:
    return sum(part.stat().st_size for part in parts_of(path))


def _compare(sums: Sums, state: State, path: Path) -> str:
    """What the sums tell against the ZIM's own checksum and what is remembered of the file."""
    record = state.files.get(path.name)
    known = record is not None and record.size == _size(path)
    if sums.md5 is False:
        return "its bytes are damaged: they do not fit its own checksum"
    if record is not None and known and record.sha256 != sums.sha256:
        return "its bytes have changed since it was pulled or added (SHA-256 differs)"
    if sums.md5 is None and not known:
        return "it has no checksum, and none is known from elsewhere"
    return ""


def remove(folder: Path, names: Sequence[str], state: State, *, force: bool) -> list[RemovedFile]:
    """Remove files, and broken-off downloads, by file name or stable name.

    Args:
        folder: The ZIM folder.
        names: What to remove; a stable name means all its editions.
        state: The folder's memory; written.
        force: Also the only good edition of a name.

    Raises:
        UsageError: A name fits nothing.
        CheckFailed: A name's only good edition would go, without ``force``.
    """
    partials = [item.file for item in unfinished(folder)]
    files: list[str] = []
    broken_off: list[str] = []
    for name in names:
        parts = [p for p in partials if is_meant(p, name)]
        broken_off += [p for p in parts if p not in broken_off]
        try:
            files += [f for f in find(folder, [name]) if f not in files]
        except UsageError:
            if not parts:
                raise
    if not force:
        _refuse_last(folder, files)
    gone = [_unlink(folder / file, "asked for") for file in files]
    for file in broken_off:
        gone.append(_unlink(folder / PARTIAL_DIR / file, "broken-off download"))
    left = editions(folder)
    for file in files:
        if book_name(file) not in left:
            state.pins.pop(stable_name(file), None)
    save_state(folder, state)
    return gone


def _refuse_last(folder: Path, files: Sequence[str]) -> None:
    groups = editions(folder)
    for book in dict.fromkeys(map(book_name, files)):
        going = [file for file in groups[book] if file in files]
        staying = [file for file in groups[book] if file not in files]
        if any(not quick(folder / f) for f in staying):
            continue
        good = [file for file in going if not quick(folder / file)]
        if good:
            name = stable_name(good[0])
            raise CheckFailed(
                f"{good[0]} is the only good edition of {name}: nothing was removed",
                f"infoforge zims remove {name} --force removes it all the same",
                code="only_edition",
            )


def prune(
    folder: Path, enabled: Sequence[str], state: State, report: Report, *, check: bool
) -> tuple[list[RemovedFile], list[KeptFile]]:
    """Remove superseded editions and downloads that were overtaken.

    An older edition goes only when a newer one is there whose every byte is known to be right;
    where that is not known yet, it is read now. Pinned editions and those that the configuration
    names by their file name stay.

    Args:
        folder: The ZIM folder.
        enabled: The configuration's list.
        state: The folder's memory; written unless ``check``.
        report: Told how far the reading is.
        check: Only say what would go.
    """
    gone: list[RemovedFile] = []
    kept: list[KeptFile] = []
    for files in editions(folder).values():
        newest = _newest_right(folder, files, state, report, kept)
        for file in files[files.index(newest) + 1 :] if newest else []:
            if not is_older(file, newest):
                kept.append(KeptFile(file, f"its name is {newest}'s but for case and accents"))
            elif state.pins.get(stable_name(file)) == edition(file):
                kept.append(KeptFile(file, "it is pinned"))
            elif url_name(file) in map(url_name, enabled):
                kept.append(KeptFile(file, "the configuration names this file"))
            else:
                gone.append(_unlink(folder / file, f"older than {newest}", check=check))
    for item in unfinished(folder):
        there = editions(folder).get(book_name(item.file), [])
        newer = [f for f in there if not is_older(f, item.file)]
        if newer:
            path = folder / PARTIAL_DIR / item.file
            gone.append(_unlink(path, f"overtaken by {newer[0]}", check=check))
    if not check:
        save_state(folder, state)
    return gone, kept


def _newest_right(
    folder: Path, files: Sequence[str], state: State, report: Report, kept: list[KeptFile]
) -> str:
    """The newest edition that is right to the last byte; empty when there is nothing to prune."""
    for position, file in enumerate(files[:-1]):
        if state.trusted(folder / file) and not quick(folder / file):
            return file
        verdict = verify(folder, file, state, report, full=True)
        if not verdict.problem:
            return file
        older = files[position + 1]
        kept.append(KeptFile(older, f"{file} is newer, but {verdict.problem}"))
    return ""


def drop_older(folder: Path, file: str, state: State) -> list[RemovedFile]:
    """Remove the older editions of a file that has just been verified, but for a pinned one."""
    gone = []
    for other in editions(folder).get(book_name(file), []):
        pinned = state.pins.get(stable_name(other)) == edition(other)
        if is_older(other, file) and not pinned:
            gone.append(_unlink(folder / other, f"older than {file}"))
    return gone


def enabled_after(enabled: Sequence[str], gone: Sequence[str], left: Sequence[str]) -> list[str]:
    """The configuration's list without the entries that only removed files stood behind.

    Args:
        enabled: The list as it is.
        gone: Files that were removed.
        left: Files that are there.

    Returns:
        The new list; as it was when nothing would be left, since an empty one means all.
    """
    kept = [
        item
        for item in enabled
        if any(is_enabled(file, [item]) for file in left)
        or not any(is_enabled(file, [item]) for file in gone)
    ]
    return kept or list(enabled)


def _unlink(path: Path, reason: str, *, check: bool = False) -> RemovedFile:
    """Remove a file (all its parts; a link, not what it leads to) and say how much it was.

    Raises:
        CheckFailed: It cannot be removed.
    """
    try:
        parts = parts_of(path)
        size = sum(part.lstat().st_size for part in parts)
        if not check:
            for part in parts:
                part.unlink()
            note_path(path).unlink(missing_ok=True)
    except OSError as error:
        raise CheckFailed(
            f"cannot remove {path}: {error.strerror or error}", "check the folder's owner and mode"
        ) from error
    return RemovedFile(path.name, size, reason)
