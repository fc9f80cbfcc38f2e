"""The filters of the roles, and that what the roles say of themselves is true."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

REPO = Path(__file__).resolve().parents[2]
ROLES = ("host", "cli", "zims", "kiwix", "agents", "monitor")

_spec = importlib.util.spec_from_file_location(
    "role_filters", REPO / "roles/host/filter_plugins/infoforge.py"
)
assert _spec is not None
assert _spec.loader is not None
filters = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(filters)

TABLE = "anna:100000:65536\n# a comment\nbroken line\n1001:231072:10\nanna:300000:5\n"


def test_ids_are_counted_by_name_and_by_number() -> None:
    assert filters.subid_count(TABLE, "anna", "1000") == 65541
    assert filters.subid_count(TABLE, "otto", "1001") == 10
    assert filters.subid_count(TABLE, "otto", "") == 0
    assert filters.subid_count("", "anna") == 0


def test_a_free_range_leaves_everybody_elses_alone() -> None:
    assert filters.subid_free("", 65536) == 100000
    assert filters.subid_free("a:100000:65536\n", 65536) == 165536
    # the gap between two is too small
    assert filters.subid_free("a:100000:65536\nb:200000:65536\n", 65536) == 265536


@given(st.lists(st.tuples(st.integers(0, 400_000), st.integers(1, 70_000)), max_size=8))
def test_a_free_range_overlaps_with_none(ranges: list[tuple[int, int]]) -> None:
    table = "".join(f"user:{begin}:{width}\n" for begin, width in ranges)
    first = filters.subid_free(table, 65536)
    assert first >= 100_000
    for begin, width in ranges:
        assert first + 65536 <= begin or begin + width <= first


def test_a_wrong_name_is_told_with_the_right_one() -> None:
    known = ["kiwix_image_archive", "kiwix_image_pull"]
    assert filters.unknown_variables(["kiwix_image_archiv", *known], known) == [
        "kiwix_image_archiv (did you mean kiwix_image_archive?)"
    ]
    # somebody else's variable that begins alike
    assert filters.unknown_variables(["kiwix_region_of_the_map"], known) == []


@pytest.mark.parametrize(
    ("wanted", "file", "fits"),
    [
        ("wikipedia_en_all:nopic", "wikipedia_en_all_nopic_2026-06.zim", True),
        ("wikipedia_en_all:nopic", "wikipedia_en_all_maxi_2026-06.zim", False),
        ("wikipedia_en_all", "wikipedia_en_all_maxi_2026-06.zim", True),
        ("wikipedia_en", "wikipedia_en_all_maxi_2026-06.zim", False),
        ("rivers@2026-06", "rivers_2026-06.zim", True),
        ("rivers@2026-07", "rivers_2026-06.zim", False),
        ("rivers@newest", "rivers_2026-06.zim", True),
        ("rivers_2026-06", "rivers_2026-06.zim", True),
        ("rivers_2026-06.zim", "rivers_2026-07.zim", False),
        ("https://x.example/zim/rivers_2026-06.zim.meta4", "rivers_2026-06.zim", True),
        ("https://x.example/zim/rivers_2026-07.zim", "rivers_2026-06.zim", False),
    ],
)
def test_which_wanted_zims_are_there(wanted: str, file: str, fits: bool) -> None:
    assert filters.zims_missing([wanted], [file]) == ([] if fits else [wanted])


def test_the_answer_of_the_command_becomes_one_complaint() -> None:
    document = {
        "data": None,
        "warnings": [{"code": "a", "message": "look out"}],
        "errors": [{"code": "b", "message": "port 80 is held by nginx (12)", "hint": "stop it"}],
    }
    reply = filters.cli_reply({"rc": 1, "stdout": json.dumps(document)})
    assert reply == {
        "ok": False,
        "data": {},
        "warnings": ["look out"],
        "complaint": "port 80 is held by nginx (12). Remedy: stop it",
    }


@pytest.mark.parametrize("stdout", ["", "Traceback", "[1, 2]"])
def test_an_answer_that_is_no_document_is_a_complaint_with_what_was_said(stdout: str) -> None:
    reply = filters.cli_reply({"rc": 127, "stdout": stdout, "stderr": "no such file"})
    assert not reply["ok"]
    assert "127" in reply["complaint"]
    assert "no such file" in reply["complaint"]


def test_sizes_and_margin() -> None:
    assert filters.human_size(1023) == "1023 B"
    assert filters.human_size(1536) == "1.5 KiB"
    assert filters.human_size(3 * 1024**4) == "3.0 TiB"
    assert filters.margin(10 * 1024**3) == 1024**3
    assert filters.margin(1000 * 1024**3) == 20 * 1024**3


@pytest.mark.parametrize("role", ROLES)
def test_defaults_and_specs_are_in_step(role: str) -> None:
    folder = REPO / "roles" / role
    defaults = yaml.safe_load((folder / "defaults/main.yml").read_text("utf-8"))
    specs = yaml.safe_load((folder / "meta/argument_specs.yml").read_text("utf-8"))
    options = specs["argument_specs"]["main"]["options"]
    assert list(defaults) == list(options)
    for name, option in options.items():
        assert name.startswith(f"{role}_")
        assert option["description"].strip()
        if not str(option["default"]).startswith("the value of"):
            assert defaults[name] == option["default"], name


@pytest.mark.parametrize("role", ROLES)
def test_only_builtin_modules_and_prefixed_internal_names(role: str) -> None:
    modules = set()
    for path in sorted((REPO / "roles" / role / "tasks").glob("*.yml")):
        text = path.read_text("utf-8")
        modules |= set(re.findall(r"^\s*(?:- )?([a-z_]+\.[a-z_]+\.[a-z_]+):", text, re.MULTILINE))
        for name in re.findall(r"register: (\S+)", text):
            assert name.startswith(f"__{role}_"), (path, name)
    assert modules
    assert {name for name in modules if not name.startswith("ansible.builtin.")} == set()


def test_the_readmes_are_what_the_specs_say() -> None:
    done = subprocess.run(
        [sys.executable, str(REPO / "scripts/role-readmes"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
