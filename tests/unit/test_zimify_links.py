"""Links: where they lead, how they are written, and that bytes in order stay as they are."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.zimify.entries import (
    EntryIndex,
    Target,
    address,
    anchor,
    clip,
    clip_bytes,
    join,
    kind_of,
    mimetype_of,
)
from infoforge.zimify.links import rewrite
from infoforge.zimify.records import DocumentHead, LinkCount, SourceFile


def shelf_of(*names, heads=None, roots=()):
    files = [SourceFile(name, f"/x/{name}", 10, 0.0, kind_of(name)) for name in names]
    return EntryIndex(files, [(heads or {}).get(name, DocumentHead()) for name in names], roots)


def rewritten(page, index, rel, exact=True):
    count = LinkCount()
    path = index.by_rel[rel].path
    text = rewrite(page, path, rel, lambda url: index.link(url, rel), count, exact=exact)
    return text, count


SITE = (
    "index.html",
    "a/page.html",
    "a/other.html",
    "b/index.html",
    "img/p q.png",
    "style.css",
    "notes/Note.md",
    "notes/#1 50% off?.md",
)


@pytest.mark.parametrize(
    "page",
    [
        '<a href="other.html">x</a>',
        '<a href="other.html#top">x</a>',
        "<a href='../index.html'>x</a>",
        "<a href=other.html>x</a>",
        '<img src="../img/p%20q.png">',
        '<a href="#here">x</a>',
        '<a href="https://example.org/x.html">x</a>',
        '<a href="mailto:someone@example.org">x</a>',
        '<a href="javascript:void(0)">x</a>',
        '<img src="data:image/png;base64,AAAA">',
        "<script>x = '<a href=\"gone.html\">';</script>",
        "<p>nothing here, not even href=</p>",
        '<input data="gone.html">',
    ],
)
def test_what_is_right_is_not_touched(page):
    text, count = rewritten(page, shelf_of(*SITE), "a/page.html")
    assert text is page
    assert count == LinkCount()


@pytest.mark.parametrize(
    ("link", "new"),
    [
        ("/index.html", "../index.html"),
        ("./other.html", "other.html"),
        ("../b/", "../b/index.html"),
        ("../b", "../b/index.html"),
        ("other.html?v=3", "other.html"),
        ("OTHER.html", "other.html"),
        ("other", "other.html"),
        ("../notes/Note.md", "../notes/Note"),
        ("../notes/Note.html#part", "../notes/Note#part"),
        ("../notes/%231%2050%25%20off%3F.md", "../notes/%231%2050%25%20off%3F"),
        ("file:///srv/docs/b/index.html#x", "../b/index.html#x"),
        ("//example.org/x", "https://example.org/x"),
    ],
)
def test_what_leads_elsewhere_in_the_zim_is_rewritten(link, new):
    index = shelf_of(*SITE, roots=["/srv/docs"])
    text, count = rewritten(f'<a class="c" href="{link}">x</a>', index, "a/page.html")
    assert text == f'<a class="c" href="{new}">x</a>'
    assert count.dead == []


@pytest.mark.parametrize(
    "link", ["gone.html", "../../outside.html", "file:///etc/hosts", "b/", "/gone"]
)
def test_what_leads_nowhere_is_taken_out_and_reported(link):
    text, count = rewritten(f'<a href="{link}">x</a>', shelf_of(*SITE), "a/page.html")
    assert text == f'<a data-dead-href="{link}">x</a>'
    assert count.dead == [("a/page.html", link)]


def test_what_would_be_loaded_from_the_network_is_taken_out_and_reported():
    page = '<img src="https://example.org/i.png"><script src="//example.org/x.js"></script>'
    text, count = rewritten(page, shelf_of(*SITE), "a/page.html")
    assert " src=" not in text
    assert [link for _, link in count.external] == [
        "https://example.org/i.png",
        "https://example.org/x.js",
    ]


def test_links_in_comments_count_since_checkers_read_them_and_links_in_scripts_do_not():
    page = '<!-- <a href="gone.html"> --><script>a = "<a href=\'gone2.html\'>"</script>'
    _, count = rewritten(page, shelf_of(*SITE), "a/page.html")
    assert [link for _, link in count.dead] == ["gone.html"]


def test_base_is_worked_in_and_removed():
    page = '<head><base href="/b/"></head><a href="index.html">x</a><a href="/index.html">y</a>'
    text, count = rewritten(page, shelf_of(*SITE), "a/page.html")
    assert 'data-base-href="/b/"' in text
    assert '<a href="../b/index.html">x</a><a href="../index.html">y</a>' in text
    assert count.dead == []


def test_a_base_elsewhere_does_not_send_the_links_there():
    page = '<head><base href="https://example.org/"></head><a href="other.html">x</a>'
    text, _ = rewritten(page, shelf_of(*SITE), "a/page.html")
    assert "<base data-base-href=" in text
    assert '<a href="other.html">' in text


def test_srcset_keeps_the_candidates_that_are_there():
    page = '<img srcset="../img/p%20q.png 2x, gone.png 3x"><img srcset="gone.png">'
    text, _ = rewritten(page, shelf_of(*SITE), "a/page.html")
    assert text == '<img srcset="../img/p%20q.png 2x"><img data-dead-srcset="gone.png">'


def test_an_empty_link_leads_to_its_own_page():
    text, _ = rewritten('<a href="">x</a><img src="">', shelf_of(*SITE), "a/page.html")
    assert text == '<a href="#">x</a><img data-empty-src="">'


def test_a_file_whose_name_holds_the_query_is_found():
    text, count = rewritten('<a href="s.css?v=1">', shelf_of("i.html", "s.css?v=1"), "i.html")
    assert text == '<a href="s.css%3Fv%3D1">'
    assert count.dead == []


def test_a_hash_that_somebody_forgot_to_encode_is_found():
    text, _ = rewritten('<a href="C#.html">', shelf_of("i.html", "C#.html"), "i.html")
    assert text == '<a href="C%23.html">'


def test_a_root_above_the_folder_of_the_site_is_found():
    # A site in a sub-folder: its "/docs/x" is ours under content/.
    text, count = rewritten(
        '<a href="/docs/x">', shelf_of("content/a/i.html", "content/docs/x.md"), "content/a/i.html"
    )
    assert text == '<a href="../docs/x">'
    assert count.dead == []


@given(st.text(alphabet="<>\"'=/ ahrefscript#?%&;:.\n", max_size=300))
def test_broken_markup_is_survived_and_a_second_pass_changes_nothing(page):
    index = shelf_of("a/page.html", "a/b.html")
    once, _ = rewritten(page, index, "a/page.html")
    twice, count = rewritten(once, index, "a/page.html")
    assert twice == once
    assert count.dead == []


path_part = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="/\0"), min_size=1, max_size=8
).filter(lambda part: part not in (".", ".."))
path = st.lists(path_part, min_size=1, max_size=4).map("/".join)


@given(path, path)
def test_an_address_leads_back_to_its_path(target, start):
    from urllib.parse import unquote

    url = address(target, start)
    assert join(unquote(url), start) == target
    assert ":" not in url
    assert "?" not in url
    assert "#" not in url


@pytest.mark.parametrize(
    ("wiki", "target"),
    [
        ("Plan", Target("work/Plan")),
        ("plan", Target("work/Plan")),
        ("Plan.md", Target("work/Plan")),
        ("home/Plan", Target("home/Plan")),
        ("Plan#Next steps", Target("work/Plan", "next-steps")),
        ("Plan#Goals#Next steps", Target("work/Plan", "next-steps")),
        ("#Own heading", Target("work/today", "own-heading")),
        ("The big plan", Target("home/Plan")),
        ("Großer plan", Target("home/Plan")),
        ("pic.png", Target("img/pic.png")),
        ("deep/down/Thing", Target("x/deep/down/Thing")),
        ("Nothing", None),
    ],
)
def test_wiki_links_find_names_titles_and_aliases_the_nearest_first(wiki, target):
    index = shelf_of(
        "home/Plan.md",
        "img/pic.png",
        "work/Plan.md",
        "work/today.md",
        "x/deep/down/Thing.md",
        heads={"home/Plan.md": DocumentHead("The big plan", ("GROSSER Plan",))},
    )
    assert index.wiki(wiki, "work/today.md") == target


def test_pages_give_way_to_files_of_their_name():
    index = shelf_of("a.md", "a.txt", "a", "b.pdf", "b.md", "c.csv", "c.docx", "c.epub", "c.md")
    paths = [d.path for d in index.documents]
    assert len(set(paths) | {"b.pdf", "c.csv", "c.docx", "c.epub"}) == len(paths) + 4
    assert index.by_rel["a"].path == "a"
    assert index.by_rel["b.pdf"].path == "b"


def test_a_link_to_a_pdf_means_the_file_and_a_wiki_link_its_text():
    index = shelf_of("a.md", "b.pdf")
    assert index.link("b.pdf#page=2", "a.md") == Target("b.pdf", "page=2")
    assert index.wiki("b", "a.md") == Target("b")


def test_a_folder_without_an_index_leads_to_its_listing():
    index = shelf_of("a.md", "sub/b.md", "sub/c.md", "pics/d.png")
    assert index.link("sub/", "a.md") == Target("sub/index")
    assert index.link("pics/", "a.md") is None


def test_names_of_all_kinds():
    assert kind_of("a/B.MD") == "markdown"
    assert kind_of("_sources/a.txt") == "file"
    assert mimetype_of("x.svg") == "image/svg+xml"
    assert mimetype_of("x.tar.gz") == "application/octet-stream"
    assert mimetype_of("no-ending") == "application/octet-stream"
    assert anchor("What's new?  (2.0) – ok_1") == "whats-new--20--ok_1"
    assert clip("one two three", 8) == "one two…"
    assert clip("short", 8) == "short"
    assert clip_bytes("日" * 100, 200).encode().startswith("日".encode())
    assert len(clip_bytes("日" * 100, 200).encode()) <= 200


@pytest.mark.parametrize(
    "text",
    [
        "<pre>&lt;script src=&quot;https://x.org/a.js&quot;&gt; href=gone.html</pre>",
        "<p>set href=gone.html or src='https://x.org/a.js' there</p>",
        '<code>&lt;a href="gone.html"&gt;</code>',
        "<a title='a'>x</a> href=gone.html",
    ],
)
def test_what_only_looks_like_an_attribute_is_text(text):
    count = LinkCount()
    page = rewrite(text, "a", "a.md", lambda url: None, count)
    assert html.unescape(page) == html.unescape(text)
    assert 'href="gone' not in page
    assert not count.dead
    assert not count.external


def test_an_attribute_after_a_value_with_an_angle_is_one():
    count = LinkCount()
    page = '<a onclick="if (a > b) go()" href="gone.html">x</a>'
    assert "data-dead-href" in rewrite(page, "a", "a.md", lambda url: None, count)
