"""Which searches are made on an engine that only knows AND."""

from __future__ import annotations

import pytest
from support.engine import BIG, CROWDED, QUESTION, Counting

from infoforge.corpus.base import Deadline, DeadlineExceeded
from infoforge.records import Hits
from infoforge.retrieval.keywords import keywords
from infoforge.retrieval.relax import Candidate, FullText


def searched(corpus: Counting, question: str, **options: bool) -> FullText:
    fulltext = FullText(corpus, keywords(question, "en").by_rarity(), Deadline(None), **options)
    fulltext.run()
    return fulltext


def test_the_rarest_words_are_searched_together_first() -> None:
    corpus = Counting({"A": "zygote matsuyama gardener harbour paint"})
    searched(corpus, QUESTION)
    assert set(corpus.queries[0].split()) == {"Matsuyama", "zygote"}


def test_words_are_let_go_until_there_are_hits() -> None:
    corpus = Counting({"A": "zygote text", "B": "matsuyama text"}, articles=1000)
    found = searched(corpus, QUESTION)
    assert {"A", "B"} <= set(found.candidates)
    assert found.candidates["A"].evidence["zygot"] > 0


def test_in_a_large_corpus_two_words_come_before_one() -> None:
    texts = {f"T{n}": "gardener" for n in range(300)} | {f"P{n}": "paint text" for n in range(300)}
    right = {"right": "gardener paint harbour", "other": "matsuyama text"}
    for articles, where in ((1000, set()), (BIG, {"right"})):
        corpus = Counting(texts | right, articles=articles)
        found = searched(corpus, "Did the gardener of Matsuyama paint it?")
        assert {"right"} & set(found.candidates) == where


def test_in_a_huge_corpus_three_words_come_before_other_pairs() -> None:
    # Among three hundred articles of each pair the right one is not one of the first.
    pairs = ("matsuyama gardener", "matsuyama harbour", "matsuyama paint", "harbour paint")
    texts = {f"{pair} {n}": pair for pair in pairs for n in range(300)}
    texts |= {"right": "matsuyama harbour paint"}
    question = "Did the gardener of Matsuyama paint the harbour?"
    for articles, where in ((10_000, set()), (BIG, {"right"})):
        corpus = Counting(texts, articles=articles)
        assert {"right"} & set(searched(corpus, question).candidates) == where, corpus.queries


def test_a_second_round_asks_what_was_not_asked() -> None:
    corpus = Counting({"A": "zygote text", "B": "matsuyama text"})
    found = searched(corpus, QUESTION)
    first = list(corpus.queries)
    found.more()
    again = corpus.queries[len(first) :]
    assert 0 < len(again) <= 4
    assert not {frozenset(q.split()) for q in first} & {frozenset(q.split()) for q in again}
    assert set(found.candidates) >= {"B"}


def test_there_is_no_second_round_where_single_words_have_few_hits() -> None:
    corpus = Counting({"A": "zygote text"}, articles=1000)
    found = searched(corpus, QUESTION)
    before = len(corpus.queries)
    found.more()
    assert len(corpus.queries) == before


def test_with_plenty_of_hits_words_are_added() -> None:
    texts = {f"T{n}": "matsuyama zygote" for n in range(30)}
    texts["right"] = "matsuyama zygote gardener harbour paint"
    corpus = Counting(texts)
    found = searched(corpus, QUESTION)
    assert max(len(query.split()) for query in corpus.queries) > 2
    assert "right" in found.candidates


@pytest.mark.parametrize(
    "texts",
    [
        {},
        {"A": "zygote"},
        {f"T{n}": "matsuyama zygote gardener harbour paint" for n in range(200)},
    ],
)
@pytest.mark.parametrize("articles", [20, 3000, BIG])
def test_few_searches_are_made_and_none_twice(texts: dict[str, str], articles: int) -> None:
    corpus = Counting(texts, articles)
    found = searched(corpus, QUESTION)
    assert len(corpus.queries) <= found.budget + 2
    asked = [frozenset(query.split()) for query in corpus.queries]
    assert len(set(asked)) == len(asked)
    assert len(found.steps) == len(corpus.queries)


def test_a_small_corpus_is_asked_for_single_words() -> None:
    corpus = Counting({"A": "zygote"}, articles=20)
    searched(corpus, QUESTION)
    assert all(len(query.split()) == 1 for query in corpus.queries)


def test_more_hits_are_taken_where_they_cost_nothing() -> None:
    small, big = Counting({}, 1000), Counting({}, BIG)
    searched(small, QUESTION)
    searched(big, QUESTION)
    assert max(small.limits) > max(big.limits)


def test_words_that_no_article_holds_are_known_as_absent() -> None:
    corpus = Counting({"A": "gardener"}, articles=20)
    found = searched(corpus, "the gardener and the plorkwidget")
    assert found.absent == {"plorkwidget"}
    assert found.totals["garden"] == 1


def test_a_later_rank_is_less_evidence() -> None:
    corpus = Counting({f"T{n}": "zygote" for n in range(9)})
    found = searched(corpus, "a zygote")
    values = [candidate.evidence["zygot"] for candidate in found.candidates.values()]
    assert values[0] == 1.0
    assert values == sorted(values, reverse=True)
    assert values[-1] < 1.0


def test_what_was_found_before_time_ran_out_stays() -> None:
    corpus = Counting({"A": "matsuyama zygote"}, patience=1)
    fulltext = FullText(corpus, keywords(QUESTION, "en").by_rarity(), Deadline(None))
    with pytest.raises(DeadlineExceeded):
        fulltext.run()
    assert set(fulltext.candidates) == {"A"}
    assert len(fulltext.steps) == 1


