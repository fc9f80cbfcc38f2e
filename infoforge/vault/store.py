"""The index in Postgres: its schema, what it holds, one transaction a note."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

from infoforge.vault.chunks import Chunk
from infoforge.vault.errors import VaultError, told

if TYPE_CHECKING:
    from infoforge.config.settings import VaultSettings

LOCK = 0x1F0F_0E7A
"""Key of the advisory lock that the one writer holds."""
LOCK_PATIENCE = 15
"""Seconds that a second writer waits for the first."""
CONNECT_SECONDS = 5
ROLE = "vault"
"""Role and database in the container."""

_EF_SEARCH = 250
"""Passages that the graph's search looks at."""
_EF_FILTERED = 400
"""The same where a filter lets some of them through alone."""
_DSN_PASSWORD = re.compile(r"//([^:@/]*):[^@/]*@")


@dataclass(frozen=True, slots=True)
class Model:
    """The model that an index was made with."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the index holds; ``size`` in bytes with all indexes, ``newest`` as ISO time."""

    notes: int
    chunks: int
    size: int
    newest: str


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """A note as it is put in.

    Attributes:
        source: Its path in the vault.
        digest: Of all that its chunks are made from.
        title: Its title.
        extra: Its other names and tags, found like its title.
        modified: Its own date, ISO.
    """

    source: str
    digest: str
    title: str
    extra: str
    modified: str


def address(settings: VaultSettings) -> str:
    """Where the database is, without a password."""
    url = settings.url or f"postgresql://{ROLE}@127.0.0.1:{settings.port}/{ROLE}"
    return _DSN_PASSWORD.sub(r"//\1@", url)


def connect(settings: VaultSettings, *, seconds: float = CONNECT_SECONDS) -> Any:  # noqa: ANN401 - psycopg's
    """A connection, in autocommit mode.

    Args:
        settings: URL and password file.
        seconds: Longest wait for the connection.

    Raises:
        VaultDown: It cannot be had.
        ConfigError: The database is on a public address and that is not allowed.
    """
    with told():
        import psycopg
        from psycopg import conninfo

        url = settings.url or address(settings)
        try:
            parts = conninfo.conninfo_to_dict(url)
        except psycopg.ProgrammingError as error:
            raise VaultError(
                f"vault.url cannot be read: {' '.join(str(error).split())}",
                "give it as postgresql://USER@HOST:PORT/NAME",
            ) from error
        _check_private(parts, settings)
        if "password" not in parts:
            password = _password(settings)
            if password:
                parts["password"] = password
        options: dict[str, Any] = {
            **parts,
            "connect_timeout": max(2, round(min(seconds, 60))),
            "application_name": "infoforge",
            "client_encoding": "UTF8",
            # A server that vanished (a pulled cable) is noticed within half a minute.
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
        }
        return psycopg.connect(autocommit=True, **options)


def _check_private(parts: dict[str, Any], settings: VaultSettings) -> None:
    from infoforge.privacy import check_private

    hosts = str(parts.get("hostaddr") or parts.get("host") or "").split(",")
    for host in hosts:
        if host and not host.startswith(("/", "@")):
            shown = f"[{host}]" if ":" in host else host
            check_private(f"http://{shown}", settings.allow_public, "vault.url")


def _password(settings: VaultSettings) -> str:
    try:
        return settings.password_file.read_text("utf-8").strip()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise VaultError(
            f"vault.password_file {settings.password_file} cannot be read: {error}",
            "it holds the password and nothing else",
            code="vault_password",
        ) from error


def migrations() -> list[tuple[int, str]]:
    """Number and text of each migration, in order."""
    folder = resources.files("infoforge") / "data" / "vault"
    found = [
        (int(item.name[:4]), item.read_text("utf-8"))
        for item in folder.iterdir()
        if re.fullmatch(r"\d{4}-.*\.sql", item.name)
    ]
    return sorted(found)


