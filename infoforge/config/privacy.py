"""Nothing leaves the house unless the configuration says so in words."""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from infoforge.contract import ConfigError

if TYPE_CHECKING:
    import requests

LOOKUP_SECONDS = 5.0
"""How long a name may take to resolve; a resolver without a network can hang far longer."""

# Written out, since the standard library's is_global changes from one Python to the next, and since
# what is neither private nor routed (documentation, benchmarks, NAT64) has no business here either.
_PRIVATE = tuple(
    ipaddress.ip_network(net)
    for net in (
        "127.0.0.0/8",
        "10.0.0.0/8",
        "172.16.0.0/12",
        "192.168.0.0/16",
        "169.254.0.0/16",  # link-local
        "100.64.0.0/10",  # carrier-grade NAT: Tailscale and its like
        "0.0.0.0/32",  # this machine, when connected to
        "::/128",
        "::1/128",
        "fe80::/10",  # link-local
        "fc00::/7",  # unique local
    )
)

_AUTHORITY = re.compile(
    r"(?:[^\s\\/?#@\[\]]*@)?"
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+(?:%[0-9A-Za-z._~-]+)?)\]|(?P<name>[^\s\\/?#@\[\]:%]+))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)


def is_private(address: str) -> bool:
    """Whether an IP address stays on this machine or in networks that are one's own.

    Args:
        address: IPv4 or IPv6 in its usual notation; a zone (``%eth0``) is ignored.

    Returns:
        ``True`` for loopback, private, link-local, unique local and carrier-grade NAT addresses,
        also as IPv4-mapped IPv6; ``False`` for all others and for what is no address.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return any(parsed in net for net in _PRIVATE if net.version == parsed.version)


def check_private(url: str, allow_public: bool, what: str) -> None:
    """Refuse a URL that leads, or may lead, out of the house.

    Call it before the first connection. See `resolve_private` for what it does not guarantee.

    Args:
        url: An http or https URL; empty is fine, since nothing is connected to.
        allow_public: The configuration allows a public address for this URL.
        what: Whose URL it is, for the message (``endpoint ollama``, ``kiwix.url``).

    Raises:
        ConfigError: One of the host's addresses is public and ``allow_public`` is not set, or the
            URL cannot be understood beyond doubt.
    """
    if url:
        resolve_private(url, allow_public, what)


def resolve_private(url: str, allow_public: bool, what: str) -> tuple[str, ...]:
    """The addresses that a URL leads to, all of them checked.

    Guaranteed: at the time of the call every address of the host was private. An address written
    as such (also ``2130706433``, ``0x7f.1``, ``[::ffff:10.0.0.1]``) cannot change afterwards. A
    *name* can: whoever answers for it may answer otherwise when the connection is made, and a
    server may redirect. What guards against both is `private_session`, which looks at the address
    that it is really connected to before a byte is sent, and follows no redirect to a public host.

    Args:
        url: An http or https URL.
        allow_public: Public addresses are allowed.
        what: Whose URL it is, for the message.

    Returns:
        The addresses; empty when the name does not resolve, which is no matter of privacy: there
        is nothing to connect to.

    Raises:
        ConfigError: As `check_private`.
    """
    host = host_of(url, what)
    addresses = _addresses(host)
    public = [address for address in addresses if not is_private(address)]
    if public and not allow_public:
        raise _refusal(what, host, public[0])
    return addresses


def host_of(url: str, what: str) -> str:
    r"""The host that a client will connect to: what stands behind the last ``@``, as ASCII.

    Parsers differ over odd URLs (``http://a\@b/``), and a check is worth nothing when the client
    reads another host than it did; so what is odd is refused.

    Args:
        url: An http or https URL.
        what: Whose URL it is, for the message.

    Raises:
        ConfigError: It is no URL, or not one that everybody reads alike.
    """
    try:
        parts = urlsplit(url)
        match = _AUTHORITY.fullmatch(parts.netloc)
    except ValueError:
        match = None
    odd = "\\" in url or any(ord(c) < 33 or ord(c) == 127 for c in url)
    if match is None or odd or parts.scheme not in ("http", "https"):
        raise ConfigError(
            f"{what}: {_without_password(url)!r} is not a usable URL",
            "http://HOST:PORT or https://HOST:PORT is expected",
        )
    if match["six"]:
        return match["six"]
    name = match["name"]
    if name.isascii():
        return name.lower()
    import idna  # what requests itself encodes names with: both must see the same host

    try:
        return idna.encode(name, uts46=True).decode()
    except idna.IDNAError as error:
        raise ConfigError(f"{what}: {name!r} is not a usable host name") from error


def private_session(allow_public: bool, what: str) -> requests.Session:
    """A ``requests`` session that cannot leave the house.

    It checks the address of every connection after it stands and before anything is sent, redirects
    included, and takes neither proxies nor ``.netrc`` from the environment (a proxy would see every
    question, and hide where the connection goes).

    Args:
        allow_public: Public addresses are allowed.
        what: Whose connections they are, for the message.

    Returns:
        A session; its calls raise ``ConfigError`` beside requests' own exceptions.
    """
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.connection import HTTPConnection, HTTPSConnection
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

    def checked(sock: socket.socket, host: str) -> socket.socket:
        check_peer(sock, allow_public, what, host)
        return sock

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return checked(super()._new_conn(), self.host)

    class Secure(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return checked(super()._new_conn(), self.host)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    class Adapter(HTTPAdapter):
        def init_poolmanager(self, *args: object, **options: object) -> None:
            super().init_poolmanager(*args, **options)  # type: ignore[arg-type]
            self.poolmanager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}

    session = requests.Session()
    session.trust_env = False
    session.mount("http://", Adapter())
    session.mount("https://", Adapter())
    return session


def check_peer(sock: socket.socket, allow_public: bool, what: str, host: str) -> None:
    """Refuse a connection that stands, before anything is sent over it; it is closed then.

    Args:
        sock: A connected socket.
        allow_public: Public addresses are allowed.
        what: Whose connection it is, for the message.
        host: The host that was asked for, for the message.

    Raises:
        ConfigError: The other end has a public address and that is not allowed.
    """
    peer = str(sock.getpeername()[0])
    if not allow_public and not is_private(peer):
        sock.close()
        raise _refusal(what, host, peer)


def _refusal(what: str, host: str, address: str) -> ConfigError:
    leads = "is" if host == address else f"leads to {address},"
    return ConfigError(
        f"{what}: {host} {leads} a public address; what is asked would leave the house",
        "use a server in your own network, or set allow_public: true beside the url",
        code="public_address",
    )


def _addresses(host: str) -> tuple[str, ...]:
    """All addresses of a host, by the resolver that the connection will use; empty for none."""
    try:
        return (str(ipaddress.ip_address(host)),)
    except ValueError:
        pass
    found: list[str] = []

    def look_up() -> None:
        try:
            rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return
        found.extend(dict.fromkeys(str(row[4][0]) for row in rows))

    # getaddrinfo has no time limit of its own, and cannot be interrupted.
    thread = threading.Thread(target=look_up, name="name look-up", daemon=True)
    thread.start()
    thread.join(LOOKUP_SECONDS)
    return tuple(found)


def _without_password(url: str) -> str:
    return re.sub(r"//.*@", "//…@", url)
