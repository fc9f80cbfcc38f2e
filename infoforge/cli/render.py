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
    below = citations(view["citations"], view["also_read"])
    return f"{block(view['answer']).strip()}\n\n{below}"


def results(view: Row) -> str:
    """The ranked titles of a search."""
    return "\n".join(citation(row) for row in view["results"])


def sources(view: Row) -> str:
    """Numbered sources with their texts."""
    return "\n\n".join(f"{citation(row)}\n{block(row['text'])}" for row in view["sources"])
