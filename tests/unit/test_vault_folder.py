"""Which files are notes: patterns as git has them, learnings apart."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoforge.vault.errors import VaultError
from infoforge.vault.folder import Rules, commit_dates, files

PATHS = ["a.md", "b/a.md", "b/c/a.md", "b/draft.md", "templates/x.md", "b/templates/x.md", "x1.md"]
PATTERNS = ["*.md", "/a.md", "b/", "!b/a.md", "templates/", "**/a.md", "b/**", "b/*.md", "x?.md",
            "x[0-9].md", "x[!0-9].md", "# no", "", "draft.md", "b/c", "a.md/"]  # fmt: skip


def found(folder, *patterns):
    told = []
    return [file.source for file in files(folder, patterns, told.append)], told


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vault")
    for path in PATHS:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("text")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


@settings(deadline=None)  # a subprocess each, on a machine that may be busy
@given(st.lists(st.sampled_from(PATTERNS), max_size=4))
def test_patterns_mean_what_they_mean_to_git(tree, patterns):
    (tree / ".gitignore").write_text("\n".join(patterns) + "\n")
    line = ["git", "-C", str(tree), "ls-files", "--others", "--exclude-standard", "--", "*.md"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert found(tree, *patterns)[0] == sorted(done.stdout.split())


def test_hidden_learnings_and_other_suffixes_are_left_out(tmp_path):
    for path in (
        ".git/x.md",
        ".hidden.md",
        "agent_learnings/x.md",
        "a.txt",
        "A.MD",
        "n/b.markdown",
    ):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("text")
    assert found(tmp_path) == (["A.MD", "n/b.markdown"], [])


def test_the_vaults_own_patterns_count(tmp_path):
    (tmp_path / "a.md").write_text("text")
    (tmp_path / "b.md").write_text("text")
    (tmp_path / ".infoforgeignore").write_text("b.md\n")
    assert found(tmp_path)[0] == ["a.md"]


def test_links_that_lead_out_are_named(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (tmp_path / "out.md").write_text("text")
    (vault / "in.md").write_text("text")
    (vault / "link.md").symlink_to(tmp_path / "out.md")
    (vault / "same.md").symlink_to(vault / "in.md")
    (vault / "loop").symlink_to(vault)
    names, told = found(vault)
    assert names == ["in.md", "same.md"]
    assert [warning.message for warning in told] == [
        "link.md: a link that leads out of the vault",
        "loop: a link to a folder, which is not followed",
    ]


@pytest.mark.parametrize(
    "copy",
    [
        "Plan.sync-conflict-20240506-101112-ABCDEFG.md",
        "Plan (conflicted copy 2024-05-06 101112).md",
        "Plan (Ann's conflicted copy 2024-05-06).md",
        "Plan (Conflicted copy laptop 202405061011).md",
        "Plan (In Konflikt stehende Kopie von Ann 2024-05-06).md",
        "Plan.conflict-1.md",
    ],
)
def test_copies_of_a_conflict_are_named_and_left_out(tmp_path, copy):
    for name in ("Plan.md", "Conflict copy machine.md", copy):
        (tmp_path / name).write_text("text")
    names, told = found(tmp_path)
    assert sorted(names) == sorted({"Plan.md", "Conflict copy machine.md"} - {copy})
    assert [warning.message for warning in told] == [
        f"{copy}: the copy of a conflict between devices"
    ]


def test_a_pipe_is_no_note(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    names, told = found(tmp_path)
    assert names == []
    assert told[0].message == "pipe.md: not a file"


def test_no_folder(tmp_path):
    with pytest.raises(VaultError, match="does not exist"):
        found(tmp_path / "none")


def test_a_rule_that_cannot_be_read_excludes_nothing():
    assert not Rules(["[z-a]"]).excludes("a.md", folder=False)


def test_a_repository_that_git_does_not_trust_is_told_with_the_command(tmp_path, monkeypatch):
    """As on a box where the notes belong to somebody else than the service user."""
    (tmp_path / "a.md").write_text("# A\n")
    who = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
    for line in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(tmp_path), *line], check=True)
    told = []
    assert set(commit_dates(tmp_path, told.append)) == {"a.md"}
    assert not told
    # Git's own switch for its tests: everything belongs to another user.
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert commit_dates(tmp_path, told.append) == {}
    assert [warning.code for warning in told] == ["git_dates"]
    assert f"safe.directory {tmp_path}" in told[0].message
