"""A PostgreSQL 17 with pgvector from Debian's packages: started, killed, thrown away."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from support.kiwix import REPO, Unavailable

SCRIPT = REPO / "scripts" / "postgres-17"
ROLE = "vault"
_UID = 999


def root() -> Path:
    """The folder that the packages are unpacked in.

    Raises:
        Unavailable: They cannot be had here.
    """
    done = subprocess.run([SCRIPT, "--prepare"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(done.stderr.strip() or "scripts/postgres-17 failed")
    return Path(done.stdout.strip())


class Postgres:
    """One cluster on a socket in a folder of its own; used as a context manager.

    Args:
        tmpfs: Size of a file system of its own for the data, as ``mount`` takes it; none: on disk.
    """

    def __init__(self, *, tmpfs: str = "") -> None:
        self.folder = root() / "pg" / secrets.token_hex(4)
        self.password = secrets.token_hex(8)
        self._inner = f"/pg/{self.folder.name}"
        self._tmpfs = tmpfs
        self._process: subprocess.Popen[bytes] | None = None
        self._log = self.folder / "log"

    def __enter__(self) -> Postgres:
        self.folder.mkdir()
        if self._tmpfs:
            line = ["mount", "-t", "tmpfs", "-o", f"size={self._tmpfs}", "tmpfs", str(self.folder)]
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                self.folder.rmdir()
                raise Unavailable(f"no tmpfs can be mounted: {done.stderr.strip()}")
        os.chown(self.folder, _UID, _UID)
        password = self.folder / "password"
        password.write_text(self.password)
        os.chown(password, _UID, _UID)
        options = ["--auth=scram-sha-256", f"--username={ROLE}", "--no-sync", "--encoding=UTF8"]
        options += [f"--pwfile={self._inner}/password", "--locale=C.UTF-8", "--wal-segsize=1"]
        settings = ["-c", "dynamic_shared_memory_type=mmap", "-c", "max_wal_size=16MB"]
        settings += ["-c", "min_wal_size=2MB"]
        line = [str(SCRIPT), "initdb", "-D", f"{self._inner}/data", *options, *settings]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.__exit__()
            raise Unavailable(f"initdb failed: {done.stderr.strip()[-300:]}")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGQUIT)
        if self._tmpfs:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start the server and wait until it takes connections."""
        line = [str(SCRIPT), "postgres", "-D", f"{self._inner}/data", "-k", self._inner]
        # So many buffers as "initdb" gives the container.
        line += ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=128MB"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(line, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while True:
            with suppress(Exception):
                self.connect("postgres").close()
                return
            if self._process.poll() is not None or time.monotonic() > end:
                raise AssertionError(self._log.read_text()[-2000:])
            time.sleep(0.05)

    def stop(self, number: signal.Signals) -> None:
        """End the server: ``SIGQUIT`` at once, ``SIGKILL`` as a power cut does."""
        if self._process is None:
            return
        self._process.send_signal(number)
        self._process.wait(60)
        self._process = None
        # Its children warning that it is gone; a new server must not meet them.
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        end = time.monotonic() + 30
        while self._children() and time.monotonic() < end:
            time.sleep(0.05)

    def grow(self, size: str) -> None:
        """Give the file system of its own another size."""
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self.folder)], check=True)

    def _children(self) -> bool:
        data = f"{self.folder}/data"
        for process in Path("/proc").iterdir():
            if process.name.isdigit():
                with suppress(OSError):
                    if str((process / "cwd").readlink()) == data:
                        return True
        return False

    def connect(self, database: str) -> Any:
        """A connection of psycopg's, in autocommit mode."""
        import psycopg

        return psycopg.connect(
            host=str(self.folder),
            user=ROLE,
            password=self.password,
            dbname=database,
            autocommit=True,
            connect_timeout=5,
        )

    def database(self) -> str:
        """The name of a new, empty database."""
        name = f"t{secrets.token_hex(4)}"
        with self.connect("postgres") as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return name

    def url(self, database: str) -> str:
        """A database's URL, without the password."""
        return f"postgresql://{ROLE}@/{database}?host={self.folder}"
