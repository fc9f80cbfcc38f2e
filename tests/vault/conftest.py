"""Fixtures of the vault's tests: a real Postgres, the real MiniLM, a vault to change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.kiwix import Unavailable
from support.postgres import Postgres

from infoforge.config.settings import EmbeddingSettings, VaultSettings
from infoforge.contract import WarningMessage
from infoforge.vault.embed import Embedder, LocalEmbedder
from infoforge.vault.index import Indexed, index
from infoforge.vault.store import Store, connect


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests; each takes a database of its own."""
    try:
        with Postgres() as server:
            yield server
    except Unavailable as reason:
        pytest.skip(f"PostgreSQL 17 with pgvector: {reason}")


@pytest.fixture(scope="session")
def minilm() -> Embedder:
    """all-MiniLM-L6-v2 from its package, in this process."""
    return LocalEmbedder(EmbeddingSettings())


@pytest.fixture
def wide(minilm: Embedder) -> type:
    """A model of the same name and another dimension, to be opened like one."""

    class Wide:
        name, dimension, window = minilm.name, 768, 254
        count = staticmethod(minilm.count)

    return Wide


class Vault:
    """A folder, a database, and the indexer between them."""

    def __init__(self, settings: VaultSettings, embedder: Callable[[], Embedder]) -> None:
        assert settings.folder is not None
        self.settings = settings
        self.folder = settings.folder
        self.embedder = embedder
        self.warnings: list[WarningMessage] = []

    def store(self) -> Store:
        return Store(connect(self.settings))

    def write(self, source: str, text: str | bytes) -> Path:
        path = self.folder / source
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def index(self, *, rebuild: bool = False, **settings: object) -> Indexed:
        self.warnings = []
        with self.store() as store:
            return index(
                store,
                self.embedder,
                replace(self.settings, **settings),  # type: ignore[arg-type]
                warn=self.warnings.append,
                rebuild=rebuild,
            )

    def sources(self) -> dict[str, int]:
        """Chunks by source, as the index has them."""
        with self.store() as store:
            found = store.rows("SELECT source, count(*) FROM chunks GROUP BY 1")
            return {str(source): int(count) for source, count in found}


@pytest.fixture
def vault(postgres: Postgres, minilm: Embedder, tmp_path: Path) -> Vault:
    """An empty vault with an empty database."""
    password = tmp_path / "password"
    password.write_text(postgres.password)
    password.chmod(0o600)
    folder = tmp_path / "vault"
    folder.mkdir()
    settings = VaultSettings(
        folder=folder, url=postgres.url(postgres.database()), password_file=password
    )
    return Vault(settings, lambda: minilm)
