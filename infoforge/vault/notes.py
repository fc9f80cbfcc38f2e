"""One note: its front matter, its date, its blocks under their headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

LARGEST = 1_000_000
"""Bytes of the largest note; a longer file is no note."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FRONT = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)^(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.M)
_WIKI = re.compile(r"!?\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")
_LINK = re.compile(
    r"!?\[([^\[\]\n]*)\]\(<?([^()\s<>]+(?:\([^()\s]*\)[^()\s]*)?)>?(?:\s+\"[^\"]*\")?\)"
)
_STARTS = re.compile(r"^\s*(?:[-*+>|]|\d{1,9}[.)]\s|#|$)")
"""What begins a line of its own: list items, quotes, rows."""
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])")
_DATES = ("updated", "modified", "lastmod", "last_modified", "last_reviewed_on", "date", "created")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


class NotANote(Exception):
    """A file that cannot be a note; the message says why."""


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list, table or code block.

    Attributes:
        headings: The headings it stands under, outermost first; the note's own title left out.
        kind: ``text``, ``table`` or ``code``.
        text: Its text; links of ``text`` and ``table`` are made plain.
    """

    headings: tuple[str, ...]
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A note as read.

    Attributes:
        title: Front matter ``title``, else the first level-one heading, else the file's name.
        aliases: Other names of it (front matter).
        tags: Tags without ``#`` (front matter).
        date: The date that it gives itself, as ``YYYY-MM-DD``; empty when it gives none.
        links: Targets of its ``[[links]]``.
        blocks: In order; a heading with nothing under it gives a block of its own text.
    """

    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    date: str
    links: tuple[str, ...]
    blocks: tuple[Block, ...]


def decode(data: bytes) -> str:
    """The text of a note's bytes.

    Raises:
        NotANote: Too large, binary, or not UTF-8.
    """
    if len(data) > LARGEST:
        raise NotANote(f"larger than {LARGEST // 1000} kB")
    if b"\0" in data:
        raise NotANote("binary")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotANote(f"not UTF-8 (byte {error.start})") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse(text: str, name: str) -> Note:
    """Read a note.

    Args:
        text: Its text, as `decode` gives it.
        name: The file's name without suffix, for a note without a title.
    """
    front, body = _front(text)
    links = tuple(dict.fromkeys(m.group(1).split("#")[0].strip() for m in _WIKI.finditer(body)))
    title = _string(front.get("title"))
    blocks, first = _blocks(body, bool(title))
    return Note(
        title=title or first or name.replace("-", " ").replace("_", " ").strip() or name,
        aliases=_strings(front.get("aliases") or front.get("alias")),
        tags=tuple(tag.lstrip("#") for tag in _strings(front.get("tags") or front.get("tag"))),
        date=_date(front),
        links=tuple(link for link in links if link),
        blocks=blocks,
    )


def _front(text: str) -> tuple[dict[str, Any], str]:
    """The front matter and the rest; a front matter that cannot be read is text like any other."""
    match = _FRONT.match(text)
    if match is None:
        return {}, text
    try:
        found: Any
        if match.group(1) == "+++":
            import tomllib

            found = tomllib.loads(match.group(2))
        else:
            import yaml

            found = yaml.safe_load(match.group(2))
    except Exception:  # YAML raises ValueError for dates that are none, and errors of its own
        return {}, text
    if found is None:
        found = {}
    if not isinstance(found, dict):
        return {}, text
    return {str(key).lower(): value for key, value in found.items()}, text[match.end() :]


def _string(value: Any) -> str:  # noqa: ANN401 - whatever stands in a front matter
    return " ".join(str(value).split()) if isinstance(value, (str, int, float, date)) else ""


