"""The files of a folder, in a stable order, every file once."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from infoforge.contract import Warn, WarningMessage
from infoforge.zimify.model import SourceFile
from infoforge.zimify.names import kind_of

JUNK = frozenset({"Thumbs.db", "desktop.ini", "__MACOSX", "__pycache__", "node_modules"})


def walk(folder: str, exclude: tuple[str, ...], warn: Warn, skip: str = "") -> list[SourceFile]:
    """List the files of a folder, sorted by path.

    Hidden files and folders are left out. Links to files are followed; a link to a folder is
    followed unless it leads to a folder that was seen already (a loop, or the same files twice).

    Args:
        folder: The folder.
        exclude: Globs, see ``Options.exclude``.
        warn: Told about what was left out for a reason other than ``exclude``.
        skip: A file that is not listed (the output itself, when it lies in the folder).

    Returns:
        The files; every ``rel`` is unique.
    """
    files: list[SourceFile] = []
    taken: set[str] = set()
    skipped = os.path.realpath(skip) if skip else ""
    for real, rel, status in _entries(folder, "", {_identity(Path(folder).stat())}, exclude, warn):
        if skipped and os.path.realpath(real) == skipped:
            continue
        name, number = rel, 2
        while name in taken:
            base, ending = posixpath.splitext(rel)
            name = f"{base} ({number}){ending}"
            number += 1
        taken.add(name)
        files.append(SourceFile(name, real, status.st_size, status.st_mtime, kind_of(name)))
    return files


def _entries(
    real: str, rel: str, seen: set[tuple[int, int]], exclude: tuple[str, ...], warn: Warn
) -> Iterator[tuple[str, str, os.stat_result]]:
    try:
        with os.scandir(real) as listing:
            found = sorted(listing, key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        warn(WarningMessage("zimify_folder", f"cannot list {rel or real}: {error.strerror}"))
        return
    for entry in found:
        name = _unicode(entry.name)
        path = f"{rel}/{name}" if rel else name
        if name.startswith(".") or name in JUNK or _excluded(path, exclude):
            continue
        try:
            status = entry.stat()
        except OSError as error:
            warn(WarningMessage("zimify_skipped", f"skipping {path}: {error.strerror}"))
            continue
        if stat.S_ISDIR(status.st_mode):
            identity = _identity(status)
            if identity in seen:
                warn(
                    WarningMessage("zimify_loop", f"skipping {path}: this folder was seen already")
                )
                continue
            seen.add(identity)
            yield from _entries(entry.path, path, seen, exclude, warn)
        elif stat.S_ISREG(status.st_mode):
            yield entry.path, path, status
        else:
            warn(WarningMessage("zimify_skipped", f"skipping {path}: not a regular file"))


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _excluded(path: str, exclude: tuple[str, ...]) -> bool:
    name = posixpath.basename(path)
    return any(
        fnmatchcase(path, glob) or fnmatchcase(name, glob) or fnmatchcase(path, glob.rstrip("/"))
        for glob in exclude
    )


def _unicode(name: str) -> str:
    """A file name as Unicode: what is no UTF-8 is taken for Windows-1252, the likeliest."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(name).decode("cp1252", "replace")
    return name