class Store:
    """The index.

    Args:
        connection: From `connect`; it is this object's from now on.
    """

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 - psycopg's
        self.connection = connection
        self._tuned = 0
        self.words: Words | None = None
        """What `words_of` read."""

    def close(self) -> None:
        """Give the connection back; a lock goes with it."""
        self.connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of a query.

        Raises:
            VaultError: As `told`.
        """
        with told():
            found = self.connection.execute(query, values or None)
            return cast(list[tuple[Any, ...]], found.fetchall()) if found.description else []

    # The schema

    def version(self) -> int:
        """Number of the last migration; 0 for an empty database."""
        if not self.rows("SELECT 1 WHERE to_regclass('vault_settings') IS NOT NULL"):
            return 0
        return int(self.setting("schema") or 0)

    def current(self) -> bool:
        """Whether the schema is that of the last migration."""
        return self.version() == migrations()[-1][0]

    def setting(self, key: str) -> str:
        """A value that the index carries with it; empty when it has none."""
        found = self.rows("SELECT value FROM vault_settings WHERE key = %s", key)
        return str(found[0][0]) if found else ""

    def model(self) -> Model | None:
        """The model that the vectors are of; ``None`` before the first run."""
        if not self.version():
            return None
        return Model(self.setting("model"), int(self.setting("dimension") or 0))

    def migrate(self, model: Model) -> int:
        """Bring the schema up to date, in one transaction.

        Args:
            model: The model that vectors will be of, for a database that is empty.

        Returns:
            How many migrations were made.

        Raises:
            VaultError: The schema is newer than this program, or the database refuses.
        """
        known = migrations()
        at = self.version()
        if at > known[-1][0]:
            raise VaultError(
                f"the vault's schema is number {at}; this infoforge knows up to {known[-1][0]}",
                "use the newer infoforge, or: infoforge vault index --rebuild",
                code="vault_schema",
            )
        wanted = [(number, text) for number, text in known if number > at]
        if not wanted:
            return 0
        # What is there keeps its length; whether the model fits it is looked at afterwards.
        held = self.model()
        dimension = str(held.dimension if held else model.dimension)
        with told(), self.connection.transaction():
            for _, text in wanted:
                self.connection.execute(text.replace("@DIMENSION@", dimension))
            if not at:
                self._set("model", model.name)
                self._set("dimension", str(model.dimension))
            self._set("schema", str(wanted[-1][0]))
        return len(wanted)

    def _set(self, key: str, value: str) -> None:
        self.connection.execute(
            "INSERT INTO vault_settings VALUES (%s, %s) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )

    def clear(self) -> None:
        """Drop the index; the notes are in the folder, so nothing is lost."""
        with told(), self.connection.transaction():
            self.connection.execute("DROP TABLE IF EXISTS chunks, notes, vault_settings")

    def check_model(self, model: Model) -> None:
        """Refuse a model that the index was not made with.

        Raises:
            VaultError: It was another one, or there is no index.
        """
        held = self.model()
        if held is None:
            raise VaultError(
                "the vault has no index yet", "run: infoforge vault index", code="no_index"
            )
        if held != model:
            raise VaultError(
                f"the index was made with {held.name} ({held.dimension} dimensions), "
                f"configured is {model.name} ({model.dimension})",
                "build the index again: infoforge vault index --rebuild",
                code="vault_model",
            )

    # Writing

    def lock(self, seconds: float = LOCK_PATIENCE) -> None:
        """Become the one writer, for as long as the connection stands.

        Raises:
            VaultError: Another one is at work.
        """
        with told(), self.connection.transaction():
            self.connection.execute(f"SET LOCAL lock_timeout = {int(seconds * 1000)}")
            self.connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        # A commit that a power cut takes is made again by the next run: the folder is the truth.
        self.rows("SET synchronous_commit = off")

    def unlock(self) -> None:
        """Let another one write."""
        self.rows("SELECT pg_advisory_unlock(%s)", LOCK)

    def notes(self) -> dict[str, str]:
        """Digest of every note in the index, by path."""
        return {str(s): str(d) for s, d in self.rows("SELECT source, digest FROM notes")}

    def vectors(self, digests: Sequence[str]) -> dict[str, Any]:
        """Vectors that are there already, by the digest of the text."""
        found = self.rows(
            "SELECT DISTINCT ON (content_hash) content_hash, embedding::text FROM chunks "
            "WHERE content_hash = ANY(%s)",
            list(digests),
        )
        return {str(digest): vector for digest, vector in found}

    def put(self, entry: NoteEntry, chunks: Sequence[tuple[Chunk, str]], language: str) -> None:
        """Put a note in, in one transaction; what was there of it goes.

        Args:
            entry: The note.
            chunks: Its chunks, each with its vector as text.
            language: Text search configuration.
        """
        source, modified = entry.source, entry.modified
        names = f"{entry.title} {entry.extra}".strip()
        with told(), self.connection.transaction():
            self.connection.execute("DELETE FROM notes WHERE source = %s", (source,))
            self.connection.execute(
                "INSERT INTO notes VALUES (%s, %s, %s, %s)",
                (source, entry.digest, entry.title, modified),
            )
            with self.connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO chunks (source, chunk_index, heading_path, content, content_hash,"
                    " embedding, words, modified) VALUES (%s, %s, %s, %s, %s, %s::vector,"
                    " setweight(to_tsvector(%s::regconfig, %s), 'A') ||"
                    " setweight(to_tsvector(%s::regconfig, %s), 'B') ||"
                    " to_tsvector(%s::regconfig, %s), %s)",
                    [
                        (
                            source,
                            place,
                            chunk.heading,
                            chunk.content,
                            chunk.digest,
                            vector,
                            language,
                            names,
                            language,
                            chunk.heading,
                            language,
                            chunk.content,
                            modified,
                        )
                        for place, (chunk, vector) in enumerate(chunks)
                    ],
                )

    def analyze(self) -> None:
        """Let the database tidy up and count the words again: a search asks how common they are.

        Of tidied pages it knows that all see them, and counts the passages of a folder by the
        index alone.
        """
        self.rows("VACUUM (ANALYZE) chunks")
        self.words = None

    def remove(self, source: str) -> None:
        """Take a note out, with its chunks."""
        self.rows("DELETE FROM notes WHERE source = %s", source)

    # Reading

    def counts(self) -> Counts:
        """How much there is."""
        row = self.rows(
            "SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM chunks),"
            " pg_total_relation_size('chunks') + pg_total_relation_size('notes'),"
            " (SELECT to_char(max(indexed_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
            " FROM chunks)"
        )[0]
        return Counts(int(row[0]), int(row[1]), int(row[2]), str(row[3] or ""))

    def tune(self, *, filtered: bool = False) -> None:
        """Set how widely the graph is searched.

        Args:
            filtered: Only some of what is found counts, so that more has to be.
        """
        wide = _EF_FILTERED if filtered else _EF_SEARCH
        if self._tuned == wide:
            return
        if not self._tuned:
            # A plan made once for any question would not know how many notes are below its folder.
            self.connection.prepare_threshold = None
            found = self.rows("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
            if found and [int(part) for part in str(found[0][0]).split(".")[:2]] >= [0, 8]:
                # Under a filter the graph is searched on until enough rows pass it.
                self.rows("SET hnsw.iterative_scan = strict_order")
        self.rows(f"SET hnsw.ef_search = {wide}")
        self._tuned = wide

    def timeout(self, seconds: float) -> None:
        """No query of this connection may take longer; 0 for no limit."""
        self.rows(f"SET statement_timeout = {int(seconds * 1000)}")


KNOWN_SECONDS = 60.0
"""How long a connection takes what it read for what is now: reading takes longer than a search."""


@dataclass(frozen=True, slots=True)
class Words:
    """What the statistics know.

    Attributes:
        total: How many chunks there are.
        shares: Share of the chunks that hold a word, for the common words alone.
        read: When that was, by the monotonic clock.
    """

    total: float
    shares: dict[str, float]
    read: float


def words_of(store: Store) -> Words:
    """The statistics, as of a minute ago at most.

    Raises:
        VaultError: The database fails.
    """
    now = time.monotonic()
    if store.words is None or now - store.words.read > KNOWN_SECONDS:
        row = store.rows(
            # There is no estimate before the table was first looked through.
            "SELECT CASE WHEN reltuples > 0 THEN reltuples ELSE (SELECT count(*) FROM chunks) END,"
            " most_common_elems::text::text[], most_common_elem_freqs"
            " FROM pg_class LEFT JOIN pg_stats ON schemaname = current_schema()"
            "   AND tablename = 'chunks' AND attname = 'words'"
            " WHERE oid = 'chunks'::regclass"
        )[0]
        # After the shares of the words stand the least and the greatest of them.
        shares = dict(zip(row[1] or (), row[2] or (), strict=False))
        store.words = Words(float(row[0]), shares, now)
    return store.words
