"""The first pass: which files a folder has, and what the start of each says of it."""

from __future__ import annotations

import html
import os
import posixpath
import re
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from infoforge.contract import Warn, WarningMessage
from infoforge.text.markdown import front_matter, title_of
from infoforge.zimify.encoding import declared_in, decode
from infoforge.zimify.entries import kind_of
from infoforge.zimify.records import DocumentHead, SourceFile

HIDDEN = (".", "~$")
"""What names start with that are not for readers: hidden files, lock files of office programs."""
JUNK = frozenset({"Thumbs.db", "desktop.ini", "__MACOSX", "__pycache__", "node_modules"})


def walk(
    folder: str,
    exclude: tuple[str, ...],
    warn: Warn,
    skip: str = "",
    *,
    follow_links: bool = False,
    left_out: list[tuple[str, str]] | None = None,
) -> list[SourceFile]:
    """List the files of a folder, sorted by path.

    Hidden files and folders are left out, and so are symbolic links that lead out of the folder. A
    link to a folder inside is followed unless that folder was seen already (a loop, or the same
    files twice).

    Args:
        folder: The folder.
        exclude: Globs, see ``ConversionOptions.exclude``.
        warn: Told about what was left out for a reason other than ``exclude``.
        skip: A file that is not listed (the output itself, when it lies in the folder).
        follow_links: Follow links that lead out of the folder, too.
        left_out: Gets (path, reason) of what was left out for a reason other than ``exclude``.

    Returns:
        The files; every ``rel`` is unique.
    """
    files: list[SourceFile] = []
    taken: set[str] = set()
    skipped = os.path.realpath(skip) if skip else ""
    root = "" if follow_links else os.path.realpath(folder)
    walker = _Walker(root, exclude, warn, [] if left_out is None else left_out)
    walker.seen.add(_identity(Path(folder).stat()))
    for real, rel, status in walker.entries(folder, ""):
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


