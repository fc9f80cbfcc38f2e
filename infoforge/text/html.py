"""HTML of any scraper to sections of plain text.

What a reader sees as text becomes lines; tables become ``key: value`` lines, since dates and
figures live there; navigation, references, hidden text and scripts go.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING
from urllib.parse import unquote

from infoforge.records import Link, Section
from infoforge.text import disambiguation

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_DROP = (
    "script,style,noscript,template,nav,footer,header,form,button,select,iframe,object,svg,audio,"
    "video,canvas,[hidden],[aria-hidden=true],[role=navigation],sup.reference,.reference,"
    ".mw-editsection,.navbox,.vertical-navbox,.sidebar,.reflist,ol.references,.mw-references-wrap,"
    ".noprint,.metadata,.ambox,.hatnote,#toc,.toc,.mw-jump-link,.catlinks,.printfooter,"
    ".sistersitebox,.authority-control,.mw-empty-elt,.headerlink,.zim-footer,.external-link-warning,.mw-indicators,"
    ".navigation-not-searchable,.sr-only,.visually-hidden,"
    "#kiwixtoolbar"  # what kiwix-serve 3.3 puts above each page
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# Looking for these first is many times faster than the expression on a page that hides nothing.
_HIDING = ("display", "visibility", "DISPLAY", "VISIBILITY", "Display", "Visibility")
_INLINE = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "q", "ruby", "rb", "s", "samp", "small", "span",
    "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "center",
]  # fmt: skip
_EMPTY = ["wbr", "img", "link", "meta", "input"]
"""Elements without content that may stand inside a word."""
PDF_PAGE = "page="
"""How the anchors begin that zimify gives to the pages of a PDF, as viewers of PDF files do."""
_HEADINGS = {"h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
# Sections whose text is bookkeeping, by the folded heading, in the languages of the large wikis.
_BOOKKEEPING = {
    "references", "notes", "external links", "see also", "further reading", "bibliography",
    "footnotes", "citations", "sources", "notes and references", "works cited", "einzelnachweise",
    "weblinks", "siehe auch", "literatur", "anmerkungen", "references et notes",
    "notes et references", "liens externes", "voir aussi", "articles connexes",
    "bibliographie", "referencias", "notas", "enlaces externos", "vease tambien",
    "bibliografia", "note", "collegamenti esterni",
    "altri progetti", "voci correlate", "referencias e notas", "ligacoes externas", "ver tambem",
    "externe links", "zie ook", "bronnen, noten en/of referenties", "примечания", "ссылки",
    "литература", "см. также", "参考文献", "外部链接", "参见", "注释", "脚注", "外部リンク",
    "関連項目", "przypisy", "linki zewnetrzne",
}  # fmt: skip


_MOST_TAGS = 300_000
"""Tags of a page, closing ones counted; the longest lists of Wikipedia have a third of them."""
_DEEPEST = 200
"""Elements inside each other; a browser stops at 512, and a page that people read needs 30."""
_DEEPEST_UNREAD = 1000
"""The same by the tags alone: the parser's own time grows with the square of it."""
_FEW_TAGS = 4000
"""Tags that cannot be so deep that it matters to the parser."""
_NESTING = re.compile(
    r"<(/?)(?!(?:area|base|br|col|dd|dt|embed|hr|img|input|li|link|meta|option|p|param|source|td|th"
    r"|tr|track|wbr)\b)[a-z]",
    re.IGNORECASE,
)
_STEP = {"": 1, "/": -1}
_DEEP = "*>" * _DEEPEST + "*"


