"""What a server's reply to a chat completion says, streamed or whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from infoforge.model.reasoning import Stripper, is_tool_call
from infoforge.model.wire import Exchange, Fault, error_message, lines
from infoforge.records import Usage
from infoforge.text.parse import from_json, integer


@dataclass
class ChatReply:
    """What has come of a reply so far.

    Attributes:
        stripper: Holds the visible text.
        reasoned: Whether the server sent thinking, in the text or next to it.
        finish: Its ``finish_reason``; empty until it comes.
        done: Whether the reply came to its end.
        called: Whether it called a tool.
        model: The model's name as the server gives it.
    """

    stripper: Stripper = field(default_factory=Stripper)
    reasoned: bool = False
    finish: str = ""
    done: bool = False
    called: bool = False
    model: str = ""
    usage: Usage = field(default_factory=Usage)


def read(reply: ChatReply, exchange: Exchange, show: Callable[[str, bool], None]) -> None:
    """Read a reply to its end.

    Args:
        reply: Filled as the reply comes in, so that it can be looked at after a fault, too.
        exchange: Answered with 200.
        show: Called with text to show, and whether what was shown before is to be taken back.

    Raises:
        Fault: Not a completion, broken off, empty, or nothing but thinking.
    """
    kind = exchange.content_type.partition(";")[0].strip()
    if kind in ("text/event-stream", "application/x-ndjson"):
        _stream(reply, exchange.chunks(), show)
    elif kind == "application/json" or kind.endswith("+json") or not kind:
        # Some servers do not stream, whatever they are asked.
        _whole(reply, exchange.body(), show)
    else:
        raise Fault(
            "endpoint_content_type",
            f"answered with {kind} instead of JSON",
            "does its url lead to an OpenAI-compatible API (it usually ends in /v1)?",
        )
    piece = reply.stripper.finish()
    if piece.text or piece.retract:
        show(piece.text, piece.retract)
    reply.reasoned = reply.reasoned or reply.stripper.thought
    if not reply.done:
        raise Fault("endpoint_cut", "broke off in the middle of its answer")
    text = reply.stripper.text
    if (reply.called and not text) or is_tool_call(text):
        raise Fault(
            "endpoint_tool_call",
            "called a tool instead of answering",
            "turn tools off in the server or its chat template, or use another model",
        )
    if not text:
        _raise_empty(reply)


def _raise_empty(reply: ChatReply) -> None:
    if not reply.reasoned:
        raise Fault(
            "endpoint_empty", "gave an empty answer", "see the server's log, or try another model"
        )
    spent = "all its tokens were spent on it" if reply.finish == "length" else "and no answer"
    raise Fault(
        "endpoint_reasoning_only",
        f"gave only its thinking: {spent}",
        "raise max_tokens (and context_tokens), or turn thinking off in the server",
    )


def _stream(reply: ChatReply, chunks: Iterator[bytes], show: Callable[[str, bool], None]) -> None:
    pending = event = ""
    whole = True
    for line, ended in lines(chunks):
        whole = ended
        name, colon, value = line.partition(":")
        if not line and pending:
            raise Fault("endpoint_not_json", "answered with something that is not JSON")
        if pending and not name.startswith(("data", "event")):
            # A document written over several lines, as an error often is.
            value = line
        elif name.startswith("{"):
            # Newline-delimited JSON, or an error document where a stream was promised.
            value = line
        elif colon and name == "event":
            event = value.strip()
            continue
        elif not colon or name != "data":
            continue
        value = value.strip()
        if not value:
            continue
        if value == "[DONE]":
            reply.done = True
            return
        pending += value
        try:
            document = _document(pending, event)
        except Fault as fault:
            if fault.code == "endpoint_not_json" and pending[:1] in ("{", "["):
                continue
            raise
        pending = event = ""
        _take(reply, document, show)
    if pending and whole:
        # Half a document at the end of a stream that broke is reported by what is missing.
        raise Fault("endpoint_not_json", "answered with something that is not JSON")


def _whole(reply: ChatReply, body: bytes, show: Callable[[str, bool], None]) -> None:
    if not body.strip():
        raise Fault(
            "endpoint_empty", "gave an empty reply", "see the server's log, or try another model"
        )
    document = _document(body.decode("utf-8", "replace"))
    if document == {"choices": None}:
        raise Fault("endpoint_not_json", "answered with JSON that is no chat completion")
    _take(reply, document, show)
    reply.done = True


def _document(text: str, event: str = "") -> dict[str, Any]:
    """A document of a reply.

    Args:
        text: The JSON.
        event: Name of the event that it came with, if any.

    Raises:
        Fault: It is not JSON, or says that the server failed.
    """
    try:
        found = from_json(text)
    except (ValueError, RecursionError):
        found = text
    if found is None:
        return {"choices": None}
    words = ""
    if event == "error":
        words = error_message(text)
    elif isinstance(found, dict):
        failed = found.get("error") or found.get("object") == "error"
        # Some frameworks answer {"detail": ...} or {"message": ...} with status 200.
        if failed or (not found.get("choices") and (found.get("detail") or found.get("message"))):
            words = error_message(text)
    if words:
        raise Fault("endpoint_server_error", f"failed while answering: {words}")
    if not isinstance(found, dict):
        raise Fault("endpoint_not_json", "answered with something that is not JSON")
    return found


def _take(reply: ChatReply, document: dict[str, Any], show: Callable[[str, bool], None]) -> None:
    """Take in one event of a stream, or a whole completion: they differ in one name."""
    if isinstance(model := document.get("model"), str) and model:
        reply.model = model
    if isinstance(usage := document.get("usage"), dict):
        reply.usage = Usage(_count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))
    choices = document.get("choices")
    if choices == [] or (choices is None and ("usage" in document or "choices" in document)):
        return
    choice = choices[0] if isinstance(choices, list) else None
    if not isinstance(choice, dict):
        raise Fault("endpoint_not_json", "answered with JSON that is no chat completion")
    message = choice.get("delta") or choice.get("message") or {}
    if not isinstance(message, dict):
        raise Fault("endpoint_not_json", "answered with JSON that is no chat completion")
    if any(message.get(key) for key in ("reasoning_content", "reasoning", "thinking")):
        reply.reasoned = True
    if message.get("tool_calls") or message.get("function_call"):
        reply.called = True
    text, reasoned = _content(message.get("content"))
    reply.reasoned = reply.reasoned or reasoned
    if text:
        piece = reply.stripper.feed(text)
        if piece.text or piece.retract:
            show(piece.text, piece.retract)
    if isinstance(finish := choice.get("finish_reason"), str) and finish:
        reply.finish = finish
        reply.done = True


def _content(content: object) -> tuple[str, bool]:
    """The text of a message, and whether it comes with thinking: a string or a list of parts."""
    if isinstance(content, str):
        return content, False
    texts: list[str] = []
    reasoned = False
    for part in content if isinstance(content, list) else []:
        if not isinstance(part, dict):
            continue
        if part.get("type") in (None, "text", "output_text") and isinstance(part.get("text"), str):
            texts.append(part["text"])
        else:
            reasoned = True
    return "".join(texts), reasoned


def _count(usage: dict[str, Any], key: str) -> int:
    return integer(usage.get(key))
