"""What of a page is not its text: navigation, hidden parts, marks of footnotes, controls.

Class names say little outside the software that they come from, so what a name does not settle is
settled by what the element holds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from infoforge.text import markup

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NEVER_TEXT = (
    "script,style,noscript,template,nav,select,datalist,iframe,object,svg,audio,video,canvas,"
    "dialog:not([open]),[hidden]:not([hidden=until-found]),[aria-hidden=true],[role=navigation],"
    "del,s,strike,"
    "sup.reference,.mw-ref,[role=doc-noteref],[epub\\:type~=noteref],"
    ".mw-editsection,.navbox,.vertical-navbox,.mw-references-wrap,.ambox,.hatnote,.mw-jump-link,"
    ".catlinks,.printfooter,.sistersitebox,.authority-control,.mw-empty-elt,.headerlink,"
    ".zim-footer,.external-link-warning,.mw-indicators,.navigation-not-searchable,.sr-only,"
    ".visually-hidden,.linenos,.mw-cite-backlink,"
    "#kiwixtoolbar"  # what kiwix-serve 3.3 puts above each page
)
_NOTES = ".reflist,ol.references"
_OF_WIKI = ".metadata,.noprint,.toc,#toc"
_UNSURE = ".sidebar,.metadata,.noprint,.toc,#toc,header,footer,form"
_WIKI = (
    "#mw-content-text,.mw-parser-output,body.mediawiki,[data-mw-section-id],.mw-headline,"
    "#mw-head,.mw-body,[typeof^='mw:'],[id^=cite_note],"
    "link[rel=canonical][href*='/wiki/'],meta[name=generator][content^=MediaWiki]"
)
_OWN = "meta[name=generator][content*=infoforge]"
"""What zimify marks the pages with that it makes of somebody's documents."""
_WIKI_WORDS = ("mw-", "mediawiki", "MediaWiki", "mw:", "/wiki/", "cite_note")
_LOOKS = 10
"""How often the text of a page may be looked through for what surrounds it."""
_TITLES = ("h1", "h2", "h3", "h4", "h5", "h6", "summary")
_HEADINGS = "h1,h2,h3,h4,h5,h6"
_INSIDE = {"header": ("article", "section", "main"), "footer": ("article", "blockquote", "figure")}

_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0+(?:\.0+)?(?:[a-z%]+)?\s*(?:;|!|$)",
    re.IGNORECASE,
)
_NOTE = (
    r"(?:\d{1,4}|[a-zα-ω]{1,2}|[ivxlc]{1,6}|[*†‡§¶‖]{1,4}"
    r"|(?:note|nb|n|fn|anm|nota|прим)\.? ?\d{1,3})"
)
_MARK = re.compile(rf"[\[(]?\s*{_NOTE}(?:\s*[,;–-]\s*{_NOTE})*\s*[\])]?", re.IGNORECASE)
_BRACKETED = re.compile(r"(?:\[[\w\s.,:?;'’\"–/-]{1,80}\]\s*)+")
_TO_NOTE = re.compile(
    r"#[_:.]{0,2}(?:user-content-)?(?:cite|fn|ftn|edn|foot|fuss|note|nota|ref|endnote|sdfootnote|sdendnote|bib)",
    re.IGNORECASE,
)
_ARROWS = frozenset(("#", "¶", "§", "🔗", "↩", "↩︎", "↩\ufe0e", "↑", "^", "⇑", "⏎", "↵"))


def is_own(tree: LexborHTMLParser, html: str) -> bool:
    """Whether zimify made a page."""
    return "infoforge" in html and tree.css_first(_OWN) is not None


def is_wiki(tree: LexborHTMLParser, html: str) -> bool:
    """Whether MediaWiki made a page."""
    return any(word in html for word in _WIKI_WORDS) and tree.css_first(_WIKI) is not None


