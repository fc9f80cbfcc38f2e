"""What an admin gets wrong is told in one message: value, reason, remedy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from box import host, images, lab
from box.conftest import play
from box.plays import Run


def refused(run: Run, *words: str) -> str:
    """The one complaint of a run that failed as it should."""
    assert run.code != 0, run.output[-2000:]
    assert len(run.complaints) == 1, run.output[-4000:]
    message = run.complaints[0]
    for word in words:
        assert word in message, (word, message)
    return message


def one(box: lab.Box, *options: str, **extra: Any) -> Run:
    """site.yml on one box."""
    return play("site.yml", f"--limit={box.name}", *options, extra=extra)


def test_a_wrong_type(box: lab.Box) -> None:
    refused(one(box, "--tags=cli", cli_keep="many"), "cli_keep", "many", "int")


@pytest.mark.parametrize(
    ("name", "meant", "tag"),
    [
        ("kiwix_image_archiv", "kiwix_image_archive", "kiwix"),
        ("infoforge_bundel", "infoforge_bundle", "host"),
    ],
)
def test_a_wrong_name(box: lab.Box, name: str, meant: str, tag: str) -> None:
    run = one(box, f"--tags={tag}", "--check", **{name: "x"})
    refused(run, name, f"did you mean {meant}?", "Remedy")


def test_a_wrong_key_of_the_configuration(box: lab.Box) -> None:
    run = one(box, "--tags=cli", cli_config={"endpoint": []})
    refused(run, "endpoint", "endpoints")


def test_a_user_that_does_not_exist(box: lab.Box) -> None:
    run = one(box, "--tags=host", infoforge_user="olga", host_user_manage=False)
    refused(run, "There is no user olga", "useradd")


def test_too_few_subordinate_ids(box: lab.Box) -> None:
    box.run("cp /etc/subuid /etc/subuid.kept && sed -i /^infoforge:/d /etc/subuid")
    try:
        run = one(box, "--tags=host", host_subids_manage=False)
        refused(run, "0 subordinate user IDs", "65536", "usermod --add-subuids")
        refused(one(box, "--tags=kiwix"), "no subordinate IDs", "usermod --add-subuids")
    finally:
        box.run("mv /etc/subuid.kept /etc/subuid")


def test_no_linger(box: lab.Box) -> None:
    box.run("rm /var/lib/systemd/linger/infoforge")
    try:
        run = one(box, "--tags=host", host_linger_manage=False)
        refused(run, "does not linger", "loginctl enable-linger infoforge")
        refused(one(box, "--tags=kiwix"), "does not linger", "loginctl enable-linger infoforge")
    finally:
        # By then logind may have ended the user's systemd, as it does with everybody who left.
        box.run("loginctl enable-linger infoforge")
        bus = "test -S /run/user/$(id -u infoforge)/bus"
        host.until("the user's bus", 60, lambda: box.run(bus, check=False).returncode == 0)


def test_too_little_room_for_a_copy(box: lab.Box, tmp_path: Path) -> None:
    huge = tmp_path / "huge_en_all_2026-06.zim"
    with huge.open("wb") as file:
        file.truncate(3 * 1024**4)
    before = box.run("ls /home/infoforge/zims").stdout
    message = refused(one(box, "--tags=zims", zims_copy=[str(huge)]), "Not enough room", "short of")
    assert "3.0 TiB" in message
    assert box.run("ls /home/infoforge/zims").stdout == before


def test_too_little_room_for_a_download(box: lab.Box) -> None:
    run = one(
        box,
        "--tags=zims",
        zims_pull=["landmarks_en_all@2026-06", "absent_en_all"],
        zims_pull_options=["--keep-free=3TB"],
    )
    assert run.code != 0
    # A name that the catalog does not have is the first thing to be told.
    refused(run, "absent_en_all")
    new = {"zims_pull": ["rivers_en_all@2026-06"], "zims_pull_options": ["--keep-free=3TB"]}
    box.run("mv /home/infoforge/zims/rivers_en_all_2026-06.zim /root/")
    try:
        refused(one(box, "--tags=zims", **new), "3.0", "free")
        assert "rivers" not in box.run("ls /home/infoforge/zims").stdout
    finally:
        box.run("mv /root/rivers_en_all_2026-06.zim /home/infoforge/zims/")


# These two leave the box with a wrong configuration, which one play puts right at the end.


def test_a_port_that_another_program_holds(box: lab.Box, restored: None) -> None:
    # A program of the same user; of another user's, which we may not look into, the user is named.
    program = "python3 -m http.server --bind 127.0.0.1 8099"
    box.run(f"systemd-run --uid=infoforge --unit=holder {program}")
    try:
        config = {
            "box": {"image": "localhost/kiwix-serve:3.7.0", "digest": "", "port": 8099},
        }
        run = one(box, "--tags=cli,kiwix", cli_config=config)
        refused(run, "8099", "held by", "python3", "box.port")
    finally:
        box.run("systemctl stop holder")


def test_an_image_that_is_not_there(box: lab.Box, restored: None) -> None:
    config = {"box": {"image": "localhost/absent:1", "digest": ""}}
    run = one(
        box,
        "--tags=cli,kiwix",
        cli_config=config,
        kiwix_image_archive="",
        kiwix_image_pull=False,
    )
    refused(run, "localhost/absent:1", "infoforge serve load", "kiwix_image_archive")


def test_an_image_that_is_not_the_one_of_the_digest(box: lab.Box, restored: None) -> None:
    digest = "sha256:" + "0" * 64
    config = {"box": {"image": images.KIWIX_REFERENCE, "digest": digest}}
    refused(one(box, "--tags=cli,kiwix", cli_config=config), images.KIWIX_REFERENCE, digest)


def test_a_bundle_with_one_flipped_byte_in_each_kind_of_file(box: lab.Box, tmp_path: Path) -> None:
    names = ("wheels/infoforge-9-py3-none-any.whl", "images/kiwix-serve.tar", "zims/x_2026-06.zim")
    for name in names:
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"\0" * 4096)
    script = Path(__file__).resolve().parents[2] / "roles" / "cli" / "files" / "bundle.py"
    subprocess.run([sys.executable, str(script), "list", str(tmp_path)], check=True)
    before = box.run("ls -R /home/infoforge/.local/share/infoforge /home/infoforge/zims").stdout
    for name, tag in zip(names, ("cli", "kiwix", "zims"), strict=True):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[:-1] + b"\1")
        run = one(box, f"--tags={tag}", infoforge_bundle=str(tmp_path))
        refused(run, name, "SHA256SUMS", "Nothing of it was used", "playbooks/bundle.yml")
        (tmp_path / name).write_bytes(whole)
    run = one(
        box, "--tags=cli", infoforge_bundle=str(tmp_path), infoforge_bundle_key="ssh-ed25519 AAAA"
    )
    refused(run, "SHA256SUMS.sig is missing")
    assert (
        box.run("ls -R /home/infoforge/.local/share/infoforge /home/infoforge/zims").stdout
        == before
    )
