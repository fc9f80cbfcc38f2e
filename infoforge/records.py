"""The plain frozen dataclasses that flow from stage to stage, one way, top to bottom."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """Description of a corpus.

    Attributes:
        name: Stable name without the date (``wikipedia_en_all_nopic``); unique among open corpora.
        kind: ``kiwix`` (HTTP), ``zim`` (libzim in this process) or ``vault``.
        title: Title for people.
        languages: ISO 639-1 codes where one exists, else 639-3; empty when unknown.
        date: Date of the dump as ISO text (``2026-06`` or ``2026-06-15``); empty when unknown.
        fulltext: Whether full-text search is possible.
        titles: Whether a title index exists.
        articles: Number of articles, 0 when unknown.
        origin: The file path or base URL it is read from.
        flavour: ``maxi``, ``nopic``, ``mini`` or empty.
        semantic: Whether it finds texts by meaning, too (`base.SemanticCorpus`).
    """

    name: str
    kind: str
    title: str
    languages: tuple[str, ...] = ()
    date: str = ""
    fulltext: bool = True
    titles: bool = True
    articles: int = 0
    origin: str = ""
    flavour: str = ""
    semantic: bool = False


@dataclass(frozen=True, slots=True)
class Relevance:
    """How a note fits a question by meaning, and how old it is.

    Attributes:
        similarity: How close in meaning to the question, 0 to 1; 0 where that was not looked at.
        near: Close enough to be a source even without the question's words.
        focus: Indices of the sections that are closest.
        freshness: Share of its score that its age leaves it.
    """

    similarity: float = 0.0
    near: bool = False
    focus: tuple[int, ...] = ()
    freshness: float = 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One search or title hit: which entry of which corpus.

    Attributes:
        path: Unique inside the corpus.
        relevance: How it fits by meaning, where it was found by that.
    """

    corpus: str
    path: str
    title: str
    relevance: Relevance | None = None


@dataclass(frozen=True, slots=True)
class Hits:
    """The answer to one search: the first hits in the engine's order and its estimate of all."""

    hits: tuple[Hit, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text under it, up to the next heading.

    Attributes:
        heading: Heading path, outermost first, joined by `` > ``; empty for the lead.
        text: Paragraphs and ``key: value`` lines, one a line.
        anchor: Fragment of the article's URL that opens it here: ``page=57`` of a PDF, or empty.
    """

    heading: str
    text: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A link out of an article to another entry of the same corpus."""

    path: str
    text: str
    context: str = ""
    """The line or list item that the link stands in."""


@dataclass(frozen=True, slots=True)
class Article:
    """One entry of a corpus, read: redirects followed, markup gone.

    Attributes:
        path: The entry's own path after redirects; two hits that lead here are one article.
        url: Where a person can open it (HTTP URL, or ``zim://FILE/PATH`` without a server).
        date: Date of the dump, or of the note, as ISO text.
        sections: The lead first.
        links: Only links inside the same corpus; kept for disambiguation pages alone.
        relevance: How a note fits by meaning, and its age; ``None`` for wiki articles.
        aliases: Titles of the redirects by which a search came to it.
    """

    corpus: str
    path: str
    title: str
    url: str
    date: str
    language: str
    sections: tuple[Section, ...]
    links: tuple[Link, ...] = ()
    disambiguation: bool = False
    relevance: Relevance | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered passage in the prompt, and the citation a reader sees."""

    number: int
    title: str
    url: str
    corpus: str
    path: str
    date: str
    language: str
    text: str
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server reports them; 0 when it does not."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """What an endpoint wrote, reasoning stripped.

    Attributes:
        text: The visible answer.
        endpoint: Name of the endpoint that wrote it.
        model: Model name as used.
        kind: ``openai`` or ``quote``.
        sources: The sources as they stood in the prompt that was answered.
        truncated: The server stopped for length.
    """

    text: str
    endpoint: str
    model: str
    kind: str
    sources: tuple[Source, ...]
    truncated: bool = False
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A part of a claim that its passages do not have.

    Attributes:
        text: The part, as written.
        kind: ``number``, ``date``, ``name``, ``negation`` (one of claim and passage has it), or
            ``words`` (too few of the claim's words are there), or ``reader`` (a second reader says
            so).
    """

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer.

    Attributes:
        text: The statement, without its citations.
        citations: Numbers of the sources that stand for it: its own, or its paragraph's.
        status: ``supported``, ``unsupported``, ``uncited``, or ``not_checked``: the sources are in
            another language, or it says that they do not contain something.
        unsupported: What its passages do not have.
    """

    text: str
    citations: tuple[int, ...]
    status: str
    unsupported: tuple[Unsupported, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """What verification found in an answer.

    Attributes:
        text: The answer with citation numbers that name no source removed.
        cited: Numbers of the sources that the answer names, ascending.
        unknown: Citation numbers that were removed.
        unsupported: Parts of claims that their passages do not have, as written.
        claims: The statements, in order.
        refused: The answer says that the sources do not contain it.
    """

    text: str
    cited: tuple[int, ...]
    unknown: tuple[int, ...]
    unsupported: tuple[str, ...]
    claims: tuple[Claim, ...] = ()
    refused: bool = False

    @property
    def strict(self) -> bool:
        """Whether it passes ``--strict``: a refusal, or every claim cited and supported."""
        if self.refused:
            return True
        faults = any(claim.status in ("unsupported", "uncited") for claim in self.claims)
        return bool(self.cited) and not self.unknown and not faults

    @property
    def grounded(self) -> bool:
        """True when it passes `strict` and is an answer."""
        return self.strict and not self.refused
