"""Take a model's thinking out of what it wrote, whole or while it streams.

The forms met in the wild: a block between tags (``<think>``, ``<thinking>``, ``<reasoning>``,
``[THINK]``, the channels of gpt-oss ...), a closing tag alone (the template had opened it), and a
block that is never closed. What a server puts into ``reasoning_content`` never gets here.

A closing tag alone makes everything before it thinking. A stream has shown that text by then, so
the stripper says ``retract``: whoever shows the text takes it back. The text that counts in the
end, `Stripper.text`, is the same for every way of cutting the stream.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMES = "(?:seed:)?(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)"
_OPEN = (
    rf"<{_NAMES}(?:\s[^<>]{{0,60}})?>"
    r"|\[THINK\]|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>|<unused94>"
    r"|<\|channel\|?>\s{0,3}(?:analysis|commentary|thought)[^<>]{0,40}(?:<\|message\|>|\n)"
)
_CLOSE = (
    rf"</{_NAMES}\s{{0,3}}>"
    r"|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>|<unused95>|<channel\|>"
    r"|<\|channel\|>\s{0,3}final[^<>]{0,40}<\|message\|>"
)
# Marks of the chat template that some servers let through; they are no part of an answer.
_DROP = (
    r"<\|(?:im_start|im_end|eot_id|end|return|endoftext|start|end_of_text|begin_of_solution"
    r"|end_of_solution|START_RESPONSE|END_RESPONSE)\|>(?:assistant(?=<))?|</s>|<end_of_turn>|<turn\|>"
)
_TAG = re.compile(f"(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<drop>{_DROP})", re.IGNORECASE)
# Every beginning of a tag, at the end of what has come so far: held back until more is known.
_HELD = re.compile(
    r"(?:<\|channel\|?>[^<>\n]{0,80}(?:<[^<>\n]{0,12})?"
    r"|<\|[a-z_]{1,30}\|>a?s?s?i?s?t?a?n?t?"
    r"|<[^<>\n]{0,90}"
    r"|\[/?[a-z]{0,5}"
    r"|◁[^▷\n]{0,12})\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """What to show next. With ``retract``, what was shown before was thinking: take it back."""

    text: str = ""
    retract: bool = False


class Stripper:
    """Takes a stream of text, gives back what a reader should see of it."""

    def __init__(self) -> None:
        self._buffer = ""
        self._shown = ""
        self._inside = False
        self.thought = False
        """Whether any thinking was taken out."""

    @property
    def text(self) -> str:
        """The visible text so far, trimmed."""
        return self._shown.strip()

    def feed(self, chunk: str) -> Piece:
        """Take the next part of the stream.

        Args:
            chunk: Any number of characters.

        Returns:
            What can be shown by now; a beginning that may still become a tag is held back.
        """
        self._buffer += chunk
        return self._take(final=False)

    def finish(self) -> Piece:
        """The stream is over: what was held back is text after all."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> Piece:
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
            if tag["open"]:
                self._inside = self.thought = True
            elif tag["close"]:
                if not self._inside and self._shown:
                    retract = retract or before > 0
                    before = 0
                    self._shown = ""
                self._inside = False
                self.thought = True
        self._buffer = self._buffer[position:]
        return Piece(self._shown[before:], retract)

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
