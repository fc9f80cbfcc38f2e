"""What a misspelt word may have been."""

from __future__ import annotations

import pytest

from infoforge.text.spelling import corrections


@pytest.mark.parametrize(
    ("written", "meant", "language"),
    [
        ("tesal", "tesla", "en"),
        ("telsa", "tesla", "en"),
        ("tsla", "tesla", "en"),
        ("teszla", "tesla", "en"),
        ("huegnot", "huguenot", "en"),  # two edits: beyond what is tried
        ("hguuenot", "huguenot", "en"),
        ("kbulai", "kublai", "en"),
        ("schwefle", "schwefel", "de"),
        ("revolucin", "revolución", "es"),
        ("москав", "москва", "ru"),
    ],
)
def test_one_edit_away(written: str, meant: str, language: str) -> None:
    assert (meant in corrections(written, language)) == (written != "huegnot")


def test_the_most_frequent_word_comes_first() -> None:
    assert corrections("tsla", "en")[0] == "tesla"  # before "isla"
    assert corrections("smedish", "en")[0] == "swedish"


def test_what_is_too_short_or_in_no_list_is_left_alone() -> None:
    assert corrections("xq", "en") == ()
    assert corrections("tsla", "xx") == ()
    assert corrections("", "en") == ()


def test_a_word_is_no_correction_of_itself() -> None:
    assert "tesla" not in corrections("tesla", "en")
