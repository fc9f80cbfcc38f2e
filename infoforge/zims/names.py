"""What a ZIM's file name says, and how a wanted ZIM is written on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from infoforge.contract import UsageError
from infoforge.text.editions import DATED, EDITION

NEWEST = "newest"
"""The period that asks for the newest edition and lets go of a pin."""

# A file name that reaches us over the network becomes a path, a URL and a word in a shell.
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~@-]{0,240}\.zim")


def stable_name(file: str) -> str:
    """The name that all editions share: the file name without ``_YYYY-MM`` and ``.zim``."""
    stem = file.removesuffix(".zim")
    match = DATED.fullmatch(stem)
    return match["name"] if match else stem


def edition(file: str) -> str:
    """The edition in a file name (``2026-06``, ``2026-06a``); empty when it has none."""
    match = DATED.fullmatch(file.removesuffix(".zim"))
    return match["date"] + match["part"] if match else ""


def file_name(url: str) -> str:
    """The ZIM's file name in a URL, checked to be fit as one.

    Args:
        url: Address of a ``.zim`` or of its ``.zim.meta4``.

    Raises:
        UsageError: The URL's last part is no plain ``….zim``.
    """
    name = unquote(urlsplit(url).path.rsplit("/", 1)[-1]).removesuffix(".meta4")
    if not _SAFE.fullmatch(name) or ".." in name:
        raise UsageError(
            f"'{url}' does not end in a ZIM's file name",
            "it must end in NAME.zim or NAME.zim.meta4",
        )
    return name


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for: a URL, or a name with an optional flavour and period.

    Attributes:
        text: As it was written.
        name: The catalog's name (``wikipedia_en_all``) or a file's stable name.
        flavour: ``maxi``, ``nopic``, ``mini`` …; empty when not said.
        period: ``YYYY-MM``, ``newest`` or empty.
        url: The URL; then the others are empty.
    """

    text: str
    name: str = ""
    flavour: str = ""
    period: str = ""
    url: str = ""


def parse_wanted(text: str) -> Wanted:
    """Read ``NAME[:FLAVOUR][@YYYY-MM]`` or a URL.

    Raises:
        UsageError: It is neither.
    """
    if text.lower().startswith(("http://", "https://")):
        if "@" in urlsplit(text).netloc:
            # It would stand in logs, notes and the list of processes.
            raise UsageError("a URL with a password cannot be pulled", "put it into ~/.netrc")
        return Wanted(text=text, url=text)
    hint = "write NAME, NAME:FLAVOUR, NAME:FLAVOUR@YYYY-MM or a URL"
    if "://" in text:
        raise UsageError(f"'{text}': only http and https can be pulled", hint)
    rest, _, period = text.partition("@")
    name, _, flavour = rest.partition(":")
    name = name.removesuffix(".zim")
    if not name or "/" in name or ("@" in text and not period) or (":" in rest and not flavour):
        raise UsageError(f"'{text}' names no ZIM", hint)
    if period and period != NEWEST and not EDITION.fullmatch(period):
        raise UsageError(f"'{period}' in '{text}' is no edition", "write @2026-06 or @newest")
    if not period and edition(name):
        # A whole file name was given: that is a name and its edition.
        name, period = stable_name(name), edition(name)
    return Wanted(text=text, name=name, flavour=flavour, period=period)
