"""The three tools that agents get over MCP: what they take, and what they give.

Each gives the envelope of the command line (docs/json.md) with the command's own ``data``, so that
an agent that knows the shell knows the tools: the same pipeline, the same refusal, the same codes.
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from infoforge.agents.stats import record
from infoforge.config.settings import Settings
from infoforge.contract import (
    CorpusUnavailable,
    InfoForgeError,
    NothingFound,
    NotVerified,
    UsageError,
    Warn,
    WarningMessage,
    envelope,
)
from infoforge.model.prompt import heading, passage
from infoforge.records import Article, CorpusInfo, Section
from infoforge.zims.names import book_name

WINDOW = 6000
"""Characters of an article that `read` gives at once."""
LARGEST_WINDOW = 20_000
LONGEST_QUESTION = 4000
"""Characters of a question; a longer one is a mistake of the agent's."""


class Cancelled(BaseException):
    """The client no longer wants the answer. No stage that tolerates errors may catch it."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a tool is called with: checked arguments, the settings, and where it tells things."""

    arguments: Mapping[str, Any]
    settings: Settings
    warn: Warn
    check: Callable[[], None]
    """Raises `Cancelled` when nobody waits any longer."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool.

    Attributes:
        name: Its name, which is also the envelope's ``command``.
        description: What it does, for the model that chooses.
        properties: JSON Schema of each argument.
        required: Names of the arguments that must be given.
        run: Gives the envelope's ``data``.
    """

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    run: Callable[[ToolCall], dict[str, Any]]

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": {name: dict(schema) for name, schema in self.properties.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }


OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "status": {"type": "string"},
        "exit_code": {"type": "integer"},
        "data": {"type": ["object", "null"]},
        "warnings": {"type": "array"},
        "errors": {"type": "array"},
    },
    "required": ["status", "exit_code", "data"],
}
"""Of every tool: the envelope. It is short since it costs every agent tokens in every session."""


def call(
    name: str,
    arguments: Mapping[str, Any],
    settings: Callable[[], Settings],
    check: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Call a tool; whatever goes wrong is in the document that it gives.

    Args:
        name: One of `TOOLS`.
        arguments: As the agent gave them, unchecked.
        settings: Loads the settings, again for each call.
        check: Called now and then; raises `Cancelled` when nobody waits any longer.

    Returns:
        The envelope; ``exit_code`` is what the shell would have exited with.

    Raises:
        Cancelled: By ``check``.
    """
    begun = time.perf_counter()
    loaded = Settings()
    try:
        loaded = settings()
        document = _document(TOOLS[name], arguments, loaded, check)
    except InfoForgeError as error:  # the configuration
        document = envelope(name, None, error=error)
    kept = str(arguments.get("question", "")) if loaded.log.questions else ""
    record(name, document["exit_code"], time.perf_counter() - begun, kept)
    return document


def _document(
    tool: Tool, arguments: Mapping[str, Any], settings: Settings, check: Callable[[], None]
) -> dict[str, Any]:
    warnings: list[WarningMessage] = []

    def warn(warning: WarningMessage) -> None:
        check()
        warnings.append(warning)

    try:
        checked = check_arguments(tool, arguments)
        data = tool.run(ToolCall(checked, settings, warn, check))
    except InfoForgeError as error:
        return envelope(tool.name, error.data, warnings=(*warnings, *error.warnings), error=error)
    except Cancelled:
        raise
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        fault = InfoForgeError(f"internal fault: {text}", "report it; infoforge doctor may help")
        return envelope(tool.name, None, warnings=warnings, error=fault)
    return envelope(tool.name, data, warnings=warnings)


def check_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, if they are what the tool takes.

    Raises:
        UsageError: One is unknown, missing, of another type or out of bounds; with a hint.
    """
    known = ", ".join(tool.properties)
    for name in arguments:
        if name not in tool.properties:
            near = difflib.get_close_matches(name, tool.properties, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UsageError(f"{tool.name} takes no argument '{name}'", f"{hint}it takes: {known}")
    # Models send null for what they leave out, and numbers and truth values as text.
    given = {
        name: _as_sent(value, tool.properties[name]["type"])
        for name, value in arguments.items()
        if value is not None
    }
    for name in tool.required:
        if name not in given:
            raise UsageError(f"{tool.name} needs the argument '{name}'", f"it takes: {known}")
    for name, value in given.items():
        _check_value(tool.name, name, value, tool.properties[name])
    return given


_TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool}
_TRUTH = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}


