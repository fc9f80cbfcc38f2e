"""What the container is made of, decided from settings, books and machine alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from infoforge.box.books import Book, Selection
from infoforge.box.container import LABEL, ContainerSpec, make_spec, shell_glob
from infoforge.box.host import Host, Mount, mount_of
from infoforge.box.podman import BoxError
from infoforge.config.settings import BoxSettings

BOOK = Book("wiki_en_2026-06.zim", "11111111-2222-3333-4444-555555555555", 1000, 42)
HOST = Host(
    version=(5, 4, 2),
    rootless=True,
    cgroup_version="v2",
    cgroup_manager="systemd",
    controllers=frozenset({"memory", "pids"}),
    selinux=False,
    enforcing=False,
    uids=65537,
)
EXT4 = Mount("/", "ext4", "rw")
ENFORCING = replace(HOST, selinux=True, enforcing=True)
LABELLED = Mount("/", "ext4", "rw,relatime,rw,seclabel")


def plan(
    box: BoxSettings | None = None,
    *,
    books: tuple[Book, ...] = (BOOK,),
    folder: str = "/srv/wikis/zims",
    host: Host = HOST,
    mount: Mount = EXT4,
    image_id: str = "sha256:aa",
    foreign: str = "",
) -> ContainerSpec:
    return make_spec(
        box or BoxSettings(),
        Selection(Path(folder), books, ()),
        host,
        mount,
        image_id=image_id,
        foreign=foreign,
    )


def test_the_container_is_shut_in() -> None:
    argv = plan().argv
    for word in (
        "--user=root",
        "--read-only",
        "--cap-drop=all",
        "--security-opt=no-new-privileges",
        "--pids-limit=256",
        "--pull=never",
        "--replace",
        "--restart=always",
        "--name=infoforge-kiwix",
        "--publish=127.0.0.1:8080:8080",
        "--volume=/srv/wikis/zims:/data:ro,z",
    ):
        assert word in argv


def test_the_zims_are_named_one_by_one_after_the_image() -> None:
    argv = plan().argv
    assert argv[argv.index(BoxSettings().image) + 1 :] == (
        "--skipInvalid",
        "--nodatealiases",
        "/data/wiki_en_2026-06.zim",
    )
    assert "-k" not in argv


def test_an_image_older_than_3_7_gets_no_skip_invalid() -> None:
    assert "--skipInvalid" not in plan(replace(BoxSettings(), skip_invalid=False)).argv


def test_the_label_holds_the_fingerprint() -> None:
    made = plan()
    assert f"--label={LABEL}={made.fingerprint}" in made.argv
    assert f"--label=infoforge.zims={json.dumps([BOOK.file])}" in made.argv


@pytest.mark.parametrize(
    "other",
    [
        {"box": replace(BoxSettings(), port=8081)},
        {"box": replace(BoxSettings(), image="ghcr.io/kiwix/kiwix-serve:3.9.0")},
        {"box": replace(BoxSettings(), memory=2_000_000_000)},
        {"books": (replace(BOOK, modified=43),)},
        {"books": (replace(BOOK, uuid="0" * 36),)},
        {"books": (BOOK, replace(BOOK, file="b.zim"))},
        {"image_id": "sha256:bb"},
        {"folder": "/srv/wikis/other"},
        {"host": replace(HOST, controllers=frozenset())},
    ],
)
def test_what_the_container_is_made_from_changes_the_fingerprint(other: dict) -> None:
    assert plan(**other).fingerprint != plan().fingerprint


def test_the_same_parts_give_the_same_fingerprint() -> None:
    assert plan(host=replace(HOST, version=(5, 5, 0))).fingerprint == plan().fingerprint


@pytest.mark.parametrize("kind", ["exfat", "vfat", "nfs4", "fuseblk", "ntfs3", "fuse.sshfs"])
def test_no_label_where_the_file_system_keeps_none(kind: str) -> None:
    made = plan(mount=Mount("/srv", kind, "rw"), host=ENFORCING)
    assert "--volume=/srv/wikis/zims:/data:ro" in made.argv
    assert "--security-opt=label=disable" in made.argv
    choice = next(c for c in made.choices if c.what == "SELinux label")
    assert choice.value == "label=disable"
    assert kind in choice.reason


def test_no_label_on_files_of_another_user() -> None:
    made = plan(foreign="/srv/wikis/zims/lost.part", host=ENFORCING, mount=LABELLED)
    assert "--security-opt=label=disable" in made.argv
    assert not any(word.endswith(",z") for word in made.argv)
    assert "/srv/wikis/zims/lost.part belongs to another user" in made.choices[0].reason


@pytest.mark.parametrize("kind", ["virtiofs", "9p", "zfs"])
def test_where_selinux_is_on_the_kernel_says_which_mounts_keep_labels(kind: str) -> None:
    without = plan(mount=Mount("/srv", kind, "rw,relatime,rw"), host=ENFORCING)
    assert without.choices[0].value == "label=disable"
    assert kind in without.choices[0].reason
    kept = plan(mount=Mount("/srv", kind, "rw,relatime,rw,seclabel"), host=ENFORCING)
    assert "--volume=/srv/wikis/zims:/data:ro,z" in kept.argv
    assert "--security-opt=label=disable" not in kept.argv


def test_a_podman_that_is_set_to_use_no_labels_is_not_called_a_machine_without_selinux() -> None:
    made = plan(host=replace(ENFORCING, selinux=False), mount=LABELLED)
    assert made.choices[0].reason == "Podman is set to use no labels"
    assert plan().choices[0].reason == "SELinux is off here"


def test_no_pids_controller_means_no_limit_and_says_so() -> None:
    made = plan(host=replace(HOST, controllers=frozenset()))
    # crun refuses -1 where there is no controller.
    assert "--pids-limit=0" in made.argv
    assert any(c.what == "process limit" and c.value == "none" for c in made.choices)


def test_a_memory_limit_needs_its_controller() -> None:
    box = replace(BoxSettings(), memory=2_000_000_000)
    assert "--memory=2000000000b" in plan(box).argv
    made = plan(box, host=replace(HOST, controllers=frozenset({"pids"})))
    assert not any(word.startswith("--memory") for word in made.argv)
    assert any(c.what == "memory limit" and c.value == "none" for c in made.choices)


def test_an_ipv6_address_is_bracketed() -> None:
    assert "--publish=[::1]:8080:8080" in plan(replace(BoxSettings(), bind="::1")).argv


def test_the_health_command_can_be_set() -> None:
    assert "--health-cmd=true" in plan(replace(BoxSettings(), health_command="true")).argv


@pytest.mark.parametrize("folder", ["/", "/home", "/srv", "/etc", "/usr"])
def test_folders_that_hold_more_are_refused(folder: str) -> None:
    with pytest.raises(BoxError) as refused:
        plan(folder=folder)
    assert refused.value.code == "folder_refused"
    assert folder in refused.value.message
    assert "zims.folder" in refused.value.hint


def test_the_home_folder_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for folder in (home, tmp_path):
        with pytest.raises(BoxError, match="more than ZIM files"):
            plan(folder=str(folder))
    assert plan(folder=str(home / "zims"))


def test_the_root_of_a_mount_is_refused_only_where_it_would_be_labelled() -> None:
    mount = Mount("/srv/wikis/zims", "ext4", "rw,seclabel")
    with pytest.raises(BoxError, match="root of a mounted file system"):
        plan(mount=mount, host=ENFORCING)
    argv = plan(mount=mount).argv
    assert "--volume=/srv/wikis/zims:/data:ro" in argv
    assert plan(mount=Mount(mount.point, "exfat", "rw"), host=ENFORCING)


def test_a_colon_in_the_path_is_refused() -> None:
    with pytest.raises(BoxError, match="colon"):
        plan(folder="/srv/wikis/a:b")


def test_names_are_fit_for_the_unquoted_start_script() -> None:
    assert shell_glob("/data/my wiki [x]*.zim") == "/data/my?wiki??x??.zim"
    assert shell_glob("/data/日本_2026-06.zim") == "/data/日本_2026-06.zim"


MOUNTS = """\
20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,seclabel
30 20 8:17 / /media/my\\040stick rw - exfat /dev/sdb1 rw,uid=1000
31 20 0:40 / /mnt/nas rw - nfs4 nas:/zims rw
32 20 8:18 / /mnt/fixed rw - ext4 /dev/sdc1 rw,context=system_u:object_r:container_file_t:s0
"""


@pytest.mark.parametrize(
    ("folder", "kind", "labels"),
    [
        ("/media/my stick/zims", "exfat", False),
        ("/mnt/nas", "nfs4", False),
        ("/mnt/nasty", "ext4", True),
        ("/mnt/fixed/zims", "ext4", False),
    ],
)
def test_the_mount_is_found(folder: str, kind: str, labels: bool) -> None:
    mount = mount_of(Path(folder), MOUNTS)
    assert (mount.kind, mount.labels(True)) == (kind, labels)


def test_without_selinux_the_kind_of_file_system_tells() -> None:
    assert mount_of(Path("/mnt/nasty"), MOUNTS).labels(False)
    assert not mount_of(Path("/mnt/nas"), MOUNTS).labels(False)