class TooComplex(ValueError):
    """A page nests deeper, or has more elements, than is read; one line says which."""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed page: its title (may be empty), sections, and links if it disambiguates."""

    title: str
    sections: tuple[Section, ...]
    links: tuple[Link, ...]
    disambiguation: bool
    language: str


def parse(html: str, path: str = "", title: str = "") -> Document:
    """Turn a page into sections of text.

    Args:
        html: The page, decoded; broken HTML is repaired as a browser would.
        path: The entry's path, to resolve relative links.
        title: The entry's title where the corpus knows it.

    Returns:
        The document; a page without text has no sections.

    Raises:
        TooComplex: Reading it would take too long.
    """
    from selectolax.lexbor import LexborHTMLParser

    _check_tags(html)
    tree = LexborHTMLParser(html)
    title = title or _title(tree)
    root = tree.css_first("html")
    language = (root.attributes.get("lang") or "") if root is not None else ""
    body = tree.body
    if body is None:
        return Document(title, (), (), False, language)
    if body.css_first(_DEEP) is not None:
        raise TooComplex(f"its elements nest deeper than {_DEEPEST}")
    for node in body.css(_DROP):
        node.decompose()
    if any(word in html for word in _HIDING):
        for node in body.css("[style]"):
            if _HIDDEN_STYLE.search(node.attributes.get("style") or ""):
                node.decompose()
    if "<math" in html:
        _formulas(body)
    marked = body.css_first(disambiguation.MARKERS) is not None
    root = (
        body.css_first("#mw-content-text")
        or body.css_first("main")
        or body.css_first("[role=main]")
        or body
    )
    lead = _first_line(root)
    is_disambiguation = marked or disambiguation.looks_like(title, lead)
    links = _links(root, path) if is_disambiguation else ()
    for line_break in root.css("br"):
        line_break.replace_with("\n")
    root.strip_tags(_EMPTY)
    root.unwrap_tags(_INLINE)
    root.merge_text_nodes()
    sections = _Walker(title).walk(root)
    return Document(title, sections, links, is_disambiguation, language)


def _check_tags(html: str) -> None:
    """Refuse what the parser itself would take minutes for.

    Raises:
        TooComplex: Too many tags, or nested too deep.
    """
    tags = html.count("<")
    if tags > _MOST_TAGS:
        raise TooComplex(f"{tags:,} tags are too many")
    if tags > _FEW_TAGS:
        depths = accumulate(map(_STEP.__getitem__, _NESTING.findall(html)))
        if max(depths, default=0) > _DEEPEST_UNREAD:
            raise TooComplex(f"its tags nest deeper than {_DEEPEST_UNREAD}")


def _title(tree: LexborHTMLParser) -> str:
    for selector in ("h1", "title"):
        node = tree.css_first(selector)
        if node is not None and (text := _clean(node.text())):
            return text
    return ""


def _clean(text: str) -> str:
    return " ".join(text.split())


def _formulas(body: LexborNode) -> None:
    """A formula is what its author wrote (TeX in alttext or annotation), not its pieces."""
    for node in body.css("math"):
        note = node.css_first("annotation")
        text = node.attributes.get("alttext") or (note.text() if note else "") or node.text()
        node.replace_with(_clean(text or "").removeprefix("{\\displaystyle ").removesuffix("}"))


def _first_line(root: LexborNode) -> str:
    node = root.css_first("p")
    return _clean(node.text())[:300] if node is not None else ""


def resolve(path: str, href: str) -> str:
    """The path inside the same ZIM that a link leads to; empty for links that leave it."""
    target = href.split("#", 1)[0].split("?", 1)[0]
    if not target or re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//", target):
        return ""
    target = unquote(target)
    if target.startswith("/"):
        return target.lstrip("/")
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return "" if joined in (".", "") else joined.lstrip("/").removeprefix("../")


def _links(root: LexborNode, path: str) -> tuple[Link, ...]:
    links: dict[str, Link] = {}
    for node in root.css("a[href]"):
        target = resolve(path, node.attributes.get("href") or "")
        if not target or target in links:
            continue
        parent = node.parent
        while parent is not None and parent.tag not in ("li", "p", "td", "dd", "div", "body"):
            parent = parent.parent
        context = _clean(parent.text())[:300] if parent is not None else ""
        links[target] = Link(target, _clean(node.text()), context)
    return tuple(links.values())


class _Walker:
    """One pass over a cleaned tree that gathers lines under their heading path."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._path: list[tuple[int, str]] = []
        self._skip_level = 0
        self._lines: list[str] = []
        self._facts: list[str] = []
        self._sections: list[Section] = []
        self._buffer: list[str] = []
        self._anchor = ""

    def walk(self, root: LexborNode) -> tuple[Section, ...]:
        """Sections in the order of the page; an infobox follows the lead that it stands beside."""
        self._visit(root)
        self._flush()
        self._close()
        return tuple(self._sections)

    def _close(self) -> None:
        heading = " > ".join(text for _, text in self._path)
        if self._lines:
            self._sections.append(Section(heading, "\n".join(self._lines), self._anchor))
        if self._facts:
            self._sections.append(Section(heading, "\n".join(self._facts), self._anchor))
        self._lines, self._facts = [], []

    def _flush(self) -> None:
        if not self._buffer:
            return
        raw = "".join(self._buffer)
        self._buffer = []
        if self._skip_level:
            return
        for part in raw.split("\n\n"):
            line = _clean(part)
            if line:
                self._lines.append(line)

    def _visit(self, node: LexborNode) -> None:  # noqa: PLR0912 - one branch a kind of element
        child = node.child
        while child is not None:
            tag = child.tag
            if tag == "-text":
                self._buffer.append(child.text_content or "")
            elif tag in _HEADINGS:
                self._heading(_HEADINGS[tag], _clean(child.text()))
            elif tag == "h1":
                self._flush()
                if self._lines and (text := _clean(child.text())) != self._title:
                    self._heading(1, text)
            elif tag == "section" and (child.id or "").startswith(PDF_PAGE):
                self._flush()
                self._close()
                self._anchor = child.id or ""
                self._visit(child)
                self._flush()
            elif tag == "table":
                self._flush()
                self._table(child)
            elif tag == "pre":
                self._flush()
                if not self._skip_level:
                    self._lines += [
                        line.rstrip() for line in (child.text() or "").splitlines() if line.strip()
                    ]
            elif tag in ("dt",):
                self._flush()
                self._visit(child)
                self._buffer.append(": ")
            elif tag == "dd":
                self._visit(child)
                self._flush()
            elif tag not in ("-comment", "#comment", "_comment"):
                if not (tag == "p" and node.tag == "dd"):
                    self._flush_unless_term()
                self._visit(child)
                self._flush()
            child = child.next

    def _flush_unless_term(self) -> None:
        if not (self._buffer and self._buffer[-1] == ": "):
            self._flush()

    def _heading(self, level: int, text: str) -> None:
        self._flush()
        self._close()
        if self._skip_level and level > self._skip_level:
            return
        self._skip_level = level if _folded(text) in _BOOKKEEPING else 0
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        if text:
            self._path.append((level, text))

    def _table(self, table: LexborNode) -> None:
        if self._skip_level:
            return
        rows = [row for row in _rows(table) if row]
        if not rows:
            return
        header = (
            rows[0] if len(rows) > 1 and len(rows[0]) > 1 and all(h for h, _ in rows[0]) else None
        )
        kind = table.attributes.get("class") or ""
        beside_lead = "infobox" in kind or (not self._path and not self._lines)
        target = self._facts if beside_lead else self._lines
        for row in rows[1:] if header else rows:
            line = _row_line(row, header)
            if line:
                target.append(line)


def _rows(table: LexborNode) -> list[list[tuple[bool, str]]]:
    rows: list[list[tuple[bool, str]]] = []
    for row in table.css("tr"):
        cells = []
        cell = row.child
        while cell is not None:
            if cell.tag in ("th", "td"):
                cells.append((cell.tag == "th", _clean(cell.text(separator=" "))))
            cell = cell.next
        if any(text for _, text in cells):
            rows.append(cells)
    return rows


def _row_line(row: list[tuple[bool, str]], header: list[tuple[bool, str]] | None) -> str:
    """One table row as ``key: value`` text."""
    if header is not None and len(row) == len(header):
        pairs = zip(header, row, strict=True)
        return "; ".join(f"{h[1]}: {c[1]}" if h[1] else c[1] for h, c in pairs if c[1])
    texts = [text for _, text in row if text]
    if len(texts) > 1 and (row[0][0] or len(texts) == 2):
        return f"{texts[0].rstrip(':')}: {'; '.join(texts[1:])}"
    return "; ".join(texts)


def _folded(text: str) -> str:
    from infoforge.text.words import fold

    return fold(text).strip(" :")
