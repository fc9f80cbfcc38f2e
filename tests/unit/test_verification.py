from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.records import Source, Verification
from infoforge.verification import verify


def source(number: int, title: str, text: str, language: str = "en") -> Source:
    return Source(number, title, f"zim://{number}", "wiki", title, "2026-06", language, text)


LIFE = source(
    1,
    "Natsume Sōseki",
    "Natsume Sōseki (9 February 1867 – 9 December 1916) was a Japanese novelist. He wrote three"
    " novels in 1905–06 and sold 1,000 copies. The town has 2.5 million people, 19 percent of all.",
)
NOVEL = source(
    2, "Kokoro", "Kokoro is a 1914 novel by Natsume Sōseki in one hundred and ten parts."
)
ALBUM = source(3, "KoKoro (album)", "KoKoro is an album. Length: 45:12")
SOURCES = (LIFE, NOVEL, ALBUM)


def numbers(verification: Verification) -> tuple[str, ...]:
    """The unsupported numbers and dates, as written."""
    parts = [part for claim in verification.claims for part in claim.unsupported]
    return tuple(dict.fromkeys(p.text for p in parts if p.kind in ("number", "date")))


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("So it is [1].", (1,)),
        ("So it is [1][2].", (1, 2)),
        ("So it is [1, 2].", (1, 2)),
        ("So it is [1; 3] and [2].", (1, 2, 3)),
        ("So it is [1-3].", (1, 2, 3)),
        ("So it is [1 and 2].", (1, 2)),
        ("So it is【2】.", (2,)),
        ("So it is【2†source】.", (2,)),
        ("So it is ［２］.", (2,)),
        ("So it is [２].", (2,)),
        ("So it is [Source 2].", (2,)),
        ("So it is [source: 2].", (2,)),
        ("So it is [^2].", (2,)),
        ("So it is (Source 2).", (2,)),
        ("According to Source 1, so it is.", (1,)),
        ("Sources 1 and 2 agree.", (1, 2)),
        ("Laut Quelle 2 ist es so.", (2,)),
        ("根据来源2，是的。", (2,)),
        ("As said (article 2), so it is.", (2,)),
        ("So it is `[1]`.", (1,)),
        ("So it is [1](http://box/Kokoro).", (1,)),
        ('According to "Natsume Sōseki", so it is.', (1,)),
        ("According to natsume soseki, so it is.", (1,)),
        ("According to the article Kokoro, so it is.", (2,)),
        ("Laut dem Artikel Kokoro ist es so.", (2,)),
        ("The novel is Kokoro.", ()),
        ("Natsume Sōseki was born in Osaka.", ()),
        ("**Kokoro**: so it is.", ()),
        ('It is in "KoKoro (album)".', (3,)),
        ("It stands in Kokoropolis.", ()),
        ("So it is.", ()),
        ("", ()),
    ],
)
def test_sources_that_are_named(answer: str, cited: tuple[int, ...]) -> None:
    verification = verify(answer, SOURCES)
    assert verification.cited == cited
    assert verification.text == answer
    assert verification.unknown == ()


@pytest.mark.parametrize(
    ("answer", "text", "unknown"),
    [
        ("So it is [7].", "So it is.", (7,)),
        ("So it is[7].", "So it is.", (7,)),
        ("So it is [1][7].", "So it is [1].", (7,)),
        ("So it is [1, 7].", "So it is [1].", (7,)),
        ("So it is [1] [7], and [2].", "So it is [1], and [2].", (7,)),
        ("So [9] it is.", "So it is.", (9,)),
        ("So it is ([9]).", "So it is.", (9,)),
        ("So it is (see [9]).", "So it is (see).", (9,)),
        ("So it is [0].", "So it is.", (0,)),
        ("So it is [2-5].", "So it is [2][3].", (4, 5)),
        ("So it is 【9】。", "So it is。", (9,)),
        ("So it is (Source 8).", "So it is.", (8,)),
        ("According to Source 8, so it is.", "According to Source, so it is.", (8,)),
        ("Sources 1 and 8 agree.", "Sources 1 agree.", (8,)),
        ("[9] So it is.", "So it is.", (9,)),
        ("So it is [[7]9] now.", "So it is now.", (7, 9)),
        ("Line [9]\nnext [1].", "Line\nnext [1].", (9,)),
        ("See [9](http://box/x).", "See.", (9,)),
    ],
)
def test_numbers_out_of_range_are_removed(answer: str, text: str, unknown: tuple[int, ...]) -> None:
    verification = verify(answer, SOURCES)
    assert verification.text == text
    assert verification.unknown == unknown