def remove(body: LexborNode, html: str, *, wiki: bool, own: bool) -> None:
    """Remove what is not text.

    Args:
        body: The page's body; changed in place.
        html: The page's markup, to see fast what it can't hold.
        wiki: A page of MediaWiki.
        own: A page that zimify made, whose lists of sources are content.
    """
    selector = _NEVER_TEXT
    if not own:
        selector += "," + _NOTES
    if wiki:
        selector += "," + _OF_WIKI
    if "frac" in html:
        _fractions(body)
    for node in body.css(selector):
        node.decompose()
    if "style" in html or "STYLE" in html or "Style" in html:
        for node in body.css("[style]"):
            style = node.attributes.get("style") or ""
            if len(style) > 5 and _HIDDEN_STYLE.search(style):
                node.decompose()
    if markup.has(html, "button"):
        _buttons(body)
    unsure = body.css(_UNSURE)
    whole = _length(body.text()) if unsure else 0
    looked = 0
    for node in unsure:
        # Elements inside each other are looked through again and again.
        looked += len(node.text())
        if looked < _LOOKS * (whole + 1000) and _is_furniture(node, whole):
            node.decompose()
    _footnotes(body, html)


def _fractions(body: LexborNode) -> None:
    """3 1/2 has a hidden plus or slash between its parts, without which it would be 312."""
    for node in body.css(".frac .sr-only,.sfrac .sr-only,.frac .visualhide,.sfrac .visualhide"):
        text = node.text().strip()
        node.replace_with(" " if text in ("+", "") else text)


def _buttons(body: LexborNode) -> None:
    for node in body.css("button"):
        parent = node.parent
        if parent is not None and parent.tag in _TITLES:
            node.unwrap()
        else:
            node.decompose()


def _length(text: str) -> int:
    return len("".join(text.split()))


def _mostly_links(node: LexborNode) -> bool:
    whole = _length(node.text())
    return 2 * sum(_length(link.text()) for link in node.css("a")) >= whole


def _is_furniture(node: LexborNode, whole: int) -> bool:
    """Whether an element surrounds the text, by what it holds and where it stands."""
    text = _length(node.text())
    if not text or node.css_first("main,article") is not None:
        return not text
    if node.tag == "form":
        return _is_dialog(node, text, whole)
    links = _mostly_links(node)
    if node.tag not in ("header", "footer"):
        return links
    inside = _stands_in(node, _INSIDE[node.tag])
    if node.tag == "footer":
        return links or not inside
    heading = node.css_first(_HEADINGS) is not None
    return (links and not (inside and heading)) or (not inside and not heading and text < 60)


def _is_dialog(form: LexborNode, text: int, whole: int) -> bool:
    """A form is content when a page, or paragraphs of it, stand in it: no search, no login."""
    if form.css_first("h1,h2,h3,pre") is not None:
        return False
    if form.attributes.get("role") == "search":
        return True
    if _mostly_links(form):
        return True
    return not (
        text >= 160
        or 2 * text >= whole
        or any(_length(p.text()) >= 60 for p in form.css("p,td,li"))
    )


def _stands_in(node: LexborNode, tags: tuple[str, ...]) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.tag in tags:
            return True
        parent = parent.parent
    return False


def _footnotes(body: LexborNode, html: str) -> None:
    for node in body.css("sup") if markup.has(html, "sup") else ():
        text = " ".join(node.text().split())
        link = node.css_first("a[href]")
        if link is None and node.parent is not None and node.parent.tag == "a":
            link = node.parent
        href = (link.attributes.get("href") or "") if link is not None else ""
        if _BRACKETED.fullmatch(text) or _is_note(text, href, raised=True):
            (link if link is node.parent and link is not None else node).decompose()
    for node in body.css("a[href*='#']") if "#" in html else ():
        text = " ".join(node.text().split())
        if len(text) > 24:
            continue
        href = node.attributes.get("href") or ""
        if text in _ARROWS:
            node.decompose()
        elif _is_note(text, href, raised=False):
            _unlink(node, text)


def _is_note(text: str, href: str, *, raised: bool) -> bool:
    if len(text) > 24 or not _MARK.fullmatch(text):
        return False
    return bool(_TO_NOTE.search(href)) or (raised and href.startswith("#"))


def _unlink(node: LexborNode, text: str) -> None:
    """Remove a mark that is not raised: in brackets, or glued to the word before it."""
    before, after = node.prev, node.next
    front = (before.text_content or "") if before is not None and before.tag == "-text" else ""
    back = (after.text_content or "") if after is not None and after.tag == "-text" else ""
    if front.endswith("[") and back.startswith("]") and before is not None and after is not None:
        before.replace_with(front[:-1])
        after.replace_with(back[1:])
        node.decompose()
    elif text[0] in "[(" or (front and not front[-1].isspace() and front[-1] not in "([–-/"):
        node.decompose()
