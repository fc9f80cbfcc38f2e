from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoforge.model.quote import quote
from infoforge.records import Source
from infoforge.text.sentences import sentences
from infoforge.verification import verify


def source(number: int, title: str, text: str, language: str = "en") -> Source:
    return Source(number, title, f"zim://{number}", "wiki", title, "2026-06", language, text)


NOVEL = source(
    1,
    "Kokoro (novel)",
    "Kokoro (こゝろ) is a 1914 novel by Natsume Sōseki. It was first published in serial form in"
    " the Asahi Shimbun. The work deals with the transition from Meiji society to the modern era."
    "\nAuthor: Natsume Sōseki\nPublication date: 1914\nPages: 378",
)
WRITER = source(
    2,
    "Natsume Sōseki",
    "Natsume Sōseki (夏目 漱石), born Natsume Kinnosuke (9 February 1867 – 9 December 1916), was a"
    " Japanese novelist. He is best known for his novels Kokoro and Botchan. He was born in Tokyo."
    " He died of a stomach ulcer.",
)
ALBUM = source(
    3, "KoKoro", "KoKoro is a studio album by a Spanish singer. It was released in 2012."
)
SOURCES = (NOVEL, WRITER, ALBUM)


def quotes(question: str, *sources: Source) -> list[str]:
    head, *lines = quote(question, sources or SOURCES).splitlines()
    assert head.endswith((":", "："))
    return lines


@pytest.mark.parametrize(
    ("question", "first"),
    [
        (
            "Who wrote Kokoro and when was it published?",
            "“Kokoro (こゝろ) is a 1914 novel by Natsume Sōseki.” [1]",
        ),
        ("Who wrote the novel Kokoro?", "“Kokoro (こゝろ) is a 1914 novel by Natsume Sōseki.” [1]"),
        ("Where was Natsume Sōseki born?", "“He was born in Tokyo.” [2]"),
        ("How many pages does Kokoro have?", "“Pages: 378” [1]"),
        ("What did Sōseki die of?", "“He died of a stomach ulcer.” [2]"),
        (
            "When was the album KoKoro released?",
            "“KoKoro is a studio album by a Spanish singer. It was released in 2012.” [3]",
        ),
    ],
)
def test_the_sentence_that_answers_comes_first(question: str, first: str) -> None:
    assert quotes(question)[0] == first


def test_a_question_for_a_date_gets_the_sentence_with_one() -> None:
    assert "9 February 1867" in quotes("When was Natsume Sōseki born?")[0]


def test_two_questions_in_one_are_both_answered() -> None:
    river = source(
        1,
        "Avoca (river)",
        "The Avoca is a river in Ireland. It is 56 km long. Boats were built here in 1750."
        " It flows into the sea at Arklow.",
    )
    text = quote("How long is the river Avoca and where does it flow into the sea?", [river])
    assert "56 km" in text
    assert "Arklow" in text


def test_what_is_quoted_stands_in_its_source_and_names_it() -> None:
    for question in ("Who wrote Kokoro?", "When was Natsume Sōseki born?", "What is KoKoro?"):
        for line in quotes(question):
            match = re.fullmatch(r"“(.*)” \[(\d)\]", line)
            assert match is not None
            assert match[1] in SOURCES[int(match[2]) - 1].text
        verification = verify(quote(question, SOURCES), SOURCES, question)
        assert verification.grounded
        assert verification.unknown == ()


@pytest.mark.parametrize(
    ("question", "sorry"),
    [
        ("What is the boiling point of mercury?", "The sources do not answer this question."),
        (
            "Welche Farbe haben die Elefanten im Zoo?",
            "Die Quellen beantworten diese Frage nicht.",
        ),
        (
            "Quelle est la couleur des éléphants ?",
            "Les sources ne répondent pas à cette question.",
        ),
        ("¿De qué color son los elefantes?", "Las fuentes no responden a esta pregunta."),
        ("どこで象を見ることができますか", "資料にはこの質問の答えがありません。"),
        ("Какого цвета слоны в зоопарке?", "Источники не отвечают на этот вопрос."),
    ],
)
def test_when_nothing_matches_it_says_so_in_the_questions_language(
    question: str, sorry: str
) -> None:
    assert quote(question, SOURCES) == sorry


@pytest.mark.parametrize("question", ["", "?", "\x00", "qzxvbnm plorkwidget fnargle", "🦊"])
def test_nonsense_is_not_answered(question: str) -> None:
    assert "\n" not in quote(question, SOURCES)


