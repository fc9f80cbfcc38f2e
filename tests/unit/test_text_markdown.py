"""Markdown is read once: front matter, blocks, titles, and what a reader sees."""

from __future__ import annotations

import textwrap

import pytest

from infoforge.text.markdown import blocks, front_matter, plain, title_of, visible, wiki_links
from infoforge.vault.chunks import chunks
from infoforge.vault.notes import parse

CODE = "for f in *; do\n  [[ -f $f ]] && rm -rf /srv/*/cache/*\n\n  # not a heading\ndone"


def characters(texts):
    return [len(text) for text in texts]


def content(note, name="x", window=100_000):
    return "\n\n".join(chunk.content for chunk in chunks(parse(note, name), characters, window))


@pytest.mark.parametrize("fence", ["```", "~~~", "`````"])
@pytest.mark.parametrize("indent", ["", "  ", "   ", "      "])
def test_a_fenced_block_is_verbatim_at_any_indentation(fence, indent):
    block = textwrap.indent(f"{fence}sh\n{CODE}\n{fence}", indent, lambda line: True)
    item = {"": "", "  ": "- item\n\n", "   ": "1. item\n\n", "      ": "- a\n  - b\n    - c\n\n"}
    note = f"# T\n\n{item[indent]}{block}\n\nafter *it*\n"
    assert CODE in content(note)
    assert "after it" in content(note)
    assert "not a heading" not in str([block.headings for block in parse(note, "x").blocks])


def test_an_indented_block_is_verbatim():
    assert CODE in content("# T\n\ntext\n\n" + textwrap.indent(CODE, "    ") + "\n\nafter\n")
    assert CODE in content("- item\n\n" + textwrap.indent(CODE, "      ") + "\n\nafter\n")


@pytest.mark.parametrize(
    "span",
    [
        "`src/**/*.ts`",
        "`if [[ -f $m ]]`",
        "``a `b` *c* d``",
        "`[x](y)`",
        "`<!-- no comment -->`",
        "`__init__ *args, **kwargs`",
    ],
)
@pytest.mark.parametrize(
    "frame", ["see {} and {}", "- {} *em*", "# T\n\n> {}", "| a |\n|---|\n| {} |"]
)
def test_a_code_span_is_verbatim(span, frame):
    assert span in content(frame.replace("{}", span))


def test_a_fence_on_one_line_is_a_code_span():
    text = content("```npm i```\n\n# Heading\n\n[link](other.md) **bold**\n")
    assert "```npm i```" in text
    assert "link bold" in text


def test_tables_without_outer_bars_keep_their_code():
    note = "a | b\n--- | ---\n`x \\| y` | *z*\n"
    assert [block.kind for block in blocks(note)] == ["table"]
    assert "`x | y` | z" in content(note)


def test_preformatted_html_is_verbatim():
    assert "a  *b*\n   c" in content("text\n\n<pre>\na  *b*\n   c\n</pre>\n\nafter\n")


def test_code_that_is_cut_loses_nothing_but_the_cut():
    code = "\n".join(f"  if x[{n}]:  return  *{n}*" for n in range(60)) + "\n" + "y = 1;  " * 60
    parts = [c.content for c in chunks(parse(f"```\n{code}\n```\n", "x"), characters, 120)]
    assert all(f"  if x[{n}]:  return  *{n}*" in "\n".join(parts) for n in range(60))
    assert "".join("".join(parts).split("\n")).count("y = 1;  ") == 60


def test_each_part_of_a_long_table_repeats_its_header():
    rows = "\n".join(f"| key {n} | value {n} |" for n in range(60))
    parts = chunks(parse(f"# T\n\n| name | size |\n|---|---|\n{rows}\n", "x"), characters, 300)
    assert len(parts) > 3
    assert all(part.content.startswith("| name | size |\n|---|---|\n| key") for part in parts)
    assert all(len(part.embedded) <= 300 for part in parts)
    assert "| key 59 | value 59 |" in parts[-1].content


def test_comments_are_removed_outside_code_only():
    note = (
        "before <!-- hidden --> after\n\n```html\n<!--\n```\n\nkept\n\n"
        "```mermaid\na --> b\n```\n\n<!--\nhidden\n\n# hidden too\n-->\n\nend `<!--` of `-->`\n"
    )
    text = content(note)
    for part in ("before  after", "<!--\n```", "kept", "a --> b", "end `<!--` of `-->`"):
        assert part in text
    assert "hidden" not in text


def test_the_text_of_a_drawing_is_indexed_and_its_data_is_not():
    note = (
        "---\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n---\n==Switch the view==\n\n"
        "# Excalidraw Data\n\n## Text Elements\nPump A ^a1b2c3\n\nValve B ^d4e5f6\n\n"
        "## Embedded Files\nff00: [[picture.png]]\n\n%%\n## Drawing\n```compressed-json\n"
        "N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYBXUtiRoIACyhQ4zZAHo\n"
        "```\n%%\n"
    )
    assert content(note, "Plan.excalidraw") == "Pump A\n\nValve B"


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("date: 2024/05/06", "2024-05-06"),
        ("date: 20240506", "2024-05-06"),
        ("date: 2024-5-6", "2024-05-06"),
        ("date: 2024.05.06", "2024-05-06"),
        ("updated: 2024-05-06T23:30:00-02:00", "2024-05-07"),
        ('date: "2024-05-06 10:00"', "2024-05-06"),
        ("date: 2024-13-45\ncreated: 2023-01-02", "2023-01-02"),
        ("date: 1234567", ""),
        ("date: soon", ""),
    ],
)
def test_dates(line, day):
    assert front_matter(f"---\n{line}\n---\n").date() == day


def test_broken_front_matter_is_read_line_by_line():
    front = front_matter(
        "---\nup: [[A]], [[B]]\ntitle: Pumps: in short\ndate: 2024-05-06\ntags:\n  - a\n  - b\n"
        "alias: {{title}}\n---\ntext"
    )
    assert front.problem
    assert front.line("title") == "Pumps: in short"
    assert front.names("tags") == ("a", "b")
    assert front.date() == "2024-05-06"
    assert front.values["up"] == "[[A]], [[B]]"
    assert "alias" not in front.values


@pytest.mark.parametrize("start", ["---", "--- ", "---\t"])
@pytest.mark.parametrize("end", ["---", "...", "--- "])
def test_front_matter_ends_with_dashes_or_dots(start, end):
    text = f"{start}\ntitle: A\n{end}\nbody"
    front = front_matter(text)
    assert front.line("title") == "A"
    assert text[front.length :] == "body"


@pytest.mark.parametrize(
    "text",
    ["---\nA rule above prose, and\nmore: of it\nand more.\n---\nx", "---\n- a\n---\n", "text"],
)
def test_prose_between_rules_is_text(text):
    assert front_matter(text).length == 0


def test_titles():
    assert title_of("text\n\n# Later **bold** `co_de` [link](x) ##\n") == "Later bold co_de link"
    assert title_of("## Second *level*\n\ntext") == "Second level"
    assert title_of("text\n\n## Not a title\n") == ""
    assert title_of("    # code\n\nUnder_lined\n===\n") == "Under_lined"
    assert visible("[[Wiki|Shown]] and `[[code]]`") == "Shown and [[code]]"


def test_links_are_gathered_outside_code():
    assert wiki_links("[[A#b|c]] `[[B]]` ![[C.png]]") == ["A", "C.png"]


def test_paths_are_no_emphasis():
    assert plain("rm -rf /srv/*/cache/* and **bold**") == "rm -rf /srv/*/cache/* and bold"
