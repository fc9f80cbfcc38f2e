"""The small parts of the box: ports, Podman's environment and complaints, the catalog, units."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml
from support.cli import Cli

from infoforge.box import host
from infoforge.box.box_checks import age_in_days
from infoforge.box.host import Holder, holder, listeners, subordinate_ids
from infoforge.box.podman import BoxError, Podman, PodmanResult, complaint, environment, remedy
from infoforge.box.probe import base_url, catalog
from infoforge.box.systemd import UNITS, unit_text
from infoforge.config.settings import BoxSettings, Settings


def test_the_holder_of_a_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        held = holder("127.0.0.1", port)
        assert held is not None
        assert held.pid == os.getpid()
        assert str(os.getpid()) in str(held)
        assert listeners(port)[0].is_loopback
        assert holder("127.0.0.2", port) is None
    assert holder("127.0.0.1", port) is None


def test_a_port_open_to_all_holds_every_address() -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        assert holder("127.0.0.1", port) is not None
        assert not listeners(port)[0].is_loopback


def test_a_hidden_process_is_told_by_its_user(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text(
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
        "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000"
        "     0        0 4242 1 0000000000000000 100 0 0 10 0\n"
    )
    held = holder("127.0.0.1", 8080, tmp_path)
    assert held == Holder("user root", 0, "127.0.0.1")
    assert str(held) == "a program of user root"


def test_a_port_of_another_program_is_refused_with_its_name(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        box = BoxSettings(port=server.getsockname()[1])
        with pytest.raises(BoxError) as refused:
            host.check_port(podman_that(tmp_path, "exit 0"), box)
    assert refused.value.code == "port_held"
    assert f"(process {os.getpid()})" in refused.value.message
    assert "box.port" in refused.value.hint


def test_no_podman_says_what_to_install() -> None:
    with pytest.raises(BoxError) as missing:
        Podman("/nonexistent/podman", {}).run("info")
    assert missing.value.code == "podman_missing"
    assert "apt install podman" in missing.value.hint


def podman_that(folder: Path, does: str) -> Podman:
    """A Podman that runs a line of shell."""
    program = folder / "podman"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    return Podman(str(program), {"PATH": os.environ["PATH"]})


def test_a_port_of_another_container_is_refused_with_its_name(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        box = BoxSettings(port=server.getsockname()[1])
        line = f"echo 'music 127.0.0.1:{box.port}->80/tcp'"
        with pytest.raises(BoxError, match="is held by the container 'music'"):
            host.check_port(podman_that(tmp_path, line), box)
        line = f"echo 'infoforge-kiwix 127.0.0.1:{box.port}->8080/tcp'"
        host.check_port(podman_that(tmp_path, line), box)


def test_a_hanging_podman_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(BoxError, match=r"podman ps did not end within 0\.2 s"):
        podman_that(tmp_path, "exec sleep 60").run("ps", timeout=0.2)


def test_the_reason_may_stand_after_the_line_that_says_error() -> None:
    err = 'time="…" level=warning msg="x"\nError: pasta failed with exit code 1:\nNo interface\n'
    assert complaint(PodmanResult(126, "", err)) == "pasta failed with exit code 1: No interface"
    assert complaint(PodmanResult(1, "", "")) == "it said nothing"


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("current system boot ID differs from cached boot ID", "/tmp/storage-run-UID"),
        ("cannot find newuidmap", "--add-subuids"),
        ("lsetxattr /srv/zims: operation not supported", "labelled"),
        ("bind: address already in use", "box.port"),
        ("image not known", "serve pull"),
        ("write: no space left on device", "space"),
        ("something else", "infoforge doctor"),
    ],
)
def test_a_complaint_has_a_remedy(said: str, word: str) -> None:
    assert word in remedy(said)


def test_a_foreign_runtime_folder_is_replaced() -> None:
    uid = os.getuid()
    outer = {"XDG_RUNTIME_DIR": "/run/user/4242", "INVOCATION_ID": "abc", "HOME": "/x"}
    env = environment(outer, uid=uid)
    assert "INVOCATION_ID" not in env
    assert env["HOME"] == "/x"
    if uid != 0 and Path(f"/run/user/{uid}").is_dir():
        assert env["XDG_RUNTIME_DIR"] == f"/run/user/{uid}"


def test_our_own_unit_keeps_its_invocation() -> None:
    env = environment({"INFOFORGE_UNIT": "infoforge.service", "INVOCATION_ID": "abc"})
    assert env["INVOCATION_ID"] == "abc"


def test_subordinate_ids_are_added_up(tmp_path: Path) -> None:
    table = tmp_path / "subuid"
    table.write_text("ann:100000:65536\nbob:1:1\n1000:200000:10\nbroken\n")
    assert subordinate_ids("ann", 1000, table) == 65546
    assert subordinate_ids("bob", 1001, table) == 1
    assert subordinate_ids("eve", 1002, table) == 0
    assert subordinate_ids("ann", 1000, tmp_path / "none") == 0


FEED = (
    "<?xml version='1.0'?><feed><id>urn:uuid:99999999-0000-0000-0000-000000000000</id>"
    "<entry><id>urn:uuid:AAAAAAAA-1111-2222-3333-444444444444</id></entry></feed>"
)


@contextmanager
def answering(body: str) -> Iterator[int]:
    """A server that answers everything with one body; gives its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_the_catalog_lists_books_and_not_itself() -> None:
    with answering(FEED) as port:
        found = catalog("127.0.0.1", port)
    assert found.books == {"aaaaaaaa-1111-2222-3333-444444444444"}
    assert not found.error


