"""Numbers, JSON and XML from outside: nothing ends a run, and one bad entry costs itself."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fault_server import Behaviour

import infoforge
from infoforge.box.checks import days_between, months_between
from infoforge.config.document import parse as parse_config
from infoforge.contract import CheckFailed, ConfigError
from infoforge.corpus.base import Deadline
from infoforge.corpus.kiwix import KiwixServer
from infoforge.text import numbers, xmltree
from infoforge.text.markdown import front_matter
from infoforge.text.parse import LARGEST, from_json, integer, parse_size
from infoforge.vault.notes import parse as parse_note
from infoforge.zims.catalog import parse_feed
from infoforge.zims.metalink import parse_metalink

CODE = Path(infoforge.__file__).parent
LONG = "9" * 5000
ODD = ["²", "٣", "９", "-1", "1.5", "nan", "inf", "1e3", "0x10", "", " ", LONG, "1" * 41, "½"]


@pytest.mark.parametrize("text", ODD)
def test_what_is_no_count_is_the_default(text):
    assert integer(text, 7) == 7


@pytest.mark.parametrize(
    ("value", "number"),
    [("12", 12), (" 1,234 ", 1234), ("007", 7), (5, 5), (LARGEST, LARGEST)],
)
def test_counts(value, number):
    assert integer(value) == number


@pytest.mark.parametrize("value", [True, 1.5, None, [], {}, -3, 10**4000, float("nan")])
def test_values_of_json_that_are_no_counts(value):
    assert integer(value, -1) == -1


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none()))
def test_any_value_is_a_count_or_the_default(value):
    assert 0 <= integer(value) <= LARGEST


@pytest.mark.parametrize("text", [LONG, f"{LONG} GB", "²", "٣ GB", "nan"])
def test_no_sizes(text):
    with pytest.raises(ValueError):  # noqa: PT011 - of int() or of ours
        parse_size(text)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, LONG, "", "\ud800", b"\xff"])
def test_json_that_cannot_be_read_is_a_value_error(text):
    with pytest.raises(ValueError):  # noqa: PT011
        from_json(text)


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        b"<!DOCTYPE a><a/>",
        b"<?xml version='1.0' encoding='x-none'?><a/>",
        "<!DOCTYPE a><a/>".encode("utf-16"),
        b"<a>",
        b"",
    ],
)
def test_xml_that_is_not_taken(body):
    with pytest.raises(xmltree.BadXML):
        xmltree.parse(body)


# The catalogs

ENTRY = """<entry><title>{title}</title><id>urn:uuid:{number}</id><name>n{number}</name>
<articleCount>{count}</articleCount><language>eng</language>
<link type="text/html" href="{href}"/>
<link type="application/x-zim" href="{href}.zim" length="{count}"/></entry>"""


def feed(*bad):
    """A catalog of one good entry and bad ones."""
    entries = [ENTRY.format(title="Good", number=0, count="10", href="/content/good_en")]
    entries += [
        ENTRY.format(title="Bad", number=i, count=count, href=href)
        for i, (count, href) in enumerate(bad, 1)
    ]
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{"".join(entries)}</feed>'.encode()


BAD = [("²", "/content/a_en"), (LONG, "/content/b_en"), ("1", "http://[::1/c_en")]


def test_a_bad_entry_of_kiwix_costs_that_entry(fault_server):
    body = Behaviour(body=feed(*BAD), content_type="application/atom+xml")
    server = fault_server(body, script_all=True)
    kiwix = KiwixServer(server.url)
    books = {book.name: book.articles for book in kiwix.books(Deadline(30))}
    assert books == {"good_en": 10, "a_en": 0, "b_en": 0}


@pytest.mark.parametrize("total", ["²", LONG, "-", "1,234"])
def test_the_number_of_hits_is_read_or_left_out(total, fault_server):
    space = "http://a9.com/-/spec/opensearch/1.1/"
    body = (
        f'<rss xmlns:o="{space}"><channel><o:totalResults>{total}</o:totalResults></channel></rss>'
    )
    catalog = Behaviour(body=feed(), content_type="application/atom+xml")
    hits = Behaviour(body=body.encode(), content_type="application/rss+xml")
    server = fault_server(catalog, hits, script_all=True)
    from infoforge.corpus.kiwix import KiwixCorpus

    kiwix = KiwixServer(server.url)
    found = KiwixCorpus(kiwix, kiwix.books(Deadline(30))[0]).search("x", 5, Deadline(30))
    assert found.total == (1234 if total == "1,234" else 0)


def test_a_bad_entry_of_the_catalog_costs_that_entry():
    entries, lost = parse_feed(feed(*BAD), "https://mirror.example/catalog")
    usable = [entry for entry in entries if entry.url]
    assert [(entry.name, entry.articles, entry.size) for entry in usable] == [
        ("n0", 10, 10),
        ("n1", 0, 0),
        ("n2", 0, 0),
    ]
    assert [entry.problem for entry in entries if not entry.url] == [
        "its address is none: http://[::1/c_en.zim"
    ]
    assert lost == 0


@pytest.mark.parametrize("number", ["²", LONG, "-1"])
def test_a_metalink_with_odd_numbers_is_read_without_them(number):
    body = f"""<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a.zim">
    <size>{number}</size><pieces length="{number}" type="sha-1"><hash>{"0" * 40}</hash></pieces>
    <url priority="{number}">https://one.example/a.zim</url><url>http://[::1/a.zim</url>
    <url priority="1">https://two.example/a.zim</url></file></metalink>"""
    found = parse_metalink(body.encode(), "https://mirror.example/a.zim.meta4", "a.zim")
    assert (found.size, found.pieces) == (0, None)
    assert found.mirrors == ("https://two.example/a.zim", "https://one.example/a.zim")


