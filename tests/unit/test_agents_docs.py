"""The pages for agents and for watching say what is so."""

from __future__ import annotations

import base64
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from infoforge.agents import skill
from infoforge.agents.server import AT_ONCE
from infoforge.agents.stats import LARGEST
from infoforge.agents.tools import LARGEST_WINDOW, OUTPUT_SCHEMA, TOOLS, WINDOW
from infoforge.box import metrics, monitor
from infoforge.box.health import PASS, CheckResult
from infoforge.box.notify import channels
from infoforge.box.systemd import UNITS
from infoforge.config.settings import MonitorSettings
from infoforge.contract import STATUS_BY_EXIT

REPO = Path(__file__).resolve().parents[2]
AGENTS = (REPO / "docs" / "agents.md").read_text("utf-8")
MONITOR = (REPO / "docs" / "monitor.md").read_text("utf-8")


@pytest.mark.parametrize("page", [AGENTS, skill.text()], ids=["agents.md", "SKILL.md"])
def test_the_exit_codes_are_those_of_the_contract(page: str) -> None:
    rows = re.findall(r"^\| (\d) \| `(\w+)` \|", page, re.M)
    assert {int(code): word for code, word in rows} == STATUS_BY_EXIT


def test_the_tools_are_described_with_their_arguments() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", AGENTS, re.M))
    assert set(TOOLS) <= set(rows)
    for name, tool in TOOLS.items():
        assert set(re.findall(r"`(\w+)`", rows[name])) == set(tool.properties), name
    assert f"({WINDOW}, at most {LARGEST_WINDOW})" in AGENTS
    assert AT_ONCE == 8
    assert "Eight calls" in AGENTS
    assert LARGEST == 1_000_000
    assert set(OUTPUT_SCHEMA["required"]) <= set(OUTPUT_SCHEMA["properties"])


def test_every_way_of_telling_is_described() -> None:
    every = MonitorSettings(command="x", webhook="http://x", mail="x", desktop=True, wall=True)
    block = MONITOR.split("```yaml")[1].split("```")[0]
    for way in channels(every):
        assert re.search(rf"^  {way}: ", block, re.M), way
    assert f"interval: {MonitorSettings().interval} " in block
    assert f"`monitor.heal_hourly` ({MonitorSettings().heal_hourly})" in MONITOR
    assert f"({monitor.EVENTS} changes)" in MONITOR
    assert f"up to {monitor.UNSENT} messages" in MONITOR


def test_the_units_that_are_named_can_be_printed() -> None:
    assert set(re.findall(r"serve unit (\S+)", MONITOR)) <= set(UNITS)
    assert set(re.findall(r"`(infoforge-\w+\.timer)`", MONITOR)) <= set(UNITS)


def test_every_metric_is_described() -> None:
    measured = dict.fromkeys(metrics.MEASURES, 1.0)
    text = metrics.text([CheckResult("x", PASS, "", "", "x", measured)], seconds=1, now=1)
    made = set(re.findall(r"^# TYPE (\w+)", text, re.M))
    assert made == set(re.findall(r"`(infoforge_\w+)", MONITOR))


def _filters() -> ModuleType:
    path = REPO / "roles" / "agents" / "filter_plugins" / "infoforge_skill.py"
    spec = importlib.util.spec_from_file_location("infoforge_skill", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (skill.text(), False),
        (skill.text() + "x", True),
        (skill.text().replace("cite it", "sight it"), True),
        ("# mine\n", True),
        ("", True),
    ],
)
def test_the_role_keeps_the_files_that_the_command_keeps(
    tmp_path: Path, text: str, kept: bool
) -> None:
    (place,) = skill.places([str(tmp_path)])
    place.path.parent.mkdir()
    place.path.write_text(text, encoding="utf-8")
    assert (skill.look(place).state in ("edited", "foreign")) == kept
    slurped = {"content": base64.b64encode(text.encode()).decode()}
    assert _filters().infoforge_skill_kept(slurped) == kept


def test_the_role_writes_where_nothing_is() -> None:
    assert not _filters().infoforge_skill_kept({"failed": False, "msg": "file not found"})
    assert _filters().infoforge_skill_kept({"content": base64.b64encode(b"\xff\xfe").decode()})
