"""A misspelt name finds its article, through both corpora, and whoever asked is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.kiwix import Kiwix, Unavailable, command
from support.zim import build_zim

from infoforge.contract import WarningMessage
from infoforge.corpus.base import Corpus, Deadline
from infoforge.corpus.kiwix import KiwixCorpus, KiwixServer
from infoforge.corpus.zim import ZimCorpus
from infoforge.retrieval.find import Retrieval, find

ARTICLES = {
    "Nikola Tesla": "<p>Nikola Tesla was an engineer. Tesla died in New York in 1943.</p>",
    "Joseph Priestley": "<p>Joseph Priestley was a chemist who found oxygen.</p>",
    "Orchestra": "<p>An orchestra is a large ensemble of musicians. Isla plays in one.</p>",
    "Boiler": "<p>A boiler heats water. In a house it stands in the cellar.</p>",
}


@pytest.fixture
def zim(tmp_path: Path) -> Path:
    path = tmp_path / "sample_en_2026-06.zim"
    build_zim(path, ARTICLES, name="sample_en")
    return path


def look(corpora: list[Corpus], question: str) -> tuple[Retrieval, list[WarningMessage]]:
    told: list[WarningMessage] = []
    found = find(question, corpora, deadline=Deadline(None), warn=told.append, language="en")
    return found, told


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("When did Tysla die?", "Nikola Tesla"),
        ("What did Prisetley find?", "Joseph Priestley"),
        ("what does an orhcestra need", "Orchestra"),
    ],
)
def test_the_article_is_found_and_the_slip_is_told(zim: Path, question: str, title: str) -> None:
    found, told = look([ZimCorpus(zim)], question)
    assert found.ranked[0].article.title == title
    assert [warning.code for warning in told] == ["spelling"]


def test_kiwix_serve_finds_the_same(zim: Path) -> None:
    try:
        command("3.7")
    except Unavailable as reason:
        pytest.skip(str(reason))
    with Kiwix("3.7", [zim]) as served:
        server = KiwixServer(served.url)
        books: list[Corpus] = [KiwixCorpus(server, book) for book in server.books(Deadline(None))]
        there, _ = look(books, "When did Tysla die?")
    here, _ = look([ZimCorpus(zim)], "When did Tysla die?")
    assert [r.article.title for r in there.ranked] == [r.article.title for r in here.ranked]


def test_what_one_corpus_knows_is_not_corrected(zim: Path, tmp_path: Path) -> None:
    other = tmp_path / "other_en_2026-06.zim"
    build_zim(other, {"Tysla": "<p>The Tysla is a river that can die out.</p>"}, name="other_en")
    found, told = look([ZimCorpus(zim), ZimCorpus(other)], "When did Tysla die?")
    assert found.ranked[0].article.title == "Tysla"
    assert "spelling" not in [warning.code for warning in told]


def test_an_invented_name_is_not_talked_into_one(zim: Path) -> None:
    found, told = look([ZimCorpus(zim)], "What did Vorblinquax find in the house?")
    assert found.ranked == ()
    assert "spelling" not in [warning.code for warning in told]
