"""Which ZIM files a folder has, which of them are enabled, and which edition of each is used.

Every command decides by this module: `ask`, `serve`, `doctor` and `zims`. Two names are the same
ZIM's when kiwix-serve would call them the same, whatever their case and accents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoforge.config.settings import ZimSettings
from infoforge.contract import UsageError
from infoforge.text.parse import from_json
from infoforge.zims.names import book_name, edition, is_part, parts_of, stable_name, stem, url_name

QualityCheck = Callable[[Path], str]
"""Takes a file and returns what is wrong with it, empty when nothing is."""

_CACHE_FILE = "zims.json"
_CACHE_VERSION = 1
_CACHE_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class ExcludedFile:
    """A ZIM file that is not used, and why.

    Attributes:
        file: Its name; of what is enabled and missing, the entry of the configuration.
        reason: Why.
        older: A newer edition of the same name is used: no fault, only a fact.
        missing: It is enabled and there is no such file.
        instead: The older edition that is used, because this one is damaged.
    """

    file: str
    reason: str
    older: bool = False
    missing: bool = False
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """The files of a folder that are used, in order of preference, and the others."""

    folder: Path
    files: tuple[str, ...]
    excluded: tuple[ExcludedFile, ...]

    @property
    def paths(self) -> list[Path]:
        """The files that are used."""
        return [self.folder / file for file in self.files]

    @property
    def missing(self) -> tuple[ExcludedFile, ...]:
        """What is enabled and not in the folder."""
        return tuple(item for item in self.excluded if item.missing)

    @property
    def damaged(self) -> tuple[ExcludedFile, ...]:
        """The files that are not used for a fault of their own."""
        return tuple(item for item in self.excluded if not item.missing and not item.older)


def zim_files(folder: Path) -> list[str]:
    """The names of the ZIM files in a folder, sorted; of a split one, its first part.

    None when the folder is not there or cannot be read.
    """
    try:
        names = {p.name for p in folder.iterdir() if not p.name.startswith(".")}
    except OSError:
        return []
    found = {name for name in names if name.endswith(".zim")}
    # A file that was joined stands for its parts, as libzim sees it too.
    first: dict[str, str] = {}
    for name in sorted(names):
        if is_part(name) and name[:-2] not in found:
            first.setdefault(name[:-2], name)
    return sorted(found | set(first.values()))


def editions(folder: Path) -> dict[str, list[str]]:
    """Book name -> files of that name, newest first."""
    groups: dict[str, list[str]] = {}
    for file in zim_files(folder):
        groups.setdefault(book_name(file), []).append(file)
    for files in groups.values():
        files.sort(key=_age, reverse=True)
    return groups


def is_older(file: str, other: str) -> bool:
    """Whether the edition of a file precedes another's; not when the two are the same."""
    return edition(file).lower() < edition(other).lower()


def _age(file: str) -> tuple[str, str]:
    return edition(file).lower(), file


def is_meant(file: str, entry: str) -> bool:
    """Whether an entry of a list means a file: by its name, or by that and its edition."""
    if edition(entry):
        return url_name(file) == url_name(entry)
    return book_name(file) == book_name(entry)


def is_enabled(file: str, enabled: Sequence[str]) -> bool:
    """Whether the configuration lets a file be used: by one of its names, or by silence."""
    return not enabled or any(is_meant(file, entry) for entry in enabled)


def choose(
    zims: ZimSettings, check: QualityCheck | None = None, *, only_editions: bool = True
) -> Choice:
    """Choose the files to use: of each name that is enabled the newest good edition.

    Args:
        zims: The folder and the enabled names.
        check: How to find out whether a file is good; the quick check, cached, when not given.
        only_editions: Check also a file that no other edition can replace. ``False`` where
            opening it shows as much.
    """
    check = check or CachedCheck()
    groups = editions(zims.folder)
    files: list[str] = []
    excluded: list[ExcludedFile] = []
    for entry in zims.enabled or tuple(groups):
        meant = [file for file in groups.get(book_name(entry), []) if is_meant(file, entry)]
        if not meant:
            text = "enabled, but not in the folder"
            excluded.append(ExcludedFile(entry, text, missing=True))
        needed = only_editions or len(meant) > 1 or any(map(is_part, meant))
        found = _newest_good(zims.folder, meant, files, check if needed else lambda _path: "")
        files += [file for file in meant if file not in files and file == found[0]]
        excluded += found[1]
    reported: dict[str, ExcludedFile] = {}
    for item in excluded:
        if item.file not in files:
            reported.setdefault(item.file, item)
    return Choice(zims.folder, tuple(files), tuple(reported.values()))


