"""Thousands of short articles around the long one that answers, through both ways to read a ZIM."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.kiwix import Kiwix
from support.zim import build_zim

from infoforge.corpus.base import Corpus, Deadline
from infoforge.corpus.kiwix import KiwixCorpus, KiwixServer
from infoforge.corpus.zim import ZimCorpus
from infoforge.retrieval import find as finding
from infoforge.retrieval.relax import LARGE

SHORT = LARGE + 100
CASES = {
    "en": (
        "eng",
        "When was the lighthouse of Zanderow painted?",
        "The lighthouse of Zanderow was painted.",
        "Most of the work was done between spring and autumn, while the harbour was closed during "
        "the war. The lighthouse stood there. Zanderow lies by the sea. It was painted in 1911. ",
    ),
    "de": (
        "deu",
        "Wann wurde der Leuchtturm von Zanderow gestrichen?",
        "Der Leuchtturm von Zanderow wurde gestrichen.",
        "Während des Krieges war der Hafen bereits durch Minen zwischen den Inseln gesperrt. Der "
        "Leuchtturm stand dort. Zanderow liegt am Meer. Er wurde 1911 gestrichen. ",
    ),
    "zh": (
        "zho",
        "赞德罗灯塔是什么时候粉刷的?",
        "赞德罗灯塔粉刷。",
        "由于战争，港口以及其中的岛屿都关闭了，因此无人前往。"
        "灯塔立在那里。赞德罗位于海边。1911年粉刷。",
    ),
}


def titles(question: str, corpus: Corpus) -> list[str]:
    found = finding.find(question, [corpus], deadline=Deadline(60), warn=lambda warning: None)
    return [ranked.article.title for ranked in found.ranked[:5]]


@pytest.mark.parametrize("language", CASES)
def test_the_long_article_is_found_among_thousands_of_short_ones(
    language: str,
    tmp_path: Path,
    kiwix37: Callable[..., Kiwix],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    iso, question, short, long = CASES[language]
    articles = {f"Note {n}": f"<p>{short}</p>" for n in range(SHORT)}
    articles["Chronicle"] = f"<p>{long * 120}</p>"
    path = build_zim(tmp_path / f"chronicle_{language}_2026-06.zim", articles, language=iso)
    server = KiwixServer(kiwix37(path).url)
    kiwix = KiwixCorpus(server, server.books(Deadline(10))[0])
    zim = ZimCorpus(path)
    assert titles(question, zim)[0] == "Chronicle"
    assert titles(question, kiwix) == titles(question, zim)
    # The engine alone puts the short ones first: without the words of long texts it is not seen.
    monkeypatch.setattr(finding, "long_words", lambda language: ())
    assert "Chronicle" not in titles(question, zim)
