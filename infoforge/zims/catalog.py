"""Kiwix's catalog (OPDS v2): what there is to be had, and which of it was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree as ET

from infoforge import kiwix_catalog, net
from infoforge.contract import CheckFailed, InfoForgeError, UsageError, Warn, WarningMessage
from infoforge.text import xmltree
from infoforge.text.languages import alpha2, alpha3
from infoforge.text.parse import integer
from infoforge.zims.names import NEWEST, Wanted, edition, file_name, stable_name
from infoforge.zims.net import get_document

if TYPE_CHECKING:
    from infoforge.net import Session

_FEED_LIMIT = 256 << 20
_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One ZIM of the catalog.

    Attributes:
        name: The catalog's name (``wikipedia_en_all``), shared by flavours and editions.
        flavour: ``maxi``, ``nopic``, ``mini`` or empty.
        languages: ISO 639-1 codes where one exists, else 639-3.
        date: ``YYYY-MM`` of the file name, else of the date of issue; empty when unknown.
        size: Bytes, as the catalog has it (it rounds); 0 when unknown.
        url: Where it is, as given; empty when the catalog only describes it.
        file: The file name in the URL; empty without a URL.
        uuid: The ZIM's own UUID.
        problem: Why it cannot be downloaded; empty when it can.
    """

    name: str
    flavour: str
    title: str
    description: str
    languages: tuple[str, ...]
    date: str
    size: int
    articles: int
    url: str
    file: str
    uuid: str
    problem: str = ""

    @property
    def ident(self) -> str:
        """How to ask for it: ``name`` or ``name:flavour``."""
        return f"{self.name}:{self.flavour}" if self.flavour else self.name

    @property
    def stable(self) -> str:
        """The name without the date that its file will have."""
        return stable_name(self.file)


def fetch_catalog(
    session: Session, url: str, warn: Warn, **filters: str
) -> tuple[CatalogEntry, ...]:
    """The entries of the catalog that can be downloaded; as `fetch_entries`."""
    entries = fetch_entries(session, url, warn, **filters)
    return tuple(entry for entry in entries if not entry.problem)


def fetch_entries(
    session: Session, url: str, warn: Warn, **filters: str
) -> tuple[CatalogEntry, ...]:
    """Read the catalog.

    Args:
        session: From `net.public_session`.
        url: The feed's address; a query in it is kept.
        warn: Told of entries that could not be read.
        filters: The server's own filters (``lang``, ``maxsize``, ``name``).

    Returns:
        All entries, in the order of the feed.

    Raises:
        CheckFailed: No answer, or no feed.
    """
    # count=-1: the server's default is ten entries.
    document = get_document(
        session, url, limit=_FEED_LIMIT, timeout=_TIMEOUT, params={"count": "-1", **filters}
    )
    entries, lost = parse_feed(document.body, document.url)
    net.named(session, document.url, (entry.url for entry in entries))
    if lost:
        warn(
            WarningMessage(
                "catalog_entries", f"{lost} entries of the catalog cannot be read: left out"
            )
        )
    return entries


def parse_feed(body: bytes, base: str) -> tuple[tuple[CatalogEntry, ...], int]:
    """Read an OPDS feed, also a broken one.

    Args:
        body: The document.
        base: Where it came from, for relative URLs and messages.

    Returns:
        The entries, and how many had to be left out.

    Raises:
        CheckFailed: It is no feed.
    """
    try:
        elements, lost = kiwix_catalog.entries(body)
    except xmltree.BadXML as error:
        raise CheckFailed(f"{base} is no catalog: {error}", "check catalog.url") from error
    found = []
    for element in elements:
        try:
            found.append(_entry(element, base))
        except ValueError:  # an address that is none
            lost += 1
    return tuple(found), lost


