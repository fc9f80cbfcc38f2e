"""The command line: parse, call, render. No logic lives here."""

from __future__ import annotations

import errno
import os
import sys
import time
from importlib import import_module
from typing import Any, NoReturn

import click

from infoforge import __version__
from infoforge.cli.console import Console
from infoforge.contract import EXIT_FAILED, InfoForgeError, UsageError

COMMANDS: dict[str, tuple[str, str]] = {
    # name: (module:attribute, short help shown without importing the module)
    "ask": ("infoforge.cli.ask:ask", "Answer a question from the articles, with citations."),
    "search": ("infoforge.cli.ask:search", "List the articles that match a question."),
    "passages": ("infoforge.cli.ask:passages", "Print the numbered sources a model would get."),
    "eval": ("infoforge.cli.evaluate:evaluate", "Measure retrieval on a set of questions."),
    "explain": ("infoforge.cli.evaluate:explain", "Explain why a question finds what it finds."),
    "config": ("infoforge.cli.config:config", "Write, show and check the configuration."),
    "doctor": ("infoforge.cli.doctor:doctor", "Check every part, from ZIM files to model."),
    "serve": ("infoforge.cli.serve:serve", "Run kiwix-serve in its container and keep it healthy."),
    "zims": ("infoforge.cli.zims:zims", "Find, download, verify and update ZIM files."),
    "vault": ("infoforge.cli.vault:vault", "Search a folder of notes; keep its index."),
    "zimify": ("infoforge.cli.zimify:zimify", "Make a ZIM file of a folder of documents."),
    "stats": ("infoforge.cli.stats:stats", "Show how often and how fast questions were answered."),
    "skill": ("infoforge.cli.skill:skill", "Install the skill file for agents."),
    "mcp": ("infoforge.cli.mcp:mcp", "Serve the tools ask, search and read over MCP."),
    "demo": ("infoforge.cli.demo:demo", "Answer three questions from a small built-in ZIM."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is used, not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command."""
        target = COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, attribute = target[0].split(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As Click does, with the nearest name when there is no such command."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            hint = f"did you mean '{near[0]}'?" if near else "see infoforge --help"
            raise UsageError(f"no such command: {args[0]}", hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="infoforge %(version)s")
@click.option(
    "--config",
    "config_path",
    metavar="FILE",
    envvar="INFOFORGE_CONFIG",
    help="Configuration file [default: ~/.config/infoforge/config.yaml].",
)
@click.pass_context
def cli(ctx: click.Context, config_path: str | None) -> None:
    """Answer questions from offline wikis, with citations, through a local language model.

    Example: infoforge ask "Who wrote Kokoro and when was it published?"

    Exit codes: 0 ok, 1 a check or the corpora failed, 2 bad config or usage, 3 nothing found,
    4 not verified (--strict), 5 no model endpoint reachable.
    """
    ctx.obj = config_path


def run(args: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with the contract's code; never shows a traceback.

    Args:
        args: Arguments without the program name; ``sys.argv`` when not given.
    """
    argv = sys.argv[1:] if args is None else args
    console = Console.begin(as_json="--json" in argv)
    begun = time.perf_counter()
    try:
        _run(argv, console)
    finally:
        _count(console, time.perf_counter() - begun)


def _run(argv: list[str], console: Console) -> NoReturn:
    try:
        result: Any = cli.main(args=argv, prog_name="infoforge", standalone_mode=False)
    except InfoForgeError as error:
        console.fail(error)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else ""
        # A wrong option is found before the command's own code runs and can say its name.
        console.command = path.removeprefix("infoforge").strip() or console.command
        console.fail(_usage(error))
    except (KeyboardInterrupt, click.Abort):
        console.fail(InfoForgeError("interrupted", code="interrupted"), exit_code=130)
    except BrokenPipeError:
        # The reader went away; point stdout elsewhere so that the interpreter's own flush is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_FAILED)
    except Exception as error:
        if os.environ.get("INFOFORGE_DEBUG"):
            raise
        if usage := _misuse(error, argv):
            console.fail(usage)
        text = " ".join(f"{type(error).__name__}: {error}".split())
        hint = "please report it with the output of INFOFORGE_DEBUG=1 and the same command"
        console.fail(InfoForgeError(f"internal fault: {text}", hint))
    sys.exit(result if isinstance(result, int) else 0)


def _misuse(error: Exception, argv: list[str]) -> UsageError | None:
    """The usage error behind an exception: a path that cannot be, or bytes that are no text.

    Every path of an option or of the configuration may be such a one; the first system call that
    meets it says so.
    """
    if isinstance(error, OSError) and error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
        path = str(error.filename or "")
        shown = path if len(path) <= 80 else f"{path[:40]}…{path[-20:]}"
        return UsageError(f"{shown}: {error.strerror}", "give another path")
    if isinstance(error, UnicodeEncodeError) and not all(map(_is_text, argv)):
        return UsageError("an argument is not UTF-8 text", "check the terminal's encoding (locale)")
    return None


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _count(console: Console, seconds: float) -> None:
    """Count a question that was asked (`infoforge stats`)."""
    if not console.question:
        return
    from infoforge.agents.stats import record

    code = getattr(sys.exc_info()[1], "code", EXIT_FAILED)
    kept = console.question if console.keeps_questions else ""
    record(console.command, code if isinstance(code, int) else EXIT_FAILED, seconds, kept)


def _usage(error: click.ClickException) -> InfoForgeError:
    """Turn Click's complaint into ours, so that it is one line and fits the envelope."""
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "infoforge"
    return UsageError(" ".join(error.format_message().split()), f"see {where} --help")
