"""``ask``, ``search`` and ``passages``: one question, three depths."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from infoforge.cli import render
from infoforge.cli.batch import batch_options, run_batch
from infoforge.cli.console import Console, Number, json_option, write
from infoforge.contract import NoEndpoint, NotVerified, UsageError
from infoforge.text.display import block

F = TypeVar("F", bound=Callable[..., Any])

_QUESTION_BYTES = 1_000_000


def question_options(function: F) -> F:
    """The argument and options that all commands of one question take."""
    return click.argument("question", nargs=-1, required=True)(lookup_options(function))


def lookup_options(function: F) -> F:
    """The options of everything that looks questions up."""
    for decorator in reversed(
        (
            click.option(
                "--zim",
                "zims",
                multiple=True,
                metavar="FILE",
                help="Use this ZIM file instead of the configured ones (repeatable).",
            ),
            click.option(
                "--corpus",
                type=click.Choice(["vault", "wiki", "all"]),
                default="all",
                help="Search the notes of the vault, the wikis, or all [default: all].",
            ),
            click.option(
                "--sources",
                type=click.IntRange(1, 50),
                help="Number of articles to ground on [default: 5].",
            ),
            click.option(
                "--characters",
                type=click.IntRange(200, 1_000_000),
                help="Characters of all sources together [default: 6000].",
            ),
            click.option(
                "--deadline",
                type=Number(0.05, 3600),
                metavar="SECONDS",
                help="Time for the whole search [default: 10].",
            ),
            click.option(
                "--language", metavar="CODE", help="Language of the question [default: detected]."
            ),
            json_option,
        )
    ):
        function = decorator(function)
    return function


def _text(words: tuple[str, ...]) -> str:
    """The question: the arguments, or standard input for a lone dash."""
    if words == ("-",):
        try:
            return sys.stdin.buffer.read(_QUESTION_BYTES).decode("utf-8", "replace")
        except (AttributeError, OSError) as error:  # closed, or not to be read
            raise UsageError(
                "standard input cannot be read", 'pipe the question in, or give it: ask "…"'
            ) from error
    return " ".join(words)


def _options(given: dict[str, Any], **more: Any) -> Any:  # noqa: ANN401 - Options, imported late
    from infoforge.ask import Options
    from infoforge.text.language import code

    language = given["language"] or ""
    if language and not code(language).isalpha():
        raise UsageError(f"no such language code: {language}", "give one such as en, de or zh")
    return Options(
        zims=given["zims"],
        corpus=given["corpus"],
        sources=given["sources"] or 0,
        characters=given["characters"] or 0,
        deadline=given["deadline"] or 0.0,
        language=code(language) if language else "",
        **more,
    )


def _settings(ctx: click.Context, given: dict[str, Any]) -> Any:  # noqa: ANN401 - Settings
    """The settings; what reads ZIM files comes up while the pipeline is imported."""
    from infoforge.config.load import load

    settings = load(ctx.obj)
    if given["zims"] or (not settings.kiwix.url and given["corpus"] != "vault"):
        from infoforge.zimreader.process import start

        start()
    return settings


def _asked(console: Console, words: tuple[str, ...], settings: Any) -> str:  # noqa: ANN401
    """The question, noted so that it is counted."""
    console.question, console.keeps_questions = _text(words), settings.log.questions
    return console.question


@click.command(short_help="Answer a question from the articles, with citations.")
@click.argument("question", nargs=-1)
@lookup_options
@batch_options
@click.option("--strict", is_flag=True, help="Exit 4 unless every claim is in what it cites.")
@click.option("--endpoint", metavar="NAME", default="", help="Use this endpoint alone.")
@click.pass_context
def ask(
    ctx: click.Context,
    /,
    *,
    question: tuple[str, ...],
    as_json: bool,
    strict: bool,
    endpoint: str,
    batch: str | None,
    output: str | None,
    jobs: int,
    **given: Any,  # noqa: ANN401 - the shared options
) -> int:
    """Answer QUESTION from the articles that match it, with numbered citations.

    A lone - reads the question from standard input. Without a configured model endpoint the answer
    is made of quotes.

    Example: infoforge ask "Who wrote Kokoro and when was it published?"
    """
    console = Console.current("ask", as_json=as_json)
    if bool(batch) == bool(question):
        raise UsageError("ask takes a question, or --batch FILE.jsonl", "see infoforge ask --help")
    settings = _settings(ctx, given)

    from infoforge import ask as pipeline
    from infoforge import views

    if batch:
        options = _options(given, strict=strict, endpoint=endpoint)
        return run_batch(console, settings, options, batch=batch, output=output, jobs=jobs)
    screen = None if as_json or not sys.stdout.isatty() else _Screen(console)
    try:
        answer = pipeline.ask(
            _asked(console, question, settings),
            settings,
            _options(given, strict=strict, endpoint=endpoint),
            warn=console.warn,
            on_text=screen.text if screen else None,
            on_restart=screen.restart if screen else None,
            on_sources=lambda s: console.note(f"grounding on {len(s.sources)} article(s)"),
        )
    except NoEndpoint as error:
        if not as_json and error.data:
            write(sys.stdout, "Articles found:\n" + render.results(error.data) + "\n")
        raise
    except NotVerified as error:
        if not as_json and error.data:
            _show(error.data, screen)
        raise
    view = views.answer(answer)
    if not as_json:
        _show(view, screen)
    return console.finish(view)


def _show(view: render.Row, screen: _Screen | None) -> None:
    """The answer, or below one that was streamed only its citations."""
    if screen is None:
        write(sys.stdout, render.answer(view) + "\n")
        return
    screen.close()
    write(sys.stdout, "\n" + render.below(view) + "\n")


class _Screen:
    """The terminal while an answer streams in."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._open = False

    def text(self, piece: str) -> None:
        write(sys.stdout, block(piece))
        self._open = not piece.endswith("\n")

    def restart(self, why: str) -> None:
        self.close()
        self._console.note(why)

    def close(self) -> None:
        if self._open:
            write(sys.stdout, "\n")
        self._open = False


@click.command(short_help="List the articles that match a question.")
@question_options
@click.pass_context
def search(
    ctx: click.Context,
    /,
    question: tuple[str, ...],
    as_json: bool,
    **given: Any,  # noqa: ANN401 - the shared options
) -> int:
    """List the articles that match QUESTION, best first, with their URLs. No model is asked.

    Example: infoforge search "novel by Natsume Sōseki"
    """
    console = Console.current("search", as_json=as_json)
    settings = _settings(ctx, given)

    from infoforge import views
    from infoforge.ask import search as find

    view = views.searched(
        find(_asked(console, question, settings), settings, _options(given), console.warn)
    )
    return console.finish(view, "" if as_json else render.results(view))


@click.command(short_help="Print the numbered sources a model would get.")
@question_options
@click.pass_context
def passages(
    ctx: click.Context,
    /,
    question: tuple[str, ...],
    as_json: bool,
    **given: Any,  # noqa: ANN401 - the shared options
) -> int:
    """Print the numbered sources for QUESTION as a model would get them.

    For agents that write the answer themselves. No model is asked.

    Example: infoforge passages --json "When was Kokoro published?"
    """
    console = Console.current("passages", as_json=as_json)
    settings = _settings(ctx, given)

    from infoforge import views
    from infoforge.ask import search as find

    view = views.passages(
        find(_asked(console, question, settings), settings, _options(given), console.warn)
    )
    return console.finish(view, "" if as_json else render.sources(view))
