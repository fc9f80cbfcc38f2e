"""What the roles need to work out, as functions with tests (tests/unit/test_role_filters.py)."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any


def subid_ranges(table: str) -> list[tuple[str, int, int]]:
    """The rows of ``/etc/subuid`` or ``/etc/subgid``: owner, first ID, number of IDs."""
    rows = []
    for line in table.splitlines():
        parts = line.strip().split(":")
        if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit():
            rows.append((parts[0], int(parts[1]), int(parts[2])))
    return rows


def subid_count(table: str, user: str, uid: object = "") -> int:
    """How many subordinate IDs a user has, by name or by number."""
    owners = {user, str(uid)}
    return sum(count for owner, _, count in subid_ranges(table) if owner in owners)


def subid_free(table: str, count: int, start: int = 100_000) -> int:
    """The first ID of a range of ``count`` that nobody has, from ``start`` on."""
    first = start
    for _, begin, width in sorted(subid_ranges(table), key=lambda row: row[1]):
        if begin < first + count and first < begin + width:
            first = begin + width
    return first


def unknown_variables(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Names that no role takes but that look like one it does take, each with what was meant.

    A variable of somebody else's that happens to begin alike (``host_region``) is left alone.

    Returns:
        ``"kiwix_prot (did you mean kiwix_port?)"``, sorted.
    """
    taken = sorted(known)
    found = []
    for name in sorted(set(names) - set(taken)):
        near = difflib.get_close_matches(name, taken, 1, cutoff=0.7)
        if near:
            found.append(f"{name} (did you mean {near[0]}?)")
    return found


def cli_reply(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a call of ``infoforge … --json`` came to.

    Args:
        result: The result of the command task.

    Returns:
        ``ok``, ``data`` (a dict, empty when there is none), ``warnings`` (sentences) and
        ``complaint`` (message and remedy in one line, empty when it is well).
    """
    text = str(result.get("stdout") or "")
    try:
        document = json.loads(text)
    except ValueError:
        document = {}
    if not isinstance(document, dict):
        document = {}
    code = int(result.get("rc", 0) or 0)
    said = [
        f"{e.get('message', '')}" + (f". Remedy: {e['hint']}" if e.get("hint") else "")
        for e in document.get("errors") or []
    ]
    raw = str(result.get("stderr") or result.get("msg") or "it printed nothing").strip()
    return {
        "ok": code == 0,
        "data": document.get("data") or {},
        "warnings": [str(w.get("message", "")) for w in document.get("warnings") or []],
        "complaint": "" if code == 0 else ("; ".join(said) or f"exit code {code}: {raw[-600:]}"),
    }


_EDITION = re.compile(r"_\d{4}-\d{2}(?:-\d{2})?[a-z]{0,2}$")


def zims_missing(wanted: Iterable[str], files: Iterable[str]) -> list[str]:
    """Which of the wanted ZIMs no file fits.

    Args:
        wanted: As ``infoforge zims pull`` takes them: ``NAME[:FLAVOUR][@YYYY-MM]`` or a URL.
        files: File names on the box.

    Returns:
        The wanted ones that are to be pulled, as they were written. An edition is only asked for
        where one is named: newer ones are the business of update.yml.
    """
    have = list(files)
    return [text for text in wanted if not any(_fits(text, file) for file in have)]


def _fits(wanted: str, file: str) -> bool:
    if "://" in wanted:
        return file == wanted.rsplit("/", 1)[-1].removesuffix(".meta4")
    rest, _, period = wanted.partition("@")
    name, _, flavour = rest.removesuffix(".zim").partition(":")
    stem = file.removesuffix(".zim")
    if stem == name:
        return True
    stable = _EDITION.sub("", stem)
    if period and period != "newest" and not stem.endswith(f"_{period}"):
        return False
    if flavour:
        return stable == f"{name}_{flavour}"
    return stable == name or stable in {f"{name}_{kind}" for kind in ("maxi", "nopic", "mini")}


def human_size(count: float) -> str:
    """Bytes for people: ``1.4 GiB``."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def margin(free_total: int) -> int:
    """Room that stays free on a disk: the bigger of 1 GiB and 2 % of the disk, as the CLI's."""
    return max(1024**3, free_total // 50)


class FilterModule:
    """The table of filters that Ansible reads."""

    def filters(self) -> dict[str, Any]:
        """Name in a template -> function."""
        return {
            "infoforge_subid_count": subid_count,
            "infoforge_subid_free": subid_free,
            "infoforge_unknown_variables": unknown_variables,
            "infoforge_reply": cli_reply,
            "infoforge_zims_missing": zims_missing,
            "infoforge_size": human_size,
            "infoforge_margin": margin,
        }
