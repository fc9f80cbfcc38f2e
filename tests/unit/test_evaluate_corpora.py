"""The generated questions and corpora that `make eval` measures with."""

import random
import re

import pytest
from eval import ambiguous, generated, growth, nonsense, variants
from eval.run import BAR, SETS

from infoforge.corpus.zim import ZimCorpus
from infoforge.evaluate.questions import Question
from infoforge.text.words import listed_zipf


@pytest.mark.parametrize("language", nonsense.LANGUAGES)
def test_nonsense_is_seeded_varied_and_invented(language):
    rows = nonsense.questions(language, 60, 1)
    assert rows == nonsense.questions(language, 60, 1)
    assert rows != nonsense.questions(language, 60, 2)
    assert len({row["question"] for row in rows}) == 60
    for row in rows:
        assert row["invented"], row
        assert "{" not in row["question"]
        for word in row["invented"]:
            assert word.lower() in row["question"].lower()
            assert listed_zipf(word.lower(), language) is None


def test_nonsense_stands_in_no_text_of_the_corpus(make_zim):
    word = nonsense.questions("en", 1, 1)[0]["invented"][0]
    zim = make_zim({"One": f"<p>Of {word.capitalize()}s it is told.</p><p>Of {word} too.</p>"})
    assert nonsense.known(word, "en", zim)
    assert not nonsense.known(word, "en")
    assert word not in str(nonsense.questions("en", 40, 1, zim))


def test_nonsense_is_no_misspelling():
    assert nonsense.misspelt("Schwefer", "de")  # Schwefel
    assert nonsense.misspelt("cozono", "es")  # ozono
    assert nonsense.misspelt("kokorro", "en") is False  # no list holds Kokoro
    assert not any(
        nonsense.misspelt(r["invented"][0], "en") for r in nonsense.questions("en", 9, 3)
    )


def test_each_fact_holds_the_answers_to_its_questions():
    every = ambiguous.facts()
    names = {fact.group for fact in every}
    assert len(names) >= 40
    titles = [fact.title for fact in every]
    assert len(set(titles)) == len(titles)
    asked = [(fact, *pair) for fact in every for pair in fact.questions]
    assert len({question for _, question, _ in asked}) == len(asked)
    for fact, question, answer in asked:
        own = " ".join([fact.description, *fact.infobox.values(), fact.text])
        assert answer.casefold() in own.casefold(), question
    for name in names:
        own = [fact for fact in every if fact.group == name]
        assert len(own) >= 2, name
        assert sum(len(fact.questions) for fact in own) >= 2, name


def test_the_ambiguous_zim_has_all_that_makes_it_hard(tmp_path):
    path = tmp_path / "ambiguous_en_2026-06.zim"
    questions = ambiguous.build(path)
    from infoforge.corpus.base import Deadline

    corpus = ZimCorpus(path)
    assert {row["title"] for row in questions} <= {fact.title for fact in ambiguous.facts()}
    assert len({row["id"] for row in questions}) == len(questions) >= 80
    page = corpus.read("Mercury", Deadline(10))
    assert page.disambiguation
    assert {link.path for link in page.links} >= {"Mercury_(planet)", "Mercury_(element)"}
    assert corpus.read("Mercury_(disambiguation)", Deadline(10)).path == "Mercury"
    boston = corpus.read("Boston", Deadline(10))
    assert not boston.disambiguation
    assert corpus.read("Boston_(disambiguation)", Deadline(10)).disambiguation
    director = corpus.read("Michael_Curtiz", Deadline(10))
    assert "Casablanca (film)" in str(director.sections)


def test_questions_written_otherwise():
    asked = Question("a", "Who wrote Kokoro in Kamakura?", ("Kokoro",), (), "en")
    assert variants.lower(asked).text == "who wrote kokoro in kamakura"
    assert variants.upper(asked).text == "WHO WROTE KOKORO IN KAMAKURA?"
    assert variants.upper(asked).titles == ("Kokoro",)
    slipped = variants.typo(asked)
    assert slipped == variants.typo(asked)
    assert re.fullmatch(r"Who wrote Kokoro in K\w+a\?", slipped.text)
    assert slipped.text != asked.text
    assert variants.typo(Question("a", "Who wrote it?", (), (), "en")) is None
    assert variants.typo(Question("a", "Kamakura is what?", (), (), "en")) is None


def test_a_slip_is_one_edit():
    chance = random.Random(1)
    for _ in range(200):
        slipped = variants.slip("Kamakura", chance)
        assert slipped != "Kamakura"
        assert (slipped[0], slipped[-1]) == ("K", "a")
        assert abs(len(slipped) - 8) <= 1
        same = len(slipped) == 8
        differ = sum(a != b for a, b in zip(slipped, "Kamakura", strict=False))
        assert not same or differ <= 2


def test_the_bar_has_an_aim_for_each_set():
    assert set(BAR["aims"]) == set(SETS)
    assert all(0 < value <= 100 for peer in BAR["peers"] for value in [peer["en_squad"]["hit5"]]
               if "en_squad" in peer)  # fmt: skip


@pytest.mark.parametrize("kind", [generated.Calibrated, generated.Dense])
def test_generated_articles_are_seeded_and_each_is_another(shared_data, kind):
    first, again, other = kind(60), kind(60), kind(61)
    made = [first.article(n) for n in range(60)]
    assert made == [again.article(n) for n in range(60)]
    assert made != [other.article(n) for n in range(60)]
    assert len({title for title, _ in made}) == len({text for _, text in made}) == 60


def test_a_word_comes_as_often_as_in_english_or_all_too_often(shared_data):
    def held(kind):
        articles = kind(3_000)
        texts = [set(articles.article(n)[1].lower().split()) for n in range(1_000)]
        return sum("empire" in words for words in texts) / len(texts)

    due = 1 - (1 - generated.listed()["empire"]) ** 172
    assert due / 2 < held(generated.Calibrated) < 3 * due
    assert held(generated.Dense) > 3 * due


@pytest.mark.parametrize("kind", [generated.Calibrated, generated.Dense])
def test_a_grown_corpus_holds_the_real_articles_and_the_generated_ones(shared_data, tmp_path, kind):
    from infoforge.corpus.base import Deadline

    path = tmp_path / "growth_2026-06.zim"
    growth.build(path, kind(40), 40)
    grown, real = ZimCorpus(path), ZimCorpus(growth.REAL)
    assert grown.describe().articles >= real.describe().articles + 40
    assert grown.describe().fulltext
    same = grown.read("Nikola_Tesla", Deadline(10))
    assert same.sections == real.read("Nikola_Tesla", Deadline(10)).sections
    assert grown.search("Tesla", 5, Deadline(10)).total >= 1
