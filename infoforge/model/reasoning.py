"""Take a model's thinking out of what it wrote, whole or while it streams.

The forms met in the wild: a block between tags (``<think>``, ``<thinking>``, ``<reasoning>``,
``[THINK]``, the channels of gpt-oss ...), a closing tag alone (the template had opened it), and a
block that is never closed. Some come without tags: gpt-oss's channels as bare words
(``analysis…assistantfinal…``), Granite's "Here is my thought process". What a server puts into
``reasoning_content`` never gets here. Wrappers (``<answer>``) and headers of a role are dropped.

A closing tag alone makes everything before it thinking. A stream has shown that text by then, so
the stripper says ``retract``: the display takes it back. The text that counts in the
end, `Stripper.text`, is the same for every way of cutting the stream.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from infoforge.text.parse import from_json

_NAMES = "(?:seed:|mm:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis)"
_OPEN = (
    rf"<{_NAMES}(?:\s[^<>]{{0,60}})?>"
    rf"|&lt;{_NAMES}&gt;|<\|think\|>|<details\s{{1,3}}type=.?reasoning[^<>]{{0,80}}>"
    r"|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>|<unused94>"
    r"|<\|channel\|?>\s{0,3}(?:analysis|commentary|thought)[^<>]{0,40}(?:<\|message\|>|\n)"
)
_CLOSE = (
    rf"</{_NAMES}\s{{0,3}}>"
    rf"|&lt;/{_NAMES}&gt;|<\|(?:/think|end_think|think_end)\|>"
    r"|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>|<unused95>|<channel\|>"
    r"|<\|channel\|>\s{0,3}final(?:\s{0,3}<\|constrain\|>)?[^<>]{0,40}<\|message\|>"
)
# Marks of the chat template that some servers let through; they are no part of an answer.
_DROP = (
    r"<\|(?:im_start|im_end|eot_id|end|return|endoftext|start|end_of_text|begin_of_solution"
    r"|end_of_solution|START_RESPONSE|END_RESPONSE)\|>(?:assistant(?=<))?|</s>|<end_of_turn>"
    r"|<turn\|>"
    r"|<\|start_header_id\|>(?:assistant)?|<\|end_header_id\|>"
    r"|</?(?:answer|response|final_answer|final)>"
)
_TAG = re.compile(
    f"(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<drop>{_DROP})|(?P<details></details>)",
    re.IGNORECASE,
)
# Thinking without tags is looked for where a text begins, and nowhere else.
_BARE_OPEN = re.compile(
    r"\s*(?:(?:assistant)?analysis(?=[A-Z\n])|Here(?:'s| is) my thought process:?)"
)
_BARE_CLOSE = re.compile(
    r"(?:assistant)?final(?:\s{0,3}<\|constrain\|>\s?[a-z]{0,10})?(?:<\|message\|>)?"
    r"(?=[A-Z\d\"“„«¿¡*#\[(À-퟿])|assistantfinal"
    r"|Here(?:'s| is) my (?:response|answer|final answer):?"
)
_HEADER = re.compile(
    r"\s*(?:assistant\s{0,3}\n|(?:Assistant|ASSISTANT)\s?:\s|#{2,3} (?:Response|Assistant):?\s*\n"
    r"|(?:assistant)?final(?:\s{0,3}<\|constrain\|>\s?[a-z]{0,10}<\|message\|>|(?=[A-Z])))"
)
_LONGEST_HEAD = 60
_BEGINNINGS = (
    "analysis", "assistantanalysis", "here is my thought process:", "here's my thought process:",
    "assistant", "assistant:", "### response:", "### assistant:", "## response:", "## assistant:",
    "final", "assistantfinal",
)  # fmt: skip
# Every beginning of a tag, at the end of what has come so far: held back until more is known.
_HELD = re.compile(
    r"(?:<\|channel\|?>[^<>\n]{0,80}(?:<\|constrain\|>[^<>\n]{0,20})?(?:<[^<>\n]{0,14})?"
    r"|<\|[a-z_]{1,30}\|>a?s?s?i?s?t?a?n?t?"
    r"|<[^<>\n]{0,90}"
    r"|&l?t?(?<=t);?[a-z:/]{0,20}(?:&g?t?)?|&l?"
    r"|\[/?[a-z]{0,5}"
    r"|◁[^▷\n]{0,12})\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """What to show next. With ``retract``, what was shown before was thinking: take it back."""

    text: str = ""
    retract: bool = False


class Stripper:
    """Takes a stream of text, gives back what a reader should see of it."""

    def __init__(self) -> None:
        self._buffer = ""
        self._shown = ""
        self._inside = False
        self._begun = False
        self._bare = False
        self._details = False
        self.thought = False
        """Whether any thinking was taken out."""

    @property
    def text(self) -> str:
        """The visible text so far, trimmed."""
        return self._shown.strip()

    def feed(self, chunk: str) -> AnswerPiece:
        """Take the next part of the stream.

        Args:
            chunk: Any number of characters.

        Returns:
            What can be shown by now; a beginning that may still become a tag is held back.
        """
        self._buffer += chunk
        return self._take(final=False)

    def finish(self) -> AnswerPiece:
        """The stream is over: what was held back is text after all."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> AnswerPiece:
        if not self._begun and not self._begin(final=final):
            return AnswerPiece()
        if self._bare and not self._end_bare(final=final):
            return AnswerPiece()
        before = len(self._shown)
        retract = False
        position = 0
        held = len(self._buffer)
        if not final and (match := _HELD.search(self._buffer)):
            held = match.start()
        while True:
            tag = _TAG.search(self._buffer, position)
            if tag is not None and not final and tag.start() >= held:
                # It may grow into a longer tag (`<|start|>` into `<|start|>assistant`).
                tag = None
            end = tag.start() if tag else held
            self._show(self._buffer[position:end])
            if tag is None:
                position = max(position, end)
                break
            position = tag.end()
            if tag["details"]:
                if self._details:
                    self._inside = self._details = False
                else:
                    self._show(tag.group())
            elif tag["open"]:
                self._inside = self.thought = True
                self._details = tag.group().lower().startswith("<details")
            elif tag["close"]:
                if not self._inside and self._shown:
                    retract = retract or before > 0
                    before = 0
                    self._shown = ""
                self._inside = False
                self.thought = True
        self._buffer = self._buffer[position:]
        return AnswerPiece(self._shown[before:], retract)

    def _begin(self, *, final: bool) -> bool:
        """Look at how the text begins; false while that cannot be said."""
        head = self._buffer.lstrip()
        low = head.lower()
        if not final and len(head) < _LONGEST_HEAD:
            if any(b.startswith(low) for b in _BEGINNINGS):
                return False
            if low.startswith(("assistant", "final")) and re.fullmatch(
                r"(?:assistant)?(?:final)?\s{0,3}(?:<[^>\n]{0,20}>?[a-z\s]{0,12}){0,2}", low
            ):
                return False
        self._begun = True
        if opened := _BARE_OPEN.match(self._buffer):
            self._bare = self._inside = self.thought = True
            self._buffer = self._buffer[opened.end() :]
        elif header := _HEADER.match(self._buffer):
            self._buffer = self._buffer[header.end() :]
        return True

    def _end_bare(self, *, final: bool) -> bool:
        """Look for the end of thinking without tags; false while it is not there."""
        closed = _BARE_CLOSE.search(self._buffer)
        if closed is None or (not final and closed.end() > len(self._buffer) - 1):
            if final:
                self._buffer = ""
            elif len(self._buffer) > 4 * _LONGEST_HEAD:
                self._buffer = self._buffer[-2 * _LONGEST_HEAD :]
            return False
        self._bare = self._inside = False
        self._buffer = self._buffer[closed.end() :]
        return True

    def _show(self, text: str) -> None:
        if self._inside:
            return
        # Nothing but text is worth showing first: models leave blank lines where they thought.
        self._shown += text if self._shown else text.lstrip()