def _as_sent(value: object, wanted: str) -> object:
    """A value as the tool takes it, where it is clear what is meant: ``"3"``, ``3.0``, ``"no"``."""
    if wanted == "integer":
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str):
            number = re.fullmatch(r"\s*([0-9]{1,15})(?:\.0{1,15})?\s*", value)
            return int(number[1]) if number else value
    if wanted == "boolean":
        if isinstance(value, str):
            return _TRUTH.get(value.strip().lower(), value)
        if isinstance(value, int | float) and value in (0, 1):
            return bool(value)
    return value


def _check_value(tool: str, name: str, value: object, schema: Mapping[str, Any]) -> None:
    wanted = _TYPES[schema["type"]]
    # In Python a truth value is a number; in JSON it is none.
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        told = f"{tool}: '{name}' must be a {schema['type']}, not {type(value).__name__}"
        raise UsageError(told, "see the tool's input schema")
    if isinstance(value, str) and len(value) > (most := schema.get("maxLength", LONGEST_QUESTION)):
        raise UsageError(
            f"{tool}: '{name}' has {len(value)} characters; {most} are the most",
            "ask one question, in one sentence",
        )
    if isinstance(value, int) and not isinstance(value, bool):
        least, most = schema.get("minimum", value), schema.get("maximum", value)
        if not least <= value <= most:
            raise UsageError(f"{tool}: '{name}' is {value}", f"from {least} to {most}")


def _ask(call: ToolCall) -> dict[str, Any]:
    from infoforge import ask, views

    options = ask.Options(strict=bool(call.arguments.get("strict", False)))
    try:
        answer = ask.ask(
            call.arguments["question"],
            call.settings,
            options,
            warn=call.warn,
            on_text=lambda piece: call.check(),
            on_sources=lambda searched: call.check(),
        )
    except NotVerified as error:
        error.hint = "report that no supported answer was found"
        raise
    return views.answer(answer)


def _search(call: ToolCall) -> dict[str, Any]:
    from infoforge import ask, views

    options = ask.Options(sources=call.arguments.get("limit", 0))
    return views.searched(ask.search(call.arguments["question"], call.settings, options, call.warn))


def _read(call: ToolCall) -> dict[str, Any]:
    from infoforge.agents.tools import read

    given = call.arguments
    return read(
        call.settings,
        call.warn,
        corpus=given.get("corpus", ""),
        path=given["path"],
        section=given.get("section", ""),
        offset=given.get("offset", 0),
        characters=given.get("characters", WINDOW),
    )


_QUESTION = {"type": "string", "description": "One whole sentence; names in full."}

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "ask",
            "Answer a factual question from the house's offline wikis, with citations [1]. Use it "
            "before answering from memory. An error result (exit_code 3 nothing found, 4 not "
            "grounded, 5 no model: data.results has the articles) must be reported, never replaced "
            "by memory. date is that of the dump.",
            {
                "question": _QUESTION,
                "strict": {"type": "boolean", "description": "Error unless grounded."},
            },
            ("question",),
            _ask,
        ),
        Tool(
            "search",
            "List the wiki articles that match, best first, with corpus and path for read.",
            {
                "question": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20},
            },
            ("question",),
            _search,
        ),
        Tool(
            "read",
            "Read a cited article or one section of it, a window at a time.",
            {
                "corpus": {"type": "string"},
                "path": {"type": "string", "description": "Its path, or the citation's url alone."},
                "section": {"type": "string", "description": "A heading."},
                "offset": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "next_offset of the window before.",
                },
                "characters": {"type": "integer", "minimum": 200, "maximum": LARGEST_WINDOW},
            },
            ("path",),
            _read,
        ),
    )
}


_MOST_HEADINGS = 60


