"""Cut an answer into claims, each with the citations that stand for it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from infoforge.text.sentences import sentences
from infoforge.verification.citations import Citation

_ITEM = re.compile(r"^[ \t>]*(?:[-*•+–]\s+|\(?\d{1,2}[.)]\s+|[a-z][.)]\s+)")
_HEADING = re.compile(
    r"^\s{0,3}#{1,6}\s|^\s*(\*\*|__)[^*_\n]{1,120}\1\s*:?\s*$|^\s*[=\-*_]{3,}\s*$"
)
_ROW = re.compile(r"^\s*\|.*\|\s*$")
_SOURCES_LINE = re.compile(
    r"^[\s\W]*(?:(?:sources?|references?|citations?|quellen?|belege?|fuentes?|referencias?"
    r"|références?|fonti"
    r"|fontes?|bronnen|источники?|来源|參考|参考\w*|出典|المصادر|المصدر)[\s\W]*)?$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"\s*(?:[,;，；、]|(?:and|but|while|whereas|und|aber|während|y|e|pero|mientras|et|mais|tandis|ma|mas|en"
    r"|maar|terwijl|и|а|но)\s)",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"^\W*(?:(?:hello|hi|hey|hallo|hola|bonjour|ciao|olá|guten tag|привет|здравствуйте|你好"
    r"|こんにちは|مرحبا)\b[^.]{0,40}"
    r"|(?:sure|certainly|of course|absolutely|great question|good question|gerne|natürlich"
    r"|klar|claro"
    r"|por supuesto|bien sûr|certo|конечно|当然)\b.{0,60}"
    r"|(?:i hope|let me know|feel free|hope this|please let|ich hoffe|falls sie|espero que"
    r"|no dudes"
    r"|j['’]espère|n['’]hésitez|spero che|надеюсь|希望).{0,140}"
    r"|(?:here (?:is|are|'s)|hier (?:ist|sind)|aquí (?:está|tienes?)|voici|ecco).{0,100}"
    r"|(?:yes|no|ja|nein|sí|oui|non|да|нет|是的?|不是|はい|いいえ|نعم|لا))\W*$",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(slots=True)
class Piece:
    """A statement before it is checked: where it is, and which citations stand for it."""

    start: int
    end: int
    citations: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Block:
    """Lines that belong together: a paragraph, or a list or table with what leads into it."""

    pieces: list[Piece] = field(default_factory=list)
    lead: list[int] = field(default_factory=list)
    listed: bool = False


def cut(answer: str, stated: str, citations: Sequence[Citation]) -> list[Piece]:
    """Cut an answer into claims.

    Args:
        answer: The answer.
        stated: The same text with blanks where citations are, of the same length.
        citations: The citations in it, by where they are.

    Returns:
        Sentences, list items and table rows. Headings, greetings, questions and lines that lead
        into a list are none.
    """
    blocks: list[_Block] = [_Block()]
    starts = [citation.start for citation in citations]
    at = 0
    lines = stated.split("\n")
    in_code = False
    for number, line in enumerate(lines):
        start, at = at, at + len(line) + 1
        written = answer[start : start + len(line)]
        here = citations[bisect_left(starts, start) : bisect_left(starts, start + len(line))]
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if written.lstrip().startswith("```"):
            in_code = not in_code
        elif in_code or _is_frame(line, following):
            continue
        elif here and _SOURCES_LINE.match(_without(line, here, start)):
            _stand_for(blocks, here)
        elif not line.strip():
            if blocks[-1].pieces and not _continues(lines, number):
                blocks.append(_Block())
        elif _HEADING.match(written) and not here:
            blocks.append(_Block())
        else:
            _add(blocks, line, written, start, here)
    for block in blocks:
        _share(block)
    return [piece for block in blocks for piece in block.pieces]


def _is_frame(line: str, following: str) -> bool:
    """Whether a line is a table's head, or the rule below it."""
    return _is_rule(line) or (_is_rule(following) and _ROW.match(line) is not None)


def _is_rule(line: str) -> bool:
    """Whether a line is the rule of a table: ``|---|:--:|``."""
    return "-" in line and "|" in line and not line.strip(" \t|:-")


