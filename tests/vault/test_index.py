"""The index against the folder, whatever happens in it. Real Postgres, real model."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from infoforge.vault.errors import VaultError
from infoforge.vault.index import Indexed
from infoforge.vault.watch import watch

TEXT = "# {0}\n\nThe {0} is cleaned on Mondays.\n\n## Parts\n\nIt has a {0} handle.\n"


def expected(vault) -> set[str]:
    return {str(p.relative_to(vault.folder)) for p in vault.folder.rglob("*.md") if p.is_file()}


def test_a_second_run_does_nothing(vault):
    for name in ("pump", "boiler", "kettle"):
        vault.write(f"{name}.md", TEXT.format(name))
    first = vault.index()
    assert (first.added, first.embedded) == (3, 6)
    assert vault.index() == Indexed(unchanged=3)


def test_a_change_embeds_only_what_changed(vault):
    vault.write("pump.md", TEXT.format("pump"))
    vault.index()
    vault.write("pump.md", TEXT.format("pump") + "\n## Spares\n\nIn the cellar.\n")
    done = vault.index()
    assert (done.changed, done.embedded, done.reused) == (1, 1, 2)
    assert vault.sources() == {"pump.md": 3}


def test_moving_a_folder_embeds_nothing(vault):
    for name in ("pump", "boiler"):
        vault.write(f"old/{name}.md", TEXT.format(name))
    vault.index()
    (vault.folder / "old").rename(vault.folder / "new")
    done = vault.index()
    assert (done.added, done.removed, done.embedded) == (2, 2, 0)
    assert set(vault.sources()) == {"new/pump.md", "new/boiler.md"}


def test_a_save_by_rename_and_a_deletion(vault):
    path = vault.write("pump.md", TEXT.format("pump"))
    vault.write("gone.md", TEXT.format("gone"))
    vault.index()
    beside = vault.folder / ".pump.md.swp"
    beside.write_text(TEXT.format("valve"))
    beside.rename(path)
    (vault.folder / "gone.md").unlink()
    done = vault.index()
    assert (done.changed, done.removed) == (1, 1)
    with vault.store() as store:
        assert store.rows("SELECT DISTINCT title FROM notes") == [("valve",)]


def test_what_cannot_be_a_note_is_named_and_left_out(vault):
    vault.write("good.md", "# Good\n\nText.\n")
    vault.write("binary.md", b"# A\0B\n")
    vault.write("latin.md", "# Café\n".encode("latin-1"))
    vault.write("huge.md", b"x" * 1_000_001)
    vault.write("agent_learnings/2026-01-01 x.md", "not yet\n")
    vault.write("templates/t.md", "# Template\n")
    vault.write(".obsidian/x.md", "# Hidden\n")
    (vault.folder / "out.md").symlink_to("/etc/hostname")
    bad_name = os.fsencode(vault.folder) + b"/caf\xe9.md"
    Path(os.fsdecode(bad_name)).write_bytes(b"# Name\n")
    done = vault.index(exclude=("templates/",))
    assert set(vault.sources()) == {"good.md"}
    assert done.skipped == 5
    named = " ".join(warning.message for warning in vault.warnings)
    for word in ("binary", "not UTF-8", "larger than", "leads out", "name is not UTF-8"):
        assert word in named


def test_a_note_that_becomes_binary_leaves_the_index(vault):
    vault.write("pump.md", TEXT.format("pump"))
    vault.index()
    vault.write("pump.md", b"\0\1\2")
    vault.index()
    assert vault.sources() == {}


def test_no_chunk_is_longer_than_the_model_reads(vault, minilm):
    long_line = " ".join(f"word{i}" for i in range(3000))
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| row {i} | {i * 7} |" for i in range(200))
    code = "```\n" + "\n".join(f"do_something --with {i}" for i in range(300)) + "\n```"
    blob = "QUJD" * 3000
    vault.write("long.md", f"# Long\n\n{long_line}\n\n{table}\n\n{code}\n\n{blob}\n")
    vault.index()
    with vault.store() as store:
        rows = store.rows("SELECT heading_path, content FROM chunks ORDER BY chunk_index")
    counts = minilm.count([f"{heading}\n{content}" for heading, content in rows])
    assert max(counts) <= minilm.window
    held = "".join(content for _, content in rows).replace(" ", "").replace("\n", "")
    for piece in ("word0", "word2999", "|row199|1393|", "do_something--with299", blob):
        assert piece in held


def test_a_notes_own_date_comes_from_front_matter_then_git_then_the_file(vault):
    vault.write("front.md", "---\ndate: 2020-02-03\n---\n\n# A\n\nText.\n")
    vault.write("git.md", "# B\n\nText.\n")
    env = {**os.environ, "GIT_COMMITTER_DATE": "2021-05-06T12:00:00Z"}
    env |= {"GIT_CONFIG_GLOBAL": "/dev/null"}
    who = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    for line in (["init", "-q"], ["add", "git.md"], [*who, "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(vault.folder), *line], check=True, env=env)
    path = vault.write("file.md", "# C\n\nText.\n")
    os.utime(path, (1_650_000_000, 1_650_000_000))
    vault.index()
    with vault.store() as store:
        dates = dict(store.rows("SELECT source, modified::text FROM notes"))
    assert dates == {"front.md": "2020-02-03", "git.md": "2021-05-06", "file.md": "2022-04-15"}


def test_one_writer(vault):
    vault.write("pump.md", TEXT.format("pump"))
    vault.index()
    with vault.store() as first, vault.store() as second:
        first.lock()
        with pytest.raises(VaultError, match="another indexer") as caught:
            second.lock(0.1)
        assert caught.value.code == "vault_busy"
        first.unlock()
        second.lock(0.1)


def test_a_watcher_follows_a_checkout_of_500_notes(vault):
    for i in range(500):
        vault.write(f"n/{i:03}.md", f"# Note {i}\n\nNumber {i}.\n")
    stop = threading.Event()
    runs: list[Indexed] = []
    failures: list[BaseException] = []

    def follow() -> None:
        try:
            watch(vault.settings, warn=vault.warnings.append, done=runs.append, stop=stop)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=follow)
    thread.start()

    def wait_for(condition) -> None:
        end = time.monotonic() + 240
        while not condition():
            assert not failures, failures
            assert time.monotonic() < end, (runs[-3:], len(vault.sources()))
            time.sleep(0.1)

    try:
        wait_for(lambda: len(runs) >= 1)
        # What "git checkout" of another branch does: half changed, a fifth gone, a tenth new.
        for i in range(0, 500, 2):
            vault.write(f"n/{i:03}.md", f"# Note {i}\n\nNow number {i + 1000}.\n")
        for i in range(1, 200, 2):
            (vault.folder / f"n/{i:03}.md").unlink()
        for i in range(50):
            vault.write(f"m/{i:03}.md", f"# More {i}\n\nNumber {i}.\n")

        def follows() -> bool:
            with vault.store() as store:
                new = store.rows("SELECT count(*) FROM chunks WHERE content LIKE 'Now number%%'")
            return set(vault.sources()) == expected(vault) and new == [(250,)]

        wait_for(follows)
        path = vault.folder / "n/000.md"
        beside = vault.folder / "n/.000.md.tmp"
        beside.write_text("# Renamed over\n\nBy an editor.\n")
        beside.rename(path)

        def saved() -> bool:
            with vault.store() as store:
                return bool(store.rows("SELECT 1 FROM notes WHERE title = 'Renamed over'"))

        wait_for(saved)
    finally:
        stop.set()
        thread.join(30)
    assert not failures
    assert not thread.is_alive()
