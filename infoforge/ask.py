"""The pipeline of one question, from the settings to one answer object."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infoforge import views
from infoforge.config.settings import EndpointSettings, Settings
from infoforge.contract import (
    NoEndpoint,
    NothingFound,
    NotVerified,
    UsageError,
    Warn,
    WarningMessage,
)
from infoforge.corpus.base import Corpus, Deadline
from infoforge.corpus.opened import open_corpora
from infoforge.records import Completion, CorpusInfo, Verification
from infoforge.retrieval import relevance
from infoforge.retrieval.find import Retrieval, find
from infoforge.retrieval.passages import passages
from infoforge.verification import MAX_ANSWER
from infoforge.views import Answer, Searched

if TYPE_CHECKING:
    from infoforge.model.prompt import Prompt

QUOTE = EndpointSettings(name="quote", kind="quote")
"""The endpoint that answers when none is configured: quotes, which need no server."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a caller may ask for in addition to the settings.

    Attributes:
        zims: ZIM files to open instead of what is configured.
        corpus: Which corpora to search: ``vault``, ``wiki`` or ``all``.
        sources: Number of sources; the settings' own when 0.
        characters: Characters of all sources together; the settings' own when 0.
        deadline: Seconds for the search; the settings' own when 0.
        endpoint: Name of the one endpoint to use; all, in order, when empty.
        language: ISO 639-1 code of the question; the settings' own, or detected, when empty.
        strict: Raise `NotVerified` for an answer with a claim that is unsupported or cites nothing.
    """

    zims: tuple[str, ...] = ()
    corpus: str = "all"
    sources: int = 0
    characters: int = 0
    deadline: float = 0.0
    endpoint: str = ""
    language: str = ""
    strict: bool = False


def clean_question(text: str) -> str:
    """The question as it is searched and asked: one line, no control characters.

    Raises:
        UsageError: Nothing is left of it.
    """
    # Surrogates come from arguments that are not UTF-8; they cannot be sent anywhere.
    valid = text.encode("utf-8", "replace").decode("utf-8")
    line = " ".join("".join(c if c.isprintable() else " " for c in valid).split())
    if not any(c.isalnum() for c in line):
        raise UsageError("the question is empty", 'ask one: infoforge ask "Who wrote Kokoro?"')
    return line


def search(
    question: str,
    settings: Settings,
    options: Options,
    warn: Warn,
    corpora: Sequence[Corpus] | None = None,
) -> Searched:
    """Find the sources for a question.

    Args:
        question: The question, in any language.
        settings: The settings.
        options: What the caller asks for.
        warn: Takes warnings as they arise.
        corpora: Open corpora; opened from the settings when not given.

    Returns:
        At least one source.

    Raises:
        UsageError: An empty question, a ZIM file that does not exist.
        NothingFound: No article matches the question.
        CorpusUnavailable: Nothing could be searched.
    """
    line = clean_question(question)
    started = time.perf_counter()
    deadline = Deadline(options.deadline or settings.search.deadline)
    if corpora is None:
        corpora = open_corpora(
            settings, warn, deadline=deadline, zims=options.zims, corpus=options.corpus
        )
    opened = time.perf_counter() - started
    found = find(
        line,
        corpora,
        deadline=deadline,
        warn=warn,
        language=options.language or settings.search.language,
    )
    if not found.ranked:
        raise nothing_found(found, [corpus.describe() for corpus in corpora])
    count = options.sources or settings.search.sources
    sources = passages(
        found.ranked, found.keywords, options.characters or settings.search.characters, count
    )
    return Searched(line, found, sources, {"open": opened, **found.seconds})


def nothing_found(found: Retrieval, corpora: Sequence[CorpusInfo]) -> NothingFound:
    """The error for a question without sources: it says at which stage nothing was left.

    Args:
        found: What the search did.
        corpora: Descriptions of the corpora that were searched.
    """
    query = " ".join(term.text for term in found.keywords.by_rarity())
    without = [info.name for info in corpora if not info.fulltext]
    causes = []
    if found.refused:
        best = found.refused[0]
        code = relevance.reason(best, best.scores.total)
        causes.append(
            f"the best of {len(found.refused)} that were read, {best.article.title}, was rejected: "
            f"{relevance.REASONS.get(code, code)}"
        )
    if without:
        causes.append(f"without a full-text index, searched by title alone: {', '.join(without)}")
    if found.partial:
        causes.append("a search failed or ran out of time, as the warnings say")
    told = "; ".join(causes) or "no article holds its words"
    if without or found.partial:
        hint = "infoforge doctor checks the corpora"
    else:
        hint = "name what it is about in the words of an article, or add ZIM files"
    return NothingFound(
        f"no article matches the question, searched as: {query}; {told}",
        f"{hint}; infoforge explain shows each search"
        + ("" if without or found.partial else ", infoforge doctor checks the corpora"),
    )


def chosen_endpoints(settings: Settings, options: Options) -> list[EndpointSettings]:
    """The endpoints to try, in order.

    Raises:
        UsageError: The one that was asked for is not configured.
    """
    endpoints = list(settings.endpoints)
    if options.endpoint:
        named = [e for e in (*endpoints, QUOTE) if e.name == options.endpoint]
        if not named:
            known = ", ".join(e.name for e in (*endpoints, QUOTE))
            raise UsageError(f"no such endpoint: {options.endpoint}", f"configured are: {known}")
        return named[:1]
    if not endpoints:
        return [QUOTE]
    return endpoints


def ask(
    question: str,
    settings: Settings,
    options: Options,
    *,
    warn: Warn,
    on_text: Callable[[str], None] | None = None,
    on_restart: Callable[[str], None] | None = None,
    on_sources: Callable[[Searched], None] | None = None,
) -> Answer:
    """Answer a question from the articles found for it.

    Args:
        question: The question, in any language.
        settings: The settings.
        options: What the caller asks for.
        warn: Takes warnings as they arise.
        on_text: Takes the answer piece by piece as it is written; the final text may differ from
            the pieces by citations that were removed.
        on_restart: Told why when pieces already given no longer count.
        on_sources: Told what was found before a model is asked.

    Returns:
        The answer with its sources and the verification of its claims.

    Raises:
        NothingFound: No article matches; no model was called.
        NoEndpoint: No endpoint answered; the sources are in its ``data``.
        NotVerified: With ``strict``, an answer that is not grounded; it is in its ``data``.
    """
    from infoforge.model import prompt
    from infoforge.model.endpoints import complete
    from infoforge.verification import verify

    endpoints = chosen_endpoints(settings, options)
    searched = search(question, settings, options, warn)
    if not (settings.endpoints or options.endpoint):
        hint = "infoforge config init looks for a model server"
        warn(
            WarningMessage(
                "no_endpoint_configured", f"no model is configured, so quotes answer; {hint}"
            )
        )
    if on_sources is not None:
        on_sources(searched)
    keywords = searched.found.keywords
    characters = options.characters or settings.search.characters

    def build(endpoint: EndpointSettings, share: float) -> prompt.Prompt:
        room = prompt.budget(endpoint.context_tokens, endpoint.max_tokens, keywords.language)
        count = max(1, round(len(searched.sources) * share))
        budget = int(min(characters, room) * share)
        sources = passages(searched.found.ranked, keywords, budget, count)
        return prompt.build(searched.question, sources, keywords.language, settings.answer_style)

    started = time.perf_counter()
    try:
        completion = complete(endpoints, build, on_text=on_text, on_restart=on_restart, warn=warn)
    except NoEndpoint as error:
        error.data = views.searched(searched)
        raise
    verification = verify(completion.text, completion.sources, searched.question, keywords.language)
    if (options.strict or settings.repair) and not verification.strict:
        again = _repair(completion, verification, endpoints, build, warn)
        if again is not None:
            second = verify(again.text, again.sources, searched.question, keywords.language)
            if _faults(second) < _faults(verification):
                if on_restart is not None:
                    on_restart("the answer failed verification; a second one follows")
                if on_text is not None:
                    on_text(again.text)
                completion, verification = again, second
    model_seconds = time.perf_counter() - started
    answer = Answer(
        searched.question,
        completion,
        verification,
        searched,
        {**searched.seconds, "model": model_seconds},
    )
    _tell(answer, warn)
    if options.strict and not verification.strict:
        raise NotVerified(
            "the answer is not grounded in its sources",
            "ask more precisely, or leave out --strict to see it with its warnings as exit 0",
            data=views.answer(answer),
        )
    return answer


def _faults(verification: Verification) -> int:
    """How many faults verification found: 0 when the answer passes ``--strict``."""
    if verification.strict:
        return 0
    bad = sum(claim.status in ("unsupported", "uncited") for claim in verification.claims)
    return 1 + bad + len(verification.unknown)


def _repair(
    completion: Completion,
    verification: Verification,
    endpoints: Sequence[EndpointSettings],
    build: Callable[[EndpointSettings, float], Prompt],
    warn: Warn,
) -> Completion | None:
    """Send an answer back once, with what is wrong with it; None when there is no other answer."""
    from infoforge.model.endpoints import complete
    from infoforge.model.prompt import repair

    same = [e for e in endpoints if e.name == completion.endpoint and e.kind != "quote"]
    if not same:
        return None

    def again(endpoint: EndpointSettings, share: float) -> Prompt:
        return repair(build(endpoint, share), verification)

    try:
        return complete(same[:1], again, on_text=None, warn=warn)
    except NoEndpoint:
        # The first answer stands; what went wrong was reported as a warning.
        return None


def _tell(answer: Answer, warn: Warn) -> None:
    verification = answer.verification
    if len(answer.completion.text) > MAX_ANSWER:
        warn(WarningMessage("answer_cut", f"the answer was cut at {MAX_ANSWER} characters of text"))
    if verification.unknown:
        numbers = ", ".join(f"[{n}]" for n in verification.unknown)
        warn(
            WarningMessage("unknown_citation", f"removed citations that name no source: {numbers}")
        )
    if verification.refused:
        return
    if not verification.cited:
        warn(WarningMessage("uncited", "the answer names none of its sources"))
    elif uncited := sum(claim.status == "uncited" for claim in verification.claims):
        warn(WarningMessage("uncited", f"statements without a citation: {uncited}"))
    if verification.unsupported:
        missing = ", ".join(verification.unsupported)
        warn(WarningMessage("unsupported", f"not in the sources that are cited: {missing}"))
