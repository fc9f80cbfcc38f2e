"""`zims`: find, download, add and update ZIM files; the keeping of them is in ``zims_shelf``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

import click

from infoforge.cli.console import Console, json_option
from infoforge.cli.zims_shelf import folder_option, parts, shelf_commands, wait_option
from infoforge.cli.zims_show import (
    available_text,
    done_data,
    done_text,
    entry_data,
    hint_enable,
    outlook_data,
    outlook_text,
    plan_data,
    plan_text,
)
from infoforge.contract import EXIT_FAILED, UsageError

if TYPE_CHECKING:
    from infoforge.cli.zims_progress import Progress
    from infoforge.config.settings import Settings
    from infoforge.zims.pull import PullContext
    from infoforge.zims.update import UpdateCheck

F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def zims() -> None:
    """Find, download, verify and update ZIM files.

    Only available, pull and update ever connect to the internet.

    Example: infoforge zims pull wikipedia_en_all:nopic
    """


for _command in shelf_commands():
    zims.add_command(_command)


class Fetch(TypedDict):
    """What pull and update take."""

    names: tuple[str, ...]
    check: bool
    replace: bool
    no_verify: bool
    limit_rate: str | None
    keep_free: str | None
    retries: int
    wait: float
    folder: Path | None
    as_json: bool


def fetch_options(function: F) -> F:
    """The options that pull and update share."""
    options = (
        click.option("--check", is_flag=True, help="Print the plan and change nothing."),
        click.option("--replace", is_flag=True, help="Remove older editions afterwards."),
        click.option("--no-verify", is_flag=True, help="Take a file that has no SHA-256."),
        click.option("--limit-rate", metavar="SIZE", help="Most bytes a second (2MB, 500kB)."),
        click.option("--keep-free", metavar="SIZE", help="Room to leave [default: 1GiB or 2 %]."),
        click.option(
            "--retries",
            metavar="N",
            type=click.IntRange(1, 1000),
            default=3,
            show_default=True,
            help="Rounds through all mirrors without a byte gained.",
        ),
        wait_option,
        folder_option,
        json_option,
    )
    for option in reversed(options):
        function = option(function)
    return function


@zims.command()
@click.argument("words", nargs=-1)
@click.option("--lang", metavar="CODE", default="", help="Language (de, deu).")
@click.option("--flavour", metavar="NAME", default="", help="maxi, nopic or mini.")
@click.option("--max-size", metavar="SIZE", default="", help="Largest size (10GB).")
@json_option
@click.pass_context
def available(
    ctx: click.Context,
    /,
    *,
    words: tuple[str, ...],
    lang: str,
    flavour: str,
    max_size: str,
    as_json: bool,
) -> int:
    """List what the catalog has.

    One line each: name with flavour, date, size, language, title.

    Example: infoforge zims available wikipedia --lang de --max-size 10GB
    """
    from infoforge.config.load import load
    from infoforge.net import public_session
    from infoforge.zims.catalog import fetch_entries, search, server_filters
    from infoforge.zims.net import trust_of
    from infoforge.zims.units import size_argument

    console = Console.current("zims available", as_json=as_json)
    settings = load(ctx.obj)
    limit = size_argument(max_size) if max_size else 0
    filters = server_filters(lang, limit)
    with public_session(trust_of(settings.catalog)) as session:
        entries = fetch_entries(session, settings.catalog.url, console.warn, **filters)
    fitting = search(entries, words, language=lang, flavour=flavour, max_size=limit)
    found = [entry for entry in fitting if not entry.problem]
    left_out = [entry for entry in fitting if entry.problem]
    if not found:
        console.note("nothing in the catalog fits")
    for entry in left_out:
        console.note(f"left out: {entry.ident or entry.title}: {entry.problem}")
    data = {
        "catalog": settings.catalog.url,
        "zims": [entry_data(e) for e in found],
        "left_out": [{"ident": e.ident, "title": e.title, "reason": e.problem} for e in left_out],
    }
    return console.finish(data, available_text(found))


@contextmanager
def _job(
    settings: Settings, folder: Path, progress: Progress, options: Fetch
) -> Iterator[PullContext]:
    """A pull's whereabouts from settings and options."""
    from infoforge.net import public_session
    from infoforge.zims.download import DownloadOptions
    from infoforge.zims.net import trust_of
    from infoforge.zims.pull import PullContext
    from infoforge.zims.transfer import Limiter
    from infoforge.zims.units import size_argument

    rate = size_argument(options["limit_rate"]) if options["limit_rate"] else 0
    if options["limit_rate"] and not rate:
        raise UsageError("--limit-rate 0 would never end", "leave it out for full speed")
    keep_free = options["keep_free"]
    with public_session(trust_of(settings.catalog, options["names"])) as session:
        yield PullContext(
            folder=folder,
            catalog=settings.catalog.url,
            session=session,
            report=progress.report,
            warn=progress.warn,
            verify=not options["no_verify"],
            keep_free=None if keep_free is None else size_argument(keep_free),
            replace=options["replace"],
            options=DownloadOptions(settings.catalog.stall, Limiter(rate), options["retries"]),
        )


