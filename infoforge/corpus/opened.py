"""Which corpora a run searches: from the settings to open corpora, and what did not open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from infoforge.contract import CorpusUnavailable, UsageError, Warn, WarningMessage
from infoforge.corpus.base import Corpus, CorpusError, Deadline
from infoforge.zims.inventory import CachedCheck, choose, zim_files
from infoforge.zims.names import book_name, located

if TYPE_CHECKING:
    from infoforge.config.settings import Settings

ALL, WIKI, VAULT = "all", "wiki", "vault"
KINDS = (VAULT, WIKI, ALL)
"""What ``--corpus`` takes."""


def open_corpora(
    settings: Settings,
    warn: Warn,
    *,
    deadline: Deadline,
    zims: Sequence[str] = (),
    corpus: str = ALL,
) -> list[Corpus]:
    """Open what the settings name, most preferred first: the wikis, then the vault.

    kiwix-serve is asked when its URL is set; when it does not answer, or none is set, the ZIM files
    are opened in this process.

    Args:
        settings: The settings.
        warn: Takes a warning for each thing that could not be used.
        deadline: The deadline of the whole search.
        zims: ZIM files given on the command line; they are opened instead of what is configured.
        corpus: ``vault``, ``wiki`` or ``all``; with ``all``, what fails is warned of while anything
            else can be searched.

    Returns:
        At least one corpus.

    Raises:
        UsageError: A file given on the command line does not exist; no vault is configured.
        ConfigError: The kiwix URL is on a public address and that is not allowed.
        CorpusUnavailable: Nothing could be opened.
    """
    if zims:
        paths = [located(Path(path)) for path in zims]
        missing = [path for path in paths if not path.is_file()]
        if missing:
            raise UsageError(f"no such ZIM file: {missing[0]}", "give the path of a .zim file")
        return _opened(_files(paths, warn), "the files given", "")
    if corpus == VAULT and settings.vault.folder is None:
        raise UsageError("no vault is configured", "set vault.folder (docs/vault.md)")
    if corpus == WIKI or settings.vault.folder is None:
        return _wikis(settings, warn, deadline)
    notes = _vault(settings, warn, deadline, alone=corpus == VAULT)
    if corpus == VAULT:
        return notes
    try:
        return [*_wikis(settings, warn, deadline), *notes]
    except CorpusUnavailable as error:
        if not notes:
            raise
        warn(WarningMessage("wiki_unavailable", f"{error.message}; searching the vault alone"))
        return notes


def _vault(settings: Settings, warn: Warn, deadline: Deadline, *, alone: bool) -> list[Corpus]:
    """The vault, or nothing and a warning when the wikis can be searched instead."""
    from infoforge.corpus.vault import VaultCorpus

    try:
        # A third of the time at most: the wikis are still to be searched when nobody answers.
        return [VaultCorpus(settings.vault, Deadline(deadline.left() / 3), warn)]
    except CorpusError as error:
        if alone:
            raise CorpusUnavailable(str(error), "infoforge doctor --only vault") from error
        warn(WarningMessage("vault_unavailable", f"{error}; searching the wikis without it"))
        return []


def _wikis(settings: Settings, warn: Warn, deadline: Deadline) -> list[Corpus]:
    """The books of kiwix-serve, or the ZIM files."""
    if settings.kiwix.url:
        found = _from_server(settings, warn, deadline)
        if found:
            return found
    folder = settings.zims.folder
    hint = f"put ZIM files into {folder}, or run: infoforge config init"
    if not folder.is_dir():
        raise CorpusUnavailable(f"the ZIM folder {folder} does not exist", hint)
    paths = chosen_files(settings, warn, deadline)
    if not paths and zim_files(folder) and not settings.zims.enabled:
        raise CorpusUnavailable(f"no ZIM file in {folder} can be used", "infoforge zims list")
    if not paths:
        raise CorpusUnavailable(f"no ZIM file in {folder}", hint)
    return _opened(_files(paths, warn), str(folder), "infoforge doctor says what is wrong")


def chosen_files(settings: Settings, warn: Warn, deadline: Deadline) -> list[Path]:
    """The ZIM files to use, by the inventory, with a warning for each that is not.

    The only edition of a ZIM is opened whatever its state: what of it can be read answers too.
    """
    zims = settings.zims
    check = CachedCheck(seconds=max(1.0, deadline.left() / 4))
    choice = choose(zims, check, only_editions=False)
    for item in choice.excluded:
        if item.missing:
            text = f"enabled but not in {zims.folder}: {item.file}"
            warn(WarningMessage("zim_missing", text))
        elif item.instead:
            text = f"{item.file} is damaged ({item.reason}); {item.instead} is used in its place"
            warn(WarningMessage("zim_damaged", text))
        elif not item.older:
            warn(WarningMessage("zim_unreadable", f"left out: {item.file}: {item.reason}"))
    return choice.paths


def _files(paths: Sequence[Path], warn: Warn) -> list[Corpus]:
    from infoforge.corpus.zim import ZimCorpus
    from infoforge.zimreader.process import ZimError, ZimProcess

    try:
        process = ZimProcess()
    except ZimError as error:
        raise CorpusUnavailable(str(error), "infoforge doctor says what is wrong") from error
    corpora: list[Corpus] = []
    for path in paths:
        try:
            corpora.append(ZimCorpus(path, process, alone=len(paths) == 1))
        except CorpusError as error:
            warn(WarningMessage("zim_unreadable", f"left out: {error}"))
    return corpora


def _opened(corpora: list[Corpus], where: str, hint: str) -> list[Corpus]:
    if not corpora:
        raise CorpusUnavailable(f"none of the ZIM files could be opened: {where}", hint)
    return corpora


def _from_server(settings: Settings, warn: Warn, deadline: Deadline) -> list[Corpus]:
    from infoforge.corpus.kiwix import KiwixCorpus, KiwixServer
    from infoforge.privacy import check_private

    url = settings.kiwix.url
    check_private(url, settings.kiwix.allow_public, "kiwix.url")
    server = KiwixServer(url, allow_public=settings.kiwix.allow_public)
    try:
        # Half of the time at most: the files are still to be searched when nobody answers.
        patience = Deadline(min(5.0, deadline.left() / 2))
        books = server.books(patience)
    except CorpusError as error:
        warn(
            WarningMessage("kiwix_down", f"{error}; reading the ZIM files in this process instead")
        )
        return []
    if not books:
        warn(WarningMessage("kiwix_empty", f"{url} serves no book; reading the ZIM files instead"))
        return []
    by_name = {book.name: book for book in books}
    enabled = list(dict.fromkeys(map(book_name, settings.zims.enabled)))
    served = [by_name[name] for name in enabled if name in by_name] if enabled else books
    _name_unserved(settings, set(by_name), warn, deadline)
    return [KiwixCorpus(server, book) for book in served]


def _name_unserved(settings: Settings, served: set[str], warn: Warn, deadline: Deadline) -> None:
    """Say which files of the folder the server left out (damaged, or new since its start)."""
    here = [book_name(path.name) for path in chosen_files(settings, warn, deadline)]
    if not set(here) & served:
        return  # another machine's server, or another folder's
    for name in here:
        if name not in served:
            warn(WarningMessage("zim_not_served", f"in the ZIM folder but not served: {name}"))