def test_no_words_no_search() -> None:
    corpus = Counting({"A": "x"})
    FullText(corpus, (), Deadline(None)).run()
    assert corpus.queries == []


def test_where_nothing_is_known_of_words_their_hits_are_counted() -> None:
    texts = {f"T{n}": "pabitula" for n in range(50)} | {"right": "pabitula zomotaka"}
    corpus = Counting(texts, articles=60)
    terms = keywords("nela pabitula zomotaka", "xx").by_rarity()
    fulltext = FullText(corpus, terms, Deadline(None), counted=True)
    fulltext.run()
    weights = {term.text: term.weight for term in fulltext.terms}
    assert weights["zomotaka"] > weights["pabitula"]
    assert fulltext.terms[0].text == "zomotaka"
    assert "right" in fulltext.candidates


def crowd(question: str, texts: dict[str, str], **options: int) -> FullText:
    """The searches of a question on an engine that puts these texts last, after 300 others."""
    fulltext = FullText(
        Counting({f"T{n}": "matsuyama zygote gardener" for n in range(300)} | texts, **options),
        keywords(question, "en").by_rarity(),
        Deadline(None),
        long_words=("most", "between", "while", "during"),
    )
    fulltext.run()
    return fulltext


def titles(candidates: list[Candidate]) -> set[str]:
    return {candidate.hit.title for candidate in candidates}


def test_among_many_hits_those_that_hold_the_words_of_long_texts_are_asked_for() -> None:
    fulltext = crowd(CROWDED, {"right": "matsuyama zygote most between while during"})
    assert "right" not in fulltext.candidates
    (terms,) = fulltext.truncated()
    assert titles(fulltext.long(terms)) == {"right"}
    assert fulltext.candidates["right"].evidence["zygot"] > 0
    asked = len(fulltext.steps)
    assert fulltext.long(terms) == []
    assert len(fulltext.steps) == asked, "the same is not asked twice"


def test_where_no_text_holds_all_of_these_words_half_of_them_do() -> None:
    fulltext = crowd(CROWDED, {"right": "matsuyama zygote most between"})
    (terms,) = fulltext.truncated()
    assert titles(fulltext.long(terms)) == {"right"}


def test_an_index_without_such_words_is_not_asked_again() -> None:
    class Deaf(Counting):
        def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
            kept = [w for w in query.split() if w not in ("most", "between", "while", "during")]
            return super().search(" ".join(kept), limit, deadline)

    corpus = Deaf({f"T{n}": "matsuyama zygote gardener" for n in range(300)})
    terms = keywords(QUESTION, "en").by_rarity()
    fulltext = FullText(corpus, terms, Deadline(None), long_words=("most", "between"))
    fulltext.run()
    fulltext.long(terms[:2])
    asked = len(corpus.queries)
    assert fulltext.long(terms[:1]) == []
    assert len(corpus.queries) == asked


def test_an_estimate_is_no_proof_that_hits_were_left() -> None:
    class Vague(Counting):
        def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
            found = super().search(query, limit, deadline)
            return Hits(found.hits, 40 if found.hits else 0)

    vague = searched(Vague({f"T{n}": "matsuyama zygote" for n in range(8)}), CROWDED)
    assert not vague.truncated(), "eight hits came where ten were asked for"


def test_an_equal_estimate_does_not_mean_that_the_words_are_left_out() -> None:
    class Vague(Counting):
        def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
            return Hits(super().search(query, limit, deadline).hits, 20)

    texts = {f"T{n}": "matsuyama zygote" for n in range(18)}
    texts |= {"L0": "matsuyama zygote most between while during"}
    terms = keywords(CROWDED, "en").by_rarity()
    words = ("most", "between", "while", "during")
    fulltext = FullText(Vague(texts), terms, Deadline(None), long_words=words)
    fulltext.run()
    assert titles(fulltext.long(terms[:2])) == {"L0"}
    assert titles(fulltext.long(terms[:1])) == {"L0"}


def test_where_no_text_is_long_enough_more_words_are_not_tried() -> None:
    fulltext = crowd(CROWDED, {})
    terms = fulltext.terms
    asked = len(fulltext.steps)
    assert fulltext.long(terms[:1]) == []
    assert len(fulltext.steps) == asked + 2, "all of the words, then half of them"
    assert fulltext.long(terms[:2]) == []
    assert len(fulltext.steps) == asked + 2


def test_nothing_is_crowded_where_all_hits_were_taken() -> None:
    assert crowd(CROWDED, {}).truncated()
    assert not crowd(CROWDED, {}, articles=1000).truncated(), "a small corpus"
    few = searched(Counting({"A": "zygote matsuyama", "B": "zygote matsuyama"}), CROWDED)
    assert not few.truncated()


def test_the_rarest_words_are_asked_for_where_their_hits_were_not_all_taken() -> None:
    texts = {f"G{n}": "gardener" for n in range(300)} | {"A": "matsuyama zygote"}
    found = searched(Counting(texts), "Did the gardener of Matsuyama paint a zygote?")
    groups = [{term.text for term in group} for group in found.rarest()]
    assert {"Matsuyama", "zygote"} not in groups, "its one hit was taken"
    assert groups
    assert all(len(group) <= 2 for group in groups)
    assert not searched(Counting(texts, articles=1000), QUESTION).rarest()
