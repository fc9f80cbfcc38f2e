"""The first pass: titles, aliases, languages; encodings; the walk."""

import os
from pathlib import Path

import pytest
from support.documents import write_tree

from infoforge.zimify.encoding import declared_in, decode, detect
from infoforge.zimify.entries import title_from_name, unsupported
from infoforge.zimify.records import SourceFile
from infoforge.zimify.scan import (
    HEAD_BYTES,
    html_head,
    markdown_head,
    read_head,
    walk,
    without_site_name,
)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From the front\n---\n# Heading\n", "From the front"),
        ("---\ntitle: 2024\n---\n", "2024"),
        ("---\ntags: [a]\n---\n\n# Heading\n", "Heading"),
        ("+++\ntitle = 'Toml'\n+++\ntext", "Toml"),
        ("text first\n\n# Later **bold** `code` [link](x)\n", "Later bold code link"),
        ("## Second level first\n\ntext", "Second level first"),
        ("text\n\n## Not a title\n", ""),
        ("Underlined\n==========\n", "Underlined"),
        ("```\n# a comment\n```\n\n# Real\n", "Real"),
        ("# [[Wiki|Shown]] snake_case_name\n", "Shown snake_case_name"),
        ("---\nnot: [closed\n---\n# Still\n", "Still"),
        ("---\nno end\n# Title\n", "Title"),
        ("---\n- a list\n---\n# Title\n", "Title"),
        ("# Trailing ##\n", "Trailing"),
        ("#NoSpace\n", ""),
        ("", ""),
    ],
)
def test_the_title_of_a_note(text, title):
    assert markdown_head(text).title == title


def test_front_matter_says_more_than_the_title():
    head = markdown_head(
        "---\naliases: [One, Two, One]\nalias: Three\nlang: DE\ndisambiguation: true\n---\nx"
    )
    assert head.aliases == ("One", "Two", "Three")
    assert head.language == "de"
    assert head.disambiguation
    assert markdown_head("---\naliases: One, Two\n---\n").aliases == ("One", "Two")
    assert markdown_head("---\naliases: {a: b}\ntitle: [x]\n---\n").aliases == ()


def test_front_matter_is_measured_so_that_the_reader_can_leave_it_out():
    text = "---\ntitle: A\n---\n\nbody"
    assert text[markdown_head(text).front :] == "body"
    assert markdown_head("---\nbroken: [\n---\nbody").front == 0


@pytest.mark.parametrize(
    ("text", "title", "language"),
    [
        ('<html lang="de-AT"><title>Ein &amp; Zwei</title>', "Ein & Zwei", "de"),
        ("<html><title> </title><h1>The <i>first</i></h1>", "The first", ""),
        ("<html><body>nothing", "", ""),
        ("<title\n>Split\nlines</title>", "Split lines", ""),
    ],
)
def test_the_title_of_a_page(text, title, language):
    head = html_head(text)
    assert (head.title, head.language) == (title, language)


def test_the_name_of_the_site_is_no_part_of_its_titles():
    names = ["asyncio — Streams", "os", "re", "sys", "io", "csv"]
    titles = [f"{name} — The Handbook 3.1" for name in names]
    assert without_site_name([*titles, "Other"]) == [*names, "Other"]
    assert without_site_name(titles[:4]) == titles[:4]
    assert without_site_name([*titles, *["a", "b", "c", "d", "e", "f", "g"]])[:6] == titles
    assert without_site_name([*titles, " — The Handbook 3.1"])[-1] == " — The Handbook 3.1"
    assert without_site_name(["well-known"] * 9) == ["well-known"] * 9
    assert without_site_name([]) == []


def test_a_title_when_there_is_none():
    assert title_from_name("a/My_Note.md") == "My Note"
    assert title_from_name("guide/index.md") == "guide"
    assert title_from_name("README.md") == "README"
    assert title_from_name("_.md") == "_"


def test_a_character_cut_in_two_by_the_sample_does_not_change_the_encoding(tmp_path):
    for shift in range(4):
        path = tmp_path / f"{shift}.md"
        path.write_text("# Überschrift\n" + "x" * shift + "日" * HEAD_BYTES, encoding="utf-8")
        file = SourceFile(path.name, str(path), path.stat().st_size, 0.0, "markdown")
        assert read_head(file).title == "Überschrift"


def test_what_cannot_be_read_has_an_empty_head(tmp_path):
    assert read_head(SourceFile("x.md", str(tmp_path / "x.md"), 1, 0.0, "markdown")).title == ""


GERMAN = "Füße und Öfen, schöne Grüße aus Köln am Rhein, wo die Züge über Brücken fahren."
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (GERMAN.encode(), GERMAN),
        (GERMAN.encode("utf-8-sig"), GERMAN),
        (GERMAN.encode("utf-16"), GERMAN),
        (GERMAN.encode("utf-32"), GERMAN),
        (GERMAN.encode("latin-1"), GERMAN),
        (RUSSIAN.encode("cp1251"), RUSSIAN),
        (b"a\r\nb\x00c", "a\nbc"),
        (b"", ""),
    ],
)
def test_bytes_become_text(data, text):
    assert decode(data) == text


