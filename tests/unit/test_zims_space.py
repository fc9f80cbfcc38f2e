"""Will it fit: the margin, the figures in the error, FAT's limit, the file system of a path."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from infoforge.contract import CheckFailed
from infoforge.zims.space import FAT_LIMIT, Space, balance, filesystem_of, margin, require

GIB = 1 << 30


def test_the_bigger_of_one_gib_and_two_percent() -> None:
    assert margin(10 * GIB) == GIB
    assert margin(53 * GIB) == int(53 * GIB * 0.02)


def test_what_is_there_already_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=60 * GIB)
    monkeypatch.setattr("shutil.disk_usage", lambda _path: usage)
    fits = balance(tmp_path / "not" / "there" / "yet", [100 * GIB], have=42 * GIB)
    assert (fits.need, fits.short) == (60 * GIB, 0)
    short = balance(tmp_path, [70 * GIB, 30 * GIB], have=0)
    assert (short.need, short.free, short.short) == (102 * GIB, 60 * GIB, 42 * GIB)
    assert balance(tmp_path, [60 * GIB], have=0, keep_free=0).short == 0


def test_the_error_has_the_figures() -> None:
    space = Space(
        need=54_060_000_000, free=50_000_000_000, short=4_060_000_000, margin=1, filesystem=""
    )
    with pytest.raises(CheckFailed) as caught:
        require(Path("/srv/zims"), space, ("a.zim", 1))
    for figure in ("need 54.1 GB", "free 50.0 GB", "short of 4.1 GB", "/srv/zims"):
        assert figure in caught.value.message
    assert caught.value.data == {
        "need": 54_060_000_000,
        "free": 50_000_000_000,
        "short": 4_060_000_000,
    }
    assert caught.value.code == "no_space"


@pytest.mark.parametrize("kind", ["vfat", "msdos"])
def test_fat_ends_at_four_gib(kind: str) -> None:
    plenty = Space(need=1, free=2, short=0, margin=1, filesystem=kind)
    require(Path("/stick"), plenty, ("a.zim", FAT_LIMIT))
    with pytest.raises(CheckFailed, match="FAT") as caught:
        require(Path("/stick"), plenty, ("a.zim", FAT_LIMIT + 1))
    assert caught.value.code == "file_too_large"


def test_exfat_does_not() -> None:
    plenty = Space(need=1, free=2, short=0, margin=1, filesystem="exfat")
    require(Path("/stick"), plenty, ("a.zim", 100 * FAT_LIMIT))


def test_the_deepest_mount_tells_the_file_system(tmp_path: Path) -> None:
    odd = tmp_path / "my stick"
    (odd / "zims").mkdir(parents=True)
    (tmp_path / "my").mkdir()
    escaped = str(odd).replace(" ", "\\040")
    info = "\n".join(
        [
            "21 1 0:1 / / rw - ext4 /dev/a rw",
            f"22 21 0:2 / {tmp_path} rw shared:1 - btrfs /dev/b rw",
            f"23 22 0:3 / {escaped} rw - ext4 /dev/c rw",
            f"24 23 0:4 / {escaped} rw - vfat /dev/d rw",
            "nonsense",
        ]
    )
    assert filesystem_of(odd / "zims", info) == "vfat"
    assert filesystem_of(tmp_path / "my", info) == "btrfs"
    assert filesystem_of(Path("/"), info) == "ext4"
    assert filesystem_of(Path("/"), "") == ""


def test_the_real_one_is_known(tmp_path: Path) -> None:
    assert filesystem_of(tmp_path) != ""
