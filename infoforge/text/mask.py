"""Secrets in URLs and command lines, taken out before these are shown.

A URL holds secrets in its user part, in its query, and, with a webhook, in its path. A command line
holds them in options and in URLs. What is masked reads ``…``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

MASK = "…"
_SENTENCES = {"message", "hint", "detail", "reason", "problem", "error", "catalog"}
_NAME = (
    r"(?:[\w.-]*[_.-])?(?:api-?key|apikey|key|token|bearer|passw(?:or)?d|pwd|pass|secret|"
    r"sig(?:nature)?|auth(?:orization)?|credentials?|session(?:id)?|jwt)"
)
_SECRET_NAME = re.compile(rf"{_NAME}", re.IGNORECASE)
_URL = re.compile(
    r"(?P<scheme>\b[a-z][a-z0-9+.-]{1,20}://)(?P<user>[^\s/?#'\"<>]*@)?(?P<host>[^\s/?#'\"<>]*)"
    r"(?P<path>[^\s?#'\"<>]*)(?P<query>\?[^\s#'\"<>]*)?(?P<fragment>#[^\s'\"<>]*)?",
    re.IGNORECASE,
)
_RANDOM = re.compile(r"(?=[\w+/=.-]*[0-9])(?=[\w+/=.-]*[A-Za-z])[\w+/=-]{20,}")
_OPTION = re.compile(r"(?P<name>-{0,2}[\w.-]+)=(?P<value>.*)", re.DOTALL)
_HEADER = re.compile(r"(?P<name>[\w-]+):\s*(?P<value>.+)", re.DOTALL)


def mask_urls(text: str, *, path: bool = False) -> str:
    """A text, its URLs without passwords and without the values of secret query keys.

    Args:
        text: Any text.
        path: Mask the whole path and query too, which are the secret of a webhook.
    """

    def masked(match: re.Match[str]) -> str:
        user = f"{MASK}@" if match["user"] else ""
        rest = match["path"]
        if path:
            long = len(rest.strip("/")) > 0 or match["query"]
            return f"{match['scheme']}{user}{match['host']}" + (f"/{MASK}" if long else rest)
        return (
            f"{match['scheme']}{user}{match['host']}{rest}"
            f"{_query(match['query'] or '')}{_query(match['fragment'] or '')}"
        )

    return _URL.sub(masked, text) if "://" in text else text


def _query(query: str) -> str:
    """A query or fragment with the values of secret keys masked, and whatever looks random."""
    if not query:
        return ""
    parts = []
    for part in query[1:].split("&"):
        name, equals, value = part.partition("=")
        secret = _SECRET_NAME.fullmatch(name) or _RANDOM.fullmatch(value)
        if not equals and _RANDOM.fullmatch(name):
            parts.append(MASK)
        else:
            parts.append(name + equals + (MASK if equals and value and secret else value))
    return query[0] + "&".join(parts)


def mask_document(value: Any, key: str = "") -> Any:  # noqa: ANN401 - JSON
    """Plain data, the URLs in its sentences masked: messages, hints, details, and the catalog.

    Args:
        value: What ``json.dumps`` takes.
        key: The key that it stands under.
    """
    if isinstance(value, str):
        return mask_urls(value) if key in _SENTENCES else value
    if isinstance(value, Mapping):
        return {name: mask_document(item, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [mask_document(item, key) for item in value]
    return value


def mask_command(command: str) -> str:
    """A command line for people: the program and its options, no secret in them.

    Args:
        command: As in the configuration, quoted as for a shell.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return MASK
    shown = words[:1]
    after = False
    for word in words[1:]:
        shown.append(MASK if after else _word(word))
        # "--token abc": the word behind the option is the secret.
        after = (
            not after
            and word.startswith("-")
            and bool(_SECRET_NAME.fullmatch(word.lstrip("-")) or word in ("-u", "-p"))
        )
    return " ".join(word if word == MASK else _quoted(word) for word in shown)


def secrets_of(command: str) -> tuple[str, ...]:
    """The words of a command line that `mask_command` changes, the longest first."""
    try:
        words = shlex.split(command)
    except ValueError:
        return ()
    kept = mask_command(command)
    return tuple(sorted({w for w in words[1:] if len(w) > 3 and w not in kept}, key=len)[::-1])


def _word(word: str) -> str:
    if "://" in word:
        return mask_urls(word, path=True)
    for form in (_OPTION, _HEADER):
        match = form.fullmatch(word)
        if match and _SECRET_NAME.fullmatch(match["name"].lstrip("-")):
            return word[: match.start("value")] + MASK
    return _RANDOM.sub(MASK, word)


def _quoted(word: str) -> str:
    return shlex.quote(word) if MASK not in word or " " in word else word
