"""HTML of any scraper to sections of plain text.

What a reader sees as text becomes lines; tables become ``key: value`` lines, since dates and
figures live there; navigation, references, hidden text and scripts go.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from infoforge.records import Link, Section
from infoforge.text import disambiguation, furniture, markup, notation, tables

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_INLINE = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "dfn", "em", "font",
    "i", "ins", "kbd", "label", "mark", "q", "ruby", "rb", "rbc", "rtc", "samp", "small", "span",
    "strong", "sub", "sup", "time", "tt", "u", "var", "nobr", "blink", "output", "slot",
]  # fmt: skip
_EMPTY = ["wbr", "img", "link", "meta", "input"]
"""Elements without content that may stand inside a word."""
_BLOCKS_TEXT = """
address article aside blockquote body caption center dd details dialog dir div dl dt fieldset
figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing
main menu nav noframes ol optgroup option p plaintext pre search section summary table tbody td
textarea tfoot th thead tr ul xmp
"""
_BLOCKS = frozenset(_BLOCKS_TEXT.split())
"""Elements that begin a line; any other, known or not, is inline as in a browser."""
PDF_PAGE = "page="
"""How the anchors begin that zimify gives to the pages of a PDF, as viewers of PDF files do."""
_VERBATIM = frozenset(("pre", "listing", "xmp", "plaintext", "textarea"))
_DEEPEST = 200
"""Elements inside each other that are told apart."""
_BREAK = "\x1e"
"""A line break while a page is read: it is white space, and no page holds it."""
_PARAGRAPH = re.compile(r"\x1e\s*\x1e")
# Marks that are invisible, and ligatures of letters, would keep words from being found.
_ODD = re.compile("[\u00ad\u200b\u2060\ufeff\ufb00-\ufb06]")
_LETTERS = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
    "\ufb05": "st", "\ufb06": "st",
}  # fmt: skip
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

_SELF_CLOSED = re.compile(
    r"<(script|style|title|iframe|textarea|noscript)\b([^<>]*)/>", re.IGNORECASE
)
"""What XML closes and HTML does not."""
_READ_IMAGES = "img.tex,img[class*=math],img.latex,img.emoji,img.dropcap"
_FORMULA_CLASSES = ("mwe-math", "katex", "MathJax", "mathjax")
_ALONE = frozenset(("td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "dt"))
_FILE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HtmlText:
    """A parsed page: its title (may be empty), sections, and links if it disambiguates."""

    title: str
    sections: tuple[Section, ...]
    links: tuple[Link, ...]
    disambiguation: bool
    language: str


def parse(html: str, path: str = "", title: str = "") -> HtmlText:
    """Turn a page into sections of text.

    Args:
        html: The page, decoded; broken HTML is repaired as a browser would.
        path: The entry's path, to resolve relative links.
        title: The entry's title where the corpus knows it.

    Returns:
        The document; a page without text has no sections.
    """
    from selectolax.lexbor import LexborHTMLParser

    markup.check(html)
    if html.startswith("<?xml"):
        html = _SELF_CLOSED.sub(r"<\1\2></\1>", html)
    tree = LexborHTMLParser(html)
    title = title or _title(tree)
    root = tree.css_first("html")
    language = (root.attributes.get("lang") or "") if root is not None else ""
    body = tree.body
    if body is None:
        return HtmlText(title, (), (), False, language)
    own = furniture.is_own(tree, html)
    wiki = not own and furniture.is_wiki(tree, html)
    _formulas(body, html)
    furniture.remove(body, html, wiki=wiki, own=own)
    marked = body.css_first(disambiguation.MARKERS) is not None
    root = _content(body)
    lead = _first_line(root)
    is_disambiguation = marked or disambiguation.looks_like(title, lead)
    links = _links(root, path) if is_disambiguation else ()
    _plain(root, html)
    root.strip_tags(_EMPTY)
    root.unwrap_tags(_INLINE)
    root.merge_text_nodes()
    sections = _Walker(title, wiki=wiki).walk(root)
    return HtmlText(title, sections, links, is_disambiguation, language)


def _content(body: LexborNode) -> LexborNode:
    """The element that holds the page's text."""
    if (wiki := body.css_first("#mw-content-text")) is not None:
        return wiki
    found = body.css_first("main") or body.css_first("[role=main]")
    if found is None or 3 * len(found.text()) < len(body.text()):
        return body  # a page may mark as its main part what is not most of it
    return found


