"""Readers: one document in, finished pages out."""

import io
import json
import zipfile
from itertools import pairwise
from pathlib import Path

import pytest
from support.documents import PNG, docx, epub, pdf, write_tree, zip_bomb, zipped

from infoforge.text.html import parse
from infoforge.zimify import readers
from infoforge.zimify.entries import EntryIndex
from infoforge.zimify.pages import Frame
from infoforge.zimify.readers import text as text_reader
from infoforge.zimify.records import Attachment, Page
from infoforge.zimify.scan import read_head, walk

FRAME = Frame("en", "index")


@pytest.fixture
def read(tmp_path):
    """``read({name: content, …}, name)`` -> what the reader makes of one of the files."""

    def run(files, name):
        write_tree(tmp_path, files)
        found = walk(str(tmp_path), (), lambda warning: None)
        index = EntryIndex(found, [read_head(file) for file in found])
        return readers.read(index.by_rel[name], index, FRAME)

    return run


def body(rendered, number=0):
    pages = [item for item in rendered.items if isinstance(item, Page)]
    return pages[number].body.decode()


def attachments(rendered):
    return {i.path: (i.mimetype, i.body) for i in rendered.items if isinstance(i, Attachment)}


def test_markdown_becomes_a_page(read):
    source = (
        "---\ntitle: The title\ntags: [x]\n---\n\nText *with* ~~marks~~.\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nif a < b:\n    pass\n```\n\n"
        "- [x] done\n\nTerm\n: its meaning\n\nA note.[^1]\n\n[^1]: The foot.\n"
    )
    page = body(read({"a.md": source}, "a.md"))
    assert "<title>The title</title>" in page
    assert "<h1>The title</h1>" in page
    assert "<td>2</td>" in page
    assert '<code class="language-python">if a &lt; b:\n    pass' in page
    assert "<s>marks</s>" in page
    assert 'type="checkbox"' in page
    assert "<dd>its meaning</dd>" in page
    assert 'class="footnotes"' in page
    assert "tags:" not in page


def test_a_note_with_its_own_heading_gets_no_second_one(read):
    page = body(read({"a.md": "---\ntitle: Other\n---\n# Own\n\ntext"}, "a.md"))
    assert page.count("<h1") == 1
    page = body(read({"a.md": "---\ntitle: Same\n---\n## Same\n\ntext"}, "a.md"))
    assert "<h1" not in page
    page = body(read({"a.md": "---\ntitle: Title\n---\n## Part\n\ntext"}, "a.md"))
    assert page.index("<h1>Title</h1>") < page.index('<h2 id="part">Part</h2>')


def test_wiki_links_of_every_form(read):
    files = {
        "in/a.md": (
            "[[B]] [[B|shown]] [[B#Some heading]] [[b#^block]] [[#Here]] [[Alias]] [[x/B]]\n\n"
            "![[pic.png]] ![[pic.png|120]] ![[B]] [[Gone]] `[[code]]` [[ not\nclosed ]]\n\n"
            "| t |\n|---|\n| [[B\\|in a table]] |\n"
        ),
        "x/B.md": "---\naliases: [Alias]\n---\n## Some heading\n",
        "pic.png": PNG,
    }
    rendered = read(files, "in/a.md")
    page = body(rendered)
    for markup in (
        '<a href="../x/B">B</a>',
        '<a href="../x/B">shown</a>',
        '<a href="../x/B#some-heading">B § Some heading</a>',
        '<a href="a#here">Here</a>',
        '<a href="../x/B">Alias</a>',
        '<a href="../x/B">x/B</a>',
        '<img src="../pic.png" alt="">',
        '<img src="../pic.png" alt="" width="120">',
        '<span class="missing">Gone</span>',
        "<code>[[code]]</code>",
        '<a href="../x/B">in a table</a>',
    ):
        assert markup in page
    assert rendered.links.dead == [("in/a.md", "[[Gone]]")]
    assert 'id="some-heading"' in body(read(files, "x/B.md"))


