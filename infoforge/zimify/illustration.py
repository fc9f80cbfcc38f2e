"""The picture that stands for a ZIM in a catalog, drawn here: a book in a colour of its own."""

from __future__ import annotations

import struct
import zlib

SIZE = 48


def illustration(name: str) -> bytes:
    """A 48x48 PNG; the colour follows from the name, so that two ZIMs look different."""
    hue = zlib.crc32(name.encode("utf-8", "replace"))
    colour = bytes(60 + (hue >> shift) % 120 for shift in (0, 8, 16)) + b"\xff"
    clear, paper, line = b"\0\0\0\0", b"\xff\xff\xff\xff", bytes((*colour[:3], 110))
    rows = []
    for y in range(SIZE):
        row = bytearray(b"\0")
        for x in range(SIZE):
            pixel = clear
            if 3 <= y < 45 and 7 <= x < 41:
                pixel = colour
                if (36 <= y < 41 and 12 <= x < 41) or (
                    15 <= x < 35 and y in (12, 13, 18, 19, 24, 25) and (y < 24 or x < 28)
                ):
                    pixel = paper
                elif 10 <= x < 12 and y < 36:
                    pixel = line
            row += pixel
        rows.append(bytes(row))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(b"".join(rows), 9)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
