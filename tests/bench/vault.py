"""The vault's speed: indexing beside the bare model, queries and recall at 20,000 notes.

usage: tests/bench/vault.py [--notes N] [--only-index]

The two vaults of the shared data are indexed, and the same texts are given to the bare model
before and after; the share is what the vault itself costs. Notes of the large vault are generated:
their sentences are drawn from the real notes, and their vectors are mixtures of real ones (two
passages in random shares, and noise), since embedding 60,000 passages takes an hour and says
nothing of Postgres.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.kiwix import REPO
from support.postgres import Postgres

from infoforge.config.settings import EmbeddingSettings, VaultSettings
from infoforge.vault.chunks import Chunk
from infoforge.vault.embed import LocalEmbedder
from infoforge.vault.index import index
from infoforge.vault.search import Query, keyword_search, search, vector_search, vector_text
from infoforge.vault.store import Model, NoteEntry, Store, connect

VAULTS = REPO.parent / "shared" / "data" / "vaults"
QUESTIONS = REPO / "tests" / "eval" / "vault_questions.jsonl"


def settings_of(server: Postgres, folder: Path) -> VaultSettings:
    password = Path(tempfile.mkdtemp()) / "password"
    password.write_text(server.password)
    return VaultSettings(folder=folder, url=server.url(server.database()), password_file=password)


def timed(call):
    """Wall time, this process's CPU time, and what the call returned."""
    started, spent = time.perf_counter(), time.process_time()
    result = call()
    return time.perf_counter() - started, time.process_time() - spent, result


class Watched:
    """The model, with the seconds that it was at work for the index: the rest it stood still."""

    def __init__(self, model: LocalEmbedder) -> None:
        self.name, self.dimension, self.window = model.name, model.dimension, model.window
        self.count = model.count
        self.busy = 0.0
        self._model = model

    def documents(self, texts):
        took, _, rows = timed(lambda: self._model.documents(texts))
        self.busy += took
        return rows


def bench_index(server: Postgres, model: LocalEmbedder) -> list:
    """Index the real vaults; returns their chunks as (source, heading, content, vector text)."""
    settings = settings_of(server, VAULTS)
    with Store(connect(settings)) as store:
        model.query("warm")
        # Once for the texts, so that both ways get the very same ones.
        index(store, lambda: model, settings, warn=lambda warning: None)
        rows = store.rows(
            "SELECT source, heading_path, content, embedding::text FROM chunks ORDER BY id"
        )
        texts = list(dict.fromkeys(f"{heading}\n{content}" for _, heading, content, _ in rows))
        before = timed(lambda: model.documents(texts))
        watched = Watched(model)
        took, spent, done = timed(
            lambda: index(store, lambda: watched, settings, warn=lambda n: None, rebuild=True)
        )
        after = timed(lambda: model.documents(texts))
        again, _, nothing = timed(
            lambda: index(store, lambda: model, settings, warn=lambda warning: None)
        )
    bare = (before[0] + after[0]) / 2
    bare_spent = (before[1] + after[1]) / 2
    print(
        f"index    {done.added} notes, {done.embedded} passages in {took:.1f} s: "
        f"{done.added / took:.1f} notes/s, {done.embedded / took:.1f} passages/s; CPU {spent:.1f} s"
    )
    print(
        f"bare     {len(texts)} passages in {bare:.1f} s ({before[0]:.1f}, {after[0]:.1f}): "
        f"{len(texts) / bare:.1f} passages/s; CPU {bare_spent:.1f} s"
    )
    # On a machine that others use as well, wall time says more of them than of the vault; how long
    # the model stood still does not.
    print(
        f"share    {bare / took:.0%} of the bare model by wall, {bare_spent / spent:.0%} by CPU; "
        f"it was at work {watched.busy / took:.0%} of the time"
    )
    print(f"again    {nothing.unchanged} unchanged, {nothing.embedded} embedded in {again:.2f} s")
    return rows


