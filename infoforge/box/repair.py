"""Put right what can be put right without losing anything.

That is: a container that is gone, hangs, is unhealthy, may not read its files, or serves another
set of ZIM files than the configuration says, and a unit that is not enabled. All of it is done by
`infoforge.service`, so that the container's monitor lives there. A unit that was stopped stays
stopped: somebody wanted it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from infoforge.box import systemd
from infoforge.box.box_checks import labels
from infoforge.box.host import enforcing
from infoforge.box.lifecycle import box_status
from infoforge.box.podman import BoxError, Podman
from infoforge.config.settings import Settings

HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair, made or not.

    Attributes:
        what: What it is: ``container`` or ``unit``.
        reason: What was wrong.
        done: It was made.
        detail: What was done, or why it was not; a sentence.
    """

    what: str
    reason: str
    done: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Defect:
    """Something that a repair may put right."""

    what: str
    reason: str


def find_defects(settings: Settings, podman: Podman) -> Iterator[Defect]:
    """What could be repaired; nothing where no unit of ours stands.

    Raises:
        BoxError: Podman cannot be asked.
    """
    if not systemd.unit_file().is_file():
        return
    enabled = systemd.systemctl(podman.env, "is-enabled", systemd.UNIT_NAME)[1]
    if enabled == "disabled":
        yield Defect("unit", f"{systemd.UNIT_NAME} is not enabled")
    # Two timers look; what one has begun is not for the other to begin again.
    systemd.settle(podman.env, settings.box.start_timeout)
    if not systemd.active(podman.env):
        return
    found = box_status(settings, podman)
    if found.problem is not None:
        return  # no image, or no ZIM that opens: recreating it would end in nothing
    if found.faults:
        yield Defect("container", "; ".join(found.faults))
    elif found.container is not None and found.container.health == "unhealthy":
        yield Defect("container", "the container is unhealthy")
    elif enforcing() and (wrong := labels(settings.zims.folder, podman)[1]):
        # Relabelled under a server that runs (restorecon): the catalog is in its memory, and every
        # read of a page fails.
        yield Defect("container", f"it may not read: {', '.join(wrong)}")


def repair(settings: Settings, podman: Podman, heals: list[float], now: float) -> list[Repair]:
    """Repair what is needed, at most so often in an hour.

    Args:
        settings: The settings; ``monitor.heal_hourly`` is the limit.
        podman: The Podman to call.
        heals: Times of the repairs so far; those older than an hour are dropped, new ones added.
        now: Seconds since 1970.

    Returns:
        Every repair that was needed, made or not.
    """
    heals[:] = [moment for moment in heals if now - HOUR < moment <= now]
    done = []
    try:
        wanted = list(find_defects(settings, podman))
    except BoxError as error:
        return [Repair("container", error.message, False, "it cannot be checked")]
    for defect in wanted:
        if len(heals) >= settings.monitor.heal_hourly:
            told = f"not repaired: {len(heals)} repairs in an hour are enough"
            done.append(Repair(defect.what, defect.reason, False, told))
            continue
        heals.append(now)
        done.append(_make(defect, settings, podman))
    return done


def _make(defect: Defect, settings: Settings, podman: Podman) -> Repair:
    if defect.what == "unit":
        code, said = systemd.systemctl(podman.env, "enable", systemd.UNIT_NAME)
        told = "it was enabled" if code == 0 else f"it could not be enabled: {said}"
        return Repair(defect.what, defect.reason, code == 0, told)
    try:
        made = systemd.heal(podman.env, settings.box.start_timeout + 120)
    except BoxError as error:
        return Repair(defect.what, defect.reason, False, error.message)
    told = "the container was recreated" if made else f"{systemd.UNIT_NAME} is not active"
    return Repair(defect.what, defect.reason, made, told)
