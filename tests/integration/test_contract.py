"""The contract: every command, in every exit state, as text and as JSON."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import pytest
from support.cli import Cli, Run
from support.envelope import check_document, codes, schema
from support.fault_server import FaultServer, refused_url, reply
from support.mirror import Mirror

from infoforge.cli import COMMANDS, cli
from infoforge.contract import STATUS_BY_EXIT

ARTICLES = {
    "Kokoro (novel)": "<p>Kokoro is a novel by the Japanese author Natsume Sōseki. It was "
    "published in 1914 in the newspaper Asahi Shimbun.</p>",
    "Natsume Sōseki": "<p>Natsume Sōseki, born in 1867, was a Japanese novelist. He wrote Kokoro "
    "and I Am a Cat.</p>",
}
QUESTION = "Who wrote the novel Kokoro?"
NONSENSE = "qzxvbnm plorkwidget fnargle"


def leaves(command: click.Command, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, with its name as it is typed."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None
            yield from leaves(below, f"{name} {word}".strip())
    else:
        yield name, command


LEAVES = dict(leaves(cli))
JSON = [
    name
    for name, command in LEAVES.items()
    if any("--json" in parameter.opts for parameter in command.params)
]
REPORTS = {"doctor", "eval"}
PROTOCOLS = {"mcp"}
"""Commands whose standard output is a protocol."""


def words(name: str) -> list[str]:
    return name.split()


@dataclass
class Installation:
    """A user with two articles in a ZIM file, a model server that records, a catalog."""

    cli: Cli
    zim: Path
    model: FaultServer
    mirror: Mirror
    config: dict[str, Any] = field(default_factory=dict)

    def run(self, name: str, *args: str, **more: Any) -> tuple[Run, Run]:
        """The command as text, then as JSON."""
        return (
            self.cli(*words(name), *args, **more),
            self.cli(*words(name), *args, "--json", **more),
        )


@pytest.fixture
def installed(
    run_cli: Cli, make_zim: Callable[..., Path], fault_server: Callable[..., FaultServer]
) -> Iterator[Installation]:
    zim = make_zim(ARTICLES, name="novels_en", folder=run_cli.home / "zims")
    model = fault_server(reply("Natsume Sōseki wrote it [1]."))
    with Mirror() as mirror:
        config = {
            "zims": {"folder": str(zim.parent)},
            "catalog": {"url": mirror.catalog},
            "endpoints": [{"name": "model", "url": f"{model.url}/v1", "model": "test-model"}],
        }
        run_cli.configure(config)
        yield Installation(run_cli, zim, model, mirror, config)


def check(runs: tuple[Run, Run], name: str, code: int) -> Any:
    """Hold both runs to the contract; the document."""
    text, as_json = runs
    assert (text.code, as_json.code) == (code, code), (text, as_json)
    for run in runs:
        assert "Traceback" not in run.stderr
        assert all(line.startswith("infoforge: ") for line in run.stderr.splitlines()), run.stderr
    document = as_json.json
    check_document(document, name, code)
    told = [line for line in text.stderr.splitlines() if "infoforge: error: " in line]
    # Their text is the report, which has the failure in it; as JSON there must be an error, too.
    if document["errors"] and name not in REPORTS:
        assert len(told) == 1
    return document


# What every command shares


def test_every_command_has_a_schema_and_takes_json() -> None:
    assert set(LEAVES) - set(JSON) <= PROTOCOLS
    for name in JSON:
        body = schema(name.replace(" ", "-"))
        assert body["title"] == f"data of infoforge {name} --json"


def test_no_schema_is_of_a_command_that_is_gone() -> None:
    from importlib.resources import files

    folder = files("infoforge") / "data" / "schemas"
    known = {f"{name.replace(' ', '-')}.schema.json" for name in JSON}
    found = {path.name for path in folder.iterdir()}
    assert found - known == {"config.schema.json", "envelope.schema.json"}


@pytest.mark.parametrize("name", JSON)
def test_a_wrong_option_is_exit_2(installed: Installation, name: str) -> None:
    run = installed.cli(*words(name), "--no-such-option", "--json")
    document = check((run, run), name, 2)
    assert document["errors"][0]["code"] == "usage"
    assert document["data"] is None
    assert f"infoforge {name} --help" in document["errors"][0]["hint"]


def test_an_unknown_command_is_exit_2(run_cli: Cli) -> None:
    check((run_cli("aks", "x"), run_cli("aks", "x", "--json")), "infoforge", 2)


NEEDED = {
    "ask": ["x"],
    "search": ["x"],
    "passages": ["x"],
    "explain": ["x"],
    "eval": ["questions.jsonl"],
    "serve load": ["archive.tar"],
    "zims pull": ["x"],
    "zims add": ["x.zim"],
    "zims remove": ["x"],
    "zims enable": ["x"],
    "zims disable": ["x"],
    "vault learn": ["x"],
    "vault load": ["archive.tar"],
    "vault search": ["x"],
    "vault unit": ["infoforge-vault.service"],
}
"""Arguments that a command cannot do without."""
UNCONFIGURED = {"config init", "demo", "zimify", "skill show", "skill install", "skill status"}
UNCONFIGURED |= {"skill uninstall"}
"""Commands that read no configuration."""


@pytest.mark.parametrize("name", [n for n in JSON if n not in UNCONFIGURED])
def test_a_bad_configuration_is_exit_2(installed: Installation, name: str) -> None:
    installed.cli.configure("zims:\n  foldr: /srv\n")
    stdin = "x" if name.startswith("vault") else ""
    run = installed.cli(*words(name), *NEEDED.get(name, []), "--json", stdin=stdin)
    document = check((run, run), name, 2)
    assert document["errors"][0]["code"] == "config"
    assert "foldr" in json.dumps(document)
    assert installed.model.requests == []


# A question, in every state


def test_ask_answers(installed: Installation) -> None:
    document = check(installed.run("ask", QUESTION, process=True), "ask", 0)
    assert document["data"]["grounded"]
    assert document["data"]["citations"][0]["number"] == 1
    assert len(installed.model.chats) == 2


def test_ask_quotes_without_an_endpoint(installed: Installation) -> None:
    installed.cli.configure(installed.config | {"endpoints": []})
    document = check(installed.run("ask", QUESTION), "ask", 0)
    assert document["data"]["endpoint"]["kind"] == "quote"
    assert [w["code"] for w in document["warnings"]] == ["no_endpoint_configured"]


@pytest.mark.parametrize("name", ["ask", "search", "passages"])
def test_nothing_found_is_exit_3_and_no_model_hears_of_it(
    installed: Installation, name: str
) -> None:
    runs = installed.run(name, NONSENSE, process=True)
    document = check(runs, name, 3)
    assert runs[0].stdout == ""
    assert document["errors"][0]["code"] == "nothing_found"
    assert document["data"] is None
    assert installed.model.requests == []


def test_explain_tells_nothing_found_with_its_why(installed: Installation) -> None:
    document = check(installed.run("explain", NONSENSE), "explain", 3)
    assert document["data"]["passages"] == []
    assert installed.model.requests == []


@pytest.mark.parametrize("answer", ["It was somebody.", "It sold 48,213 copies [1]."])
def test_an_ungrounded_answer_is_exit_4_with_strict(installed: Installation, answer: str) -> None:
    installed.model.then(reply(answer))
    document = check(installed.run("ask", "--strict", QUESTION, process=True), "ask", 4)
    assert document["data"]["answer"]
    assert not document["data"]["grounded"]
    installed.model.then(reply(answer))
    assert check(installed.run("ask", QUESTION), "ask", 0)["warnings"]


def test_no_endpoint_is_exit_5_with_the_articles(installed: Installation) -> None:
    installed.cli.configure(
        installed.config | {"endpoints": [{"name": "gone", "url": refused_url(), "model": "m"}]}
    )
    runs = installed.run("ask", QUESTION, process=True)
    document = check(runs, "ask", 5)
    assert [r["title"] for r in document["data"]["results"]]
    assert "Kokoro" in runs[0].stdout
    assert document["warnings"][0]["code"] == "endpoint_refused"


@pytest.mark.parametrize("name", ["ask", "search", "passages", "explain"])
def test_no_corpus_is_exit_1_never_3(installed: Installation, name: str) -> None:
    installed.zim.write_bytes(installed.zim.read_bytes()[:100])
    document = check(installed.run(name, QUESTION, process=True), name, 1)
    assert document["errors"][0]["code"] == "corpus_unavailable"
    assert document["data"] is None
    assert installed.model.requests == []


@pytest.mark.parametrize("name", ["search", "passages", "explain"])
def test_the_articles_without_a_model(installed: Installation, name: str) -> None:
    check(installed.run(name, QUESTION), name, 0)
    assert installed.model.requests == []


@pytest.mark.parametrize("name", ["ask", "search", "passages", "explain"])
def test_an_empty_question_is_exit_2(installed: Installation, name: str) -> None:
    check(installed.run(name, " \t "), name, 2)


# The other commands, well and unwell


def test_eval(installed: Installation) -> None:
    questions = installed.cli.home / "questions.jsonl"
    row = {"question": QUESTION, "title": "Kokoro (novel)", "answers": ["Natsume"]}
    questions.write_text(json.dumps(row) + "\n", encoding="utf-8")
    document = check(installed.run("eval", str(questions)), "eval", 0)
    check(installed.run("eval", str(questions), "--max-empty", "0", "--min-empty", "1"), "eval", 1)
    kept = installed.cli.home / "report.json"
    kept.write_text(json.dumps(document), encoding="utf-8")
    check(installed.run("eval", "--compare", str(kept), str(kept)), "eval", 0)
    check(installed.run("eval", str(questions.with_name("gone"))), "eval", 2)


def test_config(installed: Installation) -> None:
    check(installed.run("config show"), "config show", 0)
    check(installed.run("config check"), "config check", 0)
    check(installed.run("config init"), "config init", 2)
    check(installed.run("config init", "--force"), "config init", 0)
    public = [{"name": "far", "url": "http://8.8.8.8/v1", "model": "m"}]
    installed.cli.configure(installed.config | {"endpoints": public})
    check(installed.run("config check"), "config check", 2)
    assert check(installed.run("ask", QUESTION), "ask", 2)["errors"][0]["code"] == "public_address"


def test_doctor(installed: Installation) -> None:
    check(installed.run("doctor", "--only", "zim"), "doctor", 0)
    check(installed.run("doctor", "--only", "nosuch"), "doctor", 2)
    installed.zim.write_bytes(installed.zim.read_bytes()[:100])
    document = check(installed.run("doctor", "--only", "zim"), "doctor", 1)
    assert document["data"]["failed"] == 1


def test_demo(installed: Installation) -> None:
    check(installed.run("demo"), "demo", 0)


def test_zimify(installed: Installation) -> None:
    folder = installed.cli.home / "notes"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\nGreen. [gone](gone.md)\n", encoding="utf-8")
    out = str(installed.cli.home / "notes.zim")
    check(installed.run("zimify", str(folder), "-o", out), "zimify", 0)
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 no")
    check(installed.run("zimify", str(folder), "-o", out, "--strict"), "zimify", 1)
    check(installed.run("zimify", str(folder / "gone"), "-o", out), "zimify", 2)


def test_zims(installed: Installation) -> None:
    data = installed.zim.read_bytes()
    installed.mirror.publish("other_en_2026-06.zim", data, name="other_en")
    check(installed.run("zims available"), "zims available", 0)
    check(installed.run("zims pull", "other_en", "--check"), "zims pull", 0)
    check(installed.run("zims pull", "other_en"), "zims pull", 0)
    check(installed.run("zims pull", "nosuch"), "zims pull", 1)
    check(installed.run("zims update", "--check"), "zims update", 0)
    check(installed.run("zims update"), "zims update", 0)
    check(installed.run("zims list"), "zims list", 0)
    check(installed.run("zims verify", "--full"), "zims verify", 0)
    check(installed.run("zims disable", "nosuch"), "zims disable", 2)
    check(installed.run("zims enable", "novels_en"), "zims enable", 0)
    check(installed.run("zims disable", "novels_en"), "zims disable", 0)
    check(installed.run("zims prune", "--check"), "zims prune", 0)
    check(installed.run("zims prune"), "zims prune", 0)
    stick = installed.cli.home / "stick_en_2026-06.zim"
    stick.write_bytes(data)
    check(installed.run("zims add", str(stick)), "zims add", 0)
    # The two runs are two removals: the second has nothing to remove.
    first = installed.cli("zims", "remove", "stick_en", "--force", "--json")
    check_document(first.json, "zims remove", 0)
    check(installed.run("zims remove", "stick_en"), "zims remove", 2)
    broken = installed.zim.with_name("broken_en_2026-06.zim")
    broken.write_bytes(data[:100])
    check(installed.run("zims verify"), "zims verify", 1)
    check(installed.run("zims list"), "zims list", 0)


@pytest.mark.skipif(not shutil.which("podman"), reason="podman is not installed")
def test_serve_with_podman(installed: Installation) -> None:
    box = {"container": "infoforge-contract", "port": 18080, "image": "localhost/no-such:1"}
    installed.cli.configure(installed.config | {"box": box})
    check(installed.run("serve command"), "serve command", 0)
    check(installed.run("serve status"), "serve status", 1)
    check(installed.run("serve stop"), "serve stop", 0)
    check(installed.run("serve heal"), "serve heal", 0)
    for name in ("serve start", "serve recreate"):
        assert check(installed.run(name), name, 1)["errors"][0]["code"] == "image_missing"
    for name in ("serve logs", "serve pull"):
        check(installed.run(name), name, 1)
    check(installed.run("serve load", str(installed.zim)), "serve load", 1)


def test_serve_without_podman(installed: Installation) -> None:
    path = installed.cli.home / "bin"
    path.mkdir()
    env = {"PATH": str(path)}
    check(installed.run("serve unit"), "serve unit", 0)
    check(installed.run("serve unit", "nosuch"), "serve unit", 2)
    for verb in ("start", "recreate", "stop", "status", "logs", "command", "pull", "heal"):
        document = check(installed.run(f"serve {verb}", env=env), f"serve {verb}", 1)
        assert document["errors"][0]["code"] == "podman_missing"


# The document itself


def test_the_text_of_a_failure_is_one_line_with_a_hint(installed: Installation) -> None:
    text, as_json = installed.run("ask", NONSENSE)
    error = as_json.json["errors"][0]
    assert text.stderr == f"infoforge: error: {error['message']} ({error['hint']})\n"


def test_statuses_and_exit_codes_are_those_of_the_envelope() -> None:
    pairs = {
        (branch["properties"]["status"]["const"], code)
        for branch in schema("envelope")["oneOf"]
        for code in branch["properties"]["exit_code"]["enum"]
    }
    assert pairs == {(word, code) for code, word in STATUS_BY_EXIT.items()} | {("failed", 130)}


def test_a_reader_that_goes_away_is_no_traceback(installed: Installation) -> None:
    from support.cli import SCRIPT

    line = f"'{SCRIPT}' passages 'Who wrote Kokoro?' --json | head -c 1; exit ${{PIPESTATUS[0]}}"
    import subprocess

    done = subprocess.run(
        ["bash", "-c", line],
        env=installed.cli.environment({"PATH": os.environ["PATH"]}),
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr


def test_short_help_names_every_command() -> None:
    assert {name.split()[0] for name in LEAVES} == set(COMMANDS)


def test_the_codes_are_lines_for_people() -> None:
    for group in codes().values():
        for code, meaning in group.items():
            assert code.islower()
            assert meaning.endswith("."), code
