"""What kiwix-serve's catalog says, whole or with faults in it."""

from __future__ import annotations

import pytest

from infoforge.kiwix_catalog import CatalogError, ServedBook, books
from infoforge.text.parse import integer

BASE = "http://127.0.0.1:8080/box"
ENTRY = (
    "<entry><id>urn:uuid:6F1D19D0-633f-087b-fb55-7ac324ff9baf</id><title>Ray &amp; Co</title>"
    "<language>eng,fra</language><tags>a;_ftindex:no</tags><articleCount>{count}</articleCount>"
    '<link type="text/html" href="/box/content/ray_en_2026-06"/>'
    "<issued>2026-06-01T00:00:00Z</issued></entry>"
)


def feed(*entries: str) -> bytes:
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{"".join(entries)}</feed>'.encode()


def test_a_book_is_read() -> None:
    (book,) = books(200, feed(ENTRY.format(count="129")), BASE)
    assert book == ServedBook(
        uuid="6f1d19d0-633f-087b-fb55-7ac324ff9baf",
        title="Ray & Co",
        url="http://127.0.0.1:8080/box/content/ray_en_2026-06",
        languages="eng,fra",
        tags="a;_ftindex:no",
        articles=129,
        issued="2026-06-01T00:00:00Z",
    )


@pytest.mark.parametrize("count", ["²", "9" * 5000, "-1", "", "many", "١٢"])
def test_a_count_that_is_none_costs_no_book(count: str) -> None:
    found = books(200, feed(ENTRY.format(count=count), ENTRY.format(count="7")), BASE)
    assert [book.articles for book in found] == [0, 7]


def test_an_entry_that_cannot_be_read_does_not_hide_the_others() -> None:
    broken = "<entry><title>a</titel></entry>"
    found = books(200, feed(ENTRY.format(count="1"), broken, ENTRY.format(count="2")), BASE)
    assert [book.articles for book in found] == [1, 2]


def test_a_link_that_is_no_address_costs_the_link() -> None:
    entry = ENTRY.format(count="1").replace("/box/content", "http://[::1/content")
    assert [book.url for book in books(200, feed(entry), BASE)] == [""]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, feed()), (200, b""), (200, b"<html></html>"), (200, b"{}"),
        (200, b'<!DOCTYPE feed [<!ENTITY a "b">]>' + feed()),
    ],
)  # fmt: skip
def test_what_is_no_catalog_is_named(status: int, body: bytes) -> None:
    with pytest.raises(CatalogError, match="not kiwix-serve") as caught:
        books(status, body, BASE)
    assert caught.value.status == status


@pytest.mark.parametrize(("text", "count"), [("12", 12), (" 1,234 ", 1234), ("1.5", 0), ("0x1", 0)])
def test_counts(text: str, count: int) -> None:
    assert integer(text) == count
