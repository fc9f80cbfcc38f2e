"""Pull: from what was asked for to a plan, and from the plan to files on the shelf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

from infoforge.contract import CheckFailed, InfoForgeError, Warn, WarningMessage
from infoforge.zims.catalog import CatalogEntry, choose, fetch_catalog
from infoforge.zims.check import Damaged, quick, read_through
from infoforge.zims.download import Download, DownloadOptions, Fetched
from infoforge.zims.events import Event, Report
from infoforge.zims.inventory import editions
from infoforge.zims.names import NEWEST, Wanted, book_name, edition, stable_name
from infoforge.zims.partial import kept_bytes
from infoforge.zims.retention import drop_older
from infoforge.zims.source import DownloadSource, resolve
from infoforge.zims.space import Space, balance, require
from infoforge.zims.state import State, load_state, save_state

if TYPE_CHECKING:
    from infoforge.net import Session

_ENOUGH_NAMES = 3
"""From so many names on, the whole catalog is fetched once instead of a part for each."""


@dataclass(frozen=True, slots=True)
class PullContext:
    """Where and how to pull.

    Attributes:
        folder: The ZIM folder.
        catalog: The catalog's address.
        session: From `net.public_session`.
        report: Told what happens.
        warn: Told what a person should know.
        verify: Refuse a file without a SHA-256.
        keep_free: Bytes to keep free; by rule when ``None``.
        replace: Remove older editions once the new one stands.
        options: How to fetch.
    """

    folder: Path
    catalog: str
    session: Session
    report: Report
    warn: Warn
    verify: bool = True
    keep_free: int | None = None
    replace: bool = False
    options: DownloadOptions = field(default_factory=DownloadOptions)


@dataclass(frozen=True, slots=True)
class PullStep:
    """One file of a plan.

    Attributes:
        file: File name.
        size: Bytes.
        sha256: Hex digest, empty when unknown.
        source: Where to fetch it; ``None`` when it is there.
        have: Bytes of it that are there already.
        older: Editions of the name that are there.
        pin: Edition to pin it to, ``newest`` to let go of a pin, empty to leave that as it is.
        reason: Why it is fetched, or why not.
    """

    file: str
    size: int
    sha256: str
    source: DownloadSource | None
    have: int
    older: tuple[str, ...]
    pin: str
    reason: str


@dataclass(frozen=True, slots=True)
class PullResult:
    """What became of a step: ``fetched`` is ``None`` when the file was there already."""

    step: PullStep
    fetched: Fetched | None
    removed: tuple[str, ...] = ()


class CatalogLookup:
    """The catalog, asked for no more than is needed.

    Args:
        job: Where it is.
        many: Fetch it whole at once.
    """

    def __init__(self, job: PullContext, *, many: bool) -> None:
        self._job = job
        self._whole: tuple[CatalogEntry, ...] | None = None
        self._many = many

    def whole(self) -> tuple[CatalogEntry, ...]:
        """Every entry."""
        if self._whole is None:
            self._whole = fetch_catalog(self._job.session, self._job.catalog, self._job.warn)
        return self._whole

    def choose(self, wanted: Wanted) -> CatalogEntry:
        """The entry that is meant; see `catalog.choose`."""
        job = self._job
        if self._whole is None and not self._many:
            part = fetch_catalog(job.session, job.catalog, job.warn, name=wanted.name)
            if any(e.name.casefold() == wanted.name.casefold() for e in part):
                return choose(part, wanted)
        # Not by the catalog's name: perhaps by the file's, or misspelt.
        return choose(self.whole(), wanted)


def plan(job: PullContext, wanted: Sequence[Wanted], state: State) -> list[PullStep]:
    """Find out what there is to do; connects to the catalog, changes nothing.

    Args:
        job: Where and how.
        wanted: What was asked for.
        state: The folder's memory; a file whose hash was found right is entered.

    Raises:
        InfoForgeError: Something that was asked for is not to be had; nothing is done at all then.
    """
    lookup = CatalogLookup(job, many=len(wanted) >= _ENOUGH_NAMES)
    steps: dict[str, PullStep] = {}
    for item in wanted:
        period = item.period or _pinned(item, state)
        step = _there_by_pin(job, item, period, state)
        if step is None:
            source = _source(job, lookup, item, period)
            pin = "" if item.url else item.period
            step = step_for(job, source, state, pin=pin)
        steps.setdefault(step.file, step)
    return list(steps.values())


def space_for(job: PullContext, steps: Sequence[PullStep]) -> Space:
    """The balance of the folder's file system for a plan."""
    to_do = [step for step in steps if step.source is not None]
    sizes, have = [s.size for s in to_do], sum(s.have for s in to_do)
    return balance(job.folder, sizes, have, job.keep_free)


