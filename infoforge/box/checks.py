"""What `doctor` looks at on a box: Podman, the container, its unit, the port, labels, space."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

from infoforge.box import ports
from infoforge.box.host import (
    SUBUIDS_NEEDED,
    Host,
    enforcing,
    foreign_file,
    inspect_host,
    label_of,
    mount_of,
    subordinate_ids,
    user_name,
)
from infoforge.box.life import missing_image
from infoforge.box.plan import Choice, label_choice
from infoforge.box.podman import BoxError, Podman
from infoforge.box.state import read_container
from infoforge.box.status import Status, look
from infoforge.box.unit import UNIT_NAME, systemctl
from infoforge.box.walk import FAIL, PASS, WARN, Case, Check, Step
from infoforge.config.settings import BoxSettings

OLDEST_PODMAN = (4, 3)
OLD_IMAGE_DAYS = 730
FREE_BYTES = 1 << 30
"""Below this much free space for images and containers there is a warning."""
LEAST_BYTES = 100 * 1000 * 1000
"""Below this a container may not start, and nothing can be kept."""

_LABELS = frozenset({"container_file_t", "container_ro_file_t", "svirt_sandbox_file_t"})


def box(case: Case) -> Iterable[Step]:
    """The steps; one that says so where this machine is no box."""
    podman = Podman()
    reason = used(case, podman)
    if not reason:
        unused = Check("box", PASS, "not in use: no infoforge.service and no container here")
        yield Step("box", lambda: [unused])
        return
    steps: tuple[tuple[str, Callable[[Case, Podman], Iterator[Check]]], ...] = (
        ("podman", _podman),
        ("container", _container),
        ("zims", _zims),
        ("service", _service),
        ("linger", _linger),
        ("port", _port),
        ("label", _label),
        ("disk", _disk),
        ("image", _image),
    )
    for name, check in steps:
        yield Step(f"box:{name}", partial(check, case, podman))


def used(case: Case, podman: Podman) -> str:
    """What says that this machine serves ZIM files in a container; empty when nothing does."""
    if unit_file().is_file():
        return str(unit_file())
    if case.settings.box != BoxSettings():
        return "the section box of the configuration"
    if shutil.which(podman.program) is None:
        return ""
    try:
        name = case.settings.box.container
        return name if read_container(podman, name) is not None else ""
    except BoxError:
        return ""


def unit_file() -> Path:
    """Where the user unit stands."""
    config = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(config) / "systemd" / "user" / UNIT_NAME


def _podman(case: Case, podman: Podman) -> Iterator[Check]:
    name = "box:podman"
    host = inspect_host(podman)
    mode = "rootless" if host.rootless else "as root"
    detail = (
        f"{host.version_text}, {mode}, cgroups {host.cgroup_version} by {host.cgroup_manager}"
        + (f", {host.uids} user IDs" if host.rootless else "")
    )
    faults = list(_podman_faults(host, podman))
    for status, fault, hint in faults:
        yield Check(name, status, f"{detail}: {fault}", hint)
    if not faults:
        yield Check(name, PASS, detail)


def _podman_faults(host: Host, podman: Podman) -> Iterator[tuple[str, str, str]]:
    if host.version < OLDEST_PODMAN:
        yield FAIL, "older than 4.3", "a newer distribution has a newer Podman"
    if not host.rootless:
        yield WARN, "containers have root's rights", "run infoforge as a user of its own"
        return
    user = user_name()
    remedy = (
        f"usermod --add-subuids 100000-165535 --add-subgids 100000-165535 {user}, then "
        "podman system migrate"
    )
    for table in (Path("/etc/subuid"), Path("/etc/subgid")):
        width = subordinate_ids(user, os.getuid(), table)
        if width < SUBUIDS_NEEDED:
            # Images that need no high IDs run with less, so this alone does not stop the box.
            status = FAIL if width == 0 else WARN
            yield status, f"{table} gives {user} {width} IDs of {SUBUIDS_NEEDED}", remedy
    if host.cgroup_manager != "systemd":
        hint = f"loginctl enable-linger {user}, install dbus-user-session, log in anew"
        yield FAIL, "no user session of systemd: a container ends with whoever started it", hint
    uid = os.getuid()
    for stale in (Path(f"/tmp/storage-run-{uid}"), Path(f"/tmp/containers-user-{uid}")):  # noqa: S108
        if stale.exists():
            fault = f"{stale} is from a run without a session"
            yield (
                WARN,
                fault,
                f"serve stop, then rm -r {stale} (podman --root there: {podman.program})",
            )


def _container(case: Case, podman: Podman) -> Iterator[Check]:
    found = look(case.settings, podman)
    if found.faults:
        for fault in found.faults:
            yield Check("box:container", FAIL, fault, _container_hint(found))
        return
    assert found.container is not None
    detail = f"running ({found.container.restarts} restarts), serving {', '.join(found.served)}"
    if found.container.health == "unhealthy":
        yield Check("box:container", WARN, f"{detail}; unhealthy", "infoforge serve recreate")
    else:
        yield Check("box:container", PASS, detail)


def _container_hint(found: Status) -> str:
    if found.problem is not None and found.problem.hint:
        return found.problem.hint
    return "infoforge serve start"


def _zims(case: Case, podman: Podman) -> Iterator[Check]:
    from infoforge.box.books import select

    selection = select(case.settings.zims)
    for item in selection.bad:
        hint = f"infoforge zims verify {item.file}"
        yield Check("box:zims", FAIL, f"{item.file} is not served: {item.reason}", hint)
    if not selection.bad:
        yield Check("box:zims", PASS, f"{len(selection.books)} of {selection.folder} can be served")


def _service(case: Case, podman: Podman) -> Iterator[Check]:
    name = "box:service"
    if not unit_file().is_file():
        hint = (
            f"infoforge serve unit > {unit_file()}, then systemctl --user enable --now {UNIT_NAME}"
        )
        yield Check(name, WARN, f"no {UNIT_NAME}: the box does not come back after a reboot", hint)
        return
    _, enabled = systemctl(podman.env, "is-enabled", UNIT_NAME)
    _, active = systemctl(podman.env, "is-active", UNIT_NAME)
    detail = f"{UNIT_NAME} is {enabled or 'unknown'} and {active or 'unknown'}"
    if enabled == "enabled" and active == "active":
        yield Check(name, PASS, detail)
    else:
        hint = f"systemctl --user enable --now {UNIT_NAME}; journalctl --user -u {UNIT_NAME}"
        yield Check(name, FAIL, detail, hint)


def _linger(case: Case, podman: Podman) -> Iterator[Check]:
    user = user_name()
    if os.getuid() == 0 or (Path("/var/lib/systemd/linger") / user).exists():
        yield Check("box:linger", PASS, f"{user}'s services run without a login")
    else:
        detail = f"{user}'s services start only at a login, and end at the logout"
        yield Check("box:linger", FAIL, detail, f"loginctl enable-linger {user}")


def _port(case: Case, podman: Podman) -> Iterator[Check]:
    name, port = "box:port", case.settings.box.port
    found = ports.listeners(port)
    addresses = sorted({listener.address for listener in found})
    if not found:
        yield Check(name, FAIL, f"nothing listens on port {port}", "infoforge serve start")
    elif all(listener.loopback for listener in found):
        yield Check(name, PASS, f"{port} on {', '.join(addresses)}: this machine alone")
    else:
        wanted = case.settings.box.bind not in ("127.0.0.1", "::1")
        detail = f"{port} on {', '.join(addresses)}: other machines can read the wikis"
        hint = "set box.bind to 127.0.0.1, unless that is wanted"
        yield Check(name, WARN if wanted else FAIL, detail, hint)


def _label(case: Case, podman: Podman) -> Iterator[Check]:
    name, folder = "box:label", case.settings.zims.folder
    if not enforcing():
        yield Check(name, PASS, "SELinux does not enforce here")
        return
    if not folder.is_dir():
        yield Check(name, PASS, f"there is no {folder}, so nothing to label")
        return
    choice, wrong = labels(folder, podman)
    if choice.value != "z":
        yield Check(name, PASS, f"{choice.value}: {choice.reason}")
    elif wrong:
        hint = f"infoforge serve recreate, or chcon -Rt container_file_t {folder}"
        yield Check(name, FAIL, f"the container may not read: {', '.join(wrong)}", hint)
    else:
        yield Check(name, PASS, f"{folder} and its ZIM files are container_file_t")


def labels(folder: Path, podman: Podman) -> tuple[Choice, tuple[str, ...]]:
    """How the container gets at the ZIM folder under SELinux, and what it may not read there.

    Args:
        folder: An existing folder.
        podman: The Podman to ask.

    Returns:
        The choice of `plan.label_choice`, and one line a file whose label is wrong; none where the
        container needs no label.

    Raises:
        BoxError: Podman cannot be asked.
    """
    host = inspect_host(podman)
    foreign = foreign_file(folder) if host.selinux else ""
    choice = label_choice(folder.resolve(), mount_of(folder), host, foreign)
    if choice.value != "z" or not host.selinux:
        return replace(choice, value="none" if choice.value == "z" else choice.value), ()
    wrong = (
        f"{path.name} is {label_of(path) or 'unlabelled'}"
        for path in (folder, *sorted(folder.glob("*.zim")))
        if label_of(path) not in _LABELS
    )
    return choice, tuple(wrong)


def _disk(case: Case, podman: Podman) -> Iterator[Check]:
    from infoforge.zims.units import show_size

    store = podman.json("info", "--format", "json").get("store") or {}
    places = {
        "images and containers": Path(str(store.get("graphRoot") or Path.home())),
        "ZIM files": case.settings.zims.folder,
    }
    for what, path in places.items():
        if not path.exists():
            continue
        free = shutil.disk_usage(path).free
        detail = f"{what}: {show_size(free)} free at {path}"
        status = FAIL if free < LEAST_BYTES else WARN if free < FREE_BYTES else PASS
        hint = "podman image prune; infoforge zims prune" if status != PASS else ""
        yield Check("box:disk", status, detail, hint, str(path), {"free_bytes": float(free)})


def _image(case: Case, podman: Podman) -> Iterator[Check]:
    name, wanted = "box:image", case.settings.box
    image = podman.inspect("image", wanted.image)
    if image is None:
        raise missing_image(wanted)
    digests = [str(digest) for digest in image.get("RepoDigests") or ()]
    days = age_in_days(str(image.get("Created", "")), datetime.now(UTC).date())
    detail = f"{wanted.image}" + (f", {days} days old" if days is not None else "")
    if wanted.digest and not any(digest.endswith(wanted.digest) for digest in digests):
        fault = f"{detail}: it does not show the digest {wanted.digest}"
        yield Check(name, WARN, fault, "infoforge serve pull")
    elif days is not None and days > OLD_IMAGE_DAYS:
        yield Check(name, WARN, detail, "a newer release may exist: set box.image, then serve pull")
    else:
        yield Check(name, PASS, detail)


def age_in_days(created: str, today: date) -> int | None:
    """Days since a time as Podman writes it; ``None`` when it says none."""
    try:
        made = date.fromisoformat(created[:10])
    except ValueError:
        return None
    # Images built reproducibly claim to be from 1970 or so.
    return (today - made).days if made.year > 1990 else None
