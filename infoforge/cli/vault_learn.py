"""``vault learn`` and ``vault review``: what agents leave, and what a person does with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infoforge.cli.console import Console, json_option
from infoforge.contract import UsageError

if TYPE_CHECKING:
    from infoforge.config.settings import Settings

_TEXT_BYTES = 1_000_000


def vault_settings(ctx: click.Context) -> Settings:
    """The settings of a run that needs a vault."""
    from infoforge.config.load import load

    settings = load(ctx.obj)
    if settings.vault.folder is None:
        raise UsageError(
            "no vault is configured", "set vault.folder to the folder of notes (docs/vault.md)"
        )
    return settings


@click.command()
@click.argument("title")
@json_option
@click.pass_context
def learn(ctx: click.Context, title: str, as_json: bool) -> int:
    """Leave a new file in agent_learnings/ for a person to look at; its text is standard input.

    It is not searched until a person moves it into the vault. Nothing is ever overwritten.

    Example: echo "The backup needs VPN." | infoforge vault learn "Backup needs VPN"
    """
    from datetime import datetime

    from infoforge.vault.learn import learn as leave

    console = Console.current("vault learn", as_json=as_json)
    settings = vault_settings(ctx)
    data = sys.stdin.buffer.read(_TEXT_BYTES + 1)
    if len(data) > _TEXT_BYTES:
        raise UsageError("the learning is far too long", "leave the one thing that was learnt")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("the learning is not UTF-8 text", "send text") from error
    path = leave(settings.vault, title, text, datetime.now())
    return console.finish({"file": str(path)}, [str(path)])


@click.command()
@json_option
@click.pass_context
def review(ctx: click.Context, as_json: bool) -> int:
    """List what agents left, with the commands that keep or delete each. For a person.

    Nothing is moved or deleted from here: infoforge never writes into the vault.

    Example: infoforge vault review
    """
    import shlex

    from infoforge.vault.learn import waiting

    console = Console.current("vault review", as_json=as_json)
    settings = vault_settings(ctx)
    folder = settings.vault.folder or Path()
    rows = [
        {
            "file": str(item.path),
            "title": item.title,
            "date": item.date,
            "bytes": item.size,
            "first": item.first,
            "keep": shlex.join(
                [
                    "mv",
                    "-n",
                    str(item.path),
                    str(folder / f"{item.title}.md"),
                ]
            ),
            "delete": shlex.join(["rm", str(item.path)]),
        }
        for item in waiting(settings.vault)
    ]
    lines = []
    for row in rows:
        lines.append(f"{row['title']}  ({row['date']}, {row['bytes']} bytes)")
        lines.append(f"    {row['first']}")
        lines.append(f"    keep:   {row['keep']}")
        lines.append(f"    delete: {row['delete']}")
    return console.finish({"learnings": rows}, lines or "nothing waits")
