"""The frames between the tool and the process that reads ZIM files.

A frame is a list of byte strings: the length of the rest, then each field's length and bytes. It is
this plain because what comes from the child is untrusted: nothing in a frame can name a type, nest
or make the reader allocate more than the frame's own length. The child imports this file by itself,
so it uses builtins alone.
"""

from __future__ import annotations

from collections.abc import Iterable

LENGTH = 4
"""Bytes of a length, little endian."""


def pack(fields: Iterable[bytes]) -> bytes:
    """Fields as one frame, its length first."""
    pieces = [b""]
    for field in fields:
        pieces += (len(field).to_bytes(LENGTH, "little"), field)
    pieces[0] = sum(map(len, pieces)).to_bytes(LENGTH, "little")
    return b"".join(pieces)


def unpack(body: bytes) -> list[bytes]:
    """The fields of a frame, without its length.

    Raises:
        ValueError: The lengths do not add up.
    """
    fields = []
    at = 0
    while at < len(body):
        end = at + LENGTH + int.from_bytes(body[at : at + LENGTH], "little")
        if at + LENGTH > len(body) or end > len(body):
            raise ValueError("a frame is cut short")
        fields.append(body[at + LENGTH : end])
        at = end
    return fields
