"""Ask the running server what it serves. An HTTP 200 proves nothing: the books must be listed."""

from __future__ import annotations

import re
from dataclasses import dataclass

from infoforge import net

_LARGEST = 32 << 20
"""Bytes of a catalog; a thousand books have about two million."""
_ENTRY = re.compile(r"<entry>(.*?)</entry>", re.DOTALL)
_UUID = re.compile(r"<id>\s*urn:uuid:([0-9a-fA-F-]{36})\s*</id>")
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104


@dataclass(frozen=True, slots=True)
class Catalog:
    """What one look at the catalog gave.

    Attributes:
        status: HTTP status; 0 when there was no HTTP answer.
        books: UUIDs of the books that are listed.
        error: Why there is no list; empty when there is one.
    """

    status: int
    books: frozenset[str] = frozenset()
    error: str = ""


def base_url(bind: str, port: int) -> str:
    """The address at which this machine reaches what is bound to ``bind``."""
    host = _ANYWHERE.get(bind, bind)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def catalog(bind: str, port: int, timeout: float = 5.0) -> Catalog:
    """Read the server's catalog.

    Args:
        bind: Address that the port is bound to.
        port: The port.
        timeout: Seconds for all of it.
    """
    try:
        response = net.get(
            f"{base_url(bind, port)}/catalog/v2/entries?count=-1",
            total=timeout,
            limit=_LARGEST,
            allow_public=True,  # an address of this machine, whatever its network
            what="box.bind",
        )
    except net.NetworkError as error:
        # Podman's port forwarder accepts before the server listens: a reset, not a refusal.
        return Catalog(0, error=error.message)
    body = response.body.decode("utf-8", "replace")
    if response.status != 200:
        return Catalog(response.status, error=f"HTTP {response.status}")
    if "<feed" not in body:
        return Catalog(response.status, error="something that is not kiwix-serve answers")
    ids = (_UUID.search(entry) for entry in _ENTRY.findall(body))
    return Catalog(response.status, frozenset(match[1].lower() for match in ids if match))
