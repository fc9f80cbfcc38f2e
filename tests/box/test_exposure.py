"""What the network and the container can do to the box."""

from __future__ import annotations

import json

from box import lab

Boxes = tuple[lab.Box, ...]

_SCAN = """
import concurrent.futures as f, socket, sys
def open_(port):
    with socket.socket() as s:
        s.settimeout(2)
        return port if s.connect_ex((sys.argv[1], port)) == 0 else 0
with f.ThreadPoolExecutor(200) as pool:
    print(sorted(filter(None, pool.map(open_, range(1, 65536)))))
"""


def test_nothing_but_ssh_is_open_to_another_host(boxes: Boxes) -> None:
    for box, other in zip(boxes, reversed(boxes), strict=True):
        done = other.podman("exec", "-i", other.container, "python3", "-", box.address, text=_SCAN)
        assert json.loads(done.stdout) == [22], box.name


def test_the_server_has_no_capability_and_is_the_user(boxes: Boxes) -> None:
    for box in boxes:
        look = "grep -ls '^Name:.*kiwix-serve' /proc/[0-9]*/status || true"
        pid = [path.split("/")[2] for path in box.run(look).stdout.split()]
        assert len(pid) == 1, (box.name, pid)
        status = dict(
            line.split(":\t", 1)
            for line in box.run(f"cat /proc/{pid[0]}/status").stdout.splitlines()
            if ":\t" in line
        )
        uid = box.run("id -u infoforge").stdout.strip()
        assert status["Uid"].split() == [uid] * 4, box.name
        for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(status[kind], 16) == 0, (box.name, kind, status[kind])
        assert status["NoNewPrivs"].strip() == "1", box.name


def test_the_container_cannot_write_to_the_zim_folder_nor_to_its_root(boxes: Boxes) -> None:
    for box in boxes:
        inspect = box.as_user("podman inspect infoforge-kiwix")
        mounts = json.loads(inspect)[0]["Mounts"]
        binds = [m for m in mounts if m["Type"] == "bind"]
        assert [m["RW"] for m in binds] == [False], (box.name, binds)
        target = binds[0]["Destination"]
        for where in (target, "/usr", "/"):
            touch = f"sh -c 'touch {where}/mark && echo written' 2>&1 || true"
            tried = box.as_user(f"podman exec infoforge-kiwix {touch}")
            assert "written" not in tried, (box.name, where)
            assert "Read-only file system" in tried, (box.name, where, tried)
