"""What a valid configuration can still get wrong: folders, keys, public addresses."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from infoforge.config.document import KeyPath
from infoforge.config.keys import api_key, passwords
from infoforge.config.settings import EndpointSettings, MonitorSettings, Settings, ZimSettings
from infoforge.config.validate import Problem
from infoforge.contract import ConfigError, Warn, WarningMessage
from infoforge.privacy import check_private


def check(
    settings: Settings, warn: Warn, environ: Mapping[str, str] = os.environ
) -> tuple[Problem, ...]:
    """Look at what the settings point to. Resolves names, connects to nothing.

    Args:
        settings: Valid settings.
        warn: Told what works but should not stay so.
        environ: The environment, for keys.

    Returns:
        The problems, in the order of the file's sections.
    """
    kiwix = settings.kiwix
    found = list(check_folder(settings))
    path: KeyPath = ("kiwix", "url")
    found += _refusal(path, lambda: check_private(kiwix.url, kiwix.allow_public, "kiwix.url"))
    for number, endpoint in enumerate(settings.endpoints):
        found += _address(endpoint, ("endpoints", number))
    found += check_monitor(settings.monitor)
    found += check_keys(settings, warn, environ)
    found += check_values(settings)
    found += check_vault(settings)
    if not settings.endpoints:
        warn(
            WarningMessage(
                "no_endpoint",
                "endpoints: none is configured, so search works and ask does not;"
                " add one, or {name: quote, kind: quote}, which needs no server",
            )
        )
    return tuple(found)


def zim_files(zims: ZimSettings) -> list[Path]:
    """The ZIM files of the folder by name; none when it cannot be read."""
    try:
        return sorted(p for p in zims.folder.iterdir() if p.suffix == ".zim" and p.is_file())
    except OSError:
        return []


def check_folder(settings: Settings) -> Iterator[Problem]:
    """Is the ZIM folder there, readable, and not empty?"""
    folder = settings.zims.folder
    key: KeyPath = ("zims", "folder")
    if not folder.exists():
        # With a server of its own the folder may well be on another machine.
        if not settings.kiwix.url:
            yield Problem(key, f"{folder} does not exist", f"mkdir -p {folder}, or set zims.folder")
    elif not folder.is_dir():
        yield Problem(key, f"{folder} is not a folder", "set zims.folder to the folder of the ZIMs")
    elif not os.access(folder, os.R_OK | os.X_OK):
        yield Problem(key, f"{folder} cannot be read by this user", f"check: ls -ld {folder}")
    elif not settings.kiwix.url and not zim_files(settings.zims):
        yield Problem(
            key, f"{folder} holds no ZIM file", "infoforge zims pull NAME, or zimify a folder"
        )


def check_monitor(monitor: MonitorSettings) -> Iterator[Problem]:
    """Whether notifications can be sent, and stay on private addresses."""
    try:
        usable = not monitor.command or bool("".join(shlex.split(monitor.command)[:1]).strip())
    except ValueError:  # a quotation mark that is not closed
        usable = False
    if not usable:
        yield Problem(
            ("monitor", "command"),
            "is blank or names no program",
            "give a program and its arguments, or leave the key out",
        )
    yield from _refusal(
        ("monitor", "webhook"),
        lambda: check_private(monitor.webhook, monitor.allow_public, "monitor.webhook"),
    )


def check_keys(
    settings: Settings, warn: Warn, environ: Mapping[str, str] = os.environ
) -> Iterator[Problem]:
    """Can every API key be read, and by its owner alone?"""
    for number, endpoint in enumerate(settings.endpoints):
        key = "api_key_env" if endpoint.api_key_env else "api_key_file"
        yield from _refusal(
            ("endpoints", number, key),
            partial(api_key, endpoint, warn, environ),
        )
    if file := settings.catalog.auth_file:
        yield from _refusal(("catalog", "auth_file"), partial(passwords, file, warn))


def check_values(settings: Settings) -> Iterator[Problem]:
    """Values that are right each for itself and do not go together."""
    for number, endpoint in enumerate(settings.endpoints):
        if endpoint.max_tokens >= endpoint.context_tokens:
            yield Problem(
                ("endpoints", number, "max_tokens"),
                f"{endpoint.max_tokens} leaves no room for articles in a context of"
                f" {endpoint.context_tokens} tokens",
                "max_tokens is part of context_tokens: lower the one or raise the other",
            )


def check_vault(settings: Settings) -> Iterator[Problem]:
    """Is the vault's folder there, and is its embedding server named whole and at home?"""
    vault, embedding = settings.vault, settings.vault.embedding
    if vault.folder is not None and not vault.folder.is_dir():
        hint = f"mkdir -p {vault.folder}, or set vault.folder"
        yield Problem(("vault", "folder"), f"{vault.folder} is not a folder", hint)
    if embedding.kind == "openai":
        for key in ("url", "model"):
            if not getattr(embedding, key):
                text = f"kind is openai, and there is no {key}"
                yield Problem(("vault", "embedding", key), text, f"set vault.embedding.{key}")
    what = "vault.embedding.url"
    yield from _refusal(
        ("vault", "embedding", "url"),
        lambda: check_private(embedding.url, embedding.allow_public, what),
    )


def _address(endpoint: EndpointSettings, path: KeyPath) -> Iterator[Problem]:
    what = f"endpoint {endpoint.name}"
    yield from _refusal(
        (*path, "url"), lambda: check_private(endpoint.url, endpoint.allow_public, what)
    )


def _refusal(path: KeyPath, act: Callable[[], object]) -> Iterator[Problem]:
    try:
        act()
    except ConfigError as error:
        yield Problem(path, error.message, error.hint)
