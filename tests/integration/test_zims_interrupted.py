"""Pulls that are killed, interrupted, starved of disk, or not alone; run as the real command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.cli import SCRIPT, Cli
from support.mirror import Mirror
from support.zim import build_zim

MIB = 1 << 20
SIZE = 24 * MIB
FILE = "wiki_en_all_nopic_2026-06.zim"
OLD = "wiki_en_all_nopic_2026-03.zim"
HERE = "support"


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("content") / FILE
    noise = {"noise": ("application/octet-stream", os.urandom(SIZE))}
    build_zim(path, {"Apfel": "<p>neu kenya"}, name="wiki_en_all", extra=noise)
    return path.read_bytes()


@pytest.fixture
def server(content: bytes) -> Iterator[Mirror]:
    with Mirror() as mirror:
        mirror.publish(FILE, content, mirrors=("a",), name="wiki_en_all", flavour="nopic")
        yield mirror


class Shelf:
    """A ZIM folder with a configuration that leads to it."""

    def __init__(self, cli: Cli, server: Mirror, folder: Path, kiwix: str = "") -> None:
        self.cli, self.server, self.folder = cli, server, folder
        folder.mkdir(parents=True, exist_ok=True)
        cli.configure(
            {
                "zims": {"folder": str(folder)},
                "catalog": {"url": server.catalog, "stall": 20},
                "kiwix": {"url": kiwix},
            }
        )

    @property
    def partial(self) -> Path:
        return self.folder / ".partial" / FILE

    def start(self, *args: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(SCRIPT), "zims", *args],
            env=self.cli.environment(),
            cwd=self.cli.home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def shelf(run_cli: Cli, server: Mirror, tmp_path: Path) -> Shelf:
    return Shelf(run_cli, server, tmp_path / "zims")


def until(condition: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for a condition; a process that ends first is a failure with its words."""
    end = time.monotonic() + 60
    while not condition():
        if process is not None and process.poll() is not None:
            out, err = process.communicate()
            pytest.fail(f"it ended with {process.returncode}: {out}{err}")
        assert time.monotonic() < end, "nothing happened for a minute"
        time.sleep(0.01)


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@pytest.mark.parametrize("piece", [0, MIB])
def test_killed_at_forty_percent_it_goes_on(
    shelf: Shelf, server: Mirror, content: bytes, piece: int
) -> None:
    server.published.clear()
    server.publish(FILE, content, mirrors=("a",), name="wiki_en_all", piece=piece)
    server.rate = 12 * MIB
    process = shelf.start("pull", "wiki_en_all")
    until(lambda: size(shelf.partial) >= 0.4 * len(content), process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (shelf.folder / FILE).exists()
    kept = size(shelf.partial)
    assert kept < 0.9 * len(content), "the kill came too late to show anything"
    server.rate = 0
    before = len(server.asked)
    run = shelf.cli("zims", "pull", "wiki_en_all", "--json")
    assert run.code == 0, run.stderr
    # hash and size are right, and nothing came twice
    assert (shelf.folder / FILE).read_bytes() == content
    again = server.sent(f"/a/{FILE}", before)
    assert again <= 0.62 * len(content)
    (zim,) = run.json["data"]["zims"]
    assert (zim["action"], zim["fetched"]) == ("pulled", again)
    assert zim["resumed_from"] == len(content) - again
    assert run.json["data"]["changed"] is True


def test_ctrl_c_keeps_what_came_and_says_so(shelf: Shelf, server: Mirror, content: bytes) -> None:
    server.rate = 8 * MIB
    process = shelf.start("pull", "wiki_en_all")
    until(lambda: size(shelf.partial) > 2 * MIB, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    assert f"of {FILE} are kept: the same command goes on from there" in err
    assert "Traceback" not in err
    listed = shelf.cli("zims", "list", "--json").json["data"]
    assert listed["unfinished"] == [
        {"file": FILE, "have": size(shelf.partial), "size": len(content)}
    ]
    server.rate = 0
    assert shelf.cli("zims", "pull", "wiki_en_all").code == 0
    assert (shelf.folder / FILE).read_bytes() == content


def test_a_second_pull_says_who_holds_the_folder(
    shelf: Shelf, server: Mirror, content: bytes
) -> None:
    server.rate = 8 * MIB
    first = shelf.start("pull", "wiki_en_all")
    until(lambda: size(shelf.partial) > 0, first)
    second = shelf.cli("zims", "pull", "wiki_en_all", "--json")
    assert second.code == 1
    (error,) = second.json["errors"]
    assert error["code"] == "locked"
    assert f"process {first.pid} on " in error["message"]
    assert "infoforge zims pull wiki_en_all" in error["message"]
    first.communicate(timeout=60)
    assert first.returncode == 0
    assert (shelf.folder / FILE).read_bytes() == content


def test_two_pulls_at_once_fetch_once(shelf: Shelf, server: Mirror, content: bytes) -> None:
    server.rate = 12 * MIB
    first = shelf.start("pull", "wiki_en_all", "--wait", "60", "--json")
    second = shelf.start("pull", "wiki_en_all", "--wait", "60", "--json")
    outputs = [json.loads(p.communicate(timeout=90)[0]) for p in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0)
    assert sorted(o["data"]["changed"] for o in outputs) == [False, True]
    assert server.tried() == [f"/a/{FILE}"]
    assert (shelf.folder / FILE).read_bytes() == content


def test_a_killed_holder_holds_nothing(shelf: Shelf, server: Mirror) -> None:
    server.rate = 8 * MIB
    process = shelf.start("pull", "wiki_en_all")
    until(lambda: size(shelf.partial) > 0, process)
    process.kill()
    process.communicate()
    server.rate = 0
    assert shelf.cli("zims", "pull", "wiki_en_all").code == 0


def test_json_events_on_stderr_one_document_on_stdout(shelf: Shelf, content: bytes) -> None:
    run = shelf.cli("zims", "pull", "wiki_en_all", "--json", "--limit-rate", "8MB")
    assert run.code == 0
    assert run.json["data"]["changed"] is True
    events = [json.loads(line) for line in run.stderr.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[:2] == ["start", "mirror"]
    assert kinds[-1] == "done"
    progress = [event for event in events if event["event"] == "progress"]
    assert progress
    assert all(0 < e["done"] <= e["total"] == len(content) for e in progress)


def test_no_bar_where_there_is_no_terminal(shelf: Shelf) -> None:
    run = shelf.cli("zims", "pull", "wiki_en_all")
    assert "\r" not in run.stderr
    assert "\x1b" not in run.stderr
    assert len(run.stderr.splitlines()) < 6


def test_a_bar_with_speed_and_time_left_on_a_terminal(shelf: Shelf) -> None:
    import pty

    parent, child = pty.openpty()
    process = subprocess.Popen(
        [str(SCRIPT), "zims", "pull", "wiki_en_all", "--limit-rate", "12MB"],
        env={**shelf.cli.environment(), "COLUMNS": "100", "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=child,
    )
    os.close(child)
    shown = b""
    try:
        while block := os.read(parent, 65536):
            shown += block
    except OSError:
        pass  # the terminal is gone with its last process
    finally:
        os.close(parent)
    assert process.wait(timeout=60) == 0
    text = shown.decode()
    bars = [part for part in text.split("\r") if "MB/s" in part]
    assert len(bars) > 3
    assert all("[" in bar and "#" in bar and " left" in bar for bar in bars[1:])
    assert all(len(bar.removeprefix("\x1b[K").rstrip("\n")) < 200 for bar in bars)


IN_TMPFS = """
import subprocess, sys
folder, size, script = sys.argv[1:4]
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
exec(compile(script, "script", "exec"))
"""


def in_tmpfs(shelf: Shelf, size_: str, script: str, *args: str) -> dict[str, object]:
    """Run a script in a private mount namespace whose ZIM folder is a tmpfs of that size."""
    if os.geteuid() or shutil.which("unshare") is None:
        pytest.skip("mounting a tmpfs needs root and unshare")
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("this machine allows no mount namespace")
    argv = [sys.executable, "-c", IN_TMPFS, str(shelf.folder), size_, script, str(SCRIPT), *args]
    done = subprocess.run(
        ["unshare", "-m", *argv],
        env={**shelf.cli.environment(), "PYTHONPATH": str(Path(__file__).parents[1])},
        cwd=shelf.cli.home,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


TOO_SMALL = """
import json, os
run = subprocess.run([sys.argv[4], "zims", "pull", "wiki_en_all", "--json"], capture_output=True)
print(json.dumps({"code": run.returncode, "document": json.loads(run.stdout),
                  "left": sorted(os.listdir(folder))}))
"""


def test_a_file_system_that_is_too_small_is_refused_before_any_byte(
    shelf: Shelf, server: Mirror, content: bytes
) -> None:
    result = in_tmpfs(shelf, "64m", TOO_SMALL)
    assert result["code"] == 1
    document = result["document"]
    assert isinstance(document, dict)
    (error,) = document["errors"]
    data = document["data"]
    assert error["code"] == "no_space"
    for word in ("need 1.1 GB", "free 67.1 MB", "short of 1.0 GB", str(shelf.folder)):
        assert word in error["message"]
    assert data["need"] == len(content) + (1 << 30)
    # the lock file takes a page of the 64 MiB
    assert 0 <= 64 * MIB - data["free"] <= 64 * 1024
    assert data["short"] == data["need"] - data["free"]
    assert server.tried() == []
    assert result["left"] == [".infoforge.lock"]


FILLS_UP = """
import http.client, json, os, shutil, time, urllib.request
from pathlib import Path
from support.kiwix import Kiwix
script, old, partial, wanted = sys.argv[4:8]
shutil.copy(old, folder)
old = Path(folder) / Path(old).name
kiwix = Kiwix("3.3", [old])
def answer():
    with urllib.request.urlopen(f"{kiwix.url}/search?pattern=kenya&format=xml") as reply:
        return reply.status
before = answer()
pull = subprocess.Popen([script, "zims", "pull", "wiki_en_all", "--json"],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
partial = Path(partial)
while not partial.exists() or partial.stat().st_size < 4 << 20:
    assert pull.poll() is None, pull.communicate()
    time.sleep(0.01)
# Somebody else writes until nothing is left, as a log file may.
fill = os.open(Path(folder) / "somebody.log", os.O_WRONLY | os.O_CREAT)
at = 0
step = 64 << 20
while step >= 4096:
    try:
        os.posix_fallocate(fill, at, step)
        at += step
    except OSError:
        step //= 2
out, err = pull.communicate(timeout=120)
after = answer()
listed = sorted(os.listdir(folder))
kept = partial.stat().st_size
os.close(fill)
os.unlink(Path(folder) / "somebody.log")
again = subprocess.run([script, "zims", "pull", "wiki_en_all", "--json"], capture_output=True)
last = answer()
kiwix.stop()
import hashlib
new = Path(folder) / partial.name
print(json.dumps({
    "code": pull.returncode, "document": json.loads(out), "stderr": err.decode(),
    "listed": listed, "kept": kept, "answers": [before, after, last],
    "again": again.returncode, "again_document": json.loads(again.stdout),
    "same": hashlib.sha256(new.read_bytes()).hexdigest() == wanted,
}))
"""


def test_a_disk_that_fills_up_half_way(
    shelf: Shelf, server: Mirror, content: bytes, tmp_path: Path
) -> None:
    import hashlib

    from support.kiwix import Unavailable, command

    try:
        command("3.3")
    except Unavailable as reason:
        pytest.skip(f"kiwix-serve 3.3: {reason}")
    old = build_zim(tmp_path / OLD, {"Apfel": "<p>alt kenya"}, name="wiki_en_all")
    server.rate = 4 * MIB
    result = in_tmpfs(
        shelf,
        "1200m",
        FILLS_UP,
        str(old),
        str(shelf.partial),
        hashlib.sha256(content).hexdigest(),
    )
    assert result["code"] == 1
    document = result["document"]
    assert isinstance(document, dict)
    (error,) = document["errors"]
    assert error["code"] == "no_space"
    for word in ("the disk is full", "still needs", "free", "short of", "are kept"):
        assert word in error["message"]
    listed, kept = result["listed"], result["kept"]
    assert isinstance(listed, list)
    assert isinstance(kept, int)
    assert OLD in listed
    assert FILE not in listed
    assert 4 * MIB <= kept < len(content)
    assert result["answers"] == [200, 200, 200]
    assert result["again"] == 0
    again = result["again_document"]
    assert isinstance(again, dict)
    assert again["data"]["zims"][0]["resumed_from"] == kept
    assert result["same"] is True
