"""A box that reboots again and again answers each time."""

from __future__ import annotations

from box import lab
from box.conftest import LIMIT, back

REBOOTS = 10


def test_it_answers_after_each_of_ten_reboots(box: lab.Box) -> None:
    taken = [back(box, f"reboot {number + 1}", box.reboot()) for number in range(REBOOTS)]
    assert len(taken) == REBOOTS
    assert max(taken) <= LIMIT
