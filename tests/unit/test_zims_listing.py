"""What is there: checks, list, verify, prune, remove, enable and disable."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from infoforge.config.settings import KiwixSettings
from infoforge.contract import CheckFailed, UsageError
from infoforge.zims.check import quick, read_through
from infoforge.zims.events import Event, silent
from infoforge.zims.inventory import switched
from infoforge.zims.listing import Zim, list_zims, served_uuids
from infoforge.zims.retention import enabled_after, prune, remove, verify
from infoforge.zims.state import STATE_FILE, State, load_state, save_state

MakeZim = Callable[..., Path]


@pytest.fixture
def old(make_zim: MakeZim) -> Path:
    return make_zim({"A": "<p>old"}, name="wiki_en", date="2026-03-01")


@pytest.fixture
def new(make_zim: MakeZim) -> Path:
    return make_zim(
        {"Äpfel": "<p>new", "B": "<p>b"},
        name="wiki_en",
        date="2026-06-02",
        title="Wiki & more",
        language="eng,deu",
    )


def damage(path: Path, at: int = -200) -> None:
    """Turn one byte; the time of change stays, as with a bad disk."""
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def shelf(folder: Path, *enabled: str, served: frozenset[str] | None = None) -> dict[str, Zim]:
    return {z.file: z for z in list_zims(folder, enabled, load_state(folder), served)}


def test_list(old: Path, new: Path) -> None:
    folder = new.parent
    (folder / "notes.txt").write_text("no zim")
    found = shelf(folder)
    assert list(found) == [new.name, old.name]
    zim = found[new.name]
    assert (zim.name, zim.edition, zim.title) == ("wiki_en", "2026-06", "Wiki & more")
    assert (zim.languages, zim.date, zim.articles) == (("en", "de"), "2026-06-02", 2)
    assert zim.size == new.stat().st_size
    assert zim.fulltext
    assert zim.problem == ""
    assert zim.enabled
    assert zim.newest
    assert not found[old.name].newest
    assert zim.served is None
    assert zim.age_days is not None
    assert found[old.name].age_days - zim.age_days == 93


def test_served_goes_by_the_uuid(old: Path, new: Path) -> None:
    uuid = shelf(new.parent)[new.name].uuid
    found = shelf(new.parent, served=frozenset({uuid}))
    assert (found[new.name].served, found[old.name].served) == (True, False)


def test_no_server_is_unknown_not_no() -> None:
    assert served_uuids(KiwixSettings()) is None
    assert served_uuids(KiwixSettings(url="http://127.0.0.1:9")) is None


def test_enabled_by_any_of_its_names(old: Path, new: Path) -> None:
    for word in (new.name, new.stem):
        assert [z.enabled for z in shelf(new.parent, word).values()] == [True, False]
    assert all(z.enabled for z in shelf(new.parent, "wiki_en").values())
    assert not any(z.enabled for z in shelf(new.parent, "other").values())


def test_a_damaged_file_is_listed_with_its_fault(new: Path, old: Path) -> None:
    new.write_bytes(new.read_bytes()[:5000])
    found = shelf(new.parent)
    assert "cut off: 5000 bytes" in found[new.name].problem
    assert found[old.name].newest


def test_the_broken_samples(shared_data: Path) -> None:
    problems = {p.name: quick(p) for p in (shared_data / "zims" / "broken").glob("*.zim")}
    assert len(problems) == 4
    assert all(problems.values()), problems


def test_the_good_samples(shared_data: Path) -> None:
    for path in sorted((shared_data / "zims").glob("*.zim")):
        assert quick(path) == "", path
        assert read_through(path, lambda _d, _t: None).md5 is True, path


@pytest.mark.parametrize("body", [b"", b"ZIM\x04", b"<html>" * 100, b"\0" * 500])
def test_no_zim_at_all(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "a.zim"
    path.write_bytes(body)
    assert quick(path)


def test_something_behind_the_end(new: Path) -> None:
    with new.open("ab") as file:
        file.write(b"tail")
    assert "followed by something else" in quick(new)


def test_missing_and_unreadable(tmp_path: Path) -> None:
    assert "cannot be read" in quick(tmp_path / "none.zim")
    (tmp_path / "dir.zim").mkdir()
    assert quick(tmp_path / "dir.zim")


def test_verify_full_tells_progress_and_remembers(new: Path) -> None:
    folder, state, events = new.parent, State(), list[Event]()
    verdict = verify(folder, new.name, state, events.append, full=True)
    assert (verdict.problem, verdict.checked) == ("", "all")
    assert events[-1].kind == "verify"
    assert events[-1].done == events[-1].total == new.stat().st_size
    assert state.trusted(new) is not None
    assert state.files[new.name].sha256 == verdict.sha256


def test_only_the_full_check_finds_bit_rot(make_zim: MakeZim) -> None:
    zim = make_zim({"A": "<p>x"}, extra={"b": ("application/octet-stream", os.urandom(100_000))})
    damage(zim, zim.stat().st_size // 2)
    state = State()
    assert verify(zim.parent, zim.name, state, silent, full=False).problem == ""
    assert "own checksum" in verify(zim.parent, zim.name, state, silent, full=True).problem
    assert state.trusted(zim) is None


def test_a_replaced_file_is_found_out_by_the_remembered_hash(new: Path, old: Path) -> None:
    state = State()
    verify(new.parent, new.name, state, silent, full=True)
    record = state.files[new.name]
    shutil.copyfile(old, new)
    state.files[new.name] = type(record)(new.stat().st_size, 0, record.sha256, "", "", "")
    assert "SHA-256 differs" in verify(new.parent, new.name, state, silent, full=True).problem


def test_prune_removes_what_is_superseded(old: Path, new: Path, make_zim: MakeZim) -> None:
    folder = new.parent
    other = make_zim({"A": "<p>x"}, name="alone_de", date="2020-01-01")
    gone, kept = prune(folder, (), State(), silent, check=True)
    assert ([g.file for g in gone], kept) == ([old.name], [])
    assert old.exists()
    assert not (folder / STATE_FILE).exists()
    gone, _ = prune(folder, (), State(), silent, check=False)
    assert gone[0].size > 0
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True)
    assert prune(folder, (), load_state(folder), silent, check=False) == ([], [])


def test_prune_keeps_the_only_good_edition(old: Path, new: Path) -> None:
    damage(new, new.stat().st_size // 2)
    gone, kept = prune(new.parent, (), State(), silent, check=False)
    assert gone == []
    assert kept[0].file == old.name
    assert f"{new.name} is newer, but" in kept[0].reason
    assert old.exists()


def test_prune_keeps_what_is_pinned_or_named(old: Path, new: Path) -> None:
    state = State(pins={"wiki_en": "2026-03"})
    assert [k.reason for k in prune(new.parent, (), state, silent, check=False)[1]] == [
        "it is pinned"
    ]
    named = prune(new.parent, (old.name,), State(), silent, check=False)[1]
    assert [k.reason for k in named] == ["the configuration names this file"]
    assert old.exists()


def test_prune_takes_overtaken_downloads_and_no_others(new: Path) -> None:
    folder = new.parent
    partial = folder / ".partial"
    partial.mkdir()
    for name in ("wiki_en_2026-05.zim", "wiki_en_2026-07.zim", "fresh_en_2026-01.zim"):
        (partial / name).write_bytes(b"half")
        (partial / f"{name}.json").write_text("{}")
    gone, _ = prune(folder, (), State(), silent, check=False)
    assert [g.file for g in gone] == ["wiki_en_2026-05.zim"]
    assert sorted(p.name for p in partial.iterdir()) == [
        "fresh_en_2026-01.zim",
        "fresh_en_2026-01.zim.json",
        "wiki_en_2026-07.zim",
        "wiki_en_2026-07.zim.json",
    ]


def test_remove(old: Path, new: Path) -> None:
    folder = new.parent
    assert [g.file for g in remove(folder, [old.name], State(), force=False)] == [old.name]
    with pytest.raises(CheckFailed, match="only good edition of wiki_en"):
        remove(folder, ["wiki_en"], State(), force=False)
    assert new.exists()
    state = State(pins={"wiki_en": "2026-06"})
    remove(folder, ["wiki_en"], state, force=True)
    assert not new.exists()
    assert load_state(folder).pins == {}


def test_remove_counts_only_good_editions(old: Path, new: Path) -> None:
    folder = new.parent
    old.write_bytes(b"broken")
    with pytest.raises(CheckFailed, match="only good edition"):
        remove(folder, [new.stem], State(), force=False)
    assert [g.file for g in remove(folder, [old.name], State(), force=False)] == [old.name]


def test_remove_a_broken_off_download(tmp_path: Path) -> None:
    (tmp_path / ".partial").mkdir()
    (tmp_path / ".partial" / "wiki_en_2026-05.zim").write_bytes(b"half")
    gone = remove(tmp_path, ["wiki_en"], State(), force=False)
    assert [g.reason for g in gone] == ["broken-off download"]
    assert list((tmp_path / ".partial").iterdir()) == []


def test_remove_a_link_leaves_what_it_leads_to(old: Path, new: Path, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere.zim"
    old.rename(real)
    old.symlink_to(real)
    remove(new.parent, [old.name], State(), force=False)
    assert real.exists()
    assert not old.is_symlink()


def test_an_unknown_name_offers_the_nearest(new: Path) -> None:
    with pytest.raises(UsageError, match="no ZIM 'wiki_e'") as caught:
        remove(new.parent, ["wiki_e"], State(), force=False)
    assert caught.value.hint == "did you mean wiki_en?"


FILES = ["a_2026-01.zim", "b_2026-01.zim", "b_2026-02.zim"]


@pytest.mark.parametrize(
    ("enabled", "names", "on", "wanted"),
    [
        ([], ["a"], True, []),
        (["b"], ["a"], True, ["b", "a"]),
        (["b"], ["b", "b_2026-02.zim"], True, ["b"]),
        ([], ["a"], False, ["b"]),
        (["b", "a"], ["b"], False, ["a"]),
        (["b_2026-01.zim", "a"], ["b"], False, ["a"]),
        (["b", "a"], ["b_2026-02.zim"], False, ["a"]),
        (["gone", "a"], ["gone"], False, ["a"]),
    ],
)
def test_enable_and_disable(
    enabled: list[str], names: list[str], on: bool, wanted: list[str]
) -> None:
    assert switched(enabled, FILES, names, on=on) == wanted


def test_none_enabled_would_mean_all() -> None:
    for enabled, names in ((["a"], ["a"]), ([], ["a", "b"])):
        with pytest.raises(UsageError, match="an empty list means all"):
            switched(enabled, FILES, names, on=False)


def test_the_list_after_a_removal() -> None:
    assert enabled_after(["a", "b"], ["a_2026-01.zim"], ["b_2026-01.zim"]) == ["b"]
    assert enabled_after(["a"], ["a_2026-01.zim"], ["b_2026-01.zim"]) == ["a"]
    assert enabled_after(["b"], ["b_2026-01.zim"], ["b_2026-02.zim"]) == ["b"]
    assert enabled_after(["never", "b"], ["x.zim"], ["b_2026-02.zim"]) == ["never", "b"]


def test_the_memory_survives_damage_and_forgets_what_is_gone(new: Path) -> None:
    folder, state = new.parent, State(pins={"x": "2026-01"})
    state.remember(new, "ab" * 32, origin="https://d/x", ident="wiki:nopic")
    (folder / "gone.zim").write_bytes(b"x")
    state.remember(folder / "gone.zim", "cd" * 32)
    (folder / "gone.zim").unlink()
    save_state(folder, state)
    again = load_state(folder)
    assert again.files == {new.name: state.files[new.name]}
    assert again.pins == state.pins
    state.remember(new, "ab" * 32)
    assert state.files[new.name].ident == "wiki:nopic"
    for text in ("", "{}", "[]", json.dumps({"files": {"a": 1}, "pins": {}}), "\xff"):
        (folder / STATE_FILE).write_text(text)
        assert load_state(folder) == State()


def test_a_changed_file_is_not_trusted(new: Path) -> None:
    state = State()
    state.remember(new, "ab" * 32)
    assert state.trusted(new)
    os.utime(new, ns=(1, 1))
    assert state.trusted(new) is None
    assert state.trusted(new.with_name("none.zim")) is None
