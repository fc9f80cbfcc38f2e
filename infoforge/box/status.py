"""The state of the box in one object: what runs, what it serves, what was chosen and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from infoforge.box.life import Prepared, prepare
from infoforge.box.podman import BoxError, Podman
from infoforge.box.probe import Catalog, base_url, catalog
from infoforge.box.state import Container, read_container
from infoforge.config.settings import Settings


@dataclass(frozen=True, slots=True)
class Status:
    """What `look` found.

    Attributes:
        container: The container; ``None`` when there is none.
        prepared: What it should be; ``None`` when that cannot be told (see ``problem``).
        problem: Why it cannot be told.
        listed: What the server answered.
        url: Where it should answer.
    """

    container: Container | None
    prepared: Prepared | None
    problem: BoxError | None
    listed: Catalog
    url: str

    @property
    def current(self) -> bool:
        """Whether the container is made of what the configuration says now."""
        made = self.container.fingerprint if self.container else ""
        return self.prepared is not None and made == self.prepared.plan.fingerprint

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
            "fingerprint": prepared.plan.fingerprint if prepared else "",
            "current": self.current,
            "image": None if prepared is None or not prepared.image else image_data(prepared.image),
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
                for choice in (prepared.plan.choices if prepared else ())
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


def look(settings: Settings, podman: Podman) -> Status:
    """Look at the container, the catalog and the configuration; changes nothing.

    Raises:
        BoxError: Podman itself cannot be called.
    """
    box = settings.box
    container = read_container(podman, box.container)
    prepared: Prepared | None = None
    problem: BoxError | None = None
    try:
        prepared = prepare(settings, podman)
    except BoxError as error:
        problem = error
    return Status(
        container, prepared, problem, catalog(box.bind, box.port), base_url(box.bind, box.port)
    )


def image_data(image: dict[str, Any]) -> dict[str, Any]:
    """What is told of an image."""
    return {
        "id": str(image.get("Id", "")),
        "names": list(image.get("RepoTags") or ()),
        "digests": list(image.get("RepoDigests") or ()),
        "created": str(image.get("Created", "")),
    }
