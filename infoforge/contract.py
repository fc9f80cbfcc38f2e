"""The contract with the caller: exit codes, errors, warnings, the JSON envelope.

An exit code rides on the exception class, so a stage that raises need not know about the command
line, and the command line need not know why a stage gave up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

ENVELOPE_VERSION = 1
"""Version of the JSON envelope. Within one version, keys are only ever added."""

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NOTHING_FOUND = 3
EXIT_NOT_VERIFIED = 4
EXIT_NO_ENDPOINT = 5

STATUS_BY_EXIT = {
    EXIT_OK: "ok",
    EXIT_FAILED: "failed",
    EXIT_USAGE: "usage",
    EXIT_NOTHING_FOUND: "nothing_found",
    EXIT_NOT_VERIFIED: "not_grounded",
    EXIT_NO_ENDPOINT: "no_endpoint",
}
"""The word that stands for each exit code in the envelope's ``status``."""


@dataclass(frozen=True, slots=True)
class WarningMessage:
    """A warning: a stable code for programs, one sentence for people."""

    code: str
    message: str


Warn = Callable[[WarningMessage], None]
"""Takes one warning; every stage that may warn has such a parameter."""


class InfoForgeError(Exception):
    """Base of every failure a caller may meet.

    Args:
        message: One line: what is wrong, with the offending value, and why.
        hint: One line: what to do about it, a command where there is one.
        code: Stable code for programs; the class's own when not given.
        warnings: Warnings gathered before the failure.
        data: What was reached all the same (the articles found, say), as the envelope's ``data``.
    """

    exit_code: ClassVar[int] = EXIT_FAILED
    default_code: ClassVar[str] = "internal"

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        code: str = "",
        warnings: Sequence[WarningMessage] = (),
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or self.default_code
        self.warnings = tuple(warnings)
        self.data = data


class CheckFailed(InfoForgeError):
    """A check said no (``doctor``, ``eval``, a download that could not be verified)."""

    default_code = "check_failed"


class CorpusUnavailable(InfoForgeError):
    """No corpus could be searched at all. Down is never reported as "nothing found"."""

    default_code = "corpus_unavailable"


class UsageError(InfoForgeError):
    """Bad usage: an argument or option that cannot be taken."""

    exit_code = EXIT_USAGE
    default_code = "usage"


class ConfigError(InfoForgeError):
    """Bad configuration: file, key, value and what is allowed are in the message."""

    exit_code = EXIT_USAGE
    default_code = "config"


class NothingFound(InfoForgeError):
    """Nothing to ground on; the model was not called."""

    exit_code = EXIT_NOTHING_FOUND
    default_code = "nothing_found"


class NotVerified(InfoForgeError):
    """The answer names none of its sources or states what none of them has (``--strict``)."""

    exit_code = EXIT_NOT_VERIFIED
    default_code = "not_grounded"


class NoEndpoint(InfoForgeError):
    """No endpoint gave an answer; the articles found are in ``data``."""

    exit_code = EXIT_NO_ENDPOINT
    default_code = "no_endpoint"


def envelope(
    command: str,
    data: Mapping[str, Any] | None,
    *,
    exit_code: int = EXIT_OK,
    warnings: Sequence[WarningMessage] = (),
    error: InfoForgeError | None = None,
) -> dict[str, Any]:
    """Wrap what a command produced in the one versioned JSON envelope.

    Args:
        command: The command's name, with its group (``"config show"``).
        data: The command's own payload; ``None`` when there is none.
        exit_code: What the process will exit with; an ``error`` overrides it.
        warnings: Warnings, in the order they arose.
        error: The failure, if the command failed.

    Returns:
        A dict that ``json.dumps`` takes, with every key of the envelope present.
    """
    code = error.exit_code if error is not None else exit_code
    errors = []
    if error is not None:
        errors.append({"code": error.code, "message": error.message, "hint": error.hint})
    return {
        "schema": ENVELOPE_VERSION,
        "command": command,
        "status": STATUS_BY_EXIT.get(code, "failed"),
        "exit_code": code,
        "data": dict(data) if data is not None else None,
        "warnings": [{"code": n.code, "message": n.message} for n in warnings],
        "errors": errors,
    }
