"""The indexer: whatever happened in the folder, afterwards the index equals it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from infoforge.contract import Warn, WarningMessage
from infoforge.text.markdown import is_empty
from infoforge.vault import chunks as cutting
from infoforge.vault import folder as vault_folder
from infoforge.vault.chunks import Chunk, chunks
from infoforge.vault.embed import Ahead, Embedder, PendingVectors
from infoforge.vault.errors import VaultError
from infoforge.vault.notes import NotANote, Note, decode, parse
from infoforge.vault.store import Model, NoteEntry, Store

if TYPE_CHECKING:
    from infoforge.config.settings import VaultSettings

Progress = Callable[[int, int], None]
"""Told how many of the changed notes are done."""

_MUCH = 0.1
"""Share of the notes that a run must change for the words to be counted again."""
TOGETHER = 256
"""Chunks given to the model at once: enough to sort by length, few enough to lose little."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a run did: notes by what happened to them, chunks by where their vectors came from."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    skipped: int = 0
    embedded: int = 0
    reused: int = 0


@dataclass(slots=True)
class _Work:
    """A note that is to be put in."""

    source: str
    digest: str
    note: Note
    modified: str
    chunks: tuple[Chunk, ...]


@dataclass(slots=True)
class _Batch:
    """Notes whose passages the model has.

    Attributes:
        works: The notes.
        held: PendingVectors that were there already, as text by digest.
        asked: Digests of what the model has for this batch.
        vectors: Waits for those.
    """

    works: list[_Work]
    held: dict[str, str]
    asked: frozenset[str]
    vectors: PendingVectors


def index(
    store: Store,
    embedder: Callable[[], Embedder],
    settings: VaultSettings,
    *,
    warn: Warn,
    progress: Progress | None = None,
    rebuild: bool = False,
) -> Indexed:
    """Make the index equal to the folder.

    Args:
        store: The index; this run becomes its one writer until it ends.
        embedder: Opens the model.
        settings: The vault's settings.
        warn: Told which files were left out.
        progress: Told how far it is.
        rebuild: Drop what is there and start again (another model, another language).

    Returns:
        What was done.

    Raises:
        VaultError: The folder, the database or the model fails. What was done before is kept, and
            the next run goes on from there.
    """
    if settings.folder is None:
        raise VaultError(
            "no vault is configured", "set vault.folder to the folder of notes", code="no_vault"
        )
    store.lock()
    try:
        model = embedder()
        named = Model(model.name, model.dimension)
        if rebuild:
            store.clear()
        store.migrate(named)
        store.check_model(named)
        _language(store, settings.language)
        return _Run(store, model, settings, warn, progress).run()
    finally:
        # The lock goes with the connection anyway, and this one may be broken.
        try:
            store.unlock()
        except VaultError:
            store.close()


def _language(store: Store, language: str) -> None:
    held = store.setting("language")
    if not held:
        known = store.rows("SELECT 1 FROM pg_ts_config WHERE cfgname = %s", language)
        if not known:
            names = store.rows("SELECT string_agg(cfgname, ', ') FROM pg_ts_config")
            raise VaultError(
                f"vault.language: Postgres has no text search configuration {language!r}",
                f"it has: {names[0][0]}",
            )
        store.rows("INSERT INTO vault_settings VALUES ('language', %s)", language)
    elif held != language:
        raise VaultError(
            f"the index was made for {held}, vault.language is {language}",
            "build the index again: infoforge vault index --rebuild",
            code="vault_model",
        )


