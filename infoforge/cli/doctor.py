"""`doctor`: what the health checks found, as text, JSON or metrics."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infoforge.cli.console import Console, Number, colour, json_option, printable, table, write
from infoforge.contract import EXIT_FAILED, CheckFailed, ConfigError, UsageError

if TYPE_CHECKING:
    from infoforge.box.doctor import DoctorReport
    from infoforge.box.health import CheckResult
    from infoforge.box.repair import Repair

_COLOURS = {"PASS": "32", "WARN": "33", "FAIL": "31"}


@click.command()
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Only this group of checks (zim) or this check (endpoint:ollama); may be repeated.",
)
@click.option(
    "--timeout",
    type=Number(0.1, 3600),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest wait for one answer.",
)
@click.option("--quiet", is_flag=True, help="Print only what is not well.")
@click.option("--heal", is_flag=True, help="Repair what can be repaired; and --watch.")
@click.option("--watch", is_flag=True, help="Record the result, and notify of what changed.")
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
    """Check configuration, ZIM files, container, kiwix-serve, vault, search and models.

    Prints PASS, WARN or FAIL for each, with what to do next. Exit code 1 when a check failed;
    warnings alone are 0. Connects only to what is configured.

    Example: infoforge doctor --only zim --only search
    """
    from infoforge.agents import skill
    from infoforge.box.doctor import examine
    from infoforge.box.doctor import watch as watch_box
    from infoforge.box.health import FAIL, PASS, CheckContext
    from infoforge.config.load import load

    console = Console.current("doctor", as_json=as_json)
    metrics = form == "prometheus"
    if metrics and as_json:
        raise UsageError("--format prometheus is no JSON", "leave out --json, or the format")
    if output and not metrics:
        raise UsageError("--output needs --format prometheus", "see infoforge doctor --help")
    if history:
        return _history(console)

    def show(check: CheckResult) -> None:
        if not (as_json or metrics or (quiet and check.status == PASS)):
            _print(check)

    def show_repair(made: Repair) -> None:
        console.note(f"{'healed' if made.done else 'not healed'}: {made.reason}: {made.detail}")

    try:
        settings = load(ctx.obj)
    except ConfigError as error:
        raise _bad_config(error, silent=as_json or metrics) from error
    more = (("skill", skill.checks),)
    if heal or watch:
        report = watch_box(
            settings,
            timeout,
            only,
            more=more,
            heal=heal,
            show=show,
            show_repair=show_repair,
            warn=console.warn,
        )
    else:
        report = examine(CheckContext(settings, timeout), only, more=more, show=show)
    failed = report.count(FAIL)
    if metrics:
        return _metrics(report, output, failed)
    verdict = f"{failed} check(s) failed" if failed else "all checks passed"
    if failed and as_json:
        raise CheckFailed(verdict, "data.checks has each with its hint", data=report.data())
    if failed or not quiet:
        return console.finish(report.data(), f"doctor: {verdict}", EXIT_FAILED if failed else 0)
    return console.finish(report.data())


def _bad_config(error: ConfigError, *, silent: bool) -> ConfigError:
    """Nothing further can be known without it, and a bad file is exit code 2 everywhere."""
    from infoforge.box.doctor import DoctorReport
    from infoforge.box.health import FAIL, CheckResult

    report = DoctorReport([CheckResult("config", FAIL, error.message, error.hint)])
    if not silent:
        _print(report.checks[0])
        write(sys.stdout, "doctor: 1 check(s) failed\n")
    return ConfigError(error.message, error.hint, code=error.code, data=report.data())


def _metrics(report: DoctorReport, output: str | None, failed: int) -> int:
    from infoforge.box.metrics import text
    from infoforge.box.metrics import write as put

    metrics = text(report.checks, seconds=report.seconds, now=time.time())
    if output:
        put(Path(output), metrics)
    else:
        write(sys.stdout, metrics)
    return EXIT_FAILED if failed else 0


def _history(console: Console) -> int:
    """What changed when, newest last."""
    from infoforge.box.monitor import StateStore

    data = StateStore().summary()
    rows = [(str(e.get("time")), str(e.get("kind")), printable(_told(e))) for e in data["events"]]
    if data["last"]:
        rows.append((data["last"], data["state"], f"as since {data['since']} (the last run)"))
    if not rows:
        console.note("no run was recorded yet: infoforge doctor --watch, or infoforge-doctor.timer")
    return console.finish(data, table(rows))


def _told(event: dict[str, Any]) -> str:
    parts = [f"repaired: {sentence}" for sentence in event.get("healed", ())]
    parts += [f"fails: {name}" for name in event.get("new", ())]
    parts += [f"over: {name}" for name in event.get("over", ())]
    return "; ".join(parts)


def _print(check: CheckResult) -> None:
    mark = check.status
    if colour(sys.stdout):
        mark = f"\033[{_COLOURS[mark]}m{mark}\033[0m"
    text = f"  [{mark}] {printable(check.name)}  {printable(check.detail)}\n"
    if check.hint:
        text += f"         next: {printable(check.hint)}\n"
    write(sys.stdout, text)
