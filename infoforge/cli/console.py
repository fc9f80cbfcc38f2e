"""stdout carries the answer alone; warnings, progress and errors go to stderr."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, TextIO, TypeVar

import click

from infoforge.contract import InfoForgeError, WarningMessage, envelope
from infoforge.text import display
from infoforge.text.mask import mask_document, mask_urls

F = TypeVar("F", bound=Callable[..., Any])

printable = display.line
"""Every field of one line that a command shows goes through this."""


class Console:
    """What one run of one command prints.

    There is one per process (`Console.begin`, then `Console.current`), since an error raised before
    a command's own code runs must still be told in the form that was asked for.
    """

    _current: ClassVar[Console | None] = None

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.command = "infoforge"
        self.warnings: list[WarningMessage] = []
        self.question = ""
        """What was asked; a run without a question is not counted."""
        self.keeps_questions = False
        """The configuration says that questions may be kept."""

    @classmethod
    def begin(cls, *, as_json: bool) -> Console:
        """Make the console of this run."""
        cls._current = cls(as_json=as_json)
        return cls._current

    @classmethod
    def current(cls, command: str, *, as_json: bool) -> Console:
        """The console of this run, told which command is running."""
        console = cls._current or cls.begin(as_json=as_json)
        console.command = command
        console.as_json = as_json
        return console

    def warn(self, *warnings: WarningMessage) -> None:
        """Tell warnings on stderr and keep them for the envelope."""
        for warning in warnings:
            self.warnings.append(warning)
            self.note(f"warning: {warning.message}")

    def note(self, message: str) -> None:
        """One line of progress on stderr."""
        write(sys.stderr, f"infoforge: {printable(message)}\n")

    def finish(
        self, data: Mapping[str, Any], text: str | Sequence[str] = "", exit_code: int = 0
    ) -> int:
        """Print the result: the JSON document, or the text.

        Args:
            data: The envelope's ``data``.
            text: What a person reads: a list of lines, or a text whose fields went through
                the printer (`infoforge.text.display`) one by one.
            exit_code: The exit code that goes with it.

        Returns:
            The exit code, to be returned by the command.
        """
        if self.as_json:
            self._document(
                envelope(self.command, data, exit_code=exit_code, warnings=self.warnings)
            )
        elif text:
            whole = text if isinstance(text, str) else display.lines(text)
            write(sys.stdout, whole.rstrip("\n") + "\n")
        return exit_code

    def fail(self, error: InfoForgeError, exit_code: int | None = None) -> NoReturn:
        """Tell an error and exit with its code (or with ``exit_code``)."""
        self.warn(*error.warnings)
        if self.as_json:
            document = envelope(self.command, error.data, warnings=self.warnings, error=error)
            if exit_code is not None:
                document["exit_code"] = exit_code
            self._document(document)
        hint = f" ({error.hint})" if error.hint else ""
        self.note(f"error: {error.message}{hint}")
        sys.exit(error.exit_code if exit_code is None else exit_code)

    def _document(self, document: Mapping[str, Any]) -> None:
        _encoded(sys.stdout, display.to_json(mask_document(document), indent=2) + "\n")


def write(stream: TextIO, text: str) -> None:
    """Write text for people: nothing but colours steers the terminal, no URL holds a password."""
    _encoded(stream, display.guard(mask_urls(text), colour=colour(stream)))


def _encoded(stream: TextIO, text: str) -> None:
    """Write text whatever the stream's encoding: what it cannot say becomes an escape."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def colour(stream: TextIO) -> bool:
    """Whether the stream wants colour: a terminal, and ``NO_COLOR`` not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def json_option(function: F) -> F:
    """The ``--json`` option, the same for every command."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document on stdout."
    )(function)


class Number(click.FloatRange):
    """A number in a range; ``nan`` and infinities are in none, whatever comparisons say."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - as in Click
        """The number.

        Raises:
            click.BadParameter: It is none, or out of the range.
        """
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number", param, ctx)
        return number


def accept_option(function: F) -> F:
    """The ``--accept`` option of the commands that fetch a container image."""
    return click.option(
        "--accept", is_flag=True, help="Take another image than the one recorded under this name."
    )(function)


def table(rows: Sequence[Sequence[str]], *, gap: str = "  ") -> str:
    """Rows as aligned columns (the last one ragged); every cell goes through the printer."""
    if not rows:
        return ""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
