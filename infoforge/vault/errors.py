"""What may go wrong with the vault, in the contract's own terms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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


@contextmanager
def told() -> Iterator[None]:
    """Psycopg's errors in the contract's terms: what is wrong, and what to do about it.

    Raises:
        VaultDown: The server does not answer, refuses, or has no room.
        VaultError: Anything else that the database says.
    """
    try:
        import psycopg
    except ImportError as error:
        raise missing("psycopg") from error
    try:
        yield
    except psycopg.Error as error:
        raise _error(error) from error


def _error(error: Any) -> VaultError:  # noqa: ANN401, PLR0911 - a psycopg.Error
    said = " ".join(str(error).split())[:300]
    state = error.sqlstate or ""
    doctor = "infoforge doctor --only vault says what is wrong"
    if state == "28P01" or "password authentication failed" in said or "no password" in said:
        return VaultDown(
            f"the vault's database refuses the password: {said}",
            "mend the file that vault.password_file names",
            code="vault_password",
        )
    if state in ("53100", "53200") or "No space left" in said:
        return VaultDown(
            f"the vault's database has no room: {said}",
            "free some space; what was indexed before is still there; then: infoforge vault index",
            code="vault_full",
        )
    if 'extension "vector"' in said or 'type "vector"' in said:
        hint = (
            "as a superuser in that database: CREATE EXTENSION vector"
            if state == "42501"
            else "install pgvector on the server (postgresql-17-pgvector), or use the container: "
            "infoforge vault init"
        )
        return VaultDown(f"the vault's database has no pgvector: {said}", hint, code="no_pgvector")
    if state == "42501":
        return VaultDown(
            f"the database role may not do this: {said}",
            "let the role own the database: ALTER DATABASE … OWNER TO …",
            code="vault_rights",
        )
    if state == "55P03":
        return VaultError(
            "another indexer is at work on this vault",
            "wait for it; infoforge vault status says how far it is",
            code="vault_busy",
        )
    if state == "22000" and "dimensions" in said:
        return VaultError(
            f"the index has vectors of another length: {said}",
            "infoforge vault index --rebuild",
            code="vault_model",
        )
    import psycopg

    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return VaultDown(f"the vault's database does not answer: {said}", doctor)
    return VaultError(f"the vault's database says: {said}", doctor)