def generate(store: Store, rows: list, count: int) -> None:
    import numpy as np

    draw = random.Random(20)
    noise = np.random.default_rng(20)
    vectors = np.asarray([json.loads(row[3]) for row in rows], np.float32)
    sentences = [part for row in rows for part in row[2].split(". ") if 20 < len(part) < 400]
    for number in range(count):
        source = f"h{number % 2}/g{number % 20:02}/{number:05}.md"
        pieces = []
        for place in range(3):
            one, two = draw.randrange(len(rows)), draw.randrange(len(rows))
            share = draw.uniform(0.5, 0.95)
            mixed = share * vectors[one] + (1 - share) * vectors[two]
            mixed = mixed + noise.normal(0, 0.01, mixed.shape)
            content = ". ".join(draw.choice(sentences) for _ in range(6))
            chunk = Chunk(f"Note {number} > Part {place}", content, "", f"{number}-{place}")
            pieces.append((chunk, vector_text(mixed / np.linalg.norm(mixed))))
        entry = NoteEntry(source, str(number), f"Note {number}", "", "2026-05-01")
        store.put(entry, pieces, "english")


class Clock:
    """Times searches: by wall, and by the CPU of this process and of the database's together.

    On a machine that others use as well, wall time says more of them than of the search.
    """

    def __init__(self, store: Store) -> None:
        process = store.rows("SELECT pg_backend_pid()")[0][0]
        self._statistics = Path(f"/proc/{process}/schedstat")
        self.wall: list[float] = []
        self.spent: list[float] = []

    def _cpu(self) -> float:
        return time.process_time() + int(self._statistics.read_text().split()[0]) / 1e9

    def time(self, call) -> None:
        started, spent = time.perf_counter(), self._cpu()
        call()
        self.wall.append(1000 * (time.perf_counter() - started))
        self.spent.append(1000 * (self._cpu() - spent))

    def __str__(self) -> str:
        def both(times: list[float]) -> str:
            ordered = sorted(times)
            p95 = ordered[int(len(ordered) * 0.95)]
            return f"p50 {statistics.median(ordered):.1f} ms, p95 {p95:.1f} ms"

        return f"{both(self.wall)} (CPU {both(self.spent)})"


def exact(store: Store, query: Query) -> set[int]:
    """The ten nearest, each chunk looked at."""
    where = "WHERE source LIKE %s" if query.under else ""
    rows = store.rows(
        f"SELECT id FROM chunks {where} ORDER BY embedding <=> %s::vector LIMIT 10",
        *([f"{query.under}/%"] if query.under else []),
        vector_text(query.vector),
    )
    return {int(row[0]) for row in rows}


def bench_scale(server: Postgres, model: LocalEmbedder, rows: list, count: int) -> None:
    settings = settings_of(server, VAULTS)
    with Store(connect(settings)) as store, Store(connect(settings)) as truth:
        # On a connection of its own, and never by a plan that was made before.
        truth.connection.prepare_threshold = None
        truth.rows("SET enable_indexscan = off")
        store.migrate(Model(model.name, model.dimension))
        store.rows("INSERT INTO vault_settings VALUES ('language', 'english')")
        store.rows("SET synchronous_commit = off")
        took, _, _ = timed(lambda: generate(store, rows, count))
        store.analyze()
        counts = store.counts()
        graph = store.rows("SELECT pg_relation_size('chunks_embedding')")[0][0]
        print(
            f"scale    {counts.notes} notes, {counts.chunks} passages put in in {took:.0f} s; "
            f"{counts.size / 1e6:.0f} MB in all, {graph / 1e6:.0f} MB the graph"
        )
        questions = [json.loads(line)["question"] for line in QUESTIONS.open(encoding="utf-8")]
        queries = [Query(text, model.query(text)) for text in questions]
        for query in queries:
            search(store, query)
        filters = {"all notes": "", "half of them": "h0", "a folder of 5 %": "h0/g06"}
        for name, under in filters.items():
            hybrid, meaning, words = Clock(store), Clock(store), Clock(store)
            hit = 0
            for base in queries:
                query = replace(base, under=under)
                hybrid.time(lambda q=query: search(store, q))
                meaning.time(lambda q=query: vector_search(store, q))
                words.time(lambda q=query: keyword_search(store, q))
                ten = [key for key, _, _ in vector_search(store, query)][:10]
                hit += len(exact(truth, query) & set(ten))
            print(f"query    {name}: recall@10 {hit / (10 * len(queries)):.3f}")
            for way, clock in (("hybrid", hybrid), ("meaning", meaning), ("words", words)):
                print(f"           {way:8} {clock}")


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=20_000)
    parser.add_argument("--only-index", action="store_true")
    given = parser.parse_args()
    model = LocalEmbedder(EmbeddingSettings())
    with Postgres() as server:
        rows = bench_index(server, model)
        if not given.only_index:
            bench_scale(server, model, rows, given.notes)


if __name__ == "__main__":
    main()
