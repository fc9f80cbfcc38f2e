"""One inventory of ZIM files: `ask`, `zims list`, `serve` and `doctor` see the same files."""

from __future__ import annotations

import json
import random
import shlex
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli, Run
from support.kiwix import Unavailable, command
from support.podman_stub import IMAGE, Stub

MakeZim = Callable[..., Path]
QUESTION = "What does a magpie collect?"


def free_port() -> int:
    """A free port below those that the kernel hands out, so that no other test is given it."""
    while True:
        port = random.randint(20_000, 30_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class Box:
    """A folder of ZIM files, and every command that reads it."""

    def __init__(self, cli: Cli, stub: Stub, folder: Path) -> None:
        self.cli, self.stub, self.folder = cli, stub, folder
        self.port = free_port()
        self.enabled: list[str] = []

    def __call__(self, *args: str, code: int | None = 0) -> Run:
        config = {
            "zims": {"folder": str(self.folder), "enabled": self.enabled},
            "endpoints": [{"name": "quote", "kind": "quote"}],
            "box": {"image": IMAGE, "port": self.port, "start_timeout": 30},
        }
        run = self.cli(*args, config=config, env={"PATH": self.stub.path})
        assert code is None or run.code == code, run.stdout + run.stderr
        return run

    def ask(self) -> tuple[list[str], list[dict[str, Any]]]:
        """The corpora of the sources, and the warnings."""
        document = self("ask", QUESTION, "--json").json
        corpora = [source["corpus"] for source in document["data"]["citations"]]
        return corpora, document["warnings"]

    def listed(self) -> dict[str, dict[str, Any]]:
        """`zims list`, by file."""
        return {z["file"]: z for z in self("zims", "list", "--json").json["data"]["zims"]}

    def doctor(self) -> dict[str, dict[str, Any]]:
        """The checks of the ZIM files, by name."""
        document = self("doctor", "--only", "folder", "--only", "zim", "--json", code=None).json
        return {check["name"]: check for check in document["data"]["checks"]}


@pytest.fixture
def box(run_cli: Cli, tmp_path: Path, make_zim: MakeZim) -> Iterator[Box]:
    try:
        server = command("3.7")
    except Unavailable as reason:
        pytest.skip(f"kiwix-serve 3.7: {reason}")
    stub = Stub(tmp_path / "stub", server)
    folder = make_zim({"Owl": "<p>An owl hoots at night"}, name="other_en").parent
    yield Box(run_cli, stub, folder)
    stub.close()


def magpie(make_zim: MakeZim, name: str, date: str = "2026-06-01") -> Path:
    return make_zim({"Magpie": "<p>A magpie collects shiny things."}, name=name, date=date)


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("My_Docs", "My_Docs"),
        ("My_Docs", "my_docs"),
        ("my_docs", "MY_DOCS.zim"),
        ("My_Docs", "my_docs_2026-06"),
        ("My_Docs", "MY_DOCS_2026-06.ZIM"),
        ("Café_fr", "Café_fr"),
        ("Café_fr", "cafe_fr"),
        ("cafe_fr", "CAFÉ_FR"),
        ("Cafe\u0301_fr", "Caf\u00e9_fr"),
        ("हिन्दी_hi", "हिन्दी_hi_2026-06"),
    ],
)
def test_enabled_in_any_case_and_accents(
    box: Box, make_zim: MakeZim, name: str, entry: str
) -> None:
    file = magpie(make_zim, name).name
    box.enabled = [entry]
    corpora, warnings = box.ask()
    assert len(set(corpora)) == 1
    assert warnings == []
    listed = box.listed()
    assert [f for f, zim in listed.items() if zim["enabled"]] == [file]
    assert box("serve", "start", "--json").json["data"]["zims"]["served"] == [file]
    checks = box.doctor()
    assert checks["folder"]["status"] == "PASS"
    assert f"zim:{file}" in checks
    assert "zim:other_en_2026-06.zim" not in checks


@pytest.mark.parametrize("kind", ["cut off", "empty", "rotten"])
@pytest.mark.parametrize("enabled", [[], ["MAG_EN"]])
def test_a_damaged_newest_edition_gives_way_to_the_one_before(
    box: Box, make_zim: MakeZim, shared_data: Path, kind: str, enabled: list[str]
) -> None:
    good = magpie(make_zim, "mag_en", "2026-03-01").name
    bad = "mag_en_2026-06.zim"
    whole = (box.folder / good).read_bytes()
    rotten = shared_data / "zims" / "hostile" / "rotten.zim"
    content = {"cut off": whole[:-2000], "empty": b"", "rotten": rotten.read_bytes()}[kind]
    (box.folder / bad).write_bytes(content)
    box.enabled = enabled
    corpora, warnings = box.ask()
    assert set(corpora) == {"mag_en"}
    (warning,) = warnings
    assert warning["code"] == "zim_damaged"
    assert bad in warning["message"]
    assert good in warning["message"]
    listed = box.listed()
    assert listed[bad]["problem"]
    assert not listed[bad]["newest"]
    assert listed[good]["newest"]
    started = box("serve", "start", "--json").json
    assert good in started["data"]["zims"]["served"]
    assert bad not in started["data"]["zims"]["served"]
    assert any(bad in w["message"] and good in w["message"] for w in started["warnings"])
    checks = box.doctor()
    assert checks[f"zim:{bad}"]["status"] == "FAIL"
    assert good in checks[f"zim:{bad}"]["detail"]
    assert checks[f"zim:{good}"]["status"] != "FAIL"


