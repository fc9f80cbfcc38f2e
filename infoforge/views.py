"""What the pipeline returns, and how it looks as plain data: the ``data`` of the JSON envelope."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from infoforge.model.prompt import heading, passage
from infoforge.records import Claim, Completion, Source, Verification

if TYPE_CHECKING:
    from infoforge.retrieval.find import Retrieval


@dataclass(frozen=True, slots=True)
class Searched:
    """A question with what was found for it, before any model.

    Attributes:
        question: The question, trimmed.
        found: The ranked articles and how they were found.
        sources: The passages, numbered.
        seconds: Wall time by stage.
    """

    question: str
    found: Retrieval
    sources: tuple[Source, ...]
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answered question; the terminal view and the JSON view are renderings of it."""

    question: str
    completion: Completion
    verification: Verification
    searched: Searched
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The answer as shown: citations that name no source removed."""
        return self.verification.text

    @property
    def cited(self) -> tuple[Source, ...]:
        """The sources that the answer names."""
        return tuple(s for s in self.completion.sources if s.number in self.verification.cited)

    @property
    def also_read(self) -> tuple[Source, ...]:
        """The sources that it does not name."""
        return tuple(s for s in self.completion.sources if s.number not in self.verification.cited)


def citation(source: Source) -> dict[str, Any]:
    """A source as a reader is shown it: everything but its text."""
    return {
        "number": source.number,
        "title": heading(source.title),
        "url": source.url,
        "corpus": source.corpus,
        "path": source.path,
        "date": source.date,
        "language": source.language,
        "score": source.score,
    }


def claim(found: Claim) -> dict[str, Any]:
    """A statement of an answer, and what its passages do not have of it."""
    return {
        "text": found.text,
        "citations": list(found.citations),
        "status": found.status,
        "unsupported": [{"text": part.text, "kind": part.kind} for part in found.unsupported],
    }


def _seconds(seconds: dict[str, float]) -> dict[str, float]:
    return {stage: round(value, 4) for stage, value in seconds.items()}


def searched(result: Searched) -> dict[str, Any]:
    """What was found: ``data`` of ``search`` and of an ``ask`` that no endpoint answered."""
    return {
        "question": result.question,
        "language": result.found.keywords.language,
        "keywords": [term.text for term in result.found.keywords.terms],
        "results": [citation(source) for source in result.sources],
        "partial": result.found.partial,
        "searches": sum(step.kind == "fulltext" for step in result.found.steps),
        "seconds": _seconds(result.seconds),
    }


def passages(result: Searched) -> dict[str, Any]:
    """The numbered sources with their texts: ``data`` of ``passages``."""
    view = searched(result)
    del view["results"]
    # Agents put these texts before a model of their own: they are as harmless as in our prompt.
    view["sources"] = [citation(s) | {"text": passage(s.text)} for s in result.sources]
    view["characters"] = sum(len(source["text"]) for source in view["sources"])
    return view


def answer(result: Answer) -> dict[str, Any]:
    """An answer: ``data`` of ``ask``."""
    completion, verification = result.completion, result.verification
    return {
        "question": result.question,
        "language": result.searched.found.keywords.language,
        "answer": result.text,
        "grounded": verification.grounded,
        "refused": verification.refused,
        "claims": [claim(each) for each in verification.claims],
        "endpoint": {
            "name": completion.endpoint,
            "kind": completion.kind,
            "model": completion.model,
        },
        "truncated": completion.truncated,
        "citations": [citation(source) for source in result.cited],
        "also_read": [citation(source) for source in result.also_read],
        "unsupported": list(verification.unsupported),
        "removed_citations": list(verification.unknown),
        "partial": result.searched.found.partial,
        "usage": {
            "prompt_tokens": completion.usage.prompt_tokens,
            "completion_tokens": completion.usage.completion_tokens,
        },
        "seconds": _seconds(result.seconds),
    }