def require_space(job: PullContext, steps: Sequence[PullStep]) -> Space:
    """Refuse a plan that does not fit.

    Raises:
        CheckFailed: Too little room, or a file that the file system cannot hold.
    """
    space = space_for(job, steps)
    to_do = [step for step in steps if step.source is not None]
    if to_do:
        largest = max(to_do, key=lambda step: step.size)
        require(job.folder, space, (largest.file, largest.size))
    return space


def _pinned(wanted: Wanted, state: State) -> str:
    """The edition that an unpinned request is held to by an earlier one."""
    names = {wanted.name, f"{wanted.name}_{wanted.flavour}"}
    return next((period for name, period in state.pins.items() if name in names), "")


def _there_by_pin(job: PullContext, wanted: Wanted, period: str, state: State) -> PullStep | None:
    """A pinned edition that is there and known to be right needs no catalog (and no cable)."""
    if wanted.url or not period or period == NEWEST:
        return None
    ident = f"{wanted.name}:{wanted.flavour}" if wanted.flavour else wanted.name
    for file, record in state.files.items():
        if edition(file) != period or ident not in (record.ident, stable_name(file)):
            continue
        if state.trusted(job.folder / file):
            return PullStep(
                file, record.size, record.sha256, None, record.size, (), wanted.period, "is there"
            )
    return None


def _source(job: PullContext, lookup: CatalogLookup, wanted: Wanted, period: str) -> DownloadSource:
    if wanted.url:
        return resolve(job.session, wanted.url, verify=job.verify)
    entry = lookup.choose(Wanted(wanted.text, wanted.name, wanted.flavour, period))
    if not period or period in (NEWEST, entry.date):
        return resolve(job.session, entry.url, ident=entry.ident, verify=job.verify)
    # The catalog shows the newest alone; the mirrors keep the one before it for a while.
    meta = ".meta4" if entry.url.endswith(".meta4") else ""
    url = urljoin(entry.url, quote(f"{entry.stable}_{period}.zim{meta}"))
    try:
        return resolve(job.session, url, ident=entry.ident, verify=job.verify)
    except CheckFailed as error:
        raise CheckFailed(
            f"edition {period} of {entry.ident} is not to be had ({error.message})",
            f"the catalog has {entry.date}: infoforge zims pull {entry.ident}",
            code="edition_gone",
        ) from error


def step_for(job: PullContext, source: DownloadSource, state: State, *, pin: str = "") -> PullStep:
    """What is to be done for one source: nothing, when the very file is there."""
    target = job.folder / source.file
    there = editions(job.folder).get(book_name(source.file), [])
    older = tuple(f for f in there if f != source.file)
    size, digest = source.size, source.sha256
    reason = _difference(job, target, source, state)
    if not reason:
        return PullStep(source.file, size, digest, None, size, older, pin, "is there")
    have = kept_bytes(job.folder, source)
    return PullStep(source.file, size, digest, source, have, older, pin, reason)


def _difference(job: PullContext, target: Path, source: DownloadSource, state: State) -> str:
    """Why the file of that name is not the one that is wanted; empty when it is."""
    if not target.exists():
        return "is not there"
    if target.stat().st_size != source.size:
        return "is there with another size"
    record = state.trusted(target)
    if record is None:
        return _unread(job, target, source, state)
    if source.sha256 and record.sha256 != source.sha256:
        return "is there with other content (SHA-256 differs)"
    return ""


