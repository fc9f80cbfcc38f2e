"""SELinux: whose files can be labelled, what doctor says of labels, and that a wrong one is healed.

The kernel's part is played here; a real one that enforces is in ``make test-selinux``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from infoforge.box import box_checks, repair, systemd
from infoforge.box.health import FAIL, PASS, CheckContext, CheckResult
from infoforge.box.host import Host, Mount, foreign_file
from infoforge.config.settings import Settings, ZimSettings

HOST = Host((5, 4, 2), True, "v2", "systemd", frozenset(), True, True, 65537)
LABELS = {"zims": "container_file_t", "good.zim": "container_file_t", "moved.zim": "user_home_t"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    zims = tmp_path / "zims"
    zims.mkdir()
    (zims / "good.zim").touch()
    return zims


@pytest.fixture
def enforcing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that enforces, on a file system that keeps labels."""
    monkeypatch.setattr(box_checks, "enforcing", lambda: True)
    monkeypatch.setattr(repair, "enforcing", lambda: True)
    monkeypatch.setattr(box_checks, "inspect_host", lambda _: HOST)
    monkeypatch.setattr(box_checks, "mount_of", lambda _: Mount("/", "ext4", "rw,seclabel"))
    monkeypatch.setattr(box_checks, "label_of", lambda path: LABELS[path.name])


def doctor(folder: Path) -> CheckResult:
    context = CheckContext(Settings(zims=replace(ZimSettings(), folder=folder)))
    (check,) = box_checks._label(context, NOBODY)
    return check


NOBODY: Any = None
"""The Podman of checks that must not call it."""


def test_all_of_a_folder_counts_hidden_files_and_those_below_too(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("files are given away, which takes root")
    (folder / "sub").mkdir()
    (folder / "sub" / ".left.part").touch()
    (folder / "link.zim").symlink_to("/")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 4321, 4321, follow_symlinks=False)
    assert foreign_as(4321, folder) == ""
    os.chown(folder / "sub" / ".left.part", 0, 0)
    assert foreign_as(4321, folder) == str(folder / "sub" / ".left.part")
    assert foreign_as(1234, folder) == str(folder)
    assert foreign_as(0, folder) == ""


def foreign_as(uid: int, folder: Path) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "getuid", lambda: uid)
        return foreign_file(folder)


@pytest.mark.usefixtures("enforcing")
def test_doctor_names_the_file_that_may_not_be_read(folder: Path) -> None:
    assert doctor(folder).status == PASS
    (folder / "moved.zim").touch()
    check = doctor(folder)
    assert check.status == FAIL
    assert "moved.zim is user_home_t" in check.detail
    assert "serve recreate" in check.hint


@pytest.mark.usefixtures("enforcing")
def test_no_label_is_asked_of_a_container_that_needs_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "moved.zim").touch()
    monkeypatch.setattr(box_checks, "foreign_file", lambda _: "/srv/zims/of-root.zim")
    check = doctor(folder)
    assert check.status == PASS
    assert "label=disable: /srv/zims/of-root.zim belongs to another user" in check.detail
    monkeypatch.undo()
    monkeypatch.setattr(box_checks, "enforcing", lambda: True)
    monkeypatch.setattr(box_checks, "inspect_host", lambda _: replace(HOST, selinux=False))
    monkeypatch.setattr(box_checks, "mount_of", lambda _: Mount("/", "ext4", "rw,seclabel"))
    assert doctor(folder) == CheckResult("box:label", PASS, "none: Podman is set to use no labels")


class Well:
    """What `box_status` finds of a container that serves."""

    problem = None
    faults = ()
    health = "healthy"

    @property
    def container(self) -> Well:
        return self


@pytest.mark.usefixtures("enforcing")
def test_a_label_that_was_changed_under_a_running_server_is_healed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Podman:
        env: ClassVar[dict[str, str]] = {}

    monkeypatch.setattr(systemd, "unit_file", lambda: folder / "good.zim")
    monkeypatch.setattr(systemd, "systemctl", lambda *_, **__: (0, "enabled"))
    monkeypatch.setattr(repair, "box_status", lambda *_: Well())
    settings = Settings(zims=replace(ZimSettings(), folder=folder))

    def needs() -> Iterator[repair.Fault]:
        return repair.find_defects(settings, Podman())  # type: ignore[arg-type]

    assert list(needs()) == []
    (folder / "moved.zim").touch()
    (need,) = needs()
    assert need == repair.Defect("container", "it may not read: moved.zim is user_home_t")
    monkeypatch.setattr(repair, "enforcing", lambda: False)
    assert list(needs()) == []
