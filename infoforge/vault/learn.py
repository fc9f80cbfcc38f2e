"""What agents may leave: one new file at a time, apart from the notes, for a person to look at."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from infoforge.contract import UsageError
from infoforge.files import lock, write_new
from infoforge.text.display import block
from infoforge.vault.errors import VaultError
from infoforge.vault.folder import LEARNINGS

if TYPE_CHECKING:
    from infoforge.config.settings import VaultSettings

LONGEST_TITLE = 100
MOST = 500
"""Learnings that may wait; who never looks at them needs no more."""

_HOUR = 3600
_DATED = re.compile(r"^\d{4}-\d{2}-\d{2} ")
_FORBIDDEN = re.compile(r'[/\\:*?"<>|#^\[\]]')


@dataclass(frozen=True, slots=True)
class Learning:
    """One that waits: its file, title, day (ISO), size in bytes and first line of text."""

    path: Path
    title: str
    date: str
    size: int
    first: str


def folder_of(settings: VaultSettings) -> Path:
    """The folder of learnings.

    Raises:
        VaultError: No vault is configured.
    """
    if settings.folder is None:
        raise VaultError(
            "no vault is configured", "set vault.folder to the folder of notes", code="no_vault"
        )
    return settings.folder / LEARNINGS


def learn(settings: VaultSettings, title: str, text: str, now: datetime) -> Path:
    """Leave a learning: a new file, never one that is there.

    Args:
        settings: The vault's settings.
        title: Becomes the file's name, after the date; letters, digits and blanks above all.
        text: Markdown; control and invisible characters are taken out.
        now: The time that it is dated with.

    Returns:
        The file.

    Raises:
        UsageError: The title cannot be a file's name, is taken, or the text is empty or too long.
        VaultError: Too many in the last hour or waiting, or the folder cannot be written.
    """
    name = _checked_title(title)
    # A person reads it in a terminal or an editor, and a model reads it later.
    body = block(text).strip()
    if not body:
        raise UsageError("the learning is empty", "give its text on standard input")
    day = now.date().isoformat()
    quoted = name.replace("'", "''")
    data = f"---\ntitle: '{quoted}'\ndate: {day}\nsource: agent\n---\n\n{body}\n".encode(
        "utf-8", "replace"
    )
    if len(data) > settings.learn_bytes:
        raise UsageError(
            f"the learning has {len(data)} bytes; {settings.learn_bytes} are allowed",
            "leave the one thing that was learnt, or raise vault.learn_bytes",
        )
    folder = folder_of(settings)
    with _opened(folder) as handle:
        _check_rate(settings, handle)
        for there in os.listdir(handle):  # noqa: PTH208 - of a descriptor
            if _DATED.sub("", there).casefold() == f"{name}.md".casefold():
                raise UsageError(
                    f"a learning of this name is there already: {LEARNINGS}/{there}",
                    "nothing is ever overwritten: choose another title",
                )
        file = f"{day} {name}.md"
        write_new(handle, file, data)
    return folder / file


def waiting(settings: VaultSettings) -> list[Learning]:
    """The learnings that wait for a person, oldest first.

    Raises:
        VaultError: No vault is configured, or the folder cannot be read.
    """
    folder = folder_of(settings)
    found = []
    try:
        paths = sorted(p for p in folder.iterdir() if p.suffix == ".md" and p.is_file())
        for path in paths:
            text = path.read_text("utf-8", "replace")
            body = text.split("\n---\n", 1)[-1] if text.startswith("---\n") else text
            first = next((line.strip() for line in body.splitlines() if line.strip()), "")
            day = path.name[:10] if _DATED.match(path.name) else ""
            found.append(
                Learning(path, _DATED.sub("", path.stem), day, path.stat().st_size, first[:120])
            )
    except FileNotFoundError:
        return found
    except OSError as error:
        raise VaultError(f"{folder} cannot be read: {error.strerror}") from error
    return found


def _checked_title(title: str) -> str:
    name = title.strip()
    hint = "give a short title of letters, digits and blanks: it becomes the name of a new file"
    if not any(c.isalnum() for c in name):
        raise UsageError("the title is empty", hint)
    if _FORBIDDEN.search(name) or not name.isprintable() or name.startswith("."):
        raise UsageError(f"the title {title!r} cannot be the name of a file", hint)
    try:
        size = len(name.encode())
    except UnicodeEncodeError as error:
        raise UsageError("the title is not UTF-8", hint) from error
    if size > LONGEST_TITLE * 2 or len(name) > LONGEST_TITLE:
        raise UsageError(f"the title is longer than {LONGEST_TITLE} characters", hint)
    return " ".join(name.split())


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """The folder, opened and locked; whatever is done goes through it, never through a path."""
    hint = f"make it, as the vault's owner: mkdir {folder} (infoforge vault init does)"
    try:
        # O_NOFOLLOW: a link in its place would lead a new file to anywhere.
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise VaultError(
            f"learnings go into {folder}, which cannot be opened: {error.strerror}",
            hint,
            code="no_learnings",
        ) from error
    try:
        lock(handle)
        yield handle
    except OSError as error:
        raise VaultError(
            f"the learning could not be written: {error.strerror}", f"check: ls -ld {folder}"
        ) from error
    finally:
        os.close(handle)


def _check_rate(settings: VaultSettings, handle: int) -> None:
    now = time.time()
    recent = waiting_now = 0
    for entry in os.scandir(handle):
        waiting_now += 1
        recent += now - entry.stat(follow_symlinks=False).st_mtime < _HOUR
    if recent >= settings.learn_hourly:
        raise VaultError(
            f"{recent} learnings in the last hour; {settings.learn_hourly} are allowed",
            "wait, or put what belongs together into one (vault.learn_hourly)",
            code="learn_rate",
        )
    if waiting_now >= MOST:
        raise VaultError(
            f"{waiting_now} learnings wait for a person; no more are taken",
            "a person looks at them with: infoforge vault review",
            code="learn_full",
        )