def _strings(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever stands in a front matter
    if isinstance(value, str):
        value = value.split(",") if "," in value else value.split()
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(dict.fromkeys(text for item in value if (text := _string(item))))


def _date(front: dict[str, Any]) -> str:
    for key in _DATES:
        value = front.get(key)
        if isinstance(value, datetime):
            value = value.astimezone(UTC) if value.tzinfo else value
            return value.date().isoformat()
        if isinstance(value, date):
            return value.isoformat()
        match = _DATE.search(value) if isinstance(value, str) else None
        if match:
            try:
                return date(int(match[1]), int(match[2]), int(match[3])).isoformat()
            except ValueError:
                continue
    return ""


class _Reader:
    """Lines to blocks, one pass."""

    def __init__(self, titled: bool) -> None:
        self.titled = titled
        self.title = ""
        self.path: list[tuple[int, str]] = []
        self.lines: list[str] = []
        self.blocks: list[Block] = []
        self.bare = False  # a heading with nothing under it yet

    def headings(self) -> tuple[str, ...]:
        return tuple(text for _, text in self.path)

    def close(self, kind: str = "text") -> None:
        text = "\n".join(self.lines).strip("\n")
        self.lines = []
        if not text.strip():
            return
        if kind == "text" and all(line.lstrip().startswith("|") for line in text.split("\n")):
            kind = "table"
        if kind != "code":
            text = plain(text)
        if kind == "text":
            text = unwrap(text)
        if text.strip():
            self.blocks.append(Block(self.headings(), kind, text))
            self.bare = False

    def heading(self, level: int, text: str) -> None:
        self.close()
        text = plain(text)
        if level == 1 and not self.title and not self.blocks and not self.path:
            self.title = text
            if not self.titled:
                return
        deeper = bool(self.path) and level > self.path[-1][0]
        if self.bare and not deeper:
            self.blocks.append(Block(self.headings(), "text", self.path[-1][1]))
        while self.path and self.path[-1][0] >= level:
            self.path.pop()
        self.path.append((level, text))
        self.bare = True

    def end(self) -> None:
        self.close()
        if self.bare:
            self.blocks.append(Block(self.headings(), "text", self.path[-1][1]))


def _blocks(body: str, titled: bool) -> tuple[tuple[Block, ...], str]:
    """The blocks, and the first level-one heading."""
    reader = _Reader(titled)
    fence = ""
    for line in _COMMENT.sub("", body).split("\n"):
        match = _FENCE.match(line)
        if fence:
            reader.lines.append(line)
            if match and match.group(1).startswith(fence) and line.strip() == match.group(1):
                fence = ""
                reader.close("code")
            continue
        if match:
            reader.close()
            fence = match.group(1)
            reader.lines.append(line)
            continue
        heading = _HEADING.match(line)
        if heading:
            reader.heading(len(heading.group(1)), heading.group(2))
        elif len(reader.lines) == 1 and _SETEXT.match(line) and reader.lines[0].strip():
            text = reader.lines.pop()
            reader.heading(1 if "=" in line else 2, text.strip())
        elif line.strip():
            reader.lines.append(line)
        else:
            reader.close()
    reader.close("code" if fence else "text")
    reader.end()
    return tuple(reader.blocks), reader.title


def unwrap(text: str) -> str:
    """Lines that an editor wrapped, joined again: a sentence must not end where a line did."""
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and not _STARTS.match(line) and not lines[-1].endswith(("  ", "\\")):
            lines[-1] = f"{lines[-1].rstrip()} {line.lstrip()}"
        else:
            lines.append(line)
    return "\n".join(line.rstrip() for line in lines)


def plain(text: str) -> str:
    """Markdown as a reader sees it: links by their text, addresses of the web kept beside it."""

    def link(match: re.Match[str]) -> str:
        shown, target = match.group(1).strip(), match.group(2)
        outside = target.startswith(("http://", "https://", "mailto:"))
        if not outside or match.group(0).startswith("!"):
            return shown
        return f"{shown} ({target})" if shown and shown != target else target

    text = _WIKI.sub(lambda m: (m.group(2) or m.group(1)).strip(), text)
    text = _LINK.sub(link, text)
    return _EMPHASIS.sub(r"\2", text)