def split(path: Path, *ends: int) -> list[Path]:
    """Cut a file at some places into parts, named as ``split`` and zimsplit name them."""
    data = path.read_bytes()
    path.unlink()
    parts = []
    for letter, start, end in zip("abc", (0, *ends), (*ends, len(data)), strict=False):
        parts.append(path.with_name(f"{path.name}a{letter}"))
        parts[-1].write_bytes(data[start:end])
    return parts


def across_the_index(path: Path) -> list[Path]:
    """Cut a file inside of its full-text index, which Xapian cannot read then."""
    size = path.stat().st_size
    return split(path, size // 3, 2 * size // 3)


def test_a_split_file_is_opened_in_its_parts(box: Box, make_zim: MakeZim) -> None:
    path = magpie(make_zim, "mag_en")
    size = path.stat().st_size
    parts = split(path, 100, size - 30)
    corpora, warnings = box.ask()
    assert set(corpora) == {"mag_en"}
    assert warnings == []
    listed = box.listed()
    assert set(listed) == {"mag_en_2026-06.zimaa", "other_en_2026-06.zim"}
    zim = listed["mag_en_2026-06.zimaa"]
    assert (zim["problem"], zim["name"], zim["size"]) == ("", "mag_en", size)
    assert path.name in box("serve", "start", "--json").json["data"]["zims"]["served"]
    assert box.doctor()[f"zim:{parts[0].name}"]["status"] != "FAIL"
    box("zims", "verify", "--full", "mag_en")
    box("zims", "remove", "--force", "mag_en")
    assert not any(part.exists() for part in parts)


@pytest.mark.parametrize("lost", [0, 1, 2, None])
def test_a_split_file_that_does_not_open_is_reported_with_the_command(
    box: Box, make_zim: MakeZim, lost: int | None
) -> None:
    path = magpie(make_zim, "my docs_en")
    whole = path.read_bytes()
    parts = across_the_index(path)
    kept = b"" if lost is None else parts[lost].read_bytes()
    if lost is not None:
        parts[lost].unlink()
    first = next(part for part in parts if part.exists())
    box.enabled = ["My docs_EN", "other_en"]
    document = box("ask", QUESTION, "--json", code=3).json
    (warning,) = document["warnings"]
    joined = " ".join(shlex.quote(str(part)) for part in parts if part.exists())
    join = f"cat {joined} > {shlex.quote(str(path))}"
    assert join in warning["message"]
    assert join in box.listed()[first.name]["problem"]
    started = box("serve", "start", "--json").json
    assert started["data"]["zims"]["served"] == ["other_en_2026-06.zim"]
    assert any(first.name in w["message"] for w in started["warnings"])
    check = box.doctor()[f"zim:{first.name}"]
    assert check["status"] == "FAIL"
    assert join in check["detail"]
    # With the part that was missing, the command makes a file that every command takes.
    if lost is not None:
        parts[lost].write_bytes(kept)
    subprocess.run(
        f"cat {' '.join(shlex.quote(str(p)) for p in parts)} > {shlex.quote(str(path))}",
        shell=True,
        check=True,
    )
    assert path.read_bytes() == whole
    assert set(box.listed()) == {path.name, "other_en_2026-06.zim"}
    assert box.ask()[0]


def test_the_check_is_kept_in_the_cache_and_not_in_the_folder(box: Box, make_zim: MakeZim) -> None:
    path = magpie(make_zim, "mag_en")
    cache = box.cli.home / ".cache" / "infoforge" / "zims.json"
    before = set(box.folder.iterdir())
    box.listed()
    assert set(box.folder.iterdir()) == before
    kept = json.loads(cache.read_text())["files"][str(path)]
    status = path.stat()
    assert kept == [status.st_size, status.st_mtime_ns, ""]
    # What the cache says is believed while the file stays the same, and only then.
    data = json.loads(cache.read_text())
    data["files"][str(path)][2] = "it is said to be damaged"
    cache.write_text(json.dumps(data))
    assert box.listed()[path.name]["problem"] == "it is said to be damaged"
    box("zims", "verify", "mag_en")
    assert box.listed()[path.name]["problem"] == ""


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"version": 1, "files": {"a": 1}}', "[" * 9999]
)
def test_a_broken_cache_is_ignored(box: Box, make_zim: MakeZim, content: str) -> None:
    magpie(make_zim, "mag_en")
    cache = box.cli.home / ".cache" / "infoforge" / "zims.json"
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text(content)
    assert all(zim["valid"] for zim in box.listed().values())


def test_a_cache_that_cannot_be_written_is_ignored(box: Box, make_zim: MakeZim) -> None:
    magpie(make_zim, "mag_en")
    shutil.rmtree(box.cli.home / ".cache", ignore_errors=True)
    (box.cli.home / ".cache").write_text("no folder")
    assert all(zim["valid"] for zim in box.listed().values())


def test_names_that_differ_in_case_alone_are_never_pruned(box: Box, make_zim: MakeZim) -> None:
    first, second = magpie(make_zim, "Notes_en"), magpie(make_zim, "notes_en")
    box("zims", "prune")
    assert first.exists()
    assert second.exists()
