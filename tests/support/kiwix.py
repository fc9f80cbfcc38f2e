"""A real kiwix-serve on a free loopback port."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
WRAPPER = REPO / "scripts" / "kiwix-3.7"


class Unavailable(Exception):
    """No kiwix-serve of the version asked for can be had here; the reason is the message."""


@cache
def command(version: str) -> tuple[str, ...]:
    """The command that starts kiwix-serve of a version.

    Args:
        version: ``"3.7"`` (3.7 or newer) or ``"3.3"`` (what Debian 12 has).

    Raises:
        Unavailable: It is not there and can't be made.
    """
    if version == "3.7":
        made = subprocess.run(
            [WRAPPER, "--prepare"], capture_output=True, text=True, check=False, timeout=1200
        )
        if made.returncode:
            said = made.stderr.strip().splitlines() or ["no reason given"]
            raise Unavailable(said[-1])
        return (str(WRAPPER), "kiwix-serve")
    found = shutil.which("kiwix-serve")
    if found is None:
        raise Unavailable("kiwix-serve is not installed (see scripts/system-packages)")
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    if f" {version}." not in told.partition("\n")[0]:
        raise Unavailable(
            f"the system's kiwix-serve is not {version}: {told.partition(chr(10))[0]}"
        )
    # Debian's 3.3.0 crashes when suggestions and searches run at the same time; one thread is safe.
    return (found, "-t", "1")


class Kiwix:
    """A running kiwix-serve.

    Args:
        version: See `command`.
        zims: ZIM files to serve (the server doesn't start when one is damaged, unless
            ``--skipInvalid`` is among the options of a 3.7).
        options: More options (``"-r", "/wiki"``; ``"-z"``).

    Raises:
        Unavailable: The version can't be had here.
        RuntimeError: The server stopped or never answered; its output is in the message.
    """

    def __init__(self, version: str, zims: Sequence[Path], options: Sequence[str] = ()) -> None:
        import socket

        self.version = version
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = int(probe.getsockname()[1])
        argv = [*command(version), "-i", "127.0.0.1", "-p", str(self.port), *options]
        self.process = subprocess.Popen(
            [*argv, *map(str, zims)],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        self.root = options[options.index("-r") + 1] if "-r" in options else ""
        self._wait()

    @property
    def url(self) -> str:
        """Base URL, with the root of ``-r``, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}{self.root}"

    @property
    def log(self) -> str:
        """What the server has printed."""
        # pread leaves the offset, which the server shares, where it is.
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), size, 0).decode("utf-8", "replace")

    def stop(self) -> None:
        """Stop the server; a second call does nothing."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._log.close()

    def __enter__(self) -> Kiwix:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _wait(self) -> None:
        """Wait until HTTP answers."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.process.poll() is not None:
                log = self.log
                self.stop()
                raise RuntimeError(f"kiwix-serve {self.version} ended at its start: {log}")
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            try:
                connection.request("GET", f"{self.root}/catalog/v2/root.xml")
                connection.getresponse().read()
                return
            except OSError:
                time.sleep(0.02)
            finally:
                connection.close()
        log = self.log
        self.stop()
        raise RuntimeError(f"kiwix-serve {self.version} never answered: {log}")
