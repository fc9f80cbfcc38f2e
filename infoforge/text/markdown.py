"""Markdown, read once for the vault and for zimify: front matter, blocks, and what a reader sees.

markdown-it-py (CommonMark with tables) decides what is code, a heading, a table or a comment. The
text itself is taken from the source by line numbers, so that code stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_FRONT = re.compile(
    r"\A(---|\+\+\+)[ \t]*\n(.*?)^(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_KEY = re.compile(r"([^\W\d][\w .-]{0,60}?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
_DATE = re.compile(r"(?<!\d)(\d{4})(?:([-/.])(\d{1,2})\2(\d{1,2})|(\d{2})(\d{2}))(?!\d)")
_DATE_KEYS = (
    "updated", "modified", "lastmod", "last_modified", "last_reviewed_on", "date", "created",
)  # fmt: skip

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PREFORMATTED = re.compile(r"\s*<(pre|script|style|textarea)[\s>]", re.IGNORECASE)
# A span ends with as many backticks as it starts with, and does not reach into the next list item.
_CODE_SPAN = re.compile(
    r"(?<![\\`])(`+)(?!`)((?:[^\n]|\n(?!\s*(?:[-*+>|]|\d{1,9}[.)]\s|#|$)))+?)(?<!`)\1(?!`)"
)
_WIKI = re.compile(r"!?\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")
_LINK = re.compile(
    r"!?\[([^\[\]\n]*)\]\(<?([^()\s<>]+(?:\([^()\s]*\)[^()\s]*)?)>?(?:\s+\"[^\"]*\")?\)"
)
_EMPHASIS = re.compile(r"(?<![\w*/\\])(\*{1,3})(?=\S)(.+?)(?<=[^\s/])\1(?![\w*/])")
"""Emphasis by asterisks; a slash next to one is a path (``/srv/*/cache/*``)."""
_STARTS = re.compile(r"^\s*(?:[-*+>|]|\d{1,9}[.)]\s|#|$)")
"""What begins a line of its own: list items, quotes, rows."""
_HIDDEN = re.compile("[\U000f0000-\U000ffffd]")
_FIRST_HIDDEN = 0xF0000
_MOST_HIDDEN = 0xFFFD


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands above a text, in YAML between ``---`` or TOML between ``+++``.

    Attributes:
        values: By key in lower case.
        length: Characters that it takes, its last line included; 0 without front matter.
        problem: Why it is not valid; the values are then those of the lines that could be read.
    """

    values: dict[str, Any]
    length: int = 0
    problem: str = ""

    def line(self, *keys: str) -> str:
        """The first of these values that is one text, on one line; empty without one."""
        return next((text for key in keys if (text := _line(self.values.get(key)))), "")

    def names(self, *keys: str, blanks: bool = False) -> tuple[str, ...]:
        """The values of lists, without doubles.

        Args:
            keys: The keys, in order.
            blanks: A text without commas is a list of words.
        """
        found: list[str] = []
        for key in keys:
            value = self.values.get(key)
            if isinstance(value, str):
                split = "," in value or blanks
                value = value.split("," if "," in value else None) if split else [value]
            if isinstance(value, (list, tuple)):
                found += [text for item in value if (text := _line(item))]
        return tuple(dict.fromkeys(found))

    def date(self) -> str:
        """The date that the text gives itself, as ``YYYY-MM-DD``; empty without one."""
        for key in _DATE_KEYS:
            value = self.values.get(key)
            if isinstance(value, datetime):
                value = value.astimezone(UTC) if value.tzinfo else value
                return value.date().isoformat()
            if isinstance(value, date):
                return value.isoformat()
            match = _DATE.search(_line(value)) if isinstance(value, (str, int)) else None
            if match:
                try:
                    year, month, day = match[1], match[3] or match[5], match[4] or match[6]
                    return date(int(year), int(month), int(day)).isoformat()
                except ValueError:
                    continue
        return ""


def _line(value: Any) -> str:  # noqa: ANN401 - whatever stands in a front matter
    try:
        return " ".join(str(value).split()) if isinstance(value, (str, int, float, date)) else ""
    except ValueError:  # a hexadecimal number of thousands of digits
        return ""


def front_matter(text: str) -> FrontMatter:
    """Read the front matter of a text; what is no mapping counts as text."""
    match = _FRONT.match(text)
    if match is None:
        return FrontMatter({})
    raw, problem = match.group(2), ""
    try:
        found = _toml(raw) if match.group(1) == "+++" else _yaml(raw)
    except Exception as error:  # YAML raises ValueError for impossible dates, and its own errors
        problem = " ".join(str(error).split())[:200]
        found = _line_by_line(raw) if match.group(1) == "---" else None
    found = {} if found is None and not problem else found
    if not isinstance(found, dict):
        return FrontMatter({})
    values = {_line(key).lower(): value for key, value in found.items()}
    return FrontMatter(values, match.end(), problem)


def _toml(raw: str) -> Any:  # noqa: ANN401 - whatever stands there
    import tomllib

    return tomllib.loads(raw)


def _yaml(raw: str) -> Any:  # noqa: ANN401 - whatever stands there
    import yaml

    # The C parser is ten times as fast; it is missing where PyYAML was built without libyaml.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(raw, Loader=loader)  # noqa: S506 - a safe loader, either of them


def _line_by_line(raw: str) -> dict[str, Any] | None:
    """The keys of broken YAML, each read alone; ``None`` where most lines are no YAML at all."""
    groups: list[list[str]] = []
    strange = 0
    for line in raw.split("\n"):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        if _KEY.match(line):
            groups.append([line])
        elif groups and (line[0] in " \t" or bare.startswith("- ")):
            groups[-1].append(line.replace("\t", "  "))
        else:
            strange += 1
    if len(groups) <= strange:
        return None
    found: dict[str, Any] = {}
    for group in groups:
        match = _KEY.match(group[0])
        assert match is not None
        try:
            value = _yaml("\n".join(group))
            found.update(value if isinstance(value, dict) else {})
        except Exception:
            # `[[A]], [[B]]` or a colon in a title: the text as it stands. `{{date}}` of a template
            # that was never filled in says nothing.
            text = (match.group(2) or "").strip().strip("\"'")
            if "{{" not in text and any(character.isalnum() for character in text):
                found[match.group(1)] = text
    return found or None


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a text, as it stands in the source.

    Attributes:
        kind: ``heading``, ``text`` (up to a blank line), ``table`` or ``code``.
        text: Its source, without comments; of a heading what follows the marks; code is verbatim,
            without the indentation of a list around it.
        level: Of a heading, 1 to 6.
    """

    kind: str
    text: str
    level: int = 0


def blocks(body: str) -> Iterator[Block]:
    """The blocks of a text without its front matter, in order."""
    lines = body.split("\n")
    done = 0
    for kind, start, end, content, level in _spans(body):
        if start < done:
            continue  # inside what was given already
        yield from _paragraphs("\n".join(lines[done:start]))
        done = end
        source = "\n".join(lines[start:end]).strip("\n")
        if kind == "heading":
            yield Block(kind, content, level)
        elif kind == "html":
            yield from _paragraphs(_COMMENT.sub("", source))
        elif source.strip():
            # A list around it indents every line of the code but the first.
            yield Block(kind, source if not content or content in source else _fenced(content))
    yield from _paragraphs("\n".join(lines[done:]))


def _spans(body: str) -> Iterator[tuple[str, int, int, str, int]]:
    """Kind, first line, line after the last, content and level of what is no running text."""
    tokens = _block_parser().parse(body)
    for place, token in enumerate(tokens):
        if token.map is None:
            continue
        start, end = token.map
        if token.type in ("fence", "code_block"):
            yield "code", start, end, token.content.strip("\n"), 0
        elif token.type == "html_block":
            if _PREFORMATTED.match(token.content):
                yield "code", start, end, "", 0
            elif "<!--" in token.content:
                yield "html", start, end, "", 0
        elif token.type == "table_open":
            yield "table", start, end, "", 0
        elif token.type == "heading_open" and token.level == 0:
            content = " ".join(tokens[place + 1].content.split())
            yield "heading", start, end, content, int(token.tag[1])


def _fenced(code: str) -> str:
    ticks = max((len(run) for run in re.findall(r"`{3,}", code)), default=2) + 1
    return f"{'`' * ticks}\n{code}\n{'`' * ticks}"


def _paragraphs(text: str) -> Iterator[Block]:
    part: list[str] = []
    for line in [*without_comments(text).split("\n"), ""]:
        if line.strip():
            part.append(line)
        elif part:
            rows = all(row.lstrip().startswith("|") for row in part)
            yield Block("table" if rows else "text", "\n".join(part))
            part = []


@lru_cache(maxsize=1)
def _block_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@lru_cache(maxsize=1)
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("strikethrough")


def title_of(body: str) -> str:
    """The first level-1 heading of a text, else the heading it starts with, else nothing."""
    start = ""
    for place, block in enumerate(blocks(body)):
        if block.kind == "heading" and block.level == 1:
            return visible(block.text)
        if block.kind == "heading" and place == 0:
            start = visible(block.text)
    return start


def is_empty(text: str) -> bool:
    """Whether nothing stands below the front matter."""
    match = _FRONT.match(text)
    return not text[match.end() if match else 0 :].strip()


def visible(text: str) -> str:
    """A line of markdown as a reader sees it: no emphasis, no tags, links by their text."""
    tokens = _inline_parser().parseInline(
        outside_code(text, lambda part: _WIKI.sub(_shown_name, part))
    )
    shown = [
        " " if child.type in ("softbreak", "hardbreak") else child.content
        for token in tokens
        for child in token.children or ()
        if child.type in ("text", "code_inline", "image", "softbreak", "hardbreak")
    ]
    return " ".join("".join(shown).split())


def _shown_name(match: re.Match[str]) -> str:
    return str(match.group(2) or match.group(1)).strip()


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change a text, but none of its code spans."""
    spans: list[str] = []

    def hide(match: re.Match[str]) -> str:
        if len(spans) > _MOST_HIDDEN:
            return match.group()
        spans.append(match.group().replace("\n", " "))
        return chr(_FIRST_HIDDEN + len(spans) - 1)

    def show(match: re.Match[str]) -> str:
        place = ord(match.group()) - _FIRST_HIDDEN
        return spans[place] if place < len(spans) else match.group()

    if "`" not in text:
        return change(text)
    return _HIDDEN.sub(show, change(_CODE_SPAN.sub(hide, _HIDDEN.sub("", text))))


def without_comments(text: str) -> str:
    """A text without HTML comments; what stands in code spans is no comment."""
    if "<!--" not in text:
        return text
    return outside_code(text, lambda part: _COMMENT.sub("", part))


def wiki_links(text: str) -> list[str]:
    """The targets of a text's ``[[links]]``, without those in code spans."""
    found: list[str] = []

    def gather(part: str) -> str:
        found.extend(match.group(1).split("#")[0].strip() for match in _WIKI.finditer(part))
        return part

    outside_code(text, gather)
    return found


def plain(text: str, kind: str = "heading") -> str:
    """Markdown as a reader sees it: links by their text, addresses of the web kept after it.

    Args:
        text: The source of a block that is no code; its code spans stay as they are.
        kind: The kind of block. Lines of ``text`` that an editor wrapped are joined: a sentence
            must not end where a line did.
    """

    def change(part: str) -> str:
        part = _EMPHASIS.sub(r"\2", _LINK.sub(_shown_link, _WIKI.sub(_shown_name, part)))
        return _unwrapped(part) if kind == "text" else part

    if kind == "table" and "\\|" in text:
        # The bar is escaped for the table's sake; it is no part of the code.
        text = _CODE_SPAN.sub(lambda match: match.group().replace("\\|", "|"), text)
    return outside_code(text, change)


def _shown_link(match: re.Match[str]) -> str:
    shown, target = match.group(1).strip(), match.group(2)
    outside = target.startswith(("http://", "https://", "mailto:"))
    if not outside or match.group(0).startswith("!"):
        return str(shown)
    return f"{shown} ({target})" if shown and shown != target else str(target)


def _unwrapped(text: str) -> str:
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and not _STARTS.match(line) and not lines[-1].endswith(("  ", "\\")):
            lines[-1] = f"{lines[-1].rstrip()} {line.lstrip()}"
        else:
            lines.append(line)
    return "\n".join(line.rstrip() for line in lines)
