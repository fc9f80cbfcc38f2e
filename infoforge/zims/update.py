"""Newer editions of what is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infoforge.contract import InfoForgeError
from infoforge.zims.check import quick
from infoforge.zims.inventory import editions, unknown
from infoforge.zims.names import book_name, edition, stable_name
from infoforge.zims.pull import CatalogLookup, PullContext, PullStep, step_for
from infoforge.zims.source import resolve
from infoforge.zims.state import State


@dataclass(frozen=True, slots=True)
class UpdateCheck:
    """What an update means for one name.

    Attributes:
        name: Stable name.
        file: The newest edition that is there.
        newest: The edition in the catalog; empty when it has none of the name.
        action: ``update`` (also when the file is damaged), ``current``, ``pinned``, ``unlisted``
            (not in the catalog: one's own documents, say) or ``failed``.
        step: What there is to do, for ``update``.
        problem: Why it failed.
    """

    name: str
    file: str
    newest: str
    action: str
    step: PullStep | None = None
    problem: str = ""


def check_updates(job: PullContext, names: Sequence[str], state: State) -> list[UpdateCheck]:
    """Compare the shelf with the catalog; changes nothing.

    Args:
        job: Where and how.
        names: Stable names or file names to look at; none means all.
        state: The folder's memory, with the pins.

    Raises:
        UsageError: A name that is not there.
        CheckFailed: The catalog cannot be read.
    """
    groups = editions(job.folder)
    for name in names:
        if book_name(name) not in groups:
            raise unknown(job.folder, stable_name(name))
    wanted = [book_name(name) for name in names] or list(groups)
    lookup = CatalogLookup(job, many=True)
    result = []
    for book in dict.fromkeys(wanted):
        file = groups[book][0]
        name = stable_name(file)
        if name in state.pins:
            result.append(UpdateCheck(name, file, "", "pinned"))
            continue
        found = [e for e in lookup.whole() if e.stable == name]
        if not found:
            result.append(UpdateCheck(name, file, "", "unlisted"))
            continue
        newest = max(found, key=lambda e: e.date)
        good = newest.date < edition(file) or not quick(job.folder / file)
        if newest.date <= edition(file) and good:
            result.append(UpdateCheck(name, file, newest.date, "current"))
            continue
        try:
            source = resolve(job.session, newest.url, ident=newest.ident, verify=job.verify)
            step = step_for(job, source, state)
            result.append(UpdateCheck(name, file, newest.date, "update", step))
        except InfoForgeError as error:
            # One mirror list that is away must not keep the others from being updated.
            result.append(UpdateCheck(name, file, newest.date, "failed", problem=error.message))
    return result
