"""HTML of real scrapers and of nobody's making, to sections of plain text."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.corpus.base import CorpusError
from infoforge.corpus.page import article
from infoforge.records import CorpusInfo
from infoforge.text import markup
from infoforge.text.disambiguation import looks_like
from infoforge.text.html import parse, resolve


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
    html = f"""<div id="mw-content-text"><p>Lead.</p><h2>{heading}</h2><p>BOOKS</p>
      <table><tr><td>BOOKS</td></tr></table><pre>BOOKS</pre><h3>More</h3><p>BOOKS</p><h2>Life</h2><p>Kept.</p>"""
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
    ("html", "expected"),
    [
        ("about 10<sup>6</sup> particles", "about 10⁶ particles"),
        ("5 m<sup>−3</sup>", "5 m⁻³"),
        ("10<sup><b>-12</b></sup> s", "10⁻¹² s"),
        ("x<sup>n+1</sup>", "x^(n+1)"),
        ("<i>e</i><sup>x</sup>", "e^x"),
        ("2<sup>1/2</sup>", "2^(1/2)"),
        ("10<sup>10<sup>6</sup></sup>", "10^(10⁶)"),
        ("Ca<sup>2+</sup>", "Ca²⁺"),
        ("<sup>14</sup>C and <sup>238</sup>U", "¹⁴C and ²³⁸U"),
        ("2<sup>nd</sup>, 19<sup>th</sup>, n<sup>th</sup>", "2nd, 19th, nth"),
        ("le 1<sup>er</sup> mai, XV<sup>e</sup> siècle", "le 1er mai, XVe siècle"),
        ("n.<sup>o</sup> 5, N<sup>o</sup> 4, 1<sup>a</sup>", "n.º 5, Nº 4, 1ª"),
        ("M<sup>me</sup> Curie", "Mme Curie"),
        ("14<sup>h</sup> 29<sup>m</sup>", "14h 29m"),
        ("InfoForge<sup>TM</sup> and Rust<sup>®</sup>", "InfoForge™ and Rust®"),
        ("H<sub>2</sub>O, C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>", "H2O, C6H12O6"),
        ("SO<sub>4</sub><sup>2−</sup>", "SO4²⁻"),
        ("101<sub>2</sub>", "101₂"),
        ("x<sub>n+1</sub>", "x_(n+1)"),
        ("3<sup>1</sup>⁄<sub>2</sub> cups, <sup>3</sup>/<sub>4</sub>", "3 1⁄2 cups, 3/4"),
        (
            '3<span class="frac"><span class="sr-only">+</span>1⁄2</span>',
            "3 1⁄2",
        ),
    ],
)  # fmt: skip
def test_raised_and_lowered_text_keeps_its_meaning(html: str, expected: str) -> None:
    assert text(f"<p>{html}</p>") == expected


@pytest.mark.parametrize(
    "mark",
    [
        '<sup><a href="#cite_note-3">3</a></sup>',
        '<sup class="x" id="r3"><a href="#cite_note-3"><span>[</span>3<span>]</span></a></sup>',
        '<sup><a href="#fn:1">1</a></sup>',
        '<sup><a href="#whatever">*</a></sup>',
        "<sup>[3]</sup>",
        "<sup>[note 2]</sup><sup>[4][5]</sup>",
        '<a href="notes.html#endnote9"><sup>9</sup></a>',
        '<a href="#fn1" class="footnote-ref" role="doc-noteref">1</a>',
        '<a href="n.xhtml#n1" epub:type="noteref">1</a>',
        '<a href="#_ftn1">[1]</a>',
        '[<a href="#ref3">3</a>]',
        '<span class="mw-ref"><a href="#cite_note-1"><span>[1]</span></a></span>',
        '<sup class="noprint">[<i><a href="/wiki/WP:CN">citation needed</a></i>]</sup>',
    ],
)
def test_marks_of_footnotes_are_not_glued_to_a_year(mark: str) -> None:
    assert text(f"<p>It sank in 1912{mark}. It was raised.</p>") == (
        "It sank in 1912. It was raised."
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("The [18]annulene ring", "The [18]annulene ring"),
        ('see chapter <a href="#note3">3</a>', "see chapter 3"),
        ('area <a href="area.html">51</a>', "area 51"),
        ('<a href="#install">Install</a> it', "Install it"),
    ],
)
def test_what_only_looks_like_a_mark_stays(html: str, expected: str) -> None:
    assert text(f"<p>{html}</p>") == expected


@pytest.mark.parametrize(
    "html",
    [
        '<p>Set <a class="reference internal" href="x">KEPT</a> to 0.</p>',
        '<p>Set <a class="reference external" href="x"><code>KEPT</code></a> to 0.</p>',
        '<div class="sidebar"><p class="sidebar-title">KEPT</p><p>Close the valve.</p></div>',
        '<aside class="sidebar"><p>KEPT is a long remark.</p></aside>',
        '<div class="metadata"><p>KEPT since 1950.</p></div>',
        "<article><header><h2>KEPT</h2></header><p>Text.</p></article>",
        "<section><header><p>KEPT</p></header><p>Text.</p></section>",
        "<header><h1>T</h1><p>KEPT, a page about a castle that stands on a hill.</p></header>",
        '<form action="x"><p>KEPT was built in 1220.</p><input type=hidden></form>',
        '<form method="post"><div><h2>KEPT</h2><p>Text.</p></div></form>',
        "<blockquote><p>Q</p><footer>KEPT the author</footer></blockquote>",
    ],
)
def test_content_stays_whatever_its_element_is_called(html: str) -> None:
    document = parse(f"<body>{html}<p>Last.</p></body>", "p", "T")
    assert "KEPT" in "\n".join(s.heading + "\n" + s.text for s in document.sections)


@pytest.mark.parametrize(
    "html",
    [
        '<div class="sidebar"><ul><li><a href="a">GONE</a><li><a href="b">B</a></ul></div>',
        '<header><a href="/">GONE</a> <a href="/b">Blog</a></header>',
        '<form role="search"><label>GONE</label><input><button>Go</button></form>',
        "<form><label>GONE</label> <select><option>GONE</select><button>GONE</button></form>",
        "<footer><p>GONE 2024</p></footer>",
        '<div class="toc"><ul><li><a href="#a">GONE</a></ul></div>',
    ],
)
def test_furniture_goes(html: str) -> None:
    content = "<p>A castle on a hill that was built by the king in 1220 and burnt in 1410.</p>"
    assert "GONE" not in text(f"<body>{html}{content * 3}</body>")


@pytest.mark.parametrize(
    "element",
    ['<a name="x"></a>', "<a id=x></a>", '<i class="icon"></i>', "<nobr>", "<wbr>", "<foo></foo>",
     "<my-mark></my-mark>", "<span></span>", "<bdi></bdi>", "<blink></blink>", "<!-- c -->"],
)  # fmt: skip
def test_an_inline_element_does_not_cut_a_sentence(element: str) -> None:
    assert text(f"<p>It was built {element}in 1220.</p>") == "It was built in 1220."


def test_the_reading_of_a_word_does_not_cut_it() -> None:
    found = text(
        "<p><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp></ruby><ruby>京<rt>きょう</rt></ruby>は"
        "<ruby>首都<rp>(</rp><rt>しゅと</rt><rp>)</rp></ruby>です</p>"
    )
    assert found == "東京は首都(しゅと)です"


def test_a_line_break_in_a_heading_is_a_blank() -> None:
    sections = parse("<p>L</p><h2>One<br>two<br/>three</h2><p>x</p>", "p", "T").sections
    assert sections[1].heading == "One two three"


def test_blank_lines_of_the_markup_do_not_cut_a_paragraph() -> None:
    assert text("<p>One\n\n  and two</p>") == "One and two"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("hy&shy;phen so\u00adft", "hyphen soft"),
        ("ze\u200bro w\u2060j b\ufeffom", "zero wj bom"),
        ("ﬁnal ﬂow eﬃcient", "final flow efficient"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_invisible_marks_and_ligatures_are_no_obstacle(html: str, expected: str) -> None:
    assert text(f"<p>{html}</p>") == expected


def test_a_formula_stands_once() -> None:
    wikipedia = (
        '<span class="mwe-math-element"><span style="display: none;"><math alttext="{\\displaystyle'
        ' a+b}"><mi>a</mi></math></span><img class="mwe-math-fallback-image-inline"'
        ' aria-hidden="true" alt="{\\displaystyle a+b}"></span>'
    )
    katex = (
        '<span class="katex"><span class="katex-mathml"><math><mi>a</mi><annotation '
        'encoding="application/x-tex">a+b</annotation></math></span>'
        '<span class="katex-html" aria-hidden="true">a+b</span></span>'
    )
    image = '<img class="tex" alt="a+b" src="x.png">'
    for formula in (wikipedia, katex, image):
        assert text(f"<p>Here {formula} ends.</p>") == "Here a+b ends."


def test_a_formula_without_tex_is_one_readable_line() -> None:
    html = (
        "<p><math><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mfrac><mn>1</mn>"
        "<mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></mfrac></math></p>"
    )
    assert text(html) == "x²+1/(n+1)"


def test_deleted_text_is_no_statement() -> None:
    assert text("<p>It costs <del>50</del> <s>45</s> 40.</p>") == "It costs 40."


def test_code_is_verbatim() -> None:
    html = "<pre>def f(x):\n    if x &lt; 1:\n\n\t\treturn  <b>2</b>\n</pre>"
    assert text(html) == "def f(x):\n    if x < 1:\n\n\t\treturn  2"


def test_ordered_lists_keep_their_numbers() -> None:
    html = (
        '<ol start="4"><li>Four<ol type="a"><li>sub</li><li><p>par</p></li></ol></li>'
        '<li value="9">Nine</li></ol><ol reversed><li>x</li><li>y</li></ol><ul><li>z</li></ul>'
    )
    assert text(html).split("\n") == [
        "4. Four", "a. sub", "b. par", "9. Nine", "2. x", "1. y", "z"
    ]  # fmt: skip


def test_terms_that_share_a_definition_stand_together() -> None:
    html = "<dl><dt>A</dt><dt>B</dt>\n<dd>\n<p>both</p></dd><dt>C</dt><dd>one</dd></dl>"
    assert text(html).split("\n") == ["A, B: both", "C: one"]


def test_cells_that_span_rows_and_columns_are_named_in_each() -> None:
    html = """<p>L</p><h2>X</h2><table><caption>Medals</caption><thead>
      <tr><th rowspan=2>Year<th colspan=2>Count</tr><tr><th>Gold<th>Silver</tr></thead>
      <tr><td rowspan=2>1936<td>3<td>4<tr><td colspan=2>none
      <tr><td colspan=3>Cancelled</table>"""
    assert text(html).split("\n")[1:] == [
        "Medals",
        "Year: 1936; Count Gold: 3; Count Silver: 4",
        "Year: 1936; Count Gold, Count Silver: none",
        "Cancelled",
    ]


def test_a_table_inside_a_table_is_read_once() -> None:
    html = "<p>L</p><table><tr><th>A</th><td>x<table><tr><th>B</th><td>ONCE</td></tr></table></td>"
    assert text(html).count("ONCE") == 1


def test_a_table_that_lays_out_a_page_is_no_data() -> None:
    html = "<table><tr><td><h2>Head</h2><p>One.</p><pre>a\n  b</pre></td><td>x</td></tr></table>"
    document = parse(html, "p", "T")
    assert [(s.heading, s.text) for s in document.sections] == [("Head", "One.\na\n  b\nx")]


def test_an_image_stands_for_text_where_a_letter_or_the_whole_cell_would() -> None:
    html = """<p><img alt="O" src=o>nce <img alt="a cat on a mat" src=c>upon</p>
      <table><tr><th>A<th>B<tr><td>x<td><img alt="Yes" src=y></table>"""
    assert text(html).split("\n") == ["Once upon", "A: x; B: Yes"]


@pytest.mark.parametrize("heading", ["Notes", "Sources", "References", "Literatur", "See also"])
@pytest.mark.parametrize(
    "page",
    [
        '<head><meta name="generator" content="infoforge zimify"></head><body class="mediawiki">{}',
        "<body><main>{}</main>",
        '<body><div class="document">{}</div>',
    ],
)
def test_sections_of_peoples_own_documents_stay(page: str, heading: str) -> None:
    html = page.format(f"<p>Lead.</p><h2>{heading}</h2><p>KEPT</p>")
    assert "KEPT" in text(html)


@pytest.mark.parametrize(
    "page",
    [
        '<body class="mediawiki skin-vector">{}',
        '<body><section data-mw-section-id="1">{}</section>',
        '<body><div class="mw-parser-output">{}</div>',
        '<head><link rel="canonical" href="https://en.wikipedia.org/wiki/X"></head><body>{}',
    ],
)
def test_reference_sections_of_a_wiki_go(page: str) -> None:
    assert "GONE" not in text(page.format("<p>Lead.</p><h2>References</h2><p>GONE</p>"))


HOSTILE = {
    "div": "<div>" * 100_000,
    "closed": "<div>x" * 50_000 + "</div>" * 50_000,
    "span": "<span>" * 300_000,
    "bold": "<b>" * 100_000 + "x",
    "fonts": "".join(f"<p><font size={i}>x" for i in range(20_000)),
    "tables": "<table><tr><td>" * 3_000,
    "quoted": '<div a="</div>">' * 2_000,
    "attributes": "<p " + " ".join(f"a{i}=1" for i in range(20_000)) + ">x",
    "names": "<p " + " ".join(f"a{i}" for i in range(20_000)) + ">x",
    "lists": "<ul><li>" * 1_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_markup_that_takes_too_long_is_refused_before_it_is_parsed(kind: str) -> None:
    with pytest.raises(markup.TooComplexError):
        parse(HOSTILE[kind], "p", "T")


def test_such_a_page_costs_one_article_and_says_why() -> None:
    info = CorpusInfo(name="wiki", kind="zim", title="Wiki")
    with pytest.raises(CorpusError, match="wiki: A/Deep is not read: elements nested"):
        article(info, "A/Deep", "Deep", "zim://x", HOSTILE["div"].encode(), "text/html")


@pytest.mark.parametrize(
    "html",
    [
        "<p>x" * 5_000,
        "<ul>" + "<li>x" * 5_000,
        "x<br>" * 5_000,
        "<table>" + "<tr><td>x<td>y" * 5_000,
        "<p><font size=2>x" * 2_000,
        '<a name="n">x' * 2_000,
        "<dl>" + "<dt>a<dd>b" * 2_000,
        "<script>" + "if (a<b && c<d) e();" * 3_000 + "</script><p>x",
        "<div>" * 200 + "x" + "</div>" * 200,
        "<p><!--" + "<div>" * 5_000 + "-->x",
    ],
)
def test_old_and_large_pages_are_read(html: str) -> None:
    assert text(html)


@given(st.text(alphabet="<>/=\"abtdp '-!", max_size=200))
def test_checking_the_bounds_refuses_or_passes_and_nothing_else(html: str) -> None:
    with contextlib.suppress(markup.TooComplexError):
        markup.check(html * 40)


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
    with pytest.raises(markup.TooComplexError):
        parse(page)


def test_many_elements_side_by_side_are_read() -> None:
    page = "<p>One <b>word</b>.<br><img src=a><p>Two" * 3000
    (section,) = parse(page).sections
    assert section.text.count("One word.") == 3000
