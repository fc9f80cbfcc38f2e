"""Atomic writes and exclusive locks, and that the code has no other ones."""

import ast
import os
import stat
import threading
from pathlib import Path

import pytest

from infoforge import files

CODE = Path(files.__file__).parent


def test_a_written_file_holds_the_content_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "a.txt"
    files.write_atomic(path, "old")
    files.write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    files.write_atomic(path, "old")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write_atomic(path, "new")
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


def test_modes(tmp_path):
    def mode(path):
        return stat.S_IMODE(path.stat().st_mode)

    old = os.umask(0o027)
    try:
        plain, secret = tmp_path / "plain", tmp_path / "secret"
        files.write_atomic(plain, "")
        files.write_atomic(secret, "", mode=0o600)
        assert (mode(plain), mode(secret)) == (0o640, 0o600)
        plain.chmod(0o604)
        files.write_atomic(plain, "again")
        assert mode(plain) == 0o604
        files.write_atomic(secret, "again", mode=0o644)
        assert mode(secret) == 0o644, "the mode that is asked for, whatever the umask says"
    finally:
        os.umask(old)


def test_a_link_in_the_place_is_replaced_and_its_target_stays(tmp_path):
    target = tmp_path / "target"
    target.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(target)
    files.write_atomic(link, "new")
    assert target.read_text() == "mine"
    assert not link.is_symlink()


def test_the_longest_name_that_a_file_may_have_can_be_written(tmp_path):
    path = tmp_path / ("ä" * 127)
    files.write_atomic(path, "x")
    assert path.read_text() == "x"


def test_a_new_file_never_replaces_one(tmp_path):
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        files.write_new(handle, "a", b"first")
        with pytest.raises(FileExistsError):
            files.write_new(handle, "a", b"second")
    finally:
        os.close(handle)
    assert [item.name for item in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"first"


def test_a_lock_excludes_a_second_holder_until_it_is_released(tmp_path):
    path = tmp_path / "lock"
    with files.locked(path), pytest.raises(BlockingIOError), files.locked(path, wait=0):
        pass
    with files.locked(path, wait=0):
        pass


def test_a_waiting_process_is_told_once_and_gets_the_lock(tmp_path):
    path = tmp_path / "lock"
    waits = threading.Event()
    got = []

    def second():
        with path.open("w") as file:
            files.lock(file, wait=60, on_wait=waits.set)
            got.append(True)

    thread = threading.Thread(target=second)
    with files.locked(path):
        thread.start()
        assert waits.wait(60)
        assert not got
    thread.join(60)
    assert got


def _calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr, len(node.args) + len(node.keywords)


def test_no_other_module_locks_or_replaces_files():
    """`Path.replace` has one argument, `str.replace` two; a hard link is renamed in zims/add.py."""
    found = {}
    for path in sorted(CODE.rglob("*.py")):
        for name, arguments in _calls(ast.parse(path.read_text("utf-8"))):
            renames = name == "rename" or (name == "replace" and arguments == 1)
            if name in ("flock", "lockf") or renames:
                found.setdefault(str(path.relative_to(CODE)), []).append(name)
    assert set(found) - {"files.py"} == {"zims/add.py"}
