"""What is in the ZIM folder: every file, what it says of itself, whether it is good and served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from infoforge.config.settings import KiwixSettings
from infoforge.contract import UsageError
from infoforge.text.languages import alpha2
from infoforge.zims.check import Damaged, open_archive, quick
from infoforge.zims.names import edition, stable_name
from infoforge.zims.partial import PARTIAL_DIR, read_note
from infoforge.zims.state import State

if TYPE_CHECKING:
    from libzim.reader import Archive

_SERVER_TIMEOUT = 3.0


@dataclass(frozen=True, slots=True)
class Zim:
    """One file of the shelf.

    Attributes:
        file: File name.
        name: Stable name.
        edition: ``YYYY-MM`` of the file name, empty when it has none.
        title: Metadata Title, else the stable name.
        languages: ISO 639-1 codes where one exists.
        date: Metadata Date, else the edition.
        age_days: Days since then; ``None`` when the date is unknown.
        size: Bytes.
        articles: Number of articles.
        fulltext: It has a full-text index.
        problem: What the quick check found; empty when it is good.
        verified: When every byte was last found right; empty when never (or changed since).
        newest: No newer good edition of the name is there.
        enabled: The configuration lets it be used.
        pinned: The name is pinned to this edition.
        served: kiwix-serve has it in its catalog; ``None`` when that cannot be told.
        uuid: The UUID inside.
        flavour: Metadata Flavour.
        link: It is a symbolic link.
    """

    file: str
    name: str
    edition: str
    title: str
    languages: tuple[str, ...]
    date: str
    age_days: int | None
    size: int
    articles: int
    fulltext: bool
    problem: str
    verified: str
    newest: bool
    enabled: bool
    pinned: bool
    served: bool | None
    uuid: str
    flavour: str
    link: bool


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A download that was broken off: ``have`` of ``size`` bytes of ``file`` are there."""

    file: str
    have: int
    size: int


def zim_files(folder: Path) -> list[str]:
    """The names of the ZIM files in a folder, sorted; none when it is not there."""
    if not folder.is_dir():
        return []
    return sorted(p.name for p in folder.glob("*.zim") if not p.name.startswith("."))


def unfinished(folder: Path) -> list[Unfinished]:
    """The partial downloads, sorted by name."""
    found = []
    for path in sorted((folder / PARTIAL_DIR).glob("*.zim")):
        note = read_note(path)
        found.append(Unfinished(path.name, path.stat().st_size, note.size if note else 0))
    return found


def editions(folder: Path) -> dict[str, list[str]]:
    """Stable name -> files of that name, newest first."""
    groups: dict[str, list[str]] = {}
    for file in zim_files(folder):
        groups.setdefault(stable_name(file), []).append(file)
    for files in groups.values():
        files.sort(key=lambda file: (edition(file), file), reverse=True)
    return groups


def read_shelf(
    folder: Path, enabled: Sequence[str], state: State, served: frozenset[str] | None
) -> list[Zim]:
    """Look at every file.

    Args:
        folder: The ZIM folder.
        enabled: File names or stable names of the configuration; none means all.
        state: The folder's memory.
        served: UUIDs in kiwix-serve's catalog; ``None`` when it cannot be asked.
    """
    shelf: list[Zim] = []
    for name, files in sorted(editions(folder).items()):
        newest = ""
        for file in files:
            zim = _look(folder / file, name, enabled, state, served, newest=not newest)
            newest = newest or ("" if zim.problem else file)
            shelf.append(zim)
    return shelf


def _look(
    path: Path,
    name: str,
    enabled: Sequence[str],
    state: State,
    served: frozenset[str] | None,
    *,
    newest: bool,
) -> Zim:
    problem = quick(path)
    archive: Archive | None = None
    try:
        archive = None if problem else open_archive(path)
    except Damaged as error:
        problem = str(error)
    record = state.trusted(path)
    when = (_meta(archive, "Date") or edition(path.name)) if archive else edition(path.name)
    uuid = str(archive.uuid).lower() if archive else ""
    languages = _meta(archive, "Language").split(",")
    return Zim(
        file=path.name,
        name=name,
        edition=edition(path.name),
        title=_meta(archive, "Title") or name,
        languages=tuple(dict.fromkeys(alpha2(code) for code in languages if code.strip())),
        date=when,
        age_days=_age(when),
        size=path.stat().st_size if path.exists() else 0,
        articles=_articles(archive),
        fulltext=bool(archive and archive.has_fulltext_index),
        problem=problem,
        verified=record.verified if record else "",
        newest=newest and not problem,
        enabled=is_enabled(path.name, enabled),
        pinned=bool(edition(path.name)) and state.pins.get(name) == edition(path.name),
        served=None if served is None else uuid in served,
        uuid=uuid,
        flavour=_meta(archive, "Flavour"),
        link=path.is_symlink(),
    )


