"""A `podman` for tests: it records how it is called, and its "container" is a real kiwix-serve.

Installed as a program by `install`; run by that program as ``python podman_stub.py STATE ARGS``.
Faults are set by name in the state (see `Stub.fault`).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

IMAGE = "localhost/kiwix-serve:3.7.0"


class Stub:
    """The stub as a test sees it.

    Args:
        folder: An empty folder of its own.
        server: Command of a kiwix-serve that the "container" runs.
    """

    def __init__(self, folder: Path, server: Sequence[str]) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.state_file = folder / "state.json"
        self.bin = folder / "bin"
        self.bin.mkdir()
        program = self.bin / "podman"
        program.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "{self.state_file}" "$@"\n'
        )
        program.chmod(0o755)
        # A process whose name is conmon, as the kernel tells it.
        shutil.copy(shutil.which("sleep") or "/bin/sleep", folder / "conmon")
        self.state = {
            "server": list(server),
            # The server's command finds its parts by the test's own environment.
            "env": dict(os.environ),
            "calls": [],
            "images": {IMAGE: {"Id": "image-1", "RepoTags": [IMAGE], "RepoDigests": []}},
            "container": None,
            "faults": {},
            "info": {
                "host": {
                    "cgroupVersion": "v2",
                    "cgroupManager": "systemd",
                    "cgroupControllers": ["cpu", "memory", "pids"],
                    "security": {"rootless": True, "selinuxEnabled": False},
                    "idMappings": {"uidmap": [{"size": 1}, {"size": 65536}]},
                },
                "version": {"Version": "5.4.2"},
            },
        }

    @property
    def state(self) -> dict[str, Any]:
        """The stub's memory; assign to it to write it."""
        return json.loads(self.state_file.read_text())

    @state.setter
    def state(self, value: dict[str, Any]) -> None:
        self.state_file.write_text(json.dumps(value))

    def change(self, **parts: Any) -> None:
        """Set parts of the state."""
        self.state = {**self.state, **parts}

    def fault(self, call: str, *errors: str) -> None:
        """Let the next calls of ``call`` (``run``, ``rm``) fail with these texts, one each."""
        state = self.state
        state["faults"][call] = list(errors)
        self.state = state

    def calls(self, name: str) -> list[list[str]]:
        """The calls of one kind, as argument lists."""
        return [call for call in self.state["calls"] if call[0] == name]

    def forget(self) -> None:
        """Forget the calls so far."""
        self.change(calls=[])

    @property
    def path(self) -> str:
        """A PATH on which the stub comes first."""
        return f"{self.bin}:{os.environ['PATH']}"

    def close(self) -> None:
        """End what the "container" runs."""
        _end(self.state["container"])


def main(state_file: Path, argv: list[str]) -> int:
    """One call of the program."""
    state = json.loads(state_file.read_text())
    state["calls"].append(argv)
    name = " ".join(argv[:2]) if argv[0] in ("container", "image") else argv[0]
    errors = state["faults"].get(argv[0])
    try:
        if errors:
            print(errors.pop(0), file=sys.stderr)
            return 125
        return _CALLS[name](state, argv, state_file.parent)
    finally:
        state_file.write_text(json.dumps(state))


def _info(state: dict[str, Any], argv: list[str], folder: Path) -> int:
    print(json.dumps(state["info"]))
    return 0


def _image(state: dict[str, Any], argv: list[str], folder: Path) -> int:
    found = state["images"].get(argv[2])
    if found is None:
        print(f"Error: inspecting object: {argv[2]}: image not known", file=sys.stderr)
        return 125
    print(json.dumps([found]))
    return 0


