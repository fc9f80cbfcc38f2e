"""The address rules: nothing leaves the local network unless the configuration allows it."""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
from contextlib import suppress
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from infoforge.contract import ConfigError
from infoforge.text.mask import mask_urls

Row: TypeAlias = tuple[Any, Any, int, str, Any]
"""Family, kind, protocol, canonical name and address, as ``getaddrinfo`` gives them."""

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

_BLANK = re.compile(r"[\s\x00-\x1f].*", re.DOTALL)
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
    *name* can: its server may answer otherwise when the connection is made, and a
    server may redirect. What guards against both is `net.private_session`, which checks the address
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
            f"{what}: {mask_urls(_BLANK.sub('…', url), path=True)!r} is not a usable URL",
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


def look_up(host: str, port: int, seconds: float | None = None) -> list[Row]:
    """What the resolver says of a host, within a time: ``getaddrinfo`` has no limit of its own.

    Args:
        host: Name or address.
        port: TCP port; 0 where only the addresses matter.
        seconds: Less than `LOOKUP_SECONDS`, where the caller has less.

    Returns:
        Rows of ``socket.getaddrinfo``; none when the name is not known or time is over.
    """
    found: list[Row] = []

    def ask() -> None:
        with suppress(OSError, UnicodeError):
            found.extend(socket.getaddrinfo(host, port or None, type=socket.SOCK_STREAM))

    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        thread = threading.Thread(target=ask, name="name look-up", daemon=True)
        thread.start()
        thread.join(LOOKUP_SECONDS if seconds is None else min(seconds, LOOKUP_SECONDS))
    else:
        ask()
    return list(found)


def _addresses(host: str) -> tuple[str, ...]:
    """All addresses of a host, by the resolver that the connection will use; empty for none."""
    try:
        return (str(ipaddress.ip_address(host)),)
    except ValueError:
        return tuple(dict.fromkeys(str(row[4][0]) for row in look_up(host, 0)))
