"""The boxes of the scenario that molecule has converged; figures of what was timed, at the end."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from box import content, host, lab
from box.plays import Run, run_playbook

FIGURES: list[str] = []
LIMIT = 60.0
"""Seconds within which a box must answer again."""

HEAL_PERIOD = 30.0
"""Seconds between two looks of the timer that heals."""


def inventory() -> Path:
    """The inventory of the default scenario."""
    return lab.folder("default") / "hosts.yml"


def play(playbook: str, *options: str, extra: dict[str, Any] | None = None) -> Run:
    """Run one of the repository's playbooks against the boxes."""
    values = {"zims_pull": "{{ lab_zims_pulled }}"} | (extra or {})
    return run_playbook(inventory(), playbook, *options, extra=values)


def books(box: lab.Box) -> list[str]:
    """The names of the books in the catalog that the box's kiwix-serve answers with."""
    url = "http://127.0.0.1:8080/catalog/v2/entries?count=-1"
    read = f"import urllib.request as u; print(u.urlopen('{url}', timeout=5).read().decode())"
    done = box.run(f'python3 -c "{read}"', check=False)
    return (
        sorted(re.findall(r"<name>([a-z]+)_en_all</name>", done.stdout))
        if done.returncode == 0
        else []
    )


def answer(box: lab.Box) -> dict[str, Any]:
    """The box's answer to the question that only the landmarks can answer; empty when none."""
    try:
        text = box.as_user(f"infoforge ask --json '{content.QUESTION}'", check=False)
        return json.loads(text)
    except (ValueError, RuntimeError):
        return {}


def answers(box: lab.Box, expected: tuple[str, ...] = ("landmarks", "rivers")) -> bool:
    """Whether the expected books are in the catalog and the question gets its cited answer."""
    if books(box) != list(expected):
        return False
    said = answer(box)
    data = json.dumps(said.get("data") or {}, ensure_ascii=False)
    return said.get("exit_code") == 0 and content.EXPECTED in data and "[1]" in data


def back(box: lab.Box, what: str, begin: float, limit: float = LIMIT) -> float:
    """Wait until the box answers again; the seconds since ``begin``, kept as a figure."""
    host.until(
        f"{box.name} answers after {what}",
        max(1.0, limit - (time.monotonic() - begin)),
        lambda: answers(box),
        pause=0.5,
    )
    seconds = time.monotonic() - begin
    FIGURES.append(f"{box.name}: a cited answer {seconds:5.1f} s after {what}")
    return seconds


def after_heal(box: lab.Box, what: str, begin: float) -> float:
    """Wait until the timer that heals has brought the box back; the seconds of the repair alone.

    Both are kept as figures: the seconds since ``begin``, and since the repair began.
    """
    seconds = back(box, what, begin, LIMIT + HEAL_PERIOD)
    # The boxes share this host's monotonic clock.
    show = "systemctl --user show -P ExecMainStartTimestampMonotonic infoforge-heal.service"
    repair = begin + seconds - int(box.as_user(show)) / 1e6
    FIGURES.append(f"{box.name}: of these {repair:5.1f} s since the look that healed")
    return repair


def on_all(function: Callable[[lab.Box], float], boxes: tuple[lab.Box, ...]) -> list[float]:
    """Do the same on all boxes at once."""
    with ThreadPoolExecutor(len(boxes)) as pool:
        return list(pool.map(function, boxes))


@pytest.fixture(scope="session")
def boxes() -> tuple[lab.Box, ...]:
    """The boxes of the default scenario, converged."""
    if not inventory().exists():
        pytest.skip("no boxes are up: make test-box boots them (molecule converge does, too)")
    return lab.boxes("default")


@pytest.fixture(scope="session")
def box(boxes: tuple[lab.Box, ...]) -> lab.Box:
    """One box, for what does not depend on Debian's release: the first, or INFOFORGE_LAB_BOX."""
    name = os.environ.get("INFOFORGE_LAB_BOX", boxes[0].name)
    return next(box for box in boxes if box.name == name)


@pytest.fixture(scope="module")
def restored(box: lab.Box) -> Iterator[None]:
    """After the module's tests, the playbook gives the box its configuration back."""
    yield
    run = play("site.yml", f"--limit={box.name}", "--tags=cli,kiwix")
    assert run.code == 0, run.output[-3000:]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures."""
    if FIGURES:
        terminalreporter.section("figures")
        for line in FIGURES:
            terminalreporter.write_line(line)
