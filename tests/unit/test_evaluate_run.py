import json

import pytest

from infoforge.ask import Options
from infoforge.config.settings import Settings
from infoforge.contract import CorpusUnavailable, UsageError
from infoforge.corpus.base import CorpusError
from infoforge.corpus.zim import ZimCorpus
from infoforge.evaluate import evaluation
from infoforge.evaluate.journal import Journal
from infoforge.evaluate.questions import Question
from infoforge.evaluate.run import EvalOptions, run

ARTICLES = {
    "Kokoro (novel)": "<p>Kokoro is a novel by Natsume Sōseki. It was published in 1914 in the "
    "Asahi Shimbun, a newspaper of Osaka.</p>",
    "Natsume Sōseki": "<p>Natsume Sōseki was a Japanese novelist. He taught English in Matsuyama "
    "before he studied in London.</p>",
    "Matsuyama": "<p>Matsuyama is a city on Shikoku. Its castle was finished in 1627.</p>",
    "London": "<p>London is the capital of England and stands on the Thames.</p>",
    "Thames": "<p>The Thames is a river. It rises at Thames Head in Gloucestershire.</p>",
}
PLAN = EvalOptions(Settings(), Options(), curve=(200, 400))


def ask(text, *titles, answers=(), name="q"):
    return Question(name, text, titles, answers, "")


@pytest.fixture
def corpus(make_zim):
    return ZimCorpus(make_zim(ARTICLES, redirects={"Soseki": "Natsume Sōseki"}))


def only(corpus, question, plan=PLAN):
    [row] = run([question], [corpus], plan)
    return row


def test_a_question_that_is_answered(corpus):
    row = only(corpus, ask("When was Kokoro published?", "kokoro_(NOVEL)", answers=("1914",)))
    assert (row["rank"], row["in_context"], row["empty"], row["why"]) == (1, True, False, None)
    assert row["found"][0]["title"] == "Kokoro (novel)"
    assert row["characters"] > 0
    assert row["searches"] >= 1
    assert row["requests"] > row["searches"]  # titles were lookup up and articles read
    assert row["seconds"]["total"] >= row["seconds"]["trim"]
    assert [budget for budget, _, _ in row["curve"]] == [200, 400]
    assert all(used <= budget for budget, used, _ in row["curve"])


def test_the_right_title_may_be_that_of_a_redirect(corpus):
    row = only(corpus, ask("Where did Natsume Sōseki teach English?", "Soseki"))
    assert row["rank"] == 1
    assert row["found"][0]["title"] == "Natsume Sōseki"


def test_looking_for_the_right_article_is_not_counted(corpus):
    question = "Where did Natsume Sōseki teach English?"
    titled, plain = only(corpus, ask(question, "Soseki")), only(corpus, ask(question))
    assert titled["requests"] == plain["requests"]
    assert plain["rank"] is None


def test_why_it_lost(corpus):
    unknown = only(corpus, ask("When was Kokoro published?", "Botchan"))
    assert unknown["rank"] == 0
    assert unknown["why"]["article"] == "no article of this title is in the corpora"
    assert any(step["kind"] == "fulltext" for step in unknown["why"]["tried"])
    second = only(corpus, ask("Where did Natsume Sōseki teach English?", "Thames"))
    assert second["why"]["article"] in (
        "no search and no title lookup brought it up",
        *(f"refused: {r['reason']}" for r in second["why"]["refused"]),
    )
    absent = only(corpus, ask("When was Kokoro published?", "Kokoro (novel)", answers=("1915",)))
    assert absent["rank"] == 1
    assert "does not hold the answer" in absent["why"]["answer"]


def test_nothing_found_is_a_row(corpus):
    row = only(corpus, ask("What is a qzxvbnm?"))
    assert (row["empty"], row["sources"], row["characters"]) == (True, 0, 0)
    assert row["why"] is not None


class Down:
    """A corpus that answers questions only while it may."""

    def __init__(self, corpus, good):
        self.corpus, self.good, self.name = corpus, good, corpus.name

    def describe(self):
        return self.corpus.describe()

    def _or_fail(self, call, *args):
        if not self.good(args[0]):
            raise CorpusError("the server went away")
        return call(*args)

    def search(self, *args):
        return self._or_fail(self.corpus.search, *args)

    def titles(self, *args):
        return self._or_fail(self.corpus.titles, *args)

    def read(self, *args):
        return self.corpus.read(*args)


def test_one_question_that_fails_does_not_stop_the_others(corpus, tmp_path):
    down = Down(corpus, lambda query: "Thames" not in query)
    questions = [
        ask("Where does the Thames rise?", name="a"),
        ask("When was Kokoro published?", name="b"),
    ]
    journal = Journal(tmp_path / "j", {})
    rows = run(questions, [down], PLAN, journal=journal)
    assert [row["failed"] for row in rows] == ["corpus_unavailable", ""]
    assert not rows[0]["empty"]  # down is never told as "nothing found"
    assert set(journal.rows) == {"b"}  # the other is asked again


def test_a_corpus_that_is_down_ends_the_run(corpus):
    questions = [ask("Where does the Thames rise?", name=str(n)) for n in range(9)]
    with pytest.raises(CorpusUnavailable, match="went away"):
        run(questions, [Down(corpus, lambda query: False)], PLAN)


def test_a_run_goes_on_where_it_stopped(corpus, tmp_path):
    path = tmp_path / "results.jsonl"
    questions = [ask("When was Kokoro published?", name="a"), ask("What is Matsuyama?", name="b")]
    told = {"corpora": [corpus], "file": tmp_path / "q", "resume": path}
    whole = evaluation.evaluate(questions, PLAN, **told)
    lines = path.read_bytes().split(b"\n")
    assert [json.loads(line)["id"] for line in lines[1:3]] == ["a", "b"]
    # Cut off while the second row was being written; the first is marked to know it again.
    marked = lines[1].replace(b'"requests": ', b'"requests": 1000')
    path.write_bytes(b"\n".join([lines[0], marked, lines[2][:40]]))
    again = evaluation.evaluate(questions, PLAN, **told)
    assert again["questions"][0]["requests"] > 1000
    assert again["questions"][1]["found"] == whole["questions"][1]["found"]
    third = evaluation.evaluate(questions, PLAN, **told)
    assert third["questions"] == again["questions"]


def test_another_run_is_not_gone_on_with(corpus, tmp_path):
    path = tmp_path / "results.jsonl"
    one = [ask("When was Kokoro published?")]
    told = {"corpora": [corpus], "file": tmp_path / "q", "resume": path}
    evaluation.evaluate(one, PLAN, **told)
    with pytest.raises(UsageError, match="different: questions"):
        evaluation.evaluate([ask("What is Matsuyama?")], PLAN, **told)
    other = EvalOptions(Settings(), Options(characters=900), curve=PLAN.curve)
    with pytest.raises(UsageError, match="different: characters"):
        evaluation.evaluate(one, other, **told)
    for content in (b"no json\n", b"{}\n", b"[1]\n", b"half"):
        path.write_bytes(content)
        with pytest.raises(UsageError, match="is no file of eval --resume"):
            evaluation.evaluate(one, PLAN, **told)


def test_progress_is_told_for_each_question(corpus):
    seen = []
    run([ask("What is Matsuyama?")] * 3, [corpus], PLAN, progress=lambda: seen.append(1))
    assert len(seen) == 3
