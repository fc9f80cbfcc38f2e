"""Which words of a question are worth a search, and what the question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.retrieval.keywords import Term, expects, keywords


def terms(question: str, language: str = "en") -> list[str]:
    return [term.text for term in keywords(question, language).terms]


def term(question: str, text: str, language: str = "en") -> Term:
    return next(t for t in keywords(question, language).terms if t.text == text)


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("Who wrote Kokoro and when was it published?", "en", ["wrote", "Kokoro", "published"]),
        ("What is the capital of Kenya?", "en", ["capital", "Kenya"]),
        ("Was ist die Hauptstadt von Kenia?", "de", ["Hauptstadt", "Kenia"]),
        ("Quelle est la capitale du Kenya ?", "fr", ["capitale", "Kenya"]),
        ("¿Cuál es la capital de Kenia?", "es", ["capital", "Kenia"]),
        ("Qual é a capital do Quênia?", "pt", ["capital", "Quênia"]),
        ("Qual è la capitale del Kenya?", "it", ["capitale", "Kenya"]),
        ("Wat is de hoofdstad van Kenia?", "nl", ["hoofdstad", "Kenia"]),
        ("Какая столица у Кении?", "ru", ["столица", "Кении"]),
    ],
)
def test_stop_words_go_and_the_order_stays(
    question: str, language: str, expected: list[str]
) -> None:
    assert terms(question, language) == expected


def test_a_chinese_question_is_split_and_its_small_words_go() -> None:
    found = terms("谁写了这部小说？", "zh")
    assert "小说" in found
    assert "了" not in found


def test_a_question_of_stop_words_alone_is_searched_as_it_is() -> None:
    assert terms("Who is it?") == ["Who", "is", "it"]
    assert terms("To be or not to be") != []


def test_each_word_is_searched_once() -> None:
    assert terms("novel novels NOVEL Kokoro") == ["novel", "Kokoro"]


def test_rare_words_say_more_than_common_ones_and_names_come_first() -> None:
    found = keywords("In which year did the city of Matsuyama build the zygote museum?", "en")
    rare = [t.text for t in found.by_rarity()]
    assert rare[0] == "Matsuyama"
    assert rare.index("zygote") < rare.index("museum") < rare.index("city")


def test_weak_words_say_less_than_words_as_common() -> None:
    assert term("the city that is called Berlin", "called").weight < 2.0
    assert term("the city that is called Berlin", "Berlin").weight > 2.5


def test_a_noun_behind_a_question_word_names_the_answer() -> None:
    asked = term("Which museum stands in Berlin?", "museum").weight
    told = term("Does a museum stand in Berlin?", "museum").weight
    assert asked < told


@pytest.mark.parametrize(
    ("question", "language", "text", "name"),
    [
        ("Who wrote Kokoro?", "en", "Kokoro", True),
        ("novels of Japan", "en", "novels", False),
        ("Novels of the century", "en", "Novels", False),
        ("Is it old? Novels of Japan", "en", "Novels", False),
        ("the KoKoro album", "en", "KoKoro", True),
        ("WHO WROTE KOKORO?", "en", "KOKORO", False),
        ("Wann wurde der Roman gedruckt?", "de", "Roman", False),
    ],
)
def test_a_name_is_told_by_its_capital(question: str, language: str, text: str, name: bool) -> None:
    assert term(question, text, language).name is name


def test_a_stop_word_that_is_written_as_a_name_is_one() -> None:
    assert "May" in terms("When was Theresa May elected?")
    assert "may" not in terms("When may one be elected?")


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("qzxvbnm", False),
        ("plorkwidget", False),
        ("photosynthesis", True),
        ("22nd", True),
        ("MLS", True),
        ("1914", True),
    ],
)
def test_invented_words_are_known_for_what_they_are(word: str, known: bool) -> None:
    assert term(f"is there any {word} here", word).exists is known


def test_where_a_language_has_no_list_length_stands_for_rarity() -> None:
    found = keywords("mi nene pratikalakaso", "xx").words
    weights = {t.text: t.weight for t in found}
    assert weights["pratikalakaso"] > weights["nene"] > weights["mi"]
    assert all(t.exists for t in found)


def test_numbers_acronyms_and_single_letters() -> None:
    found = {t.text: t for t in keywords("Did the U.S. win B b 1,000 in 1914?", "en").words}
    assert found["U.S."].kind == "acronym"
    assert found["1914"].kind == found["1,000"].kind == "number"
    assert found["b"].weight == 0.0
    assert (found["B"].kind, found["B"].name) == ("acronym", True)


def test_the_question_is_one_line_and_offsets_point_into_it() -> None:
    found = keywords("  Who\n wrote\tKokoro? ", "en")
    assert found.question == "Who wrote Kokoro?"
    for word in found.words:
        assert found.question[word.offset :].startswith(word.text)


def test_a_very_long_question_has_few_terms() -> None:
    question = " ".join(f"word{n}ly" for n in range(5000))
    assert 0 < len(keywords(question, "en").terms) <= 24


@pytest.mark.parametrize(
    ("question", "language", "kind"),
    [
        ("When was Kokoro published?", "en", "date"),
        ("In which year did it open?", "en", "date"),
        ("Which decade was it?", "en", "date"),
        ("How many people live there?", "en", "number"),
        ("What percentage voted?", "en", "number"),
        ("Who wrote Kokoro?", "en", "person"),
        ("Where is Matsuyama?", "en", "place"),
        ("Which country won?", "en", "place"),
        ("Name a novel", "en", ""),
        ("In welchem Jahrhundert war das?", "de", "date"),
        ("Wie groß ist er?", "de", "number"),
        ("Wie viel Prozent?", "de", "number"),
        ("Wer schrieb das?", "de", "person"),
        ("In welcher Stadt? Wo?", "de", "place"),
        ("Quand est-il né ?", "fr", "date"),
        ("Combien d'habitants ?", "fr", "number"),
        ("¿Quién lo escribió?", "es", "person"),
        ("¿Dónde está?", "es", "place"),
        ("Quando foi?", "pt", "date"),
        ("Quanti sono?", "it", "number"),
        ("Wie schreef dat?", "nl", "person"),
        ("Где он родился?", "ru", "place"),
        ("Кем он был?", "ru", "person"),
        ("他是谁", "zh", "person"),
        ("在哪个国家", "zh", "place"),
        ("哪一年", "zh", "date"),
        ("誰が書いた", "ja", "person"),
        ("Who wrote it?", "xx", ""),
    ],
)
def test_the_question_word_says_what_is_asked_for(question: str, language: str, kind: str) -> None:
    assert expects(question, language) == kind


@given(st.text(max_size=300), st.sampled_from(["en", "de", "fr", "zh", "ja", "ru", "", "xx"]))
def test_any_question_has_keywords_in_its_order(question: str, language: str) -> None:
    found = keywords(question, language)
    offsets = [t.offset for t in found.terms]
    assert offsets == sorted(offsets)
    assert len({t.stem for t in found.terms}) == len(found.terms)
    assert bool(found.terms) == bool(found.words)
    assert all(t.weight >= 0 for t in found.words)
