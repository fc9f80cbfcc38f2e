"""What is in the ZIM folder: every file, what it says of itself, whether it is good and served."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from infoforge.config.settings import KiwixSettings
from infoforge.text.languages import alpha2
from infoforge.text.parse import integer
from infoforge.zimreader.process import ZimError, ZimFacts, ZimFile, ZimProcess
from infoforge.zims.inventory import CachedCheck, QualityCheck, editions, is_enabled
from infoforge.zims.names import edition, parts_of, stable_name
from infoforge.zims.partial import PARTIAL_DIR, read_note
from infoforge.zims.state import State

_SERVER_TIMEOUT = 3.0
_METADATA = ("Title", "Language", "Date", "Counter", "Flavour")
_NO_FACTS = ZimFacts("", False, False, False, 0, 0, 0, {})


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


def unfinished(folder: Path) -> list[Unfinished]:
    """The partial downloads, sorted by name."""
    found = []
    for path in sorted((folder / PARTIAL_DIR).glob("*.zim")):
        note = read_note(path)
        found.append(Unfinished(path.name, path.stat().st_size, note.size if note else 0))
    return found


def list_zims(
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
    look = _Look(enabled, state, served, CachedCheck())
    for _, files in sorted(editions(folder).items()):
        newest = ""
        for file in files:
            zim = look.at(folder / file, newest=not newest)
            newest = newest or ("" if zim.problem else file)
            shelf.append(zim)
    return shelf


class _Look:
    """What is known before the files are looked at, and the process that opens them."""

    def __init__(
        self,
        enabled: Sequence[str],
        state: State,
        served: frozenset[str] | None,
        check: QualityCheck,
    ) -> None:
        self._enabled = enabled
        self._state = state
        self._served = served
        self._check = check
        self._process: ZimProcess | None = None

    def at(self, path: Path, *, newest: bool) -> Zim:
        """Look at one file; ``newest`` says that no newer one is good."""
        problem = self._check(path)
        facts = _NO_FACTS
        try:
            if not problem:
                self._process = self._process or ZimProcess()
                facts = ZimFile(path, self._process, keys=_METADATA).facts
        except ZimError as error:
            problem = str(error)
        name, period = stable_name(path.name), edition(path.name)
        metadata = {key: " ".join(value.split()) for key, value in facts.metadata.items()}
        languages = metadata.get("Language", "").split(",")
        when = metadata.get("Date") or period
        record = self._state.trusted(path)
        return Zim(
            file=path.name,
            name=name,
            edition=period,
            title=metadata.get("Title") or name,
            languages=tuple(dict.fromkeys(alpha2(code) for code in languages if code.strip())),
            date=when,
            age_days=_age(when),
            size=sum(part.stat().st_size for part in parts_of(path) if part.exists()),
            articles=_articles(metadata.get("Counter", ""), facts),
            fulltext=facts.fulltext,
            problem=problem,
            verified=record.verified if record else "",
            newest=newest and not problem,
            enabled=is_enabled(path.name, self._enabled),
            pinned=bool(period) and self._state.pins.get(name) == period,
            served=None if self._served is None else facts.uuid in self._served,
            uuid=facts.uuid,
            flavour=metadata.get("Flavour", ""),
            link=path.is_symlink(),
        )


def _articles(counter: str, facts: ZimFacts) -> int:
    """Pages of text, as the Counter has them; libzim's own count when there is no Counter."""
    total = 0
    for part in counter.split(";"):
        kind, _, count = part.strip().rpartition("=")
        if kind.startswith("text/html"):
            total += integer(count)
    return total or facts.articles


def _age(when: str) -> int | None:
    try:
        day = date.fromisoformat(when[:10] if len(when) >= 10 else f"{when[:7]}-01")
    except ValueError:
        return None
    return max(0, (date.today() - day).days)


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
