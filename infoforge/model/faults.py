"""Tell from what a server says why it did not answer, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from infoforge.config.settings import EndpointSettings
from infoforge.contract import Warn, WarningMessage
from infoforge.model.prompt import Prompt
from infoforge.model.wire import Exchange, Fault, key_of, models
from infoforge.text.parse import integer

# What the servers say when the prompt does not fit (found in their sources and threads):
_TOO_LONG = re.compile(
    # llama.cpp: "the request exceeds the available context size", "exceed_context_size_error"
    r"exceed(?:s|ed)? (?:the )?(?:available |max(?:imum)? |model'?s )*context|exceed_context_size"
    # Ollama, LM Studio: "input length exceeds the context length", "context overflow", "greater
    # than the context length", "trying to keep the first 5000 tokens"
    r"|context[ _](?:length|size|window)[^.]{0,60}(?:exceed|overflow|too (?:long|small|short))"
    r"|context overflow|(?:greater|longer|more) than (?:the )?(?:model'?s )?(?:context|n_ctx)"
    r"|keep the first \d+ tokens"
    # vLLM, OpenAI, llama-cpp-python: "this model's maximum context length is 4096 tokens",
    # "context_length_exceeded", "requested tokens (5000) exceed context window of 2048"
    r"|maximum (?:context|model) length|max_model_len|context_length_exceeded"
    r"|tokens \(\d+\) exceed|reduce the length of"
    # Others: "prompt is too long", "input too large"
    r"|(?:prompt|input)[^.]{0,40} too (?:long|large|many tokens)",
    re.IGNORECASE,
)
_MODEL_UNKNOWN = re.compile(
    r"model[^.]{0,80}(?:not found|does not exist|not exist|unknown|not loaded|no such|invalid)"
    r"|(?:unknown|invalid|no such|no) model|model_not_found|not a valid model",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"(?:maximum (?:context|model) length(?: of| is)?|context (?:size|length|window)(?: of| is)?"
    r"(?: only)?|n_ctx|max_model_len)\W{0,4}(\d{3,7})",
    re.IGNORECASE,
)
_NO_SYSTEM_ROLE = re.compile(
    r"system.{0,20}\brole|role.{0,20}\bsystem|roles must alternate|only user and assistant",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class UnsupportedParameter:
    """The server cannot take a part of the request that can be done without."""

    part: str

    def simplify(self, payload: dict[str, Any]) -> None:
        """Take the part out of the request."""
        if self.part != "system":
            del payload[self.part]
            return
        # Some chat templates know no system role: the rules go in front of the question.
        system, user, *rest = payload["messages"]
        content = f"{system['content']}\n\n{user['content']}"
        payload["messages"] = [{"role": "user", "content": content}, *rest]


def of_status(
    endpoint: EndpointSettings, payload: dict[str, Any], exchange: Exchange
) -> Fault | UnsupportedParameter:
    """Make a fault of a status other than 200.

    Args:
        endpoint: Who answered.
        payload: What it was asked.
        exchange: Its reply, body not yet read.

    Returns:
        The fault, with the server's words; ``UnsupportedParameter`` when asking in a simpler way
        may help.
    """
    status = exchange.status
    text = exchange.error_text()
    said = f"HTTP {status}" + (f": {text}" if text else "")
    code, message, hint = (
        "endpoint_http",
        f"did not take the request ({said})",
        "see the server's log",
    )
    if 300 <= status < 400:
        code, hint = "endpoint_redirect", "set the endpoint's url to where the server really is"
        where = exchange.location or "nowhere"
        message = f"redirects to {where} (HTTP {status}), which is not followed"
    elif status in (401, 403):
        code, hint = "endpoint_auth", "set api_key_env or api_key_file for this endpoint"
        has_key = bool(key_of(endpoint))
        message = f"refused the API key ({said})" if has_key else f"wants an API key ({said})"
    elif too_long(exchange.raw) or status == 413:
        code, message = "endpoint_too_long", f"the prompt does not fit its context ({said})"
        hint = "lower context_tokens to what the server really has, or start it with more"
    elif status in (400, 404) and _MODEL_UNKNOWN.search(exchange.raw):
        code, hint = "endpoint_model_unknown", "set model to one that the server lists"
        message = f"does not know the model {payload['model']!r} ({said}){_listed(endpoint)}"
    elif status == 404:
        code, message = "endpoint_model_unknown", f"has no chat completions at its url ({said})"
        hint = "does its url end in /v1? does the server know the model?"
    elif part := _unsupported(payload, text):
        return UnsupportedParameter(part)
    elif status >= 500:
        code, message = "endpoint_server_error", f"server error ({said})"
    return Fault(code, message, hint)


def _unsupported(payload: dict[str, Any], text: str) -> str:
    """The part of the request that the server complains of, if it can be left out."""
    if "stream_options" in payload and "stream_options" in text:
        return "stream_options"
    has_system = payload["messages"][0]["role"] == "system"
    return "system" if has_system and _NO_SYSTEM_ROLE.search(text) else ""


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
    match = _LIMITS.search(text)
    return integer(match[1]) if match else 0


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
    endpoint: EndpointSettings,
    prompt: Prompt,
    prompt_tokens: int,
    warn: Warn,
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
        WarningMessage(
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


def usual_tokens(prompt: Prompt) -> int:
    """Tokens that a prompt has with the usual tokeniser, on the careful side."""
    return least_tokens("".join(m["content"] for m in prompt.messages), letters=3.0)


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
    return tokens >= 1000 and -tokens % (1 << (tokens - 1).bit_length()) <= 16