def _newest_good(
    folder: Path, meant: Sequence[str], chosen: Sequence[str], check: QualityCheck
) -> tuple[str, list[ExcludedFile]]:
    """The first good one of some editions, newest first, and why the others are not used."""
    used = ""
    older: list[ExcludedFile] = []
    damaged: list[tuple[str, str]] = []
    for file in meant:
        if used:
            older.append(ExcludedFile(file, f"older than {used}", older=True))
        elif file not in chosen and (problem := check(folder / file)):
            damaged.append((file, problem))
        else:
            used = file
    return used, [
        *(ExcludedFile(file, problem, instead=used) for file, problem in damaged),
        *older,
    ]


def find(folder: Path, names: Sequence[str]) -> list[str]:
    """The files that are meant by file names or stable names.

    Raises:
        UsageError: A name fits no file.
    """
    files = zim_files(folder)
    found: list[str] = []
    for name in names:
        exact = [f for f in files if name in (f, stem(f))]
        meant = exact or [f for f in files if url_name(f) == url_name(name)]
        meant = meant or [f for f in files if is_meant(f, name)]
        if not meant:
            raise unknown(folder, name)
        found += [f for f in meant if f not in found]
    return found


def unknown(folder: Path, name: str) -> UsageError:
    """The error for a name that fits no file, with the nearest that does."""
    import difflib

    files = zim_files(folder)
    near = difflib.get_close_matches(name, [*map(stable_name, files), *files], 1)
    hint = f"did you mean {near[0]}?" if near else "see infoforge zims list"
    return UsageError(f"no ZIM '{name}' in {folder}", hint)


def switched(
    enabled: Sequence[str], present: Sequence[str], names: Sequence[str], *, on: bool
) -> list[str]:
    """The new list of enabled ZIMs.

    Args:
        enabled: The list as it is; empty means all.
        present: The files of the folder.
        names: File names or stable names to switch; each fits a file or stands in the list.
        on: Enable or disable.

    Raises:
        UsageError: Nothing would be left: an empty list would mean all of them.
    """
    result = list(enabled)
    if on:
        if not enabled:
            return []
        for name in names:
            if not any(is_meant(name, item) for item in result):
                result.append(name)
        return result
    if not enabled:
        stable = {book_name(file): stable_name(file) for file in present}
        result = list(stable.values())
    left = [item for item in result if not any(_takes_out(name, item) for name in names)]
    if not left:
        raise UsageError(
            "that would leave no ZIM enabled, and an empty list means all of them",
            "enable another one first, or remove the files",
        )
    return left if left != result or enabled else []


def _takes_out(name: str, item: str) -> bool:
    """Whether disabling a name takes an entry out of the list: either may have the edition."""
    return is_meant(item, name) or is_meant(name, item)


class CachedCheck:
    """The quick check, its results kept in the user's cache by size and time of change.

    The ZIM folder may be read-only, and a cache that cannot be read or written costs only time.

    Args:
        fresh: Check every file, and only keep the results for others.
        seconds: Time for one file.
    """

    def __init__(self, *, fresh: bool = False, seconds: float | None = None) -> None:
        self._fresh = fresh
        self._seconds = seconds
        self._known: dict[str, list[Any]] | None = None

    def __call__(self, path: Path) -> str:
        """What is wrong with a file; empty when nothing is."""
        from infoforge.zims.check import QUICK_SECONDS, examine

        key = str(path.absolute())
        identity = _identity(path)
        if self._known is None:
            self._known = _read_cache()
        known = self._known.get(key)
        if not self._fresh and known is not None and known[:2] == identity:
            return str(known[2])
        problem, lasting = examine(path, seconds=self._seconds or QUICK_SECONDS)
        if lasting and identity and known != [*identity, problem]:
            self._known[key] = [*identity, problem]
            _write_cache(self._known)
        return problem


def _identity(path: Path) -> list[Any]:
    """Size in bytes and time of change in ns, of all parts; empty when they cannot be told."""
    try:
        stats = [part.stat() for part in parts_of(path)]
    except OSError:
        return []
    return [sum(s.st_size for s in stats), max((s.st_mtime_ns for s in stats), default=0)]


def _cache_path() -> Path:
    from infoforge.config.locate import xdg

    return xdg("XDG_CACHE_HOME", ".cache") / "infoforge" / _CACHE_FILE


def _read_cache() -> dict[str, list[Any]]:
    with suppress(OSError, ValueError, RecursionError, RuntimeError):
        with _cache_path().open("rb") as file:
            data = from_json(file.read(_CACHE_LIMIT))
        if isinstance(data, dict) and data.get("version") == _CACHE_VERSION:
            files = data.get("files")
            if isinstance(files, dict) and all(map(_is_result, files.values())):
                return files
    return {}


def _is_result(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and isinstance(value[0], int)
        and isinstance(value[1], int)
        and isinstance(value[2], str)
    )


def _write_cache(files: dict[str, list[Any]]) -> None:
    """Keep the results of the files that are still there."""
    from infoforge.files import write_atomic

    kept = {path: result for path, result in files.items() if Path(path).exists()}
    with suppress(OSError, RuntimeError):
        path = _cache_path()
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"version": _CACHE_VERSION, "files": kept})
        write_atomic(path, text, durable=False)