@pytest.mark.parametrize(
    "answer",
    [
        "In [1914] so it was.",
        "He said it [sic] so.",
        "See [the page](http://box/A_9).",
        "Take `rows[9]` of it.",
        "The value of arr[7] is set.",
        "The element matrix[1][2] is set.",
        "It is [18]annulene, not [60]fullerene.",
        "x[9] and row_count[7] are read.",
        "```\nx[9] = 4\n```",
        "a[9] = 4",
        "values = [7, 8, 9]",
        "On the interval [0, 1] so it is.",
        "Article 50 of the treaty says so.",
        "[citation needed]",
        "[ 12 000 ]",
    ],
)
def test_brackets_that_cite_nothing_are_left_alone(answer: str) -> None:
    verification = verify(answer, SOURCES, "Article 50? 9 of 1914, 4, 7, 8, 0, 1, 12 000")
    assert verification.text == answer
    assert verification.cited == ()
    assert verification.unknown == ()


def test_a_title_cites_only_in_quotation_marks_or_after_according_to() -> None:
    water = (source(1, "Water", "Water boils."), source(2, "It", "It is a film."))
    assert verify("Water boils, and it does.", water).cited == ()
    assert verify('As "Water" has it, so it is.', water).cited == (1,)
    assert verify("«It» is a film.", water).cited == (2,)
    german = (source(1, "Wasser", "Wasser kocht.", "de"),)
    assert verify("Es kocht das Wasser.", german).cited == ()
    assert verify("Laut „Wasser“ kocht es.", german).cited == (1,)


def test_a_longer_title_does_not_name_the_shorter() -> None:
    both = (source(1, "Kokoro", "A novel."), source(2, "Kokoro (film)", "A film."))
    assert verify("“Kokoro (film)” is a film.", both).cited == (2,)
    assert verify("“Kokoro” is a novel.", both).cited == (1,)


def test_a_title_without_its_brackets_names_it_when_no_other_has_that_name() -> None:
    assert verify('"Avoca" is a river.', (source(1, "Avoca (river)", "x"),)).cited == (1,)
    two = (source(1, "Avoca (river)", "x"), source(2, "Avoca (town)", "x"))
    assert verify('"Avoca" is a river.', two).cited == ()


@pytest.mark.parametrize(
    "answer",
    [
        "He was born on 9 February 1867.",
        "Born 1867-02-09.",
        "Born February 9, 1867.",
        "Born on the 9th of February, 1867.",
        "Geboren am 9. Februar 1867.",
        "Nació el 9 de febrero de 1867.",
        "Né le 9 février 1867.",
        "Nato il 9 febbraio 1867.",
        "Родился 9 февраля 1867 года.",
        "1867年2月9日に生まれた。",
        "1867년 2월 9일.",
        "Born in February 1867.",
        "Born on 9 February.",
        "Born in 1867, died in 1916.",
        "Born 09.02.1867.",
        "１８６７年２月９日",
        "في ١٨٦٧",
        "He sold 1000, 1,000, 1.000, 1 000 and 1 000 copies.",
        "He wrote 3 novels, or three.",
        "Drei Romane.",
        "It has 2,500,000 people, 2.5 million or 2,5 Millionen.",
        "19% or 19 percent, the 19th.",
        "In 110 parts.",
        "From 1905 to 1906.",
        "It takes 45:12.",
        "1. Born in 1867.\n2. Died in 1916.\n- 3) Wrote.",
        "So it is [1], [2] and Source 3.",
        "See http://box:8080/A/4711.",
        "The two of them, once and second to none.",
    ],
)
def test_numbers_that_are_in_a_source(answer: str) -> None:
    assert numbers(verify(answer, SOURCES)) == ()


