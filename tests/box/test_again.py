"""Playbooks on boxes that are finished: nothing to do, taken down, and put up again."""

from __future__ import annotations

from box import lab
from box.conftest import answers, books, play
from box.test_life import ZIMS

Boxes = tuple[lab.Box, ...]

_UNITS = "/home/infoforge/.config/systemd/user"
_CONFIG = "/home/infoforge/.config/infoforge/config.yaml"
_SPARE = "/home/infoforge/spare"
_SKILLS = "/home/infoforge/.agents/skills /home/infoforge/.claude/skills"


def test_check_mode_on_a_finished_box_foresees_nothing(box: lab.Box) -> None:
    # That a real second run changes nothing was molecule's part (idempotence).
    run = play("site.yml", "--check", "--diff", f"--limit={box.name}")
    assert run.code == 0, run.output[-3000:]
    assert {row["changed"] for row in run.recap.values()} == {0}, run.output[-3000:]


def test_uninstall_then_site_again(boxes: Boxes) -> None:
    # Names, sizes, times and inodes of the ZIM files.
    listing = f"cd {ZIMS} && stat -c '%n %s %Y %i' *.zim"
    before = {box.name: box.run(listing).stdout for box in boxes}
    run = play("uninstall.yml")
    assert run.code == 0, run.output[-3000:]
    for box in boxes:
        assert books(box) == []
        assert box.run("ls /home/infoforge/.local/bin").stdout == ""
        # Not by `ls -R`, which prints the paths it was given: the user is called infoforge, too.
        left = box.run(f"find {_UNITS} {_SKILLS} -name '*infoforge*'", check=False).stdout
        assert left == "", box.name
        assert box.run(listing).stdout == before[box.name]
        assert "config.yaml" in box.run("ls /home/infoforge/.config/infoforge").stdout
    again = play("uninstall.yml")
    assert again.code == 0, again.output[-3000:]
    assert {row["changed"] for row in again.recap.values()} == {0}, again.output[-3000:]
    # ZIM files that stayed can still be taken away: the configuration says where they are.
    for box in boxes:
        box.run(f"install -D /dev/null {_SPARE}/x.zim && cp -p {_CONFIG} {_CONFIG}.kept")
        box.run(f"sed -i 's#~/zims#~/spare#' {_CONFIG} && grep -q spare {_CONFIG}")
    gone = play("uninstall.yml", extra={"uninstall_zims": True})
    assert gone.code == 0, gone.output[-3000:]
    for box in boxes:
        box.run(f"test ! -e {_SPARE} && mv {_CONFIG}.kept {_CONFIG}")
        assert box.run(listing).stdout == before[box.name]
    # As an admin does: with a wheel that the role builds from this repository.
    run = play("site.yml", extra={"cli_wheel": ""})
    assert run.code == 0, run.output[-3000:]
    for box in boxes:
        assert answers(box)
        assert box.run(listing).stdout == before[box.name]
