"""Look at one endpoint for ``doctor``: reachable, model listed, a completion, its real context."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from infoforge.config.settings import EndpointSettings
from infoforge.model import faults
from infoforge.model.chat import ChatReply
from infoforge.model.endpoints import check_private, converse, only_model
from infoforge.model.wire import Fault, get_json, models
from infoforge.text.parse import integer

_QUICK = 10.0
"""Seconds for a look at what a server lists."""
_FILLER = "a e i o u "
"""Words that are one token each in every tokeniser."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What was found out about an endpoint; what was not reached keeps its default.

    Attributes:
        name: The endpoint's name.
        kind: ``openai`` or ``quote``.
        reachable: It answered at all.
        models: The models that it lists.
        model: The model that is used; empty when none could be chosen.
        listed: The model is among those listed; ``None`` when the server lists none.
        completes: It gave a completion of one token.
        seconds: How long that took.
        context: Tokens of context it really has; 0 when it cannot be found out.
        context_from: Where that was learnt (``/props``, ``/v1/models``, ``measured`` ...).
        context_ok: The configured ``context_tokens`` fit; ``None`` when unknown.
        code: Stable code of what is wrong; empty when nothing is.
        message: What is wrong, one line, no key in it.
        hint: What to do about it.
    """

    name: str
    kind: str = "openai"
    reachable: bool = False
    models: tuple[str, ...] = ()
    model: str = ""
    listed: bool | None = None
    completes: bool = False
    seconds: float = 0.0
    context: int = 0
    context_from: str = ""
    context_ok: bool | None = None
    code: str = ""
    message: str = ""
    hint: str = ""

    @property
    def ok(self) -> bool:
        """Whether the endpoint answers; a context that is too small is a warning beside it."""
        return self.completes


def probe(endpoint: EndpointSettings, *, measure: bool = True) -> Probe:
    """Look at an endpoint.

    Args:
        endpoint: Which one; its timeouts hold.
        measure: When the server does not say how much context it has, send it a prompt that fills
            the configured one and see whether all of it is read. On a slow machine that takes as
            long as the longest question.

    Returns:
        What was found, with what is wrong; never raises for a server's sake.

    Raises:
        ConfigError: The endpoint is on a public address without ``allow_public``.
    """
    found = Probe(endpoint.name, endpoint.kind)
    if endpoint.kind == "quote":
        return replace(found, reachable=True, completes=True)
    check_private(endpoint)
    rows: tuple[dict[str, Any], ...] = ()
    try:
        rows = models(endpoint, total=_QUICK)
        found = replace(found, reachable=True, models=tuple(row["id"] for row in rows))
    except Fault as fault:
        if fault.code in ("endpoint_refused", "endpoint_timeout", "endpoint_auth"):
            return _failed(found, fault, endpoint)
        # A server may list nothing and answer all the same.
        found = replace(found, reachable=True)
    try:
        model = endpoint.model or only_model(endpoint)
    except Fault as fault:
        return _failed(found, fault, endpoint)
    listed = _is_listed(model, found.models) if found.models else None
    found = replace(found, model=model, listed=listed)
    started = time.monotonic()
    reply = ChatReply()
    refusal = _say(endpoint, model, "Say: yes", reply)
    found = replace(found, seconds=time.monotonic() - started)
    if refusal is not None:
        return _failed(found, refusal, endpoint)
    found = replace(found, completes=True)
    context, told_by = _told_context(endpoint, model, rows)
    if context:
        return _with_context(found, endpoint, context, told_by)
    return _measured(found, endpoint, model) if measure else found


def _failed(found: Probe, fault: Fault, endpoint: EndpointSettings) -> Probe:
    return replace(
        found,
        code=fault.code,
        message=faults.redact(fault.message, endpoint),
        hint=faults.redact(fault.hint, endpoint),
    )


def _is_listed(model: str, names: tuple[str, ...]) -> bool:
    # Ollama lists "qwen3:latest" and answers to "qwen3".
    return model in names or f"{model}:latest" in names


def _say(endpoint: EndpointSettings, model: str, words: str, reply: ChatReply) -> Fault | None:
    """Ask for one token. One that shows nothing (a blank, a thought) has shown enough here."""
    message = {"role": "user", "content": words}
    try:
        converse(
            endpoint, model, [message], max_tokens=1, reply=reply, show=lambda _text, _retract: None
        )
    except Fault as fault:
        silent = ("endpoint_reasoning_only", "endpoint_empty")
        if fault.code in silent and reply.finish == "length":
            return None
        return fault
    return None


def _told_context(
    endpoint: EndpointSettings, model: str, rows: tuple[dict[str, Any], ...]
) -> tuple[int, str]:
    """The context that a server itself tells, and where it tells it."""
    row = next((r for r in rows if _is_listed(model, (r["id"],))), {})
    for key in ("max_model_len", "context_window", "context_length", "loaded_context_length"):
        if size := integer(row.get(key)):  # vLLM, SGLang, llama-cpp-python
            return size, "/v1/models"
    for path, read in (
        ("/props", _llama_cpp),
        ("/api/ps", _ollama),
        (f"/api/v0/models/{model}", _lm_studio),
    ):
        try:
            document = get_json(endpoint, path, total=_QUICK, root=True)
        except Fault:
            continue
        if size := read(document, model):
            return size, path.removesuffix(f"/{model}")
    return 0, ""


def _llama_cpp(document: Any, model: str) -> int:  # noqa: ANN401 - JSON
    settings = document.get("default_generation_settings") if isinstance(document, dict) else None
    return integer(settings.get("n_ctx")) if isinstance(settings, dict) else 0


def _ollama(document: Any, model: str) -> int:  # noqa: ANN401 - JSON
    rows = document.get("models") if isinstance(document, dict) else None
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and _is_listed(
            model, (str(row.get("name")), str(row.get("model")))
        ):
            return integer(row.get("context_length"))
    return 0


def _lm_studio(document: Any, model: str) -> int:  # noqa: ANN401 - JSON
    return integer(document.get("loaded_context_length")) if isinstance(document, dict) else 0


def _measured(found: Probe, endpoint: EndpointSettings, model: str) -> Probe:
    """Fill the configured context to nine tenths and see how much of it the server reads."""
    words = endpoint.context_tokens * 9 // 10
    text = (_FILLER * (words // 5 + 1))[: 2 * words].strip()
    reply = ChatReply()
    fault = _say(endpoint, model, text, reply)
    if fault is not None:
        if fault.code != "endpoint_too_long":
            # Too slow, or out of memory: the longest question would meet the same.
            text = f"a prompt that fills its context_tokens failed: {fault.message}"
            return _failed(found, Fault("context_unknown", text, fault.hint), endpoint)
        return _with_context(found, endpoint, faults.limit_in(fault.message), "measured")
    read = reply.usage.prompt_tokens
    if not read:
        return found
    if read < words * 9 // 10:
        return _with_context(found, endpoint, read, "measured")
    return replace(found, context_from="measured", context_ok=True)


def _with_context(found: Probe, endpoint: EndpointSettings, context: int, told_by: str) -> Probe:
    fits = context >= endpoint.context_tokens
    found = replace(found, context=context, context_from=told_by, context_ok=fits)
    if fits:
        return found
    has = f"has {context} tokens of context" if context else "has less context"
    return replace(
        found,
        code="context_too_small",
        message=f"{has}, and context_tokens says {endpoint.context_tokens}",
        hint=faults.how_to_raise(endpoint),
    )
