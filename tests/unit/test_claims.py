"""What of an answer is a claim, which citations stand for it, and whether they support it."""

from __future__ import annotations

import pytest

from infoforge.model import prompt
from infoforge.model.quote import NOT_ANSWERED
from infoforge.records import Source, Verification
from infoforge.verification import MAX_ANSWER, verify
from infoforge.verification.refusal import is_refusal


def source(number: int, title: str, text: str, language: str = "en") -> Source:
    return Source(number, title, f"zim://{number}", "wiki", title, "2026-06", language, text)


KOKORO = source(
    1,
    "Kokoro (novel)",
    "Kokoro is a novel by the Japanese author Natsume Sōseki. It was first published in 1914 in "
    "serial form in the newspaper Asahi Shimbun. The novel has 110 parts. Edwin McClellan "
    "translated it into English in 1957. It was not written for children.",
)
BRIDGE = source(
    2,
    "Bayonne Bridge",
    "The Bayonne Bridge is 4.5 km long and weighs 300 tonnes. The bridge was built in 1931 by the "
    "engineer Othmar Ammann and repaired in 1988. About 10⁶ vehicles cross it each year. In winter "
    "the steel shrinks at −40 °C. The toll is 3 ‰ of the income of the town.",
)
SOURCES = (KOKORO, BRIDGE)


def statuses(result: Verification) -> list[str]:
    return [claim.status for claim in result.claims]


def kinds(result: Verification) -> list[tuple[str, str]]:
    return [(part.text, part.kind) for claim in result.claims for part in claim.unsupported]


@pytest.mark.parametrize(
    "answer",
    [
        "Kokoro is a novel by Natsume Sōseki [1].",
        "Natsume Soseki wrote the novel Kokoro, first published in 1914 [1].",
        "The bridge is 4,500 metres long [2].",
        "The bridge is 4.5 kilometres long and weighs 300 t [2].",
        "About 10^6 vehicles cross the bridge each year [2].",
        "About 1,000,000 vehicles cross the bridge each year [2].",
        "The steel shrinks at -40 °C in winter [2].",
        "Kokoro was not written for children [1].",
        "Built by Othmar Ammann in 1931, the bridge was repaired in 1988 [2].",
        'According to "Bayonne Bridge", the bridge was built in 1931.',
        "The novel was translated into English by Edwin McClellan in 1957 [1].",
    ],
)
def test_what_the_passages_say_is_supported(answer: str) -> None:
    result = verify(answer, SOURCES)
    assert statuses(result) == ["supported"], kinds(result)
    assert result.strict
    assert result.grounded


@pytest.mark.parametrize(
    ("answer", "part", "kind"),
    [
        ("Haruki Murakami wrote Kokoro [1].", "Haruki Murakami", "name"),
        ("Kokoro is a novel by the Japanese author Haruki Murakami [1].", "Haruki", "name"),
        ("Kokoro was not first published in 1914 [1].", "not", "negation"),
        ("Kokoro was written for children [1].", "not", "negation"),
        ("The bridge weighs 300 kg [2].", "300 kg", "number"),
        ("The bridge is 4.5 miles long [2].", "4.5 miles", "number"),
        ("The steel shrinks at 40 °C in winter [2].", "40 °C", "number"),
        ("The toll is 3 % of the income of the town [2].", "3 %", "number"),
        ("About 10^7 vehicles cross the bridge each year [2].", "10^7", "number"),
        # A number and a name that are in the passage, next to something else.
        ("The bridge was built in 1988 by the engineer Othmar Ammann [2].", "1988", "number"),
        ("Asahi Shimbun translated it into English in 1957 [1].", "Asahi Shimbun", "name"),
        # In another source than the one that is cited.
        ("The bridge was built in 1931 [1].", "1931", "number"),
        ("Whales sing underwater to find a partner [1].", "Whales sing", "words"),
    ],
)
def test_what_they_do_not_say_is_not(answer: str, part: str, kind: str) -> None:
    result = verify(answer, SOURCES)
    assert statuses(result) == ["unsupported"]
    assert any(text.startswith(part) and k == kind for text, k in kinds(result)), kinds(result)
    assert not result.strict


def test_each_sentence_list_item_and_table_row_is_a_claim() -> None:
    answer = (
        "## The bridge\n\n"
        "Hello! Here are the facts:\n"
        "- Built in 1931 by Othmar Ammann [2]\n"
        "- Repaired in 1988 [2]\n\n"
        "| what | how much |\n|---|---|\n| length | 4.5 km [2] |\n| weight | 300 tonnes [2] |\n\n"
        "It was built in 1931 [2]. It is 4.5 km long. [2] Is that long?"
    )
    result = verify(answer, SOURCES)
    assert [claim.text for claim in result.claims] == [
        "Built in 1931 by Othmar Ammann",
        "Repaired in 1988",
        "| length | 4.5 km |",
        "| weight | 300 tonnes |",
        "It was built in 1931 .",
        "It is 4.5 km long.",
    ]
    assert {claim.citations for claim in result.claims} == {(2,)}
    assert result.strict


