#!/usr/bin/env python3
"""The list of a bundle's files: write and sign it, or verify the bundle against it.

usage: bundle.py list FOLDER [PRIVATE_KEY]      write SHA256SUMS, and SHA256SUMS.sig with a key
       bundle.py verify FOLDER [PUBLIC_KEY]     exit 1 with the reason unless all is as listed

Runs on the controller with the Python that runs Ansible: no InfoForge is installed there. The list
has the form that `sha256sum --check` reads. PUBLIC_KEY is a line of an OpenSSH public key; with it,
a bundle without a good signature is refused.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LIST = "SHA256SUMS"
SIGNATURE = f"{LIST}.sig"
PARTS = ("wheels", "images", "zims")
NAMESPACE = "infoforge-bundle"
"""What the signature is for; one made for another purpose with the same key does not count."""

_LINE = re.compile(r"([0-9a-f]{64}) [ *](\S.*)")


class BundleError(Exception):
    """The bundle is not what its list says; one line."""


def files_of(folder: Path) -> list[str]:
    """Paths of all files below a folder except the list and its signature, sorted.

    Raises:
        BundleError: Something is neither a file nor a folder (a link may lead anywhere).
    """
    found = []
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(parent, name)
            relative = path.relative_to(folder).as_posix()
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                raise BundleError(f"{relative} is a link or a special file")
            if path.is_file() and relative not in (LIST, SIGNATURE):
                found.append(relative)
    return sorted(found)


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def write_list(folder: Path, private_key: str = "") -> None:
    """Write the list, and sign it when there is a key.

    Raises:
        BundleError: There is nothing to list, a name that no list can have, or the key does not
            sign.
    """
    names = files_of(folder)
    foreign = [name for name in names if name.split("/")[0] not in PARTS or "\n" in name]
    if foreign:
        raise BundleError(f"{foreign[0]!r} does not belong into a bundle")
    if not names:
        raise BundleError("the bundle is empty")
    lines = "".join(f"{sha256(folder / name)}  {name}\n" for name in names)
    (folder / SIGNATURE).unlink(missing_ok=True)
    (folder / LIST).write_text(lines, "utf-8")
    if private_key:
        command = ["ssh-keygen", "-Y", "sign", "-f", private_key, "-n", NAMESPACE]
        _run([*command, str(folder / LIST)], "the list could not be signed")


def verify(folder: Path, public_key: str = "") -> int:
    """Compare every file of a bundle with the list; the number of files.

    Args:
        folder: The bundle.
        public_key: A line ``TYPE BASE64 [COMMENT]`` that the list must be signed with; empty: the
            list need not be signed.

    Raises:
        BundleError: A file is missing, changed or not listed, or the signature is not good.
    """
    try:
        content = (folder / LIST).read_bytes()
    except OSError as error:
        raise BundleError(f"{LIST} cannot be read: {error.strerror}") from error
    if public_key:
        _check_signature(folder, content, public_key)
    listed = _parse(content)
    present = set(files_of(folder))
    for name in sorted(present - listed.keys()):
        raise BundleError(f"{name} is not in {LIST}")
    for name in sorted(listed.keys() - present):
        raise BundleError(f"{name} is in {LIST} and not in the bundle")
    for name, digest in listed.items():
        if sha256(folder / name) != digest:
            raise BundleError(f"{name} is not what {LIST} says: it is damaged, or was changed")
    return len(listed)


def _parse(content: bytes) -> dict[str, str]:
    listed: dict[str, str] = {}
    for line in content.decode("utf-8", "replace").splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            raise BundleError(f"{LIST} has a line that is none of a list: {line[:80]!r}")
        digest, name = match.groups()
        parts = name.split("/")
        if parts[0] not in PARTS or len(parts) < 2 or {"", ".", ".."} & set(parts):
            raise BundleError(f"{LIST} names {name!r}, which is outside of {', '.join(PARTS)}")
        if name in listed:
            raise BundleError(f"{LIST} names {name!r} twice")
        listed[name] = digest
    if not listed:
        raise BundleError(f"{LIST} is empty")
    return listed


def _check_signature(folder: Path, content: bytes, public_key: str) -> None:
    if not (folder / SIGNATURE).is_file():
        raise BundleError(f"{SIGNATURE} is missing: the bundle is not signed")
    words = public_key.split()
    if len(words) < 2 or "\n" in public_key.strip():
        raise BundleError("the public key is not one line of TYPE BASE64")
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".signers") as signers:
        signers.write(f'infoforge namespaces="{NAMESPACE}" {words[0]} {words[1]}\n')
        signers.flush()
        command = ["ssh-keygen", "-Y", "verify", "-f", signers.name, "-I", "infoforge"]
        command += ["-n", NAMESPACE, "-s", str(folder / SIGNATURE)]
        _run(command, f"{SIGNATURE} is not by the key of infoforge_bundle_key", content)


def _run(command: list[str], failure: str, stdin: bytes = b"") -> None:
    try:
        done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    except OSError as error:
        raise BundleError(f"{failure}: {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())
        raise BundleError(f"{failure}: {said[:300]}")


def main(arguments: list[str]) -> int:
    """Run a command line; its exit code."""
    if len(arguments) not in (2, 3) or arguments[0] not in ("list", "verify"):
        print(__doc__, file=sys.stderr)
        return 2
    command, folder, key = arguments[0], Path(arguments[1]), (*arguments[2:], "")[0]
    try:
        if command == "list":
            write_list(folder, key)
        else:
            print(f"{verify(folder, key)} files are as listed")
    except BundleError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