def test_a_declared_encoding_is_believed_unless_the_bytes_are_utf8():
    latin = "“Wörter”".encode("cp1252")
    assert decode(latin, "iso-8859-1") == "“Wörter”"
    assert decode("Wörter".encode(), "iso-8859-1") == "Wörter"
    assert decode("Wörter".encode("latin-1"), "no-such-codec") == "Wörter"
    assert declared_in(b'<meta charset="Big5">') == "Big5"
    assert declared_in(b'<meta http-equiv=x content="text/html; charset=koi8-r">') == "koi8-r"
    assert declared_in(b'<?xml version="1.0" encoding="utf-16"?>') == "utf-16"
    assert detect("日本".encode()[:-1]) == "utf-8"


def names(folder, *exclude, skip="", follow_links=False):
    warnings = []
    files = walk(str(folder), exclude, warnings.append, skip, follow_links=follow_links)
    found = [file.rel for file in files]
    return found, [warning.message for warning in warnings]


def test_the_walk_is_sorted_and_leaves_out_what_is_hidden(tmp_path):
    write_tree(tmp_path, {"b.md": "", "a/z.md": "", "a/.x.md": "", ".git/c.md": "", "B.md": ""})
    assert names(tmp_path)[0] == ["B.md", "a/z.md", "b.md"]


def test_globs_leave_out_files_and_folders(tmp_path):
    write_tree(tmp_path, {"a.md": "", "drafts/b.md": "", "x/drafts/c.md": "", "x/d.tmp": ""})
    assert names(tmp_path, "drafts", "*.tmp")[0] == ["a.md"]
    assert names(tmp_path, "x/drafts/")[0] == ["a.md", "drafts/b.md", "x/d.tmp"]
    assert names(tmp_path, "x/*")[0] == ["a.md", "drafts/b.md"]


def test_loops_and_odd_things_are_named_and_left_out(tmp_path):
    write_tree(tmp_path, {"a/b.md": "text"})
    (tmp_path / "a" / "loop").symlink_to("..")
    (tmp_path / "dangling.md").symlink_to("nowhere")
    (tmp_path / "linked.md").symlink_to("a/b.md")
    os.mkfifo(tmp_path / "pipe.md")
    found, said = names(tmp_path)
    assert found == ["a/b.md", "linked.md"]
    assert [message.split(":")[0] for message in said] == [
        "skipping a/loop",
        "skipping dangling.md",
        "skipping pipe.md",
    ]


def test_a_linked_folder_is_read_once(tmp_path):
    write_tree(tmp_path / "in", {"a/b.md": "text"})
    write_tree(tmp_path / "out", {"c.md": "text"})
    (tmp_path / "in" / "z").symlink_to(tmp_path / "out")
    (tmp_path / "in" / "zz").symlink_to(tmp_path / "out")
    found, said = names(tmp_path / "in", follow_links=True)
    assert found == ["a/b.md", "z/c.md"]
    assert len(said) == 1


def test_names_that_are_no_utf8_become_text_and_stay_apart(tmp_path):
    folder = os.fsencode(str(tmp_path))
    for name in (b"caf\xe9.md", "café.md".encode()):
        Path(os.fsdecode(folder + b"/" + name)).write_bytes(b"x")
    assert sorted(names(tmp_path)[0]) == ["café (2).md", "café.md"]


def test_the_output_in_the_folder_is_not_read(tmp_path):
    write_tree(tmp_path, {"a.md": "", "out.zim": "old"})
    assert names(tmp_path, skip=str(tmp_path / "out.zim"))[0] == ["a.md"]


@pytest.mark.parametrize("link", ["file", "folder", "through"])
def test_a_link_out_of_the_folder_is_named_and_followed_only_on_request(tmp_path, link):
    write_tree(tmp_path / "out", {"key": "PRIVATE", "more/key": "PRIVATE"})
    inside = write_tree(tmp_path / "in", {"a.md": "x"})
    if link == "file":
        (inside / "key").symlink_to("../out/key")
    elif link == "folder":
        (inside / "out").symlink_to("../out")
    else:
        (tmp_path / "hop").symlink_to("out")
        (inside / "hop").symlink_to("../hop/more")
    found, said = names(inside)
    assert found == ["a.md"]
    assert [text for text in said if "out of the folder (--follow-links" in text] == said != []
    assert len(names(inside, follow_links=True)[0]) > 1


def test_a_folder_may_be_a_link_itself(tmp_path):
    write_tree(tmp_path / "real", {"a.md": "x", "b/c.md": "x"})
    (tmp_path / "real" / "d.md").symlink_to("b/c.md")
    (tmp_path / "link").symlink_to("real")
    assert names(tmp_path / "link") == (["a.md", "b/c.md", "d.md"], [])


def test_lock_files_of_office_programs_are_no_documents(tmp_path):
    write_tree(tmp_path, {"~$plan.docx": "x", ".~lock.plan.odt#": "x", "plan.md": "x"})
    assert names(tmp_path) == (["plan.md"], [])


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/b.ADOC", ".adoc"),
        ("x.pptx", ".pptx"),
        ("man/man3/x.3pm", "man page"),
        ("man1/x.1.gz", "man page"),
        ("x.1", ""),
        ("_sources/x.rst", ""),
        ("x.png", ""),
        ("x.md", ""),
    ],
)
def test_documents_without_a_reader_are_known_by_their_endings(path, kind):
    assert unsupported(path) == kind
