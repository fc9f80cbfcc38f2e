"""What a failure of the catalog or a mirror is called, and documents of bounded size and time.

Only the catalog and its mirrors are reached from here. They are public by nature, so the
environment's proxies are honoured, unlike everywhere else in the product.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from infoforge import net
from infoforge.contract import CheckFailed

if TYPE_CHECKING:
    from infoforge.config.settings import CatalogSettings
    from infoforge.net import Reply, Session

_PERMANENT_EXCEPTIONS = {408, 425, 429}
_TOTAL = 10
"""A whole document may take so many times what may pass between two pieces of it."""


class Unreachable(CheckFailed):
    """A document could not be fetched.

    Attributes:
        reason: The bare reason, to be set into another sentence.
        status: HTTP status, 0 when there was no answer.
    """

    default_code = "unreachable"

    def __init__(self, url: str, reason: str, status: int = 0, hint: str = "") -> None:
        super().__init__(f"{url}: {reason}", hint)
        self.reason = reason
        self.status = status


def trust_of(catalog: CatalogSettings, given: Iterable[str] = ()) -> net.Trust:
    """Whom the downloads trust: what the configuration and the command line name.

    Args:
        catalog: The settings.
        given: URLs of the command line; what is no URL is passed over.

    Raises:
        ConfigError: ``catalog.auth_file`` cannot be read.
    """
    from infoforge.config.keys import passwords

    named = (catalog.url, *given, *catalog.mirrors)
    hosts = {host for url in named if (host := net.host_of(url))}
    return net.Trust(hosts, passwords(catalog.auth_file) if catalog.auth_file else {})


def get_document(
    session: Session,
    url: str,
    *,
    limit: int,
    timeout: float,
    connect: float = net.CONNECT_SECONDS,
    params: dict[str, str] | None = None,
) -> Reply:
    """Fetch a whole document into memory.

    Args:
        session: From `net.public_session`.
        url: Used as given; redirects are followed, but not from https to http.
        limit: Most bytes taken.
        timeout: Seconds between two pieces of the answer; the whole may take ten times as long.
        connect: Seconds for the connection.
        params: Query parameters added to those of the URL.

    Raises:
        Unreachable: No answer, a status other than 200, or more than ``limit`` bytes.
    """
    try:
        reply = net.fetch(
            session,
            "GET",
            url,
            total=_TOTAL * timeout,
            limit=limit,
            connect=connect,
            idle=timeout,
            params=params,
        )
    except net.NetworkError as error:
        raise Unreachable(url, *explain(error, timeout)) from error
    if reply.status != 200:
        raise Unreachable(url, status_reason(reply.status), status=reply.status)
    return reply


_HINTS = {
    "proxy": "check HTTPS_PROXY and NO_PROXY",
    "tls": "is this machine's clock right?",
    "resolve": "is there a network?",
}


def explain(error: net.NetworkError, timeout: float) -> tuple[str, int, str]:
    """Put a network failure into words.

    Args:
        error: What happened.
        timeout: The seconds that a timeout was set to.

    Returns:
        Reason, status (0: none) and hint.
    """
    reasons = {
        "connect_timeout": f"no connection within {net.CONNECT_SECONDS:.0f} s",
        "timeout": f"nothing came for {timeout:g} s",
    }
    return reasons.get(error.kind, error.message), 0, _HINTS.get(error.kind, "")


def status_reason(status: int) -> str:
    """An HTTP status in words."""
    known = {
        403: "forbidden",
        404: "not there",
        410: "gone",
        416: "has no such range",
        429: "asks to slow down",
        503: "is overloaded",
    }
    return f"{known.get(status, 'answers')} (HTTP {status})"


def is_permanent(status: int) -> bool:
    """Whether asking again is no use (4xx but for "later, please")."""
    return 400 <= status < 500 and status not in _PERMANENT_EXCEPTIONS
