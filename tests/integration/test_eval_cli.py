import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.fault_server import reply
from support.kiwix import REPO

import infoforge

SCHEMAS = Path(infoforge.__file__).parent / "data" / "schemas"

ARTICLES = {
    "Kokoro (novel)": "<p>Kokoro is a novel by Natsume Sōseki. It was published in 1914 in the "
    "Asahi Shimbun.</p>",
    "Natsume Sōseki": "<p>Natsume Sōseki was a Japanese novelist. He taught English in Matsuyama "
    "before he studied in London.</p>",
    "Matsuyama": "<p>Matsuyama is a city on Shikoku. Its castle was finished in 1627.</p>",
    "Themse": "<p>The Thames is a river in England, also called Themse.</p>",
}
QUESTIONS = [
    {"id": "a", "lang": "en", "question": "When was Kokoro published?", "title": "Kokoro (novel)",
     "answers": ["1914"]},
    {"id": "b", "lang": "en", "question": "When was the castle of Matsuyama finished?",
     "title": "Matsuyama", "answers": ["1627"]},
    {"id": "c", "lang": "en", "question": "What is a qzxvbnm?", "title": "Botchan",
     "answers": ["a book"]},
]  # fmt: skip


def valid(name, data):
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(data)
    return data


@pytest.fixture
def zim(make_zim):
    return make_zim(ARTICLES, metadata={"Tags": "_ftindex:yes"})


@pytest.fixture
def asked(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS), encoding="utf-8")
    return path


def test_figures_and_misses_for_people(run_cli, zim, asked):
    done = run_cli("eval", asked, "--zim", zim)
    assert (done.code, done.stderr) == (0, "")
    assert "3 questions on sample_en (zim)" in done.stdout
    assert "66.7" in done.stdout  # two of three
    assert "What is a qzxvbnm?" in done.stdout
    assert "no article of this title is in the corpora" in done.stdout


def test_one_json_document(run_cli, zim, asked):
    done = run_cli("eval", asked, "--zim", zim, "--json", "--min-hit5", "60")
    assert (done.code, done.json["status"], done.json["command"]) == (0, "ok", "eval")
    data = valid("eval", done.json["data"])
    assert [row["rank"] for row in data["questions"]] == [1, 1, 0]
    assert data["summary"]["hit1"] == 66.67
    assert data["checks"] == [{"name": "min_hit5", "wanted": 60.0, "value": 66.67, "passed": True}]


@pytest.mark.parametrize("as_json", [True, False])
def test_a_missed_threshold_is_exit_code_1(run_cli, zim, asked, as_json):
    done = run_cli("eval", asked, "--zim", zim, "--max-empty", "10", *["--json"] * as_json)
    assert done.code == 1
    if as_json:
        assert done.json["errors"][0]["code"] == "check_failed"
        assert "nothing found at most 10 %: 33.3 (missed)" in done.json["errors"][0]["message"]
        valid("eval", done.json["data"])
    else:
        assert "nothing found at most 10 %: 33.3 (missed)" in done.stdout


def test_a_page_and_a_comparison(run_cli, zim, asked, tmp_path):
    page = tmp_path / "report.html"
    first = run_cli("eval", asked, "--zim", zim, "--html", page, "--json")
    assert first.code == 0
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 3
    assert "What is a qzxvbnm?" in text
    assert "http" not in text.replace("http-equiv", "")
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []
    valid("eval", first.json["data"])
    document = first.json
    before = tmp_path / "a.json"
    before.write_text(first.stdout, encoding="utf-8")
    document["data"]["questions"][1]["rank"] = 0
    after = tmp_path / "b.json"
    after.write_text(json.dumps(document), encoding="utf-8")
    done = run_cli("eval", "--compare", before, after)
    assert done.code == 0
    assert "When was the castle of Matsuyama finished?  [-hit1 -hit5]" in done.stdout
    assert "may be chance" in done.stdout
    told = run_cli("eval", "--compare", before, after, "--json").json
    assert valid("eval", told["data"])["comparison"]["measures"]["hit1"]["lost"] == 1


def test_resuming_asks_only_what_is_missing(run_cli, zim, asked, tmp_path):
    kept = tmp_path / "kept.jsonl"
    whole = run_cli("eval", asked, "--zim", zim, "--json", "--resume", kept).json
    lines = kept.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + len(QUESTIONS)
    kept.write_text("\n".join(lines[:2]) + "\n", encoding="utf-8")
    again = run_cli("eval", asked, "--zim", zim, "--json", "--resume", kept).json
    assert again["data"]["questions"][0] == whole["data"]["questions"][0]  # times and all
    assert [r["rank"] for r in again["data"]["questions"]] == [1, 1, 0]
    other = run_cli("eval", asked, "--zim", zim, "--resume", kept, "--characters", "500")
    assert other.code == 2
    assert "belongs to another run (different: characters)" in other.stderr