def test_links_between_notes_and_to_files(read):
    files = {
        "a.md": (
            "[one](b.md) [two](./b.md#part) [three](b) [four](sub/) [five](Long%20name.md)\n"
            "![i](pic.png) [six](gone.md) <a href='page.html'>seven</a>\n"
            '[eight]({{< ref "./b.md" >}}) [nine]({{% relref "Long name.md" %}})\n'
        ),
        "b.md": "x",
        "sub/c.md": "x",
        "Long name.md": "x",
        "page.html": "<title>x</title>",
        "pic.png": PNG,
    }
    rendered = read(files, "a.md")
    page = body(rendered)
    for markup in (
        '<a href="b">one</a>',
        '<a href="b#part">two</a>',
        '<a href="b">three</a>',
        '<a href="sub/index">four</a>',
        '<a href="Long%20name">five</a>',
        '<img src="pic.png" alt="i">',
        '<a data-dead-href="gone.md">six</a>',
        'href="page.html">seven',
        '<a href="b">eight</a>',
        '<a href="Long%20name">nine</a>',
    ):
        assert markup in page
    assert rendered.links.dead == [("a.md", "gone.md")]


def test_headings_of_one_name_have_anchors_of_their_own(read):
    page = body(read({"a.md": "# A\n\n## Steps\n\n## Steps\n\n## !\n"}, "a.md"))
    assert [f'id="{name}"' in page for name in ("a", "steps", "steps-1", "section")] == [True] * 4


def test_a_picture_in_the_network_becomes_a_link_to_it(read):
    rendered = read({"a.md": "![a <chart>](https://example.org/c.png)"}, "a.md")
    page = body(rendered)
    assert '<a class="external-image" href="https://example.org/c.png">a &lt;chart&gt;</a>' in page
    assert rendered.links.external == [("a.md", "https://example.org/c.png")]


def test_a_disambiguation_page_is_known_as_one(read):
    source = "---\ntitle: Ada\ndisambiguation: true\n---\n**Ada** may refer to:\n\n- [[b]], a b\n"
    page = body(read({"Ada.md": source, "b.md": "x"}, "Ada.md"))
    document = parse(page, "Ada")
    assert document.disambiguation
    assert [link.path for link in document.links] == ["b"]
    assert not parse(body(read({"c.md": "# C\n\ntext"}, "c.md")), "c").disambiguation


def test_empty_notes_have_a_title(read):
    assert "<h1>empty</h1>" in body(read({"empty.md": ""}, "empty.md"))


def test_pages_stay_as_they_are_but_say_that_they_are_utf8(read):
    right = "<html><head><meta charset='UTF-8'><title>T</title></head><body>ä</body></html>"
    assert body(read({"a.html": right}, "a.html")) == right
    plain = "<html><head><title>T</title></head><body>a</body></html>"
    assert body(read({"a.html": plain}, "a.html")) == plain
    page = body(read({"a.html": plain.replace(">a<", ">ä<")}, "a.html"))
    assert page == plain.replace(">a<", ">ä<").replace("<head>", '<head><meta charset="utf-8">')


@pytest.mark.parametrize(
    ("encoding", "text"), [("big5", "中文字"), ("iso-8859-1", "Köln"), ("koi8-r", "Москва")]
)
def test_pages_in_other_encodings_become_utf8(read, encoding, text):
    page = f"<html><head><meta charset={encoding}><title>{text}</title></head></html>"
    made = body(read({"a.html": page.encode(encoding)}, "a.html"))
    assert text in made
    assert "<meta charset=utf-8>" in made


def test_a_page_that_the_web_may_not_index_is_found_all_the_same(read):
    page = (
        "<html><head><title>T</title><meta name='robots' content='noindex, follow'></head></html>"
    )
    assert "name='former-robots' content='noindex" in body(read({"a.html": page}, "a.html"))
    allowed = page.replace("noindex", "index")
    assert body(read({"a.html": allowed}, "a.html")) == allowed


def test_text_keeps_its_lines_and_its_signs(read):
    page = body(read({"a.txt": "one\n  <two> & three\n"}, "a.txt"))
    assert "one\n  &lt;two&gt; &amp; three" in page


def test_long_text_becomes_a_chain_of_pages(read, monkeypatch):
    monkeypatch.setattr(text_reader, "PART_BYTES", 1000)
    lines = [f"line {number}" for number in range(500)]
    rendered = read({"a.txt": "\n".join(lines), "a (2).md": "in the way"}, "a.txt")
    pages = [item for item in rendered.items if isinstance(item, Page)]
    assert len(pages) > 4
    assert len({page.path for page in pages} | {"a (2)"}) == len(pages) + 1
    words = "".join(page.body.decode() for page in pages)
    assert all(f"{line}\n" in words or f"{line}<" in words for line in lines)
    for before, after in pairwise(pages):
        name = after.path.replace(" ", "%20").replace("(", "%28").replace(")", "%29")
        assert f'rel="next" href="{name}"' in before.body.decode()
    assert 'rel="next"' not in pages[-1].body.decode()


