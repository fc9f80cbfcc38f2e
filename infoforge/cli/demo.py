"""`infoforge demo`: the whole way on a small built-in ZIM, with no model and no network."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infoforge.cli import render
from infoforge.cli.console import Console, json_option, write
from infoforge.contract import InfoForgeError, NothingFound

if TYPE_CHECKING:
    from collections.abc import Callable

    from infoforge.ask import Options

QUESTIONS = (
    "Who wrote Kokoro and when was it published?",
    "When was Natsume Sōseki born?",
    "What is a natsume made of?",
)
NONSENSE = "qzxvbnm plorkwidget fnargle"
DATE = "2026-11-29"
"""When the articles were written; the date of the dump that the citations show."""

NEXT = """\
That was quoting, without a model. What to do next:
  infoforge config init       write a configuration; it looks for ZIM files and model servers
  infoforge zims available    list the wikis that can be downloaded
  infoforge zimify FOLDER -o FILE.zim
                              make a ZIM file of your own documents
  infoforge doctor            check every part, from ZIM files to model"""


@click.command()
@json_option
def demo(as_json: bool) -> int:
    """Show the whole way on a small built-in ZIM: three cited answers and a refusal.

    Needs no model, no network and no configuration.

    Example: infoforge demo
    """
    from infoforge.ask import Options

    console = Console.current("demo", as_json=as_json)
    zim = built(console)
    options = Options(zims=(str(zim),), endpoint="quote")
    say: Callable[[str], None] = (lambda text: None) if as_json else _say
    say(f"The articles are in {zim}\n")
    steps = []
    shown = _shown(zim)
    for question in (*QUESTIONS, NONSENSE):
        line = f"infoforge ask --zim {shown} --endpoint quote {shlex.quote(question)}"
        say(f"$ {line}")
        steps.append({"command": line, **_step(question, options, console, say)})
    codes = [step["exit_code"] for step in steps]
    if codes != [0] * len(QUESTIONS) + [NothingFound.exit_code]:
        raise InfoForgeError(
            f"the demo did not go as it should: exit codes {codes}",
            "run infoforge doctor; if that passes, please report it",
        )
    say(NEXT)
    return console.finish({"zim": str(zim), "steps": steps})


def _shown(path: Path) -> str:
    """A path as one would type it."""
    try:
        short = path.relative_to(Path.home())
    except (ValueError, RuntimeError):
        return shlex.quote(str(path))
    return f"~/{shlex.quote(str(short))}"


def _step(
    question: str, options: Options, console: Console, say: Callable[[str], None]
) -> dict[str, Any]:
    """One question: show what `ask` shows, and its exit code."""
    from infoforge import ask as pipeline
    from infoforge import views
    from infoforge.config.settings import Settings

    try:
        answer = pipeline.ask(question, Settings(), options, warn=console.warn)
    except NothingFound as error:
        console.note(f"error: {error.message} ({error.hint})")
        say(f"(exit code {error.exit_code}: no article matches, so no model was asked)\n")
        return {"exit_code": error.exit_code, "error": error.message, "answer": None}
    view = views.answer(answer)
    say(render.answer(view) + "\n")
    return {"exit_code": 0, "error": None, "answer": view}


def built(console: Console) -> Path:
    """The ZIM of the built-in articles: made once for each state of them, kept in the cache."""
    import hashlib
    import os
    import tempfile
    from importlib.resources import as_file, files

    from infoforge import __version__
    from infoforge.zimify.build import zimify
    from infoforge.zimify.records import ConversionOptions

    with as_file(files("infoforge") / "data" / "demo") as folder:
        digest = hashlib.sha256(__version__.encode())
        for path in sorted(folder.glob("*.md")):
            digest.update(path.name.encode() + path.read_bytes())
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        home = base / "infoforge" / f"demo-{digest.hexdigest()[:12]}"
        zim = home / f"infoforge_demo_en_{DATE[:7]}.zim"
        if zim.is_file():
            return zim
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError:
            # A cache that cannot be written (a system user, a full disk) is no reason not to show.
            home = Path(tempfile.mkdtemp(prefix="infoforge-demo-"))
            zim = home / zim.name
        zimify(
            folder,
            zim,
            ConversionOptions(
                language="eng",
                title="InfoForge demo",
                name="infoforge_demo_en",
                description="A few articles round a Japanese novelist",
                date=DATE,
                exclude=("README.md",),
            ),
            warn=console.warn,
        )
    return zim


def _say(text: str) -> None:
    """Print at once, so that it stands in order with what goes to stderr."""
    write(sys.stdout, text + "\n")