def _meta(archive: Archive | None, key: str) -> str:
    if archive is None or key not in archive.metadata_keys:
        return ""
    try:
        return " ".join(bytes(archive.get_metadata(key)).decode("utf-8", "replace").split())
    except (RuntimeError, KeyError):
        return ""


def _articles(archive: Archive | None) -> int:
    """Pages of text, as the Counter has them; libzim's own count when there is no Counter."""
    total = 0
    for part in _meta(archive, "Counter").split(";"):
        kind, _, count = part.strip().rpartition("=")
        if kind.startswith("text/html") and count.isdecimal():
            total += int(count)
    return total or (int(archive.article_count) if archive else 0)


def _age(when: str) -> int | None:
    try:
        day = date.fromisoformat(when[:10] if len(when) >= 10 else f"{when[:7]}-01")
    except ValueError:
        return None
    return max(0, (date.today() - day).days)


def is_enabled(file: str, enabled: Sequence[str]) -> bool:
    """Whether the configuration lets a file be used: by either of its names, or by silence."""
    return not enabled or bool({file, file.removesuffix(".zim"), stable_name(file)} & set(enabled))


def find(folder: Path, names: Sequence[str]) -> list[str]:
    """The files that are meant by file names or stable names.

    Raises:
        UsageError: A name fits no file.
    """
    files = zim_files(folder)
    chosen: list[str] = []
    for name in names:
        exact = [f for f in files if name in (f, f.removesuffix(".zim"))]
        found = exact or [f for f in files if stable_name(f) == name]
        if not found:
            raise unknown(folder, name)
        chosen += [f for f in found if f not in chosen]
    return chosen


def unknown(folder: Path, name: str) -> UsageError:
    """The error for a name that fits no file, with the nearest that does."""
    import difflib

    names = [*editions(folder), *zim_files(folder)]
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]}?" if near else "see infoforge zims list"
    return UsageError(f"no ZIM '{name}' in {folder}", hint)


def served_uuids(kiwix: KiwixSettings) -> frozenset[str] | None:
    """The UUIDs of the books in kiwix-serve's catalog.

    Returns:
        ``None`` when no server is configured or it does not answer within seconds.
    """
    if not kiwix.url:
        return None
    from infoforge import kiwix_catalog
    from infoforge.contract import InfoForgeError

    try:
        books = kiwix_catalog.fetch(
            kiwix.url,
            seconds=_SERVER_TIMEOUT,
            allow_public=kiwix.allow_public,
            what="kiwix.url",
        )
    except (InfoForgeError, kiwix_catalog.CatalogError):
        return None
    return frozenset(book.uuid for book in books)


def switched(
    enabled: Sequence[str], present: Sequence[str], names: Sequence[str], *, on: bool
) -> list[str]:
    """The new list of enabled ZIMs.

    Args:
        enabled: The list as it is; empty means all.
        present: The files of the folder.
        names: File names or stable names to switch; each fits a file or stands in the list.
        on: Enable or disable.

    Raises:
        UsageError: Nothing would be left: an empty list would mean all of them.
    """
    result = list(enabled)
    if on:
        if not enabled:
            return []
        result += [n for n in names if n not in result and not _covers(result, n)]
        return result
    if not enabled:
        result = list(dict.fromkeys(stable_name(file) for file in present))
    aliases = {alias for name in names for alias in _aliases(name)}
    left = [item for item in result if item not in aliases and stable_name(item) not in names]
    if not left:
        raise UsageError(
            "that would leave no ZIM enabled, and an empty list means all of them",
            "enable another one first, or remove the files",
        )
    return left if left != result or enabled else []


def _covers(enabled: Sequence[str], name: str) -> bool:
    """Whether an entry of the list lets the name in already."""
    return bool({name, name.removesuffix(".zim"), stable_name(name)} & set(enabled))


def _aliases(name: str) -> set[str]:
    """The ways in which one ZIM may stand in the list."""
    stem = name.removesuffix(".zim")
    return {name, stem, f"{stem}.zim", stable_name(name)}
