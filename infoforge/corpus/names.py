"""File names of ZIMs: stable names, dates, flavours; the same for both ways of reading one."""

from __future__ import annotations

import unicodedata

from infoforge.text.editions import DATED


def url_name(file_name: str) -> str:
    """The name that kiwix-serve gives a file in its URLs (libkiwix, name_mapper)."""
    stem = file_name.removesuffix(".zim")
    plain = "".join(c for c in unicodedata.normalize("NFD", stem) if not unicodedata.combining(c))
    return plain.lower().replace(" ", "_").replace("+", "plus")


def stable_name(file_name: str) -> str:
    """The name without its date: what the configuration and citations call the ZIM."""
    stem = url_name(file_name)
    match = DATED.fullmatch(stem)
    return match["name"] if match else stem


def date_of(file_name: str) -> str:
    """``YYYY-MM`` of a dated file name, else empty."""
    match = DATED.fullmatch(file_name.removesuffix(".zim"))
    return match["date"][:7] if match else ""


def flavour_of(file_name: str) -> str:
    """``maxi``, ``nopic`` or ``mini`` where the name says so."""
    last = stable_name(file_name).rpartition("_")[2]
    return last if last in ("maxi", "nopic", "mini") else ""
