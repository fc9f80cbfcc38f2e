"""Write the table of all configuration keys into docs/config.md."""

from __future__ import annotations

from pathlib import Path

from infoforge.config.explain import reference

BEGIN, END = "<!-- keys: begin -->\n", "<!-- keys: end -->\n"
PAGE = Path(__file__).parent.parent / "docs" / "config.md"


def renewed(text: str) -> str:
    before, rest = text.split(BEGIN)
    return before + BEGIN + reference() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
