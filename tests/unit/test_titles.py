"""Which phrases of a question may be titles, and how a title fits it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.retrieval.keywords import keywords
from infoforge.retrieval.titles import beginnings, fit, phrases, separated, split_title


def best(question: str, language: str = "en", most: int = 3) -> list[str]:
    return phrases(keywords(question, language), most)


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ('Who wrote "the cat of the moon"?', "the cat of the moon"),
        ("Wer schrieb „ich der Kater“?", "ich der Kater"),
        ("Кто написал «белые ночи»?", "белые ночи"),
        ("《狂人日记》是谁写的", "狂人日记"),
        ("「坊っちゃん」は誰が書いた", "坊っちゃん"),
    ],
)
def test_a_quoted_phrase_comes_first(question: str, phrase: str) -> None:
    assert best(question, most=1) == [phrase]


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("Who wrote the Lord of the Rings first?", "Lord of the Rings"),
        ("When was Natsume Sōseki born?", "Natsume Sōseki"),
        ("Is Alcock & Brown a firm?", "Alcock & Brown"),
        ("When did Apollo 11 land?", "Apollo 11"),
        ("Natsume Sōseki was born when?", "Natsume Sōseki"),
        ("What was Schindler's List about?", "Schindler's List"),
        ("How high is Mount Everest in the Himalayas?", "Mount Everest in the Himalayas"),
    ],
)
def test_a_run_of_capitals_is_a_phrase_with_its_small_words(question: str, phrase: str) -> None:
    assert phrase in best(question, most=2)


def test_neighbouring_words_and_single_words_follow() -> None:
    found = best("how does the steam engine work in winter", most=10)
    assert "steam engine" in found
    assert {"steam", "engine", "winter"} <= set(found)
    assert not any("the" in phrase.split() for phrase in found)


def test_a_first_capital_alone_makes_no_title() -> None:
    assert "Describe" not in best("Describe the river Kizu", most=1)


def test_numbers_alone_are_no_titles_and_the_most_is_the_most() -> None:
    assert "1914" not in best("what was in 1914", most=10)
    assert len(best("steam engine winter summer castle bridge", most=2)) == 2


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Kokoro (novel)", ("Kokoro", "novel")),
        ("Kokoro", ("Kokoro", "")),
        ("心（小说）", ("心", "小说")),
        ("(What's the Story) Morning Glory?", ("(What's the Story) Morning Glory?", "")),
        ("(untitled)", ("(untitled)", "")),
        ("", ("", "")),
    ],
)
def test_a_qualifier_is_split_off(title: str, expected: tuple[str, str]) -> None:
    assert split_title(title) == expected


def test_a_title_of_the_questions_words_fits() -> None:
    asked = keywords("Who wrote the novel Kokoro?", "en")
    title = fit("Kokoro (novel)", asked)
    assert title.exact
    assert title.covered == title.qualified == 1.0
    assert not title.foreign
    assert title.mass > 0


def test_another_qualifier_is_foreign() -> None:
    asked = keywords("Who wrote the novel Kokoro?", "en")
    album = fit("KoKoro (album)", asked)
    assert album.foreign
    assert album.qualified == 0
    assert not album.exact  # another spelling
    assert fit("Kokoro (album)", asked).exact


def test_a_title_that_the_question_has_half_of_is_half_covered() -> None:
    asked = keywords("When was Sōseki born?", "en")
    assert fit("Natsume Sōseki", asked).covered == 0.5
    assert fit("Natsume Sōseki", asked).mass == fit("Sōseki", asked).mass
    assert fit("Botchan", asked).mass == fit("Botchan", asked).covered == 0


def test_accents_and_inflections_fit_but_are_not_exact() -> None:
    asked = keywords("the steam engines of Soseki", "en")
    assert fit("Steam engine", asked).covered == 1.0
    assert not fit("Steam engine", asked).exact
    assert fit("Sōseki", asked).covered == 1.0
    assert not fit("Sōseki", asked).exact


def test_a_title_inside_a_longer_word_does_not_stand_in_the_question() -> None:
    asked = keywords("The Kokoros of Kokoro", "en")
    assert fit("Kokoro", asked).exact
    assert not fit("Kokor", asked).exact
    assert not fit("Kokoro", keywords("The Kokoros are here", "en")).exact


@given(st.text(max_size=60), st.text(max_size=100), st.sampled_from(["en", "de", "zh", ""]))
def test_no_title_and_no_question_raise(title: str, question: str, language: str) -> None:
    asked = keywords(question, language)
    found = fit(title, asked)
    assert 0 <= found.covered <= 1
    assert 0 <= found.qualified <= 1
    assert all(phrase.strip() for phrase in phrases(asked, 5))


THAI = "ประวัติวัดพระแก้วสร้างเมื่อไร"
LAO = "ຫຼວງພະບາງຢູ່ໃສ"


@pytest.mark.parametrize(
    ("question", "title"),
    [
        (THAI, "วัดพระแก้ว"),
        (LAO, "ຫຼວງພະບາງ"),
        ("តើទន្លេសាបមានប្រវែងប៉ុន្មាន", "ទន្លេសាប"),
        ("မန္တလေးမြို့ကို ဘယ်သူတည်ခဲ့သလဲ", "မန္တလေးမြို့"),
        ("ལྷ་ས་གང་དུ་ཡོད།", "ལྷ་ས"),
    ],
)
def test_a_title_begins_at_one_of_the_letters_of_a_question_without_spaces(
    question: str, title: str
) -> None:
    at = question.index(title)
    assert any(o == at and title.startswith(t[0]) for o, t in beginnings(question, 40))
    apart = separated(question, [title])
    assert title in apart.split("\u200b")
    assert apart.replace("\u200b", "") == question
    assert fit(title, keywords(apart, "th")).exact


def test_the_longest_of_overlapping_titles_is_separated() -> None:
    assert separated(THAI, ["พระแก้ว", "วัดพระแก้ว", "วัด"]).split("\u200b")[1] == "วัดพระแก้ว"


def test_a_question_with_spaces_between_words_has_no_such_beginnings() -> None:
    assert beginnings("Where is the river Kizu?", 9) == []
    assert separated("Where is the river Kizu?", ["Kizu"]) == "Where is the river Kizu?"
