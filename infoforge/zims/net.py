"""HTTP as this room speaks it: who we are, what a failure is called, documents of bounded size.

Only the catalog and its mirrors are reached from here. They are public by nature, so the
environment's proxies are honoured, unlike everywhere else in the house.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from infoforge import __version__
from infoforge.contract import CheckFailed, InfoForgeError

if TYPE_CHECKING:
    import requests

USER_AGENT = f"infoforge/{__version__} (+offline wikis with citations; ZIM downloads)"
"""Wikimedia's mirror policy asks for one that says what is calling."""

CONNECT_SECONDS = 15.0
_MAX_REDIRECTS = 10
_PERMANENT_EXCEPTIONS = {408, 425, 429}


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


@dataclass(frozen=True, slots=True)
class Document:
    """A fetched document and the address it came from after redirects."""

    url: str
    body: bytes


def open_session() -> requests.Session:
    """A session that names us and follows a bounded number of redirects."""
    import requests

    session = requests.Session()
    session.headers["User-Agent"] = USER_AGENT
    session.max_redirects = _MAX_REDIRECTS
    return session


def get_document(
    session: requests.Session,
    url: str,
    *,
    limit: int,
    timeout: float,
    connect: float = CONNECT_SECONDS,
    params: dict[str, str] | None = None,
) -> Document:
    """Fetch a whole document into memory.

    Args:
        session: From `open_session`.
        url: Used as given; redirects are followed, but not from https to http, since the hashes
            that come this way are what a download is trusted by.
        limit: Most bytes taken.
        timeout: Seconds between two pieces of the answer.
        connect: Seconds for the connection.
        params: Query parameters added to those of the URL.

    Raises:
        Unreachable: No answer, a status other than 200, or more than ``limit`` bytes.
    """
    try:
        with session.get(url, params=params, stream=True, timeout=(connect, timeout)) as response:
            if response.status_code != 200:
                raise Unreachable(
                    url, status_reason(response.status_code), status=response.status_code
                )
            if urlsplit(url).scheme == "https" and urlsplit(response.url).scheme != "https":
                raise Unreachable(url, f"redirects from https to {response.url}")
            body = bytearray()
            for piece in response.iter_content(1 << 16):
                body += piece
                if len(body) > limit:
                    raise Unreachable(url, f"sends more than {limit} bytes")
            return Document(response.url, bytes(body))
    except InfoForgeError:
        raise
    except Exception as error:
        raise Unreachable(url, *explain(error, timeout)) from error


def explain(error: Exception, timeout: float) -> tuple[str, int, str]:
    """Put a network failure into words.

    Args:
        error: What ``requests`` or urllib3 raised.
        timeout: The seconds that a timeout was set to.

    Returns:
        Reason, status (0: none) and hint.

    Raises:
        Exception: The error itself, when it is none of the network's.
    """
    import requests
    import urllib3

    exceptions = requests.exceptions
    stalls = (exceptions.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)
    tls = (exceptions.SSLError, urllib3.exceptions.SSLError, ssl.SSLError)
    invalid = (exceptions.InvalidURL, exceptions.InvalidSchema, exceptions.MissingSchema)
    broken = (exceptions.RequestException, urllib3.exceptions.HTTPError, OSError)
    # In this order: some are subclasses of others, and requests hides some in their texts.
    table: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, str, str], ...] = (
        (exceptions.TooManyRedirects, "", "redirects in a circle", ""),
        (exceptions.ProxyError, "", "the proxy does not answer", "check HTTPS_PROXY and NO_PROXY"),
        (tls, "", "its certificate is not trusted", "is this machine's clock right?"),
        (exceptions.ConnectTimeout, "", f"no connection within {CONNECT_SECONDS:.0f} s", ""),
        (stalls, "", f"nothing came for {timeout:g} s", ""),
        (broken, "Read timed out", f"nothing came for {timeout:g} s", ""),
        (invalid, "", "is not an http or https address", ""),
        (broken, "NameResolution", "its host name is not known here", "is there a network?"),
        (broken, "refused", "the connection is refused", ""),
        (broken, "", "the connection broke off", ""),
    )
    text = str(error)
    for kinds, mark, reason, hint in table:
        if isinstance(error, kinds) and mark in text:
            return reason, 0, hint
    raise error


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
