"""Whatever is asked: no traceback, and an exit code of the contract. In this process, for speed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.envelope import check_document

from infoforge.cli import run

ODD = [
    "\x00",
    "\x1b",
    "\u202e",
    "\ud800",
    "\udfff",
    "\ufeff",
    "\u200d",
    "'",
    '"',
    "`",
    "\\",
    "*",
]
QUESTIONS = st.one_of(
    st.text(max_size=200),
    st.text(
        alphabet=st.sampled_from([*ODD, "k", "o", " ", "\n", "-", "🎉", "ש", "日", "%", "&"]),
        max_size=80,
    ),
    st.lists(
        st.sampled_from([*ODD, "Kokoro", "Who wrote", "1914", "AND", "NOT", "-"]), max_size=12
    ).map(" ".join),
)


@pytest.fixture(scope="module")
def zim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from support.zim import build_zim

    folder = tmp_path_factory.mktemp("zims")
    pages = {"Kokoro": "<p>Kokoro is a novel by Natsume Sōseki, published in 1914.</p>"}
    return build_zim(folder / "novels_en_2026-06.zim", pages, name="novels_en", date="2026-06-01")


Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))

    def go(*args: str) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            run(list(args))
        out, err = capsys.readouterr()
        code = end.value.code
        assert isinstance(code, int)
        return code, out, err

    return go


def check(code: int, out: str, err: str, command: str) -> Any:
    assert code in (0, 1, 2, 3, 5)
    assert "Traceback" not in err
    assert "internal fault" not in err, err
    document = json.loads(out)
    check_document(document, command, code)
    return document


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(question=QUESTIONS, command=st.sampled_from(["ask", "search", "passages"]))
def test_any_question(ask: Ask, zim: Path, question: str, command: str) -> None:
    more = ["--endpoint", "quote"] if command == "ask" else []
    check(*ask(command, "--json", "--zim", str(zim), *more, "--", question), command)


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("Kokoro " * 6000, {0, 3}),
        ("x" * 40_000, {0, 3}),
        ("日" * 14_000, {0, 3}),
        ("", {2}),
        ("\x00\x01\x02", {2}),
        ("\x1b[31mKokoro\x1b[0m", {0, 3}),
        ("🎉🎉🎉", {2, 3}),
        ("מי כתב את קוקורו?", {0, 3}),
        ("\u202eokoroK", {0, 3}),
        ("Kokoro\x00", {0}),
        ("\ud800Kokoro\udfff", {0}),
        ("?!…—", {2}),
        ("-" * 50, {2, 3}),
        ("Kokoro' OR '1'='1", {0, 3}),
        ("-", {2}),  # standard input, which cannot be read here
        ("../../etc/passwd", {3}),
        ("Kokoro AND NOT (novel OR", {0, 3}),
    ],
)
def test_hard_questions(ask: Ask, zim: Path, question: str, codes: set[int]) -> None:
    code, out, err = ask("ask", "--json", "--zim", str(zim), "--endpoint", "quote", "--", question)
    check(code, out, err, "ask")
    assert code in codes
    text_code, text_out, text_err = ask("search", "--zim", str(zim), "--", question)
    assert text_code in codes
    assert "Traceback" not in text_err
    assert "\x1b" not in text_out + text_err


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    words=st.lists(
        st.one_of(
            st.text(max_size=12),
            st.sampled_from(
                ["--json", "--zim", "--sources", "-1", "zims", "config", "--help", "ask", "serve"]
            ),
        ),
        max_size=5,
    )
)
def test_any_words_on_the_command_line(ask: Ask, words: list[str]) -> None:
    """No command that changes something is reached: all of them need more than such words."""
    if {"init", "start", "stop", "heal", "doctor", "demo", "mcp", "update"} & set(words):
        return
    code, _, err = ask("--config", "/nonexistent/config.yaml", *words)
    assert code in (0, 1, 2, 3, 5)
    assert "Traceback" not in err
    assert "internal fault" not in err, err
