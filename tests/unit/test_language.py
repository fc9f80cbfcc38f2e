"""Which language a question is in, and what a language is called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.text.language import available, code, codes, detect


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("eng", "en"),
        ("en", "en"),
        ("en-GB", "en"),
        ("pt_BR", "pt"),
        ("ENG", "en"),
        (" deu ", "de"),
        ("ger", "de"),
        ("zho", "zh"),
        ("cmn", "zh"),
        ("nob", "no"),
        ("haw", "haw"),
        ("mul", ""),
        ("", ""),
    ],
)
def test_codes_of_metadata_become_two_letters_where_there_are_two(
    given_: str, expected: str
) -> None:
    assert code(given_) == expected


def test_several_languages_come_each_once_and_in_order() -> None:
    assert codes("eng,deu,eng,mul") == ("en", "de")
    assert codes("") == ()


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Who wrote it?", "en"),
        ("Wer schrieb den Roman?", "de"),
        ("Qui a écrit ce roman ?", "fr"),
        ("¿Quién escribió la novela?", "es"),
        ("Quem escreveu o romance?", "pt"),
        ("Chi ha scritto il romanzo?", "it"),
        ("Wie schreef de roman?", "nl"),
        ("Кто написал роман?", "ru"),
        ("谁写了这部小说", "zh"),
        ("誰がこの小説を書いたか", "ja"),
        ("누가 소설을 썼는가", "ko"),
        ("من كتب هذه الرواية", "ar"),
        ("מי כתב את הספר", "he"),
        ("Ποιος έγραψε το βιβλίο", "el"),
        ("यह उपन्यास किसने लिखा", "hi"),
        ("ใครเขียน", "th"),
    ],
)
def test_the_language_of_a_question(question: str, language: str) -> None:
    assert detect(question) == language


def test_a_corpus_language_wins_where_the_words_say_little() -> None:
    assert detect("Kokoro", ["de"]) == "de"
    assert detect("1914?", ["fr", "en"]) == "fr"
    assert detect("🎉", ["es"]) == "es"


def test_a_clear_question_keeps_its_language_beside_corpora_of_another() -> None:
    question = "What is the name of the river that flows through the city?"
    assert detect(question, ["de"]) == "en"


def test_han_characters_go_to_a_corpus_of_the_same_script() -> None:
    assert detect("夏目漱石", ["en", "ja"]) == "ja"
    assert detect("夏目漱石", ["en"]) == "zh"


def test_a_name_in_latin_letters_does_not_hide_the_question_round_it() -> None:
    assert detect("Kokoro 是谁写的", ["zh"]) == "zh"


@pytest.mark.parametrize("text", ["", "123", "?!", "🎉"])
def test_nothing_speaks_for_no_language(text: str) -> None:
    assert detect(text) == ""


def test_corpora_of_a_language_without_list_are_taken_as_they_are() -> None:
    assert detect("zzz qqq xxx", ["haw"]) == "haw"


@given(st.text(max_size=200))
def test_any_text_has_a_language_or_none(text: str) -> None:
    assert isinstance(detect(text, ["en", "zh"]), str)


def test_the_package_ships_the_large_languages() -> None:
    assert {"en", "de", "fr", "es", "pt", "it", "nl", "ru", "zh"} <= set(available())