def _title(tree: LexborHTMLParser) -> str:
    for selector in ("h1", "title"):
        node = tree.css_first(selector)
        if node is not None and (text := _clean(node.text())):
            return text
    return ""


def _clean(text: str) -> str:
    return " ".join(text.split())


def _formulas(body: LexborNode, html: str) -> None:
    """A formula is what its author wrote, once; its other renderings go."""
    if "math/tex" in html:
        for node in body.css("script[type^='math/tex']"):
            node.replace_with(notation.tex(node.text()))
        for node in body.css(".MathJax_Preview,.MathJax,.MathJax_Display,.MathJax_SVG"):
            node.decompose()
    if markup.has(html, "math"):
        for node in body.css("math"):
            rendered = _rendering(node)
            rendered.replace_with(notation.formula(node))
    if markup.has(html, "img"):
        for node in body.css(_READ_IMAGES):
            node.replace_with(notation.tex(node.attributes.get("alt") or ""))


def _rendering(node: LexborNode) -> LexborNode:
    """The outermost element that shows nothing but this formula."""
    outer = node
    parent = node.parent
    while parent is not None and parent.tag in ("span", "mjx-container", "mjx-assistive-mml"):
        kind = parent.attributes.get("class") or ""
        if parent.tag == "mjx-container" or any(word in kind for word in _FORMULA_CLASSES):
            outer = parent
        parent = parent.parent
    return outer


def _plain(root: LexborNode, html: str) -> None:
    """Say in characters what elements say: line breaks, raised and lowered text, quotes, images."""
    for node in root.css("br") if markup.has(html, "br") else ():
        node.replace_with(_BREAK)
    if markup.has(html, "ruby"):
        _ruby(root)
    if markup.has(html, "q"):
        for node in root.css("q"):
            node.insert_before("“")
            node.insert_after("”")
    if markup.has(html, "img"):
        _images(root)
    if not (markup.has(html, "sup") or markup.has(html, "sub")):
        return
    for node in reversed(root.css("sup,sub")):
        text = _clean(node.text())
        before = _before(node)
        if node.tag == "sub":
            node.replace_with(_over(node, text) or notation.lowered(text, before))
        elif _over(node, text):
            node.replace_with(f" {text}" if before[-1:].isdigit() else text)
        else:
            node.replace_with(notation.raised(text, before))


def _over(node: LexborNode, text: str) -> str:
    """The text of a numerator or denominator: a raised and a lowered number about a slash."""
    slash = node.next if node.tag == "sup" else node.prev
    if slash is None or slash.tag != "-text" or not text.isdecimal():
        return ""
    if (slash.text_content or "").strip() not in ("⁄", "/"):
        return ""
    other = slash.next if node.tag == "sup" else slash.prev
    is_other = other is not None and other.tag in ("sub", "sup", "-text")
    return text if is_other else ""


def _before(node: LexborNode) -> str:
    """The end of the text that stands directly in front of an element, in the same line."""
    current = node
    for _ in range(8):
        before = current.prev
        while before is not None:
            if before.tag in _BLOCKS:
                return ""
            text = before.text_content if before.tag == "-text" else before.text()
            if text:
                return text[-24:]
            before = before.prev
        parent = current.parent
        if parent is None or parent.tag in _BLOCKS:
            return ""
        current = parent
    return ""


def _ruby(root: LexborNode) -> None:
    """The reading of a word stands in brackets behind it; of single characters it goes."""
    for node in root.css("ruby"):
        readings = [_clean(mark.text()) for mark in node.css("rt")]
        for mark in node.css("rt,rp"):
            mark.decompose()
        base = "".join(node.text().split()) if node.text().isascii() is False else node.text()
        reading = "".join(readings)
        single = len(base.strip()) <= max(1, len(readings))
        node.replace_with(base if single or not reading else f"{base}({reading})")


