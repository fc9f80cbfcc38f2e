"""``ask --batch``: in order, several at once, resumed, and stopped when everything is down."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.cli import SCRIPT, Cli
from support.envelope import check_document
from support.fault_server import FaultServer, refused_url, reply

ARTICLES = {
    "Kokoro (novel)": "<p>Kokoro is a novel by the Japanese author Natsume Sōseki.</p>",
    "Natsume Sōseki": "<p>Natsume Sōseki, born in 1867, was a Japanese novelist.</p>",
}
GOOD = "Who wrote the novel Kokoro?"
NONSENSE = "qzxvbnm plorkwidget fnargle"


class Desk:
    def __init__(self, cli: Cli, folder: Path, model: FaultServer) -> None:
        self.cli, self.folder, self.model = cli, folder, model
        self.file = cli.home / "questions.jsonl"
        self.output = cli.home / "questions.answers.jsonl"
        self.endpoint(f"{model.url}/v1")

    def endpoint(self, url: str) -> None:
        self.cli.configure(
            {
                "zims": {"folder": str(self.folder)},
                "endpoints": [{"name": "model", "url": url, "model": "m"}],
            }
        )

    def ask(self, questions: list[Any]) -> None:
        self.file.write_text(
            "".join(json.dumps(q, ensure_ascii=False) + "\n" for q in questions), encoding="utf-8"
        )

    @property
    def answers(self) -> list[Any]:
        return [json.loads(row) for row in self.output.read_text("utf-8").splitlines()]


@pytest.fixture
def desk(
    run_cli: Cli, make_zim: Callable[..., Path], fault_server: Callable[..., FaultServer]
) -> Desk:
    zim = make_zim(ARTICLES, name="novels_en", folder=run_cli.home / "zims")
    return Desk(run_cli, zim.parent, fault_server(reply("Natsume Sōseki wrote it [1].")))


def test_every_question_gets_its_own_document_in_order(desk: Desk) -> None:
    desk.ask([{"id": "a", "question": GOOD}, {"question": NONSENSE}, GOOD, {"question": " "}])
    run = desk.cli("ask", "--batch", desk.file, "--jobs", "3", "--json")
    check_document(run.json, "ask", 0)
    assert run.json["data"]["statuses"] == {"nothing_found": 1, "ok": 2, "usage": 1}
    answers = desk.answers
    assert [answer.pop("id") for answer in answers] == ["a", "2", "3", "4"]
    for answer, code in zip(answers, (0, 3, 0, 2), strict=True):
        check_document(answer, "ask", code)
    assert len(desk.model.chats) == 2


def test_a_second_run_asks_nothing(desk: Desk) -> None:
    desk.ask([GOOD, NONSENSE])
    assert desk.cli("ask", "--batch", desk.file).code == 0
    before = desk.output.read_bytes()
    run = desk.cli("ask", "--batch", desk.file, "--json")
    assert run.json["data"]["resumed"] == 2
    assert desk.output.read_bytes() == before
    assert len(desk.model.chats) == 1


def test_it_goes_on_after_a_power_cut_in_the_middle_of_a_line(desk: Desk) -> None:
    desk.ask([GOOD, NONSENSE, GOOD])
    assert desk.cli("ask", "--batch", desk.file).code == 0
    whole = desk.output.read_bytes()
    desk.output.write_bytes(whole[: whole.index(b"\n") + 40])
    run = desk.cli("ask", "--batch", desk.file, "--json")
    assert [w["code"] for w in run.json["warnings"]] == ["batch_torn"]
    assert run.json["data"]["resumed"] == 1
    assert [(a["id"], a["exit_code"]) for a in desk.answers] == [("1", 0), ("2", 3), ("3", 0)]


def test_a_model_that_goes_away_stops_the_batch_and_it_goes_on_later(desk: Desk) -> None:
    desk.ask([GOOD] * 8)
    desk.model.then(reply("Natsume Sōseki wrote it [1]."), "500")
    run = desk.cli("ask", "--batch", desk.file, "--jobs", "1", "--json")
    check_document(run.json, "ask", 5)
    assert "1 of 8" in run.json["errors"][0]["message"]
    assert [a["exit_code"] for a in desk.answers] == [0]
    desk.endpoint(refused_url())
    assert desk.cli("ask", "--batch", desk.file).code == 5
    desk.model.then(reply("Natsume Sōseki wrote it [1]."))
    desk.endpoint(f"{desk.model.url}/v1")
    assert desk.cli("ask", "--batch", desk.file).code == 0
    assert [a["exit_code"] for a in desk.answers] == [0] * 8


def test_one_question_that_fails_does_not_stop_it(desk: Desk) -> None:
    desk.ask([GOOD] * 4)
    good = reply("Natsume Sōseki wrote it [1].")
    desk.model.then(good, "500", good)
    assert desk.cli("ask", "--batch", desk.file, "--jobs", "1").code == 0
    assert [a["exit_code"] for a in desk.answers] == [0, 5, 0, 0]


def test_ctrl_c_leaves_whole_lines(desk: Desk) -> None:
    desk.ask([GOOD] * 4)
    desk.model.then(reply("Natsume Sōseki wrote it [1]."), "hang")
    process = subprocess.Popen(
        [str(SCRIPT), "ask", "--batch", str(desk.file), "--jobs", "1"],
        env=desk.cli.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    # The second question hangs, so the first one's line is there to be waited for.
    while process.poll() is None and len(desk.model.chats) < 2:
        pass
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert [a["exit_code"] for a in desk.answers] == [0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("not json\n", ":1: not JSON"),
        ('{"question": "x"}\n{"q": "x"}\n', ":2: no question"),
        ('{"id": 1, "question": "x"}\n{"id": "1", "question": "y"}\n', "stands twice"),
    ],
)
def test_a_bad_file_is_exit_2_before_anything_is_asked(desk: Desk, text: str, told: str) -> None:
    desk.file.write_text(text, encoding="utf-8")
    run = desk.cli("ask", "--batch", desk.file, "--json")
    check_document(run.json, "ask", 2)
    assert told in run.json["errors"][0]["message"]
    assert not desk.output.exists()
    assert desk.model.requests == []


def test_answers_of_another_batch_are_not_touched(desk: Desk) -> None:
    desk.ask([{"id": "x", "question": GOOD}])
    assert desk.cli("ask", "--batch", desk.file).code == 0
    desk.ask([{"id": "y", "question": GOOD}])
    before = desk.output.read_bytes()
    assert desk.cli("ask", "--batch", desk.file).code == 2
    assert desk.output.read_bytes() == before


def test_a_question_or_a_batch(desk: Desk) -> None:
    desk.ask([GOOD])
    assert desk.cli("ask").code == 2
    assert desk.cli("ask", "--batch", desk.file, GOOD).code == 2
