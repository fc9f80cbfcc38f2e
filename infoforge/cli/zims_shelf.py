"""`zims add`, `list`, `verify`, `remove`, `enable`, `disable`, `prune`: none uses the network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infoforge.cli.console import Console, Number, json_option
from infoforge.cli.zims_show import hint_enable, list_text, zim_data
from infoforge.contract import EXIT_FAILED

if TYPE_CHECKING:
    from infoforge.config.settings import Settings

folder_option = click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="ZIM folder [default: zims.folder of the configuration].",
)
wait_option = click.option(
    "--wait",
    metavar="SECONDS",
    type=Number(0),
    default=0.0,
    help="Wait so long for another command in the folder [default: say who it is].",
)


def parts(ctx: click.Context, folder: Path | None) -> tuple[Settings, Path]:
    """The settings, and the folder that is meant."""
    from infoforge.config.load import load

    settings = load(ctx.obj)
    return settings, (folder.absolute() if folder else settings.zims.folder)


def shelf_commands() -> tuple[click.Command, ...]:
    """The commands of this module, for the group."""
    return (add, list_, verify, remove, enable, disable, prune)


@click.command()
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)
@click.option("--link", is_flag=True, help="Link to the file instead of copying it.")
@click.option("--no-verify", is_flag=True, help="Take a file that has no checksum at all.")
@click.option("--keep-free", metavar="SIZE", help="Room to leave [default: 1GiB or 2 %].")
@wait_option
@folder_option
@json_option
@click.pass_context
def add(
    ctx: click.Context,
    /,
    *,
    paths: tuple[Path, ...],
    link: bool,
    no_verify: bool,
    keep_free: str | None,
    wait: float,
    folder: Path | None,
    as_json: bool,
) -> int:
    """Add ZIM files from a stick or a folder.

    The same checks as with pull, and no network. A .sha256 or .meta4 beside a file is honoured;
    otherwise the ZIM's own checksum must fit.

    Example: infoforge zims add /media/stick/wikipedia_en_all_nopic_2026-06.zim
    """
    from infoforge.cli.zims_progress import Progress
    from infoforge.zims.add import Adding, gather, require_space
    from infoforge.zims.add import add as add_one
    from infoforge.zims.lock import folder_lock
    from infoforge.zims.state import load_state
    from infoforge.zims.units import size_argument

    console = Console.current("zims add", as_json=as_json)
    settings, place = parts(ctx, folder)
    progress = Progress(console)
    adding = Adding(
        folder=place,
        report=progress.report,
        warn=progress.warn,
        verify=not no_verify,
        keep_free=None if keep_free is None else size_argument(keep_free),
        link=link,
    )
    rows = []
    try:
        with folder_lock(
            place, "infoforge zims add", wait=wait, report=progress.report, warn=progress.warn
        ):
            state = load_state(place)
            additions = gather(place, paths, state)
            require_space(adding, additions)
            for item in additions:
                action = add_one(adding, item, state)
                rows.append({"file": item.file, "size": item.size, "action": action})
    finally:
        progress.clear()
    hint_enable(console, settings, [str(r["file"]) for r in rows if r["action"] != "present"])
    words = {"present": "is there already: nothing to do", "copied": "added", "linked": "linked"}
    text = [f"{row['file']} {words[str(row['action'])]}" for row in rows]
    changed = any(row["action"] != "present" for row in rows)
    return console.finish({"changed": changed, "folder": str(place), "zims": rows}, text)


@click.command("list")
@folder_option
@json_option
@click.pass_context
def list_(ctx: click.Context, folder: Path | None, as_json: bool) -> int:
    """List the ZIM files that are there.

    With language, date, size, articles, and whether each is good, enabled and served.

    Example: infoforge zims list --json
    """
    from infoforge.zims.listing import list_zims, served_uuids, unfinished
    from infoforge.zims.state import load_state

    console = Console.current("zims list", as_json=as_json)
    settings, place = parts(ctx, folder)
    shelf = list_zims(place, settings.zims.enabled, load_state(place), served_uuids(settings.kiwix))
    broken_off = unfinished(place)
    if not shelf and not broken_off:
        console.note(f"no ZIM files in {place} (infoforge zims available lists what there is)")
    data = {
        "folder": str(place),
        "zims": [zim_data(zim) for zim in shelf],
        "unfinished": [asdict(item) for item in broken_off],
    }
    return console.finish(data, list_text(shelf, broken_off))


@click.command()
@click.argument("names", nargs=-1)
@click.option("--full", is_flag=True, help="Read every byte and compare the checksums.")
@folder_option
@json_option
@click.pass_context
def verify(
    ctx: click.Context, names: tuple[str, ...], full: bool, folder: Path | None, as_json: bool
) -> int:
    """Check whether the files are good.

    All, or NAMES: header and index quickly, every byte with --full.

    Example: infoforge zims verify --full wikipedia_en_all_nopic
    """
    from infoforge.cli.zims_progress import Progress
    from infoforge.zims.inventory import find, zim_files
    from infoforge.zims.retention import verify as verify_one
    from infoforge.zims.state import load_state, save_state

    console = Console.current("zims verify", as_json=as_json)
    _, place = parts(ctx, folder)
    progress = Progress(console)
    state = load_state(place)
    before = dict(state.files)
    verdicts = []
    try:
        for file in find(place, names) if names else zim_files(place):
            verdicts.append(verify_one(place, file, state, progress.report, full=full))
    finally:
        progress.clear()
        if state.files != before:
            _save_quietly(lambda: save_state(place, state))
    if not verdicts:
        console.note(f"no ZIM files in {place}")
    bad = [v for v in verdicts if v.problem]
    text = [f"{v.file}: {v.problem or 'good'}" for v in verdicts]
    data = {
        "folder": str(place),
        "good": not bad,
        "zims": [{**asdict(v), "valid": not v.problem} for v in verdicts],
    }
    return console.finish(data, text, EXIT_FAILED if bad else 0)


def _save_quietly(save: Callable[[], None]) -> None:
    """Remember, where that is possible: a read-only shelf can be verified too."""
    from contextlib import suppress

    with suppress(OSError):
        save()


@click.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Also the only good edition of a name.")
@wait_option
@folder_option
@json_option
@click.pass_context
def remove(
    ctx: click.Context,
    /,
    *,
    names: tuple[str, ...],
    force: bool,
    wait: float,
    folder: Path | None,
    as_json: bool,
) -> int:
    """Remove ZIM files.

    By file name, or by the name without the date (then all its editions). The only good edition
    of a name goes only with --force.

    Example: infoforge zims remove wikipedia_en_all_nopic_2026-03.zim
    """
    from infoforge.cli.zims_progress import Progress
    from infoforge.zims.inventory import zim_files
    from infoforge.zims.lock import folder_lock
    from infoforge.zims.retention import enabled_after
    from infoforge.zims.retention import remove as remove_files
    from infoforge.zims.state import load_state

    console = Console.current("zims remove", as_json=as_json)
    settings, place = parts(ctx, folder)
    with folder_lock(
        place,
        "infoforge zims remove",
        wait=wait,
        report=Progress(console).report,
        warn=console.warn,
    ):
        gone = remove_files(place, names, load_state(place), force=force)
    enabled = settings.zims.enabled
    left = enabled_after(enabled, [g.file for g in gone], zim_files(place))
    if settings.path and left != list(enabled):
        from infoforge.config.edit import set_enabled

        set_enabled(settings.path, left)
    data = {"changed": bool(gone), "folder": str(place), "removed": [asdict(g) for g in gone]}
    return console.finish(data, [f"removed {g.file}" for g in gone])


@click.command()
@click.option("--check", is_flag=True, help="Say what would go and change nothing.")
@wait_option
@folder_option
@json_option
@click.pass_context
def prune(ctx: click.Context, check: bool, wait: float, folder: Path | None, as_json: bool) -> int:
    """Remove what newer editions supersede.

    An older edition goes where a newer one is known to be good to the last byte; so do
    broken-off downloads that were overtaken. Pinned editions stay.

    Example: infoforge zims prune --check
    """
    from infoforge.cli.zims_progress import Progress
    from infoforge.zims.lock import folder_lock
    from infoforge.zims.retention import prune as prune_folder
    from infoforge.zims.state import load_state
    from infoforge.zims.units import show_size

    console = Console.current("zims prune", as_json=as_json)
    settings, place = parts(ctx, folder)
    progress = Progress(console)
    enabled = settings.zims.enabled
    try:
        if check or not place.is_dir():
            gone, kept = prune_folder(
                place, enabled, load_state(place), progress.report, check=True
            )
        else:
            with folder_lock(
                place, "infoforge zims prune", wait=wait, report=progress.report, warn=progress.warn
            ):
                gone, kept = prune_folder(
                    place, enabled, load_state(place), progress.report, check=False
                )
    finally:
        progress.clear()
    verb = "would remove" if check else "removed"
    lines = [f"{verb} {g.file} ({show_size(g.size)}): {g.reason}" for g in gone]
    lines += [f"kept {k.file}: {k.reason}" for k in kept]
    data = {
        "changed": bool(gone) and not check,
        "check": check,
        "folder": str(place),
        "removed": [asdict(g) for g in gone],
        "kept": [asdict(k) for k in kept],
        "bytes": sum(g.size for g in gone),
    }
    return console.finish(data, lines or "nothing to prune")


@click.command()
@click.argument("names", nargs=-1, required=True)
@folder_option
@json_option
@click.pass_context
def enable(ctx: click.Context, names: tuple[str, ...], folder: Path | None, as_json: bool) -> int:
    """Let ZIM files be used.

    Enters them in the configuration, whose comments stay.

    Example: infoforge zims enable wiktionary_de_all
    """
    return _switch(ctx, "zims enable", names, folder, as_json=as_json, on=True)


@click.command()
@click.argument("names", nargs=-1, required=True)
@folder_option
@json_option
@click.pass_context
def disable(ctx: click.Context, names: tuple[str, ...], folder: Path | None, as_json: bool) -> int:
    """Let ZIM files not be used.

    Takes them from the configuration, whose comments stay; the files stay too.

    Example: infoforge zims disable wiktionary_de_all
    """
    return _switch(ctx, "zims disable", names, folder, as_json=as_json, on=False)


def _switch(
    ctx: click.Context,
    command: str,
    names: Sequence[str],
    folder: Path | None,
    *,
    as_json: bool,
    on: bool,
) -> int:
    from infoforge.config.edit import set_enabled
    from infoforge.config.locate import default_path
    from infoforge.zims.inventory import find, is_meant, switched, zim_files

    console = Console.current(command, as_json=as_json)
    settings, place = parts(ctx, folder)
    enabled = settings.zims.enabled
    for name in names:
        if on or not any(is_meant(item, name) for item in enabled):
            find(place, [name])
    wanted = switched(enabled, zim_files(place), names, on=on)
    path = settings.path or default_path()
    changed = wanted != list(enabled) and set_enabled(path, wanted)
    data = {"changed": changed, "config": str(path), "enabled": wanted}
    what = "every ZIM in the folder" if not wanted else ", ".join(wanted)
    text = f"{'now' if changed else 'already'} enabled: {what}"
    return console.finish(data, [text])
