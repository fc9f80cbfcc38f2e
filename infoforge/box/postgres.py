"""The container of the vault's database: Postgres with pgvector, next to the one of kiwix-serve.

Its data lie in a named volume, so the container itself may be removed and recreated at any time.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from infoforge.box import image as images
from infoforge.box import systemd
from infoforge.box.container import LABEL, last_lines, read_container
from infoforge.box.host import inspect_host
from infoforge.box.podman import BoxError, Podman, complaint, remedy
from infoforge.config.settings import BoxSettings, Settings, VaultSettings
from infoforge.contract import CheckFailed, InfoForgeError
from infoforge.files import write_atomic
from infoforge.vault.store import ROLE, Store, connect

UNITS = ("infoforge-postgres.service", "infoforge-vault.service")
"""The unit that starts the database, and the indexer that follows the folder."""

_SECRET = "/run/infoforge-password"  # noqa: S105 - where the file is mounted
_INNER_PORT = 5432
_PATIENCE = 90.0
_SHM = "256m"


@dataclass(frozen=True, slots=True)
class DatabaseStartResult:
    """How a start ended well: ``running`` (nothing was to do) or ``created``, and why."""

    action: str
    reason: str
    seconds: float


def ensure_password(path: Path) -> bool:
    """Make the password file (mode 0600) if there is none; whether it was made.

    Raises:
        BoxError: It cannot be written, or others can read it.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return _new_password(path)
    except OSError as error:
        raise BoxError(f"{path}: {error.strerror}", "see vault.password_file") from error
    if mode & 0o077:
        raise BoxError(
            f"others can read the password in {path}", f"chmod 600 {path}", code="password_mode"
        )
    return False


def _new_password(path: Path) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(path, secrets.token_urlsafe(32) + "\n", mode=0o600)
    except OSError as error:
        raise BoxError(
            f"{path} cannot be written: {error.strerror}", "set vault.password_file"
        ) from error
    return True


def arguments(
    vault: VaultSettings, image_id: str, controllers: frozenset[str] = frozenset({"pids"})
) -> tuple[str, ...]:
    """The line of ``podman`` that makes the container, from ``run`` on.

    Args:
        vault: The settings.
        image_id: ID of the local image, so that a new one under the old tag makes a new container.
        controllers: The cgroup controllers that this user has.
    """
    flags = (
        f"--name={vault.container}",
        "--detach",
        "--replace",
        "--pull=never",
        "--restart=always",
        "--cap-drop=all",
        # What the image's start script needs to give the volume to "postgres" and to become it.
        "--cap-add=chown,dac_override,fowner,setgid,setuid",
        "--security-opt=no-new-privileges",
        # The password's file keeps its label and its mode: no relabelling of a folder of secrets.
        "--security-opt=label=disable",
        f"--shm-size={_SHM}",
        # Without the controller Podman's own limit is an error of the runtime's.
        *(() if "pids" in controllers else ("--pids-limit=0",)),
        f"--publish=127.0.0.1:{vault.port}:{_INNER_PORT}",
        f"--volume={vault.volume}:/var/lib/postgresql/data",
        f"--volume={vault.password_file.resolve()}:{_SECRET}:ro",
        f"--env=POSTGRES_USER={ROLE}",
        f"--env=POSTGRES_DB={ROLE}",
        f"--env=POSTGRES_PASSWORD_FILE={_SECRET}",
        "--env=POSTGRES_INITDB_ARGS=--auth-host=scram-sha-256 --auth-local=scram-sha-256",
        # A database stops by a checkpoint; it is not killed in the middle of one.
        "--stop-signal=SIGINT",
        "--stop-timeout=60",
        "--log-driver=k8s-file",
        "--log-opt=max-size=2mb",
    )
    made_from = json.dumps([flags, vault.image, image_id], sort_keys=True)
    fingerprint = hashlib.sha256(made_from.encode()).hexdigest()[:32]
    return ("run", *flags, f"--label={LABEL}={fingerprint}", vault.image)


def fetch(
    settings: Settings,
    podman: Podman,
    archive: Path | None,
    *,
    quiet: bool,
    accept: bool = False,
) -> dict[str, Any]:
    """Take the image from its registry, or from an archive of ``podman save``.

    Raises:
        BoxError: It could not be fetched, or is not the expected one.
    """
    with _hints_of_the_vault():
        if archive is not None:
            return images.load(_image_settings(settings), podman, archive, accept=accept)
        return images.pull(_image_settings(settings), podman, quiet=quiet, accept=accept)


def _image_settings(settings: Settings) -> BoxSettings:
    """The vault's image as `image` takes it."""
    return replace(settings.box, image=settings.vault.image, digest=settings.vault.digest)


