"""API keys: read where they are used, never shown."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from infoforge.config.settings import EndpointSettings
from infoforge.contract import ConfigError, Warn, WarningMessage


class Secret(str):
    """Text that does not show itself in a ``repr``, a log of arguments or a traceback's locals."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


def api_key(
    endpoint: EndpointSettings,
    warn: Warn | None = None,
    environ: Mapping[str, str] = os.environ,
) -> str | None:
    """The API key of an endpoint, read now.

    Args:
        endpoint: Names an environment variable or a file, or neither.
        warn: Told when others than the owner may read the file.
        environ: The environment.

    Returns:
        The key, or ``None`` when the endpoint has none.

    Raises:
        ConfigError: The variable or file that is named is missing, empty, or holds no key.
    """
    who = f"endpoint {endpoint.name}"
    if endpoint.api_key_env:
        where = f"{who}: api_key_env {endpoint.api_key_env}"
        value = environ.get(endpoint.api_key_env, "")
        if not value.strip():
            raise ConfigError(
                f"{where}: the environment variable is not set",
                f"export {endpoint.api_key_env}=… before the call, or use api_key_file",
                code="api_key",
            )
        return _checked(value, where)
    if endpoint.api_key_file is None:
        return None
    where = f"{who}: api_key_file {endpoint.api_key_file}"
    try:
        with endpoint.api_key_file.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            content = file.read(64 * 1024)
    except OSError as error:
        raise ConfigError(
            f"{where}: cannot be read: {error.strerror or error}",
            "write the key into it, with mode 0600",
            code="api_key",
        ) from error
    _warn_of_mode(mode, where, endpoint.api_key_file, warn)
    return _checked(content.decode("utf-8", "replace"), where)


def passwords(file: Path, warn: Warn | None = None) -> dict[str, tuple[str, str]]:
    """User and password by host, from a file in the format of ``.netrc``.

    Args:
        file: The file.
        warn: Told when others than the owner may read it.

    Raises:
        ConfigError: It cannot be read, or is not in that format.
    """
    import netrc

    where = f"catalog.auth_file {file}"
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
        hosts = netrc.netrc(str(file)).hosts
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"{where}: cannot be read: {reason}", code="auth_file") from error
    except netrc.NetrcParseError as error:
        # The error's own words may quote a password.
        raise ConfigError(
            f"{where}: line {error.lineno} is not in the format of .netrc",
            "machine HOST login USER password PASSWORD",
            code="auth_file",
        ) from None
    _warn_of_mode(mode, where, file, warn)
    return {host.lower(): (user, Secret(word or "")) for host, (user, _, word) in hosts.items()}


def _warn_of_mode(mode: int, where: str, file: Path, warn: Warn | None) -> None:
    if mode & 0o077 and warn is not None:
        warn(
            WarningMessage(
                "api_key_mode",
                f"{where}: mode {mode:04o} lets others read the key; run: chmod 600 {file}",
            )
        )


def _checked(value: str, where: str) -> Secret:
    """The key without the line break that editors add; anything odd in it cannot be a header."""
    key = value.strip()
    if not key or not key.isascii() or any(c.isspace() or not c.isprintable() for c in key):
        raise ConfigError(
            f"{where}: holds no key",
            "one line of printable ASCII without blanks is expected (value not shown)",
            code="api_key",
        )
    return Secret(key)
