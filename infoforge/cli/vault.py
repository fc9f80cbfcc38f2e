"""``vault``: a folder of notes as a corpus; its database, its index, what agents leave."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infoforge.cli.console import Console, json_option, printable, table
from infoforge.cli.vault_container import load, pull, start, stop
from infoforge.cli.vault_learn import learn, review, vault_settings
from infoforge.contract import UsageError, WarningMessage

if TYPE_CHECKING:
    from infoforge.config.settings import Settings
    from infoforge.vault.index import Indexed


@click.group(short_help="Search a folder of notes; keep its index.")
def vault() -> None:
    """Make a folder of markdown notes searchable, and keep it so.

    People write the notes; agents read them, and leave what they learnt with `vault learn` for a
    person to look at.

    Example: infoforge vault index
    """


@vault.command()
@click.option("--pull", is_flag=True, help="Fetch the container image from its registry.")
@click.option(
    "--load",
    "archive",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take the container image from an archive of `podman save`.",
)
@json_option
@click.pass_context
def init(ctx: click.Context, pull: bool, archive: Path | None, as_json: bool) -> int:
    """Start the database's container, and make the schema and the folder for learnings.

    With vault.url set no container is started: the schema is made in that database. What is there
    already stays as it is.

    Example: infoforge vault init --pull
    """
    from infoforge.vault.embed import open_embedder
    from infoforge.vault.learn import folder_of
    from infoforge.vault.store import Model, Store, address, connect

    console = Console.current("vault init", as_json=as_json)
    settings = vault_settings(ctx)
    started: dict[str, Any] | None = None
    if not settings.vault.url:
        from infoforge.box.podman import Podman
        from infoforge.box.postgres import fetch
        from infoforge.box.postgres import start as run

        podman = Podman()
        if pull or archive:
            quiet = as_json or not sys.stderr.isatty()
            fetch(settings, podman, archive, quiet=quiet)
        found = run(settings, podman)
        started = {"name": settings.vault.container, "action": found.action, "reason": found.reason}
    elif pull or archive:
        raise UsageError("vault.url names a server, so no container is made", "leave --pull out")
    embedder = open_embedder(settings.vault.embedding)
    model = Model(embedder.name, embedder.dimension)
    with Store(connect(settings.vault)) as store:
        made = 0
        # An indexer at work holds the lock, and has made the schema.
        if not store.current():
            store.lock()
            made = store.migrate(model)
        store.check_model(model)
    learnings = folder_of(settings.vault)
    new_folder = not learnings.is_dir()
    if new_folder:
        try:
            learnings.mkdir()
        except OSError as error:
            raise UsageError(
                f"{learnings} cannot be made: {error.strerror}", "make it as the vault's owner"
            ) from error
    data = {
        "database": address(settings.vault),
        "container": started,
        "migrations": made,
        "model": {"name": model.name, "dimension": model.dimension},
        "learnings": str(learnings),
        "changed": bool(made or new_folder or (started and started["action"] == "created")),
    }
    text = f"{data['database']} is ready for {model.name}; next: infoforge vault index"
    return console.finish(data, text)


@vault.command()
@click.option("--watch", is_flag=True, help="Stay, and follow every change until interrupted.")
@click.option("--rebuild", is_flag=True, help="Drop the index and build it again (another model).")
@json_option
@click.pass_context
def index(ctx: click.Context, watch: bool, rebuild: bool, as_json: bool) -> int:
    """Make the index equal to the folder. An unchanged note costs nothing.

    Example: infoforge vault index --watch
    """
    from infoforge.vault.embed import open_embedder
    from infoforge.vault.index import index as run
    from infoforge.vault.store import Store, connect

    console = Console.current("vault index", as_json=as_json)
    settings = vault_settings(ctx)
    bar = _Bar(console)
    if watch:
        if rebuild or as_json:
            raise UsageError("--watch goes with neither --rebuild nor --json", "run it without")
        _watch(console, settings, bar)
        return console.finish({})
    with Store(connect(settings.vault)) as store:
        try:
            done = run(
                store,
                lambda: open_embedder(settings.vault.embedding),
                settings.vault,
                warn=bar.warn,
                progress=bar.show,
                rebuild=rebuild,
            )
        finally:
            bar.clear()
        counts = store.counts()
    data = {**asdict(done), "notes": counts.notes, "chunks": counts.chunks}
    return console.finish(data, f"{_run_text(done)}; {counts.notes} note(s) in the index")


def _watch(console: Console, settings: Settings, bar: _Bar) -> None:
    import signal
    import threading
    from contextlib import suppress

    from infoforge.contract import InfoForgeError
    from infoforge.vault.watch import watch

    stop = threading.Event()

    def end(*_: object) -> None:
        stop.set()
        # A run may have an hour before it, and can be left at any point; a box that shuts down
        # does not wait for it.
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)

    def done(run: Indexed) -> None:
        bar.clear()
        if run.added or run.changed or run.removed or not bar.told:
            bar.told = True
            console.note(_run_text(run))

    def away() -> None:
        if settings.vault.url:
            return
        from infoforge.box.podman import Podman
        from infoforge.box.postgres import heal

        try:
            if heal(Podman()):
                console.note("the database's container was recreated")
        except InfoForgeError as error:
            bar.warn(WarningMessage("vault_waiting", error.message))

    with suppress(KeyboardInterrupt):
        watch(settings.vault, warn=bar.warn, done=done, stop=stop, progress=bar.show, away=away)


def _run_text(done: Indexed) -> str:
    parts = [f"{n} {word}" for word, n in asdict(done).items() if n and word != "reused"]
    return ", ".join(parts) or "no notes"


class _Bar:
    """How far the indexer is, on a terminal; nothing elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._terminal = sys.stderr.isatty() and not console.as_json
        self._shown = False
        self.told = False

    def show(self, done: int, total: int) -> None:
        if self._terminal:
            cells = round(30 * done / total) if total else 30
            sys.stderr.write(f"\r\x1b[Knotes [{'#' * cells:.<30}] {done} of {total}")
            sys.stderr.flush()
            self._shown = True

    def warn(self, *warnings: Any) -> None:  # noqa: ANN401 - as Console.warn
        self.clear()
        self._console.warn(*warnings)

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


