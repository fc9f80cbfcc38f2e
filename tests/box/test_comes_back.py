"""Whatever befalls a box, it answers again without a hand on it."""

from __future__ import annotations

import time

from box import lab
from box.conftest import LIMIT, after_heal, back, on_all

Boxes = tuple[lab.Box, ...]


def test_after_a_reboot(boxes: Boxes) -> None:
    def reboot(box: lab.Box) -> float:
        return back(box, "a reboot", box.reboot())

    assert max(on_all(reboot, boxes)) <= LIMIT


def test_after_podman_kill(boxes: Boxes) -> None:
    def kill(box: lab.Box) -> float:
        box.as_user("podman kill infoforge-kiwix")
        return after_heal(box, "podman kill", time.monotonic())

    assert max(on_all(kill, boxes)) <= LIMIT


def test_after_the_monitor_was_killed(boxes: Boxes) -> None:
    # Without its monitor the server lives on, and answers; nothing is lost until it ends as well.
    def kill(box: lab.Box) -> float:
        box.run(f"kill -9 {' '.join(_processes(box, 'conmon'))}")
        box.run(f"kill -9 {' '.join(_processes(box, 'kiwix-serve'))}")
        return after_heal(box, "kill -9 of conmon and the server", time.monotonic())

    assert max(on_all(kill, boxes)) <= LIMIT


def _processes(box: lab.Box, name: str) -> list[str]:
    """The IDs of the processes of a name; there must be one at least."""
    found = box.run(f"grep -ls '^Name:.*{name}' /proc/[0-9]*/status || true").stdout.split()
    assert found, f"no {name} runs on {box.name}"
    return [path.split("/")[2] for path in found]


def test_with_a_stale_container_of_the_same_name(boxes: Boxes) -> None:
    def stale(box: lab.Box) -> float:
        box.as_user("systemctl --user stop infoforge.service infoforge-heal.timer")
        box.as_user("podman create --name infoforge-kiwix localhost/kiwix-serve:3.7.0 /nothing.zim")
        begin = time.monotonic()
        box.as_user("systemctl --user start infoforge.service infoforge-heal.timer")
        return back(box, "a start over a stale container", begin)

    assert max(on_all(stale, boxes)) <= LIMIT


def test_after_a_power_cut_in_mid_start(boxes: Boxes) -> None:
    def cut(box: lab.Box) -> float:
        box.as_user("systemctl --user --no-block restart infoforge.service")
        time.sleep(1.0)
        box.power_cut()
        return back(box, "a power cut in mid-start", box.boot())

    assert max(on_all(cut, boxes)) <= LIMIT