def _add(
    blocks: list[_Block], line: str, written: str, start: int, here: Sequence[Citation]
) -> None:
    """Add a line to its block, or begin another."""
    row = _ROW.match(line) is not None
    listed = row or _ITEM.match(written) is not None
    if listed and not blocks[-1].listed:
        blocks.append(_Block(lead=blocks[-1].lead, listed=True))
    elif not listed and blocks[-1].listed and not line[:1].isspace():
        blocks.append(_Block())
    pieces, lead = _line(line, start, here, whole=row)
    blocks[-1].pieces += pieces
    if lead is not None:
        blocks[-1].lead = lead


def _continues(lines: Sequence[str], number: int) -> bool:
    """Whether a list goes on, or begins, behind a blank line."""
    following = next((line for line in lines[number + 1 : number + 3] if line.strip()), "")
    return bool(_ITEM.match(following))


def _without(line: str, here: Sequence[Citation], start: int) -> str:
    parts = list(line)
    for citation in here:
        for i in range(citation.start - start, min(citation.end - start, len(parts))):
            parts[i] = " "
    return "".join(parts)


def _stand_for(blocks: Sequence[_Block], here: Sequence[Citation]) -> None:
    """A line of citations alone stands for the paragraph before it."""
    numbers = [n for citation in here for n in citation.numbers]
    for block in reversed(blocks):
        if block.pieces:
            for piece in block.pieces:
                if not piece.citations:
                    piece.citations = list(numbers)
            return


def _line(
    line: str, start: int, here: Sequence[Citation], *, whole: bool
) -> tuple[list[Piece], list[int] | None]:
    """The claims of a line, and the citations of what leads into a list."""
    pieces: list[Piece] = []
    lead: list[int] | None = None
    position = 0
    spans: list[tuple[int, int]] = []
    for sentence in [line.strip()] if whole else sentences(line):
        begin = line.find(sentence, position)
        if begin < 0:
            continue
        position = begin + len(sentence)
        spans += [(begin, position)] if whole else _clauses(line, begin, position, start, here)
    at = 0
    for n, (begin, end) in enumerate(spans):
        # What stands behind the stop, before the next sentence, is this sentence's.
        limit = spans[n + 1][0] if n + 1 < len(spans) else len(line) + 1
        numbers: list[int] = []
        while at < len(here) and here[at].start - start < limit:
            numbers += here[at].numbers
            at += 1
        text = line[begin:end]
        if text.rstrip(" *_").endswith((":", "：")):
            lead = numbers
        elif not _is_small(text):
            pieces.append(Piece(start + begin, start + end, list(dict.fromkeys(numbers))))
        elif numbers and pieces:
            pieces[-1].citations += [n for n in numbers if n not in pieces[-1].citations]
    return pieces, lead


def _clauses(
    line: str, begin: int, end: int, start: int, here: Sequence[Citation]
) -> list[tuple[int, int]]:
    """A sentence cut behind a citation where a clause follows: ``A [1], while B [2]``."""
    spans = []
    for citation in here:
        at = citation.end - start
        clause = len(line[begin:at].split()) >= 3 and len(line[at:end].split()) >= 3
        if begin < at < end and clause and _CLAUSE.match(line[at:end]):
            spans.append((begin, at))
            begin = at
    return [*spans, (begin, end)]


def _is_small(text: str) -> bool:
    """Whether a sentence states nothing: a greeting, a question, marks alone."""
    bare = text.strip(" *_\"'“”«»)]")
    if not any(c.isalnum() for c in bare):
        return True
    return bare.endswith(("?", "？", "؟")) or _SMALL_TALK.match(bare) is not None


def _share(block: _Block) -> None:
    """Give a paragraph's citations to its statements that have none: the next, else the last."""
    if block.listed:
        for piece in block.pieces:
            if not piece.citations:
                piece.citations = list(block.lead)
        return
    following: list[int] = []
    for piece in reversed(block.pieces):
        if piece.citations:
            following = piece.citations
        else:
            piece.citations = list(following)
    before: list[int] = list(block.lead)
    for piece in block.pieces:
        if piece.citations:
            before = piece.citations
        else:
            piece.citations = list(before)