@vault.command()
@json_option
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> int:
    """Say what the index holds, with which model, and whether it equals the folder.

    Example: infoforge vault status
    """
    from infoforge.vault.learn import waiting
    from infoforge.vault.status import status as look

    console = Console.current("vault status", as_json=as_json)
    settings = vault_settings(ctx)
    found = look(settings.vault, console.warn)
    found["learnings"] = len(waiting(settings.vault))
    rows = [
        ("folder", found["folder"]),
        ("database", found["database"]),
        ("model", f"{found['model']['name']} ({found['model']['dimension']})"),
        ("index", f"{found['notes']} note(s), {found['chunks']} passage(s), {found['size']} bytes"),
        ("newest", found["newest"] or "none"),
        ("folder against index", _difference(found)),
        ("learnings waiting", str(found["learnings"])),
    ]
    return console.finish(found, table([[printable(c) for c in row] for row in rows]))


def _difference(found: dict[str, Any]) -> str:
    parts = [f"{found[key]} {key}" for key in ("new", "changed", "gone") if found[key]]
    return ", ".join(parts) + " (infoforge vault index)" if parts else "equal"


@vault.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--top", type=click.IntRange(1, 50), default=5, show_default=True, help="Passages.")
@click.option("--under", metavar="FOLDER", default="", help="Only notes below this folder.")
@json_option
@click.pass_context
def search(
    ctx: click.Context, question: tuple[str, ...], top: int, under: str, as_json: bool
) -> int:
    """Find passages by vector and keyword search, best first. No model writes anything.

    Example: infoforge vault search "what to do when etcd runs out of space"
    """
    from infoforge.ask import clean_question
    from infoforge.vault.embed import open_embedder
    from infoforge.vault.search import Query
    from infoforge.vault.search import search as find
    from infoforge.vault.store import Model, Store, connect

    console = Console.current("vault search", as_json=as_json)
    settings = vault_settings(ctx)
    line = clean_question(" ".join(question))
    notes = settings.vault
    embedder = open_embedder(notes.embedding)
    with Store(connect(notes)) as store:
        store.check_model(Model(embedder.name, embedder.dimension))
        query = Query(
            line,
            embedder.query(line),
            under=under,
            candidates=notes.candidates,
            top=top,
            stale_months=notes.stale_months,
            stale_penalty=notes.stale_penalty,
        )
        found = find(store, query)
    results = [
        {
            "number": number,
            "path": passage.source,
            "file": str((notes.folder or Path()) / passage.source),
            "heading": passage.heading,
            "date": passage.date,
            "score": passage.score,
            "similarity": round(passage.similarity, 4),
            "text": passage.content,
        }
        for number, passage in enumerate(found, 1)
    ]
    lines = []
    for row in results:
        lines.append(f"[{row['number']}] {printable(str(row['heading']))}")
        lines.append(f"    {printable(str(row['file']))}  ({row['date']}, {row['score']})")
        lines.append(f"    {printable(str(row['text']))[:200]}")
    text = "\n".join(lines) or "nothing found"
    return console.finish({"question": line, "results": results}, text)


@vault.command("unit")
@click.argument("name")
@click.option("--program", metavar="PATH", help="The infoforge that the unit calls.")
@json_option
@click.pass_context
def show_unit(ctx: click.Context, name: str, program: str | None, as_json: bool) -> int:
    """Print a systemd user unit: infoforge-postgres.service or infoforge-vault.service.

    The first starts the database at boot, the second follows the folder with the index.

    Example: infoforge vault unit infoforge-vault.service
    """
    from infoforge.box.postgres import UNITS, unit_text
    from infoforge.box.systemd import own_command

    console = Console.current("vault unit", as_json=as_json)
    if name not in UNITS:
        raise UsageError(f"there is no unit '{name}'", f"one of {', '.join(UNITS)}")
    line = own_command(ctx.obj)
    if program is not None:
        line = (str(Path(program).absolute()), *line[1:])
    text = unit_text(name, vault_settings(ctx), line)
    return console.finish({"name": name, "text": text}, text)


for command in (pull, load, start, stop, learn, review):
    vault.add_command(command)
