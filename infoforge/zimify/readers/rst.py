"""reStructuredText, as documentation of programs is written, with what Sphinx adds to it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infoforge.zimify.encoding import decode
from infoforge.zimify.entries import EntryIndex
from infoforge.zimify.links import rewrite
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.records import Page, Rendered, SourceDocument, UnreadableError

if TYPE_CHECKING:
    from docutils.nodes import Node

LARGEST = 8 << 20
_DIRECTIVE = re.compile(r"^\s*\.\. (?:\|[^|\n]+\| )?([\w:+.-]+)::", re.MULTILINE)
_ROLE = re.compile(r":([\w:+.-]+):`|`:([\w:+.-]+):")
_SHOWN = re.compile(r"(.*?)\s*<[^<>]*>$", re.DOTALL)
_SETTINGS = {
    "_disable_config": True,
    "embed_stylesheet": False,
    "file_insertion_enabled": False,
    "halt_level": 5,
    "initial_header_level": "2",
    "input_encoding": "unicode",
    "math_output": "LaTeX",
    "raw_enabled": False,
    "report_level": 5,
    "smart_quotes": False,
    "stylesheet_path": "",
    "syntax_highlight": "none",
    "warning_stream": False,
}
_SILENT = frozenset({"toctree", "index", "highlight", "currentmodule", "meta", "sectionauthor"})
"""Directives of Sphinx that print no text of their own."""


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn a reStructuredText file into a page."""
    from docutils.core import publish_parts

    if document.file.size > LARGEST:
        raise UnreadableError(f"reStructuredText of more than {LARGEST >> 20} MiB")
    text = decode(Path(document.file.real).read_bytes(), language=frame.language)
    _register(text)
    parts = publish_parts(text, writer="html5", settings_overrides=_SETTINGS)
    rendered = Rendered()
    title = " ".join(re.sub(r"<[^>]*>", "", parts["title"]).split())
    rendered.title = document.title if document.head.title else _unescaped(title) or document.title
    rel, path = document.file.rel, document.path
    markup = rewrite(
        parts["body"],
        path,
        rel,
        lambda url: index.link(url, rel),
        rendered.links,
        exact=False,
    )
    page = wrap(frame, path, rendered.title, markup, source=rel)
    rendered.items.append(Page(path, rendered.title, page))
    return rendered


def _unescaped(text: str) -> str:
    import html

    return html.unescape(text)


def _register(text: str) -> None:
    """Give the directives and roles that docutils does not know a plain meaning.

    It would leave them out, with all their text.
    """
    from docutils import nodes
    from docutils.parsers.rst import Directive, directives, roles
    from docutils.parsers.rst.languages import en
    from docutils.statemachine import StringList

    class Block(Directive):  # type: ignore[misc]
        """The arguments as a paragraph, the content as it would be without the directive."""

        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec = _AnyOption()

        def run(self) -> list[Node]:
            found: list[Node] = []
            if self.name in _SILENT:
                return found
            # A line right after the first belongs to the content for Sphinx.
            first, _, rest = "\n".join(self.arguments).partition("\n")
            content = StringList([*rest.splitlines(), *self.content])
            if self.name in ("code-block", "sourcecode", "literalinclude", "prompt"):
                code = "\n".join(self.content)
                return [nodes.literal_block(code, code)] if code else []
            if first:
                label = self.name.rpartition(":")[2]
                shown = f"{label}: {first}" if "version" in label else first
                found.append(nodes.paragraph("", shown))
            inner = nodes.container()
            self.state.nested_parse(content, self.content_offset, inner)
            return [*found, *inner.children]

    def role(
        name: str,
        raw: str,
        shown: str,
        *rest: Any,  # noqa: ANN401
        **more: Any,  # noqa: ANN401
    ) -> tuple[list[Node], list[Node]]:
        match = _SHOWN.fullmatch(shown)
        label = match.group(1) if match and match.group(1) else shown.lstrip("~!")
        literal = name.rpartition(":")[2] not in ("ref", "doc", "term", "guilabel", "abbr", "any")
        return [nodes.literal(raw, label) if literal else nodes.inline(raw, label)], []

    # docutils has a code-block of its own, which refuses the options of Sphinx's.
    for name in {
        "code-block",
        "sourcecode",
        *_DIRECTIVE.findall(text),
    } - directives._directives.keys():
        if name not in en.directives or name in ("code-block", "sourcecode"):
            directives.register_directive(name, Block)
    for name in {a or b for a, b in _ROLE.findall(text)}:
        if name not in en.roles and name not in roles._roles:
            roles.register_local_role(name, role)


class _AnyOption(dict[str, Any]):
    """Takes every option of a directive."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        return lambda value: value
