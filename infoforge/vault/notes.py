"""One note: its front matter, its date, its blocks under their headings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from infoforge.text import markdown

LARGEST = 1_000_000
"""Bytes of the largest note; a longer file is no note."""

BY_AGENT = " (written by an agent)"
"""Behind the title of a note whose front matter says ``source: agent``: `vault learn` writes that,
and it stays when a person keeps the note. Every citation and every prompt shows the title."""

_BLOCK_ID = re.compile(r"[ \t]+\^[\w-]+[ \t]*$", re.MULTILINE)


class NotANote(Exception):
    """A file that cannot be a note; the message says why."""


@dataclass(frozen=True, slots=True)
class NoteBlock:
    """A paragraph, list, table or code block.

    Attributes:
        headings: The headings it stands under, outermost first; the note's own title left out.
        kind: ``text``, ``table`` or ``code``.
        text: Its text; links of ``text`` and ``table`` are made plain, code is verbatim.
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
        problem: Why its front matter is not valid; empty when it is.
    """

    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    date: str
    links: tuple[str, ...]
    blocks: tuple[NoteBlock, ...]
    problem: str = ""


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
    front = markdown.front_matter(text)
    title = front.line("title")
    found = list(markdown.blocks(text[front.length :]))
    if "excalidraw-plugin" in front.values or name.endswith(".excalidraw"):
        found = _drawing(found)
        name = name.removesuffix(".excalidraw")
    reader = _NoteReader(titled=bool(title))
    for block in found:
        reader.add(block)
    reader.end()
    links = [
        link
        for block in found
        if block.kind != "code"
        for link in markdown.wiki_links(block.text)
        if link
    ]
    title = title or reader.title or name.replace("-", " ").replace("_", " ").strip() or name
    if front.line("source").casefold() == "agent":
        title += BY_AGENT
    return Note(
        title=title,
        aliases=front.names("aliases", "alias"),
        tags=tuple(tag.lstrip("#") for tag in front.names("tags", "tag", blanks=True)),
        date=front.date(),
        links=tuple(dict.fromkeys(links)),
        blocks=tuple(reader.blocks),
        problem=front.problem,
    )


def _drawing(blocks: list[markdown.Block]) -> list[markdown.Block]:
    """What a person wrote in an Excalidraw drawing; the rest is data of the program."""
    found: list[markdown.Block] = []
    inside = False
    for block in blocks:
        if block.kind == "heading":
            inside = block.text == "Text Elements"
        elif inside and block.kind != "code" and block.text.strip() != "%%":
            found.append(markdown.Block(block.kind, _BLOCK_ID.sub("", block.text)))
    return found


class _NoteReader:
    """Blocks under their headings, one pass."""

    def __init__(self, *, titled: bool) -> None:
        self.titled = titled
        self.title = ""
        self.path: list[tuple[int, str]] = []
        self.blocks: list[NoteBlock] = []
        self.bare = False  # a heading with nothing under it yet

    def add(self, block: markdown.Block) -> None:
        if block.kind == "heading":
            self._heading(block.level, markdown.plain(block.text))
            return
        text = block.text
        if block.kind != "code":
            text = markdown.plain(text, block.kind)
        if text.strip():
            self.blocks.append(NoteBlock(self._headings(), block.kind, text))
            self.bare = False

    def end(self) -> None:
        if self.bare:
            self.blocks.append(NoteBlock(self._headings(), "text", self.path[-1][1]))

    def _headings(self) -> tuple[str, ...]:
        return tuple(text for _, text in self.path)

    def _heading(self, level: int, text: str) -> None:
        if level == 1 and not self.title and not self.blocks and not self.path:
            self.title = text
            if not self.titled:
                return
        if self.bare and level <= self.path[-1][0]:
            self.blocks.append(NoteBlock(self._headings(), "text", self.path[-1][1]))
            self.bare = False
        while self.path and self.path[-1][0] >= level:
            self.path.pop()
        if text:
            self.path.append((level, text))
            self.bare = True
