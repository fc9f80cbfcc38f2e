"""What may go wrong with the vault, in the contract's own terms."""

from __future__ import annotations

from infoforge.contract import InfoForgeError


class VaultError(InfoForgeError):
    """The vault cannot do what was asked; exit code 1."""

    default_code = "vault"


class VaultDown(VaultError):
    """The database does not answer, refuses, or has no room."""

    default_code = "vault_down"


def missing(package: str) -> VaultError:
    """The error for a library of the extra that is not installed."""
    return VaultError(
        f"the vault needs {package}, which is not installed",
        "install the extra: pip install 'infoforge[vault]'",
        code="vault_extra",
    )
