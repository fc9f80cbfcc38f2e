"""The skill file: valid, installed with care, its examples right, and its rules followable."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.cli import Cli
from support.envelope import check_document
from support.fault_server import FaultServer, refused_url, reply

from infoforge.agents import skill

ARTICLES = {
    "Kokoro (novel)": "<p>Kokoro is a novel by the Japanese author Natsume Sōseki. It was "
    "published in 1914.</p>",
    "Natsume Sōseki": "<p>Natsume Sōseki, born in 1867, was a Japanese novelist.</p>",
}
QUESTION = "Who wrote the novel Kokoro?"
NONSENSE = "qzxvbnm plorkwidget fnargle"


@dataclass
class House:
    cli: Cli
    model: FaultServer
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def files(self) -> list[Path]:
        home = self.cli.home
        return [home / f".{name}" / "skills" / "infoforge" / "SKILL.md" for name in skill.TARGETS]


@pytest.fixture
def installed(
    run_cli: Cli, make_zim: Callable[..., Path], fault_server: Callable[..., FaultServer]
) -> House:
    zim = make_zim(ARTICLES, name="novels_en", folder=run_cli.home / "zims")
    model = fault_server(reply("Natsume Sōseki wrote it [1]."))
    config = {
        "zims": {"folder": str(zim.parent)},
        "endpoints": [{"name": "model", "url": f"{model.url}/v1", "model": "m"}],
    }
    run_cli.configure(config)
    return House(run_cli, model, config)


# The file


def test_it_is_valid_by_the_specification() -> None:
    text = skill.text()
    _, front, body = text.split("---\n", 2)
    meta = yaml.safe_load(front)
    assert set(meta) <= {"name", "description", "license", "compatibility", "metadata"}
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", meta["name"])
    assert meta["name"] == skill.NAME  # and so the folder's name
    assert 1 <= len(meta["description"]) <= 1024
    assert "Use this skill when" in meta["description"]
    assert 1 <= len(meta["compatibility"]) <= 500
    assert all(isinstance(value, str) for value in meta["metadata"].values())
    assert len(text.splitlines()) < 150
    assert len(body) / 4 < 5000


def test_its_examples_run(installed: House) -> None:
    blocks = re.findall(r"```bash\n(.*?)```", skill.text(), re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) >= 5
    for line in lines:
        program, *args = shlex.split(line)
        assert program == "infoforge"
        run = installed.cli(*args)
        assert run.code == 0, (line, run)
        if "--json" in args:
            check_document(run.json, args[0], 0)


def test_what_it_names_exists(installed: House) -> None:
    text = skill.text()
    inline = re.findall(r"`infoforge ([a-z]+(?: [a-z]+)?)", text)
    assert {"doctor", "zims list", "mcp"} <= set(inline)
    for words in inline:
        assert installed.cli(*words.split(), "--help").code == 0, words
    ask = installed.cli("ask", "--json", QUESTION).json["data"]
    passages = installed.cli("passages", "--json", QUESTION).json["data"]
    installed.cli.configure(
        installed.config | {"endpoints": [{"name": "m", "url": refused_url(), "model": "m"}]}
    )
    down = installed.cli("ask", "--json", QUESTION).json["data"]
    for key in set(re.findall(r"`data\.(\w+)`", text)):
        assert key in ask or key in passages or key in down, key


def test_its_batch_example_is_right(installed: House) -> None:
    text = skill.text()
    line = re.search(r"`(\{\"id\".*?\})`", text)
    assert line is not None
    example = json.loads(line[1])
    file = installed.cli.home / "questions.jsonl"
    file.write_text(json.dumps(example | {"question": QUESTION}) + "\n")
    assert installed.cli("ask", "--batch", "questions.jsonl").code == 0
    (answer,) = (installed.cli.home / "questions.answers.jsonl").read_text("utf-8").splitlines()
    assert json.loads(answer)["id"] == example["id"]


# Installing


def test_it_is_written_to_both_places_once(installed: House) -> None:
    first = installed.cli("skill", "install", "--json")
    check_document(first.json, "skill install", 0)
    assert first.json["data"]["changed"]
    assert [path.read_text("utf-8") for path in installed.files] == [skill.text()] * 2
    assert not installed.cli("skill", "install", "--json").json["data"]["changed"]
    status = installed.cli("skill", "status", "--json")
    check_document(status.json, "skill status", 0)
    shown = installed.cli("skill", "show")
    assert shown.stdout == skill.text()
    check_document(installed.cli("skill", "show", "--json").json, "skill show", 0)


def test_an_edited_file_is_never_overwritten_without_force(installed: House) -> None:
    installed.cli("skill", "install")
    mine = installed.files[0]
    mine.write_text(mine.read_text("utf-8") + "\nOur installed rule.\n", encoding="utf-8")
    before = mine.read_bytes()
    status = installed.cli("skill", "status", "--json")
    check_document(status.json, "skill status", 1)
    assert [row["state"] for row in status.json["data"]["skills"]] == ["edited", "current"]
    refused = installed.cli("skill", "install", "--json")
    check_document(refused.json, "skill install", 1)
    assert refused.json["errors"][0]["code"] == "skill_edited"
    removed = installed.cli("skill", "uninstall", "--json")
    check_document(removed.json, "skill uninstall", 0)
    assert [row["action"] for row in removed.json["data"]["skills"]] == ["kept", "removed"]
    assert mine.read_bytes() == before
    assert installed.cli("skill", "install", "--force").code == 0
    assert mine.read_text("utf-8") == skill.text()


def test_a_file_of_an_older_version_is_renewed(installed: House) -> None:
    old = skill.text().replace('infoforge-version: "', 'infoforge-version: "0.0')
    old = old.replace(
        re.search(r'infoforge-digest: "(\w+)"', old)[1],  # type: ignore[index]
        skill.digest(old),
    )
    installed.files[0].parent.mkdir(parents=True)
    installed.files[0].write_text(old, encoding="utf-8")
    states = installed.cli("skill", "status", "--json").json["data"]["skills"]
    assert [row["state"] for row in states] == ["old", "missing"]
    rows = installed.cli("skill", "install", "--json").json["data"]["skills"]
    assert [row["action"] for row in rows] == ["renewed", "written"]


def test_a_file_of_somebody_else_stays(installed: House) -> None:
    installed.files[1].parent.mkdir(parents=True)
    installed.files[1].write_bytes(b"\xff not ours")
    assert installed.cli("skill", "install").code == 1
    assert installed.files[1].read_bytes() == b"\xff not ours"


def test_a_folder_of_a_project_may_be_given(installed: House) -> None:
    target = installed.cli.home / "project" / ".agents" / "skills"
    assert installed.cli("skill", "install", "--target", target).code == 0
    assert (target / "infoforge" / "SKILL.md").is_file()
    assert installed.cli("skill", "install", "--target", "agnets").code == 2
    assert installed.cli("skill", "uninstall", "--target", target).code == 0
    assert not (target / "infoforge").exists()


def test_doctor_says_whether_agents_know(installed: House) -> None:
    def states() -> dict[str, str]:
        checks = installed.cli("doctor", "--only", "skill", "--json").json["data"]["checks"]
        return {check["name"]: check["status"] for check in checks}

    assert states() == {"skill:agents": "WARN", "skill:claude": "WARN"}
    installed.cli("skill", "install")
    assert states() == {"skill:agents": "PASS", "skill:claude": "PASS"}


# An agent that follows it to the letter


def obligations() -> dict[int, str]:
    """What the skill file obliges an agent to, by exit code."""
    rows = re.findall(r"^\| (\d) \| `\w+` \| [^|]+ \| ([^|]+) \|$", skill.text(), re.M)
    return {int(code): duty for code, duty in rows}


def agent(cli: Cli, question: str, *options: str) -> str:
    """A scripted agent: it would answer from memory, were it not for its skill."""
    memory = "From memory: it was Mori Ōgai, in 1911."
    run = cli("ask", "--json", *options, question)
    document = run.json
    duty = obligations().get(run.code)
    if duty is None:
        return memory
    if duty.startswith("answer with `data`"):
        data = document["data"]
        cited = [f"[{c['number']}] {c['title']} {c['url']} {c['date']}" for c in data["citations"]]
        return "\n".join([data["answer"], *cited])
    assert "report" in duty
    error = document["errors"][0]
    report = f"The lookup failed: {error['message']} ({error['hint']})"
    if "`data.results`" in duty:
        report += "".join(f"\n{row['title']} {row['url']}" for row in document["data"]["results"])
    return report


def test_the_agent_answers_with_citations(installed: House) -> None:
    said = agent(installed.cli, QUESTION)
    assert "Natsume Sōseki wrote it [1]." in said
    assert "Kokoro (novel) zim://novels_en_2026-06.zim/" in said
    assert "2026-06" in said


def test_the_agent_reports_a_failed_lookup_for_3_4_and_5(installed: House) -> None:
    assert set(obligations()) == {0, 1, 2, 3, 4, 5}
    installed.model.then(reply("It was Mori Ōgai, in 1911."))
    ungrounded = agent(installed.cli, QUESTION, "--strict")
    nothing = agent(installed.cli, NONSENSE)
    down_config = installed.config | {
        "endpoints": [{"name": "m", "url": refused_url(), "model": "m"}]
    }
    installed.cli.configure(down_config)
    down = agent(installed.cli, QUESTION)
    for said in (ungrounded, nothing, down):
        assert said.startswith("The lookup failed: ")
        assert "Mori" not in said
        assert "memory" not in said
    assert "no article matches" in nothing
    assert "not grounded" in ungrounded
    assert "Kokoro (novel)" in down
