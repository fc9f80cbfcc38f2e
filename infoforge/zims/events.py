"""What a long piece of work tells while it goes on; who listens decides how it is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """One piece of news.

    Attributes:
        kind: ``start``, ``progress``, ``mirror`` (one is tried), ``retry`` (one failed),
            ``wait`` (somebody else holds the folder), ``verify`` (a file is read through, with
            ``done`` and ``total``), ``done``.
        file: The ZIM's file name.
        done: Bytes so far.
        total: Bytes in all, 0 when unknown.
        message: One sentence; empty for mere progress.
        url: The mirror that it is about.
    """

    kind: str
    file: str
    done: int = 0
    total: int = 0
    message: str = ""
    url: str = ""


Report = Callable[[Event], None]
"""Takes an event; called often, must return fast."""


def silent(_event: Event) -> None:
    """Nobody listens."""
