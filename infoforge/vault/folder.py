"""The vault's folder: which files are notes. Opened for reading and for nothing else."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from infoforge.contract import Warn, WarningMessage
from infoforge.text.markdown import is_empty
from infoforge.vault.errors import VaultError
from infoforge.vault.notes import LARGEST, NotANote, decode

SUFFIXES = (".md", ".markdown")
LEARNINGS = "agent_learnings"
"""Folder in the vault where agents may add files; never searched."""
IGNORE = ".infoforgeignore"
"""File in the vault with more patterns, one a line."""
_CONFLICT = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|\.conflict(?:-\d+)?\.\w+$|[ _(-]conflict(?:ed|ing)?[ _-]copy\b"
    r"|\(in konflikt stehende kopie|\(copie en conflit|\(copia en conflicto|\(copia in conflitto"
    r"|\(copia-conflito|\(conflict\w* \d{4}-\d\d-\d\d|\(case conflict",
    re.IGNORECASE,
)
"""What programs that synchronise folders call the copy that lost."""


@dataclass(frozen=True, slots=True)
class File:
    """A file that may be a note: path in the vault (with ``/``), modification time in ns."""

    source: str
    path: Path
    modified: int


def files(folder: Path, exclude: Sequence[str], warn: Warn) -> Iterator[File]:
    """The notes' files, by path.

    Hidden folders and files, ``agent_learnings`` and what the patterns exclude are left out; what
    cannot be read, and links that lead out of the vault, are left out and named.

    Args:
        folder: The vault.
        exclude: Patterns as in a ``.gitignore``; those of the vault's own file come after them.
        warn: Told what was left out though it looks like a note.

    Raises:
        VaultError: There is no such folder, or it cannot be read.
    """
    if not folder.is_dir():
        raise VaultError(
            f"the vault {folder} does not exist",
            "set vault.folder, or make it: mkdir -p",
            code="vault_folder",
        )
    rules = Rules([*exclude, *_own_patterns(folder)])
    root = Path(os.path.realpath(folder))
    try:
        yield from _walk(root, root, "", rules, warn)
    except PermissionError as error:
        raise VaultError(
            f"the vault cannot be read: {error.strerror}: {error.filename}",
            f"check: ls -ld {folder}",
            code="vault_folder",
        ) from error


def _own_patterns(folder: Path) -> list[str]:
    try:
        return (folder / IGNORE).read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return []


def _walk(root: Path, folder: Path, prefix: str, rules: Rules, warn: Warn) -> Iterator[File]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return  # gone since its parent was read
    except OSError as error:
        if folder == root:
            raise
        warn(WarningMessage("note_skipped", f"{prefix}: {error.strerror or error}"))
        return
    for entry in entries:
        source = f"{prefix}{entry.name}"
        if entry.name.startswith(".") or source == LEARNINGS:
            continue
        if rules.excludes(source, folder=entry.is_dir()):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(root, Path(entry.path), f"{source}/", rules, warn)
            continue
        if not entry.is_dir() and not entry.name.lower().endswith(SUFFIXES):
            continue
        reason, modified = _unfit(root, entry)
        if reason:
            shown = source.encode("utf-8", "backslashreplace").decode()
            warn(WarningMessage("note_skipped", f"{shown}: {reason}"))
        elif modified:
            yield File(source, Path(entry.path), modified)


def _unfit(root: Path, entry: os.DirEntry[str]) -> tuple[str, int]:  # noqa: PLR0911
    """Why a file is no note (empty: it may be one), and its modification time (0: it is gone)."""
    try:
        entry.name.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8", 0
    if _CONFLICT.search(entry.name):
        return "the copy of a conflict between devices", 0
    try:
        if entry.is_dir():
            return "a link to a folder, which is not followed", 0
        if entry.is_symlink():
            target = Path(os.path.realpath(entry.path))
            if root not in target.parents:
                return "a link that leads out of the vault", 0
        if not entry.is_file():
            return "not a file", 0
        stat = entry.stat()
    except FileNotFoundError:
        return "", 0
    except OSError as error:
        return str(error.strerror or error), 0
    if stat.st_size > LARGEST:
        return f"larger than {LARGEST // 1000} kB", 0
    return "", max(1, stat.st_mtime_ns)


def read(file: File) -> bytes | None:
    """A file's bytes; ``None`` when it is gone.

    Raises:
        OSError: It cannot be read.
    """
    try:
        # O_NONBLOCK: a pipe that took the file's place must not hang the indexer.
        handle = os.open(file.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as stream:
        return stream.read(LARGEST + 1)


def digest(file: File, salt: bytes) -> str:
    """SHA-256 of a note's bytes after a salt; empty for what is gone or cannot be a note."""
    try:
        data = read(file)
        if data is None or is_empty(decode(data)):
            return ""
    except (OSError, NotANote):
        return ""
    return hashlib.sha256(salt + data).hexdigest()