def _unread(job: PullContext, target: Path, source: DownloadSource, state: State) -> str:
    """As `_difference`, for a file that somebody put there by hand: believed once it was read."""
    problem = quick(target)
    if not problem and source.sha256:
        try:
            sums = read_through(
                target, lambda done, all_: job.report(Event("verify", target.name, done, all_))
            )
        except (Damaged, OSError) as error:
            problem = str(error)
        else:
            if sums.sha256 != source.sha256:
                return "is there with other content (SHA-256 differs)"
            state.remember(target, sums.sha256, origin=source.origin, ident=source.ident)
    return f"is there, but {problem}" if problem else ""


def execute(job: PullContext, steps: Sequence[PullStep], state: State) -> list[PullResult]:
    """Do what the plan says; the folder's lock is held by the caller.

    A file that cannot be had does not keep the next ones from coming; a full disk does.

    Raises:
        CheckFailed: Something failed; ``data`` tells what was done all the same.
    """
    require_space(job, steps)
    done: list[PullResult] = []
    failures: list[InfoForgeError] = []
    for step in steps:
        try:
            done.append(_do(job, step, state))
        except InfoForgeError as error:
            failures.append(error)
            if error.code in {"no_space", "folder"}:
                break
    if failures:
        raise _failure(failures, done)
    return done


def _do(job: PullContext, step: PullStep, state: State) -> PullResult:
    if step.source is None:
        if _pin(step, state) or state.files != load_state(job.folder).files:
            save_state(job.folder, state)
        return PullResult(step, None)
    download = Download(
        job.session, step.source, job.folder, options=job.options, report=job.report, warn=job.warn
    )
    partial = download.partial
    target = job.folder / step.file
    try:
        fetched = download.run()
        problem = quick(partial.path)
        digest = step.sha256
        if not problem and not digest:
            problem, digest = _own_checksum(job, partial.path)
        if problem:
            partial.discard()
            raise CheckFailed(
                f"{step.file} came as its publisher has it, but it is no good ZIM: {problem}",
                "what was there before stays; try another edition or flavour",
                code="bad_zim",
            )
        partial.publish(target)
    finally:
        partial.close()
    state.remember(target, digest, origin=step.source.origin, ident=step.source.ident)
    _pin(step, state)
    save_state(job.folder, state)
    removed = tuple(g.file for g in drop_older(job.folder, step.file, state)) if job.replace else ()
    newer = [f for f in step.older if edition(f) > edition(step.file) and f not in removed]
    if newer:
        job.warn(
            WarningMessage(
                "newer_edition",
                f"{newer[0]} is newer than {step.file} and is the one that is used: remove it, "
                f"or enable {step.file} by its file name",
            )
        )
    job.report(Event("done", step.file, step.size, step.size, "in place"))
    return PullResult(step, fetched, removed)


def _own_checksum(job: PullContext, path: Path) -> tuple[str, str]:
    """Without a published hash: does the ZIM fit its own checksum? Problem and SHA-256."""
    try:
        sums = read_through(path, lambda d, t: job.report(Event("verify", path.name, d, t)))
    except (Damaged, OSError) as error:
        return str(error), ""
    if sums.md5 is False:
        return "it does not fit its own checksum", ""
    if sums.md5 is None:
        job.warn(
            WarningMessage("unverified", f"{path.name} has no checksum at all: taken unverified")
        )
    return "", sums.sha256


def _pin(step: PullStep, state: State) -> bool:
    """Enter or drop a pin; says whether the state changed."""
    name, before = stable_name(step.file), dict(state.pins)
    if step.pin == NEWEST:
        state.pins.pop(name, None)
    elif step.pin:
        state.pins[name] = step.pin
    return state.pins != before


def _failure(failures: list[InfoForgeError], done: list[PullResult]) -> CheckFailed:
    first = failures[0]
    data = {
        **(first.data or {}),
        "changed": any(d.fetched for d in done),
        "done": [d.step.file for d in done],
    }
    return CheckFailed(
        "; ".join(error.message for error in failures), first.hint, code=first.code, data=data
    )
