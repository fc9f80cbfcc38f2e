"""The links of a page: rewritten to lead to entries, or taken out and reported.

The markup is not parsed and written again: bytes that need no change stay as they are, and a
broken page stays exactly as broken as it was.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from infoforge.zimify.entries import Target, address
from infoforge.zimify.records import LinkCount

Resolve = Callable[[str], Target | None]

_SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE = re.compile(
    r"""(?<=[\s"'])(href|src|srcset|poster|background|xlink:href|data)\s*=\s*(?!["']?\#)"""
    r"""(?:"([^"]*)"|'([^']*)'|([^\s"'<>=`]+))""",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"""=\s*(?:"[^"]*"|'[^']*')""")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BASE = re.compile(r"<base\b[^>]*?\s(href\s*=\s*[\"']?([^\"'\s>]*)[\"']?)", re.IGNORECASE)
_SAFE_SCHEMES = ("javascript:", "mailto:", "tel:", "geo:", "data:")
"""Schemes without ``//`` that readers of ZIM files know to lead out of the file."""
_LOADED = ("src", "srcset", "poster", "background", "data")
"""Attributes whose target is loaded with the page: over the network, where it lies outside."""


def rewrite(  # noqa: PLR0912 - what may become of a link
    page: str, path: str, rel: str, resolve: Resolve, count: LinkCount, *, exact: bool = True
) -> str:
    """Rewrite the links of a page.

    Args:
        page: The HTML.
        path: The entry that the page becomes.
        rel: The file it comes from, as named in reports.
        resolve: Where a relative URL leads, or ``None``.
        count: Counts are added here.
        exact: The page keeps the path that its links were written for, so that a link to an entry
            of the very name needs no change.

    Returns:
        The HTML; the same object when nothing had to change.
    """
    scripts = [match.span(1) for match in _SCRIPT.finditer(page)] if "<script" in page else []
    prefix, base = _base(page)
    # Most links of a page lead to few places: those found to be right are not looked up again.
    right: set[str] = set()
    pieces: list[str] = []
    done = 0
    script = 0
    for match in _ATTRIBUTE.finditer(page):
        start = match.start()
        while script < len(scripts) and scripts[script][1] <= start:
            script += 1
        if script < len(scripts) and scripts[script][0] <= start:
            continue
        name = match.group(1).lower()
        raw = match.group(2) or match.group(3) or match.group(4) or ""
        if name == "data" and not page.rfind("<object", max(0, start - 300), start) >= 0:
            continue
        bare = raw.partition("#")[0]
        if not _in_tag(page, start):
            if match.group(4) is None:
                # Code that shows HTML: zimcheck takes it for a link unless its quotes are escaped.
                shown = match.group().replace('"', "&quot;").replace("'", "&#x27;")
                pieces += (page[done:start], shown)
                done = match.end()
            continue
        if bare in right and name != "srcset":
            continue
        if start == base:
            pieces += (page[done:start], "data-base-")
            done = start
            continue
        new = _srcset(raw, path, rel, resolve, count) if name == "srcset" else None
        if new is None:
            new = _link(
                name,
                raw,
                path=path,
                rel=rel,
                resolve=resolve,
                count=count,
                prefix=prefix,
                exact=exact,
            )
        if new is None:
            if bare and not name.startswith("s"):
                right.add(bare)
            continue
        pieces += (page[done:start], new if new.startswith("data-") else f'{name}="{new}"')
        if new.startswith("data-"):
            pieces.append(f'="{html.escape(html.unescape(raw))}"')
        done = match.end()
    if not pieces:
        return page
    pieces.append(page[done:])
    return "".join(pieces)


def _in_tag(page: str, place: int) -> bool:
    """Whether a place is inside a tag: code that shows HTML has attributes, too."""
    opened = page.rfind("<", 0, place)
    if opened < 0:
        return False
    if page.rfind(">", opened, place) < 0:
        return True
    # A value may hold the sign that ends a tag.
    return ">" not in _QUOTED.sub("", page[opened:place])


def _link(
    name: str,
    raw: str,
    *,
    path: str,
    rel: str,
    resolve: Resolve,
    count: LinkCount,
    prefix: str,
    exact: bool,
) -> str | None:
    """The new value of an attribute, its new name (``data-…``), or ``None`` to leave it."""
    url = html.unescape(raw).strip()
    if url.startswith("#"):
        return None
    if url.startswith("//"):
        url = "https:" + url
    if _SCHEME.match(url) and not (url.startswith("file://") and resolve(url)):
        return _outside(name, url, raw, rel, count)
    if not url:
        # An empty link leads to the page itself; readers of ZIM files stumble over it.
        return "#" if name == "href" else "data-empty-" + name
    target = resolve(prefix + url if prefix and not url.startswith("/") else url)
    if target is None:
        count.dead.append((rel, url))
        return "data-dead-" + name
    new = address(target.path, path, target.fragment)
    if exact and not prefix and _same(raw, new):
        return None
    if new != raw:
        count.rewritten += 1
    return html.escape(new)


def _same(raw: str, new: str) -> bool:
    """Whether the link as written leads to the same entry as the one we would write."""
    if raw == new:
        return True
    if raw.startswith("/") or "?" in raw or "&" in raw or "./" in raw:
        return False
    from urllib.parse import quote, unquote

    mine, _, anchor = raw.partition("#")
    theirs, _, other = new.partition("#")
    return quote(unquote(mine), safe="/") == theirs and unquote(anchor) == unquote(other)


def _outside(name: str, url: str, raw: str, rel: str, count: LinkCount) -> str | None:
    lowered = url.lower()
    if lowered.startswith(_SAFE_SCHEMES):
        return None
    if lowered.startswith("file:"):
        count.dead.append((rel, url))
        return "data-dead-" + name
    if name in _LOADED:
        count.external.append((rel, url))
        return "data-external-" + name
    if "://" not in url:
        return "data-external-" + name
    return None if raw.strip() == url else html.escape(url)


def _srcset(raw: str, path: str, rel: str, resolve: Resolve, count: LinkCount) -> str | None:
    """A ``srcset`` with every candidate rewritten; candidates that are not there are dropped."""
    kept = []
    for candidate in html.unescape(raw).split(","):
        words = candidate.split()
        if not words:
            continue
        target = None if _SCHEME.match(words[0]) else resolve(words[0])
        if target is not None:
            kept.append(" ".join([address(target.path, path), *words[1:]]))
    if not kept:
        return "data-dead-srcset"
    new = html.escape(", ".join(kept))
    count.rewritten += new != raw
    return new


def _base(page: str) -> tuple[str, int]:
    """What ``<base href>`` puts before relative links, and where its attribute stands (or -1)."""
    if "<base" not in page[:20000].lower():
        return "", -1
    match = _BASE.search(page[:20000])
    if match is None:
        return "", -1
    value = match.group(2)
    if _SCHEME.match(value) or value.startswith("//") or "/" not in value:
        return "", match.start(1)
    return value.rpartition("/")[0] + "/", match.start(1)
