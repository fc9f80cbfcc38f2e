"""A ``.meta4`` (RFC 5854): size, hashes and mirrors of one file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree as ET

from infoforge.contract import CheckFailed
from infoforge.text import xmltree
from infoforge.text.parse import integer

_HASHES = {"md5": ("md5", 32), "sha-1": ("sha1", 40), "sha-256": ("sha256", 64)}
# A piece is held in memory while it is looked at.
_LARGEST_PIECE = 64 << 20
_LAST = 999_999
"""RFC 5854: a URL without a priority comes last."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Hashes of equal pieces of a file: they tell which part is wrong, not whether to trust it.

    Attributes:
        length: Bytes of a piece (the last one may be shorter).
        algorithm: Name for ``hashlib``.
        hashes: Hex digests in order.
    """

    length: int
    algorithm: str
    hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Metalink:
    """What a metalink says of a file.

    Attributes:
        file: The name it gives; empty when it gives none.
        size: Bytes, 0 when not said.
        sha256: Hex digest, empty when not said.
        pieces: ``None`` when not said, or when their count does not fit the size.
        mirrors: http and https URLs, best priority first.
    """

    file: str
    size: int
    sha256: str
    pieces: Pieces | None
    mirrors: tuple[str, ...]


def parse_metalink(body: bytes, base: str, file: str) -> Metalink:
    """Read a metalink.

    Args:
        body: The document.
        base: Where it came from, for relative URLs and for messages.
        file: The file that is wanted, when it describes several.

    Raises:
        CheckFailed: It is no metalink, or describes no such file.
    """
    try:
        root = xmltree.parse(body)
    except xmltree.BadXML as error:
        raise CheckFailed(f"{base} is no metalink: {error}", code="metalink") from error
    files = [e for e in root.iter() if xmltree.local(e.tag) == "file"]
    if not files:
        raise CheckFailed(f"{base} is no metalink: it describes no file", code="metalink")
    chosen = next((f for f in files if f.get("name") == file), files[0])
    size = xmltree.child_text(chosen, "size")
    length = integer(size)
    return Metalink(
        file=chosen.get("name", ""),
        size=length,
        sha256=_sha256(chosen),
        pieces=_pieces(chosen, length),
        mirrors=_mirrors(chosen, base),
    )


def parse_sha256(body: bytes, file: str) -> str:
    """Read a ``.sha256`` file: a digest alone, or lines of digest and file name.

    Returns:
        The hex digest; empty when there is none for this file.
    """
    digest = ""
    for line in body.decode("utf-8", "replace").splitlines():
        words = line.split()
        if not words or not re.fullmatch(r"[0-9a-fA-F]{64}", words[0]):
            continue
        if len(words) > 1 and words[1].lstrip("*").rsplit("/", 1)[-1] == file:
            return words[0].lower()
        if len(words) == 1:
            digest = words[0].lower()
    return digest


def _sha256(file: ET.Element) -> str:
    for element in file:
        if xmltree.local(element.tag) == "hash" and _kind(element) == "sha-256":
            digest = (element.text or "").strip().lower()
            if re.fullmatch(r"[0-9a-f]{64}", digest):
                return digest
    return ""


def _kind(element: ET.Element) -> str:
    """The hash type, in the way of the registry (``sha-256``)."""
    kind = element.get("type", "").lower()
    return re.sub(r"^sha(\d)", r"sha-\1", kind)


def _pieces(file: ET.Element, size: int) -> Pieces | None:
    for element in file:
        if xmltree.local(element.tag) != "pieces" or _kind(element) not in _HASHES:
            continue
        algorithm, digits = _HASHES[_kind(element)]
        text = element.get("length", "")
        length = integer(text)
        hashes = tuple(
            (e.text or "").strip().lower() for e in element if xmltree.local(e.tag) == "hash"
        )
        fits = 0 < length <= _LARGEST_PIECE and len(hashes) == -(-size // length)
        if fits and all(re.fullmatch(rf"[0-9a-f]{{{digits}}}", h) for h in hashes):
            return Pieces(length, algorithm, hashes)
    return None


def _mirrors(file: ET.Element, base: str) -> tuple[str, ...]:
    found: list[tuple[int, str]] = []
    for element in file:
        if xmltree.local(element.tag) != "url":
            continue
        try:
            url = urljoin(base, (element.text or "").strip())
            usable = urlsplit(url).scheme in {"http", "https"}
        except ValueError:
            continue
        if usable:
            found.append((integer(element.get("priority", ""), _LAST, most=_LAST), url))
    found.sort(key=lambda pair: pair[0])
    return tuple(dict.fromkeys(url for _, url in found))
