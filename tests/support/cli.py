"""Runs of the command, each with a home of its own: in this process, or as the installed script."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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
    """Runs ``infoforge``; nothing of the caller's configuration reaches it.

    Most runs take place in this process, which saves the start of an interpreter and its imports.
    ``process=True`` (and ``prefix``) starts the installed script instead, for what only a process
    shows: signals, start-up, what reaches the file descriptors.

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
        process: bool = False,
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
            process: Start the installed script.
        """
        if config is not None:
            self.configure(config)
        if not process and not prefix:
            return self._here([str(arg) for arg in args], stdin, env, cwd or self.home)
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

    def _here(
        self, args: list[str], stdin: str | bytes, env: Mapping[str, str] | None, cwd: Path
    ) -> Run:
        from infoforge.__main__ import main

        given = stdin.encode() if isinstance(stdin, str) else stdin
        streams = [io.TextIOWrapper(io.BytesIO(text), "utf-8") for text in (given, b"", b"")]
        before, argv, folder = (sys.stdin, sys.stdout, sys.stderr), sys.argv, Path.cwd()
        code: Any = 0
        with replaced_environment(self.environment(env)):
            try:
                os.chdir(cwd)
                sys.stdin, sys.stdout, sys.stderr = streams
                sys.argv = [str(SCRIPT), *args]
                main()
            except SystemExit as end:
                code = end.code
            finally:
                (sys.stdin, sys.stdout, sys.stderr), sys.argv = before, argv
                os.chdir(folder)
        out, err = streams[1:]
        for stream in (out, err):
            stream.flush()
        return Run(code or 0, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")


@contextmanager
def replaced_environment(environment: Mapping[str, str]) -> Iterator[None]:
    """Make ``environment`` the whole of ``os.environ`` for a while."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
