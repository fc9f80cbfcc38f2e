"""A Bloom filter in a file: a set of words in ten bits each (Bloom 1970).

Membership may be wrong for an absent word (0.8 % at these figures), never for a present one.
The two hashes are combined as Kirsch and Mitzenmacher (2006) describe.
"""

from __future__ import annotations

from collections.abc import Collection
from zlib import crc32

_BITS = 10
_HASHES = 7


def _positions(word: str, size: int) -> list[int]:
    # Two checksums are hashes enough here, and loading them costs a run nothing.
    data = word.encode("utf-8", "surrogatepass")
    first, second = crc32(data), crc32(data[::-1], 0x9E3779B9) | 1
    return [(first + i * second) % size for i in range(_HASHES)]


def build(words: Collection[str]) -> bytes:
    """The filter of a set of words."""
    table = bytearray((len(words) * _BITS + 7) // 8)
    for word in words:
        for position in _positions(word, len(table) * 8):
            table[position >> 3] |= 1 << (position & 7)
    return bytes(table)


def holds(table: bytes | memoryview, word: str) -> bool:
    """Whether a filter (its bytes, or the mapped file) holds a word."""
    return all(table[p >> 3] & (1 << (p & 7)) for p in _positions(word, len(table) * 8))
