import pytest

from infoforge.evaluate import match


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Natsume Sōseki", "natsume so\u0304seki", True),  # composed, decomposed
        ("Kokoro_(novel)", "Kokoro (novel)", True),
        ("Straße", "STRASSE", True),
        ("ﬁnance", "Finance", True),
        ("Natsume Sōseki", "Natsume Soseki", False),  # two titles, two articles
        ("Kokoro", "Kokoro (novel)", False),
    ],
)
def test_titles_are_the_same_when_they_read_the_same(one, other, same):
    assert match.same_title(one, other) is same


@pytest.mark.parametrize(
    ("text", "answers", "held"),
    [
        ("It was\n  published in  1914.", ["published in 1914"], True),
        ("der STRASSE entlang", ["Straße"], True),
        ("written in １９１４", ["1914"], True),
        ("夏目漱石的小说", ["夏目漱石"], True),
        ("It was published in 1914.", ["1915", "1916"], False),
        ("", ["1914"], False),
    ],
)
def test_an_answer_stands_in_a_text(text, answers, held):
    assert match.holds(text, answers) is held


def test_squad_words_have_no_articles_punctuation_or_citations():
    assert match.squad("The year, [1] 1914!") == ["year", "1914"]
    assert match.squad("“心”是小说") == ["心", "是", "小", "说"]


def test_exact_match_takes_any_of_the_answers():
    assert match.exact("the Asahi Shimbun.", ["1914", "Asahi Shimbun"])
    assert not match.exact("It was the Asahi Shimbun", ["Asahi Shimbun"])


@pytest.mark.parametrize(
    ("answer", "answers", "f1"),
    [
        ("Asahi Shimbun", ["the Asahi Shimbun"], 1.0),
        ("in the Asahi Shimbun newspaper", ["Asahi Shimbun"], 2 / 3),  # 2 of 4 words, 2 of 2
        ("Osaka", ["Asahi Shimbun"], 0.0),
        ("no no", ["no"], 2 / 3),  # a word counts as often as it stands there
        ("", ["x"], 0.0),
        ("Osaka", ["Tokyo", "Osaka"], 1.0),
    ],
)
def test_token_f1(answer, answers, f1):
    assert match.token_f1(answer, answers) == pytest.approx(f1)
