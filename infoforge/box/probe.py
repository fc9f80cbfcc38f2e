"""Ask the running server what it serves. An HTTP 200 proves nothing: the books must be listed."""

from __future__ import annotations

from dataclasses import dataclass

from infoforge import kiwix_catalog

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
        books = kiwix_catalog.fetch(
            base_url(bind, port),
            seconds=timeout,
            allow_public=True,  # an address of this machine, whatever its network
            what="box.bind",
        )
    except kiwix_catalog.CatalogError as error:
        # Podman's port forwarder accepts before the server listens: a reset, not a refusal.
        return Catalog(error.status, error=str(error))
    return Catalog(200, frozenset(book.uuid for book in books))