def _inspect(state: dict[str, Any], argv: list[str], folder: Path) -> int:
    container = state["container"]
    if container is None:
        print(f'Error: no such container "{argv[2]}"', file=sys.stderr)
        return 125
    alive = _alive(container["Pid"])
    status = "running" if alive else container.get("Status", "exited")
    found = {
        "Id": "c" * 64,
        "ImageName": container["image"],
        "RestartCount": container.get("restarts", 0),
        "Config": {"Labels": container["labels"]},
        "State": {
            "Status": status,
            "Pid": container["Pid"] if alive else 0,
            "ConmonPid": container["ConmonPid"],
        },
    }
    print(json.dumps([found]))
    return 0


def _run(state: dict[str, Any], argv: list[str], folder: Path) -> int:
    image = next(word for word in argv if word in state["images"])
    options, arguments = argv[1 : argv.index(image)], argv[argv.index(image) + 1 :]
    value = dict(word.split("=", 1) for word in options if "=" in word)
    labels = dict(word[8:].split("=", 1) for word in options if word.startswith("--label="))
    source = value["--volume"].split(":")[0]
    address, port, _ = value["--publish"].rsplit(":", 2)
    words = [word.replace("/data/", f"{source}/") for word in arguments]
    # kiwix-serve listens everywhere unless it is told where, and has no word for "everywhere".
    where = [] if address == "0.0.0.0" else ["-i", address.strip("[]")]
    log = (folder / "log").open("wb")
    server = subprocess.Popen(
        # Unquoted, as the image's start script passes them.
        [
            *("/bin/sh", "-c", f'exec "$@" {" ".join(words)}', "sh"),
            *(*state["server"], *where, "-p", port),
        ],
        env=state["env"],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    monitor = subprocess.Popen(
        [folder / "conmon", "600"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    state["container"] = {
        "Pid": server.pid,
        "ConmonPid": monitor.pid,
        "labels": labels,
        "image": image,
        "port": port,
    }
    print("c" * 64)
    return 0


def _rm(state: dict[str, Any], argv: list[str], folder: Path) -> int:
    _end(state["container"])
    state["container"] = None
    return 0


def _exists(state: dict[str, Any], argv: list[str], folder: Path) -> int:
    return 0 if state["container"] else 1


def _logs(state: dict[str, Any], argv: list[str], folder: Path) -> int:
    print((folder / "log").read_text() if state["container"] else "", end="")
    return 0


def _ps(state: dict[str, Any], argv: list[str], folder: Path) -> int:
    container = state["container"]
    if container and _alive(container["Pid"]):
        print(f"infoforge-kiwix 127.0.0.1:{container['port']}->8080/tcp")
    return 0


def _load(state: dict[str, Any], argv: list[str], folder: Path) -> int:
    name = Path(argv[-1]).read_text().strip()
    number = state.get("loaded") or hashlib.sha256(name.encode()).hexdigest()
    state["images"][name] = {"Id": number, "RepoTags": [name], "RepoDigests": []}
    print(f"Loaded image: {name}")
    return 0


def _pull(state: dict[str, Any], argv: list[str], folder: Path) -> int:
    name = argv[-1]
    state["images"][name] = {"Id": "pulled", "RepoTags": [name], "RepoDigests": [name]}
    return 0


def _tag(state: dict[str, Any], argv: list[str], folder: Path) -> int:
    by_id = {str(image["Id"]): image for image in state["images"].values()}
    by_id |= state.get("untagged", {})
    state["images"][argv[2]] = state["images"].get(argv[1]) or by_id[argv[1]]
    return 0


_CALLS = {
    "info": _info,
    "image inspect": _image,
    "container inspect": _inspect,
    "container exists": _exists,
    "run": _run,
    "rm": _rm,
    "logs": _logs,
    "ps": _ps,
    "load": _load,
    "pull": _pull,
    "tag": _tag,
}


def _alive(pid: int) -> bool:
    try:
        return "\nPPid:" in Path(f"/proc/{pid}/status").read_text() and not _zombie(pid)
    except OSError:
        return False


def _zombie(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def _end(container: dict[str, Any] | None) -> None:
    for pid in (container["Pid"], container["ConmonPid"]) if container else ():
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
