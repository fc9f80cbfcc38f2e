"""A folder in, a checked ZIM file out."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import html
import os
from collections import Counter
from pathlib import Path

from infoforge import __version__
from infoforge.contract import UsageError, Warn, WarningMessage
from infoforge.text.languages import alpha2, alpha3
from infoforge.zimify.entries import (
    ORIGINAL_KEPT,
    EntryIndex,
    address,
    clip,
    mimetype_of,
    unsupported,
)
from infoforge.zimify.pages import STYLE, STYLE_PATH, Frame, home_of, listings, wrap
from infoforge.zimify.pool import Pool, workers_for
from infoforge.zimify.readers import PART_BYTES
from infoforge.zimify.records import (
    Attachment,
    ConversionOptions,
    LinkCount,
    Page,
    Progress,
    Rendered,
    Report,
    SourceDocument,
    SourceFile,
)
from infoforge.zimify.scan import walk
from infoforge.zimify.writer import ZimWriter, check

IN_MEMORY = 8 << 20
"""Attachments above this are streamed by libzim."""
TITLE_LIMIT = 30
DESCRIPTION_LIMIT = 80
"""Characters that the ZIM format allows."""


def zimify(
    folder: Path,
    target: Path,
    options: ConversionOptions,
    *,
    warn: Warn,
    progress: Progress = lambda done, total: None,
) -> Report:
    """Make a ZIM file of a folder of documents.

    The file is written beside its final name, opened again and checked, and renamed only then; an
    older file of the name stays until that moment.

    Args:
        folder: What to read; nothing in it is changed.
        target: The ZIM file.
        options: What the ZIM says of itself, and what to leave out.
        warn: Told about everything that was left out or changed.
        progress: Called with (files done, all files).

    Returns:
        What was made, what could not be read, which links are dead.

    Raises:
        UsageError: No folder, nothing to convert in it, or an option that the format forbids.
        InfoForgeError: The file could not be written.
        CheckFailed: What was written does not hold what it should.
    """
    _usable(folder, target, options)
    language = _code(options.language)
    if options.language and not language:
        raise UsageError(
            f"not a language code: {options.language}", "say --language with a code: de or deu"
        )
    left_out: list[tuple[str, str]] = []
    files = walk(
        os.fspath(folder),
        options.exclude,
        warn,
        os.fspath(target),
        follow_links=options.follow_links,
        left_out=left_out,
    )
    documents = [file for file in files if file.kind != "file"]
    if not documents:
        raise UsageError(
            f"nothing to convert in {folder}: no document that zimify reads",
            "docs/zimify.md lists the formats; hidden files are left out",
        )
    from infoforge.zimify.scan import read_head, without_site_name

    heads = [read_head(file) for file in files]
    for file, head in zip(files, heads, strict=True):
        if head.problem:
            text = f"{file.rel}: front matter read line by line: {head.problem}"
            warn(WarningMessage("zimify_front_matter", text))
    pages = [number for number, file in enumerate(files) if file.kind == "html"]
    for number, title in zip(
        pages, without_site_name([heads[number].title for number in pages]), strict=True
    ):
        if title != heads[number].title:
            heads[number] = dataclasses.replace(heads[number], title=title)
    if not language:
        spoken = Counter(code for head in heads if (code := _code(head.language)))
        language = min(spoken, key=lambda code: (-spoken[code], code)) if spoken else "eng"
    roots = dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder)))  # noqa: PTH100
    index = EntryIndex(files, heads, roots)
    del heads, files, documents
    build = _Conversion(
        folder, target, options, language=language, index=index, warn=warn, progress=progress
    )
    build.left_out += left_out
    return build.run()


def _code(language: str) -> str:
    """The ISO 639-3 code of a language code, or an empty text for something else."""
    code = alpha3(language) if language else ""
    return code if len(code) == 3 and code.isascii() and code.isalpha() else ""


def _usable(folder: Path, target: Path, options: ConversionOptions) -> None:
    if not folder.is_dir():
        raise UsageError(f"no such folder: {folder}")
    if target.suffix != ".zim":
        raise UsageError(f"the output must end in .zim: {target}", f"say -o {target}.zim")
    if target.is_dir():
        raise UsageError(f"the output is a folder: {target}")
    if not target.parent.is_dir():
        raise UsageError(f"no such folder: {target.parent}", f"mkdir -p {target.parent}")
    for what, value, limit in (
        ("title", options.title, TITLE_LIMIT),
        ("description", options.description, DESCRIPTION_LIMIT),
    ):
        if len(value) > limit:
            raise UsageError(f"the {what} has {len(value)} characters, a ZIM allows {limit}")
    if options.date:
        try:
            datetime.date.fromisoformat(options.date)
        except ValueError:
            raise UsageError(f"not a date: {options.date}", "say --date YYYY-MM-DD") from None


class _Conversion:
    """One conversion under way."""

    def __init__(
        self,
        folder: Path,
        target: Path,
        options: ConversionOptions,
        *,
        language: str,
        index: EntryIndex,
        warn: Warn,
        progress: Progress,
    ) -> None:
        self.folder, self.target, self.options = folder, target, options
        self.language, self.index, self.warn, self.progress = language, index, warn, progress
        self.links = LinkCount()
        self.unreadable: list[tuple[str, str]] = []
        self.left_out: list[tuple[str, str]] = []
        self.unsupported = [
            (document.file.rel, kind)
            for document in index.documents
            if document.file.kind == "file" and (kind := unsupported(document.file.rel))
        ]
        self.large: dict[int, list[SourceFile]] = {}
        self.done = 0
        self.title = options.title or clip(folder.resolve().name or "Documents", TITLE_LIMIT)
        self.name = options.name or _name(folder.resolve().name)
        newest = max((d.file.mtime for d in index.documents), default=0.0)
        stamp = datetime.datetime.fromtimestamp(newest, datetime.UTC)
        self.date = options.date or stamp.date().isoformat()
        style = STYLE_PATH
        while style in index.entries:
            style = "_" + style
        self.frame = Frame(alpha2(language), home_of(index), style)

    def run(self) -> Report:
        """Write, check, rename."""
        readable = [d for d in self.index.documents if d.file.kind != "file"]
        streamed = [d for d in readable if _streamed(d)]
        pooled = [d for d in readable if not _streamed(d)]
        kept = [d for d in self.index.documents if d.file.kind == "file"]
        kept += [d for d in readable if d.file.kind in ORIGINAL_KEPT]
        total = len(readable) + len(kept)
        workers = workers_for(pooled, self.options.workers)
        threads = len(os.sched_getaffinity(0))
        with (
            Pool(self.index, self.frame, workers) as pool,
            ZimWriter(self.target, self.language, self.frame.home, threads) as writer,
        ):
            self.progress(0, total)
            for document, rendered in pool.render(pooled):
                self._take(writer, document, rendered)
                self._step(total)
            for document in streamed:
                self._stream(writer, document)
                self._step(total)
            for document in kept:
                self._keep(writer, document)
                self._step(total)
            self._frame_pages(writer)
            self._redirects(writer)
            self._metadata(writer)
        try:
            entries = check(writer)
        except BaseException:
            writer.discard()
            raise
        writer.commit()
        self._warn_of_links()
        return Report(
            path=os.fspath(self.target),
            name=self.name,
            title=self.title,
            language=self.language,
            date=self.date,
            size=self.target.stat().st_size,
            files=len(self.index.documents),
            entries=entries,
            articles=writer.articles,
            redirects=writer.redirects,
            links_rewritten=self.links.rewritten,
            dead_links=tuple(self.links.dead),
            external=tuple(self.links.external),
            unreadable=tuple(self.unreadable),
            unsupported=tuple(self.unsupported),
            left_out=tuple(self.left_out),
        )

    def _step(self, total: int) -> None:
        self.done += 1
        self.progress(self.done, total)

    def _take(self, writer: ZimWriter, document: SourceDocument, rendered: Rendered) -> None:
        for warning in rendered.warnings:
            self.warn(warning)
        self.left_out += [(document.file.rel, reason) for reason in rendered.left_out]
        self.links.add(rendered.links)
        if rendered.error:
            self._give_up(writer, document, rendered.error)
            return
        if rendered.title:
            document.title = rendered.title
        for item in rendered.items:
            self._add(writer, item)

    def _give_up(self, writer: ZimWriter, document: SourceDocument, reason: str) -> None:
        """Name an unreadable document; links to it still have to lead somewhere."""
        rel = document.file.rel
        self.unreadable.append((rel, reason))
        self.warn(WarningMessage("zimify_unreadable", f"skipping {rel}: {reason}"))
        kept = document.path != rel
        body = "<p>This document could not be converted.</p>"
        if kept:
            link = html.escape(rel, quote=False)
            body += f'\n<p><a href="{address(rel, document.path)}">{link}</a></p>'
        page = wrap(self.frame, document.path, document.title, body, source=rel)
        writer.page(Page(document.path, document.title, page, indexed=False))
        if kept and document.file.kind not in ORIGINAL_KEPT:
            self._keep(writer, document)

    def _add(self, writer: ZimWriter, item: Page | Attachment) -> None:
        if item.path in writer.paths:
            self.warn(
                WarningMessage(
                    "zimify_double", f"two entries of one path, kept the first: {item.path}"
                )
            )
        elif isinstance(item, Page):
            writer.page(item)
        else:
            writer.attachment(item)

    def _stream(self, writer: ZimWriter, document: SourceDocument) -> None:
        """A document too long for one page: read here, so that one part at a time is in memory."""
        from infoforge.zimify.readers import csv, text
        from infoforge.zimify.records import UnreadableError

        pages = csv.pages if document.file.kind == "csv" else text.pages
        try:
            for page in pages(document, self.index, self.frame):
                self._add(writer, page)
        except (UnreadableError, OSError) as error:
            if document.path not in writer.paths:
                self._give_up(writer, document, str(error))
            else:
                self.unreadable.append((document.file.rel, f"cut short: {error}"))
                self.warn(
                    WarningMessage("zimify_unreadable", f"cut short {document.file.rel}: {error}")
                )

    def _keep(self, writer: ZimWriter, document: SourceDocument) -> None:
        """Add a file as it is."""
        file = document.file
        mimetype = mimetype_of(file.rel)
        if mimetype in ("text/html", "application/xhtml+xml"):
            # Kept as a file, so its links were not looked at: no article then.
            mimetype = "text/plain"
        try:
            if file.size > IN_MEMORY and not _surrogates(file.real):
                self._keep_large(writer, document, mimetype)
                return
            body = Path(file.real).read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
            self.unreadable.append((file.rel, reason))
            self.warn(WarningMessage("zimify_unreadable", f"skipping {file.rel}: {reason}"))
            return
        # An entry without content is a fault in a ZIM; a line with its name is the least there is.
        writer.attachment(Attachment(file.rel, mimetype, body or f"{file.rel}\n".encode()))

    def _keep_large(self, writer: ZimWriter, document: SourceDocument, mimetype: str) -> None:
        """Add a large file, streamed by libzim, unless another of the same bytes is there."""
        file = document.file
        digest = b""
        for other in self.large.setdefault(file.size, []):
            digest = digest or _digest(file.real)
            if _digest(other.real) == digest:
                writer.redirect(file.rel, "", other.rel, front=False)
                return
        with open(file.real, "rb"):  # noqa: PTH123  (what cannot be opened must fail here)
            writer.attachment(Attachment(file.rel, mimetype, real=file.real))
        self.large[file.size].append(file)

    def _frame_pages(self, writer: ZimWriter) -> None:
        for page in listings(self.index, self.frame, self.title):
            self._add(writer, page)
        self._add(writer, Attachment(self.frame.style, "text/css", STYLE.encode()))

    def _redirects(self, writer: ZimWriter) -> None:
        """Old file names lead to the pages made of them, aliases to their documents."""
        for document in self.index.documents:
            rel = document.file.rel
            if document.path != rel and rel not in writer.paths and document.path in writer.paths:
                writer.redirect(rel, "", document.path, front=False)
        for document in self.index.documents:
            for alias in document.head.aliases:
                path = alias.strip("/")
                if not path or path == document.path or document.path not in writer.paths:
                    continue
                if path in writer.paths:
                    text = f"alias {alias} of {document.file.rel} is taken, left out"
                    self.warn(WarningMessage("zimify_alias", text))
                    continue
                # An alias with a slash is an old address, one without is a name.
                title = document.title if "/" in alias else alias
                writer.redirect(path, title, document.path, front="/" not in alias)

    def _metadata(self, writer: ZimWriter) -> None:
        described = self.options.description or clip(
            f"{writer.articles} documents from {self.title}", DESCRIPTION_LIMIT
        )
        writer.metadata(
            {
                "Title": self.title,
                "Description": described,
                "Language": self.language,
                "Creator": self.options.creator or self.title,
                "Publisher": self.options.publisher or "InfoForge",
                "Date": self.date,
                "Name": self.name,
                "Scraper": f"infoforge {__version__}",
                "Tags": "_ftindex:yes;_pictures:yes;_videos:yes;_details:yes",
            },
            self.name,
        )

    def _warn_of_links(self) -> None:
        dead, external = self.links.dead, self.links.external
        if self.unsupported:
            kinds = Counter(kind for _, kind in self.unsupported).most_common()
            shown = ", ".join(f"{kind} {count}" for kind, count in kinds)
            text = f"{len(self.unsupported)} document(s) without a reader are only kept: {shown}"
            self.warn(WarningMessage("zimify_unsupported", text))
        if dead:
            shown = "; ".join(f"{link} in {rel}" for rel, link in dead[:3])
            more = f" and {len(dead) - 3} more" if len(dead) > 3 else ""
            text = f"{len(dead)} dead link(s) were made plain text: {shown}{more}"
            self.warn(WarningMessage("zimify_dead_links", text))
        if external:
            shown = "; ".join(f"{link} in {rel}" for rel, link in external[:3])
            more = f" and {len(external) - 3} more" if len(external) > 3 else ""
            text = f"{len(external)} file(s) would load from the network and do not: {shown}{more}"
            self.warn(WarningMessage("zimify_external", text))


def _streamed(document: SourceDocument) -> bool:
    return document.file.kind in ("text", "csv") and document.file.size > PART_BYTES


def _name(folder: str) -> str:
    """A catalog name from a folder's: lower case, words joined by underscores."""
    words = "".join(c if c.isalnum() else " " for c in folder.casefold()).split()
    return "_".join(words) or "documents"


def _digest(real: str) -> bytes:
    with open(real, "rb") as stream:  # noqa: PTH123
        return hashlib.file_digest(stream, "blake2b").digest()


def _surrogates(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
