"""Which ZIM files are served, and which are left out and why."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from infoforge.box.books import Selection, select
from infoforge.config.settings import ZimSettings

MakeZim = Callable[..., Path]


def files(selection: Selection) -> list[str]:
    return [book.file for book in selection.books]


@pytest.fixture
def folder(make_zim: MakeZim) -> Path:
    make_zim({"Cat": "<p>A cat"}, name="cats_en")
    return make_zim({"Dog": "<p>A dog"}, name="dogs_en").parent


def test_every_zim_is_served_by_name(folder: Path) -> None:
    assert files(select(ZimSettings(folder))) == ["cats_en_2026-06.zim", "dogs_en_2026-06.zim"]


def test_the_enabled_ones_in_their_order(folder: Path) -> None:
    chosen = select(ZimSettings(folder, ("dogs_en", "cats_en_2026-06.zim")))
    assert files(chosen) == ["dogs_en_2026-06.zim", "cats_en_2026-06.zim"]
    assert not chosen.bad


def test_what_is_enabled_and_missing_is_named(folder: Path) -> None:
    chosen = select(ZimSettings(folder, ("dogs_en", "birds_en")))
    assert files(chosen) == ["dogs_en_2026-06.zim"]
    assert [(item.file, item.reason) for item in chosen.bad] == [
        ("birds_en", "enabled, but not in the folder")
    ]


def test_the_newest_edition_is_served(folder: Path, make_zim: MakeZim) -> None:
    make_zim({"Cat": "<p>A newer cat"}, name="cats_en", date="2026-08-01")
    chosen = select(ZimSettings(folder))
    assert files(chosen) == ["cats_en_2026-08.zim", "dogs_en_2026-06.zim"]
    assert [(item.file, item.older) for item in chosen.left_out] == [("cats_en_2026-06.zim", True)]
    assert not chosen.bad


def test_an_older_edition_steps_in_for_a_truncated_one(folder: Path) -> None:
    whole = (folder / "cats_en_2026-06.zim").read_bytes()
    (folder / "cats_en_2026-09.zim").write_bytes(whole[: len(whole) // 2])
    chosen = select(ZimSettings(folder))
    assert files(chosen) == ["cats_en_2026-06.zim", "dogs_en_2026-06.zim"]
    (bad,) = chosen.bad
    assert bad.file == "cats_en_2026-09.zim"
    assert bad.reason.startswith("does not open: ")


@pytest.mark.parametrize("content", [b"", b"text, and no ZIM at all" * 10])
def test_what_is_no_zim_is_left_out(folder: Path, content: bytes) -> None:
    (folder / "odd_en.zim").write_bytes(content)
    chosen = select(ZimSettings(folder))
    assert [item.file for item in chosen.bad] == ["odd_en.zim"]
    assert len(chosen.books) == 2


def test_a_copy_is_served_once(folder: Path) -> None:
    # kiwix-serve knows books by UUID and would show the last of the two alone.
    shutil.copy(folder / "cats_en_2026-06.zim", folder / "pets.zim")
    chosen = select(ZimSettings(folder))
    assert files(chosen) == ["cats_en_2026-06.zim", "dogs_en_2026-06.zim"]
    assert chosen.left_out[0].reason == "a copy of cats_en_2026-06.zim"


def test_a_link_out_of_the_folder_is_left_out(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "birds_en.zim"
    shutil.move(folder / "dogs_en_2026-06.zim", outside)
    (folder / "birds_en.zim").symlink_to(outside)
    (folder / "felines.zim").symlink_to("cats_en_2026-06.zim")
    chosen = select(ZimSettings(folder, ("felines", "birds_en")))
    assert files(chosen) == ["felines.zim"]
    assert "link that leads out of the folder" in chosen.bad[0].reason


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_left_out(folder: Path) -> None:
    (folder / "cats_en_2026-06.zim").chmod(0)
    assert "cannot be read" in select(ZimSettings(folder)).bad[0].reason


def test_hidden_files_and_folders_do_not_count(folder: Path) -> None:
    (folder / ".cats_en_2026-07.zim").write_bytes(b"half a download")
    assert not select(ZimSettings(folder)).left_out


def test_no_folder_is_no_book(tmp_path: Path) -> None:
    assert select(ZimSettings(tmp_path / "none")) == Selection(tmp_path / "none", (), ())
