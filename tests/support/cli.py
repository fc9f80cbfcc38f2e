"""Runs of the installed console script, each with a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

SCRIPT = Path(sys.executable).parent / "infoforge"


@dataclass(frozen=True)
class Run:
    """What one run did."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """stdout as one JSON document."""
        return json.loads(self.stdout)


class Cli:
    """Runs ``infoforge`` in a subprocess; nothing of the caller's configuration reaches it.

    Args:
        home: The folder that is ``$HOME``, with the XDG folders inside.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)

    @property
    def config_path(self) -> Path:
        """Where the run looks for its configuration."""
        return self.home / ".config" / "infoforge" / "config.yaml"

    def configure(self, config: Mapping[str, Any] | str) -> Path:
        """Write the configuration file: a mapping as YAML, or text as it is."""
        self.config_path.parent.mkdir(parents=True, exist_ok=True)
        text = config if isinstance(config, str) else yaml.safe_dump(dict(config))
        self.config_path.write_text(text, encoding="utf-8")
        return self.config_path

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a run."""
        kept = {
            key: value
            for key, value in os.environ.items()
            # coverage follows its own variables into the subprocess
            if key in {"PATH", "TMPDIR", "SYSTEMROOT"} or key.startswith("COVERAGE")
        }
        return {
            **kept,
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_DATA_HOME": str(self.home / ".local" / "share"),
            "XDG_STATE_HOME": str(self.home / ".local" / "state"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **(more or {}),
        }

    def __call__(
        self,
        *args: str | Path,
        stdin: str | bytes = b"",
        config: Mapping[str, Any] | str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 120,
        cwd: Path | None = None,
        prefix: tuple[str, ...] = (),
    ) -> Run:
        """Run ``infoforge ARGS``.

        Args:
            args: Arguments as they would be typed.
            stdin: What it reads; nothing when not given.
            config: Written with `configure` first.
            env: More environment variables.
            timeout: Seconds after which the test fails.
            cwd: Working folder; the home when not given.
            prefix: A command to run it under (``("unshare", "-n")``).
        """
        if config is not None:
            self.configure(config)
        done = subprocess.run(
            [*prefix, str(SCRIPT), *map(str, args)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            env=self.environment(env),
            cwd=cwd or self.home,
            timeout=timeout,
            check=False,
        )
        return Run(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))
