"""Every network read: its total time, its size, and the address that is really connected to.

No other module opens a connection (tests/unit/test_net.py looks). Time is bounded in the socket:
each read and write gets what is left of the whole, so that neither a slow name look-up nor headers
or a body that trickle can hold a caller longer than it asked for.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote, urljoin, urlsplit

from infoforge import __version__, privacy
from infoforge.contract import InfoForgeError

if TYPE_CHECKING:
    import requests

Session: TypeAlias = "requests.Session"
"""Connections of one kind, kept open between requests; close it, or use it in ``with``."""

USER_AGENT = f"infoforge/{__version__} (+offline wikis with citations; ZIM downloads)"
"""Wikimedia's mirror policy asks for one that says what is calling."""
CONNECT_SECONDS = 15.0
IDLE_SECONDS = 60.0
_MAX_REDIRECTS = 10
_PIECE = 1 << 16

_limit = threading.local()
"""``end``: the time (monotonic) at which what this thread does on the network must be over."""


class NetworkError(Exception):
    """A network read failed; the message holds neither the URL nor a header, which may be secret.

    Attributes:
        kind: ``connect_timeout``, ``timeout`` (of one read or the whole), ``resolve``, ``refused``,
            ``unreachable``, ``tls``, ``proxy``, ``redirects``, ``address`` (no usable URL),
            ``not_http``, ``too_large``, ``insecure`` (a redirect from https to http), ``local``
            (see `Trust`) or ``cut``.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply.

    Attributes:
        status: HTTP status.
        url: Where it came from, after redirects.
        headers: Names in lower case.
        body: The body, decoded.
    """

    status: int
    url: str
    headers: Mapping[str, str]
    body: bytes


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Bound everything that this thread does on the network in the block; an outer bound holds too.

    Args:
        seconds: From now on; ``None`` adds no bound.
    """
    before: float | None = getattr(_limit, "end", None)
    end = None if seconds is None else time.monotonic() + seconds
    _limit.end = min((e for e in (before, end) if e is not None), default=None)
    try:
        yield
    finally:
        _limit.end = before


def _left(idle: float | None) -> float | None:
    """Seconds that one operation may take.

    Raises:
        TimeoutError: The time is over.
    """
    end: float | None = getattr(_limit, "end", None)
    if end is None:
        return idle
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("the time for the whole is over")
    return left if idle is None else min(left, idle)


class _Bounded(socket.socket):
    """A socket each of whose operations ends when `time_limit` does."""

    idle: float | None = None

    def settimeout(self, value: float | None) -> None:
        """Set the seconds of one operation."""
        self.idle = value
        super().settimeout(value)

    def _bound(self) -> None:
        super().settimeout(_left(self.idle))

    def recv(self, *args: Any) -> bytes:  # noqa: ANN401 - as in the base class
        """As in the base class."""
        self._bound()
        return super().recv(*args)

    def recv_into(self, *args: Any) -> int:  # noqa: ANN401 - as in the base class
        """As in the base class."""
        self._bound()
        return super().recv_into(*args)

    def send(self, *args: Any) -> int:  # noqa: ANN401 - as in the base class
        """As in the base class."""
        self._bound()
        return super().send(*args)

    def sendall(self, *args: Any) -> None:  # noqa: ANN401 - as in the base class
        """As in the base class."""
        self._bound()
        super().sendall(*args)


class _BoundedTLS(_Bounded, ssl.SSLSocket):
    """The same for TLS; a context makes it when it is its ``sslsocket_class``."""


def connect(host: str, port: int, seconds: float | None) -> socket.socket:
    """A connected socket whose operations `time_limit` bounds.

    Args:
        host: Name or address, without brackets.
        port: TCP port.
        seconds: For each of the host's addresses.

    Raises:
        socket.gaierror: The name is not known, or its look-up takes too long.
        OSError: No address takes the connection.
    """
    failure: OSError = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    for family, kind, protocol, _, address in privacy.look_up(host, port, _left(None)):
        sock = _Bounded(family, kind, protocol)
        try:
            sock.settimeout(_left(seconds))
            sock.connect(address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(seconds)
        except OSError as error:
            sock.close()
            failure = error
        else:
            return sock
    raise failure


def private_session(allow_public: bool, what: str) -> Session:
    """A session that cannot leave the local network.

    It checks the address of every connection after it stands and before anything is sent, redirects
    included, and takes neither proxies nor ``.netrc`` from the environment (a proxy would see every
    question, and hide where the connection goes).

    Args:
        allow_public: Public addresses are allowed.
        what: Whose connections they are, for the message.

    Returns:
        A session for `fetch` and `stream`; they raise ``ConfigError``, too.
    """

    def check(sock: socket.socket, host: str, proxied: bool) -> None:
        privacy.check_peer(sock, allow_public, what, host)

    session = _session(check, Trust())
    session.trust_env = False
    return session


@dataclass(slots=True)
class Trust:
    """Whom a public session trusts with what.

    Attributes:
        local: Hosts that may be in the local network. A public server must not make this machine
            talk to others: what it names is added only by `named`, when it is local itself.
        passwords: User and password by host, sent to that host alone.
    """

    local: set[str] = field(default_factory=set)
    passwords: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)
    """Hosts that turned out to be in the local network."""

    def named(self, by: str, urls: Iterable[str]) -> None:
        """Trust what a server of the local network names: its mirrors, its redirects."""
        if host_of(by) in self.reached:
            self.local.update(host_of(url) for url in urls)

    def check(self, host: str, address: str) -> None:
        """Refuse an address of the local network that nobody there named.

        Raises:
            NetworkError: It is one.
        """
        if privacy.is_private(address):
            if host.lower() not in self.local:
                raise NetworkError(
                    "local",
                    "is in the local network, and nobody there named it (see catalog.mirrors)",
                )
            self.reached.add(host.lower())


def public_session(trust: Trust) -> Session:
    """A session for the catalog and its mirrors, which are public; proxies are honoured.

    ``.netrc`` is not read, and no redirect leads from https to http.

    Args:
        trust: Whom to trust with what.
    """

    def check(sock: socket.socket, host: str, proxied: bool) -> None:
        if proxied:
            return  # the proxy of the environment is this machine's own affair
        try:
            trust.check(host, str(sock.getpeername()[0]))
        except NetworkError:
            sock.close()
            raise

    return _session(check, trust)


def named(session: Session, by: str, urls: Iterable[str]) -> None:
    """Tell a session what a document names; see `Trust.named`.

    Args:
        session: From `public_session`.
        by: Where the document came from.
        urls: What it names.
    """
    session.trust.named(by, urls)  # type: ignore[attr-defined]


def host_of(url: str) -> str:
    """The host of a URL (or a bare host), in lower case; empty for what is neither."""
    try:
        return (urlsplit(url if "//" in url else f"//{url}").hostname or "").lower()
    except ValueError:
        return ""


def _session(check: Callable[[socket.socket, str, bool], None], trust: Trust) -> Session:
    import requests
    from requests.adapters import HTTPAdapter
    from requests.auth import AuthBase, HTTPBasicAuth
    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
    from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
    from urllib3.util.ssl_ import create_urllib3_context

    def open_socket(connection: HTTPConnection) -> socket.socket:
        host = connection._dns_host.strip("[]")
        seconds = connection.timeout if isinstance(connection.timeout, int | float) else None
        try:
            sock = connect(host, connection.port or connection.default_port, seconds)
        except socket.gaierror as error:
            raise NameResolutionError(connection.host, connection, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(connection, "no connection in time") from error
        except OSError as error:
            raise NewConnectionError(connection, str(error)) from error
        check(sock, host, connection.proxy is not None)
        return sock

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return open_socket(self)

    class Secure(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return open_socket(self)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    pools = {"http": PlainPool, "https": SecurePool}

    class Adapter(HTTPAdapter):
        def init_poolmanager(self, *args: object, **options: object) -> None:
            context = create_urllib3_context()
            context.sslsocket_class = _BoundedTLS
            super().init_poolmanager(*args, ssl_context=context, **options)  # type: ignore[arg-type]
            self.poolmanager.pool_classes_by_scheme = pools

        def proxy_manager_for(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401
            manager = super().proxy_manager_for(*args, **options)
            manager.pool_classes_by_scheme = pools
            return manager

    class Passwords(AuthBase):
        """Being there, it also keeps ``requests`` from reading ``.netrc``."""

        def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
            found = trust.passwords.get(host_of(request.url or ""))
            return HTTPBasicAuth(*found)(request) if found else request

    class Guarded(requests.Session):
        trust: Trust

        def get_redirect_target(self, resp: requests.Response) -> str | None:
            target = super().get_redirect_target(resp)
            if target is not None:
                url = urljoin(resp.url, target)
                if urlsplit(resp.url).scheme == "https" and urlsplit(url).scheme != "https":
                    raise NetworkError("insecure", "redirects from https to http")
                trust.named(resp.url, [url])
            return target

        def resolve_redirects(self, resp: Any, req: Any, **options: Any) -> Any:  # type: ignore[override]  # noqa: ANN401
            # Asked for where redirects are not followed, too: for a `next` that nobody reads.
            if not options.get("yield_requests"):
                yield from super().resolve_redirects(resp, req, **options)

        def rebuild_auth(self, prepared_request: Any, response: Any) -> None:  # noqa: ANN401
            prepared_request.headers.pop("Authorization", None)
            prepared_request.prepare_auth(self.auth)

        def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:  # noqa: ANN401
            proxies = options.get("proxies") or {}
            if requests.utils.select_proxy(request.url or "", proxies):
                # A proxy hides where it leads: what can be known before is looked at here.
                host = host_of(request.url or "")
                for row in privacy.look_up(host, 0, _left(None)):
                    trust.check(host, str(row[4][0]))
            return super().send(request, **options)

    session = Guarded()
    session.trust = trust
    session.auth = Passwords()
    session.headers["User-Agent"] = USER_AGENT
    session.max_redirects = _MAX_REDIRECTS
    session.mount("http://", Adapter())
    session.mount("https://", Adapter())
    return session


class Stream:
    """A reply whose head is there and whose body is still to come.

    Attributes:
        status: HTTP status.
        url: Where it comes from, after redirects.
        headers: As the server sent them; names in any case.
    """

    def __init__(self, response: requests.Response, end: float | None, limit: int | None) -> None:
        self._response = response
        self._end = end
        self._limit = limit
        self._size = 0
        self.status = response.status_code
        self.url = response.url
        self.headers: Mapping[str, str] = response.headers

    def read(self, most: int = _PIECE, *, seconds: float | None = None) -> bytes:
        """What has come, at most ``most`` bytes; empty at the end.

        Args:
            most: Bytes; what comes is not waited for until there are so many.
            seconds: Within these something must come.

        Raises:
            NetworkError: Nothing came in time, the reply broke off or is too large.
        """
        left = None if self._end is None else self._end - time.monotonic()
        try:
            with time_limit(left), time_limit(seconds):
                data: bytes = self._response.raw.read1(most, decode_content=True)
        except Exception as error:
            raise _of_requests(error) from error
        self._size += len(data)
        if self._limit is not None and self._size > self._limit:
            raise NetworkError("too_large", f"sends more than {self._limit} bytes")
        return data

    def body(self, most: int | None = None) -> bytes:
        """The rest of the body; no more than about ``most`` bytes of it when that is given.

        Raises:
            NetworkError: As `read`.
        """
        found = bytearray()
        while (most is None or len(found) < most) and (piece := self.read()):
            found += piece
        return bytes(found if most is None else found[:most])


@contextmanager
def stream(
    session: Session,
    method: str,
    url: str,
    *,
    total: float | None,
    limit: int | None,
    head: float | None = None,
    connect: float = CONNECT_SECONDS,
    idle: float = IDLE_SECONDS,
    **options: Any,  # noqa: ANN401 - of requests.Session.request
) -> Iterator[Stream]:
    """Send a request; the block gets the reply as soon as its head is there.

    Args:
        session: From `private_session` or `public_session`.
        method: HTTP method.
        url: Address.
        total: Seconds from now to the last byte; ``None`` for a download, which has no other end
            than its size.
        limit: Most bytes of the body; ``None`` where the caller counts.
        head: Seconds until the head of the reply is there, redirects included.
        connect: Seconds for a connection to each address of the host.
        idle: Seconds that may pass without a byte.
        options: Of ``requests``: ``data``, ``json``, ``params``, ``headers``, ``allow_redirects``.

    Raises:
        NetworkError: No reply in time, or none that is one.
        ConfigError: The session is private, and the address public.
    """
    end = None if total is None else time.monotonic() + total
    try:
        with time_limit(total), time_limit(head):
            response = session.request(method, url, stream=True, timeout=(connect, idle), **options)
    except (InfoForgeError, NetworkError):
        raise
    except Exception as error:
        raise _of_requests(error) from error
    with response:
        yield Stream(response, end, limit)


def fetch(
    session: Session,
    method: str,
    url: str,
    *,
    total: float,
    limit: int,
    **options: Any,  # noqa: ANN401 - of `stream`
) -> Reply:
    """Send a request and take the whole reply into memory.

    Args:
        session: As in `stream`.
        method: HTTP method.
        url: Address.
        total: Seconds for everything.
        limit: Most bytes of the body.
        options: As in `stream`.

    Raises:
        NetworkError: As `stream`, or the body is too large.
        ConfigError: The session is private, and the address public.
    """
    with stream(session, method, url, total=total, limit=limit, **options) as reply:
        headers = {name.lower(): value for name, value in reply.headers.items()}
        return Reply(reply.status, reply.url, headers, reply.body())


def get(
    url: str, *, total: float, limit: int, allow_public: bool, what: str, idle: float = IDLE_SECONDS
) -> Reply:
    """GET within the local network by the standard library, which loads in a third of the time.

    No redirect is followed, and no proxy is used.

    Args:
        url: http or https.
        total: Seconds for everything.
        limit: Most bytes of the body.
        allow_public: Public addresses are allowed.
        what: Whose connection it is, for the message.
        idle: Seconds that may pass without a byte.

    Raises:
        NetworkError: No reply in time, or none that is one.
        ConfigError: The address is public.
    """
    import http.client

    try:
        parts = urlsplit(url)
        secure, host = parts.scheme == "https", parts.hostname or ""
        target = quote(parts.path, safe="/%:@!$&'()*+,;=~-._") or "/"
        target += f"?{parts.query}" if parts.query else ""
        with time_limit(total):
            connection = http.client.HTTPConnection(host, parts.port or (443 if secure else 80))
            connection.sock = connect(host, connection.port, min(total, idle))
            try:
                # The address that is talked to now, not the one that the name had a moment ago.
                privacy.check_peer(connection.sock, allow_public, what, host)
                if secure:
                    context = ssl.create_default_context()
                    context.sslsocket_class = _BoundedTLS
                    connection.sock = context.wrap_socket(connection.sock, server_hostname=host)
                connection.request(
                    "GET",
                    target,
                    headers={"Host": parts.netloc.rpartition("@")[2], "User-Agent": "infoforge"},
                )
                return _reply(connection.getresponse(), url, limit)
            finally:
                connection.close()
    except (InfoForgeError, NetworkError):
        raise
    except Exception as error:
        raise _translated(error) from error


def _reply(answer: Any, url: str, limit: int) -> Reply:  # noqa: ANN401 - HTTPResponse
    body = bytearray()
    while piece := answer.read1(_PIECE):
        body += piece
        if len(body) > limit:
            raise NetworkError("too_large", f"sends more than {limit} bytes")
    if getattr(answer, "length", 0):
        raise NetworkError("cut", "the answer was cut short")
    headers = {name.lower(): value for name, value in answer.getheaders()}
    return Reply(answer.status, url, headers, bytes(body))


_OS_KINDS = (
    ("gaierror", "resolve", "its host name is not known here"),
    ("Name or service", "resolve", "its host name is not known here"),
    ("resolve", "resolve", "its host name is not known here"),
    ("refused", "refused", "the connection is refused"),
    ("unreachable", "unreachable", "the network is unreachable"),
    ("No route", "unreachable", "there is no route to the host"),
    ("BadStatusLine", "not_http", "it does not speak HTTP"),
)
"""What the texts of errors hold, the kind and the words for it."""


def _translated(error: Exception) -> NetworkError:
    """What went wrong, in words of our own: those of the libraries may hold a URL or a header.

    Raises:
        Exception: The error itself, when it is not the network's.
    """
    import http.client

    text = f"{type(error).__name__} {error}"
    if isinstance(error, TimeoutError) or "timed out" in text:
        return NetworkError("timeout", "nothing came in time")
    if isinstance(error, ssl.SSLError):
        return NetworkError("tls", "its certificate is not trusted")
    if not isinstance(error, OSError | http.client.HTTPException | ValueError):
        raise error
    for mark, kind, words in _OS_KINDS:
        if mark in text:
            return NetworkError(kind, words)
    return NetworkError("cut", "the connection broke off")


def _of_requests(error: Exception) -> NetworkError:
    """`_translated` for what ``requests`` and urllib3 raise."""
    import requests
    import urllib3

    rq, u3 = requests.exceptions, urllib3.exceptions
    # In this order: some are subclasses of others.
    for kind, words, types in (
        ("redirects", "redirects in a circle", (rq.TooManyRedirects,)),
        ("proxy", "the proxy does not answer", (rq.ProxyError, u3.ProxyError)),
        ("tls", "its certificate is not trusted", (rq.SSLError, u3.SSLError)),
        ("connect_timeout", "no connection in time", (rq.ConnectTimeout,)),
        ("timeout", "nothing came in time", (rq.Timeout, u3.TimeoutError)),
        ("address", "is not an http or https address", (rq.InvalidURL, rq.InvalidSchema)),
        ("address", "is not an http or https address", (rq.MissingSchema, u3.LocationValueError)),
    ):
        if isinstance(error, types):
            return NetworkError(kind, words)
    if isinstance(error, rq.RequestException | u3.HTTPError):
        error = OSError(f"{type(error).__name__} {error}")
    return _translated(error)