@contextmanager
def _hints_of_the_vault() -> Iterator[None]:
    try:
        yield
    except BoxError as error:
        hint = error.hint
        for word in ("pull", "load"):
            hint = hint.replace(f"serve {word}", f"vault {word}")
        for key in ("image", "digest"):
            hint = hint.replace(f"box.{key}", f"vault.{key}")
        raise BoxError(error.message, hint, code=error.code) from error


def start(settings: Settings, podman: Podman) -> DatabaseStartResult:
    """Make sure that the container runs and the database answers; do nothing when it does.

    Raises:
        BoxError: No Podman, no image, or the database does not come up.
    """
    begun = time.monotonic()
    vault = settings.vault
    ensure_password(vault.password_file)
    found = podman.inspect("image", vault.image)
    if found is None:
        raise BoxError(
            f"the image {vault.image} is not on this machine, and is never pulled unasked",
            "run: infoforge vault pull, or without internet: infoforge vault load FILE",
            code="image_missing",
        )
    with _hints_of_the_vault():
        images.check(_image_settings(settings), found)
    argv = arguments(vault, str(found.get("Id", "")), inspect_host(podman).controllers)
    wanted = next(a for a in argv if a.startswith(f"--label={LABEL}=")).rpartition("=")[2]
    old = read_container(podman, vault.container)
    if old is None:
        reason = "there was none"
    elif old.fingerprint != wanted:
        reason = "image, port or options changed"
    else:
        reason = "" if old.running else f"it was {old.status or 'in no state'}"
    if reason:
        stop(settings, podman)
        reply = podman.run(*argv, timeout=120.0)
        if reply.code != 0:
            podman.run("rm", "--force", "--ignore", vault.container)
            raise BoxError(
                f"podman run failed ({reply.code}): {complaint(reply)}",
                remedy(reply.err).replace("box.port", "vault.port"),
                code="run_failed",
            )
    _await(settings, podman)
    with suppress(CheckFailed):  # a full disk must not keep the database from running
        images.record(vault.image, found)
    return DatabaseStartResult(
        "created" if reason else "running", reason, round(time.monotonic() - begun, 2)
    )


def stop(settings: Settings, podman: Podman) -> bool:
    """Stop and remove the container, never its volume; whether there was one."""
    name = settings.vault.container
    reply = podman.run("stop", "--ignore", "--time=60", name, timeout=90.0)
    gone = podman.run("rm", "--force", "--ignore", name, timeout=60.0)
    if gone.code != 0:
        raise BoxError(
            f"the container {name} cannot be removed: {complaint(gone)}", remedy(gone.err)
        )
    return reply.code == 0 and name in reply.out


def heal(podman: Podman) -> bool:
    """Have the unit recreate the container if it must be, as `systemd.heal` does.

    A container that ends is started again by Podman, and may find its port still held by its own
    forwarder; then it stays down.
    """
    return systemd.heal(podman.env, _PATIENCE + 150, UNITS[0])


def _await(settings: Settings, podman: Podman) -> None:
    """Wait until the database takes the password."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            with Store(connect(settings.vault)) as store:
                # The image's start script opens the server once for itself before it is ready.
                store.rows("SELECT 1")
            return
        except InfoForgeError as error:
            if error.code == "vault_password":
                raise BoxError(
                    error.message,
                    f"the volume {settings.vault.volume} was made with another password: put that "
                    f"into {settings.vault.password_file}, or drop the index with "
                    f"podman volume rm {settings.vault.volume}",
                    code=error.code,
                ) from error
            if error.code != "vault_down":
                raise
            state = read_container(podman, settings.vault.container)
            ended = state is None or (state.restarts >= 3 and not state.pid)
            if ended or time.monotonic() > end:
                said = last_lines(podman, settings.vault.container)
                raise BoxError(
                    f"the database does not come up: {said or error.message}",
                    f"see: podman logs {settings.vault.container}",
                    code="not_serving",
                ) from error
            time.sleep(0.3)


def unit_text(name: str, settings: Settings, command: tuple[str, ...]) -> str:
    """One of `UNITS`.

    Args:
        name: Which.
        settings: The configuration.
        command: The CLI with an absolute path.
    """
    template = resources.files("infoforge") / "data" / f"{name}.in"
    line = " ".join(systemd.quote(word) for word in command)
    text = template.read_text("utf-8").replace("@COMMAND@", line)
    folder = systemd.quote(str(settings.vault.folder or "/nonexistent"))
    mark = hashlib.sha256(repr(settings.vault).encode()).hexdigest()[:12]
    return text.replace("@FOLDER@", folder).replace("@SETTINGS@", mark)
