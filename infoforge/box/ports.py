"""Who listens on a port of this machine, read from ``/proc`` (no `ss` needed)."""

from __future__ import annotations

import ipaddress
import pwd
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

_LISTEN = "0A"


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening TCP socket.

    Attributes:
        address: Address it is bound to (``127.0.0.1``, ``0.0.0.0``, ``::``).
        port: Port.
        uid: User whose socket it is.
        inode: The socket's inode.
    """

    address: str
    port: int
    uid: int
    inode: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return ipaddress.ip_address(self.address).is_loopback


@dataclass(frozen=True, slots=True)
class Holder:
    """The process behind a listener; ``pid`` 0 and a name like ``user www-data`` when hidden."""

    name: str
    pid: int
    address: str

    def __str__(self) -> str:
        """For messages: the program with its process ID, or whose program it is."""
        return f"'{self.name}' (process {self.pid})" if self.pid else f"a program of {self.name}"


def listeners(port: int, proc: Path = Path("/proc")) -> tuple[Listener, ...]:
    """All sockets that listen on a port.

    Args:
        port: The port.
        proc: Where ``/proc`` is.
    """
    found = []
    for table in ("tcp", "tcp6"):
        try:
            lines = (proc / "net" / table).read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            address, _, number = fields[1].partition(":")
            if fields[3] == _LISTEN and int(number, 16) == port:
                found.append(Listener(_address(address), port, int(fields[7]), int(fields[9])))
    return tuple(found)


def holder(address: str, port: int, proc: Path = Path("/proc")) -> Holder | None:
    """Who keeps us from binding an address and port.

    Args:
        address: Address that we want.
        port: Port that we want.
        proc: Where ``/proc`` is.

    Returns:
        The process; ``None`` when the port is free.
    """
    wanted = ipaddress.ip_address(address)
    for listener in listeners(port, proc):
        bound = ipaddress.ip_address(listener.address)
        mapped = getattr(bound, "ipv4_mapped", None) or bound
        if mapped == wanted or bound.is_unspecified or wanted.is_unspecified:
            return _process(listener, proc)
    return None


def _process(listener: Listener, proc: Path) -> Holder:
    """The process that has the socket open, if we may see it."""
    wanted = f"socket:[{listener.inode}]"
    for entry in proc.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            for fd in (entry / "fd").iterdir():
                if str(fd.readlink()) == wanted:
                    name = (entry / "comm").read_text("utf-8", "backslashreplace").strip()
                    return Holder(name, int(entry.name), listener.address)
        except OSError:
            continue  # gone meanwhile, or another user's
    try:
        user = pwd.getpwuid(listener.uid).pw_name
    except KeyError:
        user = str(listener.uid)
    return Holder(f"user {user}", 0, listener.address)


def _address(text: str) -> str:
    """An address as the kernel prints it: 32-bit words in the machine's byte order."""
    words = [int(text[i : i + 8], 16) for i in range(0, len(text), 8)]
    packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
    family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
    return socket.inet_ntop(family, packed)


def loopback(address: str) -> bool:
    """Whether an address is this machine's own."""
    return ipaddress.ip_address(address).is_loopback
