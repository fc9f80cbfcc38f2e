"""File names, wanted ZIMs, sizes."""

from __future__ import annotations

import pytest

from infoforge.contract import UsageError
from infoforge.text.languages import alpha2, alpha3
from infoforge.zims.names import Wanted, edition, file_name, parse_wanted, stable_name
from infoforge.zims.units import show_duration, show_size, size_argument


@pytest.mark.parametrize(
    ("file", "name", "period"),
    [
        ("wikipedia_en_all_nopic_2026-06.zim", "wikipedia_en_all_nopic", "2026-06"),
        ("wikipedia_en_all_2026-06a.zim", "wikipedia_en_all", "2026-06a"),
        ("tonedear.com_en_2024-09.zim", "tonedear.com_en", "2024-09"),
        ("mine_2026-06-15.zim", "mine", "2026-06-15"),
        ("notes.zim", "notes", ""),
        ("2026-06.zim", "2026-06", ""),
        ("a_2026-06_b.zim", "a_2026-06_b", ""),
    ],
)
def test_name_and_edition(file: str, name: str, period: str) -> None:
    assert (stable_name(file), edition(file)) == (name, period)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("wiki_en_all", Wanted("wiki_en_all", "wiki_en_all")),
        ("w:nopic", Wanted("w:nopic", "w", "nopic")),
        ("w:nopic@2026-06", Wanted("w:nopic@2026-06", "w", "nopic", "2026-06")),
        ("w@newest", Wanted("w@newest", "w", "", "newest")),
        ("w_nopic_2026-06.zim", Wanted("w_nopic_2026-06.zim", "w_nopic", "", "2026-06")),
        ("HTTPS://x/y.zim", Wanted("HTTPS://x/y.zim", url="HTTPS://x/y.zim")),
    ],
)
def test_wanted(text: str, wanted: Wanted) -> None:
    assert parse_wanted(text) == wanted


@pytest.mark.parametrize(
    "text",
    ["", ":nopic", "w:", "w@", "w@june", "w@2026-6", "a/b", "ftp://x/y.zim", "file:///x.zim"],
)
def test_not_wanted(text: str) -> None:
    with pytest.raises(UsageError):
        parse_wanted(text)


def test_file_name_of_a_url() -> None:
    assert file_name("https://h/zim/a_en_2026-06.zim.meta4?x=1") == "a_en_2026-06.zim"
    assert file_name("https://h/a%2Bb.zim") == "a+b.zim"


@pytest.mark.parametrize(
    "url",
    [
        "https://h/",
        "https://h/x.html",
        "https://h/..%2f..%2fetc%2fpasswd.zim",
        "https://h/.hidden.zim",
        "https://h/a%00b.zim",
        "https://h/a%20b.zim",
        "https://h/-rf.zim",
        "https://h/" + "a" * 300 + ".zim",
    ],
)
def test_no_file_name(url: str) -> None:
    with pytest.raises(UsageError, match="file name"):
        file_name(url)


@pytest.mark.parametrize(
    ("text", "count"),
    [("10GB", 10**10), ("1.5 GiB", 3 << 29), ("500k", 500_000), ("77", 77), ("2mb", 2_000_000)],
)
def test_sizes(text: str, count: int) -> None:
    assert size_argument(text) == count


@pytest.mark.parametrize("text", ["", "big", "-5MB", "1e9", "5 apples", "nan", "inf", "GB"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(UsageError, match="is no size"):
        size_argument(text)


def test_shown() -> None:
    assert [show_size(n) for n in (0, 999, 1000, 53_100_000_000, 4 * 10**12)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "53.1 GB",
        "4.00 TB",
    ]
    assert [show_duration(s) for s in (5, 90, 7320, 200_000)] == [
        "5 s",
        "2 min",
        "2 h 2 min",
        "2 d 7 h",
    ]


def test_languages() -> None:
    assert [alpha2(c) for c in ("deu", "GER", "de", "pt-BR", "mul", "zho")] == [
        "de",
        "de",
        "de",
        "pt",
        "mul",
        "zh",
    ]
    assert [alpha3(c) for c in ("de", "ger", "xyz", "zh")] == ["deu", "deu", "xyz", "zho"]


def test_a_password_in_a_url_is_refused_and_not_told() -> None:
    with pytest.raises(UsageError, match="password") as caught:
        parse_wanted("https://me:secret@h/x.zim")
    assert "secret" not in caught.value.message + caught.value.hint
