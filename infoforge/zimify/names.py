"""Names: kinds of files, media types, anchors, addresses."""

from __future__ import annotations

import mimetypes
import posixpath
import re
import unicodedata
from urllib.parse import quote

KINDS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdown": "markdown",
    ".mkd": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".txt": "text",
    ".text": "text",
    ".csv": "csv",
    ".tsv": "csv",
    ".pdf": "pdf",
    ".docx": "docx",
    ".epub": "epub",
}
KEPT_AS_FILE = frozenset({"_sources", "_static", "_images", "_downloads"})
"""Folders that Sphinx writes beside its pages: what lies in them belongs to pages, is none."""

# The system's own tables differ from machine to machine; the same folder must give the same ZIM.
_TYPES = mimetypes.MimeTypes(filenames=())
for _ending, _type in {
    ".epub": "application/epub+zip",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".md": "text/markdown",
    ".mkv": "video/x-matroska",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".ttf": "font/ttf",
    ".otf": "font/otf",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".yaml": "text/yaml",
    ".yml": "text/yaml",
    ".log": "text/plain",
    ".rst": "text/plain",
}.items():
    _TYPES.add_type(_type, _ending)

_PACKED = ("image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "video/", "audio/")
_PACKED_ENDINGS = (".zip", ".gz", ".xz", ".zst", ".bz2", ".7z", ".pdf", ".docx", ".epub", ".woff2")


def kind_of(rel: str) -> str:
    """The kind of reader a file needs, by its name; ``file`` when it is kept as it is."""
    parts = rel.split("/")
    if any(part in KEPT_AS_FILE for part in parts[:-1]):
        return "file"
    return KINDS.get(posixpath.splitext(parts[-1])[1].lower(), "file")


def mimetype_of(path: str) -> str:
    """The media type of an attachment, by its name."""
    kind, encoding = _TYPES.guess_type("/" + posixpath.basename(path), strict=False)
    if encoding or not kind:
        return "application/octet-stream"
    # A page that is kept as a file must not be taken for an article by libzim.
    return kind


def compressible(path: str, mimetype: str) -> bool:
    """Whether compressing the entry again is worth the time."""
    return not mimetype.startswith(_PACKED) and not path.lower().endswith(_PACKED_ENDINGS)


def address(path: str, start: str = "", fragment: str = "") -> str:
    """A relative URL from the entry ``start`` to the entry ``path``, percent-encoded.

    Every character with a meaning in URLs is encoded, the colon too: ``Talk:x`` is no scheme.
    """
    folder = posixpath.dirname(start)
    own = folder.split("/") if folder else []
    parts = path.split("/")
    common = 0
    while common < len(own) and common < len(parts) - 1 and own[common] == parts[common]:
        common += 1
    steps = [".."] * (len(own) - common) + [quote(part, safe="") for part in parts[common:]]
    return "/".join(steps) + ("#" + quote(fragment, safe="-._~!$'()*,;:@/?") if fragment else "")


def fold(text: str) -> str:
    """A name as it is compared: composed, case folded, runs of blanks as one."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def stem(path: str) -> str:
    """A path without its last ending (``a/b.tar.gz`` -> ``a/b.tar``)."""
    return posixpath.splitext(path)[0]


_NOT_IN_ANCHOR = re.compile(r"[^\w\- ]", re.UNICODE)


def anchor(heading: str) -> str:
    """The anchor of a heading, as the common git forges make it."""
    return _NOT_IN_ANCHOR.sub("", heading.strip().lower()).replace(" ", "-")


def clip(text: str, limit: int) -> str:
    """Text of at most ``limit`` characters, cut at a word where possible, with an ellipsis."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    if " " in cut[limit // 2 :]:
        cut = cut[: cut.rindex(" ")]
    return cut.rstrip(" ,;:.-") + "…"


def clip_bytes(text: str, limit: int) -> str:
    """Text of at most ``limit`` bytes of UTF-8, with an ellipsis where it was cut."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return raw.decode("utf-8")
    return raw[: limit - 3].decode("utf-8", "ignore").rstrip() + "…"


def title_from_name(rel: str) -> str:
    """A title when the document has none: the file's name, or its folder's for an index file."""
    base = stem(posixpath.basename(rel))
    if base.lower() in INDEX_STEMS and "/" in rel:
        base = posixpath.basename(posixpath.dirname(rel))
    spaced = base.replace("_", " ").strip()
    return spaced or base or rel


INDEX_STEMS = ("index", "_index", "readme", "default")
"""Stems of the files that stand for their folder, the strongest first."""
