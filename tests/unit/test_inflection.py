"""Forms of one word in many languages, and words that are none."""

import pytest

from infoforge.text.inflection import forms, inflected_zipf, same_word


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("han'ın", "han", "tr"),
        ("kuzey’den", "kuzey", "tr"),
        ("havzası", "havza", "tr"),
        ("تُعتبر", "تعتبر", "ar"),
        ("والفلسفات", "فلسفة", "ar"),
        ("للطريق", "الطريق", "ar"),
        ("ποίημά", "ποίημα", "el"),
        ("한국의", "한국은", "ko"),
        ("서울에서", "서울", "ko"),
        ("helsingin", "helsinki", "fi"),
        ("budapesten", "budapest", "hu"),
        ("києва", "києві", "uk"),
        ("בירושלים", "ירושלים", "he"),
    ],
)
def test_forms_of_one_word(one, other, language):
    assert same_word(one, other, language)
    assert same_word(other, one, language)


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("berlin", "berlusconi", "cs"),
        ("kaplan", "kaptan", "tr"),
        ("مدرسة", "مدينة", "ar"),
        ("한국", "한글", "ko"),
        ("atenas", "ateena", "fi"),
        ("праг", "правда", "uk"),
    ],
)
def test_other_words(one, other, language):
    assert not same_word(one, other, language)


@pytest.mark.parametrize(
    ("word", "language"),
    [
        ("edeceğinden", "tr"),
        ("kaçtır", "tr"),
        ("للتعليم", "ar"),
        ("بجرائمها", "ar"),
        ("한국에서는", "ko"),
        ("ποίημά", "el"),
    ],
)
def test_a_form_in_no_list_is_as_common_as_its_word(word, language):
    assert inflected_zipf(word, language) is not None


@pytest.mark.parametrize(
    ("word", "language"), [("kigülak", "tr"), ("بازاث", "ar"), ("qzxvbnm", "fi"), ("fnargle", "cs")]
)
def test_an_invented_word_has_no_relatives(word, language):
    assert inflected_zipf(word, language) is None


def test_the_word_without_what_is_attached_to_it():
    assert forms("מַלְכָּה", "he")[0] == "מלכה"
    assert "قاهرة" in forms("بالقاهرة", "ar")
    assert "서울" in forms("서울에서", "ko")
