"""The model's answer to one question, compared with the known answers."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from infoforge.ask import Options, ask
from infoforge.config.settings import Settings
from infoforge.contract import (
    CorpusUnavailable,
    NoEndpoint,
    NothingFound,
    NotVerified,
    WarningMessage,
)
from infoforge.evaluate import match
from infoforge.evaluate.questions import Question


def answer(question: Question, settings: Settings, options: Options) -> dict[str, Any]:
    """The model's answer, compared with the known ones; an unreachable model is a row, too."""
    warnings: list[WarningMessage] = []
    started = time.perf_counter()
    try:
        answered = ask(question.text, settings, options, warn=warnings.append)
    except (NoEndpoint, NothingFound, NotVerified, CorpusUnavailable) as error:
        return {
            "text": "",
            "error": error.code,
            "endpoint": "",
            "exact": False,
            "f1": 0.0,
            "holds": False,
            "cited": 0,
            "right_source": None,
            "claims": {},
            "grounded": False,
            "unsupported": [],
            "refusal": False,
            "seconds": round(time.perf_counter() - started, 3),
            "warnings": [warning.code for warning in warnings],
        }
    text = answered.text
    wanted = question.answers
    statuses = Counter(claim.status for claim in answered.verification.claims)
    cited_titles = [source.title for source in answered.cited]
    right = any(match.same_title(own, title) for own in cited_titles for title in question.titles)
    return {
        "text": text,
        "error": "",
        "endpoint": answered.completion.endpoint,
        "exact": match.exact(text, wanted) if wanted else None,
        "f1": round(match.token_f1(text, wanted), 4) if wanted else None,
        "holds": match.holds(text, wanted) if wanted else None,
        "cited": len(answered.verification.cited),
        "right_source": right if question.titles else None,
        "claims": dict(sorted(statuses.items())),
        "grounded": answered.verification.grounded,
        "unsupported": list(answered.verification.unsupported),
        "refusal": answered.verification.refused,
        "seconds": round(answered.seconds.get("model", 0.0), 3),
        "warnings": [warning.code for warning in warnings],
    }
