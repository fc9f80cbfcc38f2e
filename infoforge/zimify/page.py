"""The page around what a reader makes."""

from __future__ import annotations

import html
from dataclasses import dataclass

from infoforge.zimify.names import address

STYLE_PATH = "_infoforge/style.css"
STYLE = """\
:root { color-scheme: light dark; }
body { font: 1rem/1.6 system-ui, sans-serif; margin: 0 auto; max-width: 46rem; padding: 1rem; }
img, video, svg { max-width: 100%; height: auto; }
pre { overflow-x: auto; padding: .8rem; background: #8882; border-radius: 4px; }
code { background: #8882; border-radius: 3px; padding: 0 .2em; }
pre code { background: none; padding: 0; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid #8886; padding: .25rem .6rem; text-align: start; vertical-align: top; }
blockquote { margin-inline: 0; padding-inline-start: 1rem; border-inline-start: 3px solid #8886; }
nav { font-size: .9rem; }
.dmbox { font-style: italic; border-top: 1px solid #8886; padding-top: .5rem; }
.missing, [data-dead-href] { color: #a33; text-decoration: underline dotted; }
.plain { white-space: pre-wrap; overflow-wrap: anywhere; }
"""


@dataclass(frozen=True, slots=True)
class Frame:
    """What all pages of one ZIM have in common.

    Attributes:
        language: For the ``lang`` attribute.
        home: Path of the front page.
        style: Path of the style sheet.
    """

    language: str
    home: str
    style: str = STYLE_PATH


def wrap(
    frame: Frame,
    path: str,
    title: str,
    body: str,
    *,
    source: str = "",
    heading: bool = True,
    after: str = "",
    language: str = "",
) -> bytes:
    """A whole HTML page.

    Args:
        frame: What all pages have in common.
        path: The entry that the page becomes; its own links are relative to it.
        title: For the title bar and, with ``heading``, the first heading.
        body: HTML.
        source: The file it was made of; it also tells apart pages of equal content.
        heading: Whether the body lacks its own first heading.
        after: HTML after the body (previous and next part, the original).
        language: The document's own, where it differs.
    """
    head = f"<h1>{html.escape(title, quote=False)}</h1>\n" if heading else ""
    origin = f'<meta name="source" content="{html.escape(source)}">' if source else ""
    # The way home has no words: they would stand in the search index of every page.
    home = "" if path == frame.home else f'<nav><a href="{address(frame.home, path)}">⌂</a></nav>\n'
    text = (
        f'<!DOCTYPE html>\n<html lang="{html.escape(language or frame.language)}"><head>'
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width">{origin}'
        f"<title>{html.escape(title, quote=False)}</title>"
        f'<link rel="stylesheet" href="{address(frame.style, path)}"></head>\n'
        f"<body>\n{home}<main>\n{head}{body}\n</main>\n{after}</body></html>\n"
    )
    return text.encode("utf-8", "replace")
