"""The terminal view of what the pipeline's views hold."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from infoforge.cli.console import colour
from infoforge.text.display import block, line

Row = Mapping[str, Any]


def _style(text: str, **style: Any) -> str:  # noqa: ANN401 - click's own keywords
    return click.style(text, **style) if colour(sys.stdout) else text


def citation(row: Row) -> str:
    """One line: number, title, URL, date of the dump."""
    number = _style(f"[{row['number']}]", fg="cyan")
    date = f"  ({line(row['date'])})" if row["date"] else ""
    return f"{number} {_style(line(row['title']), bold=True)} — {line(row['url'])}{date}"


def citations(cited: Sequence[Row], also_read: Sequence[Row]) -> str:
    """The two lists below an answer."""
    blocks = []
    for heading, rows in (("Citations:", cited), ("Also read:", also_read)):
        if rows:
            blocks.append("\n".join([heading, *(citation(row) for row in rows)]))
    return "\n\n".join(blocks)


def answer(view: Row) -> str:
    """An answer with its citations."""
    return f"{block(view['answer']).strip()}\n\n{below(view)}"


def below(view: Row) -> str:
    """What stands under an answer: the claims that are not supported, and the citations."""
    marked = [_marked(row) for row in view["claims"] if row["status"] in ("unsupported", "uncited")]
    blocks = ["\n".join(["Not supported:", *marked])] if marked and not view["refused"] else []
    return "\n\n".join([*blocks, citations(view["citations"], view["also_read"])])


def _marked(row: Row) -> str:
    """A claim that is not supported, and why."""
    cited = ", ".join(f"[{number}]" for number in row["citations"])
    parts = []
    for part in row["unsupported"]:
        text = line(part["text"])
        if part["kind"] == "words":
            parts.append(f"{cited or 'the sources'} say nothing like it")
        elif part["kind"] == "negation":
            parts.append(f"“{text}” is in only one of the claim and {cited or 'the sources'}")
        elif part["kind"] == "reader":
            parts.append(text)
        else:
            parts.append(f"{part['kind']} “{text}” is not what {cited or 'the sources'} say")
    if not cited:
        parts.insert(0, "no citation")
    sign = _style("!", fg="yellow", bold=True)
    return f"{sign} {line(' '.join(row['text'].split()))}  ({'; '.join(parts)})"


def results(view: Row) -> str:
    """The ranked titles of a search."""
    return "\n".join(citation(row) for row in view["results"])


def sources(view: Row) -> str:
    """Numbered sources with their texts."""
    return "\n\n".join(f"{citation(row)}\n{block(row['text'])}" for row in view["sources"])