@pytest.mark.parametrize(
    ("answer", "unsupported"),
    [
        ("He was born in 1868 [1].", ("1868",)),
        ("Born on 10 February 1867 [1].", ("10 February 1867",)),
        ("Born 1867-03-09.", ("1867-03-09",)),
        ("Born on February 9, 1868.", ("February 9, 1868",)),
        ("He sold 1,001 copies, yes 1,001.", ("1,001",)),
        ("It has 5 million people.", ("5 million",)),
        ("It has 2.6 million, 20 percent, 21%.", ("2.6 million", "20 percent", "21%")),
        ("He wrote four novels and twenty-three poems.", ("four", "twenty-three")),
        ("It costs ½ or 2½.", ("½", "2½")),
        ("１９９９年", ("１９９９",)),
        ("1. Born in 1999.", ("1999",)),
    ],
)
def test_numbers_that_are_in_none(answer: str, unsupported: tuple[str, ...]) -> None:
    verification = verify(answer, SOURCES)
    assert numbers(verification) == unsupported
    assert not verification.grounded


def test_a_number_of_the_question_may_be_denied() -> None:
    assert numbers(verify("Nothing happened in 1999.", SOURCES)) == ("1999",)
    assert numbers(verify("Nothing happened in 1999.", SOURCES, "What was in 1999?")) == ()


def test_grounded_needs_a_source_and_no_unsupported_number() -> None:
    assert verify("Born in 1867 [1].", SOURCES).grounded
    assert not verify("Born in 1867.", SOURCES).grounded
    assert not verify("Born in 1866 [1].", SOURCES).grounded


PIECES = st.sampled_from(
    [
        *["[", "]", "【", "】", "(", ")", "1", "2", "7", "9", "[7]", "[1]", "[1, 9]", "9]", "[9"],
        *["Source ", "source 9", "Quelle 8", "来源9", "［９］", " ", "\n", ".", ",", "-", "–", "`"],
        *[
            "Kokoro",
            "1914",
            "[1914]",
            "and ",
            "†",
            "^",
            "(http://x)",
            "٣",
            "a",
            "=",
            "½",
            "million",
        ],
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))


@given(TEXTS)
def test_verification_never_crashes_and_is_done_after_once(answer: str) -> None:
    verification = verify(answer, SOURCES, answer)
    assert set(verification.cited) <= {1, 2, 3}
    assert not set(verification.unknown) & {1, 2, 3}
    again = verify(verification.text, SOURCES)
    assert again.text == verification.text
    assert again.unknown == ()


@pytest.mark.parametrize("text", ["1[0]0", "19[1]4", "In 12[9].5 parts", "1(Source 9)0"])
def test_a_number_in_brackets_inside_a_number_is_no_citation(text: str) -> None:
    verification = verify(text, (source(1, "A", text),))
    assert (verification.text, verification.cited, verification.unknown) == (text, (), ())
    assert verification.unsupported == ()


def test_what_is_taken_out_does_not_join_a_word_and_a_number() -> None:
    for text, left in (("In May[9]1914.", "In May 1914."), ("12[9]km wide", "12 km wide")):
        verification = verify(text, (source(1, "A", left),))
        assert (verification.text, verification.unknown, verification.unsupported) == (
            left,
            (9,),
            (),
        )
    assert verify("東京[9]は", SOURCES).text == "東京は"


@pytest.mark.parametrize("text", ["1[0]¼", "300[9] 500 men", "3[7] 000"])
def test_numbers_with_a_citation_between_them_are_two(text: str) -> None:
    assert verify(text, (source(1, "A", text),)).unsupported == ()
    assert verify(text, (source(1, "A", "Nothing."),)).unsupported != ()


@given(st.integers(4, 199), st.text(alphabet="éßü .,\n", max_size=10))
def test_no_bracketed_number_out_of_range_survives(number: int, around: str) -> None:
    for form in (f"[{number}]", f"[1, {number}]", f"【{number}】", f"(Source {number})"):
        text = verify(f"{around}{form} {around}", SOURCES).text
        assert not re.search(rf"\D{number}\D", text)


@given(TEXTS)
def test_an_answer_copied_from_a_source_states_nothing_new(text: str) -> None:
    assert numbers(verify(text, (source(1, "A", text), source(9, "B", text)))) == ()