def commit_dates(folder: Path, warn: Warn) -> dict[str, str]:
    """When git last saw each note change, as ``YYYY-MM-DD`` by path; empty without git.

    Files with changes that are not committed are left out: their own time is the truth.

    Args:
        folder: The vault.
        warn: Told when git does not want to look at it.
    """

    def git(*args: str) -> str:
        try:
            done = subprocess.run(  # noqa: S603
                ["git", "-c", "core.quotePath=false", "-C", str(folder), *args],  # noqa: S607
                capture_output=True,
                timeout=60,
                check=False,
                env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"},
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        if b"dubious ownership" in done.stderr:
            # For a person to trust: a repository's configuration may name programs to run.
            line = f"git config --global --add safe.directory {shlex.quote(str(folder))}"
            warn(
                WarningMessage(
                    "git_dates", f"{folder} belongs to another user, so git is silent: {line}"
                )
            )
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""

    log = git("log", "--format=%x00%cs", "--name-only", "--relative", "--", ".")
    if not log:
        return {}
    found: dict[str, str] = {}
    for commit in log.split("\0")[1:]:
        day, *names = commit.split("\n")
        for name in names:
            if name:
                found.setdefault(name, day)
    for line in git("status", "--porcelain", "-z", "--", ".").split("\0"):
        # Paths here are relative to the repository: drop every note that ends so.
        changed = line[3:]
        for name in [n for n in found if changed.endswith(n)]:
            del found[name]
    return found


class Rules:
    """Patterns as in a ``.gitignore``; the last one that fits decides.

    Args:
        patterns: One a line; ``#`` starts a comment, ``!`` takes back, a ``/`` at the end means
            folders, one elsewhere ties the pattern to the vault's root, ``**`` is any folders.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._rules = [rule for line in patterns if (rule := _rule(line))]

    def excludes(self, source: str, *, folder: bool) -> bool:
        """Whether a path in the vault is excluded (its parents are not looked at)."""
        result = False
        for pattern, negated, only_folders in self._rules:
            if (folder or not only_folders) and pattern.fullmatch(source):
                result = not negated
        return result


@lru_cache(maxsize=512)
def _rule(line: str) -> tuple[re.Pattern[str], bool, bool] | None:
    text = line.rstrip()
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text.removeprefix("!").removeprefix("\\")
    only_folders = text.endswith("/")
    text = text.rstrip("/")
    tied = "/" in text
    text = text.removeprefix("/")
    out = "" if tied else "(?:.*/)?"
    at = 0
    while at < len(text):
        if text.startswith("**/", at):
            out, at = out + "(?:.*/)?", at + 3
        elif text.startswith("**", at):
            out, at = out + ".*", at + 2
        elif text[at] == "*":
            out, at = out + "[^/]*", at + 1
        elif text[at] == "?":
            out, at = out + "[^/]", at + 1
        elif text[at] == "[" and (end := text.find("]", at + 2)) > 0:
            inner = text[at + 1 : end].replace("\\", "\\\\")
            inner = "^" + inner[1:] if inner.startswith("!") else inner
            out, at = out + f"[{inner}]", end + 1
        else:
            out, at = out + re.escape(text[at]), at + 1
    try:
        return re.compile(out, re.DOTALL), negated, only_folders
    except re.error:
        return None
