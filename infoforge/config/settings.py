"""The effective settings as frozen dataclasses; `load` fills them from a validated file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NewType

# To add a section: a frozen dataclass here with a default for every field, a field in `Settings`,
# and the same keys with a description and an example in data/schemas/config.schema.json. `load`,
# `config init`, `config show` and docs/config.md follow; tests hold the two to each other.

Size = NewType("Size", int)
"""A number of bytes; the file may say ``7 GB`` or ``1.5 GiB`` (schema: ``#/$defs/size``)."""


def home() -> Path:
    """The home directory; the root directory for a user who has none."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


@dataclass(frozen=True, slots=True)
class ZimSettings:
    """Where the ZIM files are, and which of them are used, most preferred first.

    ``enabled`` empty means every ZIM in the folder, by name.
    """

    folder: Path = field(default_factory=lambda: home() / "zims")
    enabled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KiwixSettings:
    """The kiwix-serve to ask; an empty URL means libzim in this process."""

    url: str = ""
    allow_public: bool = False


@dataclass(frozen=True, slots=True)
class TimeoutSettings:
    """Seconds to wait for the connection, the first byte, between two bytes, and for the whole."""

    connect: float = 3.0
    first_byte: float = 120.0
    idle: float = 60.0
    total: float = 600.0


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """One model server, or the built-in quoting (``kind: quote``, which has no url).

    ``api_key_env`` and ``api_key_file`` name where the key is; the key itself never stands here.
    """

    name: str
    kind: str = "openai"
    url: str = ""
    model: str = ""
    context_tokens: int = 4096
    max_tokens: int = 700
    temperature: float = 0.3
    timeouts: TimeoutSettings = field(default_factory=TimeoutSettings)
    api_key_env: str = ""
    api_key_file: Path | None = None
    allow_public: bool = False


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Retrieval: how many sources, of how many characters together, within how many seconds.

    ``language`` is that of the questions; empty: detect.
    """

    sources: int = 5
    characters: int = 6000
    deadline: float = 10.0
    language: str = ""


IMAGE = "ghcr.io/kiwix/kiwix-serve:3.8.2"
"""The container image, pinned here and nowhere else."""

IMAGE_DIGEST = ""
"""The image's digest (``sha256:…``), when it is known; ``serve pull`` then fetches exactly that."""


@dataclass(frozen=True, slots=True)
class BoxSettings:
    """The container that serves the ZIM files on this machine.

    Attributes:
        image: Fully qualified image reference with a tag.
        digest: Digest (or ID) that the image must have; empty: the first one is trusted.
        container: Name of the container.
        bind: Address of this machine on which the port is open.
        port: Port on this machine.
        memory: Limit in bytes, 0 for none (the page cache that a search needs counts against it).
        pids: Limit of processes and threads in the container.
        skip_invalid: Pass ``--skipInvalid``, which kiwix-serve has since 3.7.
        health_command: Shell line run inside the container; empty: ask the catalog for a book.
        start_timeout: Seconds that ``serve start`` waits for the books.
    """

    image: str = IMAGE
    digest: str = IMAGE_DIGEST
    container: str = "infoforge-kiwix"
    bind: str = "127.0.0.1"
    port: int = 8080
    memory: Size = Size(0)
    pids: int = 256
    skip_invalid: bool = True
    health_command: str = ""
    start_timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class CatalogSettings:
    """Where ``infoforge zims`` finds new ZIM files; no other command ever connects there.

    Attributes:
        url: OPDS v2 feed of entries; redirects are followed.
        stall: Seconds without a byte (or with next to none) after which the next mirror is tried.
        auth_file: File with the passwords of servers, in the format of ``.netrc``.
        mirrors: Hosts of the local network that a public server may name as mirrors.
    """

    url: str = "https://opds.library.kiwix.org/catalog/v2/entries"
    stall: float = 30.0
    auth_file: Path | None = None
    mirrors: tuple[str, ...] = ()


VAULT_IMAGE = "docker.io/pgvector/pgvector:0.8.1-pg17"
"""The image of Postgres with pgvector, pinned here and nowhere else."""


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """What turns notes and questions into vectors.

    Attributes:
        kind: ``local`` (a model in this process) or ``openai`` (a server's ``/v1/embeddings``).
        path: Folder of the local model; ``None``: the package's.
        package: Python package that carries the local model; empty: those that are known.
        url: Base URL of the server, with ``/v1``.
        model: The server's name of the model; for a local one, what it is called in the index.
        query_prefix: Put before a question, where the model wants it.
        document_prefix: Put before a passage.
        window: Tokens that the server's model reads (a local model says so itself).
        batch: Texts given to the model at once.
        timeout: Seconds that the server may take for one batch.
        api_key_env: Environment variable that holds the server's key.
        api_key_file: File that holds it.
        allow_public: Allow a server on a public address.
    """

    kind: str = "local"
    path: Path | None = None
    package: str = ""
    url: str = ""
    model: str = ""
    query_prefix: str = ""
    document_prefix: str = ""
    window: int = 512
    batch: int = 16
    timeout: float = 60.0
    api_key_env: str = ""
    api_key_file: Path | None = None
    allow_public: bool = False


@dataclass(frozen=True, slots=True)
class VaultSettings:
    """The vault of notes and its index in Postgres.

    Attributes:
        folder: The folder of notes; ``None``: there is no vault.
        url: Database, as ``postgresql://USER@HOST:PORT/NAME``; empty: the container here.
        password_file: File (mode 0600) that holds the database's password.
        allow_public: Allow a database on a public address.
        exclude: Notes left out, as patterns of a ``.gitignore``.
        language: Text search configuration of Postgres for the notes.
        embedding: What makes the vectors.
        candidates: Passages that each of the two searches contributes.
        stale_months: Age at which a note counts less, by its own date; 0: never.
        stale_penalty: Share of its score that it then loses.
        similarity: Least cosine similarity at which a note without the question's words counts.
        learn_bytes: Most bytes of one learning.
        learn_hourly: Most learnings in one hour.
        image: Container image of Postgres with pgvector.
        digest: Digest (or ID) that the image must have; empty: the first one is trusted.
        container: Name of the container.
        volume: Name of its volume.
        port: Port on the loopback address of this machine.
    """

    folder: Path | None = None
    url: str = ""
    password_file: Path = field(
        default_factory=lambda: home() / ".config" / "infoforge" / "vault.password"
    )
    allow_public: bool = False
    exclude: tuple[str, ...] = ()
    language: str = "english"
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    candidates: int = 30
    stale_months: int = 6
    stale_penalty: float = 0.05
    similarity: float = 0.36
    learn_bytes: Size = Size(20_000)
    learn_hourly: int = 20
    image: str = VAULT_IMAGE
    digest: str = ""
    container: str = "infoforge-postgres"
    volume: str = "infoforge-vault"
    port: int = 5433


@dataclass(frozen=True, slots=True)
class MonitorSettings:
    """How the box watches itself (`doctor --heal`, run by a timer), and whom it notifies.

    Attributes:
        interval: Minutes between two looks.
        heal_hourly: Repairs in one hour; 0: none.
        command: Program that is told of a change, with its arguments; it reads the message.
        webhook: URL that the message is posted to (ntfy as it is).
        webhook_format: ``text`` or ``json``.
        allow_public: Allow a webhook on a public address.
        mail: Address that sendmail delivers to.
        desktop: Show a notification on the desktop of this user.
        wall: Write to every terminal.
    """

    interval: int = 15
    heal_hourly: int = 4
    command: str = ""
    webhook: str = ""
    webhook_format: str = "text"
    allow_public: bool = False
    mail: str = ""
    desktop: bool = False
    wall: bool = False


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is kept of what was asked; counts and times always are."""

    questions: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that was configured, with the file it came from (``None``: built-in defaults)."""

    path: Path | None = None
    zims: ZimSettings = field(default_factory=ZimSettings)
    kiwix: KiwixSettings = field(default_factory=KiwixSettings)
    endpoints: tuple[EndpointSettings, ...] = ()
    search: SearchSettings = field(default_factory=SearchSettings)
    answer_style: str = "brief"
    repair: bool = False
    box: BoxSettings = field(default_factory=BoxSettings)
    catalog: CatalogSettings = field(default_factory=CatalogSettings)
    vault: VaultSettings = field(default_factory=VaultSettings)
    monitor: MonitorSettings = field(default_factory=MonitorSettings)
    log: LogSettings = field(default_factory=LogSettings)