def test_a_metalink_with_a_document_type_is_none():
    with pytest.raises(CheckFailed, match="document type"):
        parse_metalink(b"<!DOCTYPE m><metalink/>", "https://mirror.example/a", "a.zim")


# Articles, configuration, dates

MANY = [
    LONG,
    "²" * 5000,
    "٣" * 5000,
    "9" * 5000 + " million",
    "1,234" * 2000,
    "hundred " * 5000,
    "million " * 5000,
    "1 " * 5000,
    f"0.{LONG}",
    f"{LONG}.5",
    f"{LONG}½",
]


@pytest.mark.parametrize("text", MANY, ids=range(len(MANY)))
def test_whatever_an_article_counts_it_is_read(text):
    for number in numbers.find(text):
        assert all(len(form) <= max(len(text), 100) for form in number.forms)
    assert isinstance(numbers.forms(text), set)


def test_a_number_of_thousands_of_digits_still_supports_itself():
    assert numbers.forms(f"pi is 3{LONG}") & numbers.forms(f"3{LONG}")


@given(
    st.text(st.characters(categories=["Nd", "No", "Nl"]) | st.sampled_from(" ,.-–/½"), max_size=80)
)
def test_any_digits_are_read(text):
    numbers.forms(text)


@pytest.mark.parametrize("value", [LONG, f"0x{'f' * 5000}", f"-{LONG}"])
def test_a_number_of_the_configuration_has_a_limit(value):
    with pytest.raises(ConfigError, match="not a usable int"):
        parse_config(f"a: {value}\n".encode(), Path("x.yaml"))


@pytest.mark.parametrize("number", [LONG, f"0x{'f' * 5000}"])
@pytest.mark.parametrize("fence", ["---\n{}: {}\n---\n", "+++\n{} = {}\n+++\n"])
def test_a_number_of_a_front_matter_ends_nothing(number, fence):
    for key in ("title", "date", "tags", "source", number):
        front = front_matter(fence.format(key, number) + "Text.")
        assert isinstance(front.date() + front.line("title"), str)
        parse_note(fence.format(key, number) + "Text.", "name")


@pytest.mark.parametrize("date", ["²026-06", "２０２６-06", f"{LONG}-06", "2026-²", "", "2026"])
def test_a_date_that_is_none_has_no_age(date):
    from datetime import date as day

    assert months_between(date, day(2026, 12, 1)) is None
    assert days_between(date, day(2026, 12, 1)) is None


def test_json_from_outside_is_read_in_one_place():
    """The schema is ours, and eval's plan is written and read in one line."""
    found = []
    for path in sorted(CODE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "json.loads":
                found.append(str(path.relative_to(CODE)))
    assert found == ["config/validate.py", "evaluate/journal.py", "text/parse.py"]
    assert sys.get_int_max_str_digits() == 4300, "the limit that these tests are about"
