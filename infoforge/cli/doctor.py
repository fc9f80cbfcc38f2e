"""`doctor`: check every link of the chain, heal what can be healed, tell what changed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infoforge.cli.console import Console, colour, json_option, printable, table, write
from infoforge.contract import EXIT_FAILED, CheckFailed, ConfigError, UsageError

if TYPE_CHECKING:
    from infoforge.box.heal import Repair
    from infoforge.box.history import Event
    from infoforge.box.walk import Check
    from infoforge.config.settings import Settings

_COLOURS = {"PASS": "32", "WARN": "33", "FAIL": "31"}
_HEALED_GROUPS = ("zim", "box", "kiwix", "search")
"""What a repair may change, and so is looked at again."""


@dataclass(slots=True)
class _Look:
    """One run: what was found, what was repaired, what changed since the last."""

    checks: list[Check] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    event: Event | None = None
    seconds: float = 0.0


@click.command()
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Only this group of checks (zim) or this check (endpoint:ollama); may be repeated.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest wait for one answer.",
)
@click.option("--quiet", is_flag=True, help="Print only what is not well.")
@click.option("--heal", is_flag=True, help="Repair what can be repaired; and --watch.")
@click.option("--watch", is_flag=True, help="Keep the result, and tell what changed.")
@click.option("--history", is_flag=True, help="Print what changed when; check nothing.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "prometheus"]),
    default="text",
    help="prometheus: metrics for a node exporter.",
)
@click.option("--output", metavar="FILE", help="Write the metrics there, whole, for its folder.")
@json_option
@click.pass_context
def doctor(
    ctx: click.Context,
    /,
    *,
    only: tuple[str, ...],
    timeout: float,
    quiet: bool,
    heal: bool,
    watch: bool,
    history: bool,
    form: str,
    output: str | None,
    as_json: bool,
) -> int:
    """Check every link of the chain: configuration, ZIM files, kiwix-serve, search, models.

    Prints PASS, WARN or FAIL for each, with what to do next. Exit code 1 when a check failed;
    warnings alone are 0. Connects only to what is configured.

    Example: infoforge doctor --only zim --only search
    """
    from infoforge.config.load import load

    console = Console.current("doctor", as_json=as_json)
    metrics = form == "prometheus"
    if metrics and as_json:
        raise UsageError("--format prometheus is no JSON", "leave out --json, or the format")
    if output and not metrics:
        raise UsageError("--output needs --format prometheus", "see infoforge doctor --help")
    if history:
        return _history(console)
    show = _print if not (as_json or metrics) else _hide
    try:
        settings = load(ctx.obj)
    except ConfigError as error:
        raise _bad_config(error, show) from error
    look = _examine(console, settings, only, timeout, show, quiet=quiet, heal=heal, watch=watch)
    failed = sum(check.status == "FAIL" for check in look.checks)
    if metrics:
        return _metrics(look, output, failed)
    verdict = f"{failed} check(s) failed" if failed else "all checks passed"
    if failed and as_json:
        raise CheckFailed(verdict, "data.checks has each with its hint", data=_data(look))
    if failed or not quiet:
        return console.finish(_data(look), f"doctor: {verdict}", EXIT_FAILED if failed else 0)
    return console.finish(_data(look))


def _bad_config(error: ConfigError, show: Callable[[Check], None]) -> ConfigError:
    """Nothing further can be known without it, and a bad file is exit code 2 everywhere."""
    from infoforge.box.walk import FAIL, Check

    look = _Look([Check("config", FAIL, error.message, error.hint)])
    show(look.checks[0])
    if show is _print:
        write(sys.stdout, "doctor: 1 check(s) failed\n")
    return ConfigError(error.message, error.hint, code=error.code, data=_data(look))


def _examine(
    console: Console,
    settings: Settings,
    only: Sequence[str],
    timeout: float,
    show: Callable[[Check], None],
    *,
    quiet: bool,
    heal: bool,
    watch: bool,
) -> _Look:
    """Look, repair, look again, and keep what changed."""
    from infoforge.agents import skill
    from infoforge.box.doctor import examine
    from infoforge.box.history import Journal
    from infoforge.box.walk import PASS, Case
    from infoforge.box.watch import note

    begun = time.monotonic()
    look = _Look()

    def walk(names: Sequence[str]) -> None:
        case = Case(settings, timeout, measure=not (heal or watch))
        for check in examine(case, names, (("skill", skill.steps),)):
            look.checks.append(check)
            if not (quiet and check.status == PASS):
                show(check)

    walk(only)
    if heal or watch:
        journal = Journal()
        with journal.locked() as memory:
            if heal:
                _heal(console, settings, look, memory.heals)
            if any(repair.done for repair in look.repairs) or (heal and _perhaps_over(look)):
                again = [name for name in only if _group(name) in _HEALED_GROUPS]
                names = again if only else _HEALED_GROUPS
                look.checks[:] = [c for c in look.checks if _group(c.name) not in _HEALED_GROUPS]
                if names:
                    walk(names)
            look.event = note(
                settings,
                look.checks,
                look.repairs,
                memory,
                journal=journal,
                warn=console.warn,
                looked_at=lambda name: _asked(name, only),
            )
    look.seconds = time.monotonic() - begun
    return look


def _perhaps_over(look: _Look) -> bool:
    """Whether what fails may be over: another timer heals, and was perhaps at work just then."""
    from infoforge.box.checks import unit_file
    from infoforge.box.podman import environment
    from infoforge.box.unit import active

    passing = ("box:container", "box:service", "kiwix")
    failed = [check.name for check in look.checks if check.status == "FAIL"]
    if not any(name in passing or _group(name) == "search" for name in failed):
        return False
    return unit_file().is_file() and active(environment())


def _heal(console: Console, settings: Settings, look: _Look, heals: list[float]) -> None:
    from infoforge.box.heal import repair
    from infoforge.box.podman import Podman

    look.repairs += repair(settings, Podman(), heals, time.time())
    for made in look.repairs:
        console.note(f"{'healed' if made.done else 'not healed'}: {made.reason}: {made.detail}")


def _group(name: str) -> str:
    return name.partition(":")[0]


def _asked(name: str, only: Sequence[str]) -> bool:
    return not only or any(name == other or name.startswith(f"{other}:") for other in only)


def _metrics(look: _Look, output: str | None, failed: int) -> int:
    from infoforge.box.metrics import text
    from infoforge.box.metrics import write as put

    metrics = text(look.checks, seconds=look.seconds, now=time.time())
    if output:
        put(Path(output), metrics)
    else:
        write(sys.stdout, metrics)
    return EXIT_FAILED if failed else 0


def _history(console: Console) -> int:
    """What changed when, newest last."""
    from infoforge.box.history import Journal

    journal = Journal()
    memory, events = journal.read(), journal.events()
    state = ("bad" if memory.failing else "good") if memory.last else "unknown"
    data = {
        "state": state,
        "since": memory.since or None,
        "last": memory.last or None,
        "failing": [{"name": n, "detail": d} for n, d in memory.failing.items()],
        "events": events,
    }
    rows = [(str(e.get("time")), str(e.get("kind")), printable(_told(e))) for e in events]
    if memory.last:
        rows.append((memory.last, state, f"as since {memory.since} (the last look)"))
    if not rows:
        console.note("no look was kept yet: infoforge doctor --watch, or infoforge-doctor.timer")
    return console.finish(data, table(rows))


def _told(event: dict[str, Any]) -> str:
    parts = [f"repaired: {sentence}" for sentence in event.get("healed", ())]
    parts += [f"fails: {name}" for name in event.get("new", ())]
    parts += [f"over: {name}" for name in event.get("over", ())]
    return "; ".join(parts)


def _hide(check: Check) -> None:
    """Nothing for people where a program reads."""


def _print(check: Check) -> None:
    mark = check.status
    if colour(sys.stdout):
        mark = f"\033[{_COLOURS[mark]}m{mark}\033[0m"
    text = f"  [{mark}] {printable(check.name)}  {printable(check.detail)}\n"
    if check.hint:
        text += f"         next: {printable(check.hint)}\n"
    write(sys.stdout, text)


def _data(look: _Look) -> dict[str, Any]:
    checks = look.checks
    counts = {
        word: sum(check.status == status for check in checks)
        for word, status in (("passed", "PASS"), ("warned", "WARN"), ("failed", "FAIL"))
    }
    rows = [
        {
            "name": c.name,
            "status": c.status,
            "detail": c.detail,
            "hint": c.hint,
            "measured": dict(c.measured),
        }
        for c in checks
    ]
    healed = [
        {"what": r.what, "reason": r.reason, "done": r.done, "detail": r.detail}
        for r in look.repairs
    ]
    change = look.event.data() if look.event else None
    return {"checks": rows, **counts, "healed": healed, "change": change}
