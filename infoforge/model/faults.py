"""Tell from what a server says why it did not answer, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from infoforge.config.settings import EndpointSettings
from infoforge.contract import Notice
from infoforge.model.prompt import Prompt
from infoforge.model.wire import Exchange, Fault, key_of, models

# What the servers say when the prompt does not fit (found in their sources and threads):
_TOO_LONG = re.compile(
    r"exceed[a-z]*\W+(?:the\W+)?(?:available\W+|model.?s\W+)?(?:maximum\W+)?context"  # llama.cpp
    r"|exceed_context_size"
    r"|context[ _](?:length|size|window)[^.]{0,60}(?:exceed|overflow|too (?:long|small|short)|not enough)"
    r"|maximum context length"  # vLLM, OpenAI, llama-cpp-python
    r"|context_length_exceeded"
    r"|exceed[a-z]* (?:the )?(?:model.?s )?(?:max(?:imum)?[ _])(?:model[ _]len|length|seq|input|tokens)"
    r"|(?:prompt|input|request)[^.]{0,40} too (?:long|large|many tokens)"
    r"|longer than the (?:maximum )?(?:model|context)"
    r"|requested tokens \(\d+\) exceed"  # llama-cpp-python
    r"|(?:greater|larger|longer|more) than (?:the )?(?:context|n_ctx|max_model_len)"
    r"|initial prompt is greater than the context length"  # LM Studio: "Trying to keep the first ..."
    r"|keep the first \d+ tokens"
    r"|n_ctx|num_ctx|max_model_len"
    r"|reduce the length of",
    re.IGNORECASE,
)
_MODEL_UNKNOWN = re.compile(
    r"model[^.]{0,80}(?:not found|does not exist|not exist|unknown|not loaded|no such|invalid)"
    r"|(?:unknown|invalid|no such|no) model|model_not_found|not a valid model",
    re.IGNORECASE,
)
_LIMITS = (
    re.compile(
        r"(?:maximum context length (?:of|is)|context (?:size|length|window)(?: of| is)?|n_ctx\W+|max_model_len\W+)\D{0,3}\(?(\d{3,7})",
        re.I,
    ),
    re.compile(r"context length of only (\d{3,7})", re.I),
)


class Unsupported(Exception):
    """The server cannot take a part of the request that is not needed."""

    def __init__(self, part: str) -> None:
        super().__init__(part)
        self.part = part

    def simplify(self, payload: dict[str, Any]) -> None:
        """Take the part out of the request."""
        if self.part != "system":
            del payload[self.part]
            return
        # Some chat templates know no system role: the rules go in front of the question.
        system, user = payload["messages"]
        content = f"{system['content']}\n\n{user['content']}"
        payload["messages"] = [{"role": "user", "content": content}]


def of_status(
    endpoint: EndpointSettings, payload: dict[str, Any], exchange: Exchange
) -> Fault | Unsupported:
    """Make a fault of a status other than 200.

    Args:
        endpoint: Who answered.
        payload: What it was asked.
        exchange: Its reply, body not yet read.

    Returns:
        The fault, with what the server says of it; ``Unsupported`` when asking in a simpler way
        may help.
    """
    status = exchange.status
    if 300 <= status < 400:
        return Fault(
            "endpoint_redirect",
            f"redirects to {exchange.location or 'nowhere'} (HTTP {status}), which is not followed",
            "set the endpoint's url to where the server really is",
        )
    text = exchange.error_text()
    said = f"HTTP {status}" + (f": {text}" if text else "")
    if status in (401, 403):
        return Fault(
            "endpoint_auth",
            f"refused the API key ({said})" if key_of(endpoint) else f"wants an API key ({said})",
            "set api_key_env or api_key_file for this endpoint",
        )
    if too_long(text) or status == 413:
        return Fault(
            "endpoint_too_long",
            f"the prompt does not fit its context ({said})",
            "lower context_tokens to what the server really has, or start it with more",
        )
    if status in (400, 404) and _MODEL_UNKNOWN.search(text):
        return Fault(
            "endpoint_model_unknown",
            f"does not know the model {payload['model']!r} ({said})" + _listed(endpoint),
            "set model to one that it lists",
        )
    if status == 404:
        return Fault(
            "endpoint_model_unknown",
            f"has no chat completions at {endpoint.url} ({said})",
            "does its url end in /v1? does the server know the model?",
        )
    if part := _unsupported(payload, text):
        return Unsupported(part)
    if status >= 500:
        return Fault("endpoint_server_error", f"server error ({said})", "see the server's log")
    return Fault("endpoint_http", f"did not take the request ({said})", "see the server's log")


def _unsupported(payload: dict[str, Any], text: str) -> str:
    """The part of the request that the server complains of, if it can be left out."""
    if "stream_options" in payload and "stream_options" in text:
        return "stream_options"
    roles = len(payload["messages"]) > 1 and re.search(
        r"system.{0,20}\brole|role.{0,20}system|roles must alternate|only user and assistant",
        text,
        re.I,
    )
    return "system" if roles else ""


def _listed(endpoint: EndpointSettings) -> str:
    try:
        names = [row["id"] for row in models(endpoint, total=3.0)]
    except Fault:
        return ""
    return f"; it lists: {', '.join(names[:10])}" if names else ""


def too_long(text: str) -> bool:
    """Whether a server's message says that the prompt does not fit its context."""
    return _TOO_LONG.search(text) is not None


