"""The vault's links: folder, database, model, index, a search."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from infoforge.box.walk import FAIL, PASS, WARN, Case, Check, Step
from infoforge.contract import InfoForgeError, WarningMessage

if TYPE_CHECKING:
    from infoforge.vault.embed import Embedder
    from infoforge.vault.store import Store


def vault(case: Case) -> Iterable[Step]:
    """The steps; none without a vault."""
    if case.settings.vault.folder is not None:
        yield Step("vault:folder", lambda: _folder(case))
        yield Step("vault:model", lambda: _model(case))
        yield Step("vault:database", lambda: _database(case))


def _folder(case: Case) -> Iterator[Check]:
    from infoforge.vault.folder import LEARNINGS, files

    name, settings = "vault:folder", case.settings.vault
    folder = settings.folder
    assert folder is not None
    skipped: list[WarningMessage] = []
    try:
        count = sum(1 for _ in files(folder, settings.exclude, skipped.append))
    except InfoForgeError as error:
        yield Check(name, FAIL, error.message, error.hint)
        return
    for warning in skipped:
        yield Check(
            name, WARN, f"left out: {warning.message}", "mend it, or add it to vault.exclude"
        )
    yield Check(name, PASS if count else WARN, f"{folder}: {count} note(s)")
    learnings = folder / LEARNINGS
    if learnings.is_symlink():
        yield Check(name, FAIL, f"{learnings} is a link", "make it a folder of its own")
    elif learnings.is_dir() and not os.access(learnings, os.W_OK):
        yield Check(
            name, WARN, f"{learnings} cannot be written: no learnings", f"ls -ld {learnings}"
        )


def _model(case: Case) -> Iterator[Check]:
    found = _embedder(case, "vault:model")
    if isinstance(found, Check):
        yield found
        return
    found.query("Is anybody there?")
    detail = f"{found.name}: {found.dimension} dimensions, {found.window} tokens a passage"
    yield Check("vault:model", PASS, detail)


def _embedder(case: Case, name: str) -> Embedder | Check:
    from infoforge.vault.embed import open_embedder

    try:
        return open_embedder(case.settings.vault.embedding)
    except InfoForgeError as error:
        return Check(name, FAIL, error.message, error.hint)


def _database(case: Case) -> Iterator[Check]:
    from infoforge.vault.store import Store, address, connect

    name, settings = "vault:database", case.settings.vault
    yield from _password(case)
    try:
        with Store(connect(settings, seconds=case.timeout)) as store:
            store.timeout(case.timeout)
            version = store.rows("SHOW server_version")[0][0]
            found = store.rows("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
            pgvector = f"pgvector {found[0][0]}" if found else "pgvector not yet installed"
            yield Check(name, PASS, f"{address(settings)}: Postgres {version}, {pgvector}")
            yield from _index(case, store)
    except InfoForgeError as error:
        yield Check(name, FAIL, error.message, error.hint)


def _password(case: Case) -> Iterator[Check]:
    path = case.settings.vault.password_file
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if mode & 0o077:
        detail = f"others can read the password in {path}"
        yield Check("vault:database", WARN, detail, f"chmod 600 {path}")


def _index(case: Case, store: Store) -> Iterator[Check]:
    from infoforge.vault.search import Query, search
    from infoforge.vault.store import Model

    name = "vault:index"
    embedder = _embedder(case, name)
    if isinstance(embedder, Check):
        return  # told by the model's own check
    store.check_model(Model(embedder.name, embedder.dimension))
    counts = store.counts()
    if not counts.notes:
        yield Check(name, WARN, "the index is empty", "infoforge vault index")
        return
    title = str(store.rows("SELECT title FROM notes ORDER BY source LIMIT 1")[0][0])
    query = Query(title, embedder.query(title))
    if not search(store, query):
        yield Check(
            name,
            FAIL,
            f"{counts.notes} note(s), and none is found",
            "infoforge vault index --rebuild",
        )
        return
    newest = f"last change {counts.newest}" if counts.newest else "no passages"
    yield Check(name, PASS, f"{counts.notes} note(s), {counts.chunks} passage(s), {newest}")
