"""Where the words of a question stand in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.retrieval.keywords import keywords
from infoforge.retrieval.matching import FUZZY_SHARE, Matcher, one_edit
from infoforge.text.words import fold


def found(question: str, text: str, language: str = "en") -> list[tuple[str, float]]:
    """What of the text was found, with its share."""
    folded = fold(text)
    matches = Matcher(keywords(question, language), language).find(folded)
    return [(text[o.start : o.end], o.share) for o in matches]


def words(question: str, text: str, language: str = "en") -> list[str]:
    return [word for word, _ in found(question, text, language)]


@pytest.mark.parametrize(
    ("question", "text", "language", "expected"),
    [
        ("publish", "It was published; publishing a publication", "en",
         ["published", "publishing"]),
        ("city", "Cities of the city", "en", ["Cities", "city"]),
        ("theories", "a theory", "en", ["theory"]),
        ("Sōseki", "SOSEKI and Sōseki’s cat", "en", ["SOSEKI", "Sōseki’s"]),
        ("Häuser", "das Haus der Häuser", "de", ["Häuser"]),
        ("книга", "Книги и книгу", "ru", ["Книги", "книгу"]),
        ("novelas", "La novela", "es", ["novela"]),
        ("kniha", "knihami i knihy", "cs", ["knihami"]),
    ],
)  # fmt: skip
def test_inflections_are_found(
    question: str, text: str, language: str, expected: list[str]
) -> None:
    assert set(expected) <= set(words(question, text, language))


def test_a_word_inside_another_is_none() -> None:
    assert words("art", "The party started smartly") == []
    assert words("heart", "sweetheart") == []


def test_languages_that_join_words_have_them_found_inside_for_less() -> None:
    inside = found("Dampfschiff", "Der Donaudampfschiffkapitän und das Dampfschiff", "de")
    shares = dict(inside)
    assert shares["Dampfschiff"] == 1.0
    assert 0 < min(shares.values()) < 1.0
    assert len(inside) == 2
    begins = dict(found("Fußball", "Die Fußballmannschaft", "de"))
    assert 0 < begins["Fußballmannschaft"] < 1.0


@pytest.mark.parametrize(
    ("number", "text", "hit"),
    [
        ("1914", "in 1914.", True),
        ("1914", "in 19145 or 21914", False),
        ("1,000", "some 1000 men", True),
        ("1000", "some 1,000 men", True),
        ("1000", "some 1 000 men", True),
        ("1000", "1,000,000 men", False),
        ("1000", "1000.5 men", False),
        ("12", "12,500 men", False),
        ("3.5", "about 3.5 km", True),
        ("3.5", "about 13.5 km", False),
    ],
)
def test_numbers_are_found_however_their_thousands_are_marked(
    number: str, text: str, hit: bool
) -> None:
    assert bool(words(f"is it {number}", text)) is hit


@pytest.mark.parametrize(
    ("text", "hit"),
    [("the U.S. army", True), ("the US army", True), ("the u.s.", True), ("bus", False),
     ("use", False)],
)  # fmt: skip
def test_an_acronym_is_found_with_and_without_dots(text: str, hit: bool) -> None:
    assert bool(words("U.S.", text)) is hit


def test_han_characters_are_found_anywhere_and_in_pairs_for_less() -> None:
    assert found("小说", "这部小说是小说家写的", "zh") == [("小说", 1.0), ("小说", 1.0)]
    pairs = found("喀噻嚜", "喀噻和别的", "zh")
    assert pairs
    assert all(share < 1.0 for _, share in pairs)


def test_occurrences_come_by_offset_and_name_their_term() -> None:
    question = keywords("Kokoro novel", "en")
    matches = Matcher(question, "en").find(fold("a novel, Kokoro, a novel"))
    assert [o.start for o in matches] == sorted(o.start for o in matches)
    assert [question.terms[o.term].text for o in matches] == ["novel", "Kokoro", "novel"]


def misspelt(question: str, text: str) -> list[tuple[str, float]]:
    asked = keywords(question, "en")
    folded = fold(text)
    matches = Matcher(asked, "en").find_misspelt(folded, range(len(asked.terms)))
    return [(folded[o.start : o.end], o.share) for o in matches]


@pytest.mark.parametrize("text", ["Kokoro", "kokorro", "kokor", "koyoro"])
def test_a_name_one_slip_away_is_found_for_a_little_less(text: str) -> None:
    assert misspelt("about the Kokorо̄ Kokorr book", "x") == []
    hits = misspelt("about the Kokorr book" if text == "Kokoro" else "about the Kokoro book", text)
    assert hits == [(fold(text), FUZZY_SHARE)]


def test_short_and_common_words_are_taken_as_they_are_written() -> None:
    assert misspelt("a cat in the house", "bat cut horse") == []
    assert misspelt("in 1914", "1915") == []


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("kokoro", "kokoro", False),
        ("kokoro", "kokorro", True),
        ("kokoro", "kokro", True),
        ("kokoro", "kokora", True),
        ("kokoro", "okkoro", True),
        ("kokoro", "kokoor", True),
        ("kokoro", "kookro", True),
        ("kokoro", "kakara", False),
        ("kokoro", "kokoroxx", False),
        ("", "a", True),
        ("", "", False),
        ("ab", "ba", True),
    ],
)
def test_one_edit(a: str, b: str, expected: bool) -> None:
    assert one_edit(a, b) is expected
    assert one_edit(b, a) is expected


@given(st.text(max_size=20), st.integers(0, 20), st.characters())
def test_a_letter_put_in_is_one_edit(word: str, place: int, letter: str) -> None:
    at = min(place, len(word))
    other = word[:at] + letter + word[at:]
    assert one_edit(word, other)
    assert one_edit(other, word)


@given(
    st.text(max_size=60),
    st.text(max_size=200),
    st.sampled_from(["en", "de", "fr", "zh", "ru", "", "xx"]),
)
def test_no_question_and_no_text_raise(question: str, text: str, language: str) -> None:
    asked = keywords(question, language)
    folded = fold(text)
    matcher = Matcher(asked, language)
    matches = matcher.find(folded) + matcher.find_misspelt(folded, range(len(asked.terms)))
    for o in matches:
        assert 0 <= o.start < o.end <= len(folded)
        assert 0 < o.share <= 1
        assert 0 <= o.term < len(asked.terms)


def test_a_name_with_an_ampersand_is_found_as_it_is_written() -> None:
    asked = keywords("Who was the first director of the V&A?", "en")
    where = [t.text for t in asked.terms].index("V&A")
    found = Matcher(asked, "en").find(fold("The V&A, or V & A; not va, nor an AV&AB."))
    assert [o.start for o in found if o.term == where] == [4, 12]