@dataclass(slots=True)
class _Walker:
    root: str
    """Links stay below it; empty: they may lead anywhere."""
    exclude: tuple[str, ...]
    warn: Warn
    left_out: list[tuple[str, str]]
    seen: set[tuple[int, int]] = field(default_factory=set)

    def entries(self, real: str, rel: str) -> Iterator[tuple[str, str, os.stat_result]]:
        """Path to open, path inside the folder and status of each file."""
        try:
            with os.scandir(real) as listing:
                found = sorted(listing, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            reason = f"cannot be listed: {error.strerror}"
            message = WarningMessage("zimify_folder", f"{rel or real} {reason}")
            self._leave(rel or real, reason, message)
            return
        for entry in found:
            name = _unicode(entry.name)
            path = f"{rel}/{name}" if rel else name
            if name.startswith(HIDDEN) or name in JUNK or _excluded(path, self.exclude):
                continue
            try:
                status = entry.stat()
                outside = self.root and entry.is_symlink() and not self._inside(entry.path)
            except OSError as error:
                self._skip(path, error.strerror or str(error))
                continue
            if outside:
                reason = "a link that leads out of the folder (--follow-links follows it)"
                self._skip(path, reason)
            elif stat.S_ISDIR(status.st_mode):
                identity = _identity(status)
                if identity in self.seen:
                    reason = "this folder was seen already"
                    message = WarningMessage("zimify_loop", f"skipping {path}: {reason}")
                    self._leave(path, reason, message)
                    continue
                self.seen.add(identity)
                yield from self.entries(entry.path, path)
            elif stat.S_ISREG(status.st_mode):
                yield entry.path, path, status
            else:
                self._skip(path, "not a regular file")

    def _inside(self, path: str) -> bool:
        real = os.path.realpath(path)
        return real == self.root or real.startswith(self.root.rstrip("/") + "/")

    def _skip(self, path: str, reason: str) -> None:
        self._leave(path, reason, WarningMessage("zimify_skipped", f"skipping {path}: {reason}"))

    def _leave(self, path: str, reason: str, warning: WarningMessage) -> None:
        self.left_out.append((path, reason))
        self.warn(warning)


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


HEAD_BYTES = 65536

FEW_CHARACTERS = 2000
"""Most notes have their title in so many."""
FEW_PAGES = 5
"""Fewer pages with one tail in their titles may have it by chance."""

_TAIL = re.compile(r"\s+(?:[—–|·»«•-]|::)\s+(?:(?!\s(?:[—–|·»«•-]|::)\s).)+$")
_TITLE = re.compile(r"<title[^>]*>(.{0,1000}?)</title", re.IGNORECASE | re.DOTALL)
_H1 = re.compile(r"<h1[^>]*>(.{0,2000}?)</h1", re.IGNORECASE | re.DOTALL)
_LANG = re.compile(r"<html[^>]{0,500}?\slang\s*=\s*[\"']?([A-Za-z]{2,3})\b", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")


def read_head(file: SourceFile) -> DocumentHead:
    """Read the start of a file.

    Returns:
        What it says; an empty head for kinds that only their reader understands, and for what
        cannot be read (its reader will say why).
    """
    if file.kind not in ("markdown", "html"):
        return DocumentHead()
    try:
        with open(file.real, "rb") as stream:  # noqa: PTH123  (50,000 Path objects cost seconds)
            data = stream.read(HEAD_BYTES)
    except OSError:
        return DocumentHead()
    if file.kind == "html":
        return html_head(decode(_whole_characters(data), declared_in(data)))
    return markdown_head(decode(_whole_characters(data)))


def _whole_characters(data: bytes) -> bytes:
    """Drop a UTF-8 character that the end of the sample cut in two."""
    if len(data) < HEAD_BYTES:
        return data
    for back in range(1, 4):
        if data[-back] >= 0xC0:
            return data[:-back]
        if data[-back] < 0x80:
            break
    return data


def html_head(text: str) -> DocumentHead:
    """Title and language of an HTML page: ``<title>``, else its first ``<h1>``."""
    match = _TITLE.search(text)
    title = plain(match.group(1)) if match else ""
    if not title:
        match = _H1.search(text)
        title = plain(match.group(1)) if match else ""
    language = _LANG.search(text)
    return DocumentHead(title, language=language.group(1).lower() if language else "")


def without_site_name(titles: Sequence[str]) -> list[str]:
    """Titles of one site without the name that most of them end in (``Page — The Handbook``).

    A title is what people search by; the same tail on all of them only makes it longer. A title
    that would be left empty, or is one of few, stays.
    """
    tails = Counter(match.group() for title in titles if (match := _TAIL.search(title)))
    tail, count = tails.most_common(1)[0] if tails else ("", 0)
    if count < FEW_PAGES or count * 2 < len(titles):
        return list(titles)
    return [title.removesuffix(tail).strip() or title for title in titles]


def plain(markup: str) -> str:
    """The text of a scrap of HTML, on one line."""
    return " ".join(html.unescape(_TAG.sub("", markup)).split())


def markdown_head(text: str) -> DocumentHead:
    """Title, aliases and language of a note: its front matter, else its first heading."""
    front = front_matter(text)
    body = text[front.length :]
    return DocumentHead(
        front.line("title") or _first_heading(body),
        front.names("aliases", "alias"),
        front.line("lang", "language").lower()[:12],
        front=len(text) - len(body.lstrip("\n")) if front.length else 0,
        disambiguation=front.values.get("disambiguation") is True,
        problem=front.problem,
    )


def _first_heading(body: str) -> str:
    """The title among the first blocks; the whole sample is read only where it is needed."""
    few = body[: body.rfind("\n\n", 0, FEW_CHARACTERS) + 1]
    title = title_of(few)
    return title if title and re.match(r"\s*#\s", few) else title_of(body)