def test_a_paragraph_s_citation_stands_for_its_statements_and_each_is_checked() -> None:
    result = verify(
        "The bridge was built in 1931. It was repaired in 1999. It is 4.5 km long [2].\n\n"
        "Kokoro was published in 1914.",
        SOURCES,
    )
    assert [claim.citations for claim in result.claims] == [(2,), (2,), (2,), ()]
    assert statuses(result) == ["supported", "unsupported", "supported", "uncited"]
    assert kinds(result) == [("1999", "number")]


def test_a_list_takes_the_citation_of_its_lead_in() -> None:
    result = verify("The bridge [2]:\n\n1. It was built in 1931.\n2. It is 4.5 km long.", SOURCES)
    assert [claim.citations for claim in result.claims] == [(2,), (2,)]
    assert result.strict


def test_a_line_of_sources_stands_for_the_paragraph_above() -> None:
    assert verify("The bridge was built in 1931.\n\nSource: [2]", SOURCES).strict


def test_removed_citations_fail_strict() -> None:
    result = verify("The bridge was built in 1931 [9][2].", SOURCES)
    assert result.text == "The bridge was built in 1931 [2]."
    assert statuses(result) == ["supported"]
    assert not result.strict


@pytest.mark.parametrize(
    ("answer", "language"),
    [
        ("The sources do not say who his mother was.", "en"),
        ("The provided sources [1] do not mention it. They only describe a bridge [2].", "en"),
        ("I could not find any information about this in the articles.", "en"),
        ("Die Quellen enthalten dazu keine Angaben.", "de"),
        ("Las fuentes no mencionan dónde nació.", "es"),
        ("Les sources ne précisent pas la date de sa naissance.", "fr"),
        ("В источниках не указано, когда он родился.", "ru"),
        ("提供的资料中没有提到这一点。", "zh"),
        ("提供された資料には記載されていません。", "ja"),
        ("Kaynaklarda bu bilgi yer almıyor.", "tr"),
        ("المصادر لا تذكر متى ولد.", "ar"),
        ("Źródła nie podają tej informacji.", "pl"),
        ("स्रोतों में इसका उल्लेख नहीं है।", "hi"),
    ],
)
def test_a_refusal_is_an_outcome_of_its_own(answer: str, language: str) -> None:
    result = verify(answer, SOURCES, "", language)
    assert result.refused
    assert result.strict
    assert not result.grounded


@pytest.mark.parametrize(
    "answer",
    [
        "The bridge was built in 1931 [2]. The sources do not say who paid for it.",
        "Although the sources do not mention it, the bridge was built in 1850 [2].",
        "The sources do not say so. Othmar Ammann was born in Oslo in 1899 [2].",
        "Laut dem Artikel „Kokoro (novel)“ wurde er nicht 1999 geschrieben.",
        "The novel was not written by him [1].",
    ],
)
def test_an_answer_that_states_something_is_no_refusal(answer: str) -> None:
    assert not verify(answer, SOURCES).refused


def test_a_refusal_next_to_an_answer_needs_no_citation() -> None:
    result = verify(
        "The bridge was built in 1931 [2].\n\nThe sources do not say who paid for it.", SOURCES
    )
    assert statuses(result) == ["supported", "not_checked"]
    assert result.grounded


@pytest.mark.parametrize("language", sorted(prompt.LANGUAGES))
def test_the_quote_endpoint_refuses_in_each_language_of_the_prompt(language: str) -> None:
    assert is_refusal(NOT_ANSWERED[language], language)


def test_an_answer_in_another_language_is_not_checked_but_for_names_and_numbers() -> None:
    right = verify("Die Brücke wurde 1931 von dem Ingenieur Othmar Ammann gebaut [2].", SOURCES)
    assert statuses(right) == ["not_checked"]
    assert right.strict
    wrong = verify("Die Brücke wurde 1932 von dem Ingenieur Othmar Ammann gebaut [2].", SOURCES)
    assert kinds(wrong) == [("1932", "number")]


@pytest.mark.parametrize(
    "answer",
    [
        "The United Nations met in 1950 [1].",
        "The U.N. met in 1950 [1].",
        "The UN was meeting in 1950 [1].",
    ],
)
def test_abbreviations_inflections_and_accents_are_the_same_name(answer: str) -> None:
    own = (source(1, "Meeting", "The United Nations (UN) held a meeting in 1950; the U.N. met."),)
    assert verify(answer, own).strict


def test_a_bare_answer_is_checked_with_its_question() -> None:
    asked = "In which year was the Bayonne Bridge repaired by the town?"
    town = (source(1, "Bayonne", "The bridge was repaired in 1988. A church was built in 1931."),)
    assert verify("1988 [1]", town, asked).strict
    assert not verify("1999 [1]", town, asked).strict


@pytest.mark.parametrize("piece", ["a ", "[", "[[7]", "( ", "\n", "“a", "word. ", "[1", "`", "中"])
def test_a_long_answer_is_cut(piece: str) -> None:
    answer = piece * (2 * MAX_ANSWER // len(piece))
    assert len(verify(answer, SOURCES).text) <= MAX_ANSWER + 100