def test_binary_data_under_the_name_of_a_text_is_refused(read):
    assert "binary" in read({"a.txt": bytes(range(256)) * 40}, "a.txt").error


@pytest.mark.parametrize(
    "table",
    ["name,age\nAnna,3\n", "name;age\nAnna;3\n", "name\tage\nAnna\t3\n"],
)
def test_tables_in_any_dialect(read, table):
    rendered = read({"a.csv": table}, "a.csv")
    page = body(rendered)
    assert "<tr><th>name</th><th>age</th></tr>" in page
    assert "<tr><td>Anna</td><td>3</td></tr>" in page
    assert '<a href="a.csv">a.csv</a>' in page


def test_long_tables_repeat_their_heading(read):
    rows = "\n".join(f"{n},{n * n}" for n in range(4500))
    rendered = read({"a.csv": f"n,square\n{rows}\n"}, "a.csv")
    assert len(rendered.items) == 3
    assert all("<th>square</th>" in page.body.decode() for page in rendered.items)
    assert "<td>4499</td>" in body(rendered, 2)


def test_odd_tables_are_survived(read):
    assert "(empty)" in body(read({"a.csv": ""}, "a.csv"))
    assert "&lt;b&gt;" in body(read({"a.csv": "x,<b>\n1"}, "a.csv"))
    assert "Zürich" in body(read({"a.csv": "Ort,PLZ\nZürich,8000\n".encode("latin-1")}, "a.csv"))


@pytest.mark.parametrize(
    ("data", "row"),
    [
        ("sep=;\r\na;b\r\n1,5;2\r\n", ["1,5", "2"]),
        ("SEP=|\na|b\n1;2;3|4\n", ["1;2;3", "4"]),
        ("a;b\n1;[x, y]\n2;(x, y)\n", ["1", "[x, y]"]),
        ("a,b,c\n1,[x, y, z],2\n", ["1", "[x, y, z]", "2"]),
        ('a,b\r\n"one\r\ntwo",2\r\n"three\r\nfour",4\r\n', ["one<br>two", "2"]),
        ('name;text\r\n"a, b\r\nc, d";"x ""y"" z"\r\n', ["a, b<br>c, d", 'x "y" z']),
        ("a\tb\n1, 2\t3\n", ["1, 2", "3"]),
        ("price;note\n1,50;x\n2,70;y\n", ["1,50", "x"]),
        ("one\nx\n", ["x"]),
    ],
)
def test_cells_are_told_apart(read, data, row):
    cells = "".join(f"<td>{cell}</td>" for cell in row)
    page = body(read({"a.csv": data.encode()}, "a.csv")).replace("&quot;", '"')
    assert f"<tr>{cells}</tr>" in page


def test_a_pdf_becomes_its_text(read):
    rendered = read({"a.pdf": pdf(["First page", "Second page"], "The manual")}, "a.pdf")
    page = body(rendered)
    assert rendered.title == "The manual"
    assert '<section id="page=2">\n<p>Second page</p>' in page
    assert '<a href="a.pdf">a.pdf</a>' in page


def test_each_page_of_a_pdf_is_a_section_with_its_anchor(read):
    sections = parse(body(read({"a.pdf": pdf(["First", "", "Third"])}, "a.pdf"))).sections
    assert [(s.text, s.anchor) for s in sections] == [("First", "page=1"), ("Third", "page=3")]


def test_a_pdf_without_a_useful_title_is_called_as_its_file(read):
    assert read({"My_file.pdf": pdf(["x"], "Microsoft Word - x.doc")}, "My_file.pdf").title == (
        "My file"
    )


def test_a_pdf_with_a_password_is_refused_and_one_with_an_empty_password_read(read):
    locked = read({"a.pdf": pdf(["secret"], password="x")}, "a.pdf")
    assert locked.error == "protected by a password"
    assert not locked.items


def test_a_pdf_of_pictures_is_told(read):
    rendered = read({"a.pdf": pdf([""])}, "a.pdf")
    assert [warning.code for warning in rendered.warnings] == ["zimify_no_text"]
    assert rendered.items


