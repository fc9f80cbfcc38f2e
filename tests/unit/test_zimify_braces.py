"""Braces that kiwix-serve would read as a template are parted; nothing else is touched."""

from __future__ import annotations

import pytest

from infoforge.text.html import parse
from infoforge.zimify.writer import PART, part_braces

P = PART.decode()


@pytest.mark.parametrize(
    ("page", "parted"),
    [
        ("<p>{{ x }}</p>", f"<p>{{{P}{{ x }}}}</p>"),
        ("<p>{{{x}}}</p>", f"<p>{{{P}{{{P}{{x}}}}}}</p>"),
        ("<b>{</b><b>{</b>", f"<b>{{</b><b>{P}{{</b>"),
        ("&#123;&lbrace;x &#x7B;&lcub;", f"&#123;{P}&lbrace;x &#x7B;{P}&lcub;"),
        ("{<!-- a -->{", f"{{<!-- a -->{P}{{"),
    ],
)
def test_two_in_a_row_are_parted(page: str, parted: str) -> None:
    assert part_braces(page.encode()).decode() == parted


@pytest.mark.parametrize(
    "page",
    [
        "<p>{ { x } } &amp; {y}</p>",
        "<script>let a = {{b: 1}}</script><style>@media x {a{b:c}}</style>",
        "<a title='{{ x }}' href=\"?q={{y}}\">z</a>",
        "<!-- {{ x }} --><title>{{ t }}</title><textarea>{{ v }}</textarea>",
        "no braces at all, ünïcode",
        "a < b {",
        "",
    ],
)
def test_what_is_no_text_or_has_no_two_stays(page: str) -> None:
    assert part_braces(page.encode()) == page.encode()


def test_a_page_without_them_is_the_same_object() -> None:
    page = b"<p>plain {x}</p>" * 10
    assert part_braces(page) is page


@pytest.mark.parametrize("page", ["<p {{", "{{<", "<script>{{", "<!-- {{", "{{&", "<a b='{{"])
def test_broken_markup_loses_nothing(page: str) -> None:
    assert part_braces(page.encode()).replace(PART, b"") == page.encode()


def test_what_is_read_from_the_page_is_what_was_written() -> None:
    page = "<html><body><p>Say <code>{{ name }}</code> or {{{raw}}}.</p></body></html>"
    text = [section.text for section in parse(page).sections]
    assert [section.text for section in parse(part_braces(page.encode()).decode()).sections] == text
    assert "{{ name }}" in text[0]
