"""The image: fetched only when asked for, from its registry or from an archive."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from infoforge.box.podman import BoxError, Podman, complaint, remedy
from infoforge.config.settings import BoxSettings

_PULL_SECONDS = 3600.0


def pull(box: BoxSettings, podman: Podman, *, quiet: bool) -> dict[str, Any]:
    """Fetch the configured image from its registry.

    Args:
        box: Image and digest. With a digest exactly that image is fetched, and then given the tag:
            Podman 4 takes no reference with both.
        podman: The Podman to call.
        quiet: Keep Podman's progress off the terminal.

    Returns:
        What Podman knows of the image.

    Raises:
        BoxError: It could not be fetched.
    """
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
    return _known(box, podman)


def load(box: BoxSettings, podman: Podman, archive: Path) -> dict[str, Any]:
    """Take the image from an archive that ``podman save`` wrote.

    Args:
        box: The image that is wanted.
        podman: The Podman to call.
        archive: A ``docker-archive`` or ``oci-archive``, compressed or not.

    Returns:
        What Podman knows of the image.

    Raises:
        BoxError: The file is no such archive, or it holds another image.
    """
    if not archive.is_file():
        raise BoxError(f"there is no file {archive}", "podman save -o FILE IMAGE writes one")
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
    return _known(box, podman)


def _known(box: BoxSettings, podman: Podman) -> dict[str, Any]:
    found = podman.inspect("image", box.image)
    if found is None:
        raise BoxError(f"{box.image} is not here although Podman said so", "see: podman images")
    return found
