"""The entries of the ZIM: their paths, titles and aliases, and where a link leads."""

from __future__ import annotations

import mimetypes
import posixpath
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote

from infoforge.zimify.records import DocumentHead, SourceDocument, SourceFile

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
    ".rst": "rst",
    ".ipynb": "notebook",
    ".xlsx": "spreadsheet",
    ".xlsm": "spreadsheet",
    ".rtf": "rtf",
    ".eml": "mail",
    ".mbox": "mail",
}
UNSUPPORTED = frozenset({
    ".abw", ".adoc", ".asciidoc", ".azw", ".azw3", ".chm", ".creole", ".djvu", ".doc", ".docm",
    ".dot", ".dvi", ".fb2", ".fodt", ".info", ".key", ".latex", ".lyx", ".man",
    ".me", ".mdx", ".mediawiki", ".mht", ".mhtml", ".mobi", ".ms", ".msg", ".numbers",
    ".odg", ".odp", ".ods", ".odt", ".one", ".org", ".pages", ".pod", ".ppt", ".pptx", ".ps",
    ".rdoc", ".sxw", ".tex", ".texi", ".texinfo", ".textile", ".wiki", ".wpd",
    ".wps", ".xls", ".xps", ".split",
})  # fmt: skip
"""Endings of documents that no reader here understands: they are kept as files, and named."""
_MAN_PAGE = re.compile(r"\.(?:[1-8][a-z]{0,5}|[1-8](?:pm|perl|ssl|posix))(?:\.gz)?$")
KEPT_AS_FILE = frozenset({"_sources", "_static", "_images", "_downloads"})
"""Folders that Sphinx writes next to its pages: what lies in them belongs to pages, is none."""

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


def unsupported(rel: str) -> str:
    """The format of a document that is only kept as a file; empty for all other files."""
    parts = rel.split("/")
    if any(part in KEPT_AS_FILE for part in parts[:-1]):
        return ""
    ending = posixpath.splitext(parts[-1])[1].lower()
    if ending in UNSUPPORTED:
        return ending
    in_man = any(re.fullmatch(r"man[1-9]?", part) for part in parts[:-1])
    return "man page" if in_man and _MAN_PAGE.search(parts[-1]) else ""


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


CONVERTED = frozenset(KINDS.values()) - {"html"}
ORIGINAL_KEPT = frozenset({"csv", "pdf", "docx", "epub", "notebook", "spreadsheet", "rtf", "mail"})
"""Kinds whose original stays in the ZIM under its own name, next to the page made of it."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a link leads: an entry of the ZIM, and the anchor on it."""

    path: str
    fragment: str = ""


