"""The database fails in every way it can: a clear error, and nothing is lost."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace

import pytest
from support.kiwix import Unavailable
from support.postgres import Postgres

from infoforge.config.settings import EmbeddingSettings
from infoforge.vault.embed import LocalEmbedder
from infoforge.vault.errors import VaultDown, VaultError
from infoforge.vault.index import index
from infoforge.vault.store import Store, connect


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A server that a test may kill."""
    try:
        with Postgres() as server:
            yield server
    except Unavailable as reason:
        pytest.skip(str(reason))


def moved(vault, server: Postgres):
    """The vault, with its database on another server."""
    vault.settings.password_file.write_text(server.password)
    vault.settings = replace(vault.settings, url=server.url(server.database()))
    return vault


def test_killed_in_mid_index_and_started_again(vault, own_postgres, run_cli):
    vault = moved(vault, own_postgres)
    for i in range(300):
        vault.write(f"{i:03}.md", f"# Note {i}\n\nThe number {i}.\n")

    def kill(done: int, total: int) -> None:
        if done == 260:
            own_postgres.stop(signal.SIGKILL)

    with (
        pytest.raises(VaultDown, match="does not answer"),
        Store(connect(vault.settings)) as store,
    ):
        index(store, vault.embedder, vault.settings, warn=lambda n: None, progress=kill)
    with pytest.raises(VaultDown) as caught:
        connect(vault.settings)
    assert "doctor" in caught.value.hint
    own_postgres.start()
    done = vault.index()
    # What was committed before the kill is not embedded again.
    assert done.unchanged >= 200
    assert done.added + done.unchanged == 300
    assert len(vault.sources()) == 300


def test_out_of_disk(vault):
    try:
        with Postgres(tmpfs="72m") as server:
            vault = moved(vault, server)
            vault.write("first.md", "# First\n\nIt was here before.\n")
            vault.index()
            for i in range(60):
                text = " ".join(f"w{i}x{j}" for j in range(9000))
                vault.write(f"big{i}.md", f"# Big {i}\n\n```\n{text}\n```\n")

            class Cheap:
                """As the real one, without the wait: only the room is of interest."""

                name, dimension, window = "all-MiniLM-L6-v2", 384, 4000

                def count(self, texts):
                    return [len(text.split()) for text in texts]

                def documents(self, texts):
                    import numpy as np

                    rows = np.random.default_rng(1).normal(size=(len(texts), 384))
                    return rows.astype(np.float32)

            with (
                pytest.raises(VaultDown) as caught,
                Store(connect(vault.settings)) as store,
            ):
                index(store, Cheap, vault.settings, warn=lambda n: None)  # type: ignore[arg-type]
            # No room for a table is one error; no room for its log, and Postgres ends itself.
            assert caught.value.code in ("vault_full", "vault_down"), caught.value.message
            server.stop(signal.SIGKILL)
            server.grow("400m")
            server.start()
            with vault.store() as store:
                assert store.rows("SELECT content FROM chunks WHERE source = 'first.md'")
                broken = store.rows(
                    "SELECT count(*) FROM notes WHERE NOT EXISTS"
                    " (SELECT 1 FROM chunks WHERE chunks.source = notes.source)"
                )
                assert broken == [(0,)]
                done = index(store, Cheap, vault.settings, warn=lambda n: None)  # type: ignore[arg-type]
            assert done.added + done.changed + done.unchanged == 61
    except Unavailable as reason:
        pytest.skip(str(reason))


def test_wrong_password(vault):
    vault.settings.password_file.write_text("wrong")
    with pytest.raises(VaultDown) as caught:
        connect(vault.settings)
    assert caught.value.code == "vault_password"
    assert "vault.password_file" in caught.value.hint
    assert "wrong" not in caught.value.message


def test_no_database_server_there(vault):
    own = replace(vault.settings, url="postgresql://vault@127.0.0.1:1/vault")
    with pytest.raises(VaultDown) as caught:
        connect(own)
    assert caught.value.code == "vault_down"


def test_a_public_address_is_refused(vault):
    from infoforge.contract import ConfigError

    own = replace(vault.settings, url="postgresql://vault@8.8.8.8/vault")
    with pytest.raises(ConfigError, match="public address"):
        connect(own)


def test_a_password_in_the_url_is_never_shown(vault):
    from infoforge.vault.store import address

    own = replace(vault.settings, url="postgresql://vault:topsecret@127.0.0.1:1/vault")
    assert "topsecret" not in address(own)
    with pytest.raises(VaultDown) as caught:
        connect(own)
    assert "topsecret" not in caught.value.message + caught.value.hint


def test_wrong_dimension(vault, wide):
    vault.write("a.md", "# A\n\nText.\n")
    vault.index()
    vault.embedder = wide
    with pytest.raises(VaultError, match=r"384 dimensions.*768") as caught:
        vault.index()
    assert caught.value.code == "vault_model"
    assert "infoforge vault index --rebuild" in caught.value.hint
    assert vault.sources() == {"a.md": 1}


def test_rebuild_takes_another_model(vault, minilm):
    vault.write("a.md", "# A\n\nText.\n")
    vault.index()
    vault.embedder = lambda: LocalEmbedder(EmbeddingSettings(model="renamed"))
    with pytest.raises(VaultError, match="made with all-MiniLM-L6-v2"):
        vault.index()
    done = vault.index(rebuild=True)
    assert (done.added, done.embedded) == (1, 1)


def test_no_extension_and_no_right_to_make_one(vault, postgres):
    with postgres.connect("postgres") as connection:
        connection.execute("CREATE ROLE plain LOGIN PASSWORD 'plain'")
        connection.execute("CREATE DATABASE plain OWNER plain")
    vault.settings.password_file.write_text("plain")
    vault.settings = replace(
        vault.settings, url=f"postgresql://plain@/plain?host={postgres.folder}"
    )
    with pytest.raises(VaultDown) as caught:
        vault.index()
    assert caught.value.code == "no_pgvector"
    assert "CREATE EXTENSION vector" in caught.value.hint
    # With the extension made by a superuser the same role is enough.
    with postgres.connect("plain") as connection:
        connection.execute("CREATE EXTENSION vector")
    vault.write("a.md", "# A\n\nText.\n")
    assert vault.index().added == 1


def test_a_server_without_pgvector(vault, postgres):
    control = postgres.folder.parents[1] / "usr/share/postgresql/17/extension/vector.control"
    hidden = control.with_suffix(".hidden")
    control.rename(hidden)
    try:
        with pytest.raises(VaultDown) as caught:
            vault.index()
    finally:
        hidden.rename(control)
    assert caught.value.code == "no_pgvector"
    assert "postgresql-17-pgvector" in caught.value.hint


def test_a_newer_schema_is_not_touched(vault):
    vault.write("a.md", "# A\n\nText.\n")
    vault.index()
    with vault.store() as store:
        store.rows("UPDATE vault_settings SET value = '99' WHERE key = 'schema'")
    with pytest.raises(VaultError, match="number 99"):
        vault.index()
