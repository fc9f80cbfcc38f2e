"""What steers a terminal, forges a line or hides does not reach the reader."""

from __future__ import annotations

import json
import unicodedata
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.cli import render
from infoforge.cli.console import Console, table
from infoforge.cli.zims_show import list_text
from infoforge.contract import WarningMessage
from infoforge.text import display

JOINERS = "\u200c\u200d"


def unsafe(text, allowed="\n\t"):
    """Characters of a text that control a terminal or format invisibly."""
    return [
        c
        for c in text
        if c not in allowed + JOINERS
        and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        # Signs of numbers and text in Arabic, Syriac, Kaithi and Egyptian are letters to a reader.
        and not (
            0x600 <= ord(c) <= 0x605
            or ord(c) in (0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)
            or 0x13430 <= ord(c) <= 0x13455
            or 0x1BCA0 <= ord(c) <= 0x1BCA3
        )
    ]


ANY = st.text(st.characters(), max_size=60)


@given(ANY)
def test_a_line_is_one_line_and_steers_nothing(text):
    shown = display.line(text)
    assert unsafe(shown.encode("utf-8", "replace").decode(), "") == []
    assert "\n" not in shown


@given(ANY)
def test_a_block_keeps_its_lines_and_steers_nothing(text):
    assert unsafe(display.block(text)) == []


@given(ANY)
def test_whatever_is_written_is_guarded(text):
    assert unsafe(display.guard(text, colour=False).encode("utf-8", "replace").decode()) == []


@given(st.recursive(ANY, lambda inner: st.lists(inner) | st.dictionaries(ANY, inner), max_leaves=8))
def test_json_says_the_same_and_holds_nothing_unsafe(value):
    text = display.to_json(value)
    assert json.loads(text) == json.loads(json.dumps(value))
    assert unsafe(text) == []
    text.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("A\n[2] Forged — https://bank.example", "A [2] Forged — https://bank.example"),
        ("\x1b[2J\x1b]0;x\x07T", "\\x1b[2J\\x1b]0;x\\x07T"),
        ("a\x9b31mb", "a\\x9b31mb"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("a\u2028b\x85c\r\nd\re", "a b c d e"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("日本　語", "日本 語"),
    ],
)
def test_lines(text, line):
    assert display.line(text) == line


def test_colours_pass_the_guard_and_nothing_else_does():
    text = "\x1b[1mA\x1b[0m \x1b[2J\x1b]8;;http://x\x07\x1b(0 \x1b"
    assert display.guard(text, colour=True) == "\x1b[1mA\x1b[0m [2J]8;;http://x(0 "
    assert "\x1b" not in display.guard(text, colour=False)


def test_plain_data_is_shown_field_by_field():
    data = {"title": "A\nB", "text": "A\nB\x1b", "rows": [{"date": "\x1b1"}, 3, None], "k\n": 1.5}
    assert display.shown(data) == {
        "title": "A B",
        "text": "A\nB",
        "rows": [{"date": "\\x1b1"}, 3, None],
        "k": 1.5,
    }


HOSTILE = "T\n[2] Forged — https://bank.example\x1b[2J\u202e\x9b1m"


def test_a_citation_is_one_line_whatever_its_fields_hold():
    row = {"number": 1, "title": HOSTILE, "url": f"zim://a/{HOSTILE}", "date": HOSTILE}
    text = render.citations([row], [])
    assert len(text.splitlines()) == 2
    assert unsafe(text) == []


def test_every_field_of_the_list_of_zims_stays_in_its_line():
    zim = SimpleNamespace(
        file=HOSTILE, languages=(HOSTILE,), date=HOSTILE, age_days=3, size=1, articles=1,
        fulltext=True, title=HOSTILE, problem=HOSTILE, enabled=True, pinned=False, served=None,
    )  # fmt: skip
    text = list_text([zim], [SimpleNamespace(file=HOSTILE, have=1, size=2)])
    assert len(text.splitlines()) == 4
    assert unsafe(text) == []


def test_every_cell_of_a_table_stays_in_its_line():
    assert unsafe(table([["a", HOSTILE], [HOSTILE, "b"]])) == []
    assert len(table([["a", HOSTILE], [HOSTILE, "b"]]).splitlines()) == 2


def test_whatever_a_command_prints_passes_the_guard(capsys):
    console = Console(as_json=False)
    console.finish({}, [HOSTILE, "  indented"])
    console.warn(WarningMessage("x", HOSTILE))
    console.finish({}, HOSTILE)
    taken = capsys.readouterr()
    assert unsafe(taken.out + taken.err) == []
    assert taken.out.splitlines()[1] == "  indented"
    assert len(taken.err.splitlines()) == 1


def test_the_json_of_a_command_escapes_what_steers(capsys):
    console = Console(as_json=True)
    console.finish({"title": HOSTILE})
    text = capsys.readouterr().out
    assert unsafe(text) == []
    assert json.loads(text)["data"]["title"] == HOSTILE