class EntryIndex:
    """The names of a folder. Filled once, then only read (worker processes share it by fork).

    Args:
        files: The files, in order.
        heads: What the start of each says, in the same order.
        roots: Absolute paths of the folder: ``file://`` links into it lead to entries too.
    """

    def __init__(
        self, files: Iterable[SourceFile], heads: Iterable[DocumentHead], roots: Iterable[str] = ()
    ) -> None:
        self._roots = tuple(root.rstrip("/") + "/" for root in roots)
        self.documents: list[SourceDocument] = []
        self.by_rel: dict[str, SourceDocument] = {}
        self.entries: set[str] = set()
        self.folders: set[str] = {""}
        """Folders with a document in or below them; each gets a listing."""
        self._folded: dict[str, SourceDocument] = {}
        self._names: dict[str, SourceDocument | list[SourceDocument]] = {}
        pairs = list(zip(files, heads, strict=True))
        # Names that are kept come first, so that a page made of a document gives way to them.
        kept = {file.rel for file, _ in pairs if file.kind not in CONVERTED}
        kept |= {file.rel for file, _ in pairs if file.kind in ORIGINAL_KEPT}
        self.entries |= kept
        for file, head in pairs:
            path = file.rel if file.kind not in CONVERTED else self._free(stem(file.rel), file.rel)
            self.entries.add(path)
            title = head.title or title_from_name(file.rel)
            document = SourceDocument(file, head, path, title)
            self.documents.append(document)
            self.by_rel[file.rel] = document
            self._remember(document)
            folder = posixpath.dirname(file.rel) if file.kind != "file" else ""
            while folder and folder not in self.folders:
                self.folders.add(folder)
                folder = posixpath.dirname(folder)

    def _free(self, wanted: str, rel: str) -> str:
        """The path of a page: the file's name without its ending, or with it when that is taken."""
        for path in (wanted, rel if rel not in self.entries else rel + ".html"):
            if path not in self.entries:
                return path
        number = 2
        while f"{wanted} ({number})" in self.entries:
            number += 1
        return f"{wanted} ({number})"

    def _remember(self, document: SourceDocument) -> None:
        rel = document.file.rel
        if (folded := fold(rel)) != rel:
            self._folded.setdefault(folded, document)
        if document.file.kind == "file":
            names = {fold(posixpath.basename(rel))}
        else:
            self._folded.setdefault(fold(stem(rel)), document)
            names = {fold(stem(posixpath.basename(rel)))}
            names.add(fold(document.title))
            names.update(map(fold, document.head.aliases))
        for name in names:
            # A list for each of many names would cost more than all the rest.
            before = self._names.get(name)
            if before is None:
                self._names[name] = document
            elif isinstance(before, list):
                before.append(document)
            else:
                self._names[name] = [before, document]

    def link(self, url: str, rel: str, made: frozenset[str] = frozenset()) -> Target | None:
        """Where a relative URL in the file ``rel`` leads.

        Tried in turn: the path as written, undecoded, without its query; then with other case or
        composition, without or with another ending (``page.html`` for ``page.md``, ``page``), as a
        folder with an index; last, a path from the root (``/docs/x``) from each folder above.

        Args:
            url: Path, with ``?query`` and ``#fragment`` if it has them; no scheme, no host.
            rel: The file that the link stands in.
            made: Entries that the reader itself made (pictures of a document).

        Returns:
            The entry, or ``None`` for a link that leads nowhere in the folder.
        """
        path, _, fragment = url.partition("#")
        fragment = unquote(fragment)
        if path.startswith("file://"):
            inside = self._inside(unquote(path[7:]))
            return Target(inside, fragment) if inside is not None else None
        bare = path.partition("?")[0]
        if not path:
            return Target(self.by_rel[rel].path, fragment) if rel in self.by_rel else None
        for candidate in dict.fromkeys((path, unquote(path), bare, unquote(bare))):
            joined = join(candidate, rel)
            if joined is None:
                continue
            found = joined if joined in made else self._at(joined)
            if found is not None:
                return Target(found, fragment)
        if bare.startswith("/"):
            # The root of the site that the notes were written for may be a folder of ours.
            folder = posixpath.dirname(rel)
            while folder:
                found = self._at(f"{folder}/{unquote(bare).strip('/')}")
                if found is not None:
                    return Target(found, fragment)
                folder = posixpath.dirname(folder)
        # People forget to encode: the hash may belong to the name.
        for candidate in (url, unquote(url)) if fragment else ():
            joined = join(candidate, rel)
            found = self._at(joined) if joined else None
            if found is not None:
                return Target(found)
        return None

    def _inside(self, path: str) -> str | None:
        for root in self._roots:
            if path.startswith(root):
                return self._at(path[len(root) :].strip("/"))
        return None

    def _at(self, path: str) -> str | None:
        document = self.by_rel.get(path)
        if document is not None:
            # The original is kept next to its page: who links to the file means the file.
            return document.file.rel if document.file.kind in ORIGINAL_KEPT else document.path
        if path in self.entries:
            return path
        folder = self.index_of(path) if path in self.folders else None
        if folder is not None:
            return folder
        document = self._by_name(path) or self._by_name(stem(path))
        return document.path if document is not None and path else None

    def _by_name(self, path: str) -> SourceDocument | None:
        """The document of a path in any case and composition, with or without its ending."""
        folded = fold(path)
        return self.by_rel.get(folded) or self._folded.get(folded)

    def index_of(self, folder: str) -> str | None:
        """The entry that stands for a folder, its listing where it has no index of its own."""
        for name in INDEX_STEMS:
            document = self._by_name(f"{folder}/{name}" if folder else name)
            if document is not None and document.file.kind != "file":
                return document.path
        return self.listing(folder)

    def entrance(self, folder: str) -> str:
        """Where a listing sends a reader for a folder: the start page of a site, or a listing."""
        for name in ("index.html", "index.htm", "index.xhtml"):
            document = self.by_rel.get(f"{folder}/{name}")
            if document is not None and document.file.kind == "html":
                return document.path
        return self.listing(folder)

    def listing(self, folder: str) -> str:
        """Path of the page that lists a folder."""
        path = f"{folder}/index" if folder else "index"
        return f"{path}.listing" if path in self.entries else path

    def wiki(self, name: str, rel: str) -> Target | None:
        """Where the wiki link ``[[name]]`` in the file ``rel`` leads; ``name#heading`` too.

        A path is tried first, then a file name, title or alias; of several, the one nearest to
        ``rel`` wins, then the shortest path, then the first.
        """
        target, _, heading = name.partition("#")
        target = target.strip()
        # Obsidian writes nested headings as a path, and block references with a caret.
        last = heading.rpartition("#")[2].strip()
        fragment = last if last.startswith("^") else anchor(last)
        if not target:
            return Target(self.by_rel[rel].path, fragment) if rel in self.by_rel else None
        for start in (rel, ""):
            joined = join(target, start)
            document = None
            if joined:
                document = self.by_rel.get(joined) or self._by_name(joined)
            if document is not None:
                return Target(document.path, fragment)
        named = self._called(target) or self._called(target.replace("_", " "))
        if not named and "/" in target:
            tail = "/" + fold(target)
            named = [
                d
                for d in self._called(posixpath.basename(target))
                if fold(d.file.rel).endswith(tail) or fold(stem(d.file.rel)).endswith(tail)
            ]
        if not named:
            return None
        return Target(_nearest(named, rel).path, fragment)

    def _called(self, name: str) -> list[SourceDocument]:
        """The documents of a name that may be written with its file's ending."""
        exact = self.named(name)
        if exact or "." not in name:
            return exact
        wanted = fold(posixpath.splitext(name)[1])
        return [d for d in self.named(stem(name)) if fold(d.file.rel).endswith(wanted)]

    def named(self, name: str) -> list[SourceDocument]:
        """The documents of one file name, title or alias."""
        found = self._names.get(fold(name), [])
        return found if isinstance(found, list) else [found]


def _nearest(documents: list[SourceDocument], rel: str) -> SourceDocument:
    own = posixpath.dirname(rel).split("/")

    def distance(document: SourceDocument) -> tuple[int, int]:
        parts = posixpath.dirname(document.file.rel).split("/")
        common = 0
        for mine, theirs in zip(own, parts, strict=False):
            if mine != theirs:
                break
            common += 1
        return -common, len(document.file.rel)

    return min(documents, key=distance)


def join(path: str, rel: str) -> str | None:
    """Join a link's path to the file it stands in; ``None`` when it climbs out of the folder."""
    if path.startswith("/"):
        parts: list[str] = []
    else:
        folder = posixpath.dirname(rel)
        parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
