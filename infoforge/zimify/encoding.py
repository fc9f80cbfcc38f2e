"""Bytes become text, whatever wrote them."""

from __future__ import annotations

import codecs
import re

from infoforge.zimify.charset import guess

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
_UNLIKELY = (
    "mac_roman", "mac_latin2", "mac_cyrillic", "mac_greek", "mac_turkish", "mac_iceland",
    "shift_jis_2004", "shift_jisx0213", "euc_jis_2004", "euc_jisx0213", "johab", "hz", "utf_7",
    "cp1125", "kz1048", "ptcp154",
)  # fmt: skip
"""Encodings that no program of today writes, and that fit many texts in another one."""
JAPANESE_MAIL = "\x1b$B"
"""What begins Japanese in ISO-2022-JP, which is ASCII otherwise."""
FEW = 24
"""Fewer bytes say nothing of their encoding; Windows-1252 is the likeliest."""


def detect(sample: bytes, declared: str = "", language: str = "") -> str:
    """The encoding of a text.

    Args:
        sample: The start of the text; it may end inside a character.
        declared: What the document says of itself; believed unless the bytes are valid UTF-8.
        language: ISO 639-1 code of the language that is expected.

    Returns:
        A name that Python's codecs know.
    """
    for bom, name in _BOMS:
        if sample.startswith(bom):
            return name
    if JAPANESE_MAIL.encode() in sample:
        return "iso2022_jp"
    if is_utf8(sample):
        return "utf-8"
    if declared:
        try:
            name = codecs.lookup(declared).name
            # Browsers read Latin-1 as Windows-1252, and so do those who write it.
            return "cp1252" if name in ("iso8859-1", "ascii", "latin-1") else name
        except LookupError:
            pass
    if b"\x00" not in sample and (name := guess(sample, language)):
        return name
    from charset_normalizer import from_bytes

    # Text without a NUL is UTF-16 or UTF-32 only by an odd chance, and likely a guess on few bytes.
    wide = [] if b"\x00" in sample else ["utf_16", "utf_16_le", "utf_16_be", "utf_32"]
    excluded = [*wide, *_UNLIKELY]
    best = from_bytes(sample[:SAMPLE], cp_exclusion=excluded).best() if len(sample) > FEW else None
    return best.encoding if best is not None else "cp1252"


def is_utf8(sample: bytes) -> bool:
    """Whether the bytes are UTF-8; a character cut off at the end of a sample is no fault."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    # A text in another encoding may end with a byte that begins a character here.
    whole = len(text.encode()) == len(sample)
    return whole or len(sample) >= SAMPLE or not text.isascii()


def declared_in(head: bytes) -> str:
    """The encoding that a piece of HTML or XML declares, or an empty text."""
    match = _DECLARED.search(head[:4096])
    return match.group(1).decode("ascii") if match else ""


def decode(data: bytes, declared: str = "", language: str = "") -> str:
    """Text of the bytes; what cannot be decoded becomes U+FFFD, NUL is dropped."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    if not text or "\x00" in text[:64] or JAPANESE_MAIL in text:
        text = data.decode(detect(data[:SAMPLE], declared, language), "replace")
    return text.replace("\x00", "").replace("\r\n", "\n")
