"""What a health check is, and how they are run: none stops the next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from infoforge.config.settings import Settings
from infoforge.contract import InfoForgeError, UsageError

if TYPE_CHECKING:
    from infoforge.zims.inventory import Choice

PASS, WARN, FAIL = "PASS", "WARN", "FAIL"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check.

    Attributes:
        name: Stable name, its group first: ``zim:wiki_2026-06.zim``, ``endpoint:ollama:model``.
        status: ``PASS``, ``WARN`` or ``FAIL``.
        detail: One line.
        hint: What to run or set next; empty when nothing is to be done.
        label: What was checked, where it was measured: a file, a path, a corpus, an endpoint.
        measured: What was measured, by name with its unit: ``search_seconds``, ``free_bytes``.
    """

    name: str
    status: str
    detail: str
    hint: str = ""
    label: str = ""
    measured: Mapping[str, float] = field(default_factory=dict, compare=False)

    def data(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "name": self.name,
            "status": self.status,
            "detail": self.detail,
            "hint": self.hint,
            "measured": dict(self.measured),
        }


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A check: its name, and the call that gives results of that name or below it."""

    name: str
    run: Callable[[], Iterable[CheckResult]]


@dataclass(slots=True)
class CheckContext:
    """What is checked.

    Attributes:
        settings: The effective settings.
        timeout: Seconds that one check may take.
        today: What the age of a dump is counted from.
        damage: What is wrong with each ZIM file checked so far; empty text for nothing.
        measure: Measure how much a model server reads, where it does not say so. That takes as long
            as the longest question, too long for a run every few minutes.
    """

    settings: Settings
    timeout: float = 60.0
    today: date = field(default_factory=date.today)
    damage: dict[Path, str] = field(default_factory=dict)
    measure: bool = True

    def damage_of(self, path: Path) -> str:
        """What is wrong with a ZIM file; checked once, whatever the cache says."""
        if path not in self.damage:
            from infoforge.zims.inventory import CachedCheck

            self.damage[path] = CachedCheck(fresh=True)(path)
        return self.damage[path]

    def choice(self) -> Choice:
        """The ZIM files that are used, and what is not and why."""
        from infoforge.zims.inventory import choose

        return choose(self.settings.zims, self.damage_of)


CheckGroup = Callable[[CheckContext], Iterable[HealthCheck]]
T = TypeVar("T")


def run_checks(
    context: CheckContext, groups: Sequence[tuple[str, CheckGroup]], only: Sequence[str] = ()
) -> Iterator[CheckResult]:
    """Run the checks; one that fails or hangs does not stop the next.

    Args:
        context: What to check.
        groups: Name and function of each group, in order.
        only: Names of groups (``zim``) or checks (``endpoint:ollama``) to run alone.

    Yields:
        Each result as soon as there is one.

    Raises:
        UsageError: A name in ``only`` begins with no group.
    """
    _known(only, [name for name, _ in groups])
    matched: set[str] = set()
    # A check keeps to its time-out itself; this is for what hangs where none reaches (a network
    # file system, say).
    patience = 4 * context.timeout + 10
    for group, list_checks in groups:
        if only and not any(group_of(name) == group for name in only):
            continue
        for item in _guarded(group, partial(list_checks, context), patience):
            if isinstance(item, CheckResult):
                yield item
                continue
            if not selected(item.name, only, within=True):
                continue
            for check in _guarded(item.name, item.run, patience):
                if selected(check.name, only) or check.name == item.name:
                    matched.update(name for name in only if _below(check.name, name))
                    yield check
    for name in only:
        if ":" in name and name not in matched:
            yield CheckResult(
                name, FAIL, "there is no such check", f"infoforge doctor --only {group_of(name)}"
            )


def group_of(name: str) -> str:
    """The group of a check, the first part of its name."""
    return name.partition(":")[0]


def _below(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}:")


def selected(name: str, only: Sequence[str], *, within: bool = False) -> bool:
    """Whether a check is one of those asked for (``within``: or may lead to one)."""
    return not only or any(_below(name, o) or (within and _below(o, name)) for o in only)


def _known(only: Sequence[str], groups: Sequence[str]) -> None:
    import difflib

    for name in only:
        if group_of(name) not in groups:
            near = difflib.get_close_matches(group_of(name), groups, 1)
            hint = f"did you mean '{near[0]}'?" if near else "known are: " + ", ".join(groups)
            raise UsageError(f"doctor: no such check: {name}", hint)


def _guarded(name: str, run: Callable[[], Iterable[T]], patience: float) -> list[T | CheckResult]:
    """What a call gives; its failing, and its hanging, become a check that failed."""
    found: list[T | CheckResult] = []

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
        return [
            *found,
            CheckResult(name, FAIL, f"no end within {patience:.0f} s", "raise --timeout"),
        ]
    return found


def _failure(name: str, error: Exception) -> CheckResult:
    from infoforge.corpus.base import CorpusError

    text = " ".join(str(error).split())
    if isinstance(error, InfoForgeError):
        return CheckResult(name, FAIL, text, error.hint)
    if isinstance(error, CorpusError):
        return CheckResult(name, FAIL, text)
    return CheckResult(
        name,
        FAIL,
        f"the check itself failed: {type(error).__name__}: {text}",
        "please report it with the output of infoforge doctor --json",
    )
