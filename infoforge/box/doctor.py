"""The links of the chain, from the configuration to an answer, each with what may be wrong with it.

To add checks: a function that takes the `Case` and lists `Step`s, and one row in `GROUPS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from infoforge.box.doctor_vault import vault
from infoforge.box.walk import FAIL, PASS, WARN, Case, Check, Group, Step, walk
from infoforge.config.settings import EndpointSettings
from infoforge.contract import WarningMessage

if TYPE_CHECKING:
    from infoforge.corpus.base import Corpus
    from infoforge.model.probe import Probe

OLD_MONTHS = 24
"""A dump older than this is worth a warning."""

_LETTERS = "a e i o s t m d k 1 2 а о п с к ا م א ה α 一 中 人 日 の ア 가 ก अ"
"""First letters of titles; one of them begins a title in any wiki."""
_MOST_WORDS = 8


def examine(
    case: Case, only: Sequence[str] = (), more: Sequence[tuple[str, Group]] = ()
) -> Iterator[Check]:
    """Walk every link, then the groups in ``more``; see `walk`."""
    return walk(case, (*GROUPS, *more), only)


# The configuration and the folder


def _config(case: Case) -> Iterable[Step]:
    yield Step("config", lambda: _config_checks(case))


def _config_checks(case: Case) -> Iterator[Check]:
    from infoforge.config.check import check_keys, check_values

    found = list(check_values(case.settings))
    for problem in found:
        yield Check("config", FAIL, f"{problem.key}: {problem.message}", problem.hint)
    heard: list[WarningMessage] = []
    # A key that cannot be read is told of with its endpoint; one that others can read, here.
    list(check_keys(case.settings, heard.append))
    for warning in heard:
        yield Check("config", WARN, warning.message, "infoforge config check")
    if not found:
        path = case.settings.path
        yield Check("config", PASS, str(path) if path else "no file: built-in defaults")


def _folder(case: Case) -> Iterable[Step]:
    yield Step("folder", lambda: _folder_checks(case))


def _folder_checks(case: Case) -> Iterator[Check]:
    from infoforge.config.check import check_folder

    settings = case.settings
    folder = settings.zims.folder
    found = list(check_folder(settings))
    for problem in found:
        yield Check("folder", FAIL, problem.message, problem.hint)
    if found:
        return
    if not folder.is_dir():
        yield Check(
            "folder",
            WARN,
            f"{folder} does not exist: nothing to fall back on when {settings.kiwix.url} is down",
            f"mkdir -p {folder}, or set zims.folder",
        )
        return
    paths, missing = case.wanted()
    for warning in missing:
        yield Check("folder", FAIL, warning.message, "infoforge zims list, and mend zims.enabled")
    if paths or not missing:
        yield Check("folder", PASS, f"{folder}: {len(paths)} ZIM file(s) in use")


# The ZIM files


def _zims(case: Case) -> Iterable[Step]:
    for path in case.wanted()[0]:
        yield Step(f"zim:{path.name}", partial(_zim, case, path))


def _zim(case: Case, path: Path) -> Iterator[Check]:
    from infoforge.corpus.zim import ZimCorpus

    name = f"zim:{path.name}"
    damage = case.damage_of(path)
    if damage:
        yield Check(name, FAIL, damage, f"infoforge zims verify {path.name}")
        return
    info = ZimCorpus(path).describe()
    fulltext = "full text yes" if info.fulltext else "full text no: found by title alone"
    detail = (
        f"opens, index sound, {info.articles} articles, {fulltext}, of {info.date or 'no date'}"
    )
    age = months_between(info.date, case.today)
    days = days_between(info.date, case.today)
    measured = {} if days is None else {"age_days": float(days)}
    if age is not None and age > OLD_MONTHS:
        old = f"{age // 12} years old: what is newer does not exist for it"
        hint = "infoforge zims update --check"
        yield Check(name, WARN, f"{detail}; {old}", hint, path.name, measured)
    elif not info.fulltext:
        hint = "infoforge zims available lists editions with full text"
        yield Check(name, WARN, detail, hint, path.name, measured)
    else:
        yield Check(name, PASS, detail, "", path.name, measured)


def months_between(dump: str, today: date) -> int | None:
    """Whole months from the date of a dump (``2026-06``, ``2026-06-15``) to today, or ``None``."""
    year, _, rest = dump.partition("-")
    month = rest[:2]
    if not (year.isdigit() and month.isdigit()):
        return None
    return (today.year - int(year)) * 12 + today.month - int(month)


def days_between(dump: str, today: date) -> int | None:
    """Days from the date of a dump (a month counts from its first day) to today, or ``None``."""
    whole = dump if len(dump) > 7 else f"{dump}-01"
    try:
        return (today - date.fromisoformat(whole[:10])).days
    except ValueError:
        return None


# The container


def _box(case: Case) -> Iterable[Step]:
    from infoforge.box.checks import box

    return box(case)


# kiwix-serve


def _kiwix(case: Case) -> Iterable[Step]:
    yield Step("kiwix", lambda: _kiwix_checks(case))


def _kiwix_checks(case: Case) -> Iterator[Check]:
    from infoforge.corpus.base import CorpusError, Deadline
    from infoforge.corpus.kiwix import KiwixServer
    from infoforge.privacy import check_private

    kiwix = case.settings.kiwix
    if not kiwix.url:
        yield Check("kiwix", PASS, "not configured: the ZIM files are opened in this process")
        return
    check_private(kiwix.url, kiwix.allow_public, "kiwix.url")
    hint = "infoforge serve status, or check kiwix.url"
    try:
        books = KiwixServer(kiwix.url, allow_public=kiwix.allow_public).books(
            Deadline(case.timeout)
        )
    except CorpusError as error:
        yield Check("kiwix", FAIL, str(error), hint)
        return
    served = {book.name for book in books}
    if not served:
        yield Check("kiwix", FAIL, f"{kiwix.url} answers and serves no book", hint)
        return
    expected = _expected(case)
    missing = sorted(expected - served)
    if missing and (case.settings.zims.enabled or expected & served):
        detail = f"{kiwix.url} does not serve: {', '.join(missing)}"
        yield Check("kiwix", FAIL, detail, "infoforge serve recreate, or mend zims.enabled")
    elif missing:
        yield Check(
            "kiwix",
            WARN,
            f"{kiwix.url} serves {len(served)} book(s), none of {case.settings.zims.folder}",
            "right for a server with another folder; list its books in zims.enabled",
        )
    else:
        yield Check("kiwix", PASS, f"{kiwix.url} serves {len(served)} book(s): {_some(served)}")


def _expected(case: Case) -> set[str]:
    """Stable names of the books that kiwix-serve should have; damaged files are told elsewhere."""
    from infoforge.corpus.names import stable_name

    paths, _ = case.wanted()
    here = {stable_name(path.name): path for path in paths}
    wanted = {stable_name(name) for name in case.settings.zims.enabled} or set(here)
    return {name for name in wanted if name not in here or not case.damage_of(here[name])}


def _some(names: Iterable[str]) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:5]) + (", …" if len(ordered) > 5 else "")


# A search in each corpus


def _search(case: Case) -> Iterable[Step]:
    from infoforge.corpus.base import Deadline
    from infoforge.corpus.opened import open_corpora

    ignored: list[WarningMessage] = []  # what could not be opened is told by the checks before
    for corpus in open_corpora(case.settings, ignored.append, deadline=Deadline(case.timeout)):
        yield Step(f"search:{corpus.name}", partial(_search_checks, case, corpus))


def _search_checks(case: Case, corpus: Corpus) -> Iterator[Check]:
    import time

    from infoforge.corpus.base import Deadline

    name = f"search:{corpus.name}"
    deadline = Deadline(case.timeout)
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
    if not hits:
        yield Check(name, FAIL, "nothing is found, whatever is searched for", hint)
        return
    article = next((a for hit in hits if (a := corpus.read(hit.path, deadline)) is not None), None)
    if article is None:
        yield Check(name, FAIL, f"found {query}, but cannot read {hits[0].path}", hint)
        return
    detail = f"{total} hit(s) for {query} in {milliseconds:.0f} ms; read '{article.title}'"
    measured = {"search_seconds": milliseconds / 1000} if milliseconds else {}
    if deaf:
        told = f"{detail}; its full text finds nothing"
        yield Check(name, WARN, told, hint, corpus.name, measured)
    else:
        yield Check(name, PASS, detail, "", corpus.name, measured)


def _words(titles: Sequence[str]) -> list[str]:
    """Words that must be found, as they stand in titles; then words that stand in most wikis."""
    import re

    words = {w for title in titles for w in re.split(r"[\W_]+", title) if len(w) > 1}
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return [*ordered[:_MOST_WORDS], "world", "year", "2000", "1"]


# The endpoints


def _endpoints(case: Case) -> Iterable[Step]:
    if not case.settings.endpoints:
        warning = Check(
            "endpoint",
            WARN,
            "none is configured: search works, ask does not",
            "infoforge config init, or add an endpoint (kind: quote needs no server)",
        )
        yield Step("endpoint", lambda: [warning])
    for endpoint in case.settings.endpoints:
        yield Step(f"endpoint:{endpoint.name}", partial(_endpoint, case, endpoint))


def _endpoint(case: Case, endpoint: EndpointSettings) -> Iterator[Check]:
    from infoforge.model.probe import probe

    name = f"endpoint:{endpoint.name}"
    if endpoint.kind == "quote":
        yield Check(name, PASS, "quotes the articles; needs no server")
        return
    times = endpoint.timeouts
    hurried = replace(
        times,
        connect=min(times.connect, case.timeout),
        first_byte=min(times.first_byte, case.timeout),
        total=min(times.total, case.timeout),
    )
    found = probe(replace(endpoint, timeouts=hurried), measure=case.measure)
    if not found.reachable:
        yield Check(name, FAIL, f"{endpoint.url}: {found.message}", found.hint)
        return
    yield Check(name, PASS, f"{endpoint.url} answers")
    yield from _model(name, found)
    if not found.completes:
        return
    told = f"one token in {found.seconds:.1f} s"
    measured = {"completion_seconds": found.seconds}
    yield Check(f"{name}:completion", PASS, told, "", endpoint.name, measured)
    yield _context(f"{name}:context", endpoint, found)


def _model(name: str, found: Probe) -> Iterator[Check]:
    listed = f"it lists: {_some(found.models)}" if found.models else "it lists no models"
    if not found.model:
        yield Check(f"{name}:model", FAIL, found.message, found.hint)
    elif found.listed or (found.listed is None and found.completes):
        yield Check(
            f"{name}:model", PASS, found.model if found.listed else f"{found.model}; {listed}"
        )
    elif found.completes:
        detail = f"{found.model} is not listed, but answers; {listed}"
        yield Check(f"{name}:model", WARN, detail, "set model to the name in the list")
    elif found.listed is False:
        hint = "set model to one of the list, or load it into the server"
        yield Check(f"{name}:model", FAIL, f"{found.model} is not listed; {listed}", hint)
    if found.model and not found.completes:
        yield Check(f"{name}:completion", FAIL, found.message, found.hint)


def _context(name: str, endpoint: EndpointSettings, found: Probe) -> Check:
    """A server that cuts prompts cuts the rules away first: its answers look right and are not."""
    if found.context_ok:
        told = found.context_from
        size = f"{found.context} tokens ({told})" if found.context else f"all read ({told})"
        return Check(name, PASS, f"{size}; context_tokens is {endpoint.context_tokens}")
    if found.context_ok is False:
        return Check(name, FAIL, found.message, found.hint)
    return Check(
        name,
        WARN,
        found.message or "the server does not say how many tokens it reads",
        found.hint or "make sure that it has context_tokens, or lower it",
    )


GROUPS: tuple[tuple[str, Group], ...] = (
    ("config", _config),
    ("folder", _folder),
    ("zim", _zims),
    ("box", _box),
    ("kiwix", _kiwix),
    ("vault", vault),
    ("search", _search),
    ("endpoint", _endpoints),
)
"""The links of the chain in the order in which they hang on each other."""
