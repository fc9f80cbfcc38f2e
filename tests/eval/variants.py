"""The same questions written otherwise: in one case, with a slip of the finger."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

from infoforge.evaluate.questions import Question

_WORD = re.compile(r"[^\W\d_]{5,}")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def lower(question: Question) -> Question:
    """All in lower case, without the question mark."""
    return replace(question, text=question.text.lower().rstrip("? "))


def upper(question: Question) -> Question:
    """All in capitals."""
    return replace(question, text=question.text.upper())


def typo(question: Question) -> Question | None:
    """One edit inside the longest name; None when the question has no name of five letters."""
    first = re.match(r"\W*\w+", question.text)
    start = first.end() if first else 0
    names = [m for m in _WORD.finditer(question.text, start) if m.group()[0].isupper()]
    if not names:
        return None
    match = max(names, key=lambda m: len(m.group()))
    chance = random.Random(f"typo:{question.id}")
    return replace(
        question,
        text=question.text[: match.start()]
        + slip(match.group(), chance)
        + question.text[match.end() :],
    )


def slip(word: str, chance: random.Random) -> str:
    """A word with one letter swapped, left out, changed or put in; its ends stay."""
    edits: list[Callable[[int], str]] = [
        lambda at: word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        lambda at: word[:at] + word[at + 1 :],
        lambda at: word[:at] + chance.choice(_LETTERS) + word[at + 1 :],
        lambda at: word[:at] + chance.choice(_LETTERS) + word[at:],
    ]
    while True:
        slipped = chance.choice(edits)(chance.randint(1, len(word) - 3))
        if slipped != word:
            return slipped
