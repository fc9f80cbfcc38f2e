"""Fetch one file whole and right, from whichever mirrors it takes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from infoforge.contract import CheckFailed, Warn, WarningMessage
from infoforge.zims.events import Event, Report
from infoforge.zims.partial import Partial
from infoforge.zims.source import DownloadSource
from infoforge.zims.transfer import AttemptFailed, Limiter, attempt
from infoforge.zims.units import show_size

if TYPE_CHECKING:
    from infoforge.net import Session

_LONGEST_PAUSE = 60.0
_STRIKES = 2
"""Times a mirror may have had a hand in a wrong file before it is left out."""


@dataclass(frozen=True, slots=True)
class DownloadOptions:
    """How to fetch.

    Attributes:
        stall: Seconds of silence after which the next mirror is tried.
        limiter: Holds the rate.
        retries: Rounds through all mirrors without a byte gained before giving up.
        pause: Seconds before the second round; doubled each time, up to a minute.
    """

    stall: float = 30.0
    limiter: Limiter = field(default_factory=lambda: Limiter(0))
    retries: int = 3
    pause: float = 2.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """What it took.

    Attributes:
        fetched: Bytes that came over the line and were kept.
        resumed_from: Bytes that were there before.
        mirror: The last mirror; empty when all was there.
    """

    fetched: int
    resumed_from: int
    mirror: str


class Download:
    """The fetching of one source into its partial file.

    Args:
        session: From `net.public_session`.
        source: What to fetch.
        folder: The ZIM folder.
        options: How.
        report: Told what happens.
        warn: Told what a person should know afterwards.
    """

    def __init__(
        self,
        session: Session,
        source: DownloadSource,
        folder: Path,
        *,
        options: DownloadOptions,
        report: Report,
        warn: Warn,
    ) -> None:
        self._session = session
        self._source = source
        self._options = options
        self._report = report
        self.partial = Partial(folder, source)
        self._queue = list(source.mirrors)
        self._failures: dict[str, str] = {}
        self._strikes: dict[str, int] = {}
        self._last = ""
        if self.partial.stale:
            warn(
                WarningMessage(
                    "partial_discarded",
                    f"the partial {source.file} was of another file: started from its first byte",
                )
            )

    def run(self) -> Fetched:
        """Fetch until size and hash are right.

        Returns:
            What it took; the bytes stand in ``partial``, which the caller publishes.

        Raises:
            CheckFailed: No mirror could give it (each is named with its reason), or a full disk.
        """
        partial, source = self.partial, self._source
        if source.pieces and partial.have:
            partial.whole_pieces(source.pieces, self._verifying)
        resumed = partial.have
        self._tell("start", "continuing" if resumed else "fetching")
        idle_rounds, high = 0, partial.have
        while True:
            strikes = sum(self._strikes.values())
            if self._round(patient=idle_rounds == 0):
                return Fetched(partial.received, resumed, self._last)
            if not self._queue:
                raise self._all_failed()
            # A wrong file found out is progress too: each mirror can bring that about but twice.
            struck = sum(self._strikes.values()) > strikes
            gained = partial.have > high or struck
            high = partial.have if struck else max(high, partial.have)
            idle_rounds = 0 if gained else idle_rounds + 1
            if idle_rounds >= self._options.retries:
                raise self._all_failed()
            if not gained:
                time.sleep(min(_LONGEST_PAUSE, self._options.pause * 2 ** (idle_rounds - 1)))

    def _round(self, *, patient: bool) -> bool:
        """Try every mirror once; those that can only start over come last.

        Args:
            patient: Do not start over while a mirror is left that may go on in the middle.

        Returns:
            True when the file is whole and right.
        """
        restarters: list[str] = []
        for url in list(self._queue):
            if url in self._queue and self._try(url, restarters, allow_restart=False):
                return True
        if patient and any(url not in restarters for url in self._queue):
            return False
        for url in restarters:
            if url in self._queue and self._try(url, [], allow_restart=True):
                return True
        return False

    def _try(self, url: str, restarters: list[str], *, allow_restart: bool) -> bool:
        partial = self.partial
        if partial.have < self._source.size:
            self._tell("mirror", "asking", url)
            self._last = url
            try:
                attempt(
                    self._session,
                    url,
                    partial,
                    stall=self._options.stall,
                    limiter=self._options.limiter,
                    progress=self._progress,
                    allow_restart=allow_restart,
                )
            except AttemptFailed as failure:
                self._failures[url] = failure.reason
                self._tell("retry", failure.reason, url)
                if failure.permanent:
                    self._queue.remove(url)
                if failure.from_start:
                    restarters.append(url)
                return False
        return self._is_right(url)

    def _is_right(self, url: str) -> bool:
        """Compare the hash; a wrong file is thrown away and those who gave it are remembered."""
        partial = self.partial
        if not self._source.sha256:
            return True
        if partial.sha256(self._verifying) == self._source.sha256:
            return True
        givers = list(partial.note.givers) or [url]
        alone = len(givers) == 1 and not partial.inherited
        reason = (
            "served a wrong file (SHA-256 differs)"
            if alone
            else "had a hand in a wrong file (SHA-256 differs)"
        )
        for giver in givers:
            self._failures[giver] = reason
            self._strikes[giver] = self._strikes.get(giver, 0) + 1
            if giver in self._queue and (alone or self._strikes[giver] >= _STRIKES):
                self._queue.remove(giver)
        self._tell("retry", reason, url)
        partial.cut(0)
        return False

    def _all_failed(self) -> CheckFailed:
        attempts = [{"url": url, "reason": reason} for url, reason in self._failures.items()]
        told = "; ".join(f"{a['url']}: {a['reason']}" for a in attempts)
        have = self.partial.have
        kept = f"; {show_size(have)} are kept and the next pull goes on from there" if have else ""
        return CheckFailed(
            f"no mirror could give {self._source.file}: {told}{kept}",
            "try again later, or name a mirror by its URL",
            code="all_mirrors_failed",
            data={"file": self._source.file, "kept": have, "attempts": attempts},
        )

    def _progress(self, have: int) -> None:
        self._report(Event("progress", self._source.file, have, self._source.size))

    def _verifying(self, done: int) -> None:
        self._report(Event("verify", self._source.file, done, self.partial.have))

    def _tell(self, kind: str, message: str, url: str = "") -> None:
        event = Event(kind, self._source.file, self.partial.have, self._source.size, message, url)
        self._report(event)
