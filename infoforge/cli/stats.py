"""``stats``: how often and how fast; what was asked only if the admin wants it kept."""

from __future__ import annotations

from typing import Any

import click

from infoforge.cli.console import Console, json_option, printable, table


@click.command()
@click.option("--forget", is_flag=True, help="Delete all records.")
@json_option
@click.pass_context
def stats(ctx: click.Context, forget: bool, as_json: bool) -> int:
    """Show how often ask, search and passages were used, how they ended, and how long they took.

    What was asked is not kept, unless log.questions is on.

    Example: infoforge stats
    """
    from infoforge.agents.stats import stats_file, summary
    from infoforge.config.load import load

    console = Console.current("stats", as_json=as_json)
    settings = load(ctx.obj)
    if forget:
        stats_file().unlink(missing_ok=True)
    found = summary(questions_logged=settings.log.questions)
    return console.finish(found, _text(found))


def _text(found: dict[str, Any]) -> str:
    if not found["runs"]:
        return "nothing was asked yet"
    rows = [["command", "runs", "p50 ms", "p95 ms", "most ms"]]
    for name, count in found["by_command"].items():
        times = found["milliseconds"][name]
        rows.append([name, str(count), *(f"{times[key]:.0f}" for key in ("p50", "p95", "most"))])
    ends = ", ".join(f"{count} {status}" for status, count in found["by_status"].items())
    blocks = [f"since {found['since']}: {found['runs']} runs ({ends})", table(rows)]
    if found["questions"]:
        asked = [
            (row["time"], str(row["exit_code"]), printable(row["question"]))
            for row in found["questions"]
        ]
        blocks.append(table(asked))
    return "\n\n".join(blocks)
