"""`infoforge demo`: three cited answers and a refusal, with nothing but the package."""

import pytest


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    from support.cli import Cli

    cli = Cli(tmp_path_factory.mktemp("demo") / "home")
    return cli.home, cli("demo", "--json"), cli("demo")


def test_it_answers_three_questions_with_citations(runs):
    _, run, _ = runs
    assert run.code == 0, run.stderr
    steps = run.json["data"]["steps"]
    assert [step["exit_code"] for step in steps] == [0, 0, 0, 3]
    answers = [step["answer"] for step in steps[:3]]
    assert "1914" in answers[0]["answer"]
    assert "Natsume Sōseki" in answers[0]["answer"]
    assert "9 February 1867" in answers[1]["answer"]
    assert "lacquer" in answers[2]["answer"]
    assert [answer["citations"][0]["title"] for answer in answers] == [
        "Kokoro (novel)",
        "Natsume Sōseki",
        "Natsume (tea caddy)",
    ]


def test_the_disambiguation_pages_are_named_and_not_cited(runs):
    _, run, _ = runs
    said = [w["message"] for w in run.json["warnings"]]
    assert any("disambiguation" in message and "Kokoro" in message for message in said)
    for step in run.json["data"]["steps"][:3]:
        assert "Kokoro" not in [c["title"] for c in step["answer"]["citations"]]


def test_a_person_sees_the_commands_the_answers_and_the_refusal(runs):
    _, _, run = runs
    assert run.code == 0
    assert run.stdout.count("$ infoforge ask --zim ~/") == 4
    assert run.stdout.count("Citations:\n[1] ") == 3
    assert "exit code 3" in run.stdout
    assert "error: no article matches" in run.stderr
    assert run.stdout.rstrip().endswith("check every part, from ZIM files to model")


def test_the_zim_is_made_once_and_kept_in_the_cache(runs):
    home, first, _ = runs
    found = list((home / ".cache" / "infoforge").rglob("*"))
    files = [path for path in found if path.is_file()]
    assert [str(path) for path in files] == [first.json["data"]["zim"]]


def test_a_shown_command_can_be_typed(runs, run_cli):
    _, run, _ = runs
    zim = run.json["data"]["zim"]
    again = run_cli("ask", "--zim", zim, "--endpoint", "quote", "When was Natsume Sōseki born?")
    assert again.code == 0
    assert "1867" in again.stdout


def test_a_home_that_cannot_be_written_is_no_hindrance(run_cli, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    run = run_cli("demo", env={"XDG_CACHE_HOME": str(blocked / "cache"), "TMPDIR": str(tmp_path)})
    assert run.code == 0, run.stderr
    assert "exit code 3" in run.stdout
