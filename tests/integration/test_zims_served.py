"""Pulls under a real kiwix-serve: old answers go on; `list` says what is served."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from support.cli import Cli
from support.kiwix import Kiwix
from support.mirror import Mirror
from support.zim import build_zim

FILE = "wiki_en_all_2026-06.zim"
OLD = "wiki_en_all_2026-03.zim"


def hits(server: Kiwix, word: str) -> int:
    url = f"{server.url}/search?pattern={word}&format=xml"
    with urllib.request.urlopen(url, timeout=10) as reply:
        return int(reply.read().decode().count("<item>"))


@pytest.mark.parametrize("version", ["kiwix33", "kiwix37"])
@pytest.mark.parametrize("replace", [False, True])
def test_a_pull_while_the_old_file_is_served(
    run_cli: Cli, request: pytest.FixtureRequest, tmp_path: Path, version: str, replace: bool
) -> None:
    start: Callable[..., Kiwix] = request.getfixturevalue(version)
    folder = tmp_path / "zims"
    folder.mkdir()
    old = build_zim(folder / OLD, {"Apfel": "<p>oldword"}, name="wiki_en_all")
    new = build_zim(tmp_path / FILE, {"Apfel": "<p>newword"}, name="wiki_en_all")
    served = start(old)
    with Mirror() as mirror:
        mirror.publish(FILE, new.read_bytes(), name="wiki_en_all")
        run_cli.configure(
            {
                "zims": {"folder": str(folder)},
                "catalog": {"url": mirror.catalog},
                "kiwix": {"url": served.url},
            }
        )
        assert hits(served, "oldword") == 1
        run = run_cli("zims", "pull", "wiki_en_all", *["--replace"] * replace)
        assert run.code == 0, run.stderr
    assert hits(served, "oldword") == 1
    assert (folder / FILE).read_bytes() == new.read_bytes()
    assert old.exists() is not replace
    listed = run_cli("zims", "list", "--json").json["data"]["zims"]
    told = {zim["file"]: zim["served"] for zim in listed}
    assert told == {FILE: False} | ({} if replace else {OLD: True})
    served.stop()
    again = start(folder / FILE)
    assert hits(again, "newword") == 1


def test_a_file_replaced_under_its_own_name(
    run_cli: Cli, kiwix33: Callable[..., Kiwix], tmp_path: Path
) -> None:
    folder = tmp_path / "zims"
    folder.mkdir()
    (tmp_path / "new").mkdir()
    old = build_zim(folder / FILE, {"Apfel": "<p>oldword"}, name="wiki_en_all")
    new = build_zim(tmp_path / "new" / FILE, {"Apfel": "<p>newword"}, name="wiki_en_all")
    served = kiwix33(old)
    # kiwix-serve opens its index at the first search, and by name: it must be open by now.
    assert hits(served, "oldword") == 1
    with Mirror() as mirror:
        mirror.publish(FILE, new.read_bytes(), name="wiki_en_all")
        run_cli.configure({"zims": {"folder": str(folder)}, "catalog": {"url": mirror.catalog}})
        assert run_cli("zims", "pull", "wiki_en_all").code == 0
    assert old.read_bytes() == new.read_bytes()
    assert hits(served, "oldword") == 1


def test_served_is_unknown_when_the_server_is_down(run_cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "zims"
    folder.mkdir()
    build_zim(folder / FILE, {"A": "<p>x"})
    config = {"zims": {"folder": str(folder)}, "kiwix": {"url": "http://127.0.0.1:9"}}
    run = run_cli("zims", "list", "--json", config=config)
    assert run.code == 0
    assert [zim["served"] for zim in run.json["data"]["zims"]] == [None]
