"""Which searches are made on an engine that only knows AND."""

from __future__ import annotations

import pytest

from infoforge.contract import Notice
from infoforge.corpus.base import CorpusError, Deadline, DeadlineExceeded
from infoforge.records import Article, CorpusInfo, Hit, Hits, Section
from infoforge.retrieval.find import find
from infoforge.retrieval.keywords import keywords
from infoforge.retrieval.relax import Candidate, FullText

BIG = 5_000_000


class Counting:
    """An engine with AND over a few texts that counts what it is asked."""

    name = "wiki"

    def __init__(self, texts: dict[str, str], articles: int = BIG, patience: int = 99) -> None:
        self.texts = {title: set(text.lower().split()) for title, text in texts.items()}
        self.articles = articles
        self.patience = patience
        self.queries: list[str] = []
        self.limits: list[int] = []

    def describe(self) -> CorpusInfo:
        return CorpusInfo("wiki", "zim", "Wiki", ("en",), articles=self.articles)

    def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
        if len(self.queries) >= self.patience:
            raise DeadlineExceeded("time is up")
        self.queries.append(query)
        self.limits.append(limit)
        wanted = set(query.lower().split())
        hits = [Hit("wiki", title, title) for title, has in self.texts.items() if wanted <= has]
        return Hits(tuple(hits[:limit]), len(hits))

    def titles(self, phrase: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        return ()

    def read(self, path: str, deadline: Deadline) -> Article | None:
        return None


def searched(corpus: Counting, question: str, **options: bool) -> FullText:
    fulltext = FullText(corpus, keywords(question, "en").by_rarity(), Deadline(None), **options)
    fulltext.run()
    return fulltext


QUESTION = "Did the gardener of Matsuyama paint a zygote near the harbour?"


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


CROWDED = "Was there a zygote in Matsuyama?"


def test_among_many_hits_those_that_hold_the_words_of_long_texts_are_asked_for() -> None:
    fulltext = crowd(CROWDED, {"right": "matsuyama zygote most between while during"})
    assert "right" not in fulltext.candidates
    (terms,) = fulltext.crowded()
    assert titles(fulltext.long(terms)) == {"right"}
    assert fulltext.candidates["right"].evidence["zygot"] > 0
    asked = len(fulltext.steps)
    assert fulltext.long(terms) == []
    assert len(fulltext.steps) == asked, "the same is not asked twice"


def test_where_no_text_holds_all_of_these_words_half_of_them_do() -> None:
    fulltext = crowd(CROWDED, {"right": "matsuyama zygote most between"})
    (terms,) = fulltext.crowded()
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
    assert not vague.crowded(), "eight hits came where ten were asked for"


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
    assert crowd(CROWDED, {}).crowded()
    assert not crowd(CROWDED, {}, articles=1000).crowded(), "a small corpus"
    few = searched(Counting({"A": "zygote matsuyama", "B": "zygote matsuyama"}), CROWDED)
    assert not few.crowded()


def test_the_rarest_words_are_asked_for_where_their_hits_were_not_all_taken() -> None:
    texts = {f"G{n}": "gardener" for n in range(300)} | {"A": "matsuyama zygote"}
    found = searched(Counting(texts), "Did the gardener of Matsuyama paint a zygote?")
    groups = [{term.text for term in group} for group in found.rarest()]
    assert {"Matsuyama", "zygote"} not in groups, "its one hit was taken"
    assert groups
    assert all(len(group) <= 2 for group in groups)
    assert not searched(Counting(texts, articles=1000), QUESTION).rarest()


LONG_TEXT = " and so on" * 1_200
"""What makes a text no stub."""


class Readable(Counting):
    """The same engine, whose texts can be read; each is long unless the engine is ``short``."""

    short = False

    def read(self, path: str, deadline: Deadline) -> Article | None:
        text = " ".join(sorted(self.texts[path])) + ("" if self.short else LONG_TEXT)
        section = Section("", text)
        return Article("wiki", path, path, f"zim://x/{path}", "2026-06", "en", (section,))


def test_more_articles_are_read_where_more_hold_all_words() -> None:
    texts = {f"T{n}": "matsuyama gardener paint zygote harbour" for n in range(30)}
    read = []
    for articles in (10_000, BIG):
        corpus = Readable(texts, articles=articles)
        found = find(QUESTION, [corpus], deadline=Deadline(None), warn=print, language="en")
        read.append(len(found.ranked) + len(found.refused))
    assert read == [5, 7]


def test_short_articles_that_fit_do_not_end_the_search_for_long_ones() -> None:
    texts = {f"T{n}": "matsuyama gardener paint zygote harbour" for n in range(30)}
    read = []
    for short in (False, True):
        corpus = Readable(texts)
        corpus.short = short
        found = find(QUESTION, [corpus], deadline=Deadline(None), warn=print, language="en")
        read.append(len(found.ranked) + len(found.refused))
    assert read[0] == 7 < read[1]


def test_the_long_article_is_found_behind_many_short_ones() -> None:
    texts = {f"T{n}": "matsuyama zygote" for n in range(300)}
    texts["right"] = "matsuyama zygote most between while during"
    found = find(CROWDED, [Readable(texts)], deadline=Deadline(None), warn=print, language="en")
    assert "right" in {ranked.article.title for ranked in found.ranked}


class Slow(Readable):
    """The same, whose time is up after so many articles."""

    left = 0

    def read(self, path: str, deadline: Deadline) -> Article | None:
        if self.left <= 0:
            raise DeadlineExceeded("time is up")
        self.left -= 1
        return super().read(path, deadline)


def test_time_that_runs_out_while_reading_is_told_once() -> None:
    told: list[Notice] = []
    corpus = Slow({f"T{n}": "matsuyama gardener paint" for n in range(30)})
    corpus.left = 2
    found = find(QUESTION, [corpus], deadline=Deadline(None), warn=told.append, language="en")
    assert len(found.ranked) == 2
    assert found.partial
    assert [notice.code for notice in told] == ["deadline"]


def test_time_that_runs_out_among_the_long_articles_is_no_loss() -> None:
    told: list[Notice] = []
    texts = {f"T{n}": "matsuyama zygote gardener" for n in range(300)}
    texts |= {f"L{n}": "matsuyama zygote most between while during" for n in range(5)}
    corpus = Slow(texts)
    corpus.left = 9  # seven at first, two of the long ones
    found = find(CROWDED, [corpus], deadline=Deadline(None), warn=told.append, language="en")
    assert {"L0", "L1"} <= {ranked.article.title for ranked in found.ranked}
    assert not found.partial
    assert told == []


def test_the_long_articles_take_no_more_time_than_is_left() -> None:
    class Clock(Deadline):
        """No time is left as soon as a long article was asked for."""

        def left(self) -> float:
            return 0.0 if any("between" in query for query in corpus.queries) else 1e9

    texts = {f"T{n}": "matsuyama zygote" for n in range(300)}
    texts |= {f"L{n}": "matsuyama zygote most between while during" for n in range(5)}
    corpus = Readable(texts)
    found = find(CROWDED, [corpus], deadline=Clock(None), warn=print, language="en")
    read = {ranked.article.title for ranked in (*found.ranked, *found.refused)}
    assert read
    assert not any(title.startswith("L") for title in read)
    assert sum("between" in query for query in corpus.queries) == 1


def test_long_articles_are_not_asked_for_when_no_time_is_left() -> None:
    class Over(Deadline):
        def left(self) -> float:
            return 0.0

    corpus = Readable({f"T{n}": "matsuyama zygote" for n in range(300)})
    found = find(CROWDED, [corpus], deadline=Over(None), warn=print, language="en")
    assert found.ranked
    assert not any("between" in query for query in corpus.queries)


def test_long_articles_are_read_beside_the_others_not_in_their_place() -> None:
    pairs = ("matsuyama zygote", "matsuyama gardener", "zygote gardener", "zygote harbour")
    texts = {f"{pair} {n}": pair for pair in pairs for n in range(60)}
    plain = Readable(texts)
    texts |= {f"L{n}": "matsuyama zygote most between while during" for n in range(8)}
    both = Readable(texts)
    read = []
    for corpus in (plain, both):
        found = find(QUESTION, [corpus], deadline=Deadline(None), warn=print, language="en")
        titles_read = [ranked.article.title for ranked in (*found.ranked, *found.refused)]
        read.append(sum(not title.startswith("L") for title in titles_read))
    assert read[0] == read[1] >= 20


@pytest.mark.parametrize("fits", [True, False])
def test_the_rarest_words_are_asked_for_only_while_nothing_fits(fits: bool) -> None:
    words = "matsuyama zygote gardener harbour paint" if fits else "matsuyama zygote"
    texts = {f"T{n}": words for n in range(300)}
    corpus = Readable(texts)
    find(QUESTION, [corpus], deadline=Deadline(None), warn=print, language="en")
    long = [set(query.lower().split()) for query in corpus.queries if "between" in query]
    assert long, "the search with the fewest hits is always asked for"
    assert any({"zygote", "matsuyama"} - words for words in long) == (not fits)


def test_a_corpus_that_fails_is_told_of_once_and_not_asked_again() -> None:
    class Broken(Readable):
        def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
            if "between" in query:
                raise CorpusError("the server is gone")
            return super().search(query, limit, deadline)

    told: list[Notice] = []
    corpus = Broken({f"T{n}": "matsuyama zygote" for n in range(300)})
    found = find(QUESTION, [corpus], deadline=Deadline(None), warn=told.append, language="en")
    assert found.partial
    assert [notice.code for notice in told] == ["corpus_failed"]


def test_an_article_that_cannot_be_read_is_tried_once() -> None:
    class Torn(Readable):
        def read(self, path: str, deadline: Deadline) -> Article | None:
            raise CorpusError(f"{path} is damaged")

    told: list[Notice] = []
    corpus = Torn({"A": "matsuyama gardener paint", "B": "matsuyama zygote"})
    find(QUESTION, [corpus], deadline=Deadline(None), warn=told.append, language="en")
    assert sorted(notice.message for notice in told) == ["A is damaged", "B is damaged"]


def test_words_of_another_language_than_the_corpus_has_are_not_asked_for() -> None:
    corpus = Readable({f"T{n}": "matsuyama zygote" for n in range(300)})
    find(CROWDED, [corpus], deadline=Deadline(None), warn=print, language="de")
    assert not any("zwischen" in query for query in corpus.queries)


def test_a_corpus_that_knows_meanings_is_not_asked_for_long_texts() -> None:
    class Meaning(Readable):
        def nearest(self, question: str, count: int, deadline: Deadline) -> tuple[Hit, ...]:
            return ()

    corpus = Meaning({f"T{n}": "matsuyama zygote" for n in range(300)})
    found = find(CROWDED, [corpus], deadline=Deadline(None), warn=print, language="en")
    assert not any("between" in query for query in corpus.queries)
    assert all(ranked.scores.stub == 0 for ranked in found.ranked)


def test_time_that_runs_out_in_the_second_round_is_no_loss() -> None:
    texts = {"A": "matsuyama gardener paint", "B": "zygote text"}
    told: list[Notice] = []
    patient = Readable(texts)
    find(QUESTION, [patient], deadline=Deadline(None), warn=told.append, language="en")
    first = Readable(texts, patience=4)
    found = find(QUESTION, [first], deadline=Deadline(None), warn=told.append, language="en")
    assert len(patient.queries) > len(first.queries) == 4
    assert [ranked.article.title for ranked in found.ranked][:1] == ["A"]
    assert not found.partial
    assert told == []


def test_time_that_runs_out_in_the_first_round_is_told() -> None:
    told: list[Notice] = []
    corpus = Readable({"A": "matsuyama gardener paint"}, patience=2)
    found = find(QUESTION, [corpus], deadline=Deadline(None), warn=told.append, language="en")
    assert found.partial
    assert [notice.code for notice in told] == ["deadline"]
