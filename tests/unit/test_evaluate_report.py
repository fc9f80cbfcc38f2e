import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from infoforge.contract import UsageError
from infoforge.evaluate import compare, report
from infoforge.evaluate.page import HEIGHT, WIDTH, bars, line, nice, page


def row(name, rank=1, *, held=True, language="en", seconds=0.1, **more):
    found = (
        []
        if more.get("empty")
        else [{"title": "T", "corpus": "c", "path": "T", "score": 1.0, "parts": {"window": 1.0}}]
    )
    return {
        "id": name,
        "language": language,
        "question": f"Question {name}?",
        "titles": ["T"],
        "answers": ["1914"],
        "failed": "",
        "detected": "en",
        "rank": rank,
        "empty": False,
        "refused": 0,
        "in_context": held,
        "characters": 1000,
        "sources": 1,
        "requests": 4,
        "searches": 2,
        "seconds": {"candidates": seconds / 2, "total": seconds},
        "warnings": [],
        "partial": False,
        "found": found,
        "why": None,
        "curve": [],
        "answer": None,
    } | more


def test_shares_are_of_the_questions_that_can_tell():
    rows = [
        row("a"),
        row("b", 3, held=False),
        row("c", 5),
        row("d", 0, held=False, empty=True, refused=2, characters=0),
        row("e", None, held=None),
    ]
    figures = report.summary(rows)
    assert (figures["hit1"], figures["hit3"], figures["hit5"]) == (25.0, 50.0, 75.0)
    assert (figures["questions"], figures["with_title"], figures["with_answers"]) == (5, 4, 4)
    assert (figures["empty"], figures["refused"], figures["answer_in_context"]) == (
        20.0,
        20.0,
        50.0,
    )
    assert figures["characters"] == 1000


def test_what_nobody_knows_is_none_and_passes_no_threshold():
    figures = report.summary([row("a", None, held=None)])
    assert figures["hit1"] is figures["answer_in_context"] is None
    [check] = report.checks(figures, {"min_hit1": 0.0, "max_empty": None, "seed": 3})
    assert (check["name"], check["passed"]) == ("min_hit1", False)


def test_thresholds_hold_at_their_own_value():
    figures = report.summary([row("a"), row("b", 2)])
    told = report.checks(figures, {"min_hit1": 50.0, "min_hit5": 100.0, "max_empty": 0.0})
    assert [check["passed"] for check in told] == [True, True, True]
    [low] = report.checks(figures, {"min_hit1": 50.1})
    assert not low["passed"]


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([], 0.5, 0.0),
        ([7.0], 0.95, 7.0),
        ([4, 1, 3, 2], 0.5, 2),
        (list(range(1, 101)), 0.95, 95),
        (list(range(1, 11)), 0.95, 10),
    ],
)
def test_percentiles_are_nearest_rank(values, share, expected):
    assert report.percentile(values, share) == expected


def test_languages_are_the_files_or_else_the_detected_ones():
    groups = report.by_language([row("a", language="de"), row("b", 0, language=""), row("c")])
    assert {name: own["hit1"] for name, own in groups.items()} == {"de": 100.0, "en": 50.0}


def test_answers_are_summed_up_without_those_that_no_model_gave():
    given = {
        "text": "1914 [1]", "error": "", "endpoint": "e", "exact": True, "f1": 0.5, "holds": True,
        "cited": 1, "right_source": True, "claims": {"unsupported": 1},
        "grounded": False, "unsupported": ["7"], "refusal": False, "seconds": 2.0, "warnings": [],
    }  # fmt: skip
    none = given | {"error": "no_endpoint", "exact": False, "f1": 0.0, "cited": 0}
    answers = report.summary([row("a", answer=given), row("b", answer=none)])["answers"]
    assert (answers["asked"], answers["failed"], answers["f1"]) == (2, 1, 50.0)
    assert (answers["exact"], answers["unsupported"], answers["p50"]) == (100.0, 100.0, 2.0)
    assert report.summary([row("a")])["answers"] is None


def test_recall_and_curve():
    rows = [
        row("a", 1, curve=[[500, 480, 0], [1000, 900, 1]]),
        row("b", 3, curve=[[500, 500, 1], [1000, 1000, 1]]),
    ]
    assert report.recall(rows, 3) == [50.0, 50.0, 100.0]
    assert report.curve(rows) == [(490.0, 50.0), (950.0, 100.0)]


