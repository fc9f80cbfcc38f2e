"""Does a question find its note? Sixty of them over two real vaults, three ways side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from infoforge.vault.search import Query, keyword_search, months_old, search

QUESTIONS = Path(__file__).parents[1] / "eval" / "vault_questions.jsonl"
WAYS = ("hybrid", "vector", "full text")


@pytest.fixture(scope="module")
def real(postgres, minilm, shared_data, tmp_path_factory):
    """The two vaults of the shared data, indexed."""
    from infoforge.config.settings import VaultSettings
    from infoforge.vault.index import index
    from infoforge.vault.store import Store, connect

    password = tmp_path_factory.mktemp("vault") / "password"
    password.write_text(postgres.password)
    settings = VaultSettings(
        folder=shared_data / "vaults",
        url=postgres.url(postgres.database()),
        password_file=password,
    )
    with Store(connect(settings)) as store:
        done = index(store, lambda: minilm, settings, warn=lambda warning: None)
        # Ten of the 226 have nothing below their front matter: they are not indexed.
        assert (done.added, done.skipped) == (216, 10)
        again = index(store, lambda: minilm, settings, warn=lambda warning: None)
        assert (again.unchanged, again.embedded) == (216, 0)
        yield store


def found_by(way: str, store, query: Query) -> list[str]:
    if way == "full text":
        return [passage.source for passage in search(store, replace(query, vector=None))]
    return [passage.source for passage in search(store, query, keywords=way == "hybrid")]


def test_sixty_questions(real, minilm):
    questions = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    assert len(questions) == 60
    hits = {(kind, way): 0 for kind in ("same words", "other words") for way in WAYS}
    missed = []
    for row in questions:
        query = Query(row["question"], minilm.query(row["question"]))
        for way in WAYS:
            if set(found_by(way, real, query)) & set(row["sources"]):
                hits[row["kind"], way] += 1
            elif way == "hybrid":
                missed.append(row["id"])
    print(f"\nhit@5, of 30 each    {'':4}" + "".join(f"{way:>12}" for way in WAYS))
    for kind in ("same words", "other words"):
        print(f"{kind:24}" + "".join(f"{hits[kind, way]:12}" for way in WAYS))
    print("hybrid misses:", " ".join(missed))
    assert hits["same words", "hybrid"] >= 28
    assert hits["other words", "hybrid"] >= 22
    hybrid = sum(hits[kind, "hybrid"] for kind in ("same words", "other words"))
    for way in ("vector", "full text"):
        assert hybrid >= sum(hits[kind, way] for kind in ("same words", "other words"))


def test_old_notes_count_a_little_less(vault, minilm):
    text = "# Boiler\n\nThe boiler is serviced by the plumber in spring.\n"
    vault.write("old.md", f"---\ndate: 2024-01-01\n---\n{text}")
    vault.write("new.md", f"---\ndate: 2026-10-01\n---\n{text}")
    vault.index()
    query = Query(
        "who services the boiler?",
        minilm.query("who services the boiler?"),
        today=date(2026, 11, 29),
    )
    with vault.store() as store:
        first, second = search(store, query)
        assert (first.source, second.source) == ("new.md", "old.md")
        even = search(store, replace(query, stale_months=0))
    assert {passage.source for passage in even} == {"new.md", "old.md"}
    assert second.score < next(p.score for p in even if p.source == "old.md")


def test_months_are_counted_whole():
    today = date(2026, 11, 29)
    assert months_old("2026-05-29", today) == 6
    assert months_old("2026-05-30", today) == 5
    assert months_old("2027-01-01", today) == 0
    assert months_old("", today) == 0


def test_under_a_folder_only(vault, minilm):
    vault.write("a_b/pump.md", "# Pump\n\nThe pump stands in the cellar.\n")
    vault.write("axb/pump.md", "# Pump\n\nThe pump stands in the attic.\n")
    vault.index()
    query = Query("where is the pump?", minilm.query("where is the pump?"), under="a_b")
    with vault.store() as store:
        assert [passage.source for passage in search(store, query)] == ["a_b/pump.md"]


def test_words_that_all_are_common_still_find_what_holds_them_together(vault, minilm):
    """More chunks than are ranked hold each word; only one holds both, and it is the last."""
    for i in range(900):
        word = "valve" if i % 2 else "cellar"
        vault.write(f"{i:03}.md", f"# Note {i}\n\nThe {word} has number {i}.\n")
    vault.write("zz.md", "# Where\n\nThe valve is in the cellar.\n")

    class Cheap:
        """As the real one, without the wait: only the words are of interest."""

        name, dimension, window = minilm.name, minilm.dimension, minilm.window
        count = staticmethod(minilm.count)

        def documents(self, texts):
            import numpy as np

            return np.eye(1, self.dimension, dtype=np.float32).repeat(len(texts), axis=0)

    vault.embedder = Cheap
    vault.index()
    with vault.store() as store:
        found = [passage.source for _, passage in keyword_search(store, Query("valve cellar"))]
        assert found == ["zz.md"]
        # A rare word leads alone.
        found = [
            passage.source for _, passage in keyword_search(store, Query("which valve has 701?"))
        ]
        assert found[0] == "701.md"


@pytest.mark.parametrize("text", ["'", "a'b:*&!|()", "\\", "%_", "🚒", "the of", "x" * 5000])
def test_any_text_may_be_searched(vault, minilm, text):
    vault.write("pump.md", "# Pump\n\nIt's a 'pump' \\ with 100% power.\n")
    vault.index()
    with vault.store() as store:
        keyword_search(store, Query(text))
        search(store, Query(text, minilm.query(text)))
