"""A question in, a cited answer out: through the installed console script, in both corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli
from support.fault_server import FaultServer, refused_url, reply
from support.kiwix import Kiwix, Unavailable, command
from support.zim import build_zim

NOVEL = "Kokoro (novel)"


@pytest.fixture(scope="module")
def demo_zim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ZIM of the demo's articles."""
    from importlib.resources import as_file, files

    from infoforge.zimify.build import zimify
    from infoforge.zimify.records import ConversionOptions

    path = tmp_path_factory.mktemp("demo") / "infoforge_demo_en_2026-11.zim"
    with as_file(files("infoforge") / "data" / "demo") as folder:
        options = ConversionOptions(language="eng", title="Demo", name="infoforge_demo_en",
                          date="2026-11-29", exclude=("README.md",))  # fmt: skip
        zimify(folder, path, options, warn=lambda warning: None)
    return path


AMBIGUOUS = {
    "Kizu": "<p><b>Kizu</b> may refer to:</p><ul>"
    '<li><a href="Kizu_(film)">Kizu (film)</a>, a film of 1962</li>'
    '<li><a href="Kizu_(river)">Kizu (river)</a>, a river</li>'
    '<li><a href="Kizu_(band)">Kizu (band)</a>, a band</li>'
    '<li><a href="Kizu_(painter)">Kizu (painter)</a>, a painter</li>'
    '<li><a href="Kizu_(town)">Kizu (town)</a>, a town</li></ul>',
    "Kizu (film)": "<p>Kizu is a film of 1962. It was directed by Ilo Maren and lasts two "
    "hours.</p>",
    "Kizu (river)": "<p>The Kizu is a river of 99 km. It flows into the Yodo and floods in "
    "spring.</p>",
    "Kizu (band)": "<p>Kizu is a band of four musicians. The band was formed in 2017 and sings in "
    "two languages.</p>",
    "Kizu (painter)": "<p>Kizu was a painter of birds. He was born in 1811 and painted on silk."
    "</p>",
    "Kizu (town)": "<p>Kizu is a town with 40,000 inhabitants. The town has a tea market and a "
    "railway station.</p>",
    "Bird": "<p>Birds have feathers. Birds were painted and sung of by many.</p>",
    "Tea": "<p>Tea is a drink. It is sold in each town and at each station.</p>",
}
QUESTIONS = {
    "Who directed the film Kizu?": "Kizu (film)",
    "How long is the river Kizu?": "Kizu (river)",
    "When was the band Kizu formed?": "Kizu (band)",
    "When was the painter Kizu born?": "Kizu (painter)",
    "How many inhabitants does the town Kizu have?": "Kizu (town)",
}


