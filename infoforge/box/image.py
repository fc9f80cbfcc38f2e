"""Container images: fetched only when asked for, and used only when they are the expected ones.

An image is expected when it has the digest of the configuration. Without one, the first image that
is used under a name is trusted and recorded, and another one under that name must be accepted.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from infoforge.box.podman import BoxError, Podman, complaint, remedy
from infoforge.config.locate import state_folder
from infoforge.config.settings import BoxSettings
from infoforge.contract import CheckFailed
from infoforge.files import write_atomic
from infoforge.text.parse import from_json

_PULL_SECONDS = 3600.0
_RECORDED = 20
"""Accepted images of one name that are kept, so that an update can go back."""


def pull(box: BoxSettings, podman: Podman, *, quiet: bool, accept: bool = False) -> dict[str, Any]:
    """Fetch the configured image from its registry.

    Args:
        box: Image and digest. With a digest exactly that image is fetched, and then given the tag:
            Podman 4 takes no reference with both.
        podman: The Podman to call.
        quiet: Keep Podman's progress off the terminal.
        accept: Take another image than the recorded one.

    Returns:
        What Podman knows of the image.

    Raises:
        BoxError: It could not be fetched, or is not the expected one.
    """
    before = podman.inspect("image", box.image)
    name = box.image.rpartition(":")[0]
    reference = f"{name}@{box.digest}" if box.digest else box.image
    arguments = ["pull", "--quiet", reference] if quiet else ["pull", reference]
    reply = podman.run(*arguments, timeout=_PULL_SECONDS, stream=not quiet)
    if reply.code != 0:
        said = complaint(reply) if quiet else "see above"
        raise BoxError(
            f"{reference} could not be pulled: {said}",
            "without internet: infoforge serve load ARCHIVE",
            code="pull_failed",
        )
    if box.digest:
        podman.call("tag", reference, box.image)
    return _take(box, podman, before, accept)


def load(
    box: BoxSettings, podman: Podman, archive: Path, *, accept: bool = False
) -> dict[str, Any]:
    """Take the image from an archive that ``podman save`` wrote.

    Args:
        box: The image that is wanted.
        podman: The Podman to call.
        archive: A ``docker-archive`` or ``oci-archive``, compressed or not.
        accept: Take another image than the recorded one.

    Returns:
        What Podman knows of the image.

    Raises:
        BoxError: The file is no such archive, or it does not hold the expected image.
    """
    if not archive.is_file():
        raise BoxError(f"there is no file {archive}", "podman save -o FILE IMAGE writes one")
    before = podman.inspect("image", box.image)
    reply = podman.run("load", "--quiet", "--input", str(archive.resolve()), timeout=_PULL_SECONDS)
    if reply.code != 0:
        raise BoxError(
            f"{archive} could not be loaded: {complaint(reply)}",
            remedy(reply.err)
            if "space" in reply.err
            else f"it must be written by: podman save -o FILE {box.image}",
            code="load_failed",
        )
    held = re.findall(r"Loaded image(?:\(s\))?:\s*(.+)", reply.out)
    names = [name.strip() for line in held for name in line.split(",")]
    if box.image not in names:
        raise BoxError(
            f"{archive} holds {', '.join(names) or 'no named image'}, not {box.image}",
            f"set box.image to {names[0]}" if names else f"podman tag ID {box.image}",
            code="other_image",
        )
    return _take(box, podman, before, accept)


def check(box: BoxSettings, image: dict[str, Any]) -> None:
    """Refuse an image that is not the expected one.

    Args:
        box: Its name, and the digest that it must have. An image from an archive has no digest of a
            registry; it is known by its ID.
        image: What Podman knows of it.

    Raises:
        BoxError: It is another one.
    """
    found = _digests(image)
    if box.digest:
        if box.digest not in found:
            raise BoxError(
                f"the image {box.image} on this machine is not {box.digest}, but {_id(image)}",
                "fetch the right one with infoforge serve pull, or correct box.digest (for an "
                "image from an archive it is the image's ID)",
                code="image_digest",
            )
        return
    accepted = {str(entry.get("id")) for entry in _recorded().get(box.image, ())}
    if accepted and _id(image) not in accepted:
        raise BoxError(
            f"the image {box.image} on this machine is {_id(image)}, which is not the one that was "
            "accepted under this name",
            "if that is wanted: infoforge serve pull --accept, or serve load ARCHIVE --accept",
            code="image_changed",
        )


def record(name: str, image: dict[str, Any]) -> None:
    """Record that an image is accepted under a name.

    Raises:
        CheckFailed: It cannot be written.
    """
    known = _recorded()
    if any(entry.get("id") == _id(image) for entry in known.get(name, [])[-1:]):
        return
    entries = [entry for entry in known.get(name, []) if entry.get("id") != _id(image)]
    entry = {
        "id": _id(image),
        "digests": sorted(_digests(image)),
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    known[name] = [*entries, entry][-_RECORDED:]
    path = _record_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(path, json.dumps(known, indent=1), mode=0o600)
    except OSError as error:
        raise CheckFailed(
            f"cannot write {path}: {error.strerror or error}",
            "make room, or check whose folder it is",
            code="state_folder",
        ) from error


def image_data(image: dict[str, Any]) -> dict[str, Any]:
    """What is reported of an image."""
    return {
        "id": str(image.get("Id", "")),
        "names": list(image.get("RepoTags") or ()),
        "digests": list(image.get("RepoDigests") or ()),
        "created": str(image.get("Created", "")),
    }


def _take(
    box: BoxSettings, podman: Podman, before: dict[str, Any] | None, accept: bool
) -> dict[str, Any]:
    """Accept what was fetched, or give the name back to what had it before."""
    found = podman.inspect("image", box.image)
    if found is None:
        raise BoxError(f"{box.image} is not here although Podman said so", "see: podman images")
    if not accept or box.digest:
        try:
            check(box, found)
        except BoxError:
            if before is not None:
                podman.run("tag", str(before.get("Id", "")), box.image)
            else:
                podman.run("untag", box.image, box.image)
            raise
    record(box.image, found)
    return found


def _id(image: dict[str, Any]) -> str:
    return f"sha256:{str(image.get('Id', '')).removeprefix('sha256:')}"


def _digests(image: dict[str, Any]) -> set[str]:
    """All by which an image can be named: the digests of its manifests, and its ID."""
    manifests = [*(image.get("RepoDigests") or ()), image.get("Digest") or ""]
    return {_id(image), *(str(each).rpartition("@")[2] for each in manifests if each)}


def _record_file() -> Path:
    return state_folder() / "images.json"


def _recorded() -> dict[str, list[dict[str, Any]]]:
    """The accepted images by name; none when the record is missing or damaged."""
    with suppress(OSError, ValueError, AttributeError):
        known = from_json(_record_file().read_text("utf-8"))
        return {
            str(name): [entry for entry in entries if isinstance(entry, dict)]
            for name, entries in known.items()
            if isinstance(entries, list)
        }
    return {}
