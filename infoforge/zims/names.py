"""What a ZIM's file name says, and how a wanted ZIM is written on the command line."""

from __future__ import annotations

import re
import shlex
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from infoforge.contract import UsageError
from infoforge.text.editions import DATED, EDITION

NEWEST = "newest"
"""The period that asks for the newest edition and lets go of a pin."""

# A file name that reaches us over the network becomes a path, a URL and a word in a shell.
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~@-]{0,240}\.zim")


# The extension of a file, and of the parts that one was split into.
_EXTENSION = re.compile(r"\.zim(?:[a-z]{2})?", re.IGNORECASE)
_PART = re.compile(r"(?P<whole>.+\.zim)[a-z]{2}")
_FLAVOURS = ("maxi", "nopic", "mini")


def stem(file: str) -> str:
    """A file name without ``.zim`` (``.zimaa`` of a part)."""
    match = _EXTENSION.search(file, max(0, len(file) - len(".zimaa")))
    return file[: match.start()] if match and match.end() == len(file) else file


def stable_name(file: str) -> str:
    """The name that all editions share: the file name without ``_YYYY-MM`` and ``.zim``."""
    match = DATED.fullmatch(stem(file))
    return match["name"] if match else stem(file)


def edition(file: str) -> str:
    """The edition in a file name (``2026-06``, ``2026-06a``); empty when it has none."""
    match = DATED.fullmatch(stem(file))
    return match["date"] + match["part"] if match else ""


def month(file: str) -> str:
    """``YYYY-MM`` of a file name with an edition, else empty."""
    return edition(file)[:7]


def flavour(file: str) -> str:
    """``maxi``, ``nopic`` or ``mini`` where the file name says so."""
    last = book_name(file).rpartition("_")[2]
    return last if last in _FLAVOURS else ""


def url_name(file: str) -> str:
    """The name that kiwix-serve gives a file in its URLs (libkiwix: lower case, no accents).

    Two names are the same ZIM's when this is equal: it is what every comparison goes by.
    """
    plain = unicodedata.normalize("NFD", stem(file).lower())
    plain = "".join(c for c in plain if not unicodedata.category(c).startswith("M"))
    return unicodedata.normalize("NFC", plain).replace(" ", "_").replace("+", "plus")


def book_name(file: str) -> str:
    """The stable name as kiwix-serve writes it: the name of the corpus, and of its citations."""
    return stable_name(url_name(file))


def is_part(file: str) -> bool:
    """Whether a file name is that of a part (``a.zimaa``)."""
    return _PART.fullmatch(file) is not None


def parts_of(path: Path) -> list[Path]:
    """The files that hold a ZIM: itself, or the parts that it was split into, in order."""
    match = _PART.fullmatch(path.name)
    if match is None:
        return [path]
    start = match["whole"]
    others = (p for p in path.parent.iterdir() if p.name.startswith(start))
    return sorted(p for p in others if len(p.name) == len(start) + 2 and is_part(p.name))


def located(path: Path) -> Path:
    """The file that is opened for a path: the first part where the whole file is not there."""
    part = path.with_name(f"{path.name}aa")
    return part if path.suffix == ".zim" and not path.exists() and part.is_file() else path


def join_command(path: Path) -> str:
    """The shell command that makes one file of the parts."""
    whole = path.with_name(_PART.sub(r"\g<whole>", path.name))
    parts = " ".join(shlex.quote(str(part)) for part in parts_of(path))
    return f"cat {parts} > {shlex.quote(str(whole))}"


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
    if not text.isprintable():
        raise UsageError(f"'{text}' names no ZIM", "a name or URL has no control characters")
    if text.lower().startswith(("http://", "https://")):
        try:
            parts = urlsplit(text)
            usable = bool(parts.hostname) and len(parts.hostname or "") <= 253 and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise UsageError(f"'{text[:200]}' is not a usable URL", "https://HOST/NAME.zim")
        if "@" in parts.netloc:
            # It would stand in logs, notes and the list of processes.
            raise UsageError(
                "a URL with a password cannot be pulled",
                "put it into the file that catalog.auth_file names",
            )
        return Wanted(text=text, url=text)
    hint = "write NAME, NAME:FLAVOUR, NAME:FLAVOUR@YYYY-MM or a URL"
    if "://" in text:
        raise UsageError(f"'{text}': only http and https can be pulled", hint)
    rest, _, period = text.partition("@")
    name, _, flavour = rest.partition(":")
    name = stem(name)
    if not name or "/" in name or ("@" in text and not period) or (":" in rest and not flavour):
        raise UsageError(f"'{text}' names no ZIM", hint)
    if period and period != NEWEST and not EDITION.fullmatch(period):
        raise UsageError(f"'{period}' in '{text}' is no edition", "write @2026-06 or @newest")
    if not period and edition(name):
        # A whole file name was given: that is a name and its edition.
        name, period = stable_name(name), edition(name)
    return Wanted(text=text, name=name, flavour=flavour, period=period)
