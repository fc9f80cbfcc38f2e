"""An index of an older schema: brought up to date with all that it holds."""

from __future__ import annotations

import pytest

from infoforge.vault.errors import VaultError
from infoforge.vault.search import Query, vector_search
from infoforge.vault.store import Model, migrations


@pytest.fixture
def old(vault, minilm, monkeypatch):
    """A vault that was indexed when there was one migration alone."""
    known = migrations()
    monkeypatch.setattr("infoforge.vault.store.migrations", lambda: known[:1])
    for i in range(40):
        text = " ".join(f"valve{i}x{j}" for j in range(20))
        vault.write(f"{i:02}.md", f"# Note {i}\n\nValve {i} is in cellar {i * 7}. {text}\n")
    vault.index()
    monkeypatch.undo()
    with vault.store() as store:
        assert not store.current()
    return vault


BESIDE = "SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'chunks'::regclass"


def vectors(vault) -> dict[str, str]:
    with vault.store() as store:
        return dict(store.rows("SELECT source, embedding::text FROM chunks"))


def test_nothing_is_embedded_again(old, minilm):
    before = vectors(old)
    with old.store() as store:
        assert store.rows(BESIDE) > [(0,)]
    done = old.index()
    assert (done.unchanged, done.embedded) == (40, 0)
    assert vectors(old) == before
    with old.store() as store:
        assert store.current()
        found = vector_search(store, Query("", minilm.query("Valve 3 is in cellar 21.")))
        assert found[0][1].source == "03.md"
        # Vectors lie in the rows: reading them takes no page beside these.
        kept = store.rows(
            "SELECT attstorage::text FROM pg_attribute"
            " WHERE attrelid = 'chunks'::regclass AND attname = 'embedding'"
        )
        assert store.rows(BESIDE) == [(0,)]
    assert kept == [("m",)]


def test_another_dimension_is_refused_and_the_old_index_stays(old, minilm, wide):
    before = vectors(old)
    old.embedder = wide
    with pytest.raises(VaultError, match=r"384 dimensions.*768") as caught:
        old.index()
    assert caught.value.code == "vault_model"
    assert vectors(old) == before
    with old.store() as store:
        assert store.model() == Model(minilm.name, 384)


def test_how_common_words_are_is_read_anew_after_a_large_run(vault):
    from infoforge.vault.store import words_of

    vault.write("a.md", "# A\n\nOne valve.\n")
    with vault.store() as store:
        from infoforge.vault.index import index

        def run() -> float:
            index(store, vault.embedder, vault.settings, warn=lambda warning: None)
            return words_of(store).total

        assert run() == 1
        for i in range(9):
            vault.write(f"{i}.md", f"# Note {i}\n\nValve {i}.\n")
        assert run() == 10
        assert words_of(store).shares["valv"] == 1.0
