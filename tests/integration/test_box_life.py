"""The container's life as the command line drives it, with a real kiwix-serve in it.

Podman is the stub of ``support.podman_stub``: it records its calls and makes the faults. The real
Podman, rootless under systemd, is met in ``tests/box``.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli import SCRIPT, Cli, Run
from support.kiwix import Unavailable, command
from support.podman_stub import IMAGE, Stub

MakeZim = Callable[..., Path]


class Machine:
    """A machine with the stub, a ZIM folder and a configuration."""

    def __init__(self, cli: Cli, stub: Stub, folder: Path) -> None:
        self.cli, self.stub, self.folder = cli, stub, folder
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = int(probe.getsockname()[1])
        self.box: dict[str, Any] = {"image": IMAGE, "port": self.port, "start_timeout": 30}

    def __call__(self, *args: str, code: int = 0) -> Run:
        """``infoforge serve ARGS``, which must end with ``code``."""
        config = {"zims": {"folder": str(self.folder)}, "box": self.box}
        run = self.cli("serve", *args, config=config, env={"PATH": self.stub.path})
        assert run.code == code, run.stdout + run.stderr
        return run

    def data(self, *args: str, code: int = 0) -> dict[str, Any]:
        """The ``data`` of the JSON document."""
        document: dict[str, Any] = self(*args, "--json", code=code).json["data"]
        return document


@pytest.fixture
def machine(run_cli: Cli, tmp_path: Path, make_zim: MakeZim) -> Iterator[Machine]:
    try:
        server = command("3.7")
    except Unavailable as reason:
        pytest.skip(f"kiwix-serve 3.7: {reason}")
    stub = Stub(tmp_path / "stub", server)
    make_zim({"Cat": "<p>A cat purrs"}, name="cats_en")
    folder = make_zim({"Dog": "<p>A dog barks"}, name="dogs_en").parent
    yield Machine(run_cli, stub, folder)
    stub.close()


def test_start_serves_the_books_and_then_has_nothing_to_do(machine: Machine) -> None:
    first = machine.data("start")
    assert first["changed"]
    assert first["zims"]["served"] == ["cats_en_2026-06.zim", "dogs_en_2026-06.zim"]
    assert machine.stub.calls("run")[0][-4:-2] == ["--skipInvalid", "--nodatealiases"]
    second = machine.data("start")
    assert not second["changed"]
    assert len(machine.stub.calls("run")) == 1
    assert machine.data("status")["serving"]
    assert not machine.stub.calls("restart")


@pytest.mark.parametrize("change", ["port", "zims", "image", "limit"])
def test_what_changed_makes_the_container_anew(
    machine: Machine, make_zim: MakeZim, change: str
) -> None:
    machine("start")
    if change == "port":
        with socket.create_server(("127.0.0.1", 0)) as probe:
            machine.box["port"] = int(probe.getsockname()[1])
    elif change == "zims":
        make_zim({"Owl": "<p>An owl hoots"}, name="owls_en")
    elif change == "image":
        machine("pull", "--accept")
    else:
        machine.box["pids"] = 300
    assert "not what the configuration says" in machine("status", code=1).stdout
    assert machine.data("start")["reason"] == "image, port, ZIM files or options changed"
    assert machine.data("status")["current"]


def test_recreate_makes_anew_what_is_well(machine: Machine) -> None:
    machine("start")
    assert machine.data("recreate")["reason"] == "asked for"
    assert len(machine.stub.calls("run")) == 2


def test_stop_ends_it_and_a_second_stop_is_no_fault(machine: Machine) -> None:
    machine("start")
    assert machine.data("stop")["changed"]
    assert not machine.data("stop")["changed"]
    status = machine.data("status", code=1)
    assert status["faults"] == ["there is no container"]
    assert not status["serving"]


@pytest.mark.parametrize(
    ("victim", "reason"),
    [("Pid", "it was exited"), ("ConmonPid", "its monitor (conmon) was gone")],
)
def test_start_heals_what_was_killed(machine: Machine, victim: str, reason: str) -> None:
    machine("start")
    os.kill(machine.stub.state["container"][victim], signal.SIGKILL)
    assert machine("status", code=1)
    assert machine.data("start")["reason"] == reason
    assert machine.data("status")["serving"]


def test_start_replaces_a_container_that_is_not_ours(machine: Machine) -> None:
    stale = {"Pid": 0, "ConmonPid": 0, "labels": {}, "image": IMAGE, "Status": "created"}
    machine.stub.change(container={**stale, "Pid": 2**22 + 1, "ConmonPid": 2**22 + 1})
    assert machine.data("start")["reason"] == "it was not ours"


def test_a_container_that_only_the_storage_knows_is_removed(machine: Machine) -> None:
    machine.stub.fault(
        "run",
        'Error: creating container storage: the container name "infoforge-kiwix" is already in use '
        f"by {'ab' * 32}. You have to remove that container to be able to reuse that name",
    )
    machine("start")
    assert ["rm", "--force", "--storage", "ab" * 32] in machine.stub.calls("rm")


def test_a_removal_that_fails_once_is_tried_again(machine: Machine) -> None:
    machine("start")
    machine.stub.fault("rm", "Error: conmon exited prematurely, exit code could not be retrieved")
    assert machine.data("recreate")["changed"]


def test_a_network_that_comes_late_is_waited_for(machine: Machine) -> None:
    machine.stub.fault("run", "Error: pasta failed with exit code 1:\nNo routable interface")
    assert machine.data("start")["changed"]
    assert len(machine.stub.calls("run")) == 2


def test_another_failure_is_told_in_podmans_words(machine: Machine) -> None:
    machine.stub.fault("run", "Error: lsetxattr /srv: operation not permitted")
    run = machine("start", code=1)
    assert "podman run failed (125): lsetxattr /srv: operation not permitted" in run.stderr
    assert "let the service user own it" in run.stderr
    assert machine.stub.state["container"] is None


def test_a_truncated_zim_beside_good_ones(machine: Machine) -> None:
    whole = (machine.folder / "cats_en_2026-06.zim").read_bytes()
    (machine.folder / "owls_en_2026-06.zim").write_bytes(whole[:2000])
    run = machine("start")
    assert "owls_en_2026-06.zim is not served: does not open" in run.stderr
    assert "serving 2 ZIMs" in run.stdout
    left_out = machine.data("status")["zims"]["left_out"]
    assert [item["file"] for item in left_out] == ["owls_en_2026-06.zim"]


def test_no_zim_that_opens_is_an_error(machine: Machine) -> None:
    for path in machine.folder.iterdir():
        path.write_bytes(b"nothing")
    run = machine("start", code=1)
    assert "cats_en_2026-06.zim: does not open" in run.stderr
    shutil.rmtree(machine.folder)
    assert "there is no folder" in machine("start", code=1).stderr
    assert not machine.stub.calls("run")


def test_names_with_blanks_reach_the_server(machine: Machine) -> None:
    # The image's start script splits its arguments at blanks.
    (machine.folder / "dogs_en_2026-06.zim").rename(machine.folder / "my dogs.zim")
    assert machine.data("start")["zims"]["served"] == ["cats_en_2026-06.zim", "my dogs.zim"]


def test_a_missing_image_is_never_pulled_unasked(machine: Machine) -> None:
    machine.stub.change(images={})
    run = machine("start", code=1)
    assert f"the image {IMAGE} is not on this machine" in run.stderr
    assert "infoforge serve pull" in run.stderr
    assert not machine.stub.calls("pull")
    assert not machine.stub.calls("run")


def test_load_takes_the_image_from_an_archive(machine: Machine, tmp_path: Path) -> None:
    machine.stub.change(images={})
    archive = tmp_path / "kiwix.tar"
    archive.write_text(IMAGE)
    assert machine.data("load", str(archive))["changed"]
    assert not machine.data("load", str(archive))["changed"]
    archive.write_text("localhost/other:1")
    run = machine("load", str(archive), code=1)
    assert f"holds localhost/other:1, not {IMAGE}" in run.stderr
    assert "set box.image to localhost/other:1" in run.stderr
    assert "there is no file" in machine("load", str(tmp_path / "none"), code=1).stderr


def test_pull_fetches_by_digest_and_gives_it_the_tag(machine: Machine) -> None:
    machine.stub.change(images={})
    machine.box["digest"] = "sha256:" + "ab" * 32
    assert machine.data("pull")["changed"]
    reference = f"{IMAGE.rpartition(':')[0]}@sha256:{'ab' * 32}"
    assert machine.stub.calls("pull")[0][-1] == reference
    assert machine.stub.calls("tag") == [["tag", reference, IMAGE]]
    machine("start")


def test_an_image_without_the_wanted_digest_is_refused(machine: Machine) -> None:
    machine.box["digest"] = "sha256:" + "ab" * 32
    run = machine("start", code=1)
    assert f"is not {machine.box['digest']}" in run.stderr
    assert not machine.stub.calls("run")


def test_an_image_from_an_archive_is_compared_by_its_id(machine: Machine, tmp_path: Path) -> None:
    archive = tmp_path / "image.tar"
    archive.write_text(IMAGE)
    image = machine.data("load", str(archive))["image"]
    machine.box["digest"] = f"sha256:{image['id']}"
    machine("start")
    machine.stub.change(loaded="ef" * 32)
    machine("load", str(archive), "--accept", code=1)


def test_another_image_under_the_same_name_is_refused_until_it_is_accepted(
    machine: Machine, tmp_path: Path
) -> None:
    machine("start")
    known = machine.stub.state["images"][IMAGE]
    archive = tmp_path / "image.tar"
    archive.write_text(IMAGE)
    machine.stub.change(loaded="cd" * 32, untagged={known["Id"]: known})
    run = machine("load", str(archive), code=1)
    assert "not the one that was accepted under this name" in run.stderr
    assert machine.stub.calls("tag")[-1] == ["tag", known["Id"], IMAGE]
    machine("start")
    machine.data("load", str(archive), "--accept")
    assert machine.data("start")["changed"]


def test_a_port_held_by_another_program(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", machine.port)):
        run = machine("start", code=1)
    assert f"port {machine.port} on 127.0.0.1 is held by" in run.stderr
    assert f"(process {os.getpid()})" in run.stderr
    assert not machine.stub.calls("run")


def test_a_new_port_that_is_held_leaves_the_old_container_alone(machine: Machine) -> None:
    machine("start")
    with socket.create_server(("127.0.0.1", 0)) as other:
        old, machine.box["port"] = machine.port, int(other.getsockname()[1])
        machine("start", code=1)
    machine.box["port"] = old
    assert machine.data("status")["serving"]


def test_a_port_open_to_the_network_is_warned_of(machine: Machine) -> None:
    machine.box["bind"] = "0.0.0.0"
    assert "the whole network can read the wikis" in machine("start").stderr


def test_a_server_without_the_books_is_a_failure_and_is_not_left(machine: Machine) -> None:
    # HTTP 200 with no books: what a mount that SELinux denies looks like.
    server = [
        "/bin/sh",
        "-c",
        'library=$(mktemp); echo "<library version=\\"20110515\\"></library>" > $library; '
        f"exec {' '.join(command('3.7'))} -i 127.0.0.1 -p {machine.port} --library $library",
        "sh",
    ]
    machine.stub.change(server=server)
    run = machine("start", code=1)
    assert "it answers, but none of the books is in its catalog" in run.stderr
    assert machine.stub.state["container"] is None


def test_a_server_that_ends_at_once_is_told_with_its_words(machine: Machine) -> None:
    machine.stub.change(server=["/bin/sh", "-c", "echo kiwix-serve: unrecognized option; exit 1"])
    machine.box["start_timeout"] = 3
    run = machine("start", code=1)
    assert "it wrote: kiwix-serve: unrecognized option" in run.stderr
    assert "box.skip_invalid" in run.stderr


def test_command_prints_the_line_of_start(machine: Machine) -> None:
    argv = machine.data("command")["argv"]
    machine("start")
    assert machine.stub.calls("run")[0] == argv[1:]
    assert machine("command").stdout.startswith("podman run --name=infoforge-kiwix")


def test_two_starts_at_once_make_one_container(machine: Machine) -> None:
    machine("command")  # writes the configuration
    env = machine.cli.environment({"PATH": machine.stub.path})
    runs = [
        subprocess.Popen([SCRIPT, "serve", "start"], env=env, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    said = sorted((run.communicate(timeout=60)[0] or b"").decode() for run in runs)
    assert [run.returncode for run in runs] == [0, 0]
    assert said[0].startswith("already serving")
    assert len(machine.stub.calls("run")) == 1


def test_logs_show_what_the_server_wrote(machine: Machine) -> None:
    machine("start")
    assert "Kiwix server is running" in machine("logs").stdout
    assert machine("logs", "--follow", "--json", code=2)


def test_heal_leaves_what_is_well_and_what_was_stopped(machine: Machine) -> None:
    machine("start")
    assert machine.data("heal") == {"changed": False, "reason": ""}
    machine("stop")
    # There is no active infoforge.service here: stopped on purpose stays stopped.
    assert machine.data("heal") == {"changed": False, "reason": "there is no container"}


def test_doctor_names_what_is_wrong_with_the_box(machine: Machine) -> None:
    (machine.folder / "owls_en.zim").write_bytes(b"nothing")
    machine("start")
    run = machine.cli("doctor", "--only", "box", "--json", env={"PATH": machine.stub.path})
    checks = {check["name"]: check for check in run.json["data"]["checks"]}
    assert checks["box:container"]["status"] == "PASS"
    assert "owls_en.zim" in checks["box:zims"]["detail"]
    assert checks["box:zims"]["status"] == "FAIL"
    assert checks["box:port"]["status"] == "PASS"
    machine("stop")
    run = machine.cli("doctor", "--only", "box:container", env={"PATH": machine.stub.path})
    assert run.code == 1
    assert "there is no container" in run.stdout


def test_doctor_passes_over_a_machine_that_is_no_box(run_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    run = run_cli("doctor", "--only", "box", env={"PATH": str(tmp_path / "bin")})
    assert run.code == 0
    assert "not in use" in run.stdout
