"""What a kiwix-serve says that it serves: the one reader of its catalog (OPDS v2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from infoforge.text import xmltree
from infoforge.text.parse import integer

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

PATH = "/catalog/v2/entries?count=-1"
"""Without the count it lists ten books."""
BODY_LIMIT = 32 << 20
"""Bytes of a served catalog; a thousand books have about two million."""
_ENTRY = re.compile(rb"<entry\b.*?</entry\s*>", re.DOTALL)


class CatalogError(Exception):
    """There is no list of books; one line says why.

    Attributes:
        status: The HTTP status; 0 when there was no HTTP answer.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class ServedBook:
    """A book of the catalog.

    Attributes:
        uuid: The ZIM's own UUID, lower case.
        title: Title for people; may be empty.
        url: Where its pages are; empty when the catalog does not say.
        languages: Codes as the catalog has them.
        tags: Kiwix's tags, joined by semicolons.
        articles: Number of articles, 0 when unknown.
        issued: Date of issue, or of the last change.
    """

    uuid: str
    title: str
    url: str
    languages: str
    tags: str
    articles: int
    issued: str


def fetch(base: str, *, seconds: float, allow_public: bool, what: str) -> list[ServedBook]:
    """Read the catalog of a kiwix-serve.

    Args:
        base: The server's URL.
        seconds: Time for all of it.
        allow_public: Whether it may be on a public address.
        what: Whose connection it is, for the message of an address that is refused.

    Raises:
        CatalogError: It does not answer, or answers no catalog.
    """
    from infoforge import net

    try:
        reply = net.get(
            base.rstrip("/") + PATH,
            total=seconds,
            limit=BODY_LIMIT,
            allow_public=allow_public,
            what=what,
        )
    except net.NetworkError as error:
        raise CatalogError(error.message) from error
    return books(reply.status, reply.body, base)


def books(status: int, body: bytes, base: str) -> list[ServedBook]:
    """The books of a reply; an entry that cannot be read costs that book alone.

    Args:
        status: The reply's HTTP status.
        body: Its body.
        base: The server's URL, for relative links.

    Raises:
        CatalogError: It is no catalog.
    """
    if status != 200:
        raise CatalogError(f"no catalog (HTTP {status}): not kiwix-serve?", status)
    try:
        found, _ = entries(body)
    except xmltree.BadXML as error:
        raise CatalogError(f"no catalog: not kiwix-serve? ({error})", status) from error
    return [_book(entry, base) for entry in found]


def entries(body: bytes) -> tuple[list[Element], int]:
    """The entries of an OPDS feed, also of a broken one, and how many are lost.

    Raises:
        BadXML: It is no feed.
    """
    try:
        root = xmltree.parse(body)
    except xmltree.BadXML:
        # One entry that cannot be mended must not hide the others.
        blocks = _ENTRY.findall(body) if b"<feed" in body[:4096] else []
        if not blocks:
            raise
        found, lost = [], 0
        for block in blocks:
            try:
                wrapped = b'<feed xmlns:dc="http://purl.org/dc/terms/">' + block + b"</feed>"
                found.append(xmltree.parse(wrapped)[0])
            except xmltree.BadXML:
                lost += 1
        return found, lost
    if xmltree.local(root.tag) != "feed":
        raise xmltree.BadXML(f"it is <{xmltree.local(root.tag)}>")
    return [element for element in root if xmltree.local(element.tag) == "entry"], 0


def _book(entry: Element, base: str) -> ServedBook:
    text = xmltree.child_text
    link = ""
    for node in entry:
        if xmltree.local(node.tag) == "link" and node.get("type") == "text/html":
            link = node.get("href", "").strip()
    try:
        url = urljoin(base.rstrip("/") + "/", link).rstrip("/") if link else ""
    except ValueError:
        url = ""
    return ServedBook(
        uuid=text(entry, "id").removeprefix("urn:uuid:").lower(),
        title=text(entry, "title"),
        url=url,
        languages=text(entry, "language"),
        tags=text(entry, "tags"),
        articles=integer(text(entry, "articleCount")),
        issued=text(entry, "issued") or text(entry, "updated"),
    )
