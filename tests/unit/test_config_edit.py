"""`set_enabled`: the list changes, every other byte stays."""

from __future__ import annotations

import os
import stat

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from infoforge.config.document import parse
from infoforge.config.edit import set_enabled
from infoforge.contract import ConfigError


def edit(tmp_path, text, names):
    file = tmp_path / "config.yaml"
    file.write_bytes(text.encode())
    changed = set_enabled(file, names)
    return changed, file.read_bytes().decode()


@pytest.mark.parametrize(
    ("before", "names", "after"),
    [
        ("", ["a"], "zims:\n  enabled:\n    - a\n"),
        ("# only a comment", ["a"], "# only a comment\n\nzims:\n  enabled:\n    - a\n"),
        (
            "kiwix:\n  url: http://h\n",
            ["a"],
            "kiwix:\n  url: http://h\n\nzims:\n  enabled:\n    - a\n",
        ),
        ("zims:  # mine\nsearch: {}\n", ["a"], "zims:  # mine\n  enabled:\n    - a\nsearch: {}\n"),
        ("zims: ~  # mine\n", ["a"], "zims:   # mine\n  enabled:\n    - a\n"),
        ("zims: {folder: /z} # one line\n", ["a"], "zims: {enabled: [a], folder: /z} # one line\n"),
        ("zims: {}\n", ["a", "b"], "zims: {enabled: [a, b]}\n"),
        ("zims: {enabled: [x], folder: /z}\n", ["a"], "zims: {enabled: [a], folder: /z}\n"),
        (
            "zims:\n    folder: /z  # here\n\n# next\nsearch: {}\n",
            ["a"],
            "zims:\n    folder: /z  # here\n    enabled:\n      - a\n\n# next\nsearch: {}\n",
        ),
        ("zims:\n  enabled: [x]  # why\n", ["a", "b"], "zims:\n  enabled: [a, b]  # why\n"),
        ("zims:\n  enabled:  # why\n", ["a"], "zims:\n  enabled:  # why\n    - a\n"),
        (
            "zims:\n  enabled:\n    # the big one\n    - x\n    - y  # small\n"
            "  # where\n  folder: /z\n",
            ["y", "new", "x"],
            "zims:\n  enabled:\n    - y  # small\n    - new\n    # the big one\n    - x\n"
            "  # where\n  folder: /z\n",
        ),
        ("zims:\n  enabled:\n  - x\n  - y", ["y"], "zims:\n  enabled:\n  - y\n"),
        (
            "zims:\n  enabled: # why\n  - x\n  folder: /z\n",
            [],
            "zims:\n  enabled: [] # why\n  folder: /z\n",
        ),
        ("zims:\n  enabled: [x]\n", [], "zims:\n  enabled: []\n"),
        (
            "zims:\n  enabled: [\n    x,  # one\n    b ]\n  folder: /z\n",
            ["b"],
            "zims:\n  # one\n  enabled:\n    - b\n  folder: /z\n",
        ),
        ("zims:\r\n  folder: /z\r\n", ["a"], "zims:\r\n  folder: /z\r\n  enabled:\r\n    - a\r\n"),
        (
            "zims:\n  folder: >\n    /z\nsearch: {}\n",
            ["a"],
            "zims:\n  folder: >\n    /z\n  enabled:\n    - a\nsearch: {}\n",
        ),
        ("\ufeffzims:\n  enabled: [x]\n", ["é ö"], '\ufeffzims:\n  enabled: ["é ö"]\n'),
        (
            "zims:\n  enabled: [x]\n",
            ["no", "123", "a: b"],
            'zims:\n  enabled: ["no", "123", "a: b"]\n',
        ),
    ],
)
def test_only_the_list_changes(tmp_path, before, names, after):
    assert edit(tmp_path, before, names) == (True, after)


def test_a_long_list_becomes_lines(tmp_path):
    names = [f"wikipedia_{n:02}_all_maxi_2026-06.zim" for n in range(6)]
    changed, text = edit(tmp_path, "zims:\n  enabled: [x]  # why\n  folder: /z\n", names)
    assert changed
    assert text.startswith("zims:\n  enabled:  # why\n    - wikipedia_00_all_maxi_2026-06.zim\n")
    assert text.endswith("    - wikipedia_05_all_maxi_2026-06.zim\n  folder: /z\n")


@pytest.mark.parametrize("text", ["zims:\n  enabled: [a, b] # x\n", "zims: {enabled: [a, b]}"])
def test_what_is_there_already_is_not_written_again(tmp_path, text):
    file = tmp_path / "config.yaml"
    file.write_text(text)
    os.utime(file, (1, 1))
    assert set_enabled(file, ["a", "b"]) is False
    assert file.stat().st_mtime == 1


def test_a_missing_file_is_made_and_an_empty_list_needs_none(tmp_path):
    file = tmp_path / "deep" / "config.yaml"
    assert set_enabled(file, []) is False
    assert not file.exists()
    assert set_enabled(file, ["a"]) is True
    assert parse(file.read_bytes(), file).data == {"zims": {"enabled": ["a"]}}


def test_mode_and_symlink_stay_and_nothing_is_left_beside(tmp_path):
    real = tmp_path / "real.yaml"
    real.write_text("zims: {}\n")
    real.chmod(0o600)
    link = tmp_path / "config.yaml"
    link.symlink_to(real)
    assert set_enabled(link, ["a"])
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert sorted(p.name for p in tmp_path.iterdir()) == ["config.yaml", "real.yaml"]


@pytest.mark.parametrize(
    "text",
    [
        "search: &z {}\nzims: *z\n",
        "zims:\n  enabled: &e [a]\n",
        "{zims: {folder: /z}}\n",
        "search: {}\n...\n# end\n",
        "zims: [1]\n",
    ],
)
def test_a_layout_that_cannot_be_changed_safely_is_refused_and_left_alone(tmp_path, text):
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match="cannot be changed safely") as caught:
        set_enabled(file, ["b"])
    assert "enabled: [b]" in caught.value.hint
    assert file.read_text() == text


@pytest.mark.parametrize("name", ["", "a/b", "a\nb", "\x00"])
def test_a_name_that_cannot_stand_in_the_list_is_refused(tmp_path, name):
    with pytest.raises(ConfigError, match=r"zims\.enabled"):
        set_enabled(tmp_path / "config.yaml", [name])


NAMES = st.lists(
    st.text(
        st.characters(exclude_categories=["C", "Z"], exclude_characters="/"), min_size=1, max_size=8
    ),
    unique=True,
    max_size=4,
)


@settings(deadline=None)
@given(
    old=NAMES,
    new=NAMES,
    flow=st.sampled_from([True, False, None]),
    extra=st.dictionaries(st.sampled_from(["kiwix", "search", "aaa", "zzz"]), st.text(max_size=5)),
    folder=st.none() | st.just("/z"),
)
def test_any_file_that_yaml_writes_can_be_changed(tmp_path_factory, old, new, flow, extra, folder):
    """Whatever style a YAML writer chooses, the file reads as wanted, or it is left alone."""
    file = tmp_path_factory.mktemp("edit") / "config.yaml"
    section = {"enabled": old} | ({"folder": folder} if folder else {})
    data = {**extra, "zims": section}
    file.write_text(yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True))
    before = parse(file.read_bytes(), file).data
    try:
        set_enabled(file, new)
    except ConfigError:
        assert flow is True
        return
    after = parse(file.read_bytes(), file).data
    assert after.pop("zims")["enabled"] == new
    before.pop("zims")
    assert after == before
