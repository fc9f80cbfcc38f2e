"""The skill file: what it says, where agents look for it, whether it is there and current."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from infoforge import __version__
from infoforge.box.health import PASS, WARN, CheckContext, CheckResult, HealthCheck
from infoforge.contract import CheckFailed, UsageError
from infoforge.files import write_atomic

NAME = "infoforge"
FILE = "SKILL.md"
TARGETS = {
    # Where most agents look, and where Claude Code does.
    "agents": Path(".agents") / "skills",
    "claude": Path(".claude") / "skills",
}

_DIGEST = re.compile(r'(infoforge-digest: ")([0-9a-f]*)(")')
_VERSION = re.compile(r'infoforge-version: "([^"\n]*)"')


@dataclass(frozen=True, slots=True)
class Place:
    """A place where a skill may stand.

    Attributes:
        target: ``agents``, ``claude``, or the folder of skills that was given.
        path: The skill file.
    """

    target: str
    path: Path


@dataclass(frozen=True, slots=True)
class InstalledSkill:
    """What stands in a place.

    Attributes:
        place: The place.
        state: ``current``, ``old`` (of another version, unchanged), ``edited`` (by hand),
            ``foreign`` (not ours) or ``missing``.
        version: The version that wrote it; empty when unknown.
    """

    place: Place
    state: str
    version: str = ""


def text() -> str:
    """The skill file of this version, with the marks that distinguish it from an edited one."""
    template = resources.files("infoforge") / "data" / "skill" / NAME / FILE
    body = template.read_text("utf-8").replace("@VERSION@", __version__).replace("@DIGEST@", "")
    return _DIGEST.sub(rf"\g<1>{digest(body)}\g<3>", body, count=1)


def digest(body: str) -> str:
    """The digest of a skill file, whatever stands in the digest's own place."""
    blank = _DIGEST.sub(r"\1\3", body, count=1)
    return hashlib.sha256(blank.encode("utf-8")).hexdigest()[:32]


def places(targets: Sequence[str] = (), home: Path | None = None) -> tuple[Place, ...]:
    """The places that are meant.

    Args:
        targets: Names in `TARGETS`, or folders that hold skills; all names when empty.
        home: The user's home.

    Raises:
        UsageError: A word that is neither.
    """
    base = home or Path.home()
    found = []
    for target in targets or TARGETS:
        if target in TARGETS:
            folder = base / TARGETS[target]
        elif os.sep in target:
            folder = Path(target).expanduser().absolute()
        else:
            known = ", ".join(TARGETS)
            raise UsageError(
                f"no such target: {target}", f"one of {known}, or a folder (./{target})"
            )
        found.append(Place(target, folder / NAME / FILE))
    return tuple(found)


def look(place: Place) -> InstalledSkill:
    """What stands in a place; an unreadable file counts as not ours."""
    try:
        body = place.path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return InstalledSkill(place, "missing")
    except (OSError, UnicodeDecodeError) as error:
        if getattr(error, "errno", 0) == errno.ENAMETOOLONG:
            raise
        return InstalledSkill(place, "foreign")
    mark, version = _DIGEST.search(body), _VERSION.search(body)
    if mark is None or version is None:
        return InstalledSkill(place, "foreign")
    if mark[2] != digest(body):
        return InstalledSkill(place, "edited", version[1])
    return InstalledSkill(place, "current" if body == text() else "old", version[1])


def install(place: Place, *, force: bool = False) -> str:
    """Write the skill file of this version.

    Args:
        place: Where.
        force: Overwrite a file that was edited, or is not ours.

    Returns:
        ``written``, ``renewed`` (there was another one) or ``present`` (nothing was to do).

    Raises:
        CheckFailed: An edited or foreign file stands there, or it cannot be written.
    """
    state = look(place).state
    if state == "current":
        return "present"
    if state in ("edited", "foreign") and not force:
        what = "was edited" if state == "edited" else "is not infoforge's"
        raise CheckFailed(
            f"{place.path} {what} and stays as it is",
            "overwrite it with --force, or compare it with: infoforge skill show",
            code="skill_edited",
        )
    try:
        place.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(place.path, text())
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise  # a usage error, as for every path that is given
        raise CheckFailed(
            f"cannot write {place.path}: {error.strerror or error}",
            "check the folder, or give another with --target",
        ) from error
    return "written" if state == "missing" else "renewed"


def uninstall(place: Place, *, force: bool = False) -> str:
    """Take the skill away: ``removed``, ``absent``, or ``kept`` when edited or foreign."""
    state = look(place).state
    if state == "missing":
        return "absent"
    if state in ("edited", "foreign") and not force:
        return "kept"
    place.path.unlink()
    if not any(place.path.parent.iterdir()):
        place.path.parent.rmdir()
    return "removed"


def checks(context: CheckContext) -> Iterator[HealthCheck]:
    """The health checks of the skill, a group of `doctor`'s."""
    for place in places():
        yield HealthCheck(f"skill:{place.target}", lambda place=place: [_check(place)])  # type: ignore[misc]


def _check(place: Place) -> CheckResult:
    found = look(place)
    name = f"skill:{place.target}"
    told = {
        "current": f"{place.path} is of this version",
        "edited": f"{place.path} was edited by hand; it is of version {found.version}",
        "old": f"{place.path} is of version {found.version}",
        "foreign": f"{place.path} is not infoforge's",
        "missing": f"agents are not told of infoforge: no {place.path}",
    }[found.state]
    if found.state == "current" or (found.state == "edited" and found.version == __version__):
        return CheckResult(name, PASS, told)
    force = " --force" if found.state in ("edited", "foreign") else ""
    return CheckResult(name, WARN, told, f"infoforge skill install --target {place.target}{force}")
