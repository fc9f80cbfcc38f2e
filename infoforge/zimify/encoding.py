"""Bytes become text, whatever wrote them."""

from __future__ import annotations

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(
    rb"""(?:<meta[^>]{0,200}?charset\s*=\s*["']?|<\?xml[^>]{0,100}?encoding\s*=\s*["'])([\w.:-]+)""",
    re.IGNORECASE,
)
SAMPLE = 65536
"""Bytes that are looked at to find out an encoding."""
FEW = 24
"""Fewer bytes say nothing of their encoding; Windows-1252 is the likeliest."""


def detect(sample: bytes, declared: str = "") -> str:
    """The encoding of a text.

    Args:
        sample: The start of the text; it may end inside a character.
        declared: What the document says of itself; believed unless the bytes are valid UTF-8.

    Returns:
        A name that Python's codecs know.
    """
    for bom, name in _BOMS:
        if sample.startswith(bom):
            return name
    if is_utf8(sample):
        return "utf-8"
    if declared:
        try:
            name = codecs.lookup(declared).name
            # Browsers read Latin-1 as Windows-1252, and so do those who write it.
            return "cp1252" if name in ("iso8859-1", "ascii", "latin-1") else name
        except LookupError:
            pass
    from charset_normalizer import from_bytes

    # Text without a NUL is UTF-16 or UTF-32 only by an odd chance, and likely a guess on few bytes.
    wide = [] if b"\x00" in sample else ["utf_16", "utf_16_le", "utf_16_be", "utf_32"]
    best = from_bytes(sample[:SAMPLE], cp_exclusion=wide).best() if len(sample) > FEW else None
    return best.encoding if best is not None else "cp1252"


def is_utf8(sample: bytes) -> bool:
    """Whether the bytes are UTF-8; a character cut off at their end is no fault."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def declared_in(head: bytes) -> str:
    """The encoding that a piece of HTML or XML declares, or an empty text."""
    match = _DECLARED.search(head[:4096])
    return match.group(1).decode("ascii") if match else ""


def decode(data: bytes, declared: str = "") -> str:
    """Text of the bytes; what cannot be decoded becomes U+FFFD, NUL is dropped."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode(
            detect(data[:SAMPLE] if len(data) > SAMPLE else data, declared), "replace"
        )
    else:
        if text.startswith("\x00") or "\x00" in text[:64]:
            text = data.decode(detect(data[:SAMPLE]), "replace")
    return text.replace("\x00", "").replace("\r\n", "\n")