def test_without_sources_nothing_is_answered() -> None:
    assert quote("Who wrote Kokoro?", []) == "The sources do not answer this question."


def test_a_sentence_that_two_sources_hold_is_quoted_once() -> None:
    twin = source(2, "Kokoro (novel)", NOVEL.text)
    lines = quotes("Who wrote the novel Kokoro, and who translated it?", NOVEL, twin)
    assert len(lines) == len({line.rsplit(" [", 1)[0] for line in lines})


def test_inflected_words_match() -> None:
    fox = source(1, "Fox", "Many hunters follow foxes. Foxes live in burrows they dig themselves.")
    assert "burrows" in quotes("Where does a fox live, in a burrow?", fox)[0]


def test_other_languages_are_answered_in_kind() -> None:
    german = source(
        1,
        "Bodensee",
        "Der Bodensee ist ein See. Er ist 63 km lang. Die größte Insel ist Reichenau.",
        "de",
    )
    text = quote("Wie heißt die größte Insel im Bodensee?", [german])
    assert text.startswith("Wörtlich aus den Quellen:\n“Die größte Insel ist Reichenau.” [1]")
    chinese = source(1, "长城", "长城是中国古代的军事工程。长城全长约两万公里。", "zh")
    assert "“长城全长约两万公里。” [1]" in quote("长城全长多少公里？", [chinese])


def test_a_very_long_sentence_is_cut_and_shows_it() -> None:
    long = source(1, "List", "Of old " + "names and more, " * 60 + "and Kokoro, " + "etc, " * 60)
    (line,) = quotes("What is Kokoro?", long)
    assert "Kokoro" in line
    assert "…" in line
    assert len(line) < 460


@given(st.text(max_size=80), st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_question_and_any_text_give_an_answer(question: str, text: str) -> None:
    assert quote(question, [source(1, text[:20], text)])


def test_a_pasted_book_as_a_question_takes_no_time() -> None:
    started = time.monotonic()
    assert quote("who wrote Kokoro " * 2400, SOURCES)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Smith met J. R. Jones at 5 p.m. in St. Ives.", None),
        ("It cost 1.5 million. It was 3.7.0.", ["It cost 1.5 million.", "It was 3.7.0."]),
        ("He came in 1914. He left.", ["He came in 1914.", "He left."]),
        ("Am 9. Februar 1867. Im 19. Jahrhundert.", ["Am 9. Februar 1867.", "Im 19. Jahrhundert."]),
        ("Das ist z. B. so. Und so.", ["Das ist z. B. so.", "Und so."]),
        ("“Is it?” he asked. “Yes.” Done.", ["“Is it?” he asked.", "“Yes.”", "Done."]),
        ("彼は来た。「誰？」と言った。", ["彼は来た。", "「誰？」", "と言った。"]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
        ("It is so.[3] And so.[4][5] End.", ["It is so.[3]", "And so.[4][5]", "End."]),
        ("Born: Tokyo\nDied: 1916\n\n", ["Born: Tokyo", "Died: 1916"]),
        ("The U.S. Army came. It left.", ["The U.S. Army came.", "It left."]),
        ("e.g. this, i.e. that.", None),
        ("", []),
        ("...", ["..."]),
    ],
)
def test_sentences(text: str, expected: list[str] | None) -> None:
    assert sentences(text) == ([text] if expected is None else expected)


@given(st.text(max_size=200))
def test_sentences_lose_nothing_but_blanks(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


CHARLES = Source(
    1, "Ray Charles", "zim://c", "w", "c", "", "en",
    "Ray Charles (September 23, 1930 – June 10, 2004) was an American singer and pianist. He was "
    "called the Genius. Charles had twelve children. His daughter Evelyn was born in 1949 when "
    "Ray Charles was a young man.",
)  # fmt: skip


def test_the_lead_s_dates_of_its_subject_win() -> None:
    answer = quote("When was Ray Charles born?", (CHARLES,))
    assert answer.splitlines()[1].startswith("“Ray Charles (September 23, 1930")


def test_a_question_in_another_language_than_the_sources_is_not_answered() -> None:
    answer = quote("Wann wurde Ray Charles geboren und wo lebte er?", (CHARLES,))
    assert answer == "Die Quellen beantworten diese Frage nicht."