class _Run:
    def __init__(
        self,
        store: Store,
        model: Embedder,
        settings: VaultSettings,
        warn: Warn,
        progress: Progress | None,
    ) -> None:
        self.store = store
        self.model = model
        self.settings = settings
        self.warn = warn
        self.progress = progress
        self.tally: Counter[str] = Counter()
        self.new: set[str] = set()
        self.dates: dict[str, str] | None = None
        self.recent: dict[str, str] = {}
        salt = (cutting.VERSION, settings.embedding.document_prefix, model.window)
        self.salt = repr(salt).encode()

    def run(self) -> Indexed:
        if self.store.setting("salt").encode() != self.salt:
            self.store.rows(
                "INSERT INTO vault_settings VALUES ('salt', %s)"
                " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                self.salt.decode(),
            )
        held = self.store.notes()
        present: set[str] = set()
        changed: list[tuple[vault_folder.File, str]] = []
        for file in vault_folder.files(self._folder(), self.settings.exclude, self._skip):
            data = self._data(file)
            if data is None:
                continue
            present.add(file.source)
            digest = hashlib.sha256(self.salt + data).hexdigest()
            if held.get(file.source) == digest:
                self.tally["unchanged"] += 1
            else:
                changed.append((file, digest))
                if file.source not in held:
                    self.new.add(file.source)
        # Notes that went are taken out last: a note that was moved finds its vectors still there.
        gone = [source for source in held if source not in present]
        with Ahead(self.model) as ahead:
            self._put_all(changed, ahead)
        for source in gone:
            self.store.remove(source)
            self.tally["removed"] += 1
        if len(changed) + len(gone) > len(held) * _MUCH:
            self.store.analyze()
        return Indexed(**self.tally)

    def _folder(self) -> Path:
        assert self.settings.folder is not None
        return self.settings.folder

    def _skip(self, warning: WarningMessage) -> None:
        self.tally["skipped"] += 1
        self.warn(warning)

    def _data(self, file: vault_folder.File) -> bytes | None:
        """A note's bytes; ``None`` for one that is gone or cannot be a note."""
        try:
            data = vault_folder.read(file)
            if data is not None and is_empty(decode(data)):
                # A stub that an editor made for links to a note that was never written.
                self.tally["skipped"] += 1
                return None
        except (OSError, NotANote) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._skip(WarningMessage("note_skipped", f"{file.source}: {reason}"))
            return None
        return data

    def _works(self, changed: list[tuple[vault_folder.File, str]]) -> Iterator[_Work]:
        for file, _ in changed:
            # Read again: it may have changed since, and what is cut must be what was hashed.
            data = self._data(file)
            if data is None:
                continue
            digest = hashlib.sha256(self.salt + data).hexdigest()
            note = parse(decode(data), PurePosixPath(file.source).stem)
            if note.problem:
                message = f"{file.source}: front matter read line by line: {note.problem}"
                self.warn(WarningMessage("note_front_matter", message))
            cut = chunks(note, self.model.count, self.model.window)
            yield _Work(file.source, digest, note, self._modified(file, note), cut)

    def _modified(self, file: vault_folder.File, note: Note) -> str:
        if note.date:
            return note.date
        if self.dates is None:
            self.dates = vault_folder.commit_dates(self._folder(), self.warn)
        day = datetime.fromtimestamp(file.modified / 1e9, UTC).date().isoformat()
        return self.dates.get(file.source, day)

    def _put_all(self, changed: list[tuple[vault_folder.File, str]], ahead: Ahead) -> None:
        """Put the changed notes in: one batch is written while the model has the next."""
        done = 0
        before: _Batch | None = None
        for works in self._batches(changed):
            batch = self._begin(works, before.asked if before else frozenset(), ahead)
            if before is not None:
                done = self._finish(before, done, len(changed))
            before = batch
        if before is not None:
            self._finish(before, done, len(changed))

    def _batches(self, changed: list[tuple[vault_folder.File, str]]) -> Iterator[list[_Work]]:
        """The notes, in groups of at least so many chunks."""
        works: list[_Work] = []
        waiting = 0
        for work in self._works(changed):
            works.append(work)
            waiting += len(work.chunks)
            if waiting >= TOGETHER:
                yield works
                works, waiting = [], 0
        if works:
            yield works

    def _begin(self, works: list[_Work], coming: frozenset[str], ahead: Ahead) -> _Batch:
        """Give the model what is new in a batch: neither in the index nor on its way there."""
        texts = {chunk.digest: chunk.embedded for work in works for chunk in work.chunks}
        held = self.store.vectors(list(texts)) if texts else {}
        new = {key: text for key, text in texts.items() if key not in held and key not in coming}
        self.tally["embedded"] += len(new)
        self.tally["reused"] += len(texts) - len(new)
        return _Batch(works, held, frozenset(new), ahead.embed(new))

    def _finish(self, batch: _Batch, done: int, total: int) -> int:
        """Put the notes of a batch in, one transaction each, as soon as the model has it done."""
        made = batch.vectors()
        # Those of the batch before are among them: it was on its way when this one was begun.
        vectors = self.recent | batch.held | made
        self.recent = made
        for work in batch.works:
            extra = " ".join((*work.note.aliases, *work.note.tags))
            entry = NoteEntry(work.source, work.digest, work.note.title, extra, work.modified)
            found = [(chunk, vectors[chunk.digest]) for chunk in work.chunks]
            self.store.put(entry, found, self.settings.language)
            self.tally["added" if work.source in self.new else "changed"] += 1
            done += 1
            if self.progress is not None:
                self.progress(done, total)
        return done
