"""`doctor`: run the health checks, repair what can be repaired, record and report what changed.

To add checks: a function that takes a `CheckContext` and lists `HealthCheck`s, and a row in
`GROUPS`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from infoforge.box import checks
from infoforge.box.health import (
    FAIL,
    PASS,
    WARN,
    CheckContext,
    CheckGroup,
    CheckResult,
    HealthCheck,
    group_of,
    run_checks,
    selected,
)
from infoforge.box.monitor import StateStore, record
from infoforge.box.notify import StateChange
from infoforge.box.repair import Repair, repair
from infoforge.box.vault_checks import vault
from infoforge.config.settings import Settings
from infoforge.contract import Warn


def _box(context: CheckContext) -> Iterable[HealthCheck]:
    from infoforge.box.box_checks import box

    return box(context)


GROUPS: tuple[tuple[str, CheckGroup], ...] = (
    ("config", checks.config),
    ("folder", checks.folder),
    ("zim", checks.zims),
    ("box", _box),
    ("kiwix", checks.kiwix),
    ("vault", vault),
    ("search", checks.search),
    ("endpoint", checks.endpoints),
)
"""The registry of health checks, in the order in which they depend on each other."""

_AFTER_REPAIR = ("zim", "box", "kiwix", "search")
"""Groups that a repair may change, and that are checked again after it."""


@dataclass(slots=True)
class DoctorReport:
    """One run: what was found, what was repaired, what changed since the last."""

    checks: list[CheckResult] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    change: StateChange | None = None
    seconds: float = 0.0

    def count(self, status: str) -> int:
        """Number of checks that ended so."""
        return sum(check.status == status for check in self.checks)

    def data(self) -> dict[str, Any]:
        """The JSON document's ``data``."""
        return {
            "checks": [check.data() for check in self.checks],
            "passed": self.count(PASS),
            "warned": self.count(WARN),
            "failed": self.count(FAIL),
            "healed": [asdict(made) for made in self.repairs],
            "change": self.change.data() if self.change else None,
        }


def examine(
    context: CheckContext,
    only: Sequence[str] = (),
    *,
    more: Sequence[tuple[str, CheckGroup]] = (),
    show: Callable[[CheckResult], None] = lambda check: None,
) -> DoctorReport:
    """Run every check of `GROUPS`, then those of ``more``; see `run_checks`.

    Args:
        context: What to check.
        only: Names of groups or checks to run alone.
        more: Further groups, of packages above this one.
        show: Called with each result as soon as there is one.
    """
    begun = time.monotonic()
    report = DoctorReport()
    for check in run_checks(context, (*GROUPS, *more), only):
        report.checks.append(check)
        show(check)
    report.seconds = time.monotonic() - begun
    return report


def watch(
    settings: Settings,
    timeout: float,
    only: Sequence[str] = (),
    *,
    more: Sequence[tuple[str, CheckGroup]] = (),
    heal: bool,
    show: Callable[[CheckResult], None],
    show_repair: Callable[[Repair], None],
    warn: Warn,
) -> DoctorReport:
    """Run the checks, repair if asked to, check again what a repair may have changed, record it.

    Args:
        settings: The effective settings.
        timeout: Seconds that one check may take.
        only: Names of groups or checks to run alone.
        more: Further groups, of packages above this one.
        heal: Repair what can be repaired.
        show: Called with each result as soon as there is one.
        show_repair: Called with each repair, made or not.
        warn: Takes a warning for each notification that fails.

    Raises:
        CheckFailed: The state cannot be kept.
    """
    from infoforge.box.podman import Podman

    begun = time.monotonic()
    report = examine(CheckContext(settings, timeout, measure=False), only, more=more, show=show)
    store = StateStore()
    with store.locked() as state:
        if heal:
            report.repairs = repair(settings, Podman(), state.heals, time.time())
            for made in report.repairs:
                show_repair(made)
        if any(made.done for made in report.repairs) or (heal and _perhaps_over(report)):
            names = [name for name in only if group_of(name) in _AFTER_REPAIR]
            report.checks = [c for c in report.checks if group_of(c.name) not in _AFTER_REPAIR]
            if names or not only:
                again = CheckContext(settings, timeout, measure=False)
                report.checks += examine(again, names or _AFTER_REPAIR, show=show).checks
        report.change = record(
            settings,
            report.checks,
            report.repairs,
            state,
            store=store,
            warn=warn,
            asked_for=lambda name: selected(name, only),
        )
    report.seconds = time.monotonic() - begun
    return report


def _perhaps_over(report: DoctorReport) -> bool:
    """Whether what fails may be over: another timer repairs, and was perhaps at work just then."""
    from infoforge.box.podman import environment
    from infoforge.box.systemd import active, unit_file

    passing = ("box:container", "box:service", "kiwix")
    failed = [check.name for check in report.checks if check.status == FAIL]
    if not any(name in passing or group_of(name) == "search" for name in failed):
        return False
    return unit_file().is_file() and active(environment())
