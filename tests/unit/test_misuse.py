"""What people and models type: exit code 2 where it cannot be meant, never an internal fault."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.agents.tools import TOOLS, _meant, check_arguments
from infoforge.contract import UsageError
from infoforge.records import CorpusInfo

LONG = "a" * 5000
DEEP = "/" + "/".join(["a" * 300] * 20)
BAD = b"\xff\xfe".decode("utf-8", "surrogateescape")

MISUSE = [
    ["zims", "pull", "https://[::1"],
    ["zims", "pull", "https://[::1]:99999999/a.zim"],
    ["zims", "pull", "http://host:port/a.zim"],
    ["zims", "pull", f"http://{LONG}/a.zim"],
    ["zims", "pull", BAD],
    ["zims", "pull", "http://h/\x1b.zim"],
    ["zims", "pull", "--wait", "nan", "x"],
    ["zims", "pull", "--wait", "inf", "x"],
    ["zims", "pull", "--limit-rate", "nan", "x"],
    ["zims", "pull", "--keep-free", "²", "x"],
    ["zims", "available", "--max-size", LONG],
    ["zims", "list", "--folder", LONG],
    ["zims", "list", "--folder", DEEP],
    ["zims", "add", DEEP],
    ["--config", LONG, "config", "show"],
    ["--config", DEEP, "ask", "x"],
    ["--config", BAD, "config", "check"],
    ["config", "init", "--path", DEEP],
    ["ask", "--deadline", "nan", "hello"],
    ["search", "--deadline", "inf", "hello"],
    ["doctor", "--timeout", "nan"],
    ["eval", "--min-hit1", "nan", "x.jsonl"],
    ["ask", "--zim", LONG, "hello"],
    ["ask", "--zim", DEEP, "hello"],
    ["ask", "--batch", DEEP],
    ["eval", DEEP],
    ["skill", "install", "--target", DEEP],
    ["serve", "logs", "--tail", "99999999999999999999"],
    ["serve", "logs", "--tail", "-1"],
    ["ask", BAD],
    [LONG],
    [BAD],
]


@pytest.mark.parametrize(
    "argv", MISUSE, ids=[f"{' '.join(a)[:30]!a}{i}" for i, a in enumerate(MISUSE)]
)
def test_what_cannot_be_meant_is_exit_2_and_one_line(argv, run_cli):
    run = run_cli(*argv)
    assert (run.code, run.stdout) == (2, "")
    assert "internal fault" not in run.stderr
    assert len(run.stderr.splitlines()) == 1
    assert len(run.stderr) < 2 * len(LONG)


# The arguments of tools


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ({"limit": "3"}, {"limit": 3}),
        ({"limit": 3.0}, {"limit": 3}),
        ({"limit": "3.0"}, {"limit": 3}),
        ({"limit": " 7 "}, {"limit": 7}),
        ({"limit": None}, {}),
    ],
)
def test_numbers_as_models_send_them(sent, taken):
    given = check_arguments(TOOLS["search"], {"question": "x", **sent})
    assert given == {"question": "x", **taken}


@pytest.mark.parametrize(
    ("sent", "taken"),
    [("false", False), ("True", True), ("0", False), (1, True), (0.0, False), (True, True)],
)
def test_truth_values_as_models_send_them(sent, taken):
    given = check_arguments(TOOLS["ask"], {"question": "x", "strict": sent})
    assert given["strict"] is taken


@pytest.mark.parametrize(
    ("tool", "sent"),
    [
        ("search", {"question": "x", "limit": "three"}),
        ("search", {"question": "x", "limit": "²"}),
        ("search", {"question": "x", "limit": 3.5}),
        ("search", {"question": "x", "limit": float("nan")}),
        ("search", {"question": "x", "limit": float("inf")}),
        ("search", {"question": "x", "limit": True}),
        ("search", {"question": "x", "limit": "9" * 5000}),
        ("search", {"question": "x", "limit": "21"}),
        ("ask", {"question": "x", "strict": "maybe"}),
        ("ask", {"question": "x", "strict": 2}),
        ("ask", {"question": None}),
        ("ask", {"question": ["x"]}),
        ("ask", {"question": float("nan")}),
        ("read", {"corpus": "x"}),
    ],
)
def test_what_is_not_clear_is_a_usage_error(tool, sent):
    with pytest.raises(UsageError):
        check_arguments(TOOLS[tool], sent)


JSON = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.none())
NAMES = st.sampled_from(["question", "limit", "path"])


@given(st.sampled_from(sorted(TOOLS)), st.dictionaries(NAMES, JSON))
def test_any_arguments_are_taken_or_refused_in_words(tool, sent):
    with suppress(UsageError):
        given = check_arguments(TOOLS[tool], sent)
        assert set(given) <= set(sent)


# What a citation shows


def known():
    def info(name, kind, origin):
        return CorpusInfo(name=name, kind=kind, title=name, origin=origin)

    return {
        "novels_en": info("novels_en", "zim", "/zims/novels_en_2026-05.zim"),
        "wiki_de": info("wiki_de", "kiwix", "http://127.0.0.1:8080/content/wiki_de_2026-05"),
        "vault": info("vault", "vault", "/home/notes"),
    }


@pytest.mark.parametrize(
    ("corpus", "path", "name", "tried"),
    [
        ("novels_en", "Kokoro", "novels_en", "Kokoro"),
        ("novels_en_2026-05.zim", "Kokoro", "novels_en", "Kokoro"),
        ("Novels_EN", "Kokoro", "novels_en", "Kokoro"),
        ("/zims/novels_en_2026-05.zim", "Kokoro", "novels_en", "Kokoro"),
        ("novels_en", "Kokoro%20%28novel%29", "novels_en", "Kokoro (novel)"),
        ("novels_en", "Kokoro (novel)", "novels_en", "Kokoro_(novel)"),
        ("", "zim://novels_en_2026-05.zim/Kokoro%20(novel)", "novels_en", "Kokoro (novel)"),
        ("x", "zim://novels_en_2026-05.zim/A/B#Plot", "novels_en", "A/B"),
        ("", "http://127.0.0.1:8080/content/wiki_de_2026-05/A/B%C3%A4r", "wiki_de", "A/Bär"),
        ("", "http://localhost/kiwix/content/wiki_de_2026-05/A/B", "wiki_de", "A/B"),
        ("wiki_de", "https://elsewhere.example/A", "wiki_de", "https://elsewhere.example/A"),
        ("", "/home/notes/house/boiler.md", "vault", "house/boiler.md"),
        ("vault", "100%.md", "vault", "100%.md"),
        ("novels_en", "C#", "novels_en", "C#"),
    ],
)
def test_read_takes_what_a_citation_shows(corpus, path, name, tried):
    found, paths = _meant(corpus, path, known())
    assert found == name
    assert tried in paths
