"""Two opening braces in a row, kept from being read as a template by kiwix-serve.

kiwix-serve (3.3 to 3.7) puts the excerpts of its search results through its template engine once
too often: an excerpt with ``{{`` loses what follows, and where the ``}}`` is cut off the whole
search answers HTTP 500. Templates of Ansible, Helm, Go, Hugo or Vue are full of them. A hidden
input between the braces parts them in the excerpt; neither the page as seen nor what is copied
from it changes.
"""

from __future__ import annotations

import re

PART = b'<input type="hidden">'
_BRACE = rb"(?:\{|&#123;|&#[xX]7[bB];|&lbrace;|&lcub;)"
_TWO = re.compile(_BRACE + rb"(?:<[^<>]*>)*" + _BRACE, re.DOTALL)
_PIECES = re.compile(
    rb"(?P<kept><!--.*?-->|<(?P<raw>script|style|textarea|title|svg|math)\b.*?</(?P=raw)\s*>)"
    rb"|(?P<tag><[a-zA-Z/!?](?:[^<>\"']|\"[^\"]*\"|'[^']*')*>)"
    rb"|(?P<brace>" + _BRACE + rb")"
    rb"|(?P<text>[^<{&]+|.)",
    re.IGNORECASE | re.DOTALL,
)


def part_braces(body: bytes) -> bytes:
    """Part opening braces that stand side by side in the text of a page.

    Args:
        body: HTML in UTF-8.

    Returns:
        The page; the same object when no two braces stand side by side.
    """
    if _TWO.search(body) is None:
        return body
    pieces: list[bytes] = []
    open_before = False
    for match in _PIECES.finditer(body):
        piece = match.group()
        kind = match.lastgroup
        if kind == "brace":
            pieces += (PART, piece) if open_before else (piece,)
            open_before = True
            continue
        if kind == "text":
            open_before = False
        pieces.append(piece)
    return b"".join(pieces)
