"""File names of ZIMs: one stable name, whichever way a file is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from infoforge.corpus import page
from infoforge.records import CorpusInfo
from infoforge.zims import names


@pytest.mark.parametrize(
    ("file_name", "stable", "date", "flavour"),
    [
        (
            "wikipedia_en_all_nopic_2026-06.zim",
            "wikipedia_en_all_nopic",
            "2026-06",
            "nopic",
        ),
        ("wikipedia_de_all_maxi_2026-06a.zim", "wikipedia_de_all_maxi", "2026-06", "maxi"),
        ("wikivoyage_fr_mini_2025-12.zim", "wikivoyage_fr_mini", "2025-12", "mini"),
        ("notes.zim", "notes", "", ""),
        ("2026-06.zim", "2026-06", "", ""),
        ("Wiki pedia+Ünï_2026-06.zim", "wiki_pediaplusuni", "2026-06", ""),
    ],
)
def test_a_name_is_split_into_what_it_says(
    file_name: str, stable: str, date: str, flavour: str
) -> None:
    assert names.book_name(file_name) == stable
    assert names.month(file_name) == date
    assert names.flavour(file_name) == flavour


def test_the_name_in_urls_is_the_one_that_kiwix_serve_makes() -> None:
    assert names.url_name("Wiki pedia+Ünï_2026-06.zim") == "wiki_pediaplusuni_2026-06"


def test_a_name_given_twice_is_the_same() -> None:
    name = names.book_name("Wiki pedia+Ünï_2026-06.zim")
    assert names.book_name(name) == name


INFO = CorpusInfo("wiki_en", "zim", "Wiki", ("en",), "2026-06", origin=str(Path("wiki.zim")))


def test_a_page_is_decoded_as_utf_8_whatever_its_header_says() -> None:
    article = page.article(
        INFO, "S", "", "u", "<h1>Sōseki</h1><p>心".encode(), "text/html; charset=latin-1"
    )
    assert article is not None
    assert article.title == "Sōseki"
    assert article.sections[0].text == "心"
    assert (article.corpus, article.date, article.language) == ("wiki_en", "2026-06", "en")


def test_plain_text_is_an_article_and_an_image_is_none() -> None:
    article = page.article(INFO, "notes.txt", "", "u", b"  one\n\n  two \n", "text/plain")
    assert article is not None
    assert article.title == "notes.txt"
    assert article.sections[0].text == "one\ntwo"
    assert page.article(INFO, "x.png", "", "u", b"\x89PNG", "image/png") is None
    empty = page.article(INFO, "e.txt", "E", "u", b" \n", "text/plain")
    assert empty is not None
    assert empty.sections == ()


def test_a_page_without_title_is_called_by_its_path() -> None:
    article = page.article(INFO, "A/Some_path", "", "u", b"<p>text</p>", "text/html")
    assert article is not None
    assert article.title == "A/Some_path"


def test_broken_bytes_cost_no_page() -> None:
    article = page.article(INFO, "p", "P", "u", b"<p>good \xff\xfe text", "text/html")
    assert article is not None
    assert "good" in article.sections[0].text
    assert "text" in article.sections[0].text
