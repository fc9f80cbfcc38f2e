"""The health checks of `doctor`, from the configuration to an answer.

Those of the container and of the vault have modules of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from infoforge.box.health import (
    FAIL,
    PASS,
    WARN,
    CheckContext,
    CheckResult,
    HealthCheck,
)
from infoforge.config.settings import EndpointSettings
from infoforge.contract import WarningMessage
from infoforge.text.parse import integer

if TYPE_CHECKING:
    from infoforge.corpus.base import Corpus
    from infoforge.model.probe import Probe
    from infoforge.zims.inventory import ExcludedFile


OLD_MONTHS = 24
"""A dump older than this is worth a warning."""

_LETTERS = "a e i o s t m d k 1 2 а о п с к ا م א ה α 一 中 人 日 の ア 가 ก अ"
"""First letters of titles; one of them begins a title in any wiki."""
_MOST_WORDS = 8


# The configuration and the folder


def config(context: CheckContext) -> Iterable[HealthCheck]:
    """The check of the configuration."""
    yield HealthCheck("config", lambda: _config_checks(context))


def _config_checks(context: CheckContext) -> Iterator[CheckResult]:
    from infoforge.config.check import check_keys, check_values

    found = list(check_values(context.settings))
    for problem in found:
        yield CheckResult("config", FAIL, f"{problem.key}: {problem.message}", problem.hint)
    heard: list[WarningMessage] = []
    # A key that cannot be read is reported with its endpoint; one that others can read, here.
    list(check_keys(context.settings, heard.append))
    for warning in heard:
        yield CheckResult("config", WARN, warning.message, "infoforge config check")
    if not found:
        path = context.settings.path
        yield CheckResult("config", PASS, str(path) if path else "no file: built-in defaults")


def folder(context: CheckContext) -> Iterable[HealthCheck]:
    """The check of the ZIM folder."""
    yield HealthCheck("folder", lambda: _folder_checks(context))


def _folder_checks(context: CheckContext) -> Iterator[CheckResult]:
    from infoforge.config.check import check_folder

    settings = context.settings
    folder = settings.zims.folder
    found = list(check_folder(settings))
    for problem in found:
        yield CheckResult("folder", FAIL, problem.message, problem.hint)
    if found:
        return
    if not folder.is_dir():
        yield CheckResult(
            "folder",
            WARN,
            f"{folder} does not exist: nothing to fall back on when {settings.kiwix.url} is down",
            f"mkdir -p {folder}, or set zims.folder",
        )
        return
    choice = context.choice()
    for item in choice.missing:
        detail = f"enabled but not in {folder}: {item.file}"
        yield CheckResult("folder", FAIL, detail, "infoforge zims list, and mend zims.enabled")
    if choice.files or not choice.missing:
        yield CheckResult("folder", PASS, f"{folder}: {len(choice.files)} ZIM file(s) in use")


# The ZIM files


def zims(context: CheckContext) -> Iterable[HealthCheck]:
    """A check for each enabled ZIM file."""
    choice = context.choice()
    for item in choice.damaged:
        yield HealthCheck(f"zim:{item.file}", partial(_damaged, item))
    for path in choice.paths:
        yield HealthCheck(f"zim:{path.name}", partial(_zim, context, path))


def _damaged(item: ExcludedFile) -> Iterator[CheckResult]:
    detail = item.reason
    if item.instead:
        detail += f"; {item.instead} is used in its place"
    yield CheckResult(f"zim:{item.file}", FAIL, detail, f"infoforge zims verify {item.file}")


def _zim(context: CheckContext, path: Path) -> Iterator[CheckResult]:
    from infoforge.corpus.zim import ZimCorpus

    name = f"zim:{path.name}"
    info = ZimCorpus(path).describe()
    fulltext = "full text yes" if info.fulltext else "full text no: found by title alone"
    detail = (
        f"opens, index sound, {info.articles} articles, {fulltext}, of {info.date or 'no date'}"
    )
    age = months_between(info.date, context.today)
    days = days_between(info.date, context.today)
    measured = {} if days is None else {"age_days": float(days)}
    if age is not None and age > OLD_MONTHS:
        old = f"{age // 12} years old: what is newer does not exist for it"
        hint = "infoforge zims update --check"
        yield CheckResult(name, WARN, f"{detail}; {old}", hint, path.name, measured)
    elif not info.fulltext:
        hint = "infoforge zims available lists editions with full text"
        yield CheckResult(name, WARN, detail, hint, path.name, measured)
    else:
        yield CheckResult(name, PASS, detail, "", path.name, measured)


def months_between(dump: str, today: date) -> int | None:
    """Whole months from the date of a dump (``2026-06``, ``2026-06-15``) to today, or ``None``."""
    year, _, rest = dump.partition("-")
    month = rest[:2]
    if not (integer(year, most=9999) and integer(month, most=12)):
        return None
    return 12 * (today.year - integer(year)) + today.month - integer(month)


def days_between(dump: str, today: date) -> int | None:
    """Days from the date of a dump (a month counts from its first day) to today, or ``None``."""
    whole = dump if len(dump) > 7 else f"{dump}-01"
    try:
        return (today - date.fromisoformat(whole[:10])).days
    except ValueError:
        return None


# kiwix-serve


def kiwix(context: CheckContext) -> Iterable[HealthCheck]:
    """The check of kiwix-serve's catalog."""
    yield HealthCheck("kiwix", lambda: _kiwix_checks(context))


