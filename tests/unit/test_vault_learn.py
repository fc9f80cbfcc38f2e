"""What agents may leave, and what they may not."""

from __future__ import annotations

import threading
from datetime import datetime

import pytest

from infoforge.config.settings import Size, VaultSettings
from infoforge.contract import UsageError
from infoforge.vault.errors import VaultError
from infoforge.vault.learn import learn, waiting

NOW = datetime(2026, 11, 29, 12)


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "agent_learnings").mkdir()
    (tmp_path / "note.md").write_text("a note")
    return VaultSettings(folder=tmp_path, learn_hourly=5)


def test_a_new_dated_file(settings):
    path = learn(settings, "It's wet", "Water.\n", NOW)
    assert path.name == "2026-11-29 It's wet.md"
    assert path.read_text() == "---\ntitle: 'It''s wet'\ndate: 2026-11-29\n---\n\nWater.\n"
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
