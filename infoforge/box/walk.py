"""What a check is, and the walk from one to the next that nothing stops."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import TypeVar

from infoforge.config.settings import Settings
from infoforge.contract import InfoForgeError, UsageError, WarningMessage

PASS, WARN, FAIL = "PASS", "WARN", "FAIL"


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check.

    Attributes:
        name: Stable name, its group first: ``zim:wiki_2026-06.zim``, ``endpoint:ollama:model``.
        status: ``PASS``, ``WARN`` or ``FAIL``.
        detail: One line.
        hint: What to run or set next; empty when nothing is to be done.
        label: What was looked at, where it was measured: a file, a path, a corpus, an endpoint.
        measured: What was measured, by name with its unit: ``search_seconds``, ``free_bytes``.
    """

    name: str
    status: str
    detail: str
    hint: str = ""
    label: str = ""
    measured: Mapping[str, float] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """Something to look at: its name, and the call that gives checks of that name or below it."""

    name: str
    run: Callable[[], Iterable[Check]]


@dataclass(slots=True)
class Case:
    """What is being looked at.

    Attributes:
        settings: The effective settings.
        timeout: Seconds that one look may take.
        today: What the age of a dump is counted from.
        damage: What is wrong with each ZIM file looked at so far; empty text for nothing.
        measure: Measure how much a model server reads, where it does not say so. That takes as long
            as the longest question, too long for a look every few minutes.
    """

    settings: Settings
    timeout: float = 60.0
    today: date = field(default_factory=date.today)
    damage: dict[Path, str] = field(default_factory=dict)
    measure: bool = True

    def damage_of(self, path: Path) -> str:
        """What is wrong with a ZIM file's header or index; looked at once."""
        if path not in self.damage:
            from infoforge.zims.check import quick

            self.damage[path] = quick(path)
        return self.damage[path]

    def wanted(self) -> tuple[list[Path], list[WarningMessage]]:
        """The ZIM files that should be used, and what is enabled but missing."""
        from infoforge.corpus.opened import wanted_files

        missing: list[WarningMessage] = []
        return wanted_files(self.settings, missing.append), missing


Group = Callable[[Case], Iterable[Step]]
T = TypeVar("T")


def walk(
    case: Case, groups: Sequence[tuple[str, Group]], only: Sequence[str] = ()
) -> Iterator[Check]:
    """Walk the chain; a failing link does not stop the walk.

    Args:
        case: What to look at.
        groups: Name and function of each group, in order.
        only: Names of groups (``zim``) or checks (``endpoint:ollama``) to look at alone.

    Yields:
        Each check as soon as it is made.

    Raises:
        UsageError: A name in ``only`` begins with no group.
    """
    _known(only, [name for name, _ in groups])
    matched: set[str] = set()
    # Steps keep within the time-out themselves; this is for what hangs where no time-out reaches
    # (a network file system, say).
    patience = 4 * case.timeout + 10
    for group, list_steps in groups:
        if only and not any(_group_of(name) == group for name in only):
            continue
        for step in _guarded(group, partial(list_steps, case), patience):
            if isinstance(step, Check):
                yield step
                continue
            if not _asked_for(step.name, only, within=True):
                continue
            for check in _guarded(step.name, step.run, patience):
                if _asked_for(check.name, only) or check.name == step.name:
                    matched.update(name for name in only if _below(check.name, name))
                    yield check
    for name in only:
        if ":" in name and name not in matched:
            yield Check(
                name, FAIL, "there is no such check", f"infoforge doctor --only {_group_of(name)}"
            )


def _group_of(name: str) -> str:
    return name.partition(":")[0]


def _below(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}:")


def _asked_for(name: str, only: Sequence[str], *, within: bool = False) -> bool:
    """Whether a check is one of those asked for (``within``: or may lead to one)."""
    return not only or any(_below(name, o) or (within and _below(o, name)) for o in only)


def _known(only: Sequence[str], groups: Sequence[str]) -> None:
    import difflib

    for name in only:
        if _group_of(name) not in groups:
            near = difflib.get_close_matches(_group_of(name), groups, 1)
            hint = f"did you mean '{near[0]}'?" if near else "known are: " + ", ".join(groups)
            raise UsageError(f"doctor: no such check: {name}", hint)


def _guarded(name: str, run: Callable[[], Iterable[T]], patience: float) -> list[T | Check]:
    """What a call gives; its failing, and its hanging, become a check that failed."""
    found: list[T | Check] = []

    def go() -> None:
        try:
            for item in run():
                found.append(item)
        except Exception as error:
            found.append(_failure(name, error))

    thread = threading.Thread(target=go, name=f"doctor {name}", daemon=True)
    thread.start()
    thread.join(patience)
    if thread.is_alive():
        return [*found, Check(name, FAIL, f"no end within {patience:.0f} s", "raise --timeout")]
    return found


def _failure(name: str, error: Exception) -> Check:
    from infoforge.corpus.base import CorpusError

    text = " ".join(str(error).split())
    if isinstance(error, InfoForgeError):
        return Check(name, FAIL, text, error.hint)
    if isinstance(error, CorpusError):
        return Check(name, FAIL, text)
    return Check(
        name,
        FAIL,
        f"the check itself failed: {type(error).__name__}: {text}",
        "please report it with the output of infoforge doctor --json",
    )
