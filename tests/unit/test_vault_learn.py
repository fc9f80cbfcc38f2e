"""What agents may leave, and what they may not."""

from __future__ import annotations

import threading
from datetime import datetime

import pytest

from infoforge.config.settings import Size, VaultSettings
from infoforge.contract import UsageError
from infoforge.vault.errors import VaultError
from infoforge.vault.learn import learn, waiting
from infoforge.vault.notes import decode, parse

NOW = datetime(2026, 11, 29, 12)


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "agent_learnings").mkdir()
    (tmp_path / "note.md").write_text("a note")
    return VaultSettings(folder=tmp_path, learn_hourly=5)


def test_a_new_dated_file(settings):
    path = learn(settings, "It's wet", "Water.\n", NOW)
    assert path.name == "2026-11-29 It's wet.md"
    front = "title: 'It''s wet'\ndate: 2026-11-29\nsource: agent\n"
    assert path.read_text() == f"---\n{front}---\n\nWater.\n"
    item = waiting(settings)[0]
    assert (item.title, item.date, item.first) == ("It's wet", "2026-11-29", "Water.")
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "title",
    ["../note", "/etc/x", "a/b", "..", ".", "", "  ", ".x", "a\0b", "a\nb", "x" * 101, "[[a]]",
     "a\\b", "\udcff", "\u202etxt"],
)  # fmt: skip
def test_titles_that_are_no_file_names(settings, title):
    with pytest.raises(UsageError):
        learn(settings, title, "text", NOW)
    assert not list((settings.folder / "agent_learnings").iterdir())
    assert (settings.folder / "note.md").read_text() == "a note"


def test_a_name_that_is_there_is_never_taken(settings):
    path = learn(settings, "Pump", "one", NOW)
    with pytest.raises(UsageError, match="there already"):
        learn(settings, "PUMP", "two", NOW.replace(day=30))
    assert "one" in path.read_text()


def test_size_rate_and_emptiness_are_bounded(settings):
    from dataclasses import replace

    with pytest.raises(UsageError, match="empty"):
        learn(settings, "a", " \n", NOW)
    with pytest.raises(UsageError, match="allowed"):
        learn(replace(settings, learn_bytes=Size(100)), "a", "x" * 101, NOW)
    for number in range(5):
        learn(settings, f"n{number}", "text", NOW)
    with pytest.raises(VaultError, match="in the last hour") as caught:
        learn(settings, "one more", "text", NOW)
    assert caught.value.exit_code == 1


def test_the_folder_may_not_be_a_link(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "agent_learnings").symlink_to(elsewhere)
    with pytest.raises(VaultError, match="cannot be opened"):
        learn(VaultSettings(folder=vault), "a", "text", NOW)
    assert not list(elsewhere.iterdir())


def test_without_a_folder_it_says_how_to_make_it(tmp_path):
    with pytest.raises(VaultError) as caught:
        learn(VaultSettings(folder=tmp_path), "a", "text", NOW)
    assert "infoforge vault init" in caught.value.hint


def test_two_at_once_leave_two_files_or_one_error(settings):
    failures = []

    def leave():
        try:
            learn(settings, "same", "text", NOW)
        except UsageError as error:
            failures.append(error)

    threads = [threading.Thread(target=leave) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failures) == 3
    assert len(waiting(settings)) == 1


@pytest.mark.parametrize("title", ["The pump", "source person", "Pump's - age"])
def test_a_kept_learning_says_in_its_citation_that_an_agent_wrote_it(settings, title):
    """A person keeps it by moving the file; nothing in the agent's text takes the mark away."""
    path = learn(settings, title, "---\nsource: person\ntitle: x\n---\n\nIt leaks.", NOW)
    kept = settings.folder / f"{title}.md"
    waiting(settings)[0].path.rename(kept)
    assert not path.exists()
    note = parse(decode(kept.read_bytes()), kept.stem)
    assert note.title == f"{title} (written by an agent)"


def test_a_learning_holds_no_control_characters(settings):
    path = learn(settings, "Pump", "a\x1b[2Jb\u202ec\r\nd\x9b\x00e\u200bf\n\tg", NOW)
    assert path.read_text().endswith("---\n\na[2Jbc\ndef\n\tg\n")


def test_a_learning_of_control_characters_alone_is_empty(settings):
    with pytest.raises(UsageError, match="empty"):
        learn(settings, "Pump", "\x1b\x00\u202e\n", NOW)
