"""``eval`` and ``explain``: how good the lookup is on many questions, and why on one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infoforge.cli import render_evaluate
from infoforge.cli.ask import _options as search_options
from infoforge.cli.ask import _settings as load_settings
from infoforge.cli.ask import _text as question_text
from infoforge.cli.ask import lookup_options, question_options
from infoforge.cli.console import Console, Number
from infoforge.contract import EXIT_FAILED, EXIT_NOTHING_FOUND, CheckFailed, UsageError

if TYPE_CHECKING:
    from infoforge.ask import Options
    from infoforge.config.settings import Settings
    from infoforge.corpus.base import Corpus

_SHARE = Number(0, 100)


@click.command("eval", short_help="Measure retrieval on a set of questions.")
@click.argument("questions", required=False, metavar="QUESTIONS.jsonl")
@lookup_options
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Ask N questions of the set.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which N.")
@click.option("--answers", is_flag=True, help="Let the model answer too, and judge its answers.")
@click.option("--endpoint", metavar="NAME", default="", help="With --answers: this endpoint alone.")
@click.option(
    "--resume",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep results in FILE as they come; a rerun goes on where it stopped.",
)
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a page with plots and every miss.",
)
@click.option(
    "--compare",
    nargs=2,
    type=click.Path(path_type=Path),
    metavar="A.json B.json",
    help="Say which questions changed between two reports.",
)
@click.option("--min-hit1", type=_SHARE, metavar="PERCENT", help="Exit 1 below this hit@1.")
@click.option("--min-hit3", type=_SHARE, metavar="PERCENT", help="Exit 1 below this hit@3.")
@click.option("--min-hit5", type=_SHARE, metavar="PERCENT", help="Exit 1 below this hit@5.")
@click.option(
    "--min-answer", type=_SHARE, metavar="PERCENT", help="Exit 1 below this answer in context."
)
@click.option(
    "--max-empty", type=_SHARE, metavar="PERCENT", help="Exit 1 above this share of nothing found."
)
@click.option(
    "--min-empty",
    type=_SHARE,
    metavar="PERCENT",
    help="Exit 1 below it: for questions that nothing should answer.",
)
@click.pass_context
def evaluate(
    ctx: click.Context,
    /,
    questions: str | None,
    compare: tuple[Path, Path] | None,
    html: Path | None,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - the options
) -> int:
    """Measure how often the right article and the answer are found for QUESTIONS.jsonl.

    A line a question: {"question": "...", "title": "...", "answers": ["..."]}; docs/eval.md says
    how to write some. No model is asked, unless --answers says so. Exit code 1 when a threshold is
    missed.

    Example: infoforge eval questions.jsonl --html report.html --min-hit5 95
    """
    console = Console.current("eval", as_json=as_json)
    if compare:
        if questions or html:
            raise UsageError(
                "--compare takes two reports and nothing else", "infoforge eval --compare A B"
            )
        from infoforge.evaluate.compare import compare as hold
        from infoforge.evaluate.compare import load

        changes = hold(load(compare[0]), load(compare[1]))
        data: dict[str, Any] = {"comparison": changes}
        return console.finish(data, "" if as_json else render_evaluate.comparison(changes))
    if not questions:
        raise UsageError("no file of questions was given", "infoforge eval QUESTIONS.jsonl")
    data = _measure(
        console, load_settings(ctx, given), Path(questions), given, curve=html is not None
    )
    if html is not None:
        _write_page(html, data)
        console.note(f"wrote {html}")
    failed = [check for check in data["checks"] if not check["passed"]]
    if failed and as_json:
        raise CheckFailed(
            "; ".join(render_evaluate.check(check) for check in failed),
            "data.questions has each miss and why",
            data=data,
        )
    text = "" if as_json else render_evaluate.report(data)
    return console.finish(data, text, EXIT_FAILED if failed else 0)


def _measure(
    console: Console,
    settings: Settings,
    path: Path,
    given: dict[str, Any],
    *,
    curve: bool,
) -> dict[str, Any]:
    """Run the questions: ``data`` of ``eval``."""
    from infoforge.evaluate import evaluation, questions
    from infoforge.evaluate.run import BUDGETS, EvalOptions

    every = questions.load(path)
    asked = questions.sample(every, given["sample"] or 0, given["seed"])
    options = search_options(given, endpoint=given["endpoint"])
    if given["endpoint"] and not given["answers"]:
        raise UsageError("--endpoint needs --answers", "without it no model is asked")
    plan = EvalOptions(settings, options, answers=given["answers"], curve=BUDGETS if curve else ())
    with click.progressbar(
        length=len(asked),
        label="infoforge: eval",
        file=sys.stderr,
        hidden=not sys.stderr.isatty(),
    ) as bar:
        return evaluation.evaluate(
            asked,
            plan,
            file=path,
            sample=given["sample"] or 0,
            seed=given["seed"],
            resume=given["resume"],
            limits=given,
            corpora=_open(console, settings, options),
            progress=lambda: bar.update(1),
        )


def _open(console: Console, settings: Settings, options: Options) -> list[Corpus]:
    from infoforge.corpus.base import Deadline
    from infoforge.corpus.opened import open_corpora

    deadline = Deadline(options.deadline or settings.search.deadline)
    return open_corpora(
        settings, console.warn, deadline=deadline, zims=options.zims, corpus=options.corpus
    )


def _write_page(path: Path, data: dict[str, Any]) -> None:
    from infoforge.evaluate.page import page
    from infoforge.files import write_atomic

    try:
        write_atomic(path, page(data))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "give another file") from error


@click.command(short_help="Explain why a question finds what it finds.")
@question_options
@click.pass_context
def explain(
    ctx: click.Context,
    /,
    question: tuple[str, ...],
    as_json: bool,
    **given: Any,  # noqa: ANN401 - the shared options
) -> int:
    """One page of why for QUESTION: words, searches, candidates and their scores, passages.

    No model is asked. Exit code 3 when nothing passed the relevance filter, as ask would have it.

    Example: infoforge explain "Who wrote Kokoro?"
    """
    from infoforge.ask import clean_question
    from infoforge.evaluate.explain import explain as tell

    console = Console.current("explain", as_json=as_json)
    line = clean_question(question_text(question))
    settings = load_settings(ctx, given)
    options = search_options(given)
    view, lookup = tell(line, settings, options, _open(console, settings, options))
    console.warn(*lookup.warnings)
    code = 0 if lookup.sources else EXIT_NOTHING_FOUND
    return console.finish(view, "" if as_json else render_evaluate.explanation(view), code)
