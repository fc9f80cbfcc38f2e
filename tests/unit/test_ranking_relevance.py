"""One list by the texts themselves, and the gate that keeps what does not match out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.records import Article, Relevance, Section
from infoforge.retrieval.keywords import keywords
from infoforge.retrieval.matching import Occurrence
from infoforge.retrieval.ranking import Ranked, best_window, score
from infoforge.retrieval.relevance import reason, split


def article(title: str, *texts: str, **more: object) -> Article:
    sections = tuple(Section("" if n == 0 else f"Part {n}", text) for n, text in enumerate(texts))
    made = Article("wiki", title.replace(" ", "_"), title, "u", "2026-06", "en", sections)
    return replace(made, **more)  # type: ignore[arg-type]


def ranked(question: str, *articles: Article, language: str = "en") -> list[Ranked]:
    asked = keywords(question, language)
    return sorted((score(a, asked, {}) for a in articles), key=lambda r: -r.scores.total)


def order(question: str, *articles: Article) -> list[str]:
    return [item.article.title for item in ranked(question, *articles)]


NOVEL = article(
    "Kokoro (novel)", "Kokoro is a novel by the author Natsume Sōseki. He wrote it in 1914."
)
ALBUM = article("KoKoro (album)", "KoKoro is an album by a band of four. It was sold in 2004.")
SOSEKI = article("Natsume Sōseki", "Natsume Sōseki was a novelist born in 1867. He wrote Kokoro.")
FILLER = "The weather was mild and the harvest came late that year in the valley. " * 40


def test_the_article_on_the_subject_comes_before_one_that_names_it() -> None:
    assert order("Who wrote the novel Kokoro?", ALBUM, SOSEKI, NOVEL)[0] == "Kokoro (novel)"
    assert order("When was Natsume Sōseki born?", ALBUM, SOSEKI, NOVEL)[0] == "Natsume Sōseki"


def test_exact_spelling_beats_a_folded_one() -> None:
    text = "A work of that name, in four parts."
    for one, other in (("KoKoro", "Kokoro"), ("Kokoro", "KoKoro")):
        assert order(f"What is {one}?", article(other, text), article(one, text))[0] == one


def test_the_questions_word_for_it_beats_another_qualifier() -> None:
    text = "Kizu, of which the river and the film are known."
    found = order("Where is the river Kizu?", article("Kizu (film)", text),
                  article("Kizu (river)", text))  # fmt: skip
    assert found[0] == "Kizu (river)"


@pytest.mark.parametrize("title", ["List of novels of Japan", "1914", "Liste der Romane", "1910s"])
def test_lists_and_bare_years_sink(title: str) -> None:
    text = "The novel Kokoro was published by Sōseki."
    question = "When was the novel published by Soseki?"
    item = ranked(question, article(title, text))[0]
    assert item.scores.demoted
    assert order(question, article(title, text), article("Sanshiro story", text))[0] != title


def test_a_list_that_is_asked_for_does_not_sink() -> None:
    item = ranked("Give the list of novels", article("List of novels", "Kokoro and others."))[0]
    assert not item.scores.demoted


def test_words_close_together_say_more_than_words_far_apart() -> None:
    near = article("A", FILLER + "The gardener of Matsuyama drew a zygote. " + FILLER)
    far = article("B", "A gardener. " + FILLER + "Matsuyama. " + FILLER + "A zygote.")
    assert order("gardener of Matsuyama with a zygote", far, near)[0] == "A"


def test_words_in_one_sentence_say_more_than_words_in_one_paragraph() -> None:
    rest = "The weather was mild and the harvest came late that year. " * 3
    sentence = article("A", f"The gardener of Matsuyama drew a zygote. {rest}")
    paragraph = article("B", f"A gardener. {rest} Matsuyama. {rest} A zygote.")
    found = {r.article.title: r.scores for r in ranked("gardener Matsuyama zygote", sentence,
                                                       paragraph)}  # fmt: skip
    assert found["A"].window == found["B"].window
    assert found["A"].sentence > found["B"].sentence
    assert found["A"].total > found["B"].total


def test_neighbouring_words_count_in_the_order_of_the_question() -> None:
    question = "Was the steam engine of Matsuyama loud?"
    same = article("A", "It was loud. The steam engine of Matsuyama ran.")
    turned = article("B", "It was loud. Matsuyama ran the engine by steam.")
    found = {r.article.title: r.scores for r in ranked(question, same, turned)}
    assert found["A"].window == found["B"].window
    assert found["A"].phrases > found["B"].phrases == 0.0
    assert found["A"].total > found["B"].total


def test_neighbours_may_be_inflected_and_a_little_apart() -> None:
    question = "Which steam engines ran?"
    assert ranked(question, article("A", "A steam engine stood there."))[0].scores.phrases > 0
    near = article("B", "The steam of an engine stood there.")
    far = article("C", "The steam of what they called a good engine stood there.")
    assert ranked(question, near)[0].scores.phrases > 0
    assert ranked(question, far)[0].scores.phrases == 0


def test_a_stub_sinks_among_thousands_of_articles_alone() -> None:
    asked = keywords("the zygote of Matsuyama", "en")
    lead = "The zygote of Matsuyama. "
    lengths = [score(article("A", lead + "x " * n), asked, {}, large=True) for n in (9, 900, 9000)]
    stubs = [item.scores.stub for item in lengths]
    assert stubs[0] == 1.0 > stubs[1] > stubs[2] == 0.0
    for item in lengths:
        plain = score(item.article, asked, {})
        assert plain.scores.stub == 0.0
        assert item.scores.total == pytest.approx(plain.scores.total - 0.3 * item.scores.stub)


def test_han_says_more_in_fewer_characters() -> None:
    asked = keywords("夏目漱石", "zh")
    han, latin = (
        score(article("A", text * 170), asked, {}, large=True) for text in ("夏目漱石", "lang ")
    )
    assert han.scores.stub < latin.scores.stub


def test_what_the_searches_said_counts() -> None:
    asked = keywords("the zygote of Matsuyama", "en")
    plain = score(NOVEL, asked, {})
    told = score(NOVEL, asked, {"zygot": 1.0})
    assert told.scores.total > plain.scores.total


def test_a_slip_in_a_name_costs_little() -> None:
    right = ranked("the novel Kokoro", NOVEL)[0].scores
    slip = ranked("the novel Kokorro", NOVEL)[0].scores
    assert 0 < slip.coverage < right.coverage
    assert reason(ranked("the novel Kokorro", NOVEL)[0], slip.total) == ""


def test_the_kind_that_is_asked_for_is_looked_for_near() -> None:
    with_year = article("X", "The harbour opened in 1914.")
    without = article("Y", "The harbour opened in spring.")
    question = "When was the harbour opened?"
    assert ranked(question, with_year)[0].scores.expected
    assert not ranked(question, without)[0].scores.expected
    assert order(question, without, with_year)[0] == "X"


def test_shares_are_shares() -> None:
    for question in ("Who wrote the novel Kokoro?", "1914", "qzxvbnm", "the of"):
        for item in ranked(question, NOVEL, ALBUM, SOSEKI):
            scores = item.scores
            for value in (scores.window, scores.sentence, scores.phrases, scores.coverage,
                          scores.lead, scores.title):  # fmt: skip
                assert 0 <= value <= 1.0001


def test_sections_are_found_by_their_offset() -> None:
    item = ranked("Kokoro", article("K", "Lead text.", "More of Kokoro."))[0]
    assert item.section(0) == 0
    assert item.section(item.text.index("More")) == 1
    assert item.text == "Lead text.\nMore of Kokoro."


def test_age_takes_from_a_note_and_nearness_adds() -> None:
    question = "the novel Kokoro"
    asked = keywords(question, "en")
    plain = score(NOVEL, asked, {}).scores.total
    assert score(replace(NOVEL, relevance=Relevance(freshness=0.5)), asked, {}).scores.total < plain
    assert (
        score(replace(NOVEL, relevance=Relevance(similarity=0.9)), asked, {}).scores.total > plain
    )


def test_an_article_in_another_script_is_scored_by_it() -> None:
    text = article("狂人日记", "《狂人日记》是鲁迅写的小说。", language="zh")
    other = article("小说", "小说是一种文学。", language="zh")
    found = ranked("谁写了小说狂人日记", text, other, language="zh")
    assert found[0].article.title == "狂人日记"


# --- the gate


def passed(question: str, *articles: Article) -> list[str]:
    return [item.article.title for item in split(ranked(question, *articles))[0]]


BIOLOGY = article(
    "Zygote", "A zygote is a cell formed when two gametes fuse. The city museum shows one."
)


def test_what_answers_passes() -> None:
    assert passed("Who wrote the novel Kokoro?", NOVEL, BIOLOGY) == ["Kokoro (novel)"]


@pytest.mark.parametrize(
    "question",
    [
        "qzxvbnm plorkwidget fnargle",
        "qzxvbnm museum",
        "What is a plorkwidget in the city?",
        "Who is Frobnaxis Qwertlemund of the city?",
    ],
)
def test_nonsense_passes_nowhere_even_beside_a_common_word(question: str) -> None:
    assert passed(question, NOVEL, SOSEKI, BIOLOGY) == []


def test_one_common_word_is_no_match() -> None:
    question = "Which company built the lighthouse of Ardmore near the museum?"
    assert passed(question, BIOLOGY) == []


def test_a_poor_match_beside_a_good_one_is_left_out() -> None:
    question = "Who wrote the novel Kokoro by Natsume Sōseki?"
    found = split(ranked(question, NOVEL, ALBUM, BIOLOGY))
    assert found[0][0].article.title == "Kokoro (novel)"
    assert "Zygote" in [item.article.title for item in found[1]]


def test_a_note_that_is_near_in_meaning_passes_without_the_words() -> None:
    note = article("Boiler", "Call the plumber.", relevance=Relevance(0.8, near=True))
    assert passed("Who mends the heating?", note) == ["Boiler"]
    assert passed("Who mends the heating?", replace(note, relevance=None)) == []


def test_nothing_is_split_into_nothing() -> None:
    assert split([]) == ([], [])


def test_the_reason_is_said() -> None:
    for question in ("qzxvbnm plorkwidget", "the lighthouse keeper of Ardmore ate bananas"):
        item = ranked(question, BIOLOGY)[0]
        assert reason(item, item.scores.total) in {"invented", "names", "coverage", "window"}


# --- the window


def test_the_best_window_holds_the_most_distinct_weight() -> None:
    places = [
        Occurrence(0, 5, 0, 1.0),
        Occurrence(10, 15, 0, 1.0),
        Occurrence(500, 505, 1, 1.0),
        Occurrence(520, 525, 0, 1.0),
    ]
    weight, at = best_window(places, [1.0, 2.0], 100)
    assert weight == pytest.approx(3.0)
    assert at == 500
    assert best_window([], [], 100) == (0.0, 0)


def test_a_word_longer_than_any_window_is_found() -> None:
    word = "qwertasdfg" * 80
    item = ranked(f"what is {word}", article("X", f"The {word} is here."))[0]
    assert item.scores.window > 0


@given(
    st.lists(
        st.tuples(st.integers(0, 300), st.integers(0, 2), st.sampled_from([0.3, 0.8, 1.0])),
        max_size=12,
    )
)
def test_the_best_window_is_the_best_of_all(raw: list[tuple[int, int, float]]) -> None:
    places = [Occurrence(at, at + 3, term, share) for at, term, share in sorted(raw)]
    weights = [1.0, 2.0, 4.0]
    best = 0.0
    for first in places:
        held: dict[int, float] = {}
        for place in places:
            if place.start >= first.start and place.end - first.start <= 50:
                held[place.term] = max(held.get(place.term, 0.0), place.share)
        best = max(best, sum(weights[t] * s for t, s in held.items()))
    assert best_window(places, weights, 50)[0] == pytest.approx(best)


@given(st.text(max_size=80), st.text(max_size=40), st.text(max_size=300))
def test_no_text_raises(question: str, title: str, text: str) -> None:
    item = score(article(title, text), keywords(question, "en"), {})
    assert isinstance(reason(item, item.scores.total), str)


LANGUAGES = {
    "C": "C is a programming language. It was designed by Ritchie in 1972.",
    "C++": "C++ is a programming language. It was designed by Stroustrup in 1985.",
    "C#": "C# is a programming language. It was designed by Hejlsberg in 2000.",
    "F#": "F# is a programming language. It was designed by Syme in 2005.",
}


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_name_of_one_letter_and_signs_is_told_from_the_others(name: str) -> None:
    articles = [article(f"{n} (programming language)", text) for n, text in LANGUAGES.items()]
    for question in (f"Who designed {name}?", f"When was the language {name} designed?"):
        assert order(question, *articles)[0] == f"{name} (programming language)", question


def test_an_initial_and_the_word_i_are_no_names_of_one_letter() -> None:
    for question in ("Who was John F. Kennedy?", "What can I do in the harbour?"):
        assert all(len(term.text) > 1 for term in keywords(question, "en").terms)
    assert "C" in [term.text for term in keywords("What is vitamin C good for?", "en").terms]
