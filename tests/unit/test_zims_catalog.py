"""The catalog: well-formed, broken, hostile; and what is chosen from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infoforge.contract import CheckFailed, UsageError
from infoforge.zims.catalog import CatalogEntry, choose, parse_feed, search, server_filters
from infoforge.zims.names import parse_wanted

BASE = "http://h/catalog/v2/entries"
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" '
    'xmlns:dc="http://purl.org/dc/terms/">'
)
ZIM = "application/x-zim"


def entry(
    *,
    name: str = "wikipedia_de_all",
    flavour: str = "nopic",
    title: str = "Wikipedia",
    href: str = "https://d/zim/wikipedia_de_all_nopic_2026-05.zim.meta4",
    more: str = "",
) -> str:
    return f"""<entry><id>urn:uuid:ABC-1</id><title>{title}</title><summary>Alles</summary>
      <updated>2026-05-20T00:00:00Z</updated><language>deu,eng</language><name>{name}</name>
      <flavour>{flavour}</flavour><articleCount>2,800,000</articleCount>
      <author><name>Not this name</name></author><dc:issued>2026-05-18T00:00:00Z</dc:issued>
      <link type="text/html" href="/content/x"/>
      <link rel="acquisition" type="{ZIM}" href="{href}" length="14000128"/>{more}</entry>"""


def read(
    *entries: str, head: str = HEAD, tail: str = "</feed>"
) -> tuple[tuple[CatalogEntry, ...], int]:
    return parse_feed((head + "".join(entries) + tail).encode(), BASE)


def test_an_entry() -> None:
    (found,), lost = read(entry())
    assert lost == 0
    assert found == CatalogEntry(
        name="wikipedia_de_all",
        flavour="nopic",
        title="Wikipedia",
        description="Alles",
        languages=("de", "en"),
        date="2026-05",
        size=14_000_128,
        articles=2_800_000,
        url="https://d/zim/wikipedia_de_all_nopic_2026-05.zim.meta4",
        file="wikipedia_de_all_nopic_2026-05.zim",
        uuid="abc-1",
    )
    assert (found.ident, found.stable) == ("wikipedia_de_all:nopic", "wikipedia_de_all_nopic")


def test_relative_urls_are_of_the_feed() -> None:
    (found,), _ = read(entry(href="../../zim/x_2026-01.zim"))
    assert found.url == "http://h/zim/x_2026-01.zim"


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Cats & Dogs", "Cats & Dogs"),
        ("AT&T; and &co", "AT&T; and &co"),
        ("a &amp; b &#38; c &lt;i&gt;", "a & b & c <i>"),
        ("caf&eacute;&nbsp;!", "café\u00a0!"),
        ("bell\x07", "bell"),
    ],
)
def test_a_feed_that_is_not_xml_is_read_all_the_same(title: str, shown: str) -> None:
    found, lost = read(entry(title=title), entry(title="x & y"))
    assert [e.title for e in found] == [shown, "x & y"]
    assert lost == 0


def test_an_unescaped_ampersand_in_the_address() -> None:
    (found,), _ = read(entry(href="https://d/x_2026-05.zim?a=1&b=2"))
    assert found.url == "https://d/x_2026-05.zim?a=1&b=2"
    assert found.file == "x_2026-05.zim"


def test_an_entry_beyond_repair_hides_no_other() -> None:
    found, lost = read(entry(), entry(title="1 < 2"), entry(name="other"))
    assert [e.name for e in found] == ["wikipedia_de_all", "other"]
    assert lost == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html><body>Please log in</body></html>",
        b"<!DOCTYPE html><html>",
        b'<!DOCTYPE f [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><feed>&b;</feed>',
        HEAD.encode("utf-16"),
        b"\x00\xff\xfe",
    ],
)
def test_no_catalog(body: bytes) -> None:
    with pytest.raises(CheckFailed, match="is no catalog"):
        parse_feed(body, BASE)


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)//x.zim", "file:///etc/x.zim", "https://d/..%2fx.zim", ""]
)
def test_an_address_that_is_none_is_no_download(href: str) -> None:
    (found,), _ = read(entry(href=href))
    assert (found.url, found.file) == ("", "")


SAMPLE = CatalogEntry("w_en", "", "Words", "", ("en",), "2026-05", 5, 1, "https://d/w.zim", "", "")


def made(name: str, flavour: str, date: str, **more: object) -> CatalogEntry:
    file = "_".join(filter(None, (name, flavour, date))) + ".zim"
    url = f"https://d/{file}"
    return replace(SAMPLE, name=name, flavour=flavour, date=date, file=file, url=url, **more)


MANY = (
    made("wikipedia_de_all", "maxi", "2026-05", languages=("de",), size=40 * 10**9),
    made("wikipedia_de_all", "nopic", "2026-04", languages=("de",), size=14 * 10**9),
    made("wikipedia_de_all", "nopic", "2026-06", languages=("de",), size=15 * 10**9),
    made("wiktionary_de_all", "", "2026-01", languages=("de",), size=10**9, title="Wörterbuch"),
    made("wikipedia_en_all", "maxi", "2026-06", size=100 * 10**9),
    made("stack.over-flow", "", "2026-02", size=75),
)


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("wikipedia_de_all:nopic", "wikipedia_de_all_nopic_2026-06.zim"),
        ("wikipedia_de_all_nopic", "wikipedia_de_all_nopic_2026-06.zim"),
        ("Wikipedia_DE_all:NoPic", "wikipedia_de_all_nopic_2026-06.zim"),
        ("wikipedia_de_all:nopic@2026-04", "wikipedia_de_all_nopic_2026-04.zim"),
        ("wikipedia_de_all:nopic@2025-01", "wikipedia_de_all_nopic_2026-06.zim"),
        ("wikipedia_en_all", "wikipedia_en_all_maxi_2026-06.zim"),
        ("wiktionary_de_all@newest", "wiktionary_de_all_2026-01.zim"),
        ("stack.over-flow", "stack.over-flow_2026-02.zim"),
    ],
)
def test_the_one_that_is_meant(text: str, file: str) -> None:
    assert choose(MANY, parse_wanted(text)).file == file


def test_several_flavours_are_named() -> None:
    with pytest.raises(UsageError, match="several flavours") as caught:
        choose(MANY, parse_wanted("wikipedia_de_all"))
    assert "wikipedia_de_all:maxi, wikipedia_de_all:nopic" in caught.value.hint


def test_the_nearest_name_is_offered() -> None:
    with pytest.raises(CheckFailed, match="the catalog has no wikipedia_de_al") as caught:
        choose(MANY, parse_wanted("wikipedia_de_al:nopic"))
    assert "wikipedia_de_all:nopic" in caught.value.hint
    with pytest.raises(CheckFailed) as caught:
        choose(MANY, parse_wanted("wikipedia_en_all:mini"))
    assert caught.value.hint == "did you mean wikipedia_en_all:maxi?"


def test_search() -> None:
    def names(*words: str, **filters: object) -> list[str]:
        return [e.file for e in search(MANY, words, **filters)]  # type: ignore[arg-type]

    assert names("WIKIPEDIA", "de") == [
        "wikipedia_de_all_maxi_2026-05.zim",
        "wikipedia_de_all_nopic_2026-06.zim",
        "wikipedia_de_all_nopic_2026-04.zim",
    ]
    assert names("wörter") == ["wiktionary_de_all_2026-01.zim"]
    assert names(language="deu", flavour="", max_size=10**9) == ["wiktionary_de_all_2026-01.zim"]
    assert names(flavour="MAXI", language="en") == ["wikipedia_en_all_maxi_2026-06.zim"]
    assert names("nothing like it") == []


def test_the_server_is_asked_in_its_own_codes() -> None:
    assert server_filters("de", 5) == {"lang": "deu", "maxsize": "5"}
    assert server_filters("", 0) == {}