def _kiwix_checks(context: CheckContext) -> Iterator[CheckResult]:
    from infoforge.corpus.base import CorpusError, Deadline
    from infoforge.corpus.kiwix import KiwixServer
    from infoforge.privacy import check_private

    kiwix = context.settings.kiwix
    if not kiwix.url:
        yield CheckResult("kiwix", PASS, "not configured: the ZIM files are opened in this process")
        return
    check_private(kiwix.url, kiwix.allow_public, "kiwix.url")
    hint = "infoforge serve status, or check kiwix.url"
    try:
        books = KiwixServer(kiwix.url, allow_public=kiwix.allow_public).books(
            Deadline(context.timeout)
        )
    except CorpusError as error:
        yield CheckResult("kiwix", FAIL, str(error), hint)
        return
    served = {book.name for book in books}
    if not served:
        yield CheckResult("kiwix", FAIL, f"{kiwix.url} answers and serves no book", hint)
        return
    expected = _expected(context)
    missing = sorted(expected - served)
    if missing and (context.settings.zims.enabled or expected & served):
        detail = f"{kiwix.url} does not serve: {', '.join(missing)}"
        yield CheckResult("kiwix", FAIL, detail, "infoforge serve recreate, or mend zims.enabled")
    elif missing:
        yield CheckResult(
            "kiwix",
            WARN,
            f"{kiwix.url} serves {len(served)} book(s), none of {context.settings.zims.folder}",
            "right for a server with another folder; list its books in zims.enabled",
        )
    else:
        yield CheckResult(
            "kiwix", PASS, f"{kiwix.url} serves {len(served)} book(s): {_some(served)}"
        )


def _expected(context: CheckContext) -> set[str]:
    """Names of the books that kiwix-serve should have; not those without a good edition."""
    from infoforge.zims.names import book_name

    choice = context.choice()
    good = {book_name(file) for file in choice.files}
    return good | {book_name(item.file) for item in choice.missing}


def _some(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:5]) + (", …" if len(ordered) > 5 else "")


# A search in each corpus


def search(context: CheckContext) -> Iterable[HealthCheck]:
    """A check for each corpus: a search and a read."""
    from infoforge.corpus.base import Deadline
    from infoforge.corpus.opened import open_corpora

    ignored: list[WarningMessage] = []  # what could not be opened is reported by the checks before
    for corpus in open_corpora(
        context.settings, ignored.append, deadline=Deadline(context.timeout)
    ):
        yield HealthCheck(f"search:{corpus.name}", partial(_search_checks, context, corpus))


def _search_checks(context: CheckContext, corpus: Corpus) -> Iterator[CheckResult]:
    import time

    from infoforge.corpus.base import Deadline

    name = f"search:{corpus.name}"
    deadline = Deadline(context.timeout)
    hint = f"infoforge zims verify {corpus.name}"
    titles = next(
        (hits for letter in _LETTERS.split() if (hits := corpus.titles(letter, 5, deadline))), ()
    )
    hits, query, total = titles, "a title", len(titles)
    milliseconds = 0.0
    deaf = corpus.describe().fulltext
    if deaf:
        for word in _words([hit.title for hit in titles]):
            started = time.perf_counter()
            found = corpus.search(word, 3, deadline)
            milliseconds = (time.perf_counter() - started) * 1000
            if found.hits:
                hits, query, total, deaf = found.hits, f"'{word}'", found.total, False
                break
    if not hits and not corpus.describe().fulltext:
        detail = "no full-text index: found by title alone, and none was found by its first letter"
        hint = "infoforge zims available lists editions with full text"
        yield CheckResult(name, WARN, detail, hint)
        return
    if not hits:
        yield CheckResult(name, FAIL, "nothing is found, whatever is searched for", hint)
        return
    article = next((a for hit in hits if (a := corpus.read(hit.path, deadline)) is not None), None)
    if article is None:
        yield CheckResult(name, FAIL, f"found {query}, but cannot read {hits[0].path}", hint)
        return
    detail = f"{total} hit(s) for {query} in {milliseconds:.0f} ms; read '{article.title}'"
    measured = {"search_seconds": milliseconds / 1000} if milliseconds else {}
    if deaf:
        told = f"{detail}; its full text finds nothing"
        yield CheckResult(name, WARN, told, hint, corpus.name, measured)
    else:
        yield CheckResult(name, PASS, detail, "", corpus.name, measured)


