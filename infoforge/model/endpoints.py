"""Ask the endpoints, in the order of the config, until one answers.

Replies are streamed from the server even when nobody watches: a whole reply would make every slow
answer look like a hanging server, and a server that is left stops working only if it streams.
What a caller without ``on_text`` gets is the whole answer all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from infoforge.config.settings import EndpointSettings
from infoforge.contract import NoEndpoint, Warn, WarningMessage
from infoforge.model import chat, faults
from infoforge.model.prompt import Prompt, answer_tokens
from infoforge.model.wire import Exchange, Fault, key_of, models
from infoforge.records import Completion


class _Spent(Fault):
    """A model spent its whole budget thinking."""


Build = Callable[[EndpointSettings, float], Prompt]


@dataclass
class _Screen:
    """Who watches, and whether anything was shown that may have to be taken back."""

    on_text: Callable[[str], None] | None
    on_restart: Callable[[str], None] | None
    shown: bool = False

    def show(self, text: str, retract: bool) -> None:
        if retract:
            self.restart("that was the model's thinking; the answer follows")
        if text and self.on_text is not None:
            self.shown = True
            self.on_text(text)

    def restart(self, why: str) -> None:
        if self.shown and self.on_restart is not None:
            self.on_restart(why)
        self.shown = False


def complete(
    endpoints: Sequence[EndpointSettings],
    build: Build,
    *,
    on_text: Callable[[str], None] | None,
    warn: Warn,
    on_restart: Callable[[str], None] | None = None,
) -> Completion:
    """Get an answer from the first endpoint that gives one.

    Args:
        endpoints: In the order in which they are tried.
        build: Makes the prompt for an endpoint; its second argument is the share of the sources'
            budget to use: 1.0, and 0.5 after the server found the prompt too long.
        on_text: Called with each part of the answer as it comes, thinking already taken out.
        warn: Told of every endpoint that failed, and of answers cut short.
        on_restart: Called with a reason when all that ``on_text`` got so far is void: the stream
            broke and another endpoint starts over, or it turned out to have been thinking. Only
            called when something was shown.

    Returns:
        The answer. Its ``text`` is right whatever was shown on the way.

    Raises:
        NoEndpoint: None of them answered.
        ConfigError: An endpoint is on a public address without ``allow_public``.
    """
    screen = _Screen(on_text, on_restart)
    failed: list[str] = []
    hint = ""
    for endpoint in endpoints:
        try:
            return _ask(endpoint, build, screen, warn)
        except Fault as fault:
            message = faults.redact(fault.message, endpoint)
            warn(WarningMessage(fault.code, f"endpoint {endpoint.name}: {message}"))
            failed.append(f"{endpoint.name}: {message}")
            hint = hint or faults.redact(fault.hint, endpoint)
            screen.restart(f"endpoint {endpoint.name} {message}; starting over")
    if not failed:
        raise NoEndpoint(
            "no model endpoint is configured",
            "add one under endpoints (infoforge config init looks for servers on this machine), "
            "or kind: quote, which needs none",
        )
    spent = all("thinking" in text for text in failed)
    what = "the model only thought" if spent else "no model endpoint answered"
    raise NoEndpoint(
        f"{what}: " + "; ".join(failed),
        "; ".join(filter(None, [hint, "infoforge doctor tests each endpoint"])),
    )


def _ask(endpoint: EndpointSettings, build: Build, screen: _Screen, warn: Warn) -> Completion:
    """One endpoint, with the second try that a prompt which was too long gets."""
    if endpoint.kind == "quote":
        from infoforge.model.quote import quote

        prompt = build(endpoint, 1.0)
        text = quote(prompt.question, prompt.sources)
        screen.show(text, False)
        return Completion(text, endpoint.name, "", "quote", prompt.sources)
    check_private(endpoint)
    key_of(endpoint, warn)
    model = endpoint.model or only_model(endpoint)
    share, tokens = 1.0, answer_tokens(endpoint.context_tokens, endpoint.max_tokens)
    try:
        return _once(endpoint, model, build(endpoint, share), screen, warn, tokens=tokens)
    except _Spent:
        return _with_more(endpoint, model, build(endpoint, share), screen, warn, tokens=tokens)
    except Fault as fault:
        if fault.code != "endpoint_too_long":
            raise
        limit = faults.limit_in(fault.message)
        says = f" (it takes {limit} tokens)" if limit else ""
        set_to = f"context_tokens: {limit}" if limit else "its context_tokens lower"
        warn(
            WarningMessage(
                "prompt_too_long",
                f"endpoint {endpoint.name}: the prompt is too long for it{says}; asking once more "
                f"with half the sources (set {set_to})",
            )
        )
        screen.restart("the prompt was too long; starting over")
    return _once(endpoint, model, build(endpoint, 0.5), screen, warn, tokens=tokens)


def _with_more(
    endpoint: EndpointSettings,
    model: str,
    prompt: Prompt,
    screen: _Screen,
    warn: Warn,
    *,
    tokens: int,
) -> Completion:
    """Ask once more with four times the budget, for a model that spent all of it thinking."""
    room = endpoint.context_tokens - faults.usual_tokens(prompt)
    more = min(4 * tokens, room)
    if more <= tokens:
        needed = faults.usual_tokens(prompt) + 4 * tokens
        raise Fault(
            "endpoint_reasoning_only",
            f"spent its whole budget of {tokens} tokens thinking",
            f"give the server, and context_tokens, {needed} tokens, or turn thinking off in it",
        )
    warn(
        WarningMessage(
            "thinking_budget",
            f"endpoint {endpoint.name}: it spent {tokens} tokens thinking; asking once more with "
            f"{more} (raise max_tokens)",
        )
    )
    screen.restart("the model spent its budget thinking; starting over")
    return _once(endpoint, model, prompt, screen, warn, tokens=more)


def _once(
    endpoint: EndpointSettings,
    model: str,
    prompt: Prompt,
    screen: _Screen,
    warn: Warn,
    *,
    tokens: int,
) -> Completion:
    reply = chat.ChatReply()
    try:
        converse(endpoint, model, prompt.messages, max_tokens=tokens, reply=reply, show=screen.show)
    except Fault as fault:
        if fault.code == "endpoint_reasoning_only" and reply.finish == "length":
            raise _Spent(
                "endpoint_reasoning_only",
                f"spent its whole budget of {tokens} tokens thinking",
                f"raise max_tokens (now {endpoint.max_tokens}) and context_tokens, or turn "
                "thinking off in the server",
            ) from None
        raise
    if reply.finish == "length":
        warn(
            WarningMessage(
                "answer_cut",
                f"endpoint {endpoint.name}: the answer was cut at "
                f"{tokens} tokens (raise max_tokens)",
            )
        )
    faults.check_prompt_cut(endpoint, prompt, reply.usage.prompt_tokens, warn)
    return Completion(
        text=reply.stripper.text,
        endpoint=endpoint.name,
        model=reply.model or model,
        kind=endpoint.kind,
        sources=prompt.sources,
        truncated=reply.finish == "length",
        usage=reply.usage,
    )


def converse(
    endpoint: EndpointSettings,
    model: str,
    messages: Sequence[Mapping[str, str]],
    *,
    max_tokens: int,
    reply: chat.ChatReply,
    show: Callable[[str, bool], None],
) -> None:
    """One chat completion, asked again in a simpler way if the server wants it so.

    Args:
        endpoint: Whom to ask.
        model: Name of the model.
        messages: What to say.
        max_tokens: Tokens that the answer may have.
        reply: Filled in.
        show: Called with text to show, and whether what was shown before is to be taken back.

    Raises:
        Fault: No answer.
    """
    payload: dict[str, Any] = {
        "model": model,
        "messages": list(messages),
        "temperature": endpoint.temperature,
        "max_tokens": max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    while True:
        with Exchange(endpoint, "POST", "/chat/completions", payload) as exchange:
            if exchange.status == 200:
                try:
                    chat.read(reply, exchange, show)
                except Fault as fault:
                    # Some servers find a prompt too long only when the stream has begun.
                    if faults.too_long(fault.message):
                        raise Fault("endpoint_too_long", fault.message, fault.hint) from None
                    raise
                return
            problem = faults.of_status(endpoint, payload, exchange)
        if isinstance(problem, Fault):
            raise problem
        # Once for each part: what was taken out cannot be complained of again.
        problem.simplify(payload)


def check_private(endpoint: EndpointSettings) -> None:
    """Refuse a public address before the first connection.

    Raises:
        ConfigError: The address is public and ``allow_public`` is not set.
    """
    from infoforge.privacy import check_private as check

    check(endpoint.url, endpoint.allow_public, f"endpoint {endpoint.name}")


def only_model(endpoint: EndpointSettings) -> str:
    """The one model that the server lists.

    Raises:
        Fault: It lists none, or several: which one is then for the config to say.
    """
    try:
        names = [row["id"] for row in models(endpoint)]
    except Fault as fault:
        if fault.code in ("endpoint_http", "endpoint_not_json"):
            raise Fault(
                "endpoint_model_unset",
                f"no model is configured and it lists none ({fault.message})",
                "set model in the endpoint's configuration",
            ) from None
        raise
    if len(names) == 1:
        return str(names[0])
    listed = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    raise Fault(
        "endpoint_model_unset",
        f"no model is configured and it lists {len(names)}: {listed}"
        if names
        else "no model is configured and it lists none",
        "set model in the endpoint's configuration",
    )
