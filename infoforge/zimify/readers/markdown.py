"""Markdown notes: CommonMark with tables, footnotes, task lists, wiki links, front matter."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from infoforge.zimify.encoding import decode
from infoforge.zimify.entries import EntryIndex, Target, address, anchor, fold, mimetype_of
from infoforge.zimify.links import rewrite
from infoforge.zimify.pages import Frame, wrap
from infoforge.zimify.records import Page, Rendered, SourceDocument

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

LONGEST = 8 << 20
"""Longer files are machine-made; they are shown as plain text."""

_HUGO_REF = re.compile(r"(?<=\]\()\{\{[<%]\s*(?:rel)?ref\s+[\"']([^\"'\n<>]+)[\"'][^}\n]*?[%>]\}\}")
_SCHEME = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9+.-]*:|//)")

DISAMBIGUATION = (
    '<div id="disambigbox" class="metadata plainlinks dmbox dmbox-disambig" role="note">'
    "This disambiguation page lists articles that share one name.</div>\n"
)
"""The marker by which wikis, and programs that read them, know such a page."""


def read(document: SourceDocument, index: EntryIndex, frame: Frame) -> Rendered:
    """Turn a note into a page."""
    if document.file.size > LONGEST:
        from infoforge.zimify.readers.text import read as read_text

        return read_text(document, index, frame)
    with open(document.file.real, "rb") as stream:  # noqa: PTH123  (one Path less a note)
        text = decode(stream.read(), language=frame.language)
    rendered = Rendered()
    page = render(
        text[document.head.front :],
        document,
        index,
        frame,
        rendered,
        title=document.title,
        after=DISAMBIGUATION if document.head.disambiguation else "",
    )
    rendered.items.append(Page(document.path, document.title, page))
    return rendered


def render(
    body: str,
    document: SourceDocument,
    index: EntryIndex,
    frame: Frame,
    rendered: Rendered,
    *,
    title: str,
    after: str = "",
) -> bytes:
    """The page of a markdown text.

    Args:
        body: The text, without front matter.
        document: Where it comes from.
        index: The entries that links may lead to.
        frame: What all pages have in common.
        rendered: Links are counted here.
        title: The page's title; the text may open with it.
        after: HTML after the text.
    """
    rel = document.file.rel
    if "{{" in body:
        body = _HUGO_REF.sub(r"<\1>", body)
    env = {"index": index, "document": document, "links": rendered.links}
    tokens = _parser().parse(body, env)
    heading = _has_title(tokens, title)
    markup = _parser().renderer.render(tokens, _parser().options, env)
    markup = rewrite(
        markup,
        document.path,
        rel,
        lambda url: index.link(url, rel) or _bare(index, url, rel),
        rendered.links,
        exact=False,
    )
    return wrap(
        frame,
        document.path,
        title,
        markup,
        source=rel,
        heading=not heading,
        after=after,
        language=document.head.language,
    )


def _bare(index: EntryIndex, url: str, rel: str) -> Target | None:
    """A link by name alone, as some wikis write it: ``[x](Some Note)``, ``[x](Note.md)``."""
    from urllib.parse import unquote

    name = unquote(url)
    return None if "/" in name.partition("#")[0].strip("./") else index.wiki(name, rel)


def _has_title(tokens: Sequence[Token], title: str) -> bool:
    """Whether the body opens with its own title: a level-1 heading, or the title at any level."""
    if len(tokens) > 1 and tokens[0].type == "heading_open":
        return tokens[0].tag == "h1" or fold(_text(tokens[1])) == fold(title)
    return False


def _text(token: Token) -> str:
    return "".join(
        child.content for child in token.children or () if child.type in ("text", "code_inline")
    )


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.tasklists import tasklists_plugin

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.use(footnote_plugin).use(tasklists_plugin).use(deflist_plugin)
    # Which schemes are safe is a question for pages from strangers; these are the user's own.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    parser.core.ruler.push("anchors", _anchors)
    parser.add_render_rule("image", _image)
    return parser


def _anchors(state: StateCore) -> None:
    """Give every heading the anchor that links to it are written with."""
    seen: dict[str, int] = {}
    for opening, inline in zip(state.tokens, state.tokens[1:], strict=False):
        if opening.type != "heading_open":
            continue
        slug = anchor(_text(inline)) or "section"
        number = seen.get(slug, 0)
        seen[slug] = number + 1
        opening.attrSet("id", f"{slug}-{number}" if number else slug)


def _wikilink(state: StateInline, silent: bool) -> bool:
    """``[[Note]]``, ``[[Note#Heading|label]]``, ``![[image.png|300]]``."""
    source, start = state.src, state.pos
    embed = source.startswith("![[", start)
    if not embed and not source.startswith("[[", start):
        return False
    begin = start + (3 if embed else 2)
    end = source.find("]]", begin)
    if end < 0 or end > state.posMax - 2 or "\n" in source[begin:end] or not source[begin:end]:
        return False
    inner = source[begin:end]
    if "[[" in inner:
        return False
    if not silent:
        # In a table the bar is escaped.
        target, bar, label = inner.replace("\\|", "|").partition("|")
        state.push("html_inline", "", 0).content = _linked(
            state.env, target.strip(), label.strip() if bar else "", embed
        )
    state.pos = end + 2
    return True


def _linked(env: MutableMapping[str, Any], name: str, label: str, embed: bool) -> str:
    index: EntryIndex = env["index"]
    document: SourceDocument = env["document"]
    rel = document.file.rel
    found = index.wiki(name, rel)
    shown = html.escape(label or name.replace("#", " § ").strip(" §"), quote=False)
    if found is None:
        env["links"].dead.append((rel, f"[[{name}]]"))
        return f'<span class="missing">{shown}</span>'
    env["links"].rewritten += 1
    url = html.escape(address(found.path, document.path, found.fragment))
    if embed and mimetype_of(found.path).startswith("image/"):
        size = f' width="{label}"' if label.isdigit() else ""
        text = html.escape("" if label.isdigit() else label)
        return f'<img src="{url}" alt="{text}"{size}>'
    return f'<a href="{url}">{shown}</a>'


def _image(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    """An image; one that lies in the network becomes a link to it."""
    token = tokens[index]
    source = str(token.attrs.get("src", ""))
    text = renderer.renderInlineAsText(token.children or [], options, env)
    if _SCHEME.match(source) and not source.lower().startswith("data:"):
        env["links"].external.append((env["document"].file.rel, source))
        shown = html.escape(text or source, quote=False)
        return f'<a class="external-image" href="{html.escape(source)}">{shown}</a>'
    title = token.attrs.get("title")
    extra = f' title="{html.escape(str(title))}"' if title else ""
    return f'<img src="{html.escape(source)}" alt="{html.escape(text)}"{extra}>'