def test_samples_are_the_same_with_the_same_seed(run_cli, zim, asked):
    def ids(seed):
        argv = ("eval", asked, "--zim", zim, "--json", "--sample", "2", "--seed", seed)
        return [row["id"] for row in run_cli(*argv).json["data"]["questions"]]

    assert ids("1") == ids("1")
    assert len(ids("1")) == 2


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "no file of questions was given"),
        (("none.jsonl",), "cannot read the questions none.jsonl"),
        (("none.jsonl", "--compare", "a", "b"), "--compare takes two reports and nothing else"),
        (("--compare", "a", "b"), "cannot read the report a"),
    ],
)
def test_bad_usage_is_exit_code_2(run_cli, args, said):
    done = run_cli("eval", *args)
    assert (done.code, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_model_answers_and_is_judged(run_cli, zim, asked, fault_server):
    server = fault_server(
        reply("Kokoro was published in 1914 [1]."), reply("The sources do not contain the answer.")
    )
    config = {
        "endpoints": [{"name": "fake", "url": f"{server.url}/v1", "model": "m"}],
    }
    done = run_cli("eval", asked, "--zim", zim, "--answers", "--json", config=config)
    assert done.code == 0, done.stderr
    data = valid("eval", done.json["data"])
    first, second, third = (row["answer"] for row in data["questions"])
    assert (first["holds"], first["cited"], first["refusal"]) == (True, 1, False)
    assert first["f1"] == pytest.approx(2 / 6, abs=1e-3)  # "1914" among five words
    assert first["right_source"] is True
    assert (second["holds"], second["refusal"], second["cited"]) == (False, True, 0)
    assert third is None  # nothing was found, so no model was called
    assert data["summary"]["answers"]["asked"] == 2


def test_no_model_is_a_row_and_no_failure(run_cli, zim, asked, fault_server):
    server = fault_server("500")
    config = {"endpoints": [{"name": "fake", "url": f"{server.url}/v1", "model": "m"}]}
    done = run_cli("eval", asked, "--zim", zim, "--answers", "--json", config=config)
    assert done.code == 0
    answers = valid("eval", done.json["data"])["summary"]["answers"]
    assert (answers["asked"], answers["failed"], answers["exact"]) == (2, 2, None)


def test_requests_to_a_real_kiwix_serve_are_counted(run_cli, zim, asked, kiwix37):
    server = kiwix37(zim)
    config = {"kiwix": {"url": server.url}, "zims": {"folder": str(zim.parent)}}
    done = run_cli("eval", asked, "--json", config=config)
    assert done.code == 0, done.stderr
    data = valid("eval", done.json["data"])
    assert [c["kind"] for c in data["run"]["corpora"]] == ["kiwix"]
    assert [row["rank"] for row in data["questions"]] == [1, 1, 0]
    own = run_cli("eval", asked, "--zim", zim, "--json").json["data"]
    for here, there in zip(own["questions"], data["questions"], strict=True):
        assert [f["path"] for f in here["found"]] == [f["path"] for f in there["found"]]
        assert there["requests"] >= there["searches"] >= 1
        assert here["searches"] == there["searches"]


def test_explain_for_people_and_programs(run_cli, zim):
    done = run_cli("explain", "--zim", zim, "When was Kokoro published?")
    assert (done.code, done.stderr) == (0, "")
    for part in ("language: en (detected)", "keyword", "fulltext", "Kokoro (novel)", "a source"):
        assert part in done.stdout
    told = run_cli("explain", "--zim", zim, "--json", "When was Kokoro published?")
    data = valid("explain", told.json["data"])
    assert data["candidates"][0]["title"] == "Kokoro (novel)"


def test_explain_says_why_nothing_was_found(run_cli, zim):
    done = run_cli("explain", "--zim", zim, "What is a qzxvbnm?")
    assert done.code == 3
    assert "nothing passed the relevance filter" in done.stdout
    told = run_cli("explain", "--zim", zim, "--json", "What is a qzxvbnm?")
    assert (told.code, told.json["status"]) == (3, "nothing_found")
    assert valid("explain", told.json["data"])["passages"] == []


def test_explain_takes_no_empty_question(run_cli, zim):
    done = run_cli("explain", "--zim", zim, "?")
    assert done.code == 2
    assert "the question is empty" in done.stderr


def test_make_eval_prints_the_sets_beside_the_bar(shared_data, tmp_path, run_cli):
    kept = tmp_path / "rows.json"
    script = REPO / "tests" / "eval" / "run.py"
    options = ["--count", "2", "--corpus", "zim", "--only", "sets", "--only", "variants"]
    done = subprocess.run(
        [sys.executable, script, *options, "--json", kept],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    for part in ("en_squad  zim", "zim-pro 0.5.0", "best of what was tried", "neutral", "aims: "):
        assert part in done.stdout
    told = run_cli("eval", "--compare", kept, kept, "--json").json["data"]["comparison"]
    # Ten rows of the sets and six of the plain ones; what is written otherwise comes on top.
    assert told["common"] > 2 * 5 + 2 * 3
    assert told["changed"] == []
    assert told["measures"]["hit5"]["p"] == 1.0
