"""Start, stop and recreate the container, and say what state it is in.

A container is never restarted, only removed and created again: Podman's own restart meets its port
forwarder still holding the port, and a container from before a power cut may not start at all.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infoforge.box import crashes
from infoforge.box import image as images
from infoforge.box.books import Book, Selection, select
from infoforge.box.container import Container, ContainerSpec, last_lines, make_spec, read_container
from infoforge.box.host import (
    Host,
    Mount,
    check_port,
    foreign_file,
    free_port,
    inspect_host,
    is_loopback,
    mount_of,
    unprivileged_from,
)
from infoforge.box.podman import UNIT_VARIABLE, BoxError, Podman, complaint, remedy
from infoforge.box.probe import Catalog, base_url, catalog
from infoforge.box.systemd import shutting_down
from infoforge.config.settings import BoxSettings, Settings
from infoforge.contract import CheckFailed, Warn, WarningMessage
from infoforge.files import locked

_NETWORK = re.compile(r"pasta|slirp4netns|netavark|aardvark|network namespace|setns", re.IGNORECASE)
_NETWORK_PATIENCE = 20.0
_CRASHES = 3


@dataclass(frozen=True, slots=True)
class Preparation:
    """All that is known before anything is touched."""

    selection: Selection
    host: Host
    mount: Mount
    image: dict[str, Any]
    spec: ContainerSpec


@dataclass(frozen=True, slots=True)
class StartResult:
    """How a start ended well.

    Attributes:
        action: ``running`` (nothing was to do) or ``created``.
        reason: Why it was created; empty when it was not.
        url: Where it answers.
        seconds: How long it took.
        books: Served ZIM files.
        missing: ZIM files that open here and that the server does not list.
    """

    action: str
    reason: str
    url: str
    seconds: float
    books: tuple[str, ...]
    missing: tuple[str, ...]
    prepared: Preparation


def prepare(settings: Settings, podman: Podman, *, need_image: bool = True) -> Preparation:
    """Look at the ZIM files, the machine and the image, and make the container's spec.

    Args:
        settings: The configuration.
        podman: The Podman to call.
        need_image: Whether a missing image is an error.

    Raises:
        BoxError: No Podman, no ZIM that opens, no image or not the expected one, or a folder that
            must not be mounted.
    """
    box, folder = settings.box, settings.zims.folder
    selection = select(settings.zims)
    if not selection.books:
        raise _no_books(selection)
    host = inspect_host(podman)
    image = podman.inspect("image", box.image)
    if image is None and need_image:
        raise missing_image(box)
    if image is not None:
        images.check(box, image)
    image = image or {}
    if host.rootless and box.port < unprivileged_from():
        raise BoxError(
            f"box.port is {box.port}, and a user may open ports from {unprivileged_from()} on",
            "set box.port to 1024 or above (8080)",
            code="port",
        )
    mount = mount_of(folder)
    foreign = foreign_file(folder) if host.selinux else ""
    image_id = str(image.get("Id", ""))
    spec = make_spec(box, selection, host, mount, image_id=image_id, foreign=foreign)
    return Preparation(selection, host, mount, image, spec)


def missing_image(box: BoxSettings) -> BoxError:
    """The error for an image that is not on this machine."""
    return BoxError(
        f"the image {box.image} is not on this machine, and is never pulled unasked",
        "run: infoforge serve pull, or without internet: infoforge serve load ARCHIVE",
        code="image_missing",
    )


def start(settings: Settings, podman: Podman, warn: Warn, *, recreate: bool = False) -> StartResult:
    """Make sure that the container serves the books; do nothing when it does.

    Args:
        settings: The configuration.
        podman: The Podman to call.
        warn: Takes warnings (ZIM files left out, an open port).
        recreate: Recreate the container even if it is well.

    Raises:
        BoxError: It does not serve them, with the reason. No container is left behind then.
    """
    begun = time.monotonic()
    box = settings.box
    with _exclusive():
        try:
            prepared = prepare(settings, podman)
        except BoxError as error:
            if error.code == "no_zims" and crashes.any_excluded():
                _remove(podman, box.container)  # it would only go on dying
            raise
        _warn(prepared, box, warn)
        old = read_container(podman, box.container)
        reason = _reason(old, prepared, box, recreate)
        if not reason:
            action, listed = "running", _listed(box, prepared, 5.0)
            if not _serves(listed, prepared):
                reason = "it does not list its books" if listed.status else "it does not answer"
        if reason:
            check_port(podman, box)
            _remove(podman, box.container)
            free_port(podman, box)
            _create(podman, box, prepared.spec)
            action, listed = "created", _await_books(podman, box, prepared)
        with suppress(CheckFailed):  # a full disk must not keep the box from serving
            images.record(box.image, prepared.image)
    books = prepared.selection.books
    served = tuple(b.file for b in books if b.uuid in listed.books)
    missing = tuple(b.file for b in books if b.uuid not in listed.books)
    for file in missing:
        warn(
            WarningMessage(
                "zim_not_served", f"{file}: kiwix-serve does not list it (infoforge serve logs)"
            )
        )
    url = base_url(box.bind, box.port)
    return StartResult(
        action, reason, url, round(time.monotonic() - begun, 2), served, missing, prepared
    )


def stop(settings: Settings, podman: Podman) -> bool:
    """Stop and remove the container; whether there was one.

    At shutdown nothing is done: systemd has ended the container's scope before our unit's turn
    comes, and Podman 4, called then, first obeys the restart policy and waits for a start that
    systemd no longer makes (a shutdown of 42 s instead of 3). What stays is the next start's part.
    """
    if UNIT_VARIABLE in podman.env and shutting_down(podman.env):
        return False
    with _exclusive():
        name = settings.box.container
        there = podman.run("container", "exists", name).code == 0
        _remove(podman, name)
        return there


def _no_books(selection: Selection) -> BoxError:
    faults = "; ".join(f"{item.file}: {item.reason}" for item in selection.bad)
    if not selection.folder.is_dir():
        return BoxError(
            f"there is no folder {selection.folder}",
            "make it, or set zims.folder; infoforge zims pull fills it",
            code="no_zims",
        )
    what = (
        f"no ZIM in {selection.folder} can be served ({faults})"
        if faults
        else (f"no ZIM in {selection.folder}")
    )
    hint = "infoforge zims pull fetches one" + (
        ", infoforge zims verify checks them" * bool(faults)
    )
    return BoxError(what, hint, code="no_zims")


def _warn(prepared: Preparation, box: BoxSettings, warn: Warn) -> None:
    for item in prepared.selection.bad:
        warn(WarningMessage("zim_left_out", f"{item.file} is not served: {item.reason}"))
    if not is_loopback(box.bind):
        warn(
            WarningMessage(
                "open_port", f"box.bind is {box.bind}: the whole network can read the wikis"
            )
        )


def _reason(old: Container | None, prepared: Preparation, box: BoxSettings, recreate: bool) -> str:
    """Why the container must be recreated; empty when nothing requires it."""
    if recreate:
        return "asked for"
    if old is None:
        return "there was none"
    if old.fingerprint != prepared.spec.fingerprint:
        return "image, port, ZIM files or options changed" if old.fingerprint else "it was not ours"
    if old.status != "running":
        return f"it was {old.status or 'in no state'}"
    return "" if old.monitored else "its monitor (conmon) was gone"


def _remove(podman: Podman, name: str) -> None:
    """Remove the container, whatever state it is in."""
    for last in (False, True):
        reply = podman.run("rm", "--force", "--ignore", "--time=5", "--volumes", name, timeout=60.0)
        if reply.code == 0:
            return
        if last:
            raise BoxError(
                f"the old container {name} cannot be removed: {complaint(reply)}",
                remedy(reply.err),
            )
        # Without its monitor a container's exit code is unknown, which Podman 5 calls a failure
        # the first time; it has ended all the same, and the second time it goes.


def _create(podman: Podman, box: BoxSettings, spec: ContainerSpec) -> None:
    """Run the container, patient with what passes by itself."""
    end = time.monotonic() + _NETWORK_PATIENCE
    freed = False
    while True:
        reply = podman.run(*spec.argv, timeout=120.0)
        if reply.code == 0:
            return
        _remove(podman, box.container)
        in_use = re.search(r"name .* is already in use by \"?([0-9a-f]{12,64})", reply.err)
        if in_use and not freed:
            # A power cut can leave a container that only the storage knows.
            freed = True
            podman.run("rm", "--force", "--storage", in_use[1])
            continue
        if "address already in use" in reply.err.lower():
            free_port(podman, box)
        elif not _NETWORK.search(reply.err):
            break
        # The forwarder of the container before needs a moment to go, a network at boot to come.
        if time.monotonic() > end:
            break
        time.sleep(1.0)
    raise BoxError(
        f"podman run failed ({reply.code}): {complaint(reply)}",
        remedy(reply.err),
        code="run_failed",
    )


def _await_books(podman: Podman, box: BoxSettings, prepared: Preparation) -> Catalog:
    """Wait until the server lists a book.

    Raises:
        BoxError: It keeps crashing, or the time is up; the container is gone then, since a server
            that crashes for ever, or serves nothing, only hides the fault.
    """
    begun = time.monotonic()
    look = 0
    while True:
        listed = catalog(box.bind, box.port)
        if _serves(listed, prepared):
            return listed
        why = ""
        look += 1
        if look % 5 == 0:
            why = _hopeless(podman, box, listed)
        if not why and time.monotonic() - begun > box.start_timeout:
            why = f"no books within {box.start_timeout:g} s ({listed.error or 'an empty catalog'})"
        if why:
            break
        time.sleep(0.2)
    said = last_lines(podman, box.container)
    _remove(podman, box.container)
    text = f"kiwix-serve does not serve the books: {why}" + (f"; it wrote: {said}" if said else "")
    raise BoxError(text, _hint(said, prepared), code="not_serving")


def _hopeless(podman: Podman, box: BoxSettings, listed: Catalog) -> str:
    """Why waiting on is useless; empty when it is not."""
    if listed.status == 200:
        # All ZIM files are opened before the server listens: what is not listed now never will be.
        return listed.error or "it answers, but none of the books is in its catalog"
    now = read_container(podman, box.container)
    if now is None:
        return "the container is gone"
    if now.restarts >= _CRASHES:
        return f"it ended and was restarted {now.restarts} times"
    if now.status in ("exited", "stopped") and not now.monitored:
        return "it ended"
    return ""


def _hint(said: str, prepared: Preparation) -> str:
    if re.search(r"unrecogni[sz]ed option|invalid option|unknown option", said, re.IGNORECASE):
        return "this kiwix-serve is older than 3.7: set box.skip_invalid to false, or a newer image"
    if prepared.host.enforcing:
        return "SELinux enforces: see ausearch -m avc -ts recent, and ls -Z in the ZIM folder"
    return "infoforge zims verify checks the files; infoforge doctor the rest"


def _listed(box: BoxSettings, prepared: Preparation, seconds: float) -> Catalog:
    """The catalog, with a little patience for a container that has only just been started."""
    end = time.monotonic() + seconds
    while True:
        listed = catalog(box.bind, box.port)
        if _serves(listed, prepared) or time.monotonic() > end:
            return listed
        time.sleep(0.2)


def _serves(listed: Catalog, prepared: Preparation) -> bool:
    """Whether any of the books is listed: a box that serves most is better than none at all."""
    wanted: tuple[Book, ...] = prepared.selection.books
    return any(book.uuid in listed.books for book in wanted)


def unhealthy_reason(settings: Settings, podman: Podman) -> str:
    """Why the container does not serve; empty when it does, or when another run is at work on it.

    A quick look, made twice a minute: no ZIM is opened unless the server died twice
    (`crashes`), and a changed configuration is no fault.
    """
    box = settings.box
    try:
        with _exclusive(wait=False):
            listed = catalog(box.bind, box.port)
            container = read_container(podman, box.container)
            if container is None:
                return "there is no container"
            if culprits := crashes.observe(container, settings.zims.folder):
                return f"kiwix-serve ended twice within ten minutes: {', '.join(culprits)}"
            if container.status != "running":
                return f"the container is {container.status}"
            if not container.monitored:
                return "the container's monitor (conmon) is gone"
            for _ in range(2):
                if listed.books:
                    break
                # Busy, perhaps; with a monitor there is something to wait for.
                time.sleep(1.0)
                listed = catalog(box.bind, box.port)
            return "" if listed.books else listed.error or "no book is in the catalog"
    except BlockingIOError:
        return ""


@contextmanager
def _exclusive(*, wait: bool = True) -> Iterator[None]:
    """Let one start or stop of this user run at a time; the others wait.

    Raises:
        BlockingIOError: Another one runs, and we are not to wait.
    """
    runtime = Path(f"/run/user/{os.getuid()}")
    folder = runtime if runtime.is_dir() else Path.home() / ".cache"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "infoforge-serve.lock", wait=None if wait else 0):
        yield


@dataclass(frozen=True, slots=True)
class BoxStatus:
    """What `box_status` found.

    Attributes:
        container: The container; ``None`` when there is none.
        prepared: What it should be; ``None`` when that cannot be told (see ``problem``).
        problem: Why it cannot be told.
        listed: What the server answered.
        url: Where it should answer.
    """

    container: Container | None
    prepared: Preparation | None
    problem: BoxError | None
    listed: Catalog
    url: str

    @property
    def current(self) -> bool:
        """Whether the container is made of what the configuration says now."""
        made = self.container.fingerprint if self.container else ""
        return self.prepared is not None and made == self.prepared.spec.fingerprint

    @property
    def served(self) -> tuple[str, ...]:
        """ZIM files that should be served and are."""
        books = self.prepared.selection.books if self.prepared else ()
        return tuple(b.file for b in books if b.uuid in self.listed.books)

    @property
    def missing(self) -> tuple[str, ...]:
        """ZIM files that open here and that the server does not list."""
        books = self.prepared.selection.books if self.prepared else ()
        return tuple(b.file for b in books if b.uuid not in self.listed.books)

    @property
    def faults(self) -> tuple[str, ...]:
        """What is not as it must be, one line each; empty when the box serves its books."""
        found = []
        if self.container is None:
            found.append("there is no container")
        elif self.container.status != "running":
            found.append(f"the container is {self.container.status}")
        elif not self.container.monitored:
            found.append("the container's monitor (conmon) is gone: nothing would restart it")
        if self.problem is not None:
            found.append(self.problem.message)
        elif self.container is not None and not self.current:
            found.append("the container is not what the configuration says now")
        if self.container is not None and self.listed.error:
            found.append(f"{self.url} does not answer: {self.listed.error}")
        elif self.container is not None:
            found += [f"{file} is not in the catalog" for file in self.missing]
        return tuple(found)

    def data(self) -> dict[str, Any]:
        """The JSON document's ``data``."""
        container, prepared = self.container, self.prepared
        return {
            "serving": bool(self.served),
            "faults": list(self.faults),
            "url": self.url,
            "container": None
            if container is None
            else {
                "id": container.id,
                "status": container.status,
                "monitored": container.monitored,
                "pid": container.pid,
                "health": container.health,
                "restarts": container.restarts,
                "started": container.started,
                "image": container.image,
                "fingerprint": container.fingerprint,
            },
            "fingerprint": prepared.spec.fingerprint if prepared else "",
            "current": self.current,
            "image": None
            if prepared is None or not prepared.image
            else images.image_data(prepared.image),
            "zims": {
                "folder": str(prepared.selection.folder) if prepared else "",
                "served": list(self.served),
                "missing": list(self.missing),
                "left_out": [
                    {"file": item.file, "reason": item.reason, "older": item.older}
                    for item in (prepared.selection.left_out if prepared else ())
                ],
            },
            "choices": [
                {"what": choice.what, "value": choice.value, "reason": choice.reason}
                for choice in (prepared.spec.choices if prepared else ())
            ],
            "podman": None
            if prepared is None
            else {
                "version": prepared.host.version_text,
                "rootless": prepared.host.rootless,
                "cgroup_version": prepared.host.cgroup_version,
                "cgroup_manager": prepared.host.cgroup_manager,
                "selinux": prepared.host.selinux,
                "enforcing": prepared.host.enforcing,
            },
        }


def box_status(settings: Settings, podman: Podman) -> BoxStatus:
    """Look at the container, the catalog and the configuration; changes nothing.

    Raises:
        BoxError: Podman itself cannot be called.
    """
    box = settings.box
    container = read_container(podman, box.container)
    prepared: Preparation | None = None
    problem: BoxError | None = None
    try:
        prepared = prepare(settings, podman)
    except BoxError as error:
        problem = error
    return BoxStatus(
        container, prepared, problem, catalog(box.bind, box.port), base_url(box.bind, box.port)
    )