def test_pages_without_text_are_named(read):
    rendered = read({"a.pdf": pdf(["one", "", "three", "", ""])}, "a.pdf")
    assert rendered.left_out == ["pages 2, 4-5 without text, only pictures"]


def drawn(*lines: str, font: str = "Helvetica") -> bytes:
    """A page with lines of text, each `x y text` in points."""
    page = pdf(["@"])
    moves = " ".join(
        f"1 0 0 1 {x} {y} Tm ({text}) Tj" for x, y, text in (line.split(" ", 2) for line in lines)
    )
    start, end = page.index(b"BT "), page.index(b"ET")
    body = f"BT /F1 12 Tf {moves} ".encode("cp1252")
    page = page[:start] + body + page[end:]
    length = page.index(b"/Length ")
    page = page[: length + 8] + str(len(body) + 2).encode() + page[page.index(b" >>", length) :]
    return page.replace(b"/Helvetica", b"/" + font.encode())


def test_letters_that_stand_apart_are_words(read):
    page = body(read({"a.pdf": drawn("72 700 new", "98 700 graph")}, "a.pdf"))
    assert "<p>new graph</p>" in page


def test_a_word_broken_at_the_end_of_a_line_is_joined_unless_it_has_a_hyphen(read):
    lines = ["72 700 This is the docu-", "72 686 mentation of a self-", "72 672 contained, well-"]
    page = body(read({"a.pdf": drawn(*lines, "72 658 known UTF-", "72 644 8 text")}, "a.pdf"))
    assert "the documentation of a self-contained, well-known UTF-8 text" in page


def test_raised_and_lowered_digits_are_exponents_and_indices(read):
    page = drawn("72 700 about 10", "72 650 H")
    raised = b"(about 10) Tj /F1 7 Tf 1 0 0 1 118.9 706 Tm (6) Tj /F1 12 Tf "
    lowered = b"(H) Tj /F1 7 Tf 1 0 0 1 80.7 647 Tm (2) Tj /F1 12 Tf 1 0 0 1 84.6 650 Tm (O) Tj "
    page = page.replace(b"(about 10) Tj ", raised).replace(b"(H) Tj ", lowered)
    length = page.index(b"/Length ")
    end = page.index(b"\nendstream") - page.index(b"stream\n") - len(b"stream\n")
    page = page[: length + 8] + str(end).encode() + page[page.index(b" >>", length) :]
    text = body(read({"a.pdf": page}, "a.pdf"))
    assert "about 10⁶" in text
    assert "H₂O" in text


def test_paragraphs_are_told_by_their_distance(read):
    lines = ["72 700 The first", "72 686 goes on", "72 650 The second", "72 636 goes on"]
    page = body(read({"a.pdf": drawn(*lines)}, "a.pdf"))
    assert "<p>The first goes on</p>\n<p>The second goes on</p>" in page


def test_code_keeps_its_lines_and_its_indentation(read):
    lines = ["72 700 if x:", "100.8 686 y = 1", "72 672 done"]
    page = body(read({"a.pdf": drawn(*lines, font="Courier")}, "a.pdf"))
    assert "<pre>if x:\n    y = 1\ndone</pre>" in page


def test_a_made_page_says_so(read):
    assert '<meta name="generator" content="infoforge zimify">' in body(
        read({"a.txt": "x"}, "a.txt")
    )


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4 nothing", pdf(["x" * 500])[:300], b"\0" * 2000])
def test_a_damaged_pdf_is_refused(read, data):
    assert read({"a.pdf": data}, "a.pdf").error


def titled(files: dict[str, str], title: str = "The book") -> bytes:
    """A book whose chapters all have the book's title, and a table of contents."""
    book = epub(title, files)
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in files:
        path = f"OEBPS/{name}"
        named = f"<title>{title}</title>".encode()
        members[path] = members[path].replace(f"<title>{name}</title>".encode(), named)
    return zipped(members)


NAV = (
    '<nav><ol><li><a href="one.xhtml">First steps</a></li>'
    '<li><a href="one.xhtml#x">A part of it</a></li>'
    '<li><a href="two.xhtml#start">How <i>it</i> ends</a></li></ol></nav>'
)
NCX = (
    '<?xml version="1.0"?><!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "ncx.dtd">'
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
    "<navPoint><navLabel><text>First steps</text></navLabel><content src='one.xhtml'/></navPoint>"
    "<navPoint><navLabel><text>How it ends</text></navLabel><content src='two.xhtml#a'/>"
    "</navPoint></navMap></ncx>"
)


