"""A box with a vault, from a bare machine to taking it down again. In this order.

The box is this file's own: it is booted here, and ended unless ``KEEP`` is set. The notes
belong to a user of their own, so the service user may read them and no more.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from box import content, host, lab
from box.conftest import FIGURES, LIMIT
from box.vault_box import EXPECTED, FOLDER, NOTES, PASSWORD, QUESTION, UNITS, VOLUMES, VaultBox

BOX = VaultBox("vaultbox", "trixie", "3.13")
QUESTIONS = content.REPO / "tests" / "eval" / "vault_questions.jsonl"

play, infoforge, found, main_pid = BOX.play, BOX.infoforge, BOX.found, BOX.main_pid


def cited(document: dict[str, Any]) -> list[str]:
    """What an answer cites, as its reader sees it."""
    return [row["url"] for row in (document["data"] or {}).get("citations", [])]


@pytest.fixture(scope="module", autouse=True)
def box() -> Iterator[lab.Box]:
    """The box, booted."""
    yield from BOX.fixture()


def test_check_mode_says_what_a_bare_box_would_get() -> None:
    run = play("site.yml", "--check", "--diff")
    assert run.code == 0, run.output[-3000:]
    assert "Would install infoforge[vault]" in run.output
    assert BOX.run("getent passwd infoforge || true").stdout == ""


def test_stand_up() -> None:
    run = play("site.yml")
    assert run.code == 0, run.output[-3000:]
    assert run.recap[BOX.name]["failed"] == 0


def test_a_second_run_changes_nothing() -> None:
    run = play("site.yml")
    assert run.code == 0, run.output[-3000:]
    assert run.recap[BOX.name]["changed"] == 0, run.output


def test_check_mode_on_a_box_that_stands_reports_nothing() -> None:
    run = play("site.yml", "--check", "--diff", "--tags=cli,vault")
    assert run.code == 0, run.output[-3000:]
    assert run.recap[BOX.name]["changed"] == 0, run.output


def test_the_database_is_rootless_on_loopback_with_a_password_of_its_own() -> None:
    server = BOX.run("pgrep -o -x postgres").stdout.strip()
    owner = int(BOX.run(f"stat -c %u /proc/{server}").stdout)
    first, count = BOX.run("grep ^infoforge: /etc/subuid").stdout.strip().split(":")[1:]
    assert int(first) <= owner < int(first) + int(count)
    # All listeners of the port, of whatever process: the loopback address and no other.
    rows = BOX.run("ss -Hltn '( sport = :5433 )'").stdout.splitlines()
    assert [row.split()[3] for row in rows] == ["127.0.0.1:5433"]
    listing = BOX.run(f"stat -c '%a %U' {PASSWORD}").stdout
    assert listing.split() == ["600", "infoforge"]
    environment = BOX.as_user("podman inspect infoforge-postgres")
    password = BOX.run(f"cat {PASSWORD}").stdout.strip()
    assert len(password) >= 32
    assert password not in environment


def test_the_notes_are_indexed_and_answers_cite_their_paths() -> None:
    status = infoforge("vault", "status")["data"]
    assert status["notes"] == NOTES
    assert (status["new"], status["changed"], status["gone"]) == (0, 0, 0)
    assert status["model"] == {"name": "all-MiniLM-L6-v2", "dimension": 384}
    document = infoforge("ask", "--corpus", "vault", QUESTION)
    assert EXPECTED in document["data"]["answer"]
    assert f"{FOLDER}/boiler.md" in cited(document)
    BOX.run(f"test -f {FOLDER}/boiler.md")
    rows = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()[::10]]
    hits = sum(
        bool({*row["sources"]} & {*found(row["question"].replace("'", " "))}) for row in rows
    )
    assert hits >= len(rows) - 1, (hits, len(rows))


def test_an_edited_note_is_found_through_the_unit_that_watches() -> None:
    BOX.run(f"echo 'The sluice gate opens at dawn.' >> {FOLDER}/boiler.md")
    begin = time.monotonic()
    host.until(
        "the edit is found",
        60,
        lambda: (
            "sluice"
            in json.dumps(infoforge("vault", "search", "When does the sluice gate open?")["data"])
        ),
    )
    FIGURES.append(f"{BOX.name}: an edit is found after {time.monotonic() - begin:.1f} s")
    BOX.run(f"mkdir {FOLDER}/new && mv {FOLDER}/boiler.md {FOLDER}/new/heating.md")
    host.until("the move is found", 60, lambda: "new/heating.md" in found(QUESTION))
    BOX.run(f"mv {FOLDER}/new/heating.md {FOLDER}/boiler.md && rmdir {FOLDER}/new")
    host.until("the way back is found", 60, lambda: found(QUESTION)[0] == "boiler.md")


def test_no_process_can_write_into_the_vault() -> None:
    BOX.check_nothing_can_write()


def test_learn_makes_new_files_and_nothing_else() -> None:
    left = infoforge("vault", "learn", "Valve sticks", stdin="Turn it twice.")["data"]["file"]
    assert left.startswith(f"{FOLDER}/agent_learnings/")
    assert BOX.run(f"stat -c %U '{left}'").stdout.strip() == "infoforge"
    before = BOX.run(f"find {FOLDER} -type f -exec sha256sum {{}} + | sort").stdout
    for title in ("../boiler", "../../etc/cron.d/x", "Valve sticks", "valve STICKS", "a/b"):
        document = infoforge("vault", "learn", title, stdin="Other.", check=False)
        assert document["exit_code"] == 2, title
        assert document["errors"][0]["code"] == "usage"
    assert BOX.run(f"find {FOLDER} -type f -exec sha256sum {{}} + | sort").stdout == before
    # It is no note before a person makes it one.
    assert not any("Valve" in path for path in found("valve sticks turn it twice"))


def test_without_the_database_the_wikis_answer_and_it_is_said() -> None:
    BOX.as_user("systemctl --user stop infoforge-postgres.service")
    document = infoforge("ask", content.QUESTION)
    assert content.EXPECTED in document["data"]["answer"]
    assert "vault_unavailable" in [warning["code"] for warning in document["warnings"]]
    alone = infoforge("ask", "--corpus", "vault", QUESTION, check=False)
    assert alone["exit_code"] == 1
    assert alone["errors"][0]["code"] == "corpus_unavailable"
    begin = time.monotonic()
    BOX.as_user("systemctl --user start infoforge-postgres.service")
    BOX.back("a start", begin, LIMIT)


def test_after_kill_of_the_server_the_vault_comes_back() -> None:
    before = main_pid("infoforge-vault.service")
    BOX.run("kill -9 $(pgrep -o -x postgres)")
    begin = time.monotonic()
    BOX.back("kill -9", begin, LIMIT)
    # The indexer waited for it.
    assert main_pid("infoforge-vault.service") == before


def test_after_a_reboot() -> None:
    begin = BOX.reboot()
    BOX.back("a reboot", begin, LIMIT)
    BOX.wait_ssh()
    document = infoforge("ask", content.QUESTION)
    assert content.EXPECTED in document["data"]["answer"]


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"vault_image_archive": "/nonexistent.tar"}, "is not on the controller"),
        ({"vault_folder": "notes"}, "vault_folder is notes, which is no absolute path"),
        ({"vault_folder": "/srv/other"}, "Remedy: run the playbook with --tags cli,vault"),
        ({"vault_foldr": "/srv/notes"}, "did you mean vault_folder?"),
    ],
)
def test_what_is_wrong_is_said_with_the_remedy(extra: dict[str, str], said: str) -> None:
    run = play("site.yml", "--tags=vault", extra=extra)
    assert run.code != 0
    assert any(said in line for line in run.complaints), run.complaints
    assert BOX.run("ls /srv").stdout.split() == ["notes"]


def test_taking_it_down_keeps_the_notes_and_the_index() -> None:
    listing = f"find {FOLDER} -printf '%p %m %U %s\\n' | sort"
    before = BOX.run(listing).stdout
    run = play("uninstall.yml")
    assert run.code == 0, run.output[-3000:]
    assert BOX.run(listing).stdout == before
    assert BOX.run("pgrep -x postgres || true").stdout == ""
    names = BOX.run("ls /home/infoforge/.config/systemd/user").stdout.split()
    assert not set(UNITS) & set(names)
    # Podman itself cannot be asked: the user's systemd has ended, and its folder with it.
    assert BOX.run(f"ls {VOLUMES}").stdout.split() == ["infoforge-vault"]
    left = BOX.run(f"cat {VOLUMES}/../overlay-*/*.json").stdout
    assert "postgres" not in left, left


def test_an_index_that_was_kept_goes_when_told() -> None:
    # There is no command any more to ask where it is.
    run = play("uninstall.yml", extra={"uninstall_vault": True})
    assert run.code == 0, run.output[-3000:]
    assert BOX.run(f"ls {VOLUMES}").stdout == ""
    assert BOX.run(f"ls {PASSWORD}", check=False).returncode != 0
    assert BOX.run("ls /var/lib/systemd/linger").stdout == ""
    again = play("uninstall.yml", extra={"uninstall_vault": True})
    assert again.recap[BOX.name]["changed"] == 0, again.output
