"""HTML of real scrapers and of nobody's making, to sections of plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.text.disambiguation import looks_like
from infoforge.text.html import TooComplex, parse, resolve


def text(html: str, title: str = "T") -> str:
    return "\n".join(section.text for section in parse(html, "T", title).sections)


def test_an_infobox_becomes_key_value_lines() -> None:
    html = """<table class="infobox"><caption>Kokoro</caption>
      <tr><th colspan="2">Kokoro</th></tr>
      <tr><th>Author</th><td><a href="S">Natsume <b>Sōseki</b></a></td></tr>
      <tr><th scope="row">Published</th><td>1914<br>in Tokyo</td></tr></table>
      <p>Kokoro is a novel.</p>"""
    lines = text(html).split("\n")
    assert "Author: Natsume Sōseki" in [" ".join(line.split()) for line in lines]
    assert any(line.startswith("Published: 1914") and "Tokyo" in line for line in lines)


def test_the_lead_comes_before_the_infobox_that_stands_beside_it() -> None:
    html = '<table class="infobox"><tr><th>Born</th><td>1867</td></tr></table><p>A novelist.</p>'
    document = parse(html, "T", "T")
    assert document.sections[0].text == "A novelist."
    assert document.sections[1].text == "Born: 1867"


def test_a_row_of_headings_names_the_cells_below() -> None:
    html = """<p>Lead.</p><h2>Results</h2><table>
      <tr><th>Year</th><th>City</th><th></th></tr>
      <tr><td>1936</td><td>Berlin</td><td>x</td></tr>
      <tr><td>1948</td><td></td><td></td></tr></table>"""
    lines = text(html).split("\n")
    assert "Year: 1936; City: Berlin; x" in lines
    assert "Year: 1948" in lines


def test_a_table_without_headings_keeps_its_rows() -> None:
    html = (
        "<p>L</p><table><tr><td>height:</td><td>12 m</td></tr>"
        "<tr><td>a</td><td>b</td><td>c</td></tr><tr><td></td></tr></table><table></table>"
    )
    assert text(html).split("\n")[1:] == ["height: 12 m", "a; b; c"]


@pytest.mark.parametrize(
    "hidden",
    [
        '<span style="display: none">SECRET</span>',
        '<div style="color:red;VISIBILITY:hidden">SECRET</div>',
        "<p hidden>SECRET</p>",
        '<span aria-hidden="true">SECRET</span>',
        "<script>SECRET</script>",
        "<style>.SECRET{}</style>",
        "<noscript>SECRET</noscript>",
        "<template>SECRET</template>",
        "<!-- SECRET -->",
        "<nav>SECRET</nav>",
        "<form><button>SECRET</button></form>",
        '<sup class="reference">[SECRET]</sup>',
        '<div class="navbox">SECRET</div>',
        '<span class="mw-editsection">SECRET</span>',
        '<ol class="references"><li>SECRET</li></ol>',
        '<div class="hatnote">SECRET</div>',
        "<svg><text>SECRET</text></svg>",
    ],
)
def test_what_no_reader_sees_as_text_goes(hidden: str) -> None:
    found = text(f"<p>Before {hidden} after</p><p>Last</p>")
    assert "SECRET" not in found
    assert "Before" in found
    assert "after" in found
    assert "Last" in found


@pytest.mark.parametrize(
    "heading",
    ["References", "See also", "Einzelnachweise", "Références", "Véase también", "Примечания",
     "参考文献", "外部リンク"],
)  # fmt: skip
def test_sections_of_bookkeeping_go_with_their_subsections(heading: str) -> None:
    html = f"""<p>Lead.</p><h2>{heading}</h2><p>BOOKS</p><table><tr><td>BOOKS</td></tr></table>
      <pre>BOOKS</pre><h3>More</h3><p>BOOKS</p><h2>Life</h2><p>Kept.</p>"""
    found = text(html)
    assert "BOOKS" not in found
    assert "Kept." in found


def test_headings_make_a_path() -> None:
    html = """<h1>T</h1><p>Lead.</p><h2>Life</h2><p>One.</p><h3>Youth</h3><p>Two.</p>
      <h4>School</h4><p>Three.</p><h2>Work</h2><p>Four.</p>"""
    assert [(s.heading, s.text) for s in parse(html, "T", "T").sections] == [
        ("", "Lead."),
        ("Life", "One."),
        ("Life > Youth", "Two."),
        ("Life > Youth > School", "Three."),
        ("Work", "Four."),
    ]


def test_a_second_h1_is_a_heading_and_the_title_is_none() -> None:
    found = parse("<h1>T</h1><p>Lead.</p><h1>Part two</h1><p>More.</p>", "T", "T").sections
    assert [s.heading for s in found] == ["", "Part two"]


def test_the_title_is_the_entrys_then_the_h1_then_the_head() -> None:
    assert parse("<title>Head</title><h1>One</h1>", "p", "Entry").title == "Entry"
    assert parse("<title>Head</title><h1>One</h1>").title == "One"
    assert parse("<title>Head</title><p>x").title == "Head"
    assert parse("<p>x").title == ""


def test_a_formula_is_what_its_author_wrote() -> None:
    html = (
        '<p>Energy <math alttext="{\\displaystyle E=mc^{2}}"><mi>E</mi><mo>=</mo><mi>m</mi></math>'
        " is known, as is <math><mi>a</mi><annotation>a+b</annotation></math>"
        " and <math><mi>x</mi><mi>y</mi></math>.</p>"
    )
    found = text(html)
    assert "E=mc^{2}" in found
    assert "displaystyle" not in found
    assert "a+b" in found
    assert "xy" in found


def test_right_to_left_text_stays_as_it_is_written() -> None:
    html = '<html lang="ar" dir="rtl"><body><p>كتب <b>سوسيكي</b> رواية كوكورو سنة ١٩١٤.</p></body>'
    document = parse(html, "p", "كوكورو")
    assert document.sections[0].text == "كتب سوسيكي رواية كوكورو سنة ١٩١٤."
    assert document.language == "ar"


@pytest.mark.parametrize(
    "html",
    [
        "<p>One<p>Two<div>Three",
        "<p>One</b></i></div><p>Two</p></table>Three",
        "<p>One<table><tr><td>Two<tr><td>Three",
        "One<ul><li>Two<li>Three",
        "<html><html><body><body><p>One</p>Two<br/>Three</p>",
        "<p onclick='<>'>One</p <p>Two <p>Three &nosuch; &#xZZ;",
    ],
)
def test_broken_html_is_repaired_as_a_browser_would(html: str) -> None:
    found = text(html)
    assert found.index("One") < found.index("Two") < found.index("Three")


@pytest.mark.parametrize("html", ["", "   ", "<", "<html></html>", "<frameset><frame></frameset>"])
def test_a_page_without_text_has_no_sections(html: str) -> None:
    assert all(s.text.strip() for s in parse(html, "p", "T").sections)


@given(st.text(alphabet='<>/="abtdrhpul123 \n&;é心', max_size=120))
def test_no_markup_raises(html: str) -> None:
    for section in parse(html, "p", "").sections:
        assert section.text


def test_lines_are_paragraphs_and_blanks_are_one() -> None:
    html = (
        "<p>One\n  and\t<i>one</i>&nbsp;more.</p>\n<p>Two.</p><ul><li>Three</li><li>Four</li></ul>"
    )
    assert text(html).split("\n") == ["One and one more.", "Two.", "Three", "Four"]


def test_inline_markup_does_not_tear_words_apart() -> None:
    assert text("<p>H<sub>2</sub>O and <b>K</b>okoro</p>") == "H2O and Kokoro"


def test_a_definition_list_becomes_key_value_lines() -> None:
    lines = text("<dl><dt>Born</dt><dd>1867</dd><dt>Died</dt><dd><p>1916</p></dd></dl>").split("\n")
    assert [line.replace(" :", ":") for line in lines] == ["Born: 1867", "Died: 1916"]


def test_preformatted_text_keeps_its_lines() -> None:
    assert text("<pre>a = 1\n  b = 2\n\n</pre>").split("\n") == ["a = 1", "  b = 2"]


def test_only_the_content_of_a_page_is_read() -> None:
    html = "<div>chrome</div><main><p>content</p></main><div>chrome</div>"
    assert text(html) == "content"


DISAMBIGUATION = [
    ("Kokoro", "Kokoro may refer to:"),
    ("Mercury", "Mercury most commonly refers to:"),
    ("Kokoro (disambiguation)", ""),
    ("Kokoro", "Kokoro steht für:"),
    ("Kokoro (Begriffsklärung)", "x"),
    ("Kokoro", "Kokoro peut désigner :"),
    ("Kokoro", "Kokoro puede referirse a:"),
    ("Kokoro", "Kokoro pode referir-se a:"),
    ("Kokoro", "Kokoro può riferirsi a:"),
    ("Kokoro", "Kokoro kan verwijzen naar:"),
    ("Кокоро", "Кокоро может означать:"),
    ("心", "心可以指："),
    ("心", "心には以下の意味がある。"),
    ("Кокоро (значения)", ""),
    ("心 (曖昧さ回避)", ""),
]


@pytest.mark.parametrize(("title", "lead"), DISAMBIGUATION)
def test_pages_that_only_disambiguate_are_known_in_many_languages(title: str, lead: str) -> None:
    assert looks_like(title, lead)
    assert parse(f"<p>{lead}</p><ul><li><a href='X'>X</a></li></ul>", "K", title).disambiguation


@pytest.mark.parametrize(
    ("title", "lead"),
    [
        ("Kokoro (novel)", "Kokoro is a novel by Natsume Sōseki."),
        ("Law", "The word may refer to a rule. " + "It is old. " * 30),
        (
            "Physics",
            "Physics is the study of matter, and may mean many things to many people.",
        ),
    ],
)
def test_articles_are_not(title: str, lead: str) -> None:
    assert not looks_like(title, lead)


def test_a_marker_of_the_wiki_is_enough() -> None:
    html = '<div id="disambigbox">x</div><p>Natsume</p><a href="N">N</a>'
    assert parse(html, "N", "Natsume").disambiguation


def test_links_of_a_disambiguation_page_lead_to_paths_and_say_where_they_stand() -> None:
    html = """<p>Kokoro may refer to:</p><ul>
      <li><a href="Kokoro_(novel)">Kokoro</a>, a 1914 novel
        by <a href="../A/Natsume">Natsume</a></li>
      <li><a href="./Kokoro_%28album%29#songs">the album</a></li>
      <li><a href="https://example.org/x">outside</a><a href="//example.org/">outside</a>
          <a href="#top">here</a><a href="mailto:x@example.org">mail</a></li>
      <li><a href="Kokoro_(novel)?x=1">again</a></li></ul>"""
    links = parse(html, "A/Kokoro", "Kokoro").links
    assert [link.path for link in links] == ["A/Kokoro_(novel)", "A/Natsume", "A/Kokoro_(album)"]
    assert links[0].text == "Kokoro"
    assert "1914 novel" in links[0].context


def test_links_of_an_article_are_not_kept() -> None:
    assert parse('<p>A novel by <a href="N">N</a>.</p>', "K", "Kokoro").links == ()


@pytest.mark.parametrize(
    ("path", "href", "expected"),
    [
        ("A/One", "Two", "A/Two"),
        ("One", "./Two", "Two"),
        ("One", "../A/Two", "A/Two"),
        ("sub/dir/One", "../Two", "sub/Two"),
        ("One", "/A/Two", "A/Two"),
        ("One", "%E5%BF%83", "心"),
        ("One", "Two?x#y", "Two"),
        ("One", "#here", ""),
        ("One", "", ""),
        ("One", ".", ""),
        ("One", "javascript:alert(1)", ""),
        ("One", "//host/x", ""),
    ],
)
def test_a_link_is_resolved_inside_the_zim(path: str, href: str, expected: str) -> None:
    assert resolve(path, href) == expected


def test_elements_without_content_do_not_part_a_word() -> None:
    page = "<p>set<wbr>Time<img src=x>out {<input type=hidden>{ x</p>"
    assert parse(page).sections[0].text == "setTimeout {{ x"


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 100_000 + "x",
        "<span>" * 300_000,
        "<div>" * 300 + "x" + "</div>" * 300,
        "<ul><li>" * 900,
        "<b>x</b>" * 200_000,
        "<table><tr><td>" * 3000,
        "<DIV>" * 5000,
    ],
    ids=["div", "span", "closed", "list", "many", "table", "capital"],
)
def test_a_page_that_would_take_minutes_is_refused(page: str) -> None:
    with pytest.raises(TooComplex):
        parse(page)


def test_many_elements_side_by_side_are_read() -> None:
    page = "<p>One <b>word</b>.<br><img src=a><p>Two" * 3000
    (section,) = parse(page).sections
    assert section.text.count("One word.") == 3000