def read(
    settings: Settings,
    warn: Warn,
    *,
    corpus: str,
    path: str,
    section: str = "",
    offset: int = 0,
    characters: int = 6000,
) -> dict[str, Any]:
    """A window of an article's text.

    Args:
        settings: The settings.
        warn: Takes warnings.
        corpus: Name of the corpus, as the citation has it, or its file's name; empty where the
            path is a URL.
        path: The entry's path, as the citation has it, also percent-encoded; or the citation's URL.
        section: A heading, or the last part of one; empty: the whole article.
        offset: Where the window begins, in characters of the text.
        characters: Its length.

    Returns:
        The article's title, url, date and headings, the ``text`` of the window, ``total``
        characters, and ``next_offset``: where the next one begins, ``None`` after the last.

    Raises:
        UsageError: No such corpus or section, or an offset beyond the end.
        NothingFound: The corpus has no such article.
        CorpusUnavailable: The corpus cannot be read.
    """
    article = _article(settings, warn, corpus, path)
    headings = [heading(item.heading) for item in article.sections if item.heading]
    text = passage(_text(_chosen(article, section, headings)))
    if offset > len(text):
        raise UsageError(f"the text has {len(text)} characters; offset is {offset}", "begin at 0")
    end = offset + characters
    return {
        "corpus": article.corpus,
        "path": article.path,
        "title": heading(article.title),
        "url": article.url,
        "date": article.date,
        "language": article.language,
        "section": section,
        "headings": headings[:_MOST_HEADINGS],
        "text": text[offset:end],
        "offset": offset,
        "total": len(text),
        "next_offset": end if end < len(text) else None,
    }


def _article(settings: Settings, warn: Warn, corpus: str, path: str) -> Article:
    from infoforge.corpus.base import CorpusError, Deadline
    from infoforge.corpus.opened import open_corpora

    deadline = Deadline(settings.search.deadline)
    opened = {item.name: item for item in open_corpora(settings, warn, deadline=deadline)}
    corpus, paths = _meant(corpus, path, {name: c.describe() for name, c in opened.items()})
    if corpus not in opened:
        raise UsageError(f"no such corpus: {corpus}", f"there are: {', '.join(opened)}")
    article = None
    try:
        for item in paths:
            article = article or opened[corpus].read(item, deadline)
    except CorpusError as error:
        raise CorpusUnavailable(str(error), "infoforge doctor says what is wrong") from error
    if article is None:
        raise NothingFound(
            f"{corpus} has no article at {path}",
            "give corpus and path as search or a citation has them",
            code="no_article",
        )
    return article


def _meant(corpus: str, path: str, known: Mapping[str, CorpusInfo]) -> tuple[str, tuple[str, ...]]:
    """Name of the corpus and paths to try, of what an agent copied from a citation.

    Args:
        corpus: Name, file name with or without edition, in any case; or empty.
        path: Path, percent-encoded or not, or URL: ``zim://FILE/PATH``, a page of kiwix-serve, or
            the file of a note.
        known: What there is, by name.
    """
    names = {name.casefold(): name for name in known}
    stem = book_name(corpus.strip().rpartition("/")[2])
    name = names.get(corpus.strip().casefold()) or names.get(stem) or corpus
    rest = path.strip()
    for key, info in known.items():
        origin = info.origin.rstrip("/")
        if origin and rest.startswith(f"{origin}/"):
            name, rest = key, rest[len(origin) + 1 :]
            break
    else:
        if match := _URL.match(rest):
            # The server's address may be written otherwise (localhost, a prefix): what counts is
            # the book's name, which is the first part that is the name of a corpus.
            parts = match["parts"].split("/")
            for at, part in enumerate(parts[:-1]):
                if found := names.get(book_name(unquote(part))):
                    name, rest = found, "/".join(parts[at + 1 :])
                    break
    bare = rest.split("#", 1)[0] if _URL.match(path.strip()) else rest
    forms = (rest, bare, unquote(rest), unquote(bare), unquote(rest).replace(" ", "_"))
    return name, tuple(dict.fromkeys(form for form in forms if form))


_URL = re.compile(r"(?:https?|zim|file)://(?P<parts>.+)", re.IGNORECASE)


def _chosen(article: Article, section: str, headings: Sequence[str]) -> tuple[Section, ...]:
    """The sections that are meant, with what stands below them."""
    wanted = section.strip().casefold()
    if not wanted:
        return article.sections
    for item in article.sections:
        heading = item.heading.casefold()
        if heading == wanted or heading.rpartition(" > ")[2] == wanted:
            return tuple(
                other
                for other in article.sections
                if other.heading == item.heading or other.heading.startswith(f"{item.heading} > ")
            )
    told = "; ".join(headings[:_MOST_HEADINGS]) or "it has none"
    raise UsageError(f"'{article.title}' has no section '{section}'", f"its headings: {told}")


def _text(sections: Sequence[Section]) -> str:
    return "\n\n".join(
        f"## {item.heading}\n{item.text}" if item.heading else item.text for item in sections
    )