def _entry(element: ET.Element, base: str) -> CatalogEntry:
    url, size, file, problem = "", 0, "", "it has no link to a ZIM file"
    for link in element:
        if xmltree.local(link.tag) == "link" and link.get("type") == "application/x-zim":
            url = link.get("href", "").strip()
            size = integer(link.get("length", ""))
            break
    if url:
        try:
            url = urljoin(base, url)
            plain = urlsplit(url).scheme in {"http", "https"}
            problem = "" if plain else f"its address is not one of http or https: {url}"
            file = file_name(url) if plain else ""
        except UsageError as error:
            problem = error.message
        except ValueError:
            problem = f"its address is none: {url}"
    text = xmltree.child_text
    languages = re.split(r"[,;\s]+", text(element, "language"))
    return CatalogEntry(
        name=text(element, "name") or stable_name(file),
        flavour=text(element, "flavour"),
        title=text(element, "title"),
        description=text(element, "summary"),
        languages=tuple(dict.fromkeys(alpha2(code) for code in languages if code)),
        date=edition(file) or (text(element, "issued") or text(element, "updated"))[:7],
        size=size,
        articles=integer(text(element, "articleCount")),
        url=url if file else "",
        file=file,
        uuid=text(element, "id").removeprefix("urn:uuid:").lower(),
        problem=problem,
    )


def search(
    entries: Iterable[CatalogEntry],
    words: Sequence[str],
    *,
    language: str = "",
    flavour: str = "",
    max_size: int = 0,
) -> list[CatalogEntry]:
    """The entries that fit, by name, newest first among editions.

    Args:
        entries: The catalog.
        words: Every one must stand in name, title, description or file name.
        language: ISO 639-1 or 639-3 code.
        flavour: The flavour; empty for any.
        max_size: Bytes; 0 for no limit.
    """
    wanted = [word.casefold() for word in words]
    code = alpha2(language) if language else ""

    def fits(entry: CatalogEntry) -> bool:
        hay = f"{entry.name} {entry.title} {entry.description} {entry.file}".casefold()
        return (
            all(word in hay for word in wanted)
            and (not code or code in entry.languages)
            and (not flavour or entry.flavour.casefold() == flavour.casefold())
            and (not max_size or entry.size <= max_size)
        )

    found = [entry for entry in entries if fits(entry)]
    found.sort(key=lambda e: e.date, reverse=True)
    found.sort(key=lambda e: (e.name, e.flavour))
    return found


def server_filters(language: str, max_size: int) -> dict[str, str]:
    """The filters that the server is asked to apply, to spare the line."""
    filters = {}
    if language and len(alpha3(language)) == 3:
        filters["lang"] = alpha3(language)
    if max_size:
        filters["maxsize"] = str(max_size)
    return filters


def choose(entries: Iterable[CatalogEntry], wanted: Wanted) -> CatalogEntry:
    """The one entry that was meant: newest, or of the wanted period where the catalog has it.

    Args:
        entries: The catalog, or the part of it that bears the name.
        wanted: What was asked for.

    Returns:
        The entry. When a period is wanted that the catalog does not list (it lists the newest
        alone), the newest entry: its neighbour may still be on the mirrors.

    Raises:
        CheckFailed: No such ZIM.
        UsageError: Several flavours fit; they are named.
    """
    every = list(entries)
    key = wanted.name.casefold()
    found = [e for e in every if e.name.casefold() == key]
    if wanted.flavour:
        found = [e for e in found if e.flavour.casefold() == wanted.flavour.casefold()]
    else:
        # A file's stable name says the flavour too (wikipedia_en_all_nopic).
        found = [e for e in every if e.stable.casefold() == key] or found
    if not found:
        raise _unknown(every, wanted)
    flavours = sorted({e.flavour for e in found})
    if len(flavours) > 1:
        if "" not in flavours:
            names = ", ".join(f"{wanted.name}:{flavour}" for flavour in flavours)
            raise UsageError(f"{wanted.name} comes in several flavours", f"choose one of {names}")
        found = [e for e in found if not e.flavour]
    if wanted.period and wanted.period != NEWEST:
        found = [e for e in found if e.date == wanted.period] or found
    return max(found, key=lambda e: e.date)


def _unknown(entries: list[CatalogEntry], wanted: Wanted) -> InfoForgeError:
    import difflib

    same = sorted({e.ident for e in entries if e.name.casefold() == wanted.name.casefold()})
    names = sorted({e.ident for e in entries})
    near = same or difflib.get_close_matches(wanted.name, names, 3)
    hint = f"did you mean {' or '.join(near[:6])}?" if near else "see infoforge zims available"
    return CheckFailed(f"the catalog has no {wanted.text}", hint, code="not_in_catalog")