def _images(root: LexborNode) -> None:
    """The alternative text of an image that stands where a letter, a word or a tick would."""
    for node in root.css("img[alt]"):
        alt = _clean(node.attributes.get("alt") or "")
        parent = node.parent
        if not alt or parent is None or len(alt) > 40 or _FILE.search(alt):
            continue
        holder = parent
        while holder.tag not in _BLOCKS and holder.parent is not None:
            holder = holder.parent
        alone = holder.tag in _ALONE and not holder.text().strip()
        if len(alt) <= 2 or alone:
            node.replace_with(alt)


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

    def __init__(self, title: str, *, wiki: bool) -> None:
        self._title = title
        self._wiki = wiki
        self._path: list[tuple[int, str]] = []
        self._skip_level = 0
        self._lines: list[str] = []
        self._facts: list[str] = []
        self._sections: list[Section] = []
        self._buffer: list[str] = []
        self._anchor = ""
        self._label = ""
        self._numbers: list[_Numbers | None] = []

    def walk(self, root: LexborNode) -> tuple[Section, ...]:
        """Sections in the order of the page; an infobox follows the lead that it stands beside."""
        self._visit(root, 0)
        self._flush()
        self._close()
        return tuple(self._sections)

    def _close(self) -> None:
        heading = " > ".join(text for _, text in self._path)
        for lines in (self._lines, self._facts):
            while lines and not lines[-1].strip():
                lines.pop()
            if lines:
                self._sections.append(Section(heading, visible("\n".join(lines)), self._anchor))
        self._lines, self._facts = [], []

    def _flush(self) -> None:
        if not self._buffer:
            return
        raw = "".join(self._buffer)
        self._buffer = []
        self._label = ""
        if self._skip_level:
            return
        for part in _PARAGRAPH.split(raw) if _BREAK in raw else (raw,):
            line = " ".join(part.split())
            if line:
                self._lines.append(line)

    def _visit(self, node: LexborNode, depth: int) -> None:
        child = node.child
        while child is not None:
            tag = child.tag
            if tag == "-text":
                text = child.text_content or ""
                # White space behind a label does not part it from what it labels.
                if not self._label or not text.isspace():
                    self._buffer.append(text)
                    self._label = ""
            elif depth > _DEEPEST:
                self._buffer.append(child.text())
            elif tag in _BLOCKS:
                self._block(tag, child, depth)
            elif tag and tag[0].isalpha():
                self._visit(child, depth + 1)
            child = child.next

    def _block(  # noqa: PLR0912 - one branch a kind of element
        self, tag: str, node: LexborNode, depth: int
    ) -> None:
        if tag in _HEADINGS:
            self._heading(_HEADINGS[tag], _clean(node.text()))
        elif tag == "h1":
            self._flush()
            if (self._lines or self._path) and (text := _clean(node.text())) != self._title:
                self._heading(1, text)
        elif tag == "section" and (node.id or "").startswith(PDF_PAGE):
            self._flush()
            self._close()
            self._anchor = node.id or ""
            self._visit(node, depth + 1)
            self._flush()
        elif tag == "table":
            self._flush()
            self._table(node, depth)
        elif tag in _VERBATIM:
            self._flush()
            if not self._skip_level:
                self._lines += _verbatim(node.text())
        elif tag == "dt":
            self._term(node, depth)
        elif tag == "dd":
            self._visit(node, depth + 1)
            self._flush()
        elif tag in ("ol", "ul", "menu", "dir"):
            self._flush()
            self._numbers.append(_Numbers.of(node) if tag == "ol" else None)
            self._visit(node, depth + 1)
            self._flush()
            self._numbers.pop()
        else:
            if not self._label:
                self._flush()
            if tag == "li" and self._numbers and (numbers := self._numbers[-1]) is not None:
                self._flush()
                self._mark(numbers.next(node))
            self._visit(node, depth + 1)
            self._flush()

    def _mark(self, label: str) -> None:
        """A label: what follows goes on in its line, whatever element that stands in."""
        self._buffer.append(label)
        self._label = label

    def _term(self, node: LexborNode, depth: int) -> None:
        if self._label == ": ":
            self._buffer[-1] = ", "
            self._label = ""
        else:
            self._flush()
        self._visit(node, depth + 1)
        if self._buffer:
            self._mark(": ")

    def _heading(self, level: int, text: str) -> None:
        self._flush()
        self._close()
        if self._skip_level and level > self._skip_level:
            return
        text = visible(text)
        self._skip_level = level if self._wiki and _folded(text) in _BOOKKEEPING else 0
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        if text:
            self._path.append((level, text))

    def _table(self, table: LexborNode, depth: int) -> None:
        if self._skip_level:
            return
        kind = table.attributes.get("class") or ""
        nodes = tables.row_nodes(table)
        caption = table.css_first("caption")
        if tables.is_layout(table, kind):
            for row, _ in nodes:
                for cell in tables.cell_nodes(row):
                    self._visit(cell, depth + 3)
                    self._flush()
            return
        beside_lead = "infobox" in kind or (not self._path and not self._lines)
        target = self._facts if beside_lead else self._lines
        if caption is not None and (text := _cell_text(caption)):
            target.append(text)
        inner: list[LexborNode] = []
        rows = tables.grid(nodes, lambda cell: _cell_text(cell, inner))
        target += tables.lines(rows)
        for nested in inner if depth < _DEEPEST else ():
            self._table(nested, depth + 4)


