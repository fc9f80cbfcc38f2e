"""Atomic writes and exclusive locks: the one way in which files are replaced and guarded.

Everything here raises `OSError`; the caller knows which file it is about and what to advise.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_POLL_SECONDS = 0.2
_NAME_BYTES = 200
"""Bytes of a file's name that its temporary name repeats; most file systems allow 255."""


def write_atomic(
    path: Path, content: str | bytes, *, mode: int | None = None, durable: bool = True
) -> None:
    """Replace a file so that, at any moment and after a power cut, it is the old or the new one.

    Args:
        path: The file. Its folder must exist; a symbolic link in its place is replaced, not
            followed (resolve the path before to follow it).
        content: Text is written as UTF-8; surrogates, which no encoding has, become ``?``.
        mode: The file's mode; ``None`` leaves that of the file that is there, else the umask's.
        durable: Force the content to the disk. ``False`` for what can be made again, a cache.

    Raises:
        OSError: It cannot be written; the old file is as it was.
    """
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if mode is None:
        with suppress(FileNotFoundError):
            mode = stat.S_IMODE(path.lstat().st_mode) if path.is_file() else None
    temporary = temporary_name(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o666 if mode is None else mode)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                with suppress(PermissionError):  # FAT and some network file systems have no modes
                    os.fchmod(handle, mode)
            file.write(data)
            file.flush()
            if durable:
                os.fsync(handle)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def write_new(folder: int, name: str, data: bytes, *, mode: int = 0o644) -> None:
    """Write a file that must not exist yet, whole or not at all.

    Args:
        folder: Handle of the open folder; no path is followed, so no link can lead elsewhere.
        name: Name of the file in it.
        data: The content.
        mode: The file's mode, before the umask.

    Raises:
        FileExistsError: The name is taken.
        OSError: It cannot be written.
    """
    temporary = str(temporary_name(Path(name)))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, mode, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        # A link, not a rename: it fails when the name is taken.
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    finally:
        os.unlink(temporary, dir_fd=folder)
    os.fsync(folder)


def publish(temporary: Path, path: Path) -> None:
    """Give a finished file its final name, durably; one of that name is replaced at once.

    Raises:
        OSError: It cannot be renamed.
    """
    handle = os.open(temporary, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    temporary.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in a folder durable, where the file system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def temporary_name(path: Path) -> Path:
    """A hidden name in the same folder that no other process and no thread uses."""
    start = path.name.encode("utf-8", "surrogateescape")[:_NAME_BYTES].decode("utf-8", "ignore")
    return path.with_name(f".{start}.{os.getpid()}-{os.urandom(3).hex()}.new")


def lock(
    file: int | IO[bytes] | IO[str],
    *,
    wait: float | None = None,
    on_wait: Callable[[], None] = lambda: None,
) -> None:
    """Lock an open file for this process alone, until it is closed or the process ends.

    The kernel keeps the lock and drops it with its holder, so that nothing stale is left after a
    crash. Two handles of one process exclude each other too.

    Args:
        file: The open file, or its descriptor.
        wait: Seconds to wait for another holder; 0 refuses at once, ``None`` waits without limit.
        on_wait: Called once when waiting begins.

    Raises:
        BlockingIOError: Another process holds it, and the time is over.
        OSError: The file system has no locks.
    """
    import fcntl

    end = None if wait is None else time.monotonic() + wait
    waiting = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if end is not None and time.monotonic() >= end:
                raise
            if not waiting:
                on_wait()
                waiting = True
            if end is None:
                fcntl.flock(file, fcntl.LOCK_EX)
                return
            time.sleep(min(_POLL_SECONDS, max(0.0, end - time.monotonic())))
        else:
            return


@contextmanager
def locked(path: Path, *, wait: float | None = None) -> Iterator[None]:
    """Hold the lock of a file whose content does not matter; it is made when missing.

    Args:
        path: The file. Its folder must exist.
        wait: As in `lock`.

    Raises:
        BlockingIOError: Another process holds it, and the time is over.
        OSError: It cannot be opened.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        lock(handle, wait=wait)
        yield
    finally:
        os.close(handle)
