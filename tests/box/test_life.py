"""The long life of a box: bad files and updates."""

from __future__ import annotations

import json
from pathlib import Path

from box import content, lab
from box.conftest import answers, books, play

ZIMS = "/home/infoforge/zims"


def put(box: lab.Box, file: Path, where: str, owner: str = "infoforge") -> None:
    """Copy a file into a box."""
    box.podman("cp", str(file), f"{box.container}:{where}/{file.name}")
    box.run(f"chown {owner}: {where}/{file.name} && chmod 644 {where}/{file.name}")


def files() -> dict[str, Path]:
    return content.make_zims(lab.folder("default") / "zims")


def test_a_truncated_file_beside_good_ones(box: lab.Box) -> None:
    bad = files()["truncated"]
    put(box, bad, ZIMS)
    try:
        box.as_user("systemctl --user reload infoforge.service")
        assert books(box) == ["landmarks", "rivers"]
        assert answers(box)
        report = json.loads(box.as_user("infoforge doctor --json", check=False))
        failed = [c for c in report["data"]["checks"] if c["status"].upper() == "FAIL"]
        assert any(bad.name in json.dumps(check) for check in failed), failed
        assert report["exit_code"] == 1
        run = play("doctor.yml", f"--limit={box.name}")
        assert run.code != 0
        assert any(bad.name in line for line in run.complaints), run.complaints
    finally:
        box.run(f"rm {ZIMS}/{bad.name}")
        box.as_user("systemctl --user reload infoforge.service")


def test_update_with_a_bad_new_edition_serves_the_old_one(box: lab.Box) -> None:
    bad = files()["rivers_bad"]
    put(box, bad, "/srv/mirror", owner="root")
    try:
        run = play("update.yml", f"--limit={box.name}")
        assert run.code != 0, run.output[-3000:]
        assert "taken back" in run.complaints[-1], run.complaints
        assert "rivers_en_all_2026-06.zim" in run.complaints[-1]
        assert books(box) == ["landmarks", "rivers"]
        assert answers(box)
        assert bad.name not in box.run(f"ls {ZIMS}").stdout
    finally:
        box.run(f"rm /srv/mirror/{bad.name}")


def test_update_with_a_good_new_edition_serves_it(box: lab.Box) -> None:
    new = files()["landmarks_new"]
    put(box, new, "/srv/mirror", owner="root")
    run = play("update.yml", f"--limit={box.name}", extra={"update_prune": True})
    assert run.code == 0, run.output[-3000:]
    status = json.loads(box.as_user("infoforge serve status --json"))
    assert new.name in status["data"]["zims"]["served"]
    assert answers(box)
    assert "landmarks_en_all_2026-06.zim" not in box.run(f"ls {ZIMS}").stdout
    again = play("update.yml", f"--limit={box.name}")
    assert again.code == 0
    assert again.recap[box.name]["changed"] == 0, again.output[-3000:]
