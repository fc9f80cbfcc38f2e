"""`doctor`: check every link of the chain."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from infoforge.cli.console import Console, colour, json_option, printable, write
from infoforge.contract import EXIT_FAILED, CheckFailed, ConfigError

if TYPE_CHECKING:
    from infoforge.box.walk import Check

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
    type=click.FloatRange(0.1, 3600),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest wait for one answer.",
)
@click.option("--quiet", is_flag=True, help="Print only what is not well.")
@json_option
@click.pass_context
def doctor(
    ctx: click.Context, only: tuple[str, ...], timeout: float, quiet: bool, as_json: bool
) -> int:
    """Check every link of the chain: configuration, ZIM files, kiwix-serve, search, models.

    Prints PASS, WARN or FAIL for each, with what to do next. Exit code 1 when a check failed;
    warnings alone are 0. Connects only to what is configured.

    Example: infoforge doctor --only zim --only search
    """
    from infoforge.box.doctor import examine
    from infoforge.box.walk import FAIL, PASS, Case, Check
    from infoforge.config.load import load

    console = Console.current("doctor", as_json=as_json)
    checks: list[Check] = []
    try:
        settings = load(ctx.obj)
    except ConfigError as error:
        # Nothing further can be known without it, and a bad file is exit code 2 everywhere.
        checks.append(Check("config", FAIL, error.message, error.hint))
        if not as_json:
            _print(checks[0])
            write(sys.stdout, "doctor: 1 check(s) failed\n")
        raise ConfigError(error.message, error.hint, data=_data(checks)) from error
    for check in examine(Case(settings, timeout), only):
        checks.append(check)
        if not as_json and not (quiet and check.status == PASS):
            _print(check)
    failed = sum(check.status == FAIL for check in checks)
    verdict = f"{failed} check(s) failed" if failed else "all checks passed"
    if failed and as_json:
        raise CheckFailed(verdict, "data.checks has each with its hint", data=_data(checks))
    if failed or not quiet:
        return console.finish(_data(checks), f"doctor: {verdict}", EXIT_FAILED if failed else 0)
    return console.finish(_data(checks))


def _print(check: Check) -> None:
    mark = check.status
    if colour(sys.stdout):
        mark = f"\033[{_COLOURS[mark]}m{mark}\033[0m"
    text = f"  [{mark}] {printable(check.name)}  {printable(check.detail)}\n"
    if check.hint:
        text += f"         next: {printable(check.hint)}\n"
    write(sys.stdout, text)


def _data(checks: list[Check]) -> dict[str, Any]:
    counts = {
        word: sum(check.status == status for check in checks)
        for word, status in (("passed", "PASS"), ("warned", "WARN"), ("failed", "FAIL"))
    }
    rows = [
        {"name": c.name, "status": c.status, "detail": c.detail, "hint": c.hint} for c in checks
    ]
    return {"checks": rows, **counts}
