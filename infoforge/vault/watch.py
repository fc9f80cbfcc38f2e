"""The indexer that stays: it follows the folder, and comes back when the database was away."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from infoforge.contract import InfoForgeError, Warn, WarningMessage
from infoforge.vault.embed import Embedder, open_embedder
from infoforge.vault.errors import VaultError, missing
from infoforge.vault.index import Indexed, Progress, index
from infoforge.vault.store import Store, connect

if TYPE_CHECKING:
    from infoforge.config.settings import VaultSettings

QUIET_MS = 400
"""A burst of changes (a save by rename, a checkout) ends with this much silence."""
LONGEST_MS = 5_000
"""A burst that does not end is looked at after this."""
SWEEP_SECONDS = 300
"""How often the whole folder is compared unasked: a network folder tells of no changes."""
LOOK_SECONDS = 30
"""How often the database is asked whether it is there, while nothing changes."""
_FIRST_PAUSE = 2.0
_LONGEST_PAUSE = 60.0


def watch(
    settings: VaultSettings,
    *,
    warn: Warn,
    done: Callable[[Indexed], None],
    stop: threading.Event,
    progress: Progress | None = None,
    away: Callable[[], None] | None = None,
    sweep: float = SWEEP_SECONDS,
    look: float = LOOK_SECONDS,
) -> None:
    """Keep the index equal to the folder until told to stop.

    Args:
        settings: The vault's settings.
        warn: Told what was left out, and when the database is away.
        done: Told what each run did, the first one included.
        stop: Ends it.
        progress: Told how far a run is.
        away: Called when the database does not answer; it may bring it back.
        sweep: Seconds after which the folder is compared though nothing was told.
        look: Seconds after which the database is asked whether it is there.

    Raises:
        InfoForgeError: The first run fails for a reason that waiting does not mend.
    """
    try:
        from watchfiles import watch as changes
    except ImportError as error:
        raise missing("watchfiles") from error
    if settings.folder is None or not settings.folder.is_dir():
        raise VaultError(
            f"the vault {settings.folder or ''} does not exist", "set vault.folder", code="no_vault"
        )
    kept: list[Embedder] = []

    def embedder() -> Embedder:
        if not kept:
            kept.append(open_embedder(settings.embedding))
        return kept[0]

    told: set[str] = set()

    def once(warning: WarningMessage) -> None:
        # Said at every run, a file that is left out would fill the journal.
        if warning.message not in told:
            told.add(warning.message)
            warn(warning)

    # Watched from before the first run: what changes while it reads comes as an event after it.
    stream = changes(
        settings.folder,
        watch_filter=None,
        debounce=LONGEST_MS,
        step=QUIET_MS,
        stop_event=stop,
        rust_timeout=int(min(sweep, look) * 1000),
        yield_on_timeout=True,
        raise_interrupt=False,
        ignore_permission_denied=True,
    )
    pause, first = _FIRST_PAUSE, True
    while not stop.is_set():
        try:
            with Store(connect(settings)) as store:
                done(index(store, embedder, settings, warn=once, progress=progress))
            pause = _FIRST_PAUSE
        except InfoForgeError as error:
            if first and not _passes(error):
                raise
            once(WarningMessage("vault_waiting", f"{error.message}; trying again"))
            if away is not None and error.code == "vault_down":
                away()
            stop.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
            continue
        first = False
        told -= {message for message in told if message.endswith("trying again")}
        due = time.monotonic() + sweep
        while True:
            changed = next(stream, None)
            if changed is None:
                return
            if changed or time.monotonic() >= due or not _answers(settings):
                break


def _answers(settings: VaultSettings) -> bool:
    try:
        connect(settings).close()
    except InfoForgeError:
        return False
    return True


def _passes(error: InfoForgeError) -> bool:
    """Whether waiting may mend it: the database or another indexer, not a wrong setting."""
    return error.code in ("vault_down", "vault_busy", "vault_full", "embedder_down")
