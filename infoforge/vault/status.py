"""What the index holds, next to what the folder holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infoforge.contract import Warn
from infoforge.vault import folder as vault_folder
from infoforge.vault.errors import VaultError
from infoforge.vault.store import Store, address, connect

if TYPE_CHECKING:
    from infoforge.config.settings import VaultSettings


def status(settings: VaultSettings, warn: Warn) -> dict[str, Any]:
    """Look at the index and the folder; nothing is changed, no model is opened.

    Args:
        settings: The vault's settings, with a folder.
        warn: Told which files are no notes.

    Returns:
        Plain data: ``new``, ``gone`` and ``changed`` count notes that a run would take on. A
        change is told by the file's digest.

    Raises:
        VaultError: The database or the folder fails, or there is no index yet.
    """
    if settings.folder is None:
        raise VaultError("no vault is configured", "set vault.folder", code="no_vault")
    with Store(connect(settings)) as store:
        model = store.model()
        if model is None:
            raise VaultError(
                "the vault has no index yet", "run: infoforge vault index", code="no_index"
            )
        counts = store.counts()
        held = store.notes()
        salt = store.setting("salt").encode()
    present: dict[str, str] = {}
    for file in vault_folder.files(settings.folder, settings.exclude, warn):
        digest = vault_folder.digest(file, salt)
        if digest:
            present[file.source] = digest
    return {
        "folder": str(settings.folder),
        "database": address(settings),
        "model": {"name": model.name, "dimension": model.dimension},
        "notes": counts.notes,
        "chunks": counts.chunks,
        "size": counts.size,
        "newest": counts.newest,
        "new": len(present.keys() - held.keys()),
        "gone": len(held.keys() - present.keys()),
        "changed": sum(1 for s, d in present.items() if s in held and held[s] != d),
    }
