"""The vault of notes as a corpus, with vector and keyword search."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from infoforge.contract import InfoForgeError, Warn, WarningMessage
from infoforge.corpus.base import CorpusError, Deadline, DeadlineExceeded
from infoforge.records import Article, CorpusInfo, Hit, Hits, Relevance, Section

if TYPE_CHECKING:
    from infoforge.config.settings import VaultSettings
    from infoforge.vault.embed import Embedder
    from infoforge.vault.search import Passage
    from infoforge.vault.store import Store

NAME = "vault"
_LANGUAGES = {
    "english": "en",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "dutch": "nl",
    "portuguese": "pt",
    "russian": "ru",
    "swedish": "sv",
    "danish": "da",
    "norwegian": "no",
    "finnish": "fi",
    "hungarian": "hu",
    "turkish": "tr",
    "romanian": "ro",
    "arabic": "ar",
    "greek": "el",
}
WORDS_TOO = 0.1
"""How much less similarity is enough for a passage that the keyword search found as well."""
_LEAST_SECONDS = 0.2


class VaultCorpus:
    """The notes, as the index holds them.

    Args:
        settings: The vault's settings; its folder is set.
        deadline: For connecting and opening the model.
        warn: Told when the model is missing and only the keyword search is left.

    Raises:
        CorpusError: The database does not answer, or holds no usable index.
    """

    name = NAME

    def __init__(self, settings: VaultSettings, deadline: Deadline, warn: Warn) -> None:
        from infoforge.vault.store import Model, Store, connect

        self._settings = settings
        self._embedder: Embedder | None = None
        self._info: CorpusInfo | None = None
        with _as_corpus():
            patience = min(deadline.left(), 5.0)
            self._store: Store = Store(connect(settings, seconds=max(patience, _LEAST_SECONDS)))
            try:
                self._embedder = self._open_embedder(warn)
                if self._embedder is not None:
                    self._store.check_model(Model(self._embedder.name, self._embedder.dimension))
                elif not self._store.version():
                    self._store.check_model(Model("", 0))
            except BaseException:
                self._store.close()
                raise

    def _open_embedder(self, warn: Warn) -> Embedder | None:
        from infoforge.vault.embed import open_embedder
        from infoforge.vault.errors import VaultError

        try:
            return open_embedder(self._settings.embedding)
        except VaultError as error:
            text = f"{error.message}; only the keyword search is left"
            warn(WarningMessage("no_embedding", text))
            return None

    def describe(self) -> CorpusInfo:
        """What the vault is."""
        if self._info is None:
            with _as_corpus():
                notes = self._store.rows("SELECT count(*) FROM notes")
            code = _LANGUAGES.get(self._settings.language, "")
            self._info = CorpusInfo(
                name=NAME,
                kind="vault",
                title="Notes",
                languages=(code,) if code else (),
                articles=int(notes[0][0]),
                semantic=True,
                origin=str(self._settings.folder),
            )
        return self._info

    def nearest(self, question: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        """Notes by vector and keyword search for the whole question, best first."""
        from infoforge.vault.search import Query, search

        self._hurry(deadline)
        settings = self._settings
        with _as_corpus():
            vector = self._embedder.query(question) if self._embedder is not None else None
            query = Query(
                question,
                vector,
                candidates=settings.candidates,
                top=limit * 2,
                stale_months=settings.stale_months,
                stale_penalty=settings.stale_penalty,
            )
            found = search(self._store, query)
        notes: dict[str, list[Passage]] = {}
        for passage in found:
            notes.setdefault(passage.source, []).append(passage)
        hits = [
            Hit(NAME, source, passages[0].title, self._relevance(passages))
            for source, passages in notes.items()
        ]
        return tuple(hits[:limit])

    def _relevance(self, passages: list[Passage]) -> Relevance:
        return Relevance(
            similarity=round(max(passage.similarity for passage in passages), 4),
            near=any(self._is_near(passage) for passage in passages),
            focus=tuple(sorted(passage.index for passage in passages)),
        )

    def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
        """Full text: notes of which one passage holds every word."""
        self._hurry(deadline)
        with _as_corpus():
            rows = self._store.rows(
                "SELECT source, title, score, count(*) OVER () FROM ("
                " SELECT c.source, n.title, max(ts_rank(words, q, 1)) AS score"
                " FROM chunks c JOIN notes n USING (source), plainto_tsquery(%s::regconfig, %s) q"
                " WHERE words @@ q GROUP BY 1, 2) found ORDER BY score DESC, source LIMIT %s",
                self._settings.language,
                _safe(query),
                limit,
            )
        hits = tuple(Hit(NAME, str(row[0]), str(row[1])) for row in rows)
        return Hits(hits, int(rows[0][3]) if rows else 0)

    def titles(self, phrase: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        """Notes whose title holds the phrase, the exact one first."""
        self._hurry(deadline)
        text = " ".join(_safe(phrase).split())
        if not text:
            return ()
        escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        with _as_corpus():
            rows = self._store.rows(
                "SELECT source, title FROM notes WHERE title ILIKE %s"
                " ORDER BY lower(title) <> lower(%s), length(title), source LIMIT %s",
                f"%{escaped}%",
                text,
                limit,
            )
        return tuple(Hit(NAME, str(row[0]), str(row[1])) for row in rows)

    def read(self, path: str, deadline: Deadline) -> Article | None:
        """A note as it was indexed; its sections are its chunks."""
        self._hurry(deadline)
        with _as_corpus():
            rows = self._store.rows(
                "SELECT n.title, n.modified::text, c.heading_path, c.content FROM notes n"
                " JOIN chunks c USING (source) WHERE n.source = %s ORDER BY c.chunk_index",
                _safe(path),
            )
        if not rows:
            return None
        title = str(rows[0][0])
        code = self.describe().languages
        return Article(
            corpus=NAME,
            path=path,
            title=title,
            url=str((self._settings.folder or Path()) / path),
            date=str(rows[0][1]),
            language=code[0] if code else "",
            sections=tuple(
                Section(str(row[2]).removeprefix(title).removeprefix(" > "), str(row[3]))
                for row in rows
            ),
            relevance=Relevance(freshness=self._freshness(str(rows[0][1]))),
        )

    def _is_near(self, passage: Passage) -> bool:
        """Whether a passage answers in other words; with some of the words less is enough."""
        least = self._settings.similarity
        return passage.similarity >= (least - WORDS_TOO if passage.keyword_rank else least)

    def _freshness(self, day: str) -> float:
        from datetime import date

        from infoforge.vault.search import months_old

        months = self._settings.stale_months
        stale = bool(months) and months_old(day, date.today()) >= months
        return 1 - self._settings.stale_penalty if stale else 1.0

    def _hurry(self, deadline: Deadline) -> None:
        """Give the database no more time than the search has left."""
        deadline.check()
        left = deadline.left()
        with _as_corpus():
            self._store.timeout(0 if left == float("inf") else max(left, _LEAST_SECONDS))


@contextmanager
def _as_corpus() -> Iterator[None]:
    try:
        yield
    except InfoForgeError as error:
        if "statement timeout" in error.message:
            raise DeadlineExceeded("the vault did not answer in time") from error
        hint = f" ({error.hint})" if error.hint else ""
        raise CorpusError(f"vault: {error.message}{hint}") from error


def _safe(text: str) -> str:
    return text.replace("\0", " ").encode("utf-8", "ignore").decode("utf-8")