@dataclass(slots=True)
class _Numbers:
    """The numbers of an ordered list."""

    value: int
    step: int
    kind: str

    @classmethod
    def of(cls, node: LexborNode) -> _Numbers:
        attributes = node.attributes
        backwards = "reversed" in attributes
        first = sum(1 for item in node.css("li") if item.parent == node) if backwards else 1
        start = _integer(attributes.get("start"), first)
        return cls(start, -1 if backwards else 1, attributes.get("type") or "1")

    def next(self, item: LexborNode) -> str:
        number = _integer(item.attributes.get("value"), self.value)
        self.value = number + self.step
        if self.kind in ("a", "A") and 0 < number <= 26:
            return f"{chr(ord(self.kind) + number - 1)}. "
        if self.kind in ("i", "I") and 0 < number < 100:
            roman = _ROMAN_TENS[number // 10] + _ROMAN_ONES[number % 10]
            return f"{roman.lower() if self.kind == 'i' else roman}. "
        return f"{number}. "


_ROMAN_ONES = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
_ROMAN_TENS = ("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC")


def _integer(value: str | None, default: int) -> int:
    return int(value) if re.fullmatch(r"-?[0-9]{1,6}", value or "") and value else default


def _verbatim(text: str) -> list[str]:
    """The lines of preformatted text, blank ones at its ends left out."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace(_BREAK, "\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    return lines


def _cell_text(cell: LexborNode, inner: list[LexborNode] | None = None) -> str:
    parts: list[str] = []
    _gather(cell, parts, inner, 0)
    return _clean("".join(parts))


def _gather(node: LexborNode, parts: list[str], inner: list[LexborNode] | None, depth: int) -> None:
    """Text of a cell in one line; tables in it are kept for later."""
    child = node.child
    items = 0
    while child is not None:
        tag = child.tag
        if tag == "-text":
            parts.append(child.text_content or "")
        elif tag == "table" and inner is not None:
            inner.append(child)
        elif depth > _DEEPEST:
            parts.append(child.text())
        elif tag in _BLOCKS:
            parts.append(", " if tag == "li" and items else " ")
            items += tag == "li"
            _gather(child, parts, inner, depth + 1)
            if tag != "li":
                parts.append(" ")
        elif tag and tag[0].isalpha():
            _gather(child, parts, inner, depth + 1)
        child = child.next


def visible(text: str) -> str:
    """Text without invisible marks and with ligatures as letters, so that words are found."""
    if text.isascii():
        return text
    return _ODD.sub(lambda match: _LETTERS.get(match.group(), ""), text)


def _folded(text: str) -> str:
    from infoforge.text.words import fold

    return fold(text).strip(" :")
