"""The repository's playbooks, run against boxes, and how that ended."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from box import content


@dataclass(frozen=True)
class Run:
    """How a run of ansible-playbook ended."""

    code: int
    output: str

    @property
    def recap(self) -> dict[str, dict[str, int]]:
        """Host -> the counts of the recap."""
        rows = re.findall(r"^(\S+)\s+: (ok=.*)$", self.output, re.MULTILINE)
        return {
            name: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", counts)}
            for name, counts in rows
        }

    @property
    def complaints(self) -> list[str]:
        """The messages that the play failed with, one a host, blanks folded."""
        blocks = re.findall(r"^(?:fatal|failed): \[.*?(?=^\S|^$)", self.output, re.M | re.S)
        return [" ".join(block.split()) for block in blocks]


def run_playbook(inventory: Path, playbook: str, *options: str, extra: dict[str, Any]) -> Run:
    """Run one of the repository's playbooks.

    Args:
        inventory: The boxes.
        playbook: Its name in ``playbooks/``.
        options: More options of ansible-playbook.
        extra: Variables that go before all others.
    """
    command = ["ansible-playbook", f"--inventory={inventory}", f"playbooks/{playbook}", *options]
    env = os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_FORCE_COLOR": "0"}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    done = subprocess.run(
        [*command, "--extra-vars", json.dumps(extra)],
        cwd=content.REPO,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Run(done.returncode, done.stdout + done.stderr)