def _words(titles: Sequence[str]) -> list[str]:
    """Words that must be found, as they stand in titles; then words that stand in most wikis."""
    import re

    words = {w for title in titles for w in re.split(r"[\W_]+", title) if len(w) > 1}
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return [*ordered[:_MOST_WORDS], "world", "year", "2000", "1"]


# The endpoints


def endpoints(context: CheckContext) -> Iterable[HealthCheck]:
    """Checks for each endpoint: reachable, model, completion, context."""
    if not context.settings.endpoints:
        warning = CheckResult(
            "endpoint",
            WARN,
            "none is configured: search works, ask does not",
            "infoforge config init, or add an endpoint (kind: quote needs no server)",
        )
        yield HealthCheck("endpoint", lambda: [warning])
    for endpoint in context.settings.endpoints:
        yield HealthCheck(f"endpoint:{endpoint.name}", partial(_endpoint, context, endpoint))


def _endpoint(context: CheckContext, endpoint: EndpointSettings) -> Iterator[CheckResult]:
    from infoforge.model.probe import probe

    name = f"endpoint:{endpoint.name}"
    if endpoint.kind == "quote":
        yield CheckResult(name, PASS, "quotes the articles; needs no server")
        return
    times = endpoint.timeouts
    hurried = replace(
        times,
        connect=min(times.connect, context.timeout),
        first_byte=min(times.first_byte, context.timeout),
        total=min(times.total, context.timeout),
    )
    found = probe(replace(endpoint, timeouts=hurried), measure=context.measure)
    if not found.reachable:
        yield CheckResult(name, FAIL, f"{endpoint.url}: {found.message}", found.hint)
        return
    yield CheckResult(name, PASS, f"{endpoint.url} answers")
    yield from _model(name, found)
    if not found.completes:
        return
    told = f"one token in {found.seconds:.1f} s"
    measured = {"completion_seconds": found.seconds}
    yield CheckResult(f"{name}:completion", PASS, told, "", endpoint.name, measured)
    yield _context(f"{name}:context", endpoint, found)


def _model(name: str, found: Probe) -> Iterator[CheckResult]:
    listed = f"it lists: {_some(found.models)}" if found.models else "it lists no models"
    if not found.model:
        yield CheckResult(f"{name}:model", FAIL, found.message, found.hint)
    elif found.listed or (found.listed is None and found.completes):
        yield CheckResult(
            f"{name}:model", PASS, found.model if found.listed else f"{found.model}; {listed}"
        )
    elif found.completes:
        detail = f"{found.model} is not listed, but answers; {listed}"
        yield CheckResult(f"{name}:model", WARN, detail, "set model to the name in the list")
    elif found.listed is False:
        hint = "set model to one of the list, or load it into the server"
        yield CheckResult(f"{name}:model", FAIL, f"{found.model} is not listed; {listed}", hint)
    if found.model and not found.completes:
        yield CheckResult(f"{name}:completion", FAIL, found.message, found.hint)


def _context(name: str, endpoint: EndpointSettings, found: Probe) -> CheckResult:
    """A server that cuts prompts cuts the rules away first: its answers look right and are not."""
    if found.context_ok:
        told = found.context_from
        size = f"{found.context} tokens ({told})" if found.context else f"all read ({told})"
        return CheckResult(name, PASS, f"{size}; context_tokens is {endpoint.context_tokens}")
    if found.context_ok is False:
        return CheckResult(name, FAIL, found.message, found.hint)
    return CheckResult(
        name,
        WARN,
        found.message or "the server does not say how many tokens it reads",
        found.hint or "make sure that it has context_tokens, or lower it",
    )
