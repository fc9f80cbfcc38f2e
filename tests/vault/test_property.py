"""Whatever happens to the files, and whenever the indexer is killed: index equals folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from infoforge.config.settings import VaultSettings
from infoforge.text.markdown import is_empty
from infoforge.vault.chunks import chunks
from infoforge.vault.index import index
from infoforge.vault.notes import decode, parse
from infoforge.vault.store import Store, connect

NAMES = st.sampled_from(["a", "b", "ü", "c d"])
FOLDERS = st.sampled_from(["", "x/", "x/y/", "z/"])
TEXTS = st.lists(
    st.sampled_from(["# One", "## Two", "alpha beta", "gamma.", "- item", "```\ncode\n```", ""]),
    max_size=6,
).map("\n\n".join)


class Cheap:
    """Vectors by hash. A process that is killed in the middle of a run is a fork of this one, and
    the real model's threads don't live in a fork; which vectors they are does not matter here.
    """

    name = "hash"
    dimension = 8
    window = 40

    def count(self, texts):
        return [len(text.split()) for text in texts]

    def documents(self, texts):
        import numpy as np

        rows = [list(hashlib.sha256(text.encode()).digest()[:8]) for text in texts]
        return np.asarray(rows, np.float32).reshape(len(rows), 8) + 1

    def query(self, text):
        return self.documents([text])[0]


@pytest.fixture
def machine(postgres):
    password = Path(tempfile.mkdtemp()) / "password"
    password.write_text(postgres.password)

    class Folder(RuleBasedStateMachine):
        @initialize()
        def begin(self):
            self.folder = Path(tempfile.mkdtemp(prefix="vault-"))
            self.settings = VaultSettings(
                folder=self.folder, url=postgres.url(postgres.database()), password_file=password
            )

        def notes(self):
            return sorted(p for p in self.folder.rglob("*.md") if p.is_file())

        @rule(folder=FOLDERS, name=NAMES, text=TEXTS)
        def write(self, folder, name, text):
            path = self.folder / folder / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_suffix(".tmp")
            beside.write_text(text)
            beside.rename(path)

        @rule(at=st.integers(0, 20))
        def delete(self, at):
            notes = self.notes()
            if notes:
                notes[at % len(notes)].unlink()

        @rule(at=st.integers(0, 20), folder=FOLDERS, name=NAMES)
        def rename(self, at, folder, name):
            notes = self.notes()
            if notes:
                target = self.folder / folder / f"{name}.md"
                target.parent.mkdir(parents=True, exist_ok=True)
                notes[at % len(notes)].rename(target)

        @rule(target_name=st.sampled_from(["moved", "x", "z"]))
        def move_a_folder(self, target_name):
            source, target = self.folder / "x", self.folder / target_name
            if source.is_dir() and not target.exists():
                source.rename(target)

        @rule(at=st.integers(0, 20))
        def make_binary(self, at):
            notes = self.notes()
            if notes:
                notes[at % len(notes)].write_bytes(b"\0")

        @rule(after=st.integers(0, 4))
        def index_and_be_killed(self, after):
            child = os.fork()
            if child == 0:
                seen = 0

                def progress(done, total):
                    nonlocal seen
                    seen += 1
                    if seen > after:
                        os.kill(os.getpid(), signal.SIGKILL)

                try:
                    self.run(progress)
                finally:
                    os._exit(0)
            os.waitpid(child, 0)

        @rule()
        def index_whole(self):
            self.run()
            self.check()

        def run(self, progress=None):
            with Store(connect(self.settings)) as store:
                index(store, Cheap, self.settings, warn=lambda warning: None, progress=progress)

        def check(self):
            wanted = {}
            for path in self.notes():
                data = path.read_bytes()
                if b"\0" in data or is_empty(decode(data)):
                    continue
                model = Cheap()
                cut = chunks(parse(decode(data), path.stem), model.count, model.window)
                source = str(path.relative_to(self.folder))
                wanted |= {(source, i): (c.heading, c.content) for i, c in enumerate(cut)}
            with Store(connect(self.settings)) as store:
                rows = store.rows("SELECT source, chunk_index, heading_path, content FROM chunks")
                orphans = store.rows(
                    "SELECT count(*) FROM chunks WHERE source NOT IN (SELECT source FROM notes)"
                )
            assert {(s, i): (h, c) for s, i, h, c in rows} == wanted
            assert orphans == [(0,)]

        def teardown(self):
            if hasattr(self, "folder"):
                self.run()
                self.check()
                shutil.rmtree(self.folder)

    yield Folder
    shutil.rmtree(password.parent)


def test_the_index_equals_the_folder_whatever_happened(machine):
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )


def test_another_model_of_the_same_length_is_refused(postgres, tmp_path):
    """Vectors of two models are numbers of one length and mean nothing to each other."""
    from infoforge.vault.errors import VaultError

    password = tmp_path / "password"
    password.write_text(postgres.password)
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\ntext\n")
    own = VaultSettings(
        folder=folder, url=postgres.url(postgres.database()), password_file=password
    )

    class Other(Cheap):
        name = "other"

    with Store(connect(own)) as store:
        index(store, Cheap, own, warn=lambda warning: None)
    with (
        Store(connect(replace(own))) as store,
        pytest.raises(VaultError, match="made with hash") as caught,
    ):
        index(store, Other, own, warn=lambda warning: None)
    assert "--rebuild" in caught.value.hint
