"""The model works in a thread of its own: what fails there or here ends both, and loses nothing."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from infoforge.vault.embed import SLICE, Ahead
from infoforge.vault.errors import VaultError
from infoforge.vault.index import index


class Model:
    """Vectors of one kind, at once; keeps what it was asked, and fails when told to."""

    name, dimension, window = "flat", 4, 40

    def __init__(self, fails_on: str = "") -> None:
        self.fails_on = fails_on
        self.asked: list[str] = []

    def count(self, texts):
        return [len(text.split()) for text in texts]

    def documents(self, texts):
        self.asked += texts
        if self.fails_on and any(self.fails_on in text for text in texts):
            raise VaultError("the embedding server does not answer", code="embedder_down")
        return np.ones((len(texts), self.dimension), np.float32)


@pytest.fixture(autouse=True)
def no_thread_outlives():
    """After each test no more threads than before it."""
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


@pytest.fixture
def twenty(vault, monkeypatch):
    """Twenty notes of one passage each, four of them a batch."""
    monkeypatch.setattr("infoforge.vault.index.TOGETHER", 4)
    for i in range(20):
        vault.write(f"{i:02}.md", f"# Note {i:02}\n\nThe number {i:02}.\n")
    return vault


def test_a_model_that_fails_ends_the_run_and_keeps_what_was_done(twenty):
    twenty.embedder = lambda: Model(fails_on="number 13")
    with pytest.raises(VaultError, match="does not answer") as caught:
        twenty.index()
    assert caught.value.code == "embedder_down"
    # The batches before that of note 13, each note whole.
    assert twenty.sources() == {f"{i:02}.md": 1 for i in range(12)}
    twenty.embedder = Model
    done = twenty.index()
    assert (done.unchanged, done.added, done.embedded) == (12, 8, 8)


def test_a_writer_that_fails_ends_the_model_too(twenty):
    model = Model()

    class Broken(Exception):
        pass

    def broken(done: int, total: int) -> None:
        raise Broken

    with twenty.store() as store, pytest.raises(Broken):
        index(store, lambda: model, twenty.settings, warn=lambda n: None, progress=broken)
    # The model was one batch ahead, and went no further.
    assert len(model.asked) <= 8
    assert twenty.sources() == {"00.md": 1}


def test_what_was_asked_and_not_begun_is_not_done():
    begun, go_on = threading.Event(), threading.Event()

    class Slow(Model):
        def documents(self, texts):
            begun.set()
            assert go_on.wait(30)
            return super().documents(texts)

    model = Slow()
    ahead = Ahead(model)
    ahead.embed({f"{i}": f"text {i}" for i in range(3 * SLICE)})
    assert begun.wait(30)
    # Let go only when the end was asked for, so that two slices stand in the queue by then.
    ending = threading.Thread(target=ahead.__exit__)
    ending.start()
    end = time.monotonic() + 30
    while not ahead._pool._shutdown:
        assert time.monotonic() < end
    go_on.set()
    ending.join(30)
    assert len(model.asked) <= SLICE


def test_the_vectors_are_those_of_their_texts(minilm):
    texts = {f"{i}": "word " * (i % 7 + 1) + str(i) for i in range(SLICE + 9)}
    with Ahead(minilm) as ahead:
        first, second = ahead.embed(texts), ahead.embed({"more": "A last one."})
        found = first() | second()
    rows = minilm.documents([*texts.values(), "A last one."])
    for key, row in zip([*texts, "more"], rows, strict=True):
        near = np.fromstring(found[key].strip("[]"), sep=",") @ row
        assert near == pytest.approx(1, abs=1e-4)


def test_a_passage_of_two_notes_is_embedded_once(twenty):
    model = Model()
    twenty.embedder = lambda: model
    # In the next batch, which is begun before the first is written, and in a much later one.
    for name in ("04", "15"):
        (twenty.folder / f"{name}.md").write_bytes((twenty.folder / "00.md").read_bytes())
    done = twenty.index()
    assert (done.embedded, done.reused) == (18, 2)
    assert len(model.asked) == len(set(model.asked)) == 18
    assert len(twenty.sources()) == 20
