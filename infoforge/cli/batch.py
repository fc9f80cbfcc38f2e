"""``ask --batch``: many questions from a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from infoforge.cli.console import Console

if TYPE_CHECKING:
    from infoforge.ask import Options
    from infoforge.config.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])


def batch_options(function: F) -> F:
    """The options of ``ask`` that make it a batch."""
    for decorator in (
        click.option(
            "--jobs",
            type=click.IntRange(1, 32),
            default=2,
            show_default=True,
            help="With --batch: questions in work at once.",
        ),
        click.option(
            "--output",
            metavar="FILE",
            help="With --batch: the answers [default: FILE.answers.jsonl].",
        ),
        click.option(
            "--batch",
            metavar="FILE.jsonl",
            help="Answer the questions of a file; a rerun goes on where it stopped.",
        ),
    ):
        function = decorator(function)
    return function


def run_batch(
    console: Console,
    settings: Settings,
    options: Options,
    *,
    batch: str,
    output: str | None,
    jobs: int,
) -> int:
    """Answer a file of questions; the command's exit code."""
    from infoforge.agents.batch import read_questions, run

    file = Path(batch)
    out = (
        Path(output)
        if output
        else file.with_name(f"{file.name.removesuffix('.jsonl')}.answers.jsonl")
    )
    lines = read_questions(file)
    with click.progressbar(
        length=len(lines),
        label="infoforge: ask",
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
    ) as bar:
        summary = run(
            lines,
            out,
            lambda question: _counted(question, settings, options),
            jobs=jobs,
            warn=console.warn,
            progress=lambda done: bar.update(done - bar.pos),
        )
    told = ", ".join(f"{count} {status}" for status, count in summary["statuses"].items())
    text = f"{summary['answered'] + summary['resumed']} answers in {out}: {told or 'none'}"
    return console.finish({"batch": str(file), "output": str(out), **summary}, text)


def _counted(question: str, settings: Settings, options: Options) -> dict[str, Any]:
    import time

    from infoforge.agents.stats import record

    begun = time.perf_counter()
    document = answer_one(question, settings, options)
    kept = question if settings.log.questions else ""
    record("ask", document["exit_code"], time.perf_counter() - begun, kept)
    return document


def answer_one(question: str, settings: Settings, options: Options) -> dict[str, Any]:
    """The envelope of one question, whatever becomes of it."""
    from infoforge import ask, views
    from infoforge.contract import InfoForgeError, WarningMessage, envelope

    warnings: list[WarningMessage] = []
    try:
        answer = ask.ask(question, settings, options, warn=warnings.append)
    except InfoForgeError as error:
        return envelope("ask", error.data, warnings=(*warnings, *error.warnings), error=error)
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        fault = InfoForgeError(f"internal fault: {text}", "please report it")
        return envelope("ask", None, warnings=warnings, error=fault)
    return envelope("ask", views.answer(answer), warnings=warnings)
