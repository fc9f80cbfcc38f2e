"""What is read of what the searches found, and what befalls a search that goes on for longer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.engine import BIG, CROWDED, QUESTION, Readable

from infoforge.ask import nothing_found
from infoforge.contract import CorpusUnavailable, WarningMessage
from infoforge.corpus.base import CorpusError, Deadline, DeadlineExceeded
from infoforge.records import Article, CorpusInfo, Hit, Hits
from infoforge.retrieval.find import find


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
    told: list[WarningMessage] = []
    corpus = Slow({f"T{n}": "matsuyama gardener paint" for n in range(30)})
    corpus.left = 2
    found = find(QUESTION, [corpus], deadline=Deadline(None), warn=told.append, language="en")
    assert len(found.ranked) == 2
    assert found.partial
    assert [warning.code for warning in told] == ["deadline"]


def test_time_that_runs_out_among_the_long_articles_is_no_loss() -> None:
    told: list[WarningMessage] = []
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

    told: list[WarningMessage] = []
    corpus = Broken({f"T{n}": "matsuyama zygote" for n in range(300)})
    found = find(QUESTION, [corpus], deadline=Deadline(None), warn=told.append, language="en")
    assert found.partial
    assert [warning.code for warning in told] == ["corpus_failed"]


def test_an_article_that_cannot_be_read_is_tried_once() -> None:
    class Torn(Readable):
        def read(self, path: str, deadline: Deadline) -> Article | None:
            raise CorpusError(f"{path} is damaged")

    told: list[WarningMessage] = []
    corpus = Torn({"A": "matsuyama gardener paint", "B": "matsuyama zygote"})
    with pytest.raises(CorpusUnavailable):
        find(QUESTION, [corpus], deadline=Deadline(None), warn=told.append, language="en")
    assert sorted(warning.message for warning in told) == ["A is damaged", "B is damaged"]


def test_words_of_another_language_than_the_corpus_has_are_not_asked_for() -> None:
    corpus = Readable({f"T{n}": "matsuyama zygote" for n in range(300)})
    find(CROWDED, [corpus], deadline=Deadline(None), warn=print, language="de")
    assert not any("zwischen" in query for query in corpus.queries)


def test_a_corpus_that_knows_meanings_is_not_asked_for_long_texts() -> None:
    class Meaning(Readable):
        def describe(self) -> CorpusInfo:
            return replace(super().describe(), semantic=True)

        def nearest(self, question: str, count: int, deadline: Deadline) -> tuple[Hit, ...]:
            return ()

    corpus = Meaning({f"T{n}": "matsuyama zygote" for n in range(300)})
    found = find(CROWDED, [corpus], deadline=Deadline(None), warn=print, language="en")
    assert not any("between" in query for query in corpus.queries)
    assert all(ranked.scores.stub == 0 for ranked in found.ranked)


def test_time_that_runs_out_in_the_second_round_is_no_loss() -> None:
    texts = {"A": "matsuyama gardener paint", "B": "zygote text"}
    told: list[WarningMessage] = []
    patient = Readable(texts)
    find(QUESTION, [patient], deadline=Deadline(None), warn=told.append, language="en")
    first = Readable(texts, patience=4)
    found = find(QUESTION, [first], deadline=Deadline(None), warn=told.append, language="en")
    assert len(patient.queries) > len(first.queries) == 4
    assert [ranked.article.title for ranked in found.ranked][:1] == ["A"]
    assert not found.partial
    assert told == []


def test_time_that_runs_out_in_the_first_round_is_told() -> None:
    told: list[WarningMessage] = []
    corpus = Readable({"A": "matsuyama gardener paint"}, patience=2)
    found = find(QUESTION, [corpus], deadline=Deadline(None), warn=told.append, language="en")
    assert found.partial
    assert [warning.code for warning in told] == ["deadline"]


class Redirecting(Readable):
    """The same engine, whose title index knows a redirect that stands in no text."""

    def titles(self, phrase: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        return (Hit("wiki", "Podagra", "Podagra"),) if "podagra" in phrase.lower() else ()

    def read(self, path: str, deadline: Deadline) -> Article | None:
        return super().read("Gout" if path == "Podagra" else path, deadline)


@pytest.mark.parametrize("question", ["What is Podagra?", "podagra", "How is podagra treated?"])
def test_the_title_of_a_redirect_is_a_title_of_the_article(question: str) -> None:
    told: list[WarningMessage] = []
    texts = {"Gout": "gout is a painful swelling of joints treated with rest", "Joint": "a joint"}
    corpus = Redirecting(texts, articles=2)
    found = find(question, [corpus], deadline=Deadline(None), warn=told.append, language="en")
    assert found.ranked, found.refused
    assert found.ranked[0].article.title == "Gout"
    assert told == []


def test_an_article_that_was_read_already_gains_the_title_of_a_redirect() -> None:
    texts = {"Gout": "painful swelling of joints treated with rest"}
    found = find(
        "How is painful podagra treated?",
        [Redirecting(texts, articles=1)],
        deadline=Deadline(None),
        warn=print,
        language="en",
    )
    assert [(r.article.title, r.article.aliases) for r in found.ranked] == [("Gout", ("Podagra",))]


class Unreadable(Readable):
    def read(self, path: str, deadline: Deadline) -> Article | None:
        raise CorpusError(f"damaged at {path}")


def test_articles_that_are_found_and_cannot_be_read_are_not_nothing() -> None:
    corpus = Unreadable({"T": "matsuyama gardener paint zygote harbour"})
    with pytest.raises(CorpusUnavailable, match="found and none of them could be read") as error:
        find(QUESTION, [corpus], deadline=Deadline(None), warn=lambda _: None, language="en")
    assert error.value.code == "articles_unreadable"
    assert "doctor" in error.value.hint


def message(corpus: Readable, question: str = QUESTION) -> str:
    found = find(question, [corpus], deadline=Deadline(None), warn=lambda _: None, language="en")
    assert not found.ranked
    error = nothing_found(found, [corpus.describe()])
    assert "infoforge doctor" in error.hint
    return error.message


def test_nothing_found_says_what_was_searched_and_why_nothing_was_left() -> None:
    class Bare(Readable):
        def describe(self) -> CorpusInfo:
            return replace(super().describe(), fulltext=False)

    class Failing(Readable):
        def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
            if self.queries:
                raise CorpusError("the server closed the connection")
            return super().search(query, limit, deadline)

    nothing = message(Readable({"T": "unrelated"}))
    assert "zygote" in nothing
    assert "no article holds its words" in nothing
    assert "full-text index" in message(Bare({"T": "unrelated"}))
    assert "failed" in message(Failing({"T": "unrelated"}))
    rejected = message(Readable({"T": "harbour"}))
    assert "T, was rejected: " in rejected


class Unspaced(Readable):
    """Titles by their beginnings, texts by whole stretches: so is an index without spaces."""

    def titles(self, phrase: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        found = [Hit("wiki", t, t) for t in self.texts if t.startswith(phrase)]
        return tuple(found[:limit])


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("วัดพระแก้ว", "วัดพระแก้ว"),
        ("วัดพระแก้วสร้างเมื่อไร", "วัดพระแก้ว"),
        ("ประวัติวัดพระแก้ว", "วัดพระแก้ว"),
        ("เชียงใหม่อยู่ที่ไหน", "เชียงใหม่"),
        ("อำเภอนครชัยศรีอยู่ที่ไหน", ""),
    ],
)
def test_the_title_in_a_question_without_spaces_is_found_and_none_else(
    question: str, title: str
) -> None:
    texts = {"วัดพระแก้ว": "วัดพระแก้วเป็นวัดในกรุงเทพมหานคร", "เชียงใหม่": "เชียงใหม่เป็นจังหวัดในภาคเหนือ"}
    found = find(
        question,
        [Unspaced(texts, articles=2)],
        deadline=Deadline(None),
        warn=print,
        language="th",
    )
    assert [r.article.title for r in found.ranked] == ([title] if title else [])


@pytest.mark.parametrize(
    ("question", "language", "title", "text"),
    [
        ("한강의 길이는?", "ko", "한강", "한강은 서울을 흐르는 강이다"),
        ("Milloin Helsingin kaupunki perustettiin?", "fi", "Helsinki",
         "Helsinki on Suomen kaupunki joka perustettiin 1550"),
    ],
)  # fmt: skip
def test_a_title_in_another_form_than_the_questions_is_found(
    question: str, language: str, title: str, text: str
) -> None:
    class Prefixes(Unspaced):
        def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
            return Hits((), 0)  # an index that knows no forms

        def read(self, path: str, deadline: Deadline) -> Article | None:
            article = super().read(path, deadline)
            return article and replace(article, language=language)

        def titles(self, phrase: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
            found = [Hit("wiki", t, t) for t in self.texts if t.lower().startswith(phrase.lower())]
            return tuple(found[:limit])

    corpus = Prefixes({title: text, "Other": "something else"}, articles=2)
    found = find(question, [corpus], deadline=Deadline(None), warn=print, language=language)
    assert [r.article.title for r in found.ranked] == [title]
