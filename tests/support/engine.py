"""A search engine over a few texts, in this process: AND alone, in the order of the texts."""

from __future__ import annotations

from infoforge.corpus.base import Deadline, DeadlineExceeded
from infoforge.records import Article, CorpusInfo, Hit, Hits, Section

BIG = 5_000_000
"""Articles of a large corpus."""
QUESTION = "Did the gardener of Matsuyama paint a zygote near the harbour?"
CROWDED = "Was there a zygote in Matsuyama?"
"""A question whose words hundreds of texts hold."""
LONG_TEXT = " and so on" * 1_200
"""What makes a text no stub."""


class Counting:
    """An engine with AND over a few texts that counts what it is asked."""

    name = "wiki"

    def __init__(self, texts: dict[str, str], articles: int = BIG, patience: int = 99) -> None:
        self.texts = {title: set(text.lower().split()) for title, text in texts.items()}
        self.articles = articles
        self.patience = patience
        self.queries: list[str] = []
        self.limits: list[int] = []

    def describe(self) -> CorpusInfo:
        return CorpusInfo("wiki", "zim", "Wiki", ("en",), articles=self.articles)

    def search(self, query: str, limit: int, deadline: Deadline) -> Hits:
        if len(self.queries) >= self.patience:
            raise DeadlineExceeded("time is up")
        self.queries.append(query)
        self.limits.append(limit)
        wanted = set(query.lower().split())
        hits = [Hit("wiki", title, title) for title, has in self.texts.items() if wanted <= has]
        return Hits(tuple(hits[:limit]), len(hits))

    def titles(self, phrase: str, limit: int, deadline: Deadline) -> tuple[Hit, ...]:
        return ()

    def read(self, path: str, deadline: Deadline) -> Article | None:
        return None


class Readable(Counting):
    """The same engine, whose texts can be read; each is long unless the engine is ``short``."""

    short = False

    def read(self, path: str, deadline: Deadline) -> Article | None:
        text = " ".join(sorted(self.texts[path])) + ("" if self.short else LONG_TEXT)
        section = Section("", text)
        return Article("wiki", path, path, f"zim://x/{path}", "2026-06", "en", (section,))
