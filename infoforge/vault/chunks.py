"""A note to chunks, each no longer than the embedding model reads: nothing is ever cut silently."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from infoforge.vault.notes import Note, NoteBlock

VERSION = 2
"""Raised when chunks change: every note is then indexed again."""

Count = Callable[[Sequence[str]], list[int]]
"""Tokens of each text by the model's own tokenizer."""

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")
_HEAD_SHARE = 0.4
"""Most of the window that the heading path may take."""
_LEAST = 8
_LONG_TOKEN = 16
"""Characters that a token has at most, nearly always."""
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
"""The second line of a table."""
_JOINT = 2
"""Tokens that a blank line between two blocks costs at most."""


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
    groups: list[tuple[tuple[str, ...], list[NoteBlock]]] = []
    for block in note.blocks:
        if not groups or groups[-1][0] != block.headings:
            groups.append((block.headings, []))
        groups[-1][1].append(block)
    if not groups:
        groups.append(((), [NoteBlock((), "text", note.title)]))
    extra = ", ".join([*note.aliases, *note.tags])
    heads = _heads(
        [
            _spellings((note.title, *headings), "" if place else extra)
            for place, (headings, _) in enumerate(groups)
        ],
        count,
        window,
    )
    # Few large calls: a tokenizer takes as long to begin as for a paragraph.
    taken = count([head + "\n" for head in heads])
    sizes = iter(count([block.text for _, blocks in groups for block in blocks]))
    for (headings, blocks), head, used in zip(groups, heads, taken, strict=True):
        path = " > ".join((note.title, *headings))
        for text in _packed([(b, next(sizes)) for b in blocks], count, window - used):
            embedded = f"{head}\n{text}"
            digest = hashlib.sha256(embedded.encode()).hexdigest()
            found.append(Chunk(path, text, embedded, digest))
    return tuple(found)


def _spellings(path: Sequence[str], extra: str) -> list[str]:
    """A heading path as the model may read it, from the fullest to the innermost heading alone."""
    texts = [" > ".join(path)]
    if extra:
        texts.insert(0, f"{texts[0]} ({extra})")
    if len(path) > 2:
        texts.append(f"{path[0]} > {path[-1]}")
    return [*texts, path[-1]]


def _heads(paths: Sequence[Sequence[str]], count: Count, window: int) -> list[str]:
    """The fullest spelling of each path that leaves room enough for the text."""
    most = max(_LEAST, int(window * _HEAD_SHARE))
    heads = []
    for texts, size in zip(paths, count([texts[0] for texts in paths]), strict=True):
        if size <= most:
            heads.append(texts[0])
            continue
        fitting = [text for text in texts[1:] if count([text])[0] <= most]
        heads.append(fitting[0] if fitting else _pieces(texts[-1], count, most)[0])
    return heads


def _packed(blocks: Sequence[tuple[NoteBlock, int]], count: Count, room: int) -> list[str]:
    """Texts of whole blocks, each no longer than the room; blocks come with their tokens."""
    groups: list[list[tuple[str, str]]] = []
    unsure: set[int] = set()
    parts: list[tuple[str, str]] = []
    used = 0

    def close() -> None:
        # Counts of parts add up for word pieces; for other tokenizers a joint may cost something.
        if used + _JOINT * (len(parts) - 1) > room:
            unsure.add(len(groups))
        groups.append(parts)

    for block, size in blocks:
        if used + size > room and parts:
            close()
            parts, used = [], 0
        if size <= room:
            parts.append((block.kind, block.text))
            used += size
        else:
            cut = _cut(block, count, room)
            unsure.update(range(len(groups), len(groups) + len(cut)))
            groups += [[(block.kind, text)] for text in cut]
    if parts:
        close()
    texts = ["\n\n".join(text for _, text in group) for group in groups]
    if not unsure:
        return texts
    places = sorted(unsure)
    lengths = dict(zip(places, count([texts[place] for place in places]), strict=True))
    found: list[str] = []
    for place, (text, group) in enumerate(zip(texts, groups, strict=True)):
        if lengths.get(place, 0) <= room:
            found.append(text)
            continue
        for kind, part in group:
            found += _slices(part, count, room) if kind == "code" else _pieces(part, count, room)
    return found


def _cut(block: NoteBlock, count: Count, room: int) -> list[str]:
    """A block that does not fit whole, by its lines; those of a paragraph by its sentences."""
    lines = block.text.split("\n")
    if block.kind == "text":
        lines = [part for line in lines for part in _SENTENCE.split(line)]
    if block.kind == "table" and len(lines) > 2 and _RULE.match(lines[1]):
        header = "\n".join(lines[:2])
        taken = count([header + "\n"])[0] + _JOINT
        if taken <= room * _HEAD_SHARE:
            rows = _joined(lines[2:], "\n", count, room - taken)
            return [f"{header}\n{part}" for part in rows]
    by = " " if block.kind == "text" else "\n"
    return _joined(lines, by, count, room, verbatim=block.kind == "code")


def _joined(
    parts: Sequence[str], by: str, count: Count, room: int, *, verbatim: bool = False
) -> list[str]:
    """Parts joined again, as many as fit; a part that is too long alone goes by its words."""
    found: list[str] = []
    open_parts: list[str] = []
    used = 0
    for part, size in zip(parts, count(list(parts)), strict=True):
        if open_parts and used + size > room:
            found.append(by.join(open_parts))
            open_parts, used = [], 0
        if size > room:
            found += _slices(part, count, room) if verbatim else _pieces(part, count, room)
        else:
            open_parts.append(part)
            used += size
    if open_parts:
        found.append(by.join(open_parts))
    return [text for text in found if text.strip()]


def _slices(text: str, count: Count, room: int) -> list[str]:
    """Code in pieces that are put together again by writing one after the other."""
    found = []
    while text:
        size = min(len(text), room * _LONG_TOKEN)
        while size > 1 and count([text[:size]])[0] > room:
            size //= 2
        if size < len(text):
            ends = (text.rfind(mark, size // 2, size) + 1 for mark in "\n ")
            size = next((end for end in ends if end), size)
        found.append(text[:size])
        text = text[size:]
    return [part for part in found if part.strip()]


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
    lengths = count(words)
    # A blank costs nothing in word pieces; where it costs something, one token is enough.
    found = _filled(words, lengths, room, 0)
    return found if max(count(found)) <= room else _filled(words, lengths, room, 1)


def _filled(words: Sequence[str], lengths: Sequence[int], room: int, blank: int) -> list[str]:
    """Words joined by blanks, as many as fit, where a blank costs so many tokens."""
    found: list[str] = []
    parts: list[str] = []
    used = 0
    for word, length in zip(words, lengths, strict=True):
        if parts and used + blank + length > room:
            found.append(" ".join(parts))
            parts, used = [], 0
        used += length + (blank if parts else 0)
        parts.append(word)
    found.append(" ".join(parts))
    return found