@pytest.mark.parametrize("kind", ["nav", "ncx"])
def test_chapters_named_as_the_book_take_their_names_from_its_contents(read, kind):
    chapters = {"one.xhtml": "<p>a</p>", "two.xhtml": "<p>b</p>", "three.xhtml": "<h2>Last</h2>"}
    book = titled(chapters)
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    item = (
        '<item id="toc" href="toc.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        if kind == "nav"
        else '<item id="toc" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    )
    opf = members["OEBPS/book.opf"].decode()
    members["OEBPS/book.opf"] = opf.replace("</manifest>", f"{item}</manifest>").encode()
    if kind == "nav":
        members["OEBPS/toc.xhtml"] = f"<html><body>{NAV}</body></html>".encode()
    else:
        members["OEBPS/toc.ncx"] = NCX.encode()
    rendered = read({"b.epub": zipped(members)}, "b.epub")
    titles = [item.title for item in rendered.items if isinstance(item, Page)]
    wanted = ["First steps (The book)", "How it ends (The book)", "Last (The book)", "The book"]
    assert titles == wanted


def with_body(markup: str) -> bytes:
    """A Word document whose paragraphs are these."""
    with zipfile.ZipFile(io.BytesIO(docx([("Normal", "BODY")]))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    main = members["word/document.xml"].decode()
    start, end = main.index("<w:p>"), main.rindex("</w:p>") + len("</w:p>")
    space = ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    main = main[:start] + markup + main[end:]
    members["word/document.xml"] = main.replace("<w:document", f"<w:document{space}").encode()
    return zipped(members)


HEADING = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>{}<w:r><w:t>The title</w:t></w:r></w:p>'
BOOKMARK = '<w:bookmarkStart w:id="0" w:name="mark"/><w:bookmarkEnd w:id="0"/>'


@pytest.mark.parametrize(
    "before", [HEADING.format(BOOKMARK), f"<w:p>{BOOKMARK}</w:p>{HEADING.format('')}"]
)
def test_a_bookmark_before_the_title_of_a_word_document(read, before):
    rendered = read({"a.docx": with_body(before)}, "a.docx")
    assert rendered.title == "The title"
    assert body(rendered).count("<h1") == 1


def test_formulas_of_a_word_document_are_text(read):
    def run(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    power = f"<m:sSup><m:e>{run('c')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>"
    water = f"<m:sSub><m:e>{run('H')}</m:e><m:sub>{run('2')}</m:sub></m:sSub>"
    part = f"<m:f><m:num>{run('a+b')}</m:num><m:den>{run('2')}</m:den></m:f>"
    root = f"<m:rad><m:deg/><m:e>{run('x')}</m:e></m:rad>"
    total = (
        '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>'
        f"<m:sub>{run('i=1')}</m:sub><m:sup>{run('n')}</m:sup><m:e>{run('i')}</m:e></m:nary>"
    )
    markup = (
        f"<w:p><w:r><w:t>Energy </w:t></w:r><m:oMath>{run('E=m')}{power}</m:oMath></w:p>"
        f"<w:p><m:oMathPara><m:oMath>{part}{root}</m:oMath></m:oMathPara></w:p>"
        f"<w:p><m:oMath>{total}{water}</m:oMath></w:p>"
    )
    page = body(read({"a.docx": with_body(markup)}, "a.docx"))
    assert "<p>Energy E=mc²</p>" in page
    assert "<p>(a+b)/2√x</p>" in page
    assert "<p>∑_(i=1)ⁿ iH₂</p>" in page


RST = """.. _top:

The handbook
============

.. toctree::
   :maxdepth: 2

   other

Use :func:`open <builtins.open>`, :ref:`the guide <top>` and :option:`-v`. See other.html_.

.. _other.html: other.html

.. versionadded:: 3.9
   Works *offline*.

.. code-block:: sh
   :caption: Run

   rm -rf /srv/*/cache/*

.. py:function:: run(path)
   :module: x

   Runs a file.

.. include:: /etc/passwd
"""


def test_restructured_text_keeps_what_sphinx_adds(read):
    rendered = read({"a.rst": RST, "other.html": "<p>x"}, "a.rst")
    page = body(rendered)
    assert rendered.title == "The handbook"
    for part in ("open", "the guide", "-v", "versionadded: 3.9", "Works <em>offline</em>"):
        assert part in page
    assert "rm -rf /srv/*/cache/*" in page
    assert "run(path)" in page
    assert "Runs a file." in page
    assert '<a class="reference external" href="other.html">' in page
    assert "root:" not in page
    assert page.count("<h1") == 1


def test_a_notebook_becomes_text_and_code(read):
    cells = [
        {"cell_type": "markdown", "source": ["# The *study*\n", "text"]},
        {
            "cell_type": "code",
            "source": "print(1)\n```",
            "outputs": [
                {"output_type": "stream", "text": ["one <1>\n"]},
                {"output_type": "display_data", "data": {"image/png": "x", "text/plain": "<Fig>"}},
            ],
        },
    ]
    book = {"cells": cells, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4}
    rendered = read({"a.ipynb": json.dumps(book)}, "a.ipynb")
    page = body(rendered)
    assert rendered.title == "The study"
    assert '<code class="language-python">print(1)\n```\n</code>' in page
    assert "one &lt;1&gt;" in page
    assert rendered.left_out == ["1 picture(s) that code drew"]
    assert read({"a.ipynb": "[1"}, "a.ipynb").error.startswith("no notebook")


def test_a_spreadsheet_becomes_tables(read, tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "Pumps"
    for row in (["name", "litres"], ["A & B", 3.5], [None, None], ["C", "=1+1"]):
        book.active.append(row)
    book.create_sheet("Empty")
    book.create_sheet("Valves").append(["only"])
    stream = io.BytesIO()
    book.save(stream)
    rendered = read({"a.xlsx": stream.getvalue()}, "a.xlsx")
    assert [item.title for item in rendered.items] == ["a: Pumps (1)", "a: Valves (2)"]
    assert "<tr><td>A &amp; B</td><td>3.5</td></tr>" in body(rendered)
    assert read({"a.xlsx": b"PK nothing"}, "a.xlsx").error


def test_rich_text_becomes_its_text(read):
    data = rb"{\rtf1\ansi\ansicpg1252 {\b Gr\'fc\'dfe} aus K\'f6ln\par Zwei\par}"
    assert "<p>Grüße aus Köln</p>\n<p>Zwei</p>" in body(read({"a.rtf": data}, "a.rtf"))
    assert read({"a.rtf": "text"}, "a.rtf").error == "no RTF"


MESSAGE = (
    "From: Ann <ann@example.org>\r\nTo: bob@example.org\r\nDate: Mon, 6 May 2024 10:00:00 +0000\r\n"
    "Subject: =?utf-8?q?The_pump_in_K=C3=B6ln?=\r\nMIME-Version: 1.0\r\n"
    'Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n'
    "<p>It <b>leaks</b>.</p>\r\n--b\r\nContent-Type: application/pdf\r\n"
    'Content-Disposition: attachment; filename="plan.pdf"\r\n\r\nx\r\n--b--\r\n'
)


def test_mail_becomes_pages(read):
    rendered = read({"a.eml": MESSAGE}, "a.eml")
    page = body(rendered)
    assert rendered.title == "The pump in Köln"
    assert "Ann &lt;ann@example.org&gt;" in page
    assert "It leaks." in page
    assert rendered.left_out == ["the attachment plan.pdf"]
    mails = "".join(f"From x@y Mon May  6 10:00:00 2024\n{MESSAGE}\n" for _ in range(2))
    box = read({"b.mbox": mails.replace("\r\n", "\n")}, "b.mbox")
    assert [item.path for item in box.items] == ["b.mbox.messages/1", "b.mbox.messages/2", "b"]


def test_a_word_document_becomes_a_page(read):
    data = docx(
        [("Heading1", "The heading"), ("Normal", "Some text & more")],
        title="The properties",
        link="b.md",
        picture=True,
    )
    rendered = read({"a.docx": data, "b.md": "x"}, "a.docx")
    page = body(rendered)
    assert rendered.title == "The properties"
    assert "<h1>The heading</h1>" in page
    assert "Some text &amp; more" in page
    assert '<a href="b">a link</a>' in page
    assert '<img src="a.docx.pictures/1.png"' in page
    assert attachments(rendered) == {"a.docx.pictures/1.png": ("image/png", PNG)}
    assert read({"c.docx": docx([("Heading1", "Only a heading")])}, "c.docx").title == (
        "Only a heading"
    )
    assert "<h1>d</h1>" in body(read({"d.docx": docx([("Normal", "x")])}, "d.docx"))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged"),
        (b"PK\3\4 junk", "damaged"),
        (zipped({"x": "y"}), "no Word document"),
        (zip_bomb(), "zip bomb"),
        (docx([("Normal", "text " * 500)])[:-200], "damaged"),
    ],
)
def test_a_damaged_word_document_is_refused(read, data, reason):
    assert reason in read({"a.docx": data}, "a.docx").error


def test_a_newer_kind_of_archive_is_not_called_damaged(read):
    data = bytearray(docx([("Normal", "text")]))
    place = data.index(b"PK\1\2") + 6
    data[place : place + 2] = (99).to_bytes(2, "little")
    error = read({"a.docx": bytes(data)}, "a.docx").error
    assert "not supported" in error
    assert "damaged" not in error


def test_a_bomb_that_lies_about_its_size_unpacks_no_further_than_it_says(read):
    data = bytearray(zip_bomb(80))
    size = (80 << 20).to_bytes(4, "little")
    for _ in range(data.count(size)):
        place = data.index(size)
        data[place : place + 4] = (1000).to_bytes(4, "little")
    rendered = read({"a.docx": bytes(data)}, "a.docx")
    assert rendered.error
    assert not rendered.items


def test_an_encrypted_archive_is_refused(read):
    data = bytearray(docx([("Normal", "x")]))
    at = data.index(b"PK\1\2")
    data[at + 8] |= 1
    assert read({"a.docx": bytes(data)}, "a.docx").error == "protected by a password"


def test_a_book_becomes_a_page_for_each_chapter(read):
    data = epub(
        "The book",
        {
            "one.xhtml": '<h1>Start</h1><p><a href="two.xhtml#x">on</a><a id="q"/>'
            '<img src="pic.png"/></p>',
            "two.xhtml": '<h2 id="x">End</h2><a href="gone.xhtml">gone</a>',
        },
        {"pic.png": PNG, "s.css": b"p{}"},
    )
    rendered = read({"b.epub": data}, "b.epub")
    pages = {item.path: item for item in rendered.items if isinstance(item, Page)}
    assert [page.title for page in pages.values()] == [
        "Start (The book)",
        "End (The book)",
        "The book",
    ]
    one = pages["b.epub.book/OEBPS/one.xhtml"].body.decode()
    assert 'href="two.xhtml#x"' in one
    assert '<a id="q"></a>' in one
    assert '<a href="b.epub.book/OEBPS/one.xhtml">' in pages["b"].body.decode()
    assert rendered.links.dead == [("b.epub/OEBPS/two.xhtml", "gone.xhtml")]
    assert attachments(rendered)["b.epub.book/OEBPS/pic.png"] == ("image/png", PNG)


def test_damaged_and_locked_books_are_refused(read):
    good = epub("T", {"a.xhtml": "x"})
    locked = io.BytesIO(good)
    with zipfile.ZipFile(locked, "a") as archive:
        archive.writestr(
            "META-INF/encryption.xml",
            '<encryption><CipherReference URI="OEBPS/a.xhtml"/></encryption>',
        )
    for data, reason in (
        (b"x", "damaged"),
        (zipped({"x": "y"}), "no EPUB"),
        (zipped({"META-INF/container.xml": "<broken"}), "damaged EPUB"),
        (epub("T", {}), "without chapters"),
        (locked.getvalue(), "digital rights"),
    ):
        assert reason in read({"b.epub": data}, "b.epub").error


def test_entities_that_grow_are_stopped(read):
    layers = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE x [<!ENTITY l0 "lol">{layers}]><x full-path="&l11;"/>'
    assert read({"b.epub": zipped({"META-INF/container.xml": bomb})}, "b.epub").error


def test_a_file_that_vanished_is_named(tmp_path):
    write_tree(tmp_path, {"a.md": "x", "b.txt": "x", "c.pdf": "x", "d.docx": "x"})
    found = walk(str(tmp_path), (), lambda warning: None)
    index = EntryIndex(found, [read_head(file) for file in found])
    for document in index.documents:
        Path(document.file.real).unlink()
        assert readers.read(document, index, FRAME).error == "No such file or directory"
