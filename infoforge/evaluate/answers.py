"""The model's answer to one question, judged against the known answers."""

from __future__ import annotations

import time
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

_REFUSALS = (
    "do not contain", "does not contain", "don't contain", "doesn't contain", "do not mention",
    "does not mention", "do not provide", "does not provide", "do not say", "does not say",
    "not mentioned", "no information", "not contain the answer", "cannot answer", "can't answer",
    "not specified", "not stated", "enthalten keine", "enthält keine", "keine information",
    "nicht beantworten", "nicht erwähnt", "no contienen", "no contiene", "no mencionan",
    "no menciona", "ne contiennent pas", "ne contient pas", "ne mentionnent pas",
    "没有提到", "没有提及", "未提及", "不包含", "没有包含", "没有提供", "无法回答",
)  # fmt: skip


def answer(question: Question, settings: Settings, options: Options) -> dict[str, Any]:
    """The model's answer, judged. A model that cannot be reached is a row too."""
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
            "unsupported": [],
            "refusal": False,
            "seconds": round(time.perf_counter() - started, 3),
            "warnings": [warning.code for warning in warnings],
        }
    text = answered.text
    wanted = question.answers
    refusal = looks_like_refusal(text, cited=bool(answered.verification.cited))
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
        "unsupported": list(answered.verification.unsupported),
        "refusal": refusal,
        "seconds": round(answered.seconds.get("model", 0.0), 3),
        "warnings": [warning.code for warning in warnings],
    }


def looks_like_refusal(text: str, *, cited: bool) -> bool:
    """Whether an answer says that the sources don't tell: a guess by its words, for counting only.

    Args:
        text: The answer.
        cited: Whether it names a source; a long answer that does is an answer.
    """
    plain = match.normal(text)
    short = len(plain) < 300
    return (short or not cited) and any(phrase in plain for phrase in _REFUSALS)
