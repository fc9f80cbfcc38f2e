"""XML from the network: no entities, broken text mended where it is plain what was meant."""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree as ET

_LOOSE_AMPERSAND = re.compile(
    rb"&(?!(?:#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
)
_NAMED = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_NAMES = {b"amp", b"lt", b"gt", b"quot", b"apos"}
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class BadXML(ValueError):
    """The text is no XML that is taken here; one line says why."""


def parse(body: bytes) -> ET.Element:
    """Parse, and parse again after mending.

    Raises:
        BadXML: It holds a document type (entities could blow it up), or cannot be mended.
    """
    # A NUL: UTF-16, in which the words below would not be seen.
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body or b"\0" in body:
        raise BadXML("it declares a document type or is not UTF-8")
    try:
        return ET.fromstring(body)  # noqa: S314 - no document type, so no entities
    except (ET.ParseError, RecursionError, ValueError, LookupError):
        pass  # an encoding that Python does not know is a LookupError
    try:
        return ET.fromstring(mend(body))  # noqa: S314 - as above
    except (ET.ParseError, RecursionError, ValueError, LookupError) as error:
        raise BadXML(f"it is not well-formed ({error})") from error


def mend(body: bytes) -> bytes:
    """Escape loose ampersands, resolve HTML's named entities, drop control characters."""

    def named(match: re.Match[bytes]) -> bytes:
        if match[1] in _XML_NAMES:
            return match[0]
        text = html.unescape(match[0].decode())
        # A name that HTML does not know either was a loose ampersand with a ';' behind it.
        return b"&amp;" + match[0][1:] if text.startswith("&") else text.encode()

    return _CONTROL.sub(b"", _NAMED.sub(named, _LOOSE_AMPERSAND.sub(b"&amp;", body)))


def local(tag: str) -> str:
    """A tag's name without its namespace."""
    return tag.rsplit("}", 1)[-1]


def child(element: ET.Element, name: str) -> ET.Element | None:
    """The first direct child of that local name."""
    return next((c for c in element if local(c.tag) == name), None)


def child_text(element: ET.Element, name: str) -> str:
    """The text of the first direct child of that local name; empty when there is none."""
    found = child(element, name)
    return "" if found is None else "".join(found.itertext()).strip()
