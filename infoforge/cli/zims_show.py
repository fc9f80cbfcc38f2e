"""The two renderings of what the ``zims`` commands found: data for JSON, text for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infoforge.cli.console import Console, table
from infoforge.text import display

if TYPE_CHECKING:
    from infoforge.config.settings import Settings
    from infoforge.zims.catalog import CatalogEntry
    from infoforge.zims.listing import Unfinished, Zim
    from infoforge.zims.pull import PullResult, PullStep
    from infoforge.zims.space import Space
    from infoforge.zims.update import UpdateCheck


def entry_data(entry: CatalogEntry) -> dict[str, Any]:
    """A catalog entry."""
    return {
        "ident": entry.ident,
        "name": entry.name,
        "flavour": entry.flavour,
        "date": entry.date,
        "size": entry.size,
        "title": entry.title,
        "description": entry.description,
        "languages": list(entry.languages),
        "articles": entry.articles,
        "file": entry.file,
        "url": entry.url,
    }


def available_text(entries: Sequence[CatalogEntry]) -> str:
    """Catalog entries, one line each."""
    from infoforge.zims.units import show_size

    rows = [
        (
            e.ident,
            e.date or "-",
            show_size(e.size).rjust(8),
            ",".join(e.languages[:3]) + ("…" if len(e.languages) > 3 else ""),
            e.title,
        )
        for e in entries
    ]
    return table(rows)


def step_data(step: PullStep) -> dict[str, Any]:
    """One file of a plan."""
    from infoforge.zims.names import edition, stable_name

    return {
        "file": step.file,
        "name": stable_name(step.file),
        "edition": edition(step.file),
        "size": step.size,
        "sha256": step.sha256,
        "action": "fetch" if step.source else "present",
        "reason": step.reason,
        "have": step.have,
        "mirrors": list(step.source.mirrors) if step.source else [],
        "other_editions": list(step.older),
    }


def plan_data(folder: Path, steps: Sequence[PullStep], space: Space) -> dict[str, Any]:
    """A plan (``--check``) with the balance of space."""
    return {
        "changed": False,
        "check": True,
        "folder": str(folder),
        "space": {
            "need": space.need,
            "free": space.free,
            "short": space.short,
            "margin": space.margin,
            "filesystem": space.filesystem,
        },
        "zims": [step_data(step) for step in steps],
    }


def plan_text(steps: Sequence[PullStep], space: Space) -> str:
    """What would be done, and whether it fits."""
    from infoforge.zims.units import show_size

    lines = []
    for step in steps:
        if step.source is None:
            lines.append(f"{step.file} {step.reason}: nothing to do")
            continue
        count = len(step.source.mirrors)
        have = f", {show_size(step.have)} of it are there" if step.have else ""
        lines.append(
            f"would fetch {step.file} ({show_size(step.size)}{have}) "
            f"from {count} address{'es' * (count != 1)}: it {step.reason}"
        )
    if any(step.source for step in steps):
        lines.append(
            f"need {show_size(space.need)} (with {show_size(space.margin)} to stay free), "
            f"free {show_size(space.free)}"
        )
    return display.lines(lines)


def done_data(folder: Path, done: Sequence[PullResult]) -> dict[str, Any]:
    """What became of a plan."""
    rows = []
    for item in done:
        row = step_data(item.step)
        fetched = item.fetched
        row |= {
            "action": "pulled" if fetched else "present",
            "fetched": fetched.fetched if fetched else 0,
            "resumed_from": fetched.resumed_from if fetched else 0,
            "mirror": fetched.mirror if fetched else "",
            "removed": list(item.removed),
        }
        rows.append(row)
    changed = any(item.fetched for item in done)
    return {"changed": changed, "check": False, "folder": str(folder), "zims": rows}


def done_text(done: Sequence[PullResult]) -> str:
    """What became of a plan, one line a file."""
    from infoforge.zims.units import show_size

    lines = []
    for item in done:
        step = item.step
        if item.fetched is None:
            lines.append(f"{step.file} is there already: nothing to do")
            continue
        lines.append(f"pulled {step.file} ({show_size(step.size)})")
        lines += [f"removed {file}" for file in item.removed]
    return display.lines(lines)


def outlook_data(look: UpdateCheck) -> dict[str, Any]:
    """What an update means for one name."""
    return {
        "name": look.name,
        "file": look.file,
        "newest": look.newest,
        "action": look.action,
        "problem": look.problem,
    }


def outlook_text(looks: Sequence[UpdateCheck]) -> str:
    """What an update means, one line a name."""
    from infoforge.zims.units import show_size

    words = {
        "current": "is the newest",
        "pinned": "is pinned",
        "unlisted": "is not in the catalog",
    }
    lines = []
    for look in looks:
        size = f", {show_size(look.step.size)}" if look.step else ""
        told = {
            **words,
            "update": f"-> {look.newest}{size}",
            "failed": f"-> {look.newest}: {look.problem}",
        }
        lines.append(f"{look.file} {told[look.action]}")
    return display.lines(lines)


def hint_enable(console: Console, settings: Settings, files: Sequence[str]) -> None:
    """Say what is still to be done before new files are used."""
    from infoforge.zims.inventory import is_enabled
    from infoforge.zims.names import stable_name

    for file in files:
        if not is_enabled(file, settings.zims.enabled):
            console.note(f"{file} is not enabled: infoforge zims enable {stable_name(file)}")
    if files and settings.kiwix.url:
        console.note("kiwix-serve takes it up when it is restarted: infoforge serve start")


def zim_data(zim: Zim) -> dict[str, Any]:
    """One file of the shelf."""
    data = asdict(zim)
    data["languages"] = list(zim.languages)
    return data | {"valid": not zim.problem}


def list_text(shelf: Sequence[Zim], broken_off: Sequence[Unfinished]) -> str:
    """The shelf as a table, then what is wrong and what is not whole."""
    from infoforge.zims.units import show_size

    served = {True: "yes", False: "no", None: "?"}
    rows: list[Sequence[str]] = []
    if shelf:
        head = "FILE LANG DATE AGE SIZE ARTICLES FULLTEXT VALID ENABLED SERVED TITLE"
        rows.append(head.split())
    for zim in shelf:
        rows.append(
            (
                zim.file,
                ",".join(zim.languages[:3]) or "-",
                zim.date[:10] or "-",
                "-" if zim.age_days is None else f"{zim.age_days} d",
                show_size(zim.size),
                str(zim.articles),
                "yes" if zim.fulltext else "no",
                "no" if zim.problem else "yes",
                ("yes" if zim.enabled else "no") + (" (pinned)" if zim.pinned else ""),
                served[zim.served],
                zim.title,
            )
        )
    lines = [f"{z.file}: {z.problem}" for z in shelf if z.problem]
    lines += [
        f"{u.file}: broken off at {show_size(u.have)} of {show_size(u.size)}; "
        "pull goes on from there"
        for u in broken_off
    ]
    return "\n".join(filter(None, (table(rows), display.lines(lines))))
