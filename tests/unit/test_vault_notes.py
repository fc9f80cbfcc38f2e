"""Notes: front matter, headings, blocks, links; and their chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.vault.chunks import chunks
from infoforge.vault.notes import NotANote, NoteBlock, decode, parse


def words(texts):
    return [len(text.split()) for text in texts]


def test_front_matter():
    note = parse(
        "---\ntitle: The Boiler\ntags: [heating, cellar]\naliases: furnace\n"
        "updated: 2026-03-04T10:00:00\ndate: 2020-01-01\n---\n\nText.\n",
        "boiler",
    )
    assert (note.title, note.tags, note.aliases) == (
        "The Boiler",
        ("heating", "cellar"),
        ("furnace",),
    )
    assert note.date == "2026-03-04"
    assert note.blocks == (NoteBlock((), "text", "Text."),)


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: [unclosed\n---\n\nText.\n",
        "---\n- a list\n---\n\nText.\n",
        "---\ndate: 2026-99-99\n---\n\nText.\n",
        "---\nno end\n\nText.\n",
    ],
)
def test_a_front_matter_that_cannot_be_read_is_no_reason_to_fail(text):
    note = parse(text, "boiler")
    assert "Text." in " ".join(block.text for block in note.blocks)
    assert note.date == ""


def test_toml_front_matter():
    note = parse('+++\ntitle = "Pump"\ndate = 2025-02-03\n+++\n\nText.\n', "x")
    assert (note.title, note.date) == ("Pump", "2025-02-03")


def test_headings_make_paths():
    note = parse("# Top\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n", "x")
    assert note.title == "Top"
    assert [(b.headings, b.text) for b in note.blocks] == [
        ((), "a"),
        (("B",), "b"),
        (("B", "C"), "c"),
        (("D",), "d"),
    ]


def test_underlined_headings_and_a_heading_with_nothing_under_it():
    note = parse("Top\n===\n\nSub\n---\n\ntext\n\n## Empty\n\n## Last\n", "x")
    assert note.title == "Top"
    assert [(b.headings, b.text) for b in note.blocks] == [
        (("Sub",), "text"),
        (("Empty",), "Empty"),
        (("Last",), "Last"),
    ]


def test_a_hash_in_a_code_block_is_no_heading():
    note = parse("# T\n\n```sh\n# not a heading\nls\n```\n\nafter\n", "x")
    assert [b.kind for b in note.blocks] == ["code", "text"]
    assert "# not a heading" in note.blocks[0].text


def test_a_fence_that_never_ends_ends_with_the_note():
    note = parse("# T\n\n````\na\n```\nb\n", "x")
    assert note.blocks == (NoteBlock((), "code", "````\na\n```\nb"),)


def test_tables_stay_whole_and_comments_go():
    note = parse("# T\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<!-- secret -->\n\nend\n", "x")
    assert [b.kind for b in note.blocks] == ["table", "text"]
    assert note.blocks[0].text.count("\n") == 2
    assert "secret" not in note.blocks[1].text


def test_links_are_shown_as_a_reader_sees_them():
    note = parse(
        "# T\n\nSee [[Boiler#Valve|the boiler]], [[Pump]], ![x](a.png), [doc](other.md) and "
        "[site](https://example.org/a_(b)).\n",
        "x",
    )
    assert note.links == ("Boiler", "Pump")
    assert note.blocks[0].text == (
        "See the boiler, Pump, x, doc and site (https://example.org/a_(b))."
    )


def test_wrapped_lines_are_joined_and_lists_are_not():
    note = parse("# T\n\nOne sentence\nover two lines.\n- a\n  more a\n- b\n\nx  \ny\n", "x")
    assert note.blocks[0].text == "One sentence over two lines.\n- a more a\n- b"
    assert note.blocks[1].text == "x\ny"


def test_a_note_without_a_title_is_called_by_its_file():
    assert parse("text\n", "my-note_one").title == "my note one"


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"a\0b", "binary"), (b"caf\xe9", "not UTF-8"), (b"x" * 1_000_001, "larger than")],
)
def test_what_is_no_note(data, why):
    with pytest.raises(NotANote, match=why):
        decode(data)


def test_decode_takes_a_mark_and_other_line_ends():
    assert decode(b"\xef\xbb\xbfa\r\nb\rc") == "a\nb\nc"


def test_chunks_keep_blocks_under_their_heading():
    note = parse("---\ntags: [x]\n---\n# T\n\na b\n\nc d\n\n## S\n\ne f\n", "x")
    found = chunks(note, words, 20)
    assert [(c.heading, c.content) for c in found] == [("T", "a b\n\nc d"), ("T > S", "e f")]
    assert found[0].embedded == "T (x)\na b\n\nc d"
    assert found[1].embedded == "T > S\ne f"


def test_equal_texts_have_equal_digests():
    one, two = (chunks(parse("# T\n\na b\n", name), words, 20)[0] for name in ("x", "y"))
    assert one.digest == two.digest


def test_a_title_alone_is_a_chunk():
    assert [c.content for c in chunks(parse("", "pump"), words, 20)] == ["pump"]


@given(
    st.lists(
        st.one_of(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=80),
            st.sampled_from(["# H", "## S " + "long " * 40, "```", "| a | b |", "word " * 90]),
        ),
        max_size=12,
    ),
    st.integers(12, 60),
)
def test_no_chunk_is_longer_than_the_window_and_no_word_is_lost(lines, window):
    note = parse(decode("\n".join(lines).encode()), "note")
    found = chunks(note, words, window)
    assert found
    assert all(words([chunk.embedded])[0] <= window for chunk in found)
    wanted = "".join("".join(block.text.split()) for block in note.blocks)
    got = "".join("".join(chunk.content.split()) for chunk in found)
    assert got == (wanted or "".join(note.title.split()))


@given(
    st.lists(st.text("ab .\n", min_size=1, max_size=60), min_size=1, max_size=12),
    st.integers(24, 200),
)
def test_what_a_joint_costs_is_counted_too(blocks, window):
    # Every character a token: a blank line between two blocks costs two.
    note = parse("# T\n\n" + "\n\n".join(blocks), "x")
    for chunk in chunks(note, lambda texts: [len(text) for text in texts], window):
        assert len(chunk.embedded) <= window


def test_a_note_is_counted_in_few_calls():
    calls = []

    def count(texts):
        calls.append(len(texts))
        return words(texts)

    sections = "\n\n".join(f"## S{n}\n\nsome words of part {n}\n\nmore" for n in range(40))
    assert len(chunks(parse(f"# T\n\n{sections}", "x"), count, 100)) == 40
    assert len(calls) <= 3


@pytest.mark.parametrize("text", ["# A\n## B\n#\n", "# A\n\n# \n", "B\n---\n# ", "#\n##\n# A\n#"])
def test_a_heading_without_words_ends_the_section_before(text: str) -> None:
    assert "" not in [heading for block in parse(text, "n.md").blocks for heading in block.headings]
