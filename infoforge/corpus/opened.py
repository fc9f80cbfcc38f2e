"""Which corpora a run searches: from the settings to open corpora, and what did not open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from infoforge.contract import CorpusUnavailable, UsageError, Warn, WarningMessage
from infoforge.corpus import names
from infoforge.corpus.base import Corpus, CorpusError, Deadline

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
        missing = [path for path in zims if not Path(path).is_file()]
        if missing:
            raise UsageError(f"no such ZIM file: {missing[0]}", "give the path of a .zim file")
        return _opened(_files([Path(path) for path in zims], warn), "the files given", "")
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
    paths = wanted_files(settings, warn)
    if not paths:
        raise CorpusUnavailable(f"no ZIM file in {folder}", hint)
    return _opened(_files(paths, warn), str(folder), "infoforge doctor says what is wrong")


def wanted_files(settings: Settings, warn: Warn) -> list[Path]:
    """The ZIM files to use: the enabled ones in their order, or all of the folder by name."""
    folder = settings.zims.folder
    try:
        present = sorted(p for p in folder.iterdir() if p.suffix == ".zim" and p.is_file())
    except OSError:
        present = []
    if not settings.zims.enabled:
        return _newest(present)
    chosen: list[Path] = []
    for wanted in settings.zims.enabled:
        exact = [p for p in present if p.name in (wanted, f"{wanted}.zim")]
        same = exact or [p for p in present if names.stable_name(p.name) == wanted]
        if same:
            chosen.append(same[-1])
        else:
            warn(WarningMessage("zim_missing", f"enabled but not in {folder}: {wanted}"))
    return list(dict.fromkeys(chosen))


def _newest(paths: Sequence[Path]) -> list[Path]:
    """One edition of each ZIM: two editions of one wiki would cite each article twice."""
    newest: dict[str, Path] = {}
    for path in paths:
        name = names.stable_name(path.name)
        if name not in newest or names.date_of(path.name) >= names.date_of(newest[name].name):
            newest[name] = path
    return list(newest.values())


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
    enabled = [names.stable_name(name) for name in settings.zims.enabled]
    served = [by_name[name] for name in enabled if name in by_name] if enabled else books
    _name_unserved(settings, set(by_name), warn)
    return [KiwixCorpus(server, book) for book in served]


def _name_unserved(settings: Settings, served: set[str], warn: Warn) -> None:
    """Say which files of the folder the server left out (damaged, or new since its start)."""
    here = [names.stable_name(path.name) for path in wanted_files(settings, warn)]
    if not set(here) & served:
        return  # another machine's server, or another folder's
    for name in here:
        if name not in served:
            warn(WarningMessage("zim_not_served", f"in the ZIM folder but not served: {name}"))
