"""What a valid configuration can still get wrong: folders, keys, public addresses."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from infoforge.config.document import KeyPath
from infoforge.config.keys import api_key
from infoforge.config.privacy import check_private
from infoforge.config.settings import EndpointSettings, Settings, ZimSettings
from infoforge.config.validate import Problem
from infoforge.contract import ConfigError, Notice

Warn = Callable[[Notice], None]


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
    found = list(_folder(settings))
    path: KeyPath = ("kiwix", "url")
    found += _refusal(path, lambda: check_private(*_kiwix(settings)))
    for number, endpoint in enumerate(settings.endpoints):
        found += _endpoint(endpoint, ("endpoints", number), warn, environ)
    if not settings.endpoints:
        warn(
            Notice(
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


def _kiwix(settings: Settings) -> tuple[str, bool, str]:
    return settings.kiwix.url, settings.kiwix.allow_public, "kiwix.url"


def _folder(settings: Settings) -> Iterator[Problem]:
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


def _endpoint(
    endpoint: EndpointSettings, path: KeyPath, warn: Warn, environ: Mapping[str, str]
) -> Iterator[Problem]:
    what = f"endpoint {endpoint.name}"
    yield from _refusal(
        (*path, "url"), lambda: check_private(endpoint.url, endpoint.allow_public, what)
    )
    key = "api_key_env" if endpoint.api_key_env else "api_key_file"
    yield from _refusal((*path, key), lambda: api_key(endpoint, warn, environ))
    if endpoint.max_tokens >= endpoint.context_tokens:
        yield Problem(
            (*path, "max_tokens"),
            f"{endpoint.max_tokens} leaves no room for articles in a context of"
            f" {endpoint.context_tokens} tokens",
            "max_tokens is part of context_tokens: lower the one or raise the other",
        )


def _refusal(path: KeyPath, act: Callable[[], object]) -> Iterator[Problem]:
    try:
        act()
    except ConfigError as error:
        yield Problem(path, error.message, error.hint)
