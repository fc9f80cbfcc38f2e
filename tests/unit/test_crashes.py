"""A ZIM file that ends kiwix-serve is found at the second death, and no longer served."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from infoforge.box.books import select
from infoforge.box.container import Container
from infoforge.box.crashes import DEATHS, WINDOW_SECONDS, any_excluded, observe
from infoforge.config.settings import ZimSettings

MakeZim = Callable[..., Path]
START = 1_800_000_000.0


def container(restarts: int, *files: str, name: str = "a", status: str = "running") -> Container:
    return Container(name, status, "", files, "", 1, True, "", restarts, "")


def unnoticed(_path: Path) -> str:
    """A quick check that does not find the damage, which may be in any article."""
    return ""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "infoforge" / "crashes.json"


@pytest.fixture
def folder(make_zim: MakeZim, shared_data: Path) -> Path:
    """A good file, and one whose damage ends the process that reads it."""
    found = make_zim({"Cat": "<p>A cat purrs.</p>"}, name="cats_en").parent
    shutil.copy(shared_data / "zims" / "hostile" / "rotten.zim", found / "rotten.zim")
    return found


def test_the_file_that_ends_the_server_is_excluded_at_the_second_death(folder: Path) -> None:
    files = tuple(path.name for path in folder.glob("*.zim"))
    settings = ZimSettings(folder=folder)
    assert observe(container(0, *files), folder, START) == ()
    assert observe(container(1, *files), folder, START + 30) == ()
    assert "rotten.zim" in {book.file for book in select(settings, unnoticed).books}
    assert observe(container(2, *files), folder, START + 60) == ("rotten.zim",)
    selection = select(settings, unnoticed)
    assert [book.file for book in selection.books] == ["cats_en_2026-06.zim"]
    (left_out,) = selection.bad
    assert left_out.file == "rotten.zim"
    assert "kiwix-serve ended twice" in left_out.reason
    assert "signal" in left_out.reason


def test_a_file_that_was_replaced_is_tried_again(folder: Path) -> None:
    observe(container(2, "rotten.zim"), folder, START)
    assert any_excluded()
    shutil.copy(folder / "cats_en_2026-06.zim", folder / "rotten.zim")
    (folder / "cats_en_2026-06.zim").unlink()
    assert [book.file for book in select(ZimSettings(folder=folder)).books] == ["rotten.zim"]


def test_a_server_that_podman_does_not_restart_has_died_once_in_each_container(
    folder: Path,
) -> None:
    files = ("rotten.zim",)
    for _ in range(3):  # three looks at one death
        assert observe(container(0, *files, name="a", status="exited"), folder, START) == ()
    assert observe(container(0, *files, name="b"), folder, START + 25) == ()
    dead = container(0, *files, name="b", status="exited")
    assert observe(dead, folder, START + 50) == files


def test_deaths_that_are_far_apart_or_of_another_container_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probed: list[Path] = []
    monkeypatch.setattr("infoforge.box.crashes._fault", lambda path: probed.append(path) or "")
    (tmp_path / "x.zim").touch()
    for number in range(4):
        observe(container(number, "x.zim"), tmp_path, START + number * WINDOW_SECONDS)
    # A new container counts its restarts from none.
    observe(container(0, "x.zim", name="b"), tmp_path, START)
    assert probed == []
    observe(container(DEATHS, "x.zim", name="b"), tmp_path, START + 1)
    assert probed == [tmp_path / "x.zim"]
    # Looked for once, not at every look after it.
    observe(container(DEATHS, "x.zim", name="b"), tmp_path, START + 2)
    observe(container(DEATHS + 1, "x.zim", name="b"), tmp_path, START + 3)
    assert len(probed) == 1


@pytest.mark.parametrize(
    "damage", ["", "[]", '{"container": 3, "recent": {}, "excluded": []}', "{"]
)
def test_a_damaged_state_is_an_empty_one(state: Path, tmp_path: Path, damage: str) -> None:
    state.parent.mkdir(parents=True)
    state.write_text(damage)
    assert observe(container(1, "x.zim"), tmp_path, START) == ()
    assert not any_excluded()
