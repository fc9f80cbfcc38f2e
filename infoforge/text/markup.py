"""Bounds on markup, checked before a parser sees it.

An HTML parser walks its stack of open elements at many tags and compares the attributes of a tag
with each other, so deep nesting and thousands of attributes cost time with the square of their
number. Unclosed formatting elements are opened again in each paragraph, which multiplies them.
"""

from __future__ import annotations

import re

DEPTH = 256
"""Elements inside each other; pages that people made have fewer than 100."""
ELEMENTS = 150_000
ATTRIBUTES = 128
"""Attributes of one element."""

_PIECE = 4096
"""Characters in which tags are counted at once."""
_FEW = 2_000
"""Tags of a page that is not looked at more closely where nothing is nested deeply."""
_VOID_TEXT = """
area base basefont bgsound br col embed frame hr img input keygen link meta param source track
wbr
"""
_VOID = frozenset(_VOID_TEXT.split())
_FORMATTING_TEXT = """
a b big code em font i nobr s small strike strong tt u
"""
_FORMATTING = frozenset(_FORMATTING_TEXT.split())
"""Elements that a parser opens again when a block ends before they do."""
_ONCE = ("a", "nobr")
_BLOCKS_TEXT = """
address article aside blockquote body caption center dd details dialog dir div dl dt fieldset
figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html li listing main menu nav
ol p plaintext pre search section summary table tbody td template tfoot th thead tr ul xmp
button object marquee applet select svg math
"""
_BLOCKS = frozenset(_BLOCKS_TEXT.split())
_CLOSES = {
    "li": ("li",), "dt": ("dt", "dd"), "dd": ("dt", "dd"), "td": ("td", "th"), "th": ("td", "th"),
    "tr": ("tr",), "tbody": ("tbody", "thead", "tfoot"), "thead": ("tbody", "thead", "tfoot"),
    "tfoot": ("tbody", "thead", "tfoot"), "option": ("option",), "rt": ("rt", "rp", "rb"),
    "rp": ("rt", "rp", "rb"), "rb": ("rt", "rp", "rb"), "optgroup": ("optgroup",),
}  # fmt: skip
"""Elements that a start tag closes, next to ``p``, which each block closes."""
_TRANSPARENT = frozenset(("p", "li", "dt", "dd", "td", "th", "tr", "option", "rt", "rp", "rb"))
_LONG_TAG = re.compile(r"<[a-zA-Z][^>]{512}")
_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<raw>script|style|textarea|title|xmp|iframe|noembed|noframes)\b[^>]*+>?"
    r".*?(?:</(?P=raw)|\Z)"
    r"|<(?P<close>/?)(?P<name>[a-zA-Z][^\s/>]*+)"
    r"""(?P<rest>(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)(?:>|\Z)""",
    re.IGNORECASE | re.DOTALL,
)
_RAW = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|textarea|title|xmp|iframe|noembed|noframes)\b.*?(?:</\1|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""Where no tag is one."""
_QUOTED_TAG = re.compile(r"""=\s*+(?:"[^"<]*+<|'[^'<]*+<)""")
_VALUE = re.compile(r"""=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)""")


class TooComplexError(ValueError):
    """A page whose markup takes too long to read."""


def has(html: str, tag: str) -> bool:
    """Whether a page may hold an element: a search in text is faster than one in a tree."""
    return f"<{tag}" in html or f"<{tag.upper()}" in html


def check(html: str) -> None:
    """Refuse markup that is nested too deeply, too long or made to keep a parser busy.

    Args:
        html: The page.

    Raises:
        TooComplexError: It says which bound is exceeded.
    """
    tags = html.count("<")
    if tags > 2 * ELEMENTS:
        raise TooComplexError(f"more than {ELEMENTS} elements")
    if (tags > DEPTH and not _shallow(html, tags)) or _LONG_TAG.search(html):
        _walk(html)


def _shallow(html: str, tags: int) -> bool:
    """Whether a count of the tags alone shows that the nesting is harmless."""
    html = _RAW.sub("", html)
    if _QUOTED_TAG.search(html):
        return False
    depth = most = 0
    for start in range(0, len(html), _PIECE):
        piece = html[start : start + _PIECE]
        closing = piece.count("</")
        opening = piece.count("<") - closing
        most = max(most, depth + opening)
        depth = max(0, depth + opening - closing)
        if most > DEPTH:
            return False
    return tags < _FEW or most * tags < 50 * ELEMENTS


def _walk(html: str) -> None:
    nesting = _Nesting()
    elements = 0
    for match in _TAG.finditer(html):
        name = (match["name"] or "").lower()
        if not name or name in _VOID:
            elements += 1
            continue
        if match["close"]:
            nesting.close(name)
            continue
        rest = match["rest"]
        if len(rest) > 2 * ATTRIBUTES:
            bare = _VALUE.sub("=", rest).replace("/", " ")
            if len(bare.split()) > ATTRIBUTES or bare.count("=") > ATTRIBUTES:
                raise TooComplexError(f"an element with more than {ATTRIBUTES} attributes")
        nesting.open(name, rest)
        elements += 1 if name in _FORMATTING else 1 + nesting.again
        if len(nesting.stack) + nesting.again > DEPTH:
            raise TooComplexError(f"elements nested more than {DEPTH} deep")
        if elements > ELEMENTS:
            raise TooComplexError(f"more than {ELEMENTS} elements")


class _Nesting:
    """The stack of open elements, about as a parser keeps it."""

    def __init__(self) -> None:
        self.stack: list[str] = []
        self.again = 0
        """Formatting elements that are opened again in each block."""
        self._unclosed: dict[str, list[str]] = {}
        # Of those with the same attributes a parser opens three again, no more.
        self._kept: dict[tuple[str, str], int] = {}

    def open(self, name: str, attributes: str) -> None:
        if name in _FORMATTING:
            if name in _ONCE and self._unclosed.get(name):
                self.close(name)
            self._unclosed.setdefault(name, []).append(attributes)
            count = self._kept[name, attributes] = self._kept.get((name, attributes), 0) + 1
            self.again += count <= 3
        elif name in _BLOCKS:
            self._pop(("p",))
        if name in _CLOSES:
            self._pop(_CLOSES[name])
        self.stack.append(name)

    def close(self, name: str) -> None:
        if name in _FORMATTING:
            if self._unclosed.get(name):
                key = name, self._unclosed[name].pop()
                self._kept[key] -= 1
                self.again -= self._kept[key] < 3
            for place in range(len(self.stack) - 1, -1, -1):
                if self.stack[place] == name:
                    del self.stack[place]
                    return
        elif name in self.stack:
            while self.stack.pop() != name:
                pass

    def _pop(self, names: tuple[str, ...]) -> None:
        """Close an element of these names, unless a block stands in between."""
        for place in range(len(self.stack) - 1, -1, -1):
            name = self.stack[place]
            if name in names:
                del self.stack[place:]
                return
            if name in _BLOCKS and name not in _TRANSPARENT:
                return
