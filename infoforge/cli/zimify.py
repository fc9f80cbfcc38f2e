"""`infoforge zimify`."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from infoforge.cli.console import Console, json_option
from infoforge.contract import EXIT_FAILED, EXIT_OK
from infoforge.zimify.records import ConversionOptions, Progress, Report

NAMED = 10
"""Documents that the summary names of each kind."""
SHOWN = 1000
"""Dead links and the like that the JSON document lists; their number is given in full."""


@click.command()
@click.argument("folder", metavar="FOLDER")
@click.option("-o", "--output", metavar="FILE", required=True, help="The ZIM file to write.")
@click.option(
    "--language",
    default="",
    metavar="CODE",
    help="ISO 639 code [default: from the documents, else eng].",
)
@click.option("--title", default="", help="At most 30 characters [default: the folder's name].")
@click.option("--name", default="", help="Stable name for catalogs [default: the folder's name].")
@click.option("--description", default="", help="At most 80 characters.")
@click.option("--creator", default="", help="Who wrote the documents [default: the title].")
@click.option("--publisher", default="", help="Who makes the ZIM [default: InfoForge].")
@click.option("--date", default="", metavar="YYYY-MM-DD", help="[default: the newest file's date].")
@click.option(
    "--exclude", multiple=True, metavar="GLOB", help="Leave out files or folders; may be repeated."
)
@click.option(
    "--follow-links", is_flag=True, help="Follow symbolic links that lead out of the folder."
)
@click.option("--strict", is_flag=True, help="Exit 1 when a document could not be converted.")
@json_option
def zimify(
    *,
    folder: str,
    output: str,
    language: str,
    title: str,
    name: str,
    description: str,
    creator: str,
    publisher: str,
    date: str,
    exclude: tuple[str, ...],
    follow_links: bool,
    strict: bool,
    as_json: bool,
) -> int:
    """Make a ZIM file of a folder of documents.

    Reads markdown, HTML, text, CSV, PDF, DOCX, EPUB and more; other files are kept as attachments.

    Example: infoforge zimify ~/notes -o ~/zims/notes.zim --language en
    """
    from infoforge.zimify.build import zimify as build

    console = Console.current("zimify", as_json=as_json)
    options = ConversionOptions(
        language=language,
        title=title,
        name=name,
        description=description,
        creator=creator,
        publisher=publisher,
        date=date,
        exclude=exclude,
        follow_links=follow_links,
    )
    with _progress(console) as progress:
        report = build(
            Path(folder).expanduser(),
            Path(output).expanduser(),
            options,
            warn=console.warn,
            progress=progress,
        )
    failed = report.unreadable or report.unsupported
    code = EXIT_FAILED if strict and failed else EXIT_OK
    return console.finish(_data(report), _text(report), code)


def _data(report: Report) -> dict[str, object]:
    data = dataclasses.asdict(report)
    for key, first, second in (
        ("dead_links", "document", "link"),
        ("external", "document", "link"),
        ("unreadable", "document", "reason"),
        ("unsupported", "document", "format"),
        ("left_out", "document", "reason"),
    ):
        pairs = data[key]
        data[key] = {
            "count": len(pairs),
            "items": [{first: a, second: b} for a, b in pairs[:SHOWN]],
        }
    return data


def _text(report: Report) -> list[str]:
    lines = [
        f"{report.path}: {report.articles} articles, {report.entries} entries, "
        f"{report.size / 1e6:.1f} MB, language {report.language}, date {report.date}"
    ]
    if report.unreadable:
        lines.append(f"not converted: {len(report.unreadable)}")
        lines += _named(report.unreadable)
    if report.unsupported:
        lines.append(f"kept as files only, without a reader: {len(report.unsupported)}")
        lines += _named(report.unsupported)
    if report.left_out:
        lines.append(f"left out: {len(report.left_out)}")
        lines += _named(report.left_out)
    if report.dead_links:
        lines.append(f"dead links: {len(report.dead_links)}")
    return lines


def _named(pairs: Sequence[tuple[str, str]]) -> list[str]:
    lines = [f"  {document}: {reason}" for document, reason in pairs[:NAMED]]
    return [*lines, f"  and {len(pairs) - NAMED} more"] if len(pairs) > NAMED else lines


@contextmanager
def _progress(console: Console) -> Iterator[Progress]:
    """A bar on a terminal; otherwise a line a minute."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with click.progressbar(length=1, label="zimify", file=sys.stderr) as bar:

            def show(done: int, total: int) -> None:
                bar.length = total
                if done - bar.pos >= max(1, total // 200) or done == total:
                    bar.update(done - bar.pos)

            yield show
        return
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= 60:
            last = time.monotonic()
            console.note(f"zimify: {done} of {total} files")

    yield tell
