"""Words: what any script splits into, what is folded, how common a word is, whether it exists."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.text import bloom
from infoforge.text.words import (
    DATA,
    UNKNOWN_ZIPF,
    exists,
    fold,
    has_list,
    is_cjk,
    listed_zipf,
    long_words,
    segment,
    stem,
    stop_words,
    tokens,
    zipf,
)


def texts(text: str, language: str = "") -> list[str]:
    return [word for word, _, _ in tokens(text, language)]


def kinds(text: str, language: str = "") -> list[tuple[str, str]]:
    return [(word, kind) for word, _, kind in tokens(text, language)]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Who wrote Kokoro?", "en", ["Who", "wrote", "Kokoro"]),
        ("Größe der Straße", "de", ["Größe", "der", "Straße"]),
        ("Кто написал «Сердце»?", "ru", ["Кто", "написал", "Сердце"]),
        ("हिन्दी भाषा की लिपि", "hi", ["हिन्दी", "भाषा", "की", "लिपि"]),
        ("বাংলা ভাষা", "bn", ["বাংলা", "ভাষা"]),
        ("தமிழ் மொழி", "ta", ["தமிழ்", "மொழி"]),
        ("كِتَابٌ جديد", "ar", ["كِتَابٌ", "جديد"]),
        ("שָׁלוֹם עולם", "he", ["שָׁלוֹם", "עולם"]),
        ("Ποιος έγραψε", "el", ["Ποιος", "έγραψε"]),
        ("한국어 소설", "ko", ["한국어", "소설"]),
        ("ดาวเทียม ไทย", "th", ["ดาวเทียม", "ไทย"]),
        ("မြန်မာ စာ", "my", ["မြန်မာ", "စာ"]),
    ],
)
def test_any_script_splits_into_its_words(text: str, language: str, expected: list[str]) -> None:
    assert texts(text, language) == expected


def test_a_decomposed_accent_does_not_split_a_word() -> None:
    assert texts(unicodedata.normalize("NFD", "Sōseki café")) == [
        unicodedata.normalize("NFD", word) for word in ("Sōseki", "café")
    ]


@pytest.mark.parametrize("mark", ["'", "’", "ʼ"])
def test_a_possessive_goes_and_a_contraction_stays(mark: str) -> None:
    assert texts(f"Natsume{mark}s novels", "en") == ["Natsume", "novels"]
    assert texts(f"the writers{mark} club", "en") == ["the", "writers", "club"]
    assert texts(f"can{mark}t", "en") == [f"can{mark}t"]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("l'étranger", "fr", ["étranger"]),
        ("Qu’il dise d'abord", "fr", ["il", "dise", "abord"]),
        ("dell'arte", "it", ["arte"]),
        ("l'home", "ca", ["home"]),
        ("l'étranger", "en", ["l'étranger"]),
    ],
)
def test_an_elided_article_goes_where_the_language_elides(
    text: str, language: str, expected: list[str]
) -> None:
    assert texts(text, language) == expected


def test_an_offset_points_at_the_word_that_is_left() -> None:
    text = "Qui a lu l'étranger de 1942 ?"
    for word, offset, _ in tokens(text, "fr"):
        assert text[offset : offset + len(word)] == word


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the U.S. army", [("the", "word"), ("U.S.", "acronym"), ("army", "word")]),
        ("U.S.A", [("U.S.A", "acronym")]),
        ("COVID-19", [("COVID", "word"), ("19", "number")]),
        ("1,000.5 km", [("1,000.5", "number"), ("km", "word")]),
        ("in 1914.", [("in", "word"), ("1914", "number")]),
        ("the 22nd of May", [("the", "word"), ("22nd", "word"), ("of", "word"), ("May", "word")]),
    ],
)
def test_numbers_and_acronyms_are_told_from_words(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert kinds(text) == expected


def test_latin_words_between_han_characters_are_words_of_their_own() -> None:
    assert ("GPS", "word") in kinds("什么是GPS卫星")
    assert texts("什么是GPS卫星")[0] == "什么"


def test_han_and_kana_are_segmented_by_a_dictionary() -> None:
    assert texts("谁写了这部小说")[-1] == "小说"
    assert "こころ" in texts("夏目漱石は『こころ』を書いた")
    assert {kind for _, kind in kinds("谁写了这部小说")} == {"cjk"}


def test_segments_are_the_run_in_order() -> None:
    run = "中华人民共和国成立于一九四九年"
    pieces = segment(run, "zh")
    assert "".join(piece for piece, _ in pieces) == run
    assert all(run[at : at + len(piece)] == piece for piece, at in pieces)
    assert len(pieces) < len(run)


def test_characters_of_a_foreign_name_stay_together() -> None:
    """A transcription is in no dictionary; single characters of it would say nothing."""
    assert any(len(word) >= 3 for word in texts("谁是喀噻嚜呔"))


def test_nothing_has_no_words() -> None:
    assert texts("") == []
    assert texts("?! … — 🎉") == []
    assert segment("", "zh") == []


@given(st.text())
def test_tokens_never_raise_and_stand_where_they_say(text: str) -> None:
    for language in ("", "en", "fr"):
        for word, offset, kind in tokens(text, language):
            assert word
            assert kind in {"word", "number", "acronym", "cjk"}
            assert text[offset : offset + len(word)] == word


@given(st.text())
def test_folding_keeps_the_length(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(st.text())
def test_folding_twice_changes_nothing_in_latin(text: str) -> None:
    latin = "".join(c for c in text if c < "\u0250")
    assert fold(fold(latin)) == fold(latin)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sōseki", "soseki"),
        ("ÉCOLE", "ecole"),
        ("Ёлка", "елка"),
        ("Άλφα", "αλφα"),
        ("İstanbul", "istanbul"),
        ("rock ’n’ roll", "rock 'n' roll"),
        ("が", "が"),
        ("straße", "straße"),
    ],
)
def test_folding_takes_capitals_and_accents(text: str, expected: str) -> None:
    assert fold(text) == expected


def test_folding_a_long_text_gives_what_folding_its_parts_gives() -> None:
    plain = "a long plain text with one accent: é " * 30
    assert fold(plain) == "".join(fold(part) for part in plain)


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "pt", "it", "nl", "ru", "zh"])
def test_the_lists_of_the_large_wikis_are_there(language: str) -> None:
    assert has_list(language)
    assert stop_words(language)


def test_common_words_are_more_common_than_rare_ones() -> None:
    the, city, zygote = (zipf(word, "en") for word in ("the", "city", "zygote"))
    assert the > city > zygote > 0
    assert zipf("und", "de") > zipf("planet", "de")


def test_every_entry_of_a_list_is_found_where_it_lies() -> None:
    lines = (DATA / "is.freq").read_bytes().decode().splitlines()
    for line in [*lines[:50], *lines[50:-50:97], *lines[-50:]]:
        word, _, value = line.partition("\t")
        assert listed_zipf(word, "is") == int(value) / 10


def test_what_is_not_listed_is_rarer_than_what_is() -> None:
    assert listed_zipf("qzxvbnm", "en") is None
    assert zipf("qzxvbnm", "en") == UNKNOWN_ZIPF
    assert listed_zipf("the", "xx") is None
    assert not has_list("xx")


def test_a_decomposed_word_and_a_sharp_s_are_found() -> None:
    assert listed_zipf(unicodedata.normalize("NFD", "école"), "fr") == listed_zipf("école", "fr")
    assert listed_zipf("straße", "de") == listed_zipf("strasse", "de") is not None


@given(st.text())
def test_a_lookup_never_raises(word: str) -> None:
    for language in ("en", "de", "zh", "", "../en"):
        assert zipf(word, language) > 0


def test_stop_words_are_function_words() -> None:
    assert {"the", "of", "is"} <= stop_words("en")
    assert {"der", "und"} <= stop_words("de")
    assert "kokoro" not in stop_words("en")
    assert stop_words("xx") == frozenset()


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("published", "publishing", "en"),
        ("cities", "city", "en"),
        ("häuser", "häusern", "de"),
        ("книги", "книга", "ru"),
        ("novelas", "novela", "es"),
    ],
)
def test_inflections_have_one_stem(one: str, other: str, language: str) -> None:
    assert stem(one, language) == stem(other, language)


def test_a_stem_is_folded_and_a_language_without_stemmer_keeps_the_word() -> None:
    assert stem("école", "fr") == "ecol"
    assert stem("żółw", "pl") == fold("żółw")
    assert stem("houses", "") == "houses"


@pytest.mark.parametrize(
    ("word", "language"),
    [
        ("novel", "en"),
        ("photosynthesis", "en"),
        ("küchenfenstergriff", "de"),
        ("fußballmannschaft", "de"),
        ("bibliotheksbenutzerordnung", "de"),
        ("sprookjesboek", "nl"),
    ],
)
def test_words_and_compounds_exist(word: str, language: str) -> None:
    assert exists(word, language)


@pytest.mark.parametrize("word", ["qzxvbnm", "plorkwidget", "fnargle"])
def test_invented_words_do_not(word: str) -> None:
    assert not exists(word, "en")
    assert not exists(word, "de")


def test_of_a_language_without_list_nothing_is_known() -> None:
    assert exists("qzxvbnm", "xx")
    assert exists("qzxvbnm", "")


def test_han_characters_and_kana_are_told_from_other_scripts() -> None:
    assert is_cjk("the 心 novel")
    assert is_cjk("こころ")
    assert not is_cjk("Kokoro 한국어")


def test_a_bloom_filter_holds_what_it_was_made_of(tmp_path: Path) -> None:
    words = {f"word{n}" for n in range(2000)}
    table = bloom.build(words)
    (tmp_path / "x.known").write_bytes(table)
    stored = memoryview((tmp_path / "x.known").read_bytes())
    assert all(bloom.holds(stored, word) for word in words)
    wrong = sum(bloom.holds(table, f"other{n}") for n in range(2000))
    assert wrong < 60


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Who led the V&A's shop?", ["Who", "led", "the", "V&A", "shop"]),
        ("AT&T and R&D", ["AT&T", "and", "R&D"]),
        ("salt&pepper, A & B", ["salt", "pepper", "A", "B"]),
        ("a&amp", ["a&amp"]),
    ],
)
def test_short_names_with_an_ampersand_are_one_word(text: str, found: list[str]) -> None:
    assert [word for word, _, _ in tokens(text, "en")] == found


@pytest.mark.parametrize("path", sorted(DATA.glob("*.long")), ids=lambda path: path.stem)
def test_the_words_of_long_texts_are_common_ones(path):
    found = long_words(path.stem)
    assert len(set(found)) == len(found) >= 4
    for word in found:
        # Rarer words would leave long texts out, more common ones are in every text.
        assert 5.4 <= zipf(word, path.stem) <= 6.5, word
        assert word == word.lower()


def test_a_language_without_such_a_list_has_none():
    assert long_words("xx") == ()
