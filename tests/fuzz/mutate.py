"""Ways to spoil bytes, as disks, networks and people do."""

from __future__ import annotations

from random import Random

ODD = (
    b"\0", b"\xff", b"\xff\xfe", b"\xed\xa0\x80", "\u202e".encode(), b"\x1b[2J", b"\r", b"\n",
    "²".encode(), b"9" * 5000, b"-1", b"1e999", b"NaN", b"<", b">", b"&", b"&#x0;", b"]]>",
    b"<!--", b"-->", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b'"', b"'", b"\\", b"{{", b"}}", b"%00",
    b"../" * 20, b"[" * 2000, b"(" * 2000, b"<div>" * 3000, b"{" * 2000, b" " * 20_000, b"`" * 99,
    b"null", b"true", b"[]", b"{}", b"http://[::1", b"\xef\xbb\xbf",
)  # fmt: skip


def spoil(data: bytes, random: Random, *, most: int = 6, grow: bool = True) -> bytes:
    """Some changes of a kind each: bits, bytes, blocks, numbers, cuts, and odd words put in.

    Args:
        data: What is whole.
        random: Decides.
        most: Changes at most.
        grow: Whether the length may change.
    """
    spoilt = bytearray(data)
    for _ in range(random.randint(1, most)):
        if not spoilt:
            return bytes(spoilt)
        at = random.randrange(len(spoilt))
        size = min(len(spoilt) - at, random.choice((1, 2, 4, 8, 64, 512)))
        kind = random.randrange(9 if grow else 4)
        if kind == 0:
            spoilt[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            spoilt[at : at + size] = random.randbytes(size)
        elif kind == 2:
            spoilt[at : at + size] = random.choice((b"\0", b"\xff", b"\x7f")) * size
        elif kind == 3:
            other = random.randrange(len(spoilt))
            piece = bytes(spoilt[other : other + size])
            spoilt[at : at + len(piece)] = piece
        elif kind == 4:
            del spoilt[at : at + size]
        elif kind == 5:
            spoilt[at:at] = spoilt[at : at + size] * random.choice((1, 2, 50))
        elif kind in (6, 7):
            spoilt[at:at] = random.choice(ODD)
        else:
            del spoilt[at:]
    return bytes(spoilt)
