"""The `zims` commands as they are typed: output, exit codes, the configuration's comments."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.cli import Cli
from support.mirror import Mirror
from support.zim import build_zim

COMMANDS = (
    "available",
    "pull",
    "add",
    "list",
    "verify",
    "update",
    "remove",
    "enable",
    "disable",
    "prune",
)
CONFIG = """# my box
zims:
  folder: {folder}   # the big disk
  enabled:
    - wiki_en   # English first
    # and the German one
    - wiki_de
catalog:
  url: {catalog}
"""


@pytest.fixture
def server() -> Iterator[Mirror]:
    with Mirror() as mirror:
        yield mirror


@pytest.fixture
def folder(run_cli: Cli, server: Mirror, tmp_path: Path, make_zim: Callable[..., Path]) -> Path:
    path = tmp_path / "zims"
    for name in ("wiki_en", "wiki_de", "other_fr"):
        make_zim({name: f"<p>{name}"}, name=name, date="2026-05-01")
    run_cli.configure(CONFIG.format(folder=path, catalog=server.catalog))
    return path


@pytest.mark.parametrize(
    ("href", "reason"),
    [
        ("ftp://example.org/lost_en_2026-06.zim", "http or https"),
        ("/files/lost.tar", "does not end in a ZIM's file name"),
        ("http://[broken/lost_en_2026-06.zim", "is none"),
        ("", "no link"),
    ],
)
def test_available_names_what_it_leaves_out(
    run_cli: Cli, server: Mirror, folder: Path, href: str, reason: str
) -> None:
    link = f'<link type="application/x-zim" href="{href}"/>' if href else ""
    entry = f"<entry><title>Lost</title><name>lost_en</name>{link}</entry></feed>"
    whole = server.feed_bytes
    server.feed_bytes = lambda: whole().replace(b"</feed>", entry.encode())  # type: ignore[method-assign]
    run = run_cli("zims", "available", "--json")
    (left_out,) = run.json["data"]["left_out"]
    assert (left_out["ident"], left_out["title"]) == ("lost_en", "Lost")
    assert reason in left_out["reason"]
    assert "lost_en" in run_cli("zims", "available").stderr
    assert run_cli("zims", "available", "unheard of", "--json").json["data"]["left_out"] == []


def test_every_command_has_help_with_an_example(run_cli: Cli) -> None:
    for command in COMMANDS:
        run = run_cli("zims", command, "--help")
        assert run.code == 0
        assert f"Example: infoforge zims {command}" in run.stdout
        assert "--json" in run.stdout
    assert all(f"\n  {command} " in run_cli("zims", "--help").stdout for command in COMMANDS)


def test_available(run_cli: Cli, server: Mirror, folder: Path) -> None:
    server.publish("wiki_en_nopic_2026-06.zim", b"x" * 2048, name="wiki_en", flavour="nopic")
    server.publish("wiki_en_maxi_2026-06.zim", b"x" * 9000, name="wiki_en", flavour="maxi")
    server.publish(
        "wiki_de_2026-04.zim", b"x" * 5000, title="Katzen & Hunde\x1b[31m", language="deu"
    )
    run = run_cli("zims", "available")
    assert run.code == 0
    assert [line.split()[:4] for line in run.stdout.splitlines()] == [
        ["wiki_de", "2026-04", "5.1", "kB"],
        ["wiki_en:maxi", "2026-06", "9.2", "kB"],
        ["wiki_en:nopic", "2026-06", "2.0", "kB"],
    ]
    assert "\x1b" not in run.stdout
    found = run_cli("zims", "available", "katzen", "--lang", "de", "--json").json["data"]["zims"]
    assert [(z["ident"], z["languages"], z["size"]) for z in found] == [("wiki_de", ["de"], 5120)]
    small = run_cli("zims", "available", "wiki", "--flavour", "nopic", "--max-size", "3kB")
    assert small.stdout.startswith("wiki_en:nopic")
    nothing = run_cli("zims", "available", "unheard of")
    assert (nothing.code, nothing.stdout) == (0, "")
    assert "nothing in the catalog fits" in nothing.stderr


def test_usage_errors_are_two_the_others_one(run_cli: Cli, server: Mirror, folder: Path) -> None:
    server.publish("wiki_en_nopic_2026-06.zim", b"x", name="wiki_en", flavour="nopic")
    server.publish("wiki_en_maxi_2026-06.zim", b"x", name="wiki_en", flavour="maxi")
    for args, code in (
        (("available", "--max-size", "huge"), 2),
        (("pull",), 2),
        (("pull", "a@june"), 2),
        (("pull", "wiki_en"), 2),
        (("pull", "x", "--limit-rate", "0"), 2),
        (("pull", "x", "--retries", "0"), 2),
        (("pull", "nothing_like_it"), 1),
        (("pull", "http://127.0.0.1:9/a_2026-01.zim"), 1),
        (("pull", "http://127.0.0.1:9/page.html"), 2),
        (("remove", "nobody"), 2),
        (("remove", "wiki_en"), 1),
        (("enable", "nobody"), 2),
        (("disable", "wiki_en", "wiki_de"), 2),
        (("verify", "nobody"), 2),
        (("add", "/nowhere.zim"), 2),
    ):
        run = run_cli("zims", *args, "--json")
        assert (run.code, run.json["exit_code"]) == (code, code), args
        assert run.json["errors"][0]["message"]
        assert "Traceback" not in run.stderr


def test_check_prints_the_plan_and_changes_nothing(
    run_cli: Cli, server: Mirror, folder: Path, tmp_path: Path
) -> None:
    new = build_zim(tmp_path / "wiki_en_2026-06.zim", {"A": "<p>new"}, name="wiki_en")
    server.publish(new.name, new.read_bytes(), name="wiki_en")
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*")}
    pull = run_cli("zims", "pull", "wiki_en", "--check", "--json").json["data"]
    assert (pull["changed"], pull["check"]) == (False, True)
    assert [(z["file"], z["action"]) for z in pull["zims"]] == [(new.name, "fetch")]
    assert pull["space"]["need"] == new.stat().st_size + (1 << 30)
    update = run_cli("zims", "update", "--check", "--json").json["data"]
    assert {n["name"]: n["action"] for n in update["names"]} == {
        "other_fr": "unlisted",
        "wiki_de": "unlisted",
        "wiki_en": "update",
    }
    assert f"would fetch {new.name}" in run_cli("zims", "pull", "wiki_en", "--check").stdout
    assert run_cli("zims", "prune", "--check", "--json").json["data"]["changed"] is False
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("*")} == before


def test_update_then_prune(run_cli: Cli, server: Mirror, folder: Path, tmp_path: Path) -> None:
    new = build_zim(tmp_path / "wiki_en_2026-06.zim", {"A": "<p>new"}, name="wiki_en")
    server.publish(new.name, new.read_bytes(), name="wiki_en")
    run = run_cli("zims", "update", "--json")
    assert (run.code, run.json["data"]["changed"]) == (0, True)
    assert run_cli("zims", "update", "--json").json["data"]["changed"] is False
    pruned = run_cli("zims", "prune", "--json").json["data"]
    assert [z["file"] for z in pruned["removed"]] == ["wiki_en_2026-05.zim"]
    assert run_cli("zims", "prune", "--json").json["data"]["changed"] is False
    assert sorted(p.name for p in folder.glob("*.zim")) == [
        "other_fr_2026-05.zim",
        "wiki_de_2026-05.zim",
        "wiki_en_2026-06.zim",
    ]


def test_enable_and_disable_keep_the_comments(run_cli: Cli, server: Mirror, folder: Path) -> None:
    before = run_cli.config_path.read_text()
    run = run_cli("zims", "enable", "other_fr", "--json")
    assert run.json["data"]["enabled"] == ["wiki_en", "wiki_de", "other_fr"]
    assert run.json["data"]["changed"] is True
    text = run_cli.config_path.read_text()
    for comment in ("# my box", "# the big disk", "# English first", "# and the German one"):
        assert comment in text
    assert run_cli("zims", "enable", "other_fr", "--json").json["data"]["changed"] is False
    assert run_cli("zims", "disable", "other_fr", "--json").json["data"]["changed"] is True
    assert run_cli.config_path.read_text() == before
    listed = run_cli("zims", "list", "--json").json["data"]["zims"]
    assert {z["name"]: z["enabled"] for z in listed} == {
        "other_fr": False,
        "wiki_de": True,
        "wiki_en": True,
    }


def test_remove_takes_the_name_from_the_configuration(run_cli: Cli, folder: Path) -> None:
    run = run_cli("zims", "remove", "wiki_de", "--force", "--json")
    assert [z["file"] for z in run.json["data"]["removed"]] == ["wiki_de_2026-05.zim"]
    text = run_cli.config_path.read_text()
    assert "wiki_de" not in text
    assert "# English first" in text


def test_verify(run_cli: Cli, folder: Path) -> None:
    good = run_cli("zims", "verify", "--full", "--json")
    assert (good.code, good.json["data"]["good"]) == (0, True)
    bad = folder / "wiki_de_2026-05.zim"
    bad.write_bytes(bad.read_bytes()[:-100])
    run = run_cli("zims", "verify", "--json")
    assert (run.code, run.json["status"]) == (1, "failed")
    assert [(z["file"], z["valid"]) for z in run.json["data"]["zims"]] == [
        ("other_fr_2026-05.zim", True),
        ("wiki_de_2026-05.zim", False),
        ("wiki_en_2026-05.zim", True),
    ]
    assert "cut off" in run_cli("zims", "verify", "wiki_de").stdout
    assert run_cli("zims", "verify", "wiki_en").code == 0


def test_add_from_a_stick(run_cli: Cli, folder: Path, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    stick.mkdir()
    noise = {"noise": ("application/octet-stream", os.urandom(200_000))}
    zim = build_zim(stick / "new_en_2026-06.zim", {"A": "<p>x"}, extra=noise)
    build_zim(stick / "more_en_2026-06.zim", {"A": "<p>y"})
    run = run_cli("zims", "add", stick, "--json")
    assert run.code == 0, run.stderr
    assert [(z["file"], z["action"]) for z in run.json["data"]["zims"]] == [
        ("more_en_2026-06.zim", "copied"),
        ("new_en_2026-06.zim", "copied"),
    ]
    assert (folder / zim.name).read_bytes() == zim.read_bytes()
    assert "is not enabled" in run.stderr
    assert run_cli("zims", "add", stick, "--json").json["data"]["changed"] is False
    assert list((folder / ".partial").iterdir()) == []


def test_add_refuses_what_is_damaged(run_cli: Cli, folder: Path, tmp_path: Path) -> None:
    noise = {"noise": ("application/octet-stream", os.urandom(200_000))}
    zim = build_zim(tmp_path / "new_en_2026-06.zim", {"A": "<p>x"}, extra=noise)
    whole = zim.read_bytes()
    for body, word in (
        (whole[:1000], "cut off"),
        (whole[:100_000] + b"!" + whole[100_001:], "own checksum"),
        (b"no zim", "too few for a ZIM"),
    ):
        zim.write_bytes(body)
        run = run_cli("zims", "add", zim)
        assert run.code == 1
        assert word in run.stderr
        assert not (folder / zim.name).exists()
    zim.write_bytes(whole)
    (tmp_path / f"{zim.name}.sha256").write_text(f"{'00' * 32}  {zim.name}\n")
    assert "SHA-256 differs" in run_cli("zims", "add", zim).stderr
    assert not (folder / zim.name).exists()
    digest = hashlib.sha256(whole).hexdigest()
    (tmp_path / f"{zim.name}.sha256").write_text(f"{digest}  {zim.name}\n")
    assert run_cli("zims", "add", zim).code == 0


def test_add_with_a_link(run_cli: Cli, folder: Path, tmp_path: Path) -> None:
    zim = build_zim(tmp_path / "new_en_2026-06.zim", {"A": "<p>x"})
    run = run_cli("zims", "add", "--link", zim, "--json")
    assert run.json["data"]["zims"][0]["action"] == "linked"
    assert (folder / zim.name).samefile(zim)
    again = run_cli("zims", "add", "--link", zim, "--json")
    assert again.json["data"]["changed"] is False
    assert sorted(p.name for p in folder.glob(".*.new")) == []


def test_a_link_across_file_systems_is_told(run_cli: Cli, folder: Path) -> None:
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == folder.stat().st_dev:
        pytest.skip("no second file system at hand")
    zim = other / f"stick{os.getpid()}_en_2026-06.zim"
    try:
        build_zim(zim, {"A": "<p>x"})
        run = run_cli("zims", "add", "--link", zim, "--json")
        assert run.code == 0
        assert [w["code"] for w in run.json["warnings"]] == ["symbolic_link"]
        assert (folder / zim.name).is_symlink()
    finally:
        zim.unlink(missing_ok=True)


def test_nothing_but_pull_update_and_available_needs_a_network(
    run_cli: Cli, folder: Path, tmp_path: Path
) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here")
    alone = ("unshare", "-n")
    if subprocess.run([*alone, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user may not make a network namespace")
    zim = build_zim(tmp_path / "new_en_2026-06.zim", {"A": "<p>x"})
    for args in (
        ("list",),
        ("verify", "--full"),
        ("add", str(zim)),
        ("enable", "new_en"),
        ("disable", "new_en"),
        ("prune",),
        ("remove", "new_en", "--force"),
    ):
        run = run_cli("zims", *args, prefix=alone)
        assert run.code == 0, (args, run.stderr)


def test_the_damaged_samples_hide_no_good_file(
    run_cli: Cli, shared_data: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    for path in [
        *(shared_data / "zims").glob("*.zim"),
        *(shared_data / "zims/broken").glob("*.zim"),
    ]:
        (folder / path.name).symlink_to(path)
    run = run_cli("zims", "list", "--json", config={"zims": {"folder": str(folder)}})
    assert run.code == 0
    good = {z["file"]: z for z in run.json["data"]["zims"] if z["valid"]}
    assert len(good) == len(list((shared_data / "zims").glob("*.zim")))
    assert good["poor.zim"]["fulltext"] is False
    squad = good["wikipedia_en_squad_2026-06.zim"]
    assert (squad["articles"], squad["languages"], squad["fulltext"]) == (215, ["en"], True)


def test_an_empty_or_missing_folder(run_cli: Cli, tmp_path: Path) -> None:
    config = {"zims": {"folder": str(tmp_path / "none")}}
    for command in ("list", "verify", "prune"):
        run = run_cli("zims", command, "--json", config=config)
        assert run.code == 0
        assert not (tmp_path / "none").exists()


def test_a_proxy_of_the_environment_is_used_for_the_catalog_alone(
    run_cli: Cli, server: Mirror, folder: Path, tmp_path: Path
) -> None:
    new = build_zim(tmp_path / "wiki_en_2026-06.zim", {"A": "<p>new"}, name="wiki_en")
    server.publish(new.name, new.read_bytes(), name="wiki_en")
    config = {
        "zims": {"folder": str(folder)},
        # Nobody but the proxy knows these hosts.
        "catalog": {"url": "http://catalog.invalid/catalog/v2/entries"},
        "kiwix": {"url": "http://kiwix.invalid"},
    }
    proxy = {"http_proxy": server.url, "HTTP_PROXY": server.url}
    assert run_cli("zims", "available", config=config, env=proxy).stdout.startswith("wiki_en ")
    before = len(server.asked)
    listed = run_cli("zims", "list", "--json", env=proxy)
    assert {zim["served"] for zim in listed.json["data"]["zims"]} == {None}
    assert len(server.asked) == before


def test_a_file_name_that_is_no_utf8_stops_nothing(run_cli: Cli, folder: Path) -> None:
    odd = os.fsdecode(b"odd\xff_en_2026-05.zim")
    (folder / "other_fr_2026-05.zim").rename(folder / odd)
    run = run_cli("zims", "list", "--json")
    assert run.code == 0
    # libzim takes no such name; the others are not affected.
    told = {zim["file"]: zim["valid"] for zim in run.json["data"]["zims"]}
    assert told == {odd: False, "wiki_de_2026-05.zim": True, "wiki_en_2026-05.zim": True}
    assert "odd\\udcff" in run_cli("zims", "list").stdout
    assert run_cli("zims", "verify", "--full").code == 1