@contextmanager
def _interruptible(console: Console, progress: Progress, folder: Path) -> Iterator[None]:
    """Ctrl-C leaves what came, and says so."""
    from infoforge.zims.listing import unfinished
    from infoforge.zims.units import show_size

    try:
        yield
    except KeyboardInterrupt:
        progress.clear()
        for item in unfinished(folder):
            console.note(
                f"{show_size(item.have)} of {show_size(item.size)} of {item.file} are kept: "
                "the same command goes on from there"
            )
        raise
    finally:
        progress.clear()


@zims.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME[:FLAVOUR][@YYYY-MM]|URL...")
@fetch_options
@click.pass_context
def pull(ctx: click.Context, /, **options: Unpack[Fetch]) -> int:
    """Download ZIM files, whole and verified.

    A broken-off download is gone on with. The newest edition comes, unless one is named: @2026-06
    also pins it, @newest lets go of a pin. An older edition stays until prune, or goes at once
    with --replace. With --json, events go to stderr, one JSON object a line.

    Example: infoforge zims pull wikipedia_en_all:nopic wiktionary_de_all@2026-06
    """
    from infoforge.cli.zims_progress import Progress
    from infoforge.zims.lock import folder_lock
    from infoforge.zims.names import parse_wanted
    from infoforge.zims.pull import execute, plan, require_space
    from infoforge.zims.state import load_state

    console, names = Console.current("zims pull", as_json=options["as_json"]), options["names"]
    settings, place = parts(ctx, options["folder"])
    wanted = [parse_wanted(name) for name in names]
    progress = Progress(console)
    with _job(settings, place, progress, options) as job, _interruptible(console, progress, place):
        if options["check"]:
            steps = plan(job, wanted, load_state(place))
            space = require_space(job, steps)
            return console.finish(plan_data(place, steps, space), plan_text(steps, space))
        with folder_lock(
            place,
            f"infoforge zims pull {' '.join(names)}",
            wait=options["wait"],
            report=progress.report,
            warn=progress.warn,
        ):
            state = load_state(place)
            steps = plan(job, wanted, state)
            done = execute(job, steps, state)
    hint_enable(console, settings, [item.step.file for item in done if item.fetched])
    return console.finish(done_data(place, done), done_text(done))


@zims.command()
@click.argument("names", nargs=-1)
@fetch_options
@click.pass_context
def update(ctx: click.Context, /, **options: Unpack[Fetch]) -> int:
    """Fetch newer editions of what is there.

    Of all, or of NAMES; pinned ones stay.

    Example: infoforge zims update --check
    """
    from infoforge.cli.zims_progress import Progress
    from infoforge.zims.lock import folder_lock
    from infoforge.zims.pull import execute, require_space
    from infoforge.zims.state import load_state
    from infoforge.zims.update import check_updates

    console, names = Console.current("zims update", as_json=options["as_json"]), options["names"]
    settings, place = parts(ctx, options["folder"])
    progress = Progress(console)
    with _job(settings, place, progress, options) as job, _interruptible(console, progress, place):
        if options["check"]:
            looks = check_updates(job, names, load_state(place))
            steps = [look.step for look in looks if look.step]
            data = plan_data(place, steps, require_space(job, steps))
            data["names"] = [outlook_data(look) for look in looks]
            return console.finish(data, outlook_text(looks), _exit(looks))
        with folder_lock(
            place,
            "infoforge zims update",
            wait=options["wait"],
            report=progress.report,
            warn=progress.warn,
        ):
            state = load_state(place)
            looks = check_updates(job, names, state)
            done = execute(job, [look.step for look in looks if look.step], state)
    data = done_data(place, done) | {"names": [outlook_data(look) for look in looks]}
    text = "\n".join(filter(None, (outlook_text(looks), done_text(done))))
    return console.finish(data, text, _exit(looks))


def _exit(looks: Sequence[UpdateCheck]) -> int:
    return EXIT_FAILED if any(look.action == "failed" for look in looks) else 0