@pytest.fixture(scope="module")
def ambiguous_zim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five things of one name."""
    path = tmp_path_factory.mktemp("ambiguous") / "names_en_2026-06.zim"
    return build_zim(path, AMBIGUOUS, name="names_en")


@pytest.fixture(scope="module")
def served(demo_zim: Path, ambiguous_zim: Path) -> Iterator[dict[Path, str]]:
    """The URL at which a real kiwix-serve has each of the files."""
    try:
        command("3.7")
    except Unavailable as reason:
        pytest.skip(f"kiwix-serve 3.7: {reason}")
    with Kiwix("3.7", [demo_zim]) as demo, Kiwix("3.7", [ambiguous_zim]) as ambiguous:
        yield {demo_zim: demo.url, ambiguous_zim: ambiguous.url}


@pytest.fixture(params=["zim", "kiwix"])
def config(request: pytest.FixtureRequest) -> Callable[..., dict[str, Any]]:
    """``config(zim, endpoints…)``: a configuration that reads the file in this way."""

    def make(zim: Path, *endpoints: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {
            "zims": {"folder": str(zim.parent)},
            "endpoints": list(endpoints) or [{"name": "quote", "kind": "quote"}],
        }
        if request.param == "kiwix":
            made["kiwix"] = {"url": request.getfixturevalue("served")[zim]}
        return made

    return make


Config = Callable[..., dict[str, Any]]
Start = Callable[..., FaultServer]


def endpoint(server: FaultServer | str, name: str = "model") -> dict[str, Any]:
    url = server if isinstance(server, str) else server.url
    return {"name": name, "url": f"{url}/v1", "model": "test-model"}


@pytest.mark.parametrize(
    "question",
    ["Who wrote Kokoro and when was it published?", "Who wrote the novel Kokoro?"],
)
def test_kokoro_is_the_novel(run_cli: Cli, demo_zim: Path, config: Config, question: str) -> None:
    run = run_cli("ask", "--json", question, config=config(demo_zim))
    assert run.code == 0, run.stderr
    data = run.json["data"]
    assert data["citations"][0]["title"] == NOVEL
    assert data["citations"][0]["number"] == 1
    assert data["citations"][0]["date"] == "2026-11"
    assert "Sōseki" in data["answer"]
    titles = {row["title"] for row in (*data["citations"], *data["also_read"])}
    assert "Kokoro" not in titles
    assert len(titles) <= 5


def test_both_parts_of_the_question_are_answered(
    run_cli: Cli, demo_zim: Path, config: Config
) -> None:
    question = "Who wrote Kokoro and when was it published?"
    run = run_cli("passages", "--json", question, config=config(demo_zim))
    first = run.json["data"]["sources"][0]
    assert first["title"] == NOVEL
    assert "Sōseki" in first["text"]
    assert "1914" in first["text"]


@pytest.mark.parametrize("question", list(QUESTIONS))
def test_of_five_things_of_one_name_the_one_meant_is_taken(
    run_cli: Cli, ambiguous_zim: Path, config: Config, question: str
) -> None:
    run = run_cli("search", "--json", question, config=config(ambiguous_zim))
    assert run.code == 0, run.stderr
    titles = [row["title"] for row in run.json["data"]["results"]]
    assert titles[0] == QUESTIONS[question]
    assert "Kizu" not in titles


@pytest.mark.parametrize(
    "question",
    ["qzxvbnm plorkwidget fnargle", "qzxvbnm painted", "plorkwidget station", "fnargle drink"],
)
def test_nonsense_is_exit_3_and_the_model_hears_nothing(
    run_cli: Cli, ambiguous_zim: Path, config: Config, fault_server: Start, question: str
) -> None:
    model = fault_server()
    run = run_cli("ask", question, config=config(ambiguous_zim, endpoint(model)))
    assert run.code == 3, run.stdout
    assert run.stdout == ""
    assert model.requests == []
    assert "infoforge: error: " in run.stderr


def test_the_terminal_view(
    run_cli: Cli, demo_zim: Path, config: Config, fault_server: Start
) -> None:
    answer = f'According to "{NOVEL}", Natsume Sōseki wrote it in 1914 [1].'
    model = fault_server(reply(answer))
    run = run_cli(
        "ask", "Who", "wrote", "the", "novel", "Kokoro?", config=config(demo_zim, endpoint(model))
    )
    assert run.code == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0] == answer
    assert "Citations:" in lines
    cited = lines[lines.index("Citations:") + 1]
    assert cited.startswith(f"[1] {NOVEL} — ")
    assert cited.endswith("  (2026-11)")
    assert "infoforge: grounding on " in run.stderr
    assert "\x1b" not in run.stdout
    if "Also read:" in lines:
        assert lines.index("Also read:") > lines.index("Citations:")


def test_the_prompt_holds_the_rules_the_numbered_sources_and_the_question_last(
    run_cli: Cli, demo_zim: Path, config: Config, fault_server: Start
) -> None:
    question = "Who wrote the novel Kokoro?"
    model = fault_server()
    run_cli("ask", question, config=config(demo_zim, endpoint(model)))
    assert len(model.chats) == 1
    said = "\n".join(message["content"] for message in model.chats[0].json["messages"])
    assert said.index(NOVEL) < said.rindex(question)
    assert "Sōseki" in said


def test_strict_is_exit_4_with_the_answer_on_stdout(
    run_cli: Cli, demo_zim: Path, config: Config, fault_server: Start
) -> None:
    model = fault_server(reply("It was written in 1777 by somebody."))
    settings = config(demo_zim, endpoint(model))
    question = "Who wrote the novel Kokoro?"
    run = run_cli("ask", "--strict", question, config=settings)
    assert run.code == 4
    assert "1777" in run.stdout
    assert "1777" in run.stderr
    loose = run_cli("ask", question, config=settings)
    assert loose.code == 0
    assert "not in the sources that are cited: 1777" in loose.stderr


def test_an_answer_that_fails_is_sent_back_once_with_its_faults(
    run_cli: Cli, demo_zim: Path, config: Config, fault_server: Start
) -> None:
    wrong, right = "It was written in 1777 [1].", "Natsume Sōseki wrote the novel Kokoro [1]."
    question = "Who wrote the novel Kokoro?"
    model = fault_server(reply(wrong), reply(right))
    run = run_cli("ask", "--strict", question, config=config(demo_zim, endpoint(model)))
    assert run.code == 0, run.stderr
    assert right in run.stdout
    assert "1777" not in run.stdout
    sent = model.chats[1].json["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert "1777" in sent[-1]["content"]
    # The better one of two that fail is kept, and there is no third.
    worse = fault_server(reply(wrong), reply("In 1778 [1]. And in 1779 [1]."))
    failed = run_cli("ask", "--strict", question, config=config(demo_zim, endpoint(worse)))
    assert failed.code == 4
    assert "1777" in failed.stdout
    assert len(worse.chats) == 2
    # Without --strict only where it is configured.
    loose = fault_server(reply(wrong), reply(right))
    settings = config(demo_zim, endpoint(loose))
    assert "1777" in run_cli("ask", question, config=settings).stdout
    assert len(loose.chats) == 1


def test_a_citation_that_names_no_source_is_removed(
    run_cli: Cli, demo_zim: Path, fault_server: Start
) -> None:
    model = fault_server(reply("Natsume Sōseki wrote it [1] [77]."))
    settings = {"zims": {"folder": str(demo_zim.parent)}, "endpoints": [endpoint(model)]}
    run = run_cli("ask", "Who wrote the novel Kokoro?", config=settings)
    assert run.code == 0
    assert "[77]" not in run.stdout
    assert "[77]" in run.stderr


def test_no_endpoint_is_exit_5_with_the_articles_on_stdout(
    run_cli: Cli, demo_zim: Path, config: Config
) -> None:
    settings = config(demo_zim, endpoint(refused_url()))
    run = run_cli("ask", "Who wrote the novel Kokoro?", config=settings)
    assert run.code == 5
    lines = run.stdout.splitlines()
    assert lines[0] == "Articles found:"
    assert lines[1].startswith(f"[1] {NOVEL} — ")
    assert "Traceback" not in run.stderr


def test_endpoints_are_tried_in_the_order_of_the_configuration(
    run_cli: Cli, demo_zim: Path, fault_server: Start
) -> None:
    first, second, third = fault_server("500"), fault_server(), fault_server()
    settings = {
        "zims": {"folder": str(demo_zim.parent)},
        "endpoints": [
            endpoint(refused_url(), "gone"),
            endpoint(first, "broken"),
            endpoint(second, "good"),
            endpoint(third, "spare"),
        ],
    }
    question = "Who wrote the novel Kokoro?"
    run = run_cli("ask", "--json", question, config=settings)
    assert run.code == 0
    assert run.json["data"]["endpoint"]["name"] == "good"
    assert len(first.chats) == len(second.chats) == 1
    assert third.requests == []
    told = " ".join(warning["message"] for warning in run.json["warnings"])
    assert "gone" in told
    assert "broken" in told
    named = run_cli("ask", "--json", "--endpoint", "spare", question)
    assert named.json["data"]["endpoint"]["name"] == "spare"
    assert run_cli("ask", "--endpoint", "nobody", question).code == 2


def test_quotes_answer_last_where_an_admin_wants_it(run_cli: Cli, demo_zim: Path) -> None:
    settings = {
        "zims": {"folder": str(demo_zim.parent)},
        "endpoints": [endpoint(refused_url(), "gone"), {"name": "quotes", "kind": "quote"}],
    }
    run = run_cli("ask", "--json", "Who wrote the novel Kokoro?", config=settings)
    assert run.code == 0
    assert run.json["data"]["endpoint"]["kind"] == "quote"
    assert run.json["data"]["citations"]


def test_a_dash_reads_the_question_from_stdin(run_cli: Cli, demo_zim: Path) -> None:
    run = run_cli("ask", "--json", "--zim", demo_zim, "-", stdin="Who wrote\nthe novel Kokoro?\n")
    assert run.code == 0, run.stderr
    assert run.json["data"]["question"] == "Who wrote the novel Kokoro?"
    assert run.json["data"]["citations"][0]["title"] == NOVEL


@pytest.mark.parametrize("stdin", [b"", b"   \n", b"\x00\x01?!", "🎉".encode()])
def test_an_empty_question_is_exit_2(run_cli: Cli, demo_zim: Path, stdin: bytes) -> None:
    run = run_cli("ask", "--zim", demo_zim, "-", stdin=stdin)
    assert run.code == 2
    assert "the question is empty" in run.stderr


def test_options_of_one_run(run_cli: Cli, demo_zim: Path) -> None:
    question = "Where did the novelist Natsume Sōseki live and teach?"
    run = run_cli(
        "passages", "--json", "--zim", demo_zim, "--sources", "2", "--characters", "500",
        "--language", "eng", question,
    )  # fmt: skip
    data = run.json["data"]
    assert 1 <= len(data["sources"]) <= 2
    assert data["characters"] <= 500
    assert data["language"] == "en"
    assert [source["number"] for source in data["sources"]] == [1, 2][: len(data["sources"])]
    text = run_cli("passages", "--zim", demo_zim, question).stdout
    assert text.startswith("[1] ")
    assert run_cli("search", "--zim", demo_zim, "--language", "e1", question).code == 2
    assert run_cli("search", "--zim", "none.zim", question).code == 2
    assert run_cli("ask").code == 2


def test_what_would_steer_a_terminal_is_not_printed(
    run_cli: Cli, demo_zim: Path, fault_server: Start
) -> None:
    model = fault_server(reply("Sōseki \x1b[31mwrote\x1b]0;title\x07 it [1]."))
    settings = {"zims": {"folder": str(demo_zim.parent)}, "endpoints": [endpoint(model)]}
    run = run_cli("ask", "Who wrote the novel Kokoro?", config=settings)
    assert run.code == 0
    assert "\x1b" not in run.stdout
    assert "\x07" not in run.stdout


def test_an_answer_streams_to_a_terminal(run_cli: Cli, demo_zim: Path, fault_server: Start) -> None:
    """Under a real pseudo-terminal: the text once, then the citations, in colour."""
    import os
    import pty
    import subprocess

    from support.cli import SCRIPT

    first = fault_server("cut")
    second = fault_server(reply("Natsume Sōseki wrote it [1]."))
    run_cli.configure(
        {
            "zims": {"folder": str(demo_zim.parent)},
            "endpoints": [endpoint(first, "half"), endpoint(second, "whole")],
        }
    )
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [SCRIPT, "ask", "Who wrote the novel Kokoro?"],
        stdout=theirs,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=run_cli.environment({"TERM": "xterm", "COLUMNS": "40"}),
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # how Linux tells that the other side is closed
                break
            if not piece:
                break
            shown += piece
        process.wait(60)
    os.close(ours)
    text = shown.decode()
    assert process.returncode == 0
    assert text.count("Natsume Sōseki wrote it [1].") == 1
    assert text.index("wrote it [1].") < text.index("Citations:")
    assert "\x1b[" in text
    assert all(chat.json["stream"] for chat in second.chats)
