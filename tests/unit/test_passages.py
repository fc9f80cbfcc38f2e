"""From ranked articles to numbered passages inside a budget."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.records import Article, Relevance, Section
from infoforge.retrieval.keywords import keywords
from infoforge.retrieval.passages import passage, passages, shares
from infoforge.retrieval.ranking import Ranked, score
from infoforge.text.sentences import sentences as split_sentences

QUESTION = "Who wrote the novel Kokoro and when was it published?"
ASKED = keywords(QUESTION, "en")
LEAD = "Kokoro is a novel about a student and an old man."
ANSWER = "The novel Kokoro was written by Natsume Sōseki and published in 1914."
FILLER = " ".join(f"Sentence {n} speaks of weather, of rice and of rivers." for n in range(200))


def item(title: str, *sections: tuple[str, str], language: str = "en", **more: object) -> Ranked:
    made = Article(
        "wiki",
        title,
        title,
        f"zim://w/{title}",
        "2026-06",
        language,
        tuple(Section(heading, text) for heading, text in sections),
        **more,  # type: ignore[arg-type]
    )
    return score(made, keywords(QUESTION, language), {})


LONG = item("Kokoro", ("", LEAD + " " + FILLER), ("History", FILLER + " " + ANSWER + " " + FILLER))
SHORT = item("Sōseki", ("", "Natsume Sōseki wrote the novel Kokoro."))


def test_the_lead_and_the_answer_are_kept() -> None:
    text = passage(LONG, ASKED, 600)
    assert text.startswith(LEAD)
    assert ANSWER in text
    assert len(text) <= 600


def test_sentences_are_whole_and_gaps_are_marked() -> None:
    text = passage(LONG, ASKED, 600)
    whole = LEAD + " " + FILLER + " " + FILLER + " " + ANSWER + " " + FILLER
    assert "…" in text or "[" in text
    for line in text.split("\n"):
        for piece in line.removeprefix("… ").split(" … "):
            plain = re.sub(r"^\[[^\]]*\] ", "", piece)
            assert plain in whole
            assert plain.endswith(".")


def test_a_stretch_from_another_section_stands_under_its_heading() -> None:
    assert "[History] " in passage(LONG, ASKED, 600)


def test_an_article_that_fits_is_whole_with_its_headings_where_there_is_room() -> None:
    whole = item("K", ("", "Lead of Kokoro."), ("Life", "Text of the novel."))
    assert passage(whole, ASKED, 500).replace("[Life]\n", "") == whole.text


def test_both_parts_of_a_question_get_their_passage() -> None:
    who = "The novel Kokoro was written by Natsume Sōseki."
    when = "It was published in 1914 in a newspaper."
    two = item("Kokoro", ("", f"{FILLER} {who} {FILLER} {when} {FILLER}"))
    text = passage(two, ASKED, 700)
    assert who in text
    assert when in text


def test_key_value_lines_are_taken_as_lines() -> None:
    facts = "\n".join(f"Fact {n}: value {n}" for n in range(100))
    box = item("Kokoro", ("", LEAD + " " + FILLER), ("", f"{facts}\nPublished: 1914\n{facts}"))
    assert "Published: 1914" in passage(box, ASKED, 500).split("\n") or "Published: 1914" in (
        passage(box, ASKED, 500)
    )


def test_sources_are_numbered_from_one_and_no_more_than_asked() -> None:
    sources = passages([LONG, SHORT, SHORT], ASKED, 2000, 2)
    assert [source.number for source in sources] == [1, 2]
    first = sources[0]
    assert (first.title, first.url, first.corpus, first.date) == (
        "Kokoro", "zim://w/Kokoro", "wiki", "2026-06",
    )  # fmt: skip
    assert passages([], ASKED, 2000) == ()


def test_what_a_short_article_leaves_goes_to_the_others() -> None:
    alone = shares([LONG], 3000)[0]
    beside = shares([SHORT, LONG], 3000)
    assert beside[0] == len(SHORT.text)
    assert beside[1] >= alone - len(SHORT.text) - 1
    assert shares([], 100) == []


def test_the_section_that_is_closest_in_meaning_is_shown() -> None:
    wanted = "Turn the grey wheel behind the stove twice to the left."
    sections = ("", LEAD + " " + FILLER), ("Heating", wanted), ("More", FILLER)
    note = item("N", *sections, relevance=Relevance(focus=(1,)))
    assert wanted in passage(note, ASKED, 500)


def test_one_endless_sentence_is_cut_to_the_room() -> None:
    words = "rice rivers weather " * 400
    endless = item("E", ("", f"{words} published in 1914 was the novel Kokoro and {words}"))
    text = passage(endless, ASKED, 300)
    assert len(text) <= 300
    assert "published in 1914 was the novel Kokoro" in text
    assert set(text.split()) <= set(endless.text.split())


def test_chinese_sentences_are_whole() -> None:
    question = keywords("谁写了小说心", "zh")
    filler = "".join(f"第{n}句说的是天气和河流。" for n in range(200))
    answer = "小说《心》是夏目漱石写的。"
    made = Article(
        "wiki", "心", "心", "u", "2026-06", "zh", (Section("", filler + answer + filler),)
    )
    text = passage(score(made, question, {}), question, 200)
    assert answer in text
    assert len(text) <= 200


sentences = st.lists(
    st.sampled_from(
        [
            LEAD,
            ANSWER,
            "A short one.",
            "Key: value\n",
            "Rice. ",
            "kokoro ",
            "心是小说。",
            "\n",
            "é" * 90,
        ]
    ),
    max_size=40,
)


@given(
    st.lists(st.tuples(sentences, sentences), min_size=1, max_size=4),
    st.integers(1, 3000),
    st.integers(1, 5),
)
def test_the_budget_is_never_exceeded(
    raw: list[tuple[list[str], list[str]]], budget: int, count: int
) -> None:
    items = [
        item(f"T{n}", ("", " ".join(lead)), ("Part", " ".join(rest)))
        for n, (lead, rest) in enumerate(raw)
    ]
    sources = passages(items, ASKED, budget, count)
    assert sum(len(source.text) for source in sources) <= budget
    assert [source.number for source in sources] == list(range(1, min(count, len(items)) + 1))


@pytest.mark.parametrize("budget", [200, 1000, 6000])
def test_a_budget_is_used(budget: int) -> None:
    assert sum(len(s.text) for s in passages([LONG], ASKED, budget)) >= budget * 0.5


def test_a_citation_of_a_pdf_has_the_page_where_the_words_stand() -> None:
    sections = tuple(
        Section("", f"{FILLER} {text}", f"page={number}")
        for number, text in enumerate(("Title.", FILLER, "Kokoro was published in 1914.", ""), 1)
    )
    article = Article("wiki", "K", "Kokoro", "u", "2026-06", "en", sections)
    for budget in (500, 100_000):
        sources = passages([score(article, ASKED, {})], ASKED, budget)
        assert sources[0].url == "u#page=3"


def test_code_keeps_its_indentation_and_its_blank_lines() -> None:
    code = "def kokoro(novel):\n    if novel:\n\n        return novel"
    page = item("Kokoro", ("", FILLER), ("Code", f"{FILLER}\n{code}\n{FILLER}"))
    assert code in passage(page, ASKED, 900)


def test_an_item_of_a_numbered_list_keeps_its_number() -> None:
    entry = "12. The novel Kokoro was published."
    page = item("Kokoro", ("", FILLER), ("List", f"{FILLER}\n{entry}\n{FILLER}"))
    assert entry in passage(page, ASKED, 600)
    assert split_sentences(entry) == [entry]
    assert split_sentences("It has 12. The novel ends.") == ["It has 12.", "The novel ends."]
