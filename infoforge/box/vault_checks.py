"""The vault's health checks: folder, database, model, index, a search."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from infoforge.box.health import FAIL, PASS, WARN, CheckContext, CheckResult, HealthCheck
from infoforge.contract import InfoForgeError, WarningMessage

if TYPE_CHECKING:
    from infoforge.vault.embed import Embedder
    from infoforge.vault.store import Store


def vault(context: CheckContext) -> Iterable[HealthCheck]:
    """The steps; none without a vault."""
    if context.settings.vault.folder is not None:
        yield HealthCheck("vault:folder", lambda: _folder(context))
        yield HealthCheck("vault:model", lambda: _model(context))
        yield HealthCheck("vault:database", lambda: _database(context))


def _folder(context: CheckContext) -> Iterator[CheckResult]:
    from infoforge.vault.folder import LEARNINGS, files

    name, settings = "vault:folder", context.settings.vault
    folder = settings.folder
    assert folder is not None
    skipped: list[WarningMessage] = []
    try:
        count = sum(1 for _ in files(folder, settings.exclude, skipped.append))
    except InfoForgeError as error:
        yield CheckResult(name, FAIL, error.message, error.hint)
        return
    for warning in skipped:
        yield CheckResult(
            name, WARN, f"left out: {warning.message}", "mend it, or add it to vault.exclude"
        )
    yield CheckResult(name, PASS if count else WARN, f"{folder}: {count} note(s)")
    learnings = folder / LEARNINGS
    if learnings.is_symlink():
        yield CheckResult(name, FAIL, f"{learnings} is a link", "make it a folder of its own")
    elif learnings.is_dir() and not os.access(learnings, os.W_OK):
        yield CheckResult(
            name, WARN, f"{learnings} cannot be written: no learnings", f"ls -ld {learnings}"
        )


def _model(context: CheckContext) -> Iterator[CheckResult]:
    found = _embedder(context, "vault:model")
    if isinstance(found, CheckResult):
        yield found
        return
    found.query("Is anybody there?")
    detail = f"{found.name}: {found.dimension} dimensions, {found.window} tokens a passage"
    yield CheckResult("vault:model", PASS, detail)


def _embedder(context: CheckContext, name: str) -> Embedder | CheckResult:
    from infoforge.vault.embed import open_embedder

    try:
        return open_embedder(context.settings.vault.embedding)
    except InfoForgeError as error:
        return CheckResult(name, FAIL, error.message, error.hint)


def _database(context: CheckContext) -> Iterator[CheckResult]:
    from infoforge.vault.store import Store, address, connect

    name, settings = "vault:database", context.settings.vault
    yield from _password(context)
    try:
        with Store(connect(settings, seconds=context.timeout)) as store:
            store.timeout(context.timeout)
            version = store.rows("SHOW server_version")[0][0]
            found = store.rows("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
            pgvector = f"pgvector {found[0][0]}" if found else "pgvector not yet installed"
            yield CheckResult(name, PASS, f"{address(settings)}: Postgres {version}, {pgvector}")
            yield from _index(context, store)
    except InfoForgeError as error:
        yield CheckResult(name, FAIL, error.message, error.hint)


def _password(context: CheckContext) -> Iterator[CheckResult]:
    path = context.settings.vault.password_file
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if mode & 0o077:
        detail = f"others can read the password in {path}"
        yield CheckResult("vault:database", WARN, detail, f"chmod 600 {path}")


def _index(context: CheckContext, store: Store) -> Iterator[CheckResult]:
    from infoforge.vault.search import Query, search
    from infoforge.vault.store import Model

    name = "vault:index"
    embedder = _embedder(context, name)
    if isinstance(embedder, CheckResult):
        return  # reported by the model's own check
    store.check_model(Model(embedder.name, embedder.dimension))
    counts = store.counts()
    if not counts.notes:
        yield CheckResult(name, WARN, "the index is empty", "infoforge vault index")
        return
    title = str(store.rows("SELECT title FROM notes ORDER BY source LIMIT 1")[0][0])
    query = Query(title, embedder.query(title))
    if not search(store, query):
        yield CheckResult(
            name,
            FAIL,
            f"{counts.notes} note(s), and none is found",
            "infoforge vault index --rebuild",
        )
        return
    newest = f"last change {counts.newest}" if counts.newest else "no passages"
    yield CheckResult(name, PASS, f"{counts.notes} note(s), {counts.chunks} passage(s), {newest}")
