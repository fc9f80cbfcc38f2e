import itertools

import pytest
from support.engine import Readable

from infoforge.ask import Options
from infoforge.config.settings import Settings
from infoforge.corpus.zim import ZimCorpus
from infoforge.evaluate.explain import explain

LONG = "".join(
    f"<p>The {word} grew along the harbour for many years.</p>" for word in "abcdefgh" * 30
)
ARTICLES = {
    "Kokoro": '<p><b>Kokoro</b> may refer to:</p><ul><li><a href="Kokoro_(novel)">Kokoro (novel)'
    '</a>, a novel</li><li><a href="Kokoro_(album)">Kokoro (album)</a>, an album</li></ul>',
    "Kokoro (novel)": "<p>Kokoro is a novel by Natsume Sōseki.</p>" + LONG
    + "<h2>Publication</h2><p>The novel Kokoro was published in 1914 in a newspaper.</p>" + LONG,
    "Kokoro (album)": "<p>Kokoro is an album of twelve songs.</p>",
    "Harbour": LONG,
}  # fmt: skip


@pytest.fixture
def corpus(make_zim):
    return ZimCorpus(make_zim(ARTICLES))


def told(corpus, question, **options):
    view, _ = explain(question, Settings(), Options(**options), [corpus])
    return view


def test_the_words_and_what_was_let_go(corpus):
    view = told(corpus, "When was the novel Kokoro published?")
    assert (view["language"], view["language_given"], view["expects"]) == ("en", False, "date")
    assert {term["text"] for term in view["terms"]} >= {"novel", "Kokoro", "published"}
    weights = [term["weight"] for term in view["terms"]]
    assert weights == sorted(weights, reverse=True)
    gone = " ".join(row["word"] for row in view["let_go"])
    assert "When" in gone
    assert "Kokoro" not in gone
    assert told(corpus, "Kokoro", language="de")["language_given"]


def test_a_word_within_another_word_of_a_search_was_not_searched_with_it():
    texts = {f"T{n}": "matsuyama zygote" for n in range(300)}
    texts["long"] = "matsuyama zygote most between while during"
    # "during" is among the words by which long articles are lookup for.
    view = told(Readable(texts), "Was there a zygote in Matsuyama, or a dur?")
    terms = {term["text"]: term["searched"] for term in view["terms"]}
    asked = [call["query"].split() for call in view["searches"] if call["kind"] == "fulltext"]
    assert any("during" in words for words in asked)
    assert terms["dur"] == sum("dur" in words for words in asked)


def test_the_parts_of_a_stub_add_up_to_its_score():
    corpus = Readable({"T": "matsuyama zygote"})
    corpus.short = True
    first = told(corpus, "Was there a zygote in Matsuyama?")["candidates"][0]
    assert first["parts"]["stub"] < 0
    assert first["score"] == pytest.approx(sum(first["parts"].values()), abs=0.01)


def test_each_request_with_its_hits_and_time(corpus):
    view = told(corpus, "When was the novel Kokoro published?")
    kinds = [call["kind"] for call in view["searches"]]
    assert {"titles", "fulltext", "read"} <= set(kinds)
    assert view["requests"] == len(kinds)
    assert all(call["milliseconds"] >= 0 for call in view["searches"])


def test_each_candidate_with_its_scores(corpus):
    view = told(corpus, "When was the novel Kokoro published?")
    first = view["candidates"][0]
    assert first["title"] == "Kokoro (novel)"
    assert first["refused"] == ""
    assert first["found_by"]
    assert first["score"] == pytest.approx(sum(first["parts"].values()), abs=0.01)
    scores = [item["score"] for item in view["candidates"]]
    assert scores == sorted(scores, reverse=True)


def test_where_the_passage_was_cut(corpus):
    view = told(corpus, "When was the novel Kokoro published?", characters=400, sources=1)
    [passage] = view["passages"]
    assert passage["characters"] <= 400 < passage["of"]
    kept = passage["kept"]
    assert kept[0]["start"] == 0
    assert any(piece["section"] == "Publication" for piece in kept)
    assert all(a["end"] < b["start"] for a, b in itertools.pairwise(kept))
    assert sum(piece["end"] - piece["start"] for piece in kept) <= passage["characters"]


def test_nothing_passes_and_each_reason_is_told(corpus):
    view = told(corpus, "Which protein does the harbour gene qzxvbnm encode?")
    assert view["passages"] == []
    assert all(item["refused"] for item in view["candidates"])
