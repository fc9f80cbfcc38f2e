"""What a misspelt word may have been: known words one edit away.

Four of five misspellings are one letter put in, left out, changed, or swapped with its neighbour
(Damerau 1964); which of the known words was meant, its frequency tells best (Kernighan, Church and
Gale 1990, with one error as likely as another).
"""

from __future__ import annotations

from functools import lru_cache

from infoforge.text.words import known, letters, listed_zipf

_SHORTEST = 4
_SHORTEST_UNLISTED = 6
"""Letters of a word below which so many other words are near that frequency has to tell."""
_COMMON = 2.5
"""Least Zipf value of what a short word is taken for."""


@lru_cache(maxsize=256)
def corrections(word: str, language: str) -> tuple[str, ...]:
    """Known words that a word may have been meant to be.

    Args:
        word: Lower-case word, accents as written.
        language: ISO 639-1 code; nothing is known where there is no word list.

    Returns:
        Words one edit away: those of the frequency list, most frequent first, then those that are
        known to exist. Short words are taken for common ones alone.
    """
    if len(word) < _SHORTEST:
        return ()
    listed: list[tuple[float, str]] = []
    unlisted: list[str] = []
    for other in _edits(word, letters(language)):
        zipf = listed_zipf(other, language)
        if zipf is not None and (zipf >= _COMMON or len(word) >= _SHORTEST_UNLISTED):
            listed.append((zipf, other))
        elif zipf is None and len(word) >= _SHORTEST_UNLISTED and known(other, language):
            unlisted.append(other)
    listed.sort(key=lambda item: (-item[0], item[1]))
    return tuple(other for _, other in listed) + tuple(unlisted)


def _edits(word: str, alphabet: str) -> dict[str, None]:
    """All strings one edit away, slips of the order first, in a fixed order."""
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found: dict[str, None] = {}
    found |= dict.fromkeys(a + b[1] + b[0] + b[2:] for a, b in splits if len(b) > 1)
    found |= dict.fromkeys(a + b[1:] for a, b in splits if b)
    found |= dict.fromkeys(a + c + b for a, b in splits for c in alphabet)
    found |= dict.fromkeys(a + c + b[1:] for a, b in splits if b for c in alphabet)
    found.pop(word, None)
    return found
