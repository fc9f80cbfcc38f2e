"""What `doctor` looks at on a box: Podman, the container, its unit, the port, labels, space."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

from infoforge.box import image as images
from infoforge.box.container import Choice, label_choice, read_container
from infoforge.box.health import FAIL, PASS, WARN, CheckContext, CheckResult, HealthCheck
from infoforge.box.host import (
    SUBUIDS_NEEDED,
    Host,
    enforcing,
    foreign_file,
    inspect_host,
    label_of,
    listeners,
    mount_of,
    subordinate_ids,
    user_name,
)
from infoforge.box.lifecycle import BoxStatus, box_status, missing_image
from infoforge.box.podman import BoxError, Podman
from infoforge.box.systemd import UNIT_NAME, systemctl, unit_file
from infoforge.config.settings import BoxSettings

OLDEST_PODMAN = (4, 3)
OLD_IMAGE_DAYS = 730
FREE_BYTES = 1 << 30
"""Below this much free space for images and containers there is a warning."""
LEAST_BYTES = 100 * 1000 * 1000
"""Below this a container may not start, and nothing can be kept."""

_LABELS = frozenset({"container_file_t", "container_ro_file_t", "svirt_sandbox_file_t"})


def box(context: CheckContext) -> Iterable[HealthCheck]:
    """The steps; one that says so where this machine is no box."""
    podman = Podman()
    reason = used(context, podman)
    if not reason:
        unused = CheckResult("box", PASS, "not in use: no infoforge.service and no container here")
        yield HealthCheck("box", lambda: [unused])
        return
    steps: tuple[tuple[str, Callable[[CheckContext, Podman], Iterator[CheckResult]]], ...] = (
        ("podman", _podman),
        ("container", _container),
        ("zims", _zims),
        ("service", _service),
        ("linger", _linger),
        ("port", _port),
        ("network", _network),
        ("label", _label),
        ("disk", _disk),
        ("image", _image),
    )
    for name, check in steps:
        yield HealthCheck(f"box:{name}", partial(check, context, podman))


def used(context: CheckContext, podman: Podman) -> str:
    """What says that this machine serves ZIM files in a container; empty when nothing does."""
    if unit_file().is_file():
        return str(unit_file())
    if context.settings.box != BoxSettings():
        return "the section box of the configuration"
    if shutil.which(podman.program) is None:
        return ""
    try:
        name = context.settings.box.container
        return name if read_container(podman, name) is not None else ""
    except BoxError:
        return ""


def _podman(context: CheckContext, podman: Podman) -> Iterator[CheckResult]:
    name = "box:podman"
    host = inspect_host(podman)
    mode = "rootless" if host.rootless else "as root"
    detail = (
        f"{host.version_text}, {mode}, cgroups {host.cgroup_version} by {host.cgroup_manager}"
        + (f", {host.uids} user IDs" if host.rootless else "")
    )
    faults = list(_podman_faults(host, podman))
    for status, fault, hint in faults:
        yield CheckResult(name, status, f"{detail}: {fault}", hint)
    if not faults:
        yield CheckResult(name, PASS, detail)


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
        hint = f"loginctl enable-linger {user}, install dbus-user-session, log in again"
        yield (
            FAIL,
            "no user session of systemd: a container ends with the session that started it",
            hint,
        )
    uid = os.getuid()
    for stale in (Path(f"/tmp/storage-run-{uid}"), Path(f"/tmp/containers-user-{uid}")):  # noqa: S108
        if stale.exists():
            fault = f"{stale} is from a run without a session"
            yield (
                WARN,
                fault,
                f"serve stop, then rm -r {stale} (podman --root there: {podman.program})",
            )


def _container(context: CheckContext, podman: Podman) -> Iterator[CheckResult]:
    found = box_status(context.settings, podman)
    if found.faults:
        for fault in found.faults:
            yield CheckResult("box:container", FAIL, fault, _container_hint(found))
        return
    assert found.container is not None
    detail = f"running ({found.container.restarts} restarts), serving {', '.join(found.served)}"
    if found.container.health == "unhealthy":
        yield CheckResult("box:container", WARN, f"{detail}; unhealthy", "infoforge serve recreate")
    else:
        yield CheckResult("box:container", PASS, detail)


def _container_hint(found: BoxStatus) -> str:
    if found.problem is not None and found.problem.hint:
        return found.problem.hint
    return "infoforge serve start"


def _zims(context: CheckContext, podman: Podman) -> Iterator[CheckResult]:
    from infoforge.box.books import select

    selection = select(context.settings.zims, context.damage_of)
    for item in selection.bad:
        hint = f"infoforge zims verify {item.file}"
        yield CheckResult("box:zims", FAIL, f"{item.file} is not served: {item.reason}", hint)
    if not selection.bad:
        yield CheckResult(
            "box:zims", PASS, f"{len(selection.books)} of {selection.folder} can be served"
        )


def _service(context: CheckContext, podman: Podman) -> Iterator[CheckResult]:
    name = "box:service"
    if not unit_file().is_file():
        hint = (
            f"infoforge serve unit > {unit_file()}, then systemctl --user enable --now {UNIT_NAME}"
        )
        yield CheckResult(
            name, WARN, f"no {UNIT_NAME}: the box does not come back after a reboot", hint
        )
        return
    _, enabled = systemctl(podman.env, "is-enabled", UNIT_NAME)
    _, active = systemctl(podman.env, "is-active", UNIT_NAME)
    detail = f"{UNIT_NAME} is {enabled or 'unknown'} and {active or 'unknown'}"
    if enabled == "enabled" and active == "active":
        yield CheckResult(name, PASS, detail)
    else:
        hint = f"systemctl --user enable --now {UNIT_NAME}; journalctl --user -u {UNIT_NAME}"
        yield CheckResult(name, FAIL, detail, hint)


def _linger(context: CheckContext, podman: Podman) -> Iterator[CheckResult]:
    user = user_name()
    if os.getuid() == 0 or (Path("/var/lib/systemd/linger") / user).exists():
        yield CheckResult("box:linger", PASS, f"{user}'s services run without a login")
    else:
        detail = f"{user}'s services start only at a login, and end at the logout"
        yield CheckResult("box:linger", FAIL, detail, f"loginctl enable-linger {user}")


def _port(context: CheckContext, podman: Podman) -> Iterator[CheckResult]:
    name, port = "box:port", context.settings.box.port
    found = listeners(port)
    addresses = sorted({listener.address for listener in found})
    if not found:
        yield CheckResult(name, FAIL, f"nothing listens on port {port}", "infoforge serve start")
    elif all(listener.is_loopback for listener in found):
        yield CheckResult(name, PASS, f"{port} on {', '.join(addresses)}: this machine alone")
    else:
        wanted = context.settings.box.bind not in ("127.0.0.1", "::1")
        detail = f"{port} on {', '.join(addresses)}: other machines can read the wikis"
        hint = "set box.bind to 127.0.0.1, unless that is wanted"
        yield CheckResult(name, WARN if wanted else FAIL, detail, hint)


def _network(context: CheckContext, podman: Podman) -> Iterator[CheckResult]:
    found = podman.inspect("container", context.settings.box.container) or {}
    mode = str((found.get("HostConfig") or {}).get("NetworkMode") or "unknown")
    # Not a warning: rootless Podman has no network that publishes a port and has no way out.
    detail = f"the container's network is {mode}: it can reach other hosts (docs/box.md)"
    yield CheckResult("box:network", PASS, detail)


def _label(context: CheckContext, podman: Podman) -> Iterator[CheckResult]:
    name, folder = "box:label", context.settings.zims.folder
    if not enforcing():
        yield CheckResult(name, PASS, "SELinux does not enforce here")
        return
    if not folder.is_dir():
        yield CheckResult(name, PASS, f"there is no {folder}, so nothing to label")
        return
    choice, wrong = labels(folder, podman)
    if choice.value != "z":
        yield CheckResult(name, PASS, f"{choice.value}: {choice.reason}")
    elif wrong:
        hint = f"infoforge serve recreate, or chcon -Rt container_file_t {folder}"
        yield CheckResult(name, FAIL, f"the container may not read: {', '.join(wrong)}", hint)
    else:
        yield CheckResult(name, PASS, f"{folder} and its ZIM files are container_file_t")


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


def _disk(context: CheckContext, podman: Podman) -> Iterator[CheckResult]:
    from infoforge.zims.units import show_size

    store = podman.json("info", "--format", "json").get("store") or {}
    places = {
        "images and containers": Path(str(store.get("graphRoot") or Path.home())),
        "ZIM files": context.settings.zims.folder,
    }
    for what, path in places.items():
        if not path.exists():
            continue
        free = shutil.disk_usage(path).free
        detail = f"{what}: {show_size(free)} free at {path}"
        status = FAIL if free < LEAST_BYTES else WARN if free < FREE_BYTES else PASS
        hint = "podman image prune; infoforge zims prune" if status != PASS else ""
        yield CheckResult("box:disk", status, detail, hint, str(path), {"free_bytes": float(free)})


def _image(context: CheckContext, podman: Podman) -> Iterator[CheckResult]:
    name, wanted = "box:image", context.settings.box
    image = podman.inspect("image", wanted.image)
    if image is None:
        raise missing_image(wanted)
    days = age_in_days(str(image.get("Created", "")), datetime.now(UTC).date())
    detail = f"{wanted.image}" + (f", {days} days old" if days is not None else "")
    images.check(wanted, image)
    if days is not None and days > OLD_IMAGE_DAYS:
        yield CheckResult(
            name, WARN, detail, "a newer release may exist: set box.image, then serve pull"
        )
    else:
        yield CheckResult(name, PASS, detail)


def age_in_days(created: str, today: date) -> int | None:
    """Days since a time as Podman writes it; ``None`` when it says none."""
    try:
        made = date.fromisoformat(created[:10])
    except ValueError:
        return None
    # Images built reproducibly claim to be from 1970 or so.
    return (today - made).days if made.year > 1990 else None
