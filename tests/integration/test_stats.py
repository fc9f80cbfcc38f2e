"""What is kept of questions, and what is not."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli
from support.envelope import check_document

from infoforge.agents import stats

QUESTION = "Who wrote the novel Kokoro?"
ARTICLES = {"Kokoro (novel)": "<p>Kokoro is a novel by the Japanese author Natsume Sōseki.</p>"}


@pytest.fixture
def cli(run_cli: Cli, make_zim: Callable[..., Path]) -> Cli:
    zim = make_zim(ARTICLES, name="novels_en", folder=run_cli.home / "zims")
    run_cli.configure({"zims": {"folder": str(zim.parent)}, "endpoints": []})
    return run_cli


def told(cli: Cli) -> Any:
    run = cli("stats", "--json")
    check_document(run.json, "stats", 0)
    return run.json["data"]


def test_counts_and_times_are_kept_and_questions_are_not(cli: Cli) -> None:
    assert told(cli)["since"] is None
    cli("ask", QUESTION)
    cli("search", QUESTION)
    cli("search", "qzxvbnm plorkwidget fnargle")
    cli("ask", " ")
    cli("zims", "list")
    found = told(cli)
    assert found["by_command"] == {"ask": 2, "search": 2}
    assert found["by_status"] == {"nothing_found": 1, "ok": 2, "usage": 1}
    assert found["milliseconds"]["ask"]["most"] > 0
    assert found["questions"] == []
    kept = "".join(
        path.read_text("utf-8", "replace")
        for path in cli.home.rglob("*")
        if path.is_file() and ".local" in path.parts
    )
    assert "Kokoro" not in kept
    assert "fnargle" not in kept
    assert "4 runs" in cli("stats").stdout


def test_questions_are_kept_when_the_admin_says_so_and_forgotten_on_request(cli: Cli) -> None:
    folder = str(cli.home / "zims")
    config = {"zims": {"folder": folder}, "endpoints": [], "log": {"questions": True}}
    cli.configure(config)
    cli("ask", QUESTION)
    (asked,) = told(cli)["questions"]
    assert (asked["question"], asked["exit_code"]) == (QUESTION, 0)
    assert QUESTION in cli("stats").stdout
    cli.configure(config | {"log": {"questions": False}})
    assert told(cli)["questions"] == []
    assert cli("stats", "--forget").code == 0
    assert told(cli)["runs"] == 0


def test_a_batch_and_the_tools_are_counted(cli: Cli) -> None:
    from infoforge.agents.tools import call
    from infoforge.config.load import load

    file = cli.home / "q.jsonl"
    file.write_text('"Who wrote the novel Kokoro?"\n' * 3)
    assert cli("ask", "--batch", file).code == 0
    assert told(cli)["by_command"] == {"ask": 3}
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(cli.home / ".local" / "state"))
        call("search", {"question": QUESTION}, lambda: load(str(cli.config_path)))
    assert told(cli)["by_command"] == {"ask": 3, "search": 1}


def test_an_answer_does_not_hang_on_its_being_counted(cli: Cli) -> None:
    (cli.home / ".local").mkdir()
    (cli.home / ".local" / "state").write_text("a file where a folder should be")
    run = cli("search", QUESTION)
    assert run.code == 0
    assert "state" not in run.stderr


def test_the_records_are_bounded_and_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(stats, "LARGEST", 20_000)
    for _ in range(1000):
        stats.record("ask", 0, 0.25)
    found = stats.summary(questions_logged=False)
    assert stats.stats_file().stat().st_size < 25_000
    assert found["runs"] + found["dropped"] == 1000
    assert found["milliseconds"]["ask"] == {"p50": 250.0, "p95": 250.0, "most": 250.0}
    assert stat.S_IMODE(stats.stats_file().stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", ["{", '{"time": 1}\n', "\x00\xff\n", "[]\n", '"x"\n'])
def test_damaged_records_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    stats.record("ask", 3, 0.1)
    with stats.stats_file().open("a") as out:
        out.write(damage)
    assert stats.summary(questions_logged=True)["by_status"] == {"nothing_found": 1}
