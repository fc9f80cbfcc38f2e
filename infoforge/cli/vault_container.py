"""``vault pull``, ``load``, ``start`` and ``stop``: the container of the vault's database."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infoforge.cli.console import Console, accept_option, json_option
from infoforge.cli.vault_learn import vault_settings
from infoforge.contract import UsageError

if TYPE_CHECKING:
    from infoforge.box.podman import Podman
    from infoforge.config.settings import Settings


def _parts(ctx: click.Context) -> tuple[Settings, Podman]:
    """The settings, and the Podman that runs this machine's own database."""
    from infoforge.box.podman import Podman

    settings = vault_settings(ctx)
    if settings.vault.url:
        raise UsageError(
            "vault.url names a server, which is not run from here",
            "empty vault.url for the container",
        )
    return settings, Podman()


@click.command()
@accept_option
@json_option
@click.pass_context
def pull(ctx: click.Context, accept: bool, as_json: bool) -> int:
    """Fetch the database's container image from its registry (`start` never does).

    Example: infoforge vault pull
    """
    return _fetch(ctx, Console.current("vault pull", as_json=as_json), None, accept)


@click.command()
@click.argument("archive", type=click.Path(path_type=Path))
@accept_option
@json_option
@click.pass_context
def load(ctx: click.Context, archive: Path, accept: bool, as_json: bool) -> int:
    """Take the database's container image from an archive that `podman save` wrote.

    Example: infoforge vault load pgvector.tar
    """
    return _fetch(ctx, Console.current("vault load", as_json=as_json), archive, accept)


def _fetch(ctx: click.Context, console: Console, archive: Path | None, accept: bool) -> int:
    from infoforge.box.image import image_data
    from infoforge.box.postgres import fetch

    settings, podman = _parts(ctx)
    name = settings.vault.image
    before = podman.inspect("image", name)
    quiet = console.as_json or not sys.stderr.isatty()
    found = image_data(fetch(settings, podman, archive, quiet=quiet, accept=accept))
    changed = before is None or before.get("Id") != found["id"]
    text = f"{name} is {'now' if changed else 'already'} on this machine"
    return console.finish({"changed": changed, "image": found}, text)


@click.command()
@json_option
@click.pass_context
def start(ctx: click.Context, as_json: bool) -> int:
    """Make sure that the database's container runs (a unit calls this at boot).

    Example: infoforge vault start
    """
    from infoforge.box.postgres import start as run

    console = Console.current("vault start", as_json=as_json)
    settings, podman = _parts(ctx)
    found = run(settings, podman)
    return _told(
        console,
        settings,
        found.action,
        changed=found.action == "created",
        more={"action": found.action, "reason": found.reason, "seconds": found.seconds},
    )


@click.command()
@json_option
@click.pass_context
def stop(ctx: click.Context, as_json: bool) -> int:
    """Stop and remove the database's container; the index stays in its volume.

    Example: infoforge vault stop
    """
    from infoforge.box.postgres import stop as end

    console = Console.current("vault stop", as_json=as_json)
    settings, podman = _parts(ctx)
    changed = end(settings, podman)
    return _told(console, settings, "stopped" if changed else "there was none", changed=changed)


def _told(
    console: Console,
    settings: Settings,
    said: str,
    *,
    changed: bool,
    more: dict[str, Any] | None = None,
) -> int:
    name = settings.vault.container
    return console.finish({"name": name, **(more or {}), "changed": changed}, f"{name}: {said}")