def test_another_server_on_the_port_is_told() -> None:
    with answering("<html>hello</html>") as port:
        assert "not kiwix-serve" in catalog("127.0.0.1", port).error


def test_silence_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert catalog("127.0.0.1", port).status == 0
    assert catalog("127.0.0.1", port).error


def test_addresses_are_reached_where_they_are() -> None:
    assert base_url("0.0.0.0", 80) == "http://127.0.0.1:80"
    assert base_url("::1", 8080) == "http://[::1]:8080"


def test_the_unit_keeps_the_monitor_alive_and_has_limits() -> None:
    text = unit_text(UNITS[0], Settings(), ("/opt/my venv/bin/infoforge", "--config", "/etc/a%b"))
    lines = text.splitlines()
    for line in (
        "Type=oneshot",
        "RemainAfterExit=yes",
        "TimeoutStartSec=240",
        "TimeoutStopSec=45",
        "Environment=INFOFORGE_UNIT=%n",
        'ExecStart="/opt/my venv/bin/infoforge" --config /etc/a%%b serve start',
        'ExecReload="/opt/my venv/bin/infoforge" --config /etc/a%%b serve recreate',
        'ExecStop="/opt/my venv/bin/infoforge" --config /etc/a%%b serve stop',
        "WantedBy=default.target",
    ):
        assert line in lines
    assert not any("network" in line for line in lines if not line.startswith("#"))


def test_every_unit_is_printed_whole(run_cli: Cli) -> None:
    for name in UNITS:
        run = run_cli("serve", "unit", name)
        assert run.code == 0
        assert "@" not in run.stdout
        assert run_cli("serve", "unit", name, "--json").json["data"]["text"].strip() == (
            run.stdout.strip()
        )
    assert run_cli("serve", "unit", "other.service").code == 2


def test_the_unit_names_a_configuration_that_is_elsewhere(run_cli: Cli, tmp_path: Path) -> None:
    config = tmp_path / "box.yaml"
    config.write_text(yaml.safe_dump({"box": {"start_timeout": 300}}))
    run = run_cli("--config", config, "serve", "unit")
    assert f"infoforge --config {config} serve start" in run.stdout
    assert "TimeoutStartSec=420" in run.stdout


@pytest.mark.parametrize(
    "box",
    [
        {"image": "kiwix-serve"},
        {"image": "kiwix/kiwix-serve:3.8.2"},
        {"image": "ghcr.io/kiwix/kiwix-serve"},
        {"digest": "sha256:abc"},
        {"port": 0},
        {"bind": "localhost"},
        {"colour": "red"},
    ],
)
def test_a_wrong_box_section_is_refused(run_cli: Cli, box: dict[str, Any]) -> None:
    run = run_cli("serve", "unit", config={"box": box})
    assert run.code == 2
    assert f"box.{next(iter(box))}" in run.stderr


def test_the_age_of_an_image() -> None:
    assert age_in_days("2026-03-04T11:00:00.5Z", date(2026, 3, 10)) == 6
    assert age_in_days("1970-01-01T00:00:00Z", date(2026, 3, 10)) is None
    assert age_in_days("", date(2026, 3, 10)) is None
