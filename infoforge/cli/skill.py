"""``skill``: the file that makes infoforge known to agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from infoforge.cli.console import Console, json_option, printable, table
from infoforge.contract import EXIT_FAILED

if TYPE_CHECKING:
    from infoforge.agents.skill import InstalledSkill, Place

F = TypeVar("F", bound=Callable[..., Any])

_target_option = click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="NAME|DIR",
    help="agents, claude, or a folder of skills; may be repeated [default: agents and claude].",
)


@click.group()
def skill() -> None:
    """Tell agents of infoforge, by a skill file where they look for one.

    Example: infoforge skill install
    """


@skill.command()
@json_option
def show(as_json: bool) -> int:
    """Print the skill file of this version.

    Example: infoforge skill show
    """
    from infoforge import __version__
    from infoforge.agents.skill import NAME, text

    console = Console.current("skill show", as_json=as_json)
    body = text()
    return console.finish({"name": NAME, "version": __version__, "text": body}, body)


@skill.command()
@_target_option
@click.option("--force", is_flag=True, help="Overwrite a file that was edited.")
@json_option
def install(targets: tuple[str, ...], force: bool, as_json: bool) -> int:
    """Write the skill file to ~/.agents/skills and ~/.claude/skills.

    A file that was edited by hand is never overwritten without --force.

    Example: infoforge skill install --target agents
    """
    from infoforge.agents.skill import install as write_one
    from infoforge.agents.skill import places

    console = Console.current("skill install", as_json=as_json)
    rows = [(place, write_one(place, force=force)) for place in places(targets)]
    data = {
        "changed": any(action != "present" for _, action in rows),
        "skills": [{**_place(place), "action": action} for place, action in rows],
    }
    return console.finish(data, "\n".join(f"{action}: {place.path}" for place, action in rows))


@skill.command()
@_target_option
@json_option
def status(targets: tuple[str, ...], as_json: bool) -> int:
    """Say whether the skill file is where agents look, and of this version.

    Exit code 1 when one is missing, old or edited.

    Example: infoforge skill status
    """
    from infoforge.agents.skill import look, places

    console = Console.current("skill status", as_json=as_json)
    found = [look(place) for place in places(targets)]
    current = all(item.state == "current" for item in found)
    data = {"current": current, "skills": [_row(item) for item in found]}
    rows = [(item.state, printable(str(item.place.path)), item.version) for item in found]
    return console.finish(data, table(rows), 0 if current else EXIT_FAILED)


@skill.command()
@_target_option
@click.option("--force", is_flag=True, help="Remove a file that was edited, too.")
@json_option
def uninstall(targets: tuple[str, ...], force: bool, as_json: bool) -> int:
    """Remove the skill file again; one that was edited stays without --force.

    Example: infoforge skill uninstall
    """
    from infoforge.agents.skill import places
    from infoforge.agents.skill import uninstall as remove_one

    console = Console.current("skill uninstall", as_json=as_json)
    rows = [(place, remove_one(place, force=force)) for place in places(targets)]
    data = {
        "changed": any(action == "removed" for _, action in rows),
        "skills": [{**_place(place), "action": action} for place, action in rows],
    }
    return console.finish(data, "\n".join(f"{action}: {place.path}" for place, action in rows))


def _place(place: Place) -> dict[str, Any]:
    return {"target": place.target, "path": str(place.path)}


def _row(found: InstalledSkill) -> dict[str, Any]:
    return {**_place(found.place), "state": found.state, "version": found.version}