def limit_in(text: str) -> int:
    """The context size that such a message names; 0 when it names none."""
    for pattern in _LIMITS:
        if match := pattern.search(text):
            return int(match[1])
    return 0


def redact(text: str, endpoint: EndpointSettings) -> str:
    """Text without the endpoint's key, should a server or a library have repeated it."""
    if not text or endpoint.kind == "quote":
        return text
    try:
        key = key_of(endpoint)
    except Fault:
        return text
    return text.replace(key, "[api key]") if key else text


def check_prompt_cut(
    endpoint: EndpointSettings, prompt: Prompt, prompt_tokens: int, warn: Callable[[Notice], None]
) -> None:
    """Warn when the server read fewer tokens than the prompt can have.

    Servers cut a prompt that is too long without a word, its beginning first, and with it the
    rules: the answer then looks right and is not grounded.

    Args:
        endpoint: Who answered.
        prompt: What was sent.
        prompt_tokens: What the server says it read; 0 when it does not say.
        warn: Gets the warning.
    """
    text = "".join(message["content"] for message in prompt.messages)
    least = least_tokens(text)
    if _is_edge(prompt_tokens):
        # A full window of 2048 or 4096 tokens is seldom chance: here the usual density counts.
        least = max(least, least_tokens(text, letters=4.8))
    if not 0 < prompt_tokens < least:
        return
    warn(
        Notice(
            "prompt_cut",
            f"endpoint {endpoint.name}: it read {prompt_tokens} tokens of a prompt of at least "
            f"{least}: the server cut it. {how_to_raise(endpoint)}",
        )
    )


def how_to_raise(endpoint: EndpointSettings) -> str:
    """What to set so that the server has the context that the config says."""
    tokens = endpoint.context_tokens
    return (
        f"Give the server {tokens} tokens (Ollama: OLLAMA_CONTEXT_LENGTH={tokens}, or PARAMETER "
        f"num_ctx {tokens} in a Modelfile; llama.cpp: --ctx-size {tokens} per slot; vLLM: "
        f"--max-model-len {tokens}; LM Studio: the model's context length), or lower context_tokens"
    )


def least_tokens(text: str, letters: float = 6.0) -> int:
    """Tokens that a text has at the very least, whatever the tokeniser.

    Args:
        text: Any text.
        letters: Characters of an alphabet in one token. No tokeniser in use gets more than six
            into the average token of running text, or more than two of Chinese or Japanese.

    Returns:
        A number of tokens; what a server counts below it was cut.
    """
    wide = sum(1 for char in text if "\u2e80" <= char <= "\ud7ff" or "\uf900" <= char <= "\ufaff")
    return int((len(text) - wide) / letters + wide / 2)


def _is_edge(tokens: int) -> bool:
    """Whether a count stands at, or just below, a power of two as contexts are made in."""
    return (tokens >= 1000 and (1 << tokens.bit_length()) - tokens <= 16) or tokens & (
        tokens - 1
    ) == 0