@pytest.mark.parametrize(
    ("lost", "won", "p"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (0, 5, 0.0625),  # 2 / 2^5: five of five in one direction are not yet more than chance
        (0, 6, 0.03125),
        (9, 1, 0.021484375),  # 2 * (1 + 10) / 2^10
    ],
)
def test_mcnemar_is_exact(lost, won, p):
    assert compare.mcnemar(lost, won) == pytest.approx(p)
    assert compare.mcnemar(won, lost) == pytest.approx(p)


def test_comparison_names_what_changed():
    before = {r["id"]: r for r in [row("a"), row("b", 2), row("c", 0, held=False), row("gone")]}
    after = {r["id"]: r for r in [row("a"), row("b", 1), row("c", 6, held=False), row("new")]}
    told = compare.compare(before, after)
    assert (told["common"], told["only_before"], told["only_after"]) == (3, 1, 1)
    hit1 = told["measures"]["hit1"]
    assert (hit1["lost"], hit1["won"], hit1["more_than_chance"]) == (0, 1, False)
    assert (hit1["before"], hit1["after"]) == (33.33, 66.67)
    assert told["measures"]["hit5"]["won"] == 0
    assert [(c["id"], c["won"], c["lost"]) for c in told["changed"]] == [("b", ["hit1"], [])]


def test_a_changed_question_is_another_question():
    before, after = {"a": row("a")}, {"a": row("a", question="Another?")}
    with pytest.raises(UsageError, match="no question in common"):
        compare.compare(before, after)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"data": null}', '{"data": {"questions": [1]}}'])
def test_what_is_no_report_is_said_to_be_none(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="is no report of eval"):
        compare.load(path)


def test_a_report_is_read_back(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"data": {"questions": [row("a")]}}))
    assert compare.load(path)["a"]["rank"] == 1


@pytest.mark.parametrize(
    ("most", "end"), [(0, 1), (0.3, 0.5), (1, 1), (7, 10), (1001, 2000), (2100, 2500), (5000, 5000)]
)
def test_axes_end_at_round_numbers(most, end):
    assert nice(most) == pytest.approx(end)


def test_plots_are_well_formed_and_stay_inside():
    drawn = line(
        [(0.0, 0.0), (8000.0, 100.0)], title="<&>", x_label="a & b", y_label="%", mark=(4000, 50)
    )
    root = ElementTree.fromstring(drawn)
    dots = [e for e in root.iter("circle") if e.get("class") == "dot"]
    assert len(dots) == 2
    for dot in dots:
        assert 0 <= float(dot.get("cx")) <= WIDTH
        assert 0 <= float(dot.get("cy")) <= HEIGHT
    assert float(dots[0].get("cy")) > float(dots[1].get("cy"))  # more is higher
    drawn = ElementTree.fromstring(bars([("a", 1.0, 2.0), ("b", 0.0, 0.0)], title="t", unit="ms"))
    widths = [float(e.get("width")) for e in drawn.iter("rect")]
    assert widths[0] == 2 * widths[1]  # p95 is drawn behind p50
    ElementTree.fromstring(line([], title="none", x_label="", y_label=""))


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_is_whole_and_shows_every_miss_as_text():
    why = {
        "article": "place 2: “<b>X</b>” leads",
        "answer": "",
        "tried": [
            {"corpus": "c", "kind": "fulltext", "query": "<script>", "hits": 3, "milliseconds": 1.0}
        ],
        "refused": [{"title": "R & S", "reason": "it lacks a name"}],
    }
    rows = [row("a", curve=[[500, 480, 1]]), row("b", 2, why=why, question="Who <i>wrote</i> it?")]
    figures = report.summary(rows)
    data = {
        "run": {
            "file": "q.jsonl", "sample": 2, "seed": 3, "sources": 5, "characters": 6000,
            "corpora": [{"name": "wiki", "kind": "zim"}], "version": "1",
        },
        "summary": figures,
        "by_language": report.by_language(rows),
        "checks": report.checks(figures, {"min_hit1": 90.0}),
        "questions": rows,
    }  # fmt: skip
    tags = Tags()
    tags.feed(page(data))
    assert tags.open == []
    names = [tag for tag, _ in tags.seen]
    assert names.count("svg") == 3
    assert names.count("details") == 1
    assert "script" not in names
    assert "link" not in names
    assert "img" not in names
    assert not any("src" in attrs or "href" in attrs for _, attrs in tags.seen)
    text = "".join(tags.text)
    assert "Who <i>wrote</i> it?" in text
    assert "“<b>X</b>” leads" in text
    assert "R & S" in text
    assert "min_hit1 90: 50.0, failed" in text
