"""A note to chunks, each no longer than the embedding model reads: nothing is ever cut silently."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from infoforge.vault.notes import Block, Note

VERSION = 1
"""Raised when notes must be cut anew."""

Count = Callable[[Sequence[str]], list[int]]
"""Tokens of each text by the model's own tokenizer."""

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")
_HEAD_SHARE = 0.4
"""Most of the window that the heading path may take."""
_LEAST = 8


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a note.

    Attributes:
        heading: Heading path with the note's title first, joined by `` > ``.
        content: The text, as it is shown and quoted.
        embedded: The text that the model reads: heading path, then content.
        digest: SHA-256 of ``embedded``, hexadecimal: equal digests have equal vectors.
    """

    heading: str
    content: str
    embedded: str
    digest: str


def chunks(note: Note, count: Count, window: int) -> tuple[Chunk, ...]:
    """Cut a note into chunks: whole blocks under one heading, as many as fit.

    A block that does not fit alone is cut at its lines, then its sentences, then its words.

    Args:
        note: The note.
        count: Tokens of texts.
        window: Most tokens of a chunk with its heading path.
    """
    found: list[Chunk] = []
    groups: list[tuple[tuple[str, ...], list[Block]]] = []
    for block in note.blocks:
        if not groups or groups[-1][0] != block.headings:
            groups.append((block.headings, []))
        groups[-1][1].append(block)
    if not groups:
        groups.append(((), [Block((), "text", note.title)]))
    extra = ", ".join([*note.aliases, *note.tags])
    for headings, blocks in groups:
        head = _head((note.title, *headings), extra if not found else "", count, window)
        room = window - count([head + "\n"])[0]
        path = " > ".join((note.title, *headings))
        for text in _packed(blocks, count, room):
            embedded = f"{head}\n{text}"
            digest = hashlib.sha256(embedded.encode()).hexdigest()
            found.append(Chunk(path, text, embedded, digest))
    return tuple(found)


def _head(path: Sequence[str], extra: str, count: Count, window: int) -> str:
    """The heading path as the model reads it, outer headings left out when it is too long."""
    most = max(_LEAST, int(window * _HEAD_SHARE))
    texts = [" > ".join(path)]
    if extra:
        texts.insert(0, f"{texts[0]} ({extra})")
    if len(path) > 2:
        texts.append(f"{path[0]} > {path[-1]}")
    texts.append(path[-1])
    for text in texts:
        if count([text])[0] <= most:
            return text
    return _pieces(path[-1], count, most)[0]


def _packed(blocks: Sequence[Block], count: Count, room: int) -> list[str]:
    """Texts of whole blocks, each no longer than the room."""
    sizes = count([block.text for block in blocks])
    found: list[str] = []
    parts: list[str] = []
    used = 0
    for block, size in zip(blocks, sizes, strict=True):
        if used + size > room and parts:
            found.append("\n\n".join(parts))
            parts, used = [], 0
        if size <= room:
            parts.append(block.text)
            used += size
        else:
            found += _cut(block, count, room)
    if parts:
        found.append("\n\n".join(parts))
    # Counts of parts add up for word pieces; for other tokenizers a joint may cost one more.
    lengths = count(found) if found else []
    checked: list[str] = []
    for text, length in zip(found, lengths, strict=True):
        checked += [text] if length <= room else _pieces(text, count, room)
    return checked


def _cut(block: Block, count: Count, room: int) -> list[str]:
    """A block that does not fit whole, by its lines; those of a paragraph by its sentences."""
    lines = block.text.split("\n")
    if block.kind == "text":
        lines = [part for line in lines for part in _SENTENCE.split(line)]
    return _joined(lines, "\n" if block.kind != "text" else " ", count, room)


def _joined(parts: Sequence[str], by: str, count: Count, room: int) -> list[str]:
    """Parts joined again, as many as fit; a part that is too long alone goes by its words."""
    found: list[str] = []
    open_parts: list[str] = []
    used = 0
    for part, size in zip(parts, count(list(parts)), strict=True):
        if open_parts and used + size > room:
            found.append(by.join(open_parts))
            open_parts, used = [], 0
        if size > room:
            found += _pieces(part, count, room)
        else:
            open_parts.append(part)
            used += size
    if open_parts:
        found.append(by.join(open_parts))
    return [text for text in found if text.strip()]


def _pieces(text: str, count: Count, room: int) -> list[str]:
    """Text by words, and a word that is too long by its characters."""
    words: list[str] = []
    for word in text.split():
        if count([word])[0] <= room:
            words.append(word)
            continue
        size = len(word)
        while any(n > room for n in count([word[i : i + size] for i in range(0, len(word), size)])):
            size = max(1, size // 2)
            if size == 1:
                break
        words += [word[i : i + size] for i in range(0, len(word), size)]
    if len(words) <= 1:
        return words or [text]
    found: list[str] = []
    open_words: list[str] = []
    used = 0
    for word, length in zip(words, count(words), strict=True):
        if open_words and used + length > room:
            found.append(" ".join(open_words))
            open_words, used = [], 0
        open_words.append(word)
        used += length
    found.append(" ".join(open_words))
    return found