def strip(text: str) -> str:
    """Take the thinking out of a whole text.

    Args:
        text: What a model wrote.

    Returns:
        What a reader should see, trimmed; empty when all of it was thinking.
    """
    stripper = Stripper()
    stripper.feed(text)
    stripper.finish()
    return stripper.text


_CALL = re.compile(
    r"\s*(?:<\|?tool_calls?(?:_begin|_section_begin)?\|?>|<｜tool▁calls?▁begin｜>|\[TOOL_CALLS\]"
    r"|<\|python_tag\|>|<function(?:=|_call|\s+name=)|<invoke\s+name=|<start_function_call>"
    r"|✿FUNCTION✿|functools\[|to=functions\.|commentary to=|<\|action_start\|>"
    r"|(?:Thought:[^\n]{0,400}\n)?Action:\s?\S[^\n]{0,80}\nAction Input:|call:\w+\{"
    r"|```(?:tool_code|tool_call)\b|\[\w+\(\w+\s?=[^\n]{0,400}\)\]\s*$"
    r"|<\|channel\|>\s?commentary to=)"
)


def is_tool_call(text: str) -> bool:
    """Whether a text is a call of a tool, in any of the dialects that models write it in.

    Args:
        text: What a model wrote, thinking gone.
    """
    if _CALL.match(text):
        return True
    bare = re.sub(r"^\s*```(?:json)?\s*|\s*```\s*$", "", text).strip()
    if bare[:1] not in ("{", "["):
        return False
    try:
        found = from_json(bare[:100_000])
    except ValueError:
        return re.match(r"[{\[\s]+\"(?:name|function|tool)\"\s?:", bare) is not None
    calls = found if isinstance(found, list) else [found]
    return bool(calls) and all(isinstance(call, dict) and _names_a_tool(call) for call in calls)


def _names_a_tool(call: dict[str, object]) -> bool:
    keys = {str(key).lower() for key in call}
    named = keys & {"name", "function", "tool", "tool_name", "action", "tool_calls"}
    given = keys & {"arguments", "parameters", "args", "input", "action_input", "tool_input"}
    return bool(named and given) or "tool_calls" in keys or keys == {"function"}
