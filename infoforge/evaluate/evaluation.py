"""A whole evaluation: questions in, one report as plain data out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from infoforge import __version__
from infoforge.corpus.base import Corpus
from infoforge.evaluate import report
from infoforge.evaluate.journal import Journal
from infoforge.evaluate.lookup import budget
from infoforge.evaluate.questions import Question
from infoforge.evaluate.run import EvalOptions, run


def evaluate(
    questions: Sequence[Question],
    plan: EvalOptions,
    *,
    file: Path,
    corpora: Sequence[Corpus],
    sample: int = 0,
    seed: int = 0,
    resume: Path | None = None,
    limits: Mapping[str, Any] | None = None,
    progress: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Ask the questions and sum up.

    Args:
        questions: The questions to ask.
        plan: How they are asked.
        file: Where they came from.
        corpora: Open corpora.
        sample: Size of the sample that they are, 0 for all.
        seed: Seed of the sample.
        resume: File that keeps results as they come.
        limits: Thresholds by their name in ``report.CHECKS``; other keys are left alone.
        progress: Called after each question.

    Returns:
        ``data`` of ``eval`` (data/schemas/eval.schema.json).

    Raises:
        UsageError: The file to resume from belongs to another run.
        CorpusUnavailable: The corpora went away.
    """
    characters, count = budget(plan.settings, plan.options)
    setting = {
        "file": str(file),
        "sample": sample,
        "seed": seed,
        "sources": count,
        "characters": characters,
        "deadline": plan.options.deadline or plan.settings.search.deadline,
        "language": plan.options.language or plan.settings.search.language,
        "answers": plan.answers,
        "corpora": [
            {
                "name": info.name,
                "kind": info.kind,
                "date": info.date,
                "articles": info.articles,
                "languages": list(info.languages),
            }
            for info in (corpus.describe() for corpus in corpora)
        ],
        "version": __version__,
    }
    journal = None
    if resume is not None:
        same = setting | {"curve": list(plan.curve), "questions": _fingerprint(questions)}
        journal = Journal(resume, same)
    rows = run(questions, corpora, plan, journal=journal, progress=progress)
    figures = report.summary(rows)
    return {
        "run": setting,
        "summary": figures,
        "by_language": report.by_language(rows),
        "checks": report.checks(figures, limits or {}),
        "questions": rows,
    }


def _fingerprint(questions: Sequence[Question]) -> str:
    digest = hashlib.sha256()
    for question in questions:
        digest.update(repr(question).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]
