"""A box with a vault, from a bare machine to taking it down again. In this order.

The box is this file's own: it is booted here, and ended unless ``KEEP`` is set. The notes
belong to a user of their own, so the service user may read them and no more. The wikis are read by
the command itself: kiwix-serve has tests enough.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from box import content, host, lab, vault_box
from box.conftest import FIGURES, LIMIT, Run
from box.vault_box import BOX, EXPECTED, FOLDER, QUESTION, VAULTS

PARTS = "--tags=host,cli,zims,vault"
UNITS = ("infoforge-postgres.service", "infoforge-vault.service")
NOTES = sum(1 for _ in VAULTS.rglob("*.md")) + 1 if VAULTS.is_dir() else 0
QUESTIONS = content.REPO / "tests" / "eval" / "vault_questions.jsonl"


def play(playbook: str, *options: str, extra: dict[str, Any] | None = None) -> Run:
    """Run one of the repository's playbooks against the box."""
    command = ["ansible-playbook", f"--inventory={vault_box.inventory()}", f"playbooks/{playbook}"]
    command += [*options, "--extra-vars", json.dumps(extra or {})]
    env = os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_FORCE_COLOR": "0"}
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    begin = time.monotonic()
    done = subprocess.run(
        command,
        cwd=content.REPO,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.monotonic() - begin
    FIGURES.append(f"{BOX.name}: {' '.join([playbook, *options])} took {took:.0f} s")
    return Run(done.returncode, done.stdout + done.stderr)


def infoforge(*words: str, stdin: str = "", check: bool = True) -> dict[str, Any]:
    """A command as the service user types it; its JSON document."""
    line = " ".join(f"'{word}'" for word in ("infoforge", *words, "--json"))
    text = BOX.as_user(f"printf '%s' '{stdin}' | {line}", check=False)
    document: dict[str, Any] = json.loads(text)
    if check:
        assert document["exit_code"] == 0, text
    return document


def cited(document: dict[str, Any]) -> list[str]:
    """What an answer cites, as its reader sees it."""
    return [row["url"] for row in (document["data"] or {}).get("citations", [])]


def found(question: str) -> list[str]:
    """Paths of the notes that a search finds."""
    document = infoforge("vault", "search", question)
    return [row["path"] for row in document["data"]["results"]]


def main_pid(unit: str) -> int:
    """The process ID of a unit of the service user's."""
    return int(BOX.as_user(f"systemctl --user show -P MainPID {unit}"))


def answers() -> bool:
    """Whether the vault answers with its citation, and both units are well."""
    active = BOX.as_user(f"systemctl --user is-active {' '.join(UNITS)}", check=False).split()
    if active != ["active", "active"]:
        return False
    document = infoforge("ask", "--corpus", "vault", QUESTION, check=False)
    return document["exit_code"] == 0 and EXPECTED in document["data"]["answer"]


@pytest.fixture(scope="module", autouse=True)
def box() -> Iterator[lab.Box]:
    """The box, booted."""
    if not VAULTS.is_dir():
        pytest.skip(f"no vaults in {VAULTS}")
    try:
        host.fit()
    except host.Unfit as reason:
        pytest.skip(str(reason))
    if not vault_box.inventory().exists():
        vault_box.create()
    yield BOX
    if not os.environ.get("KEEP"):
        vault_box.destroy()


def test_check_mode_says_what_a_bare_box_would_get() -> None:
    run = play("site.yml", "--check", "--diff", PARTS)
    assert run.code == 0, run.output[-3000:]
    assert "Would install infoforge[vault]" in run.output
    assert BOX.run("getent passwd infoforge || true").stdout == ""


def test_stand_up() -> None:
    run = play("site.yml", PARTS)
    assert run.code == 0, run.output[-3000:]
    assert run.recap[BOX.name]["failed"] == 0


def test_a_second_run_changes_nothing() -> None:
    run = play("site.yml", PARTS)
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
    listing = BOX.run("stat -c '%a %U' /home/infoforge/.config/infoforge/vault.password").stdout
    assert listing.split() == ["600", "infoforge"]
    environment = BOX.as_user("podman inspect infoforge-postgres")
    password = BOX.run("cat /home/infoforge/.config/infoforge/vault.password").stdout.strip()
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
    # By mode: nothing in it but the folder of learnings is writable for the user that all runs as.
    writable = BOX.as_user(f"find {FOLDER} -writable")
    assert writable.split() == [f"{FOLDER}/agent_learnings"]
    # By mount: the indexer's unit sees the folder read-only, for root's capabilities as well.
    watcher = main_pid("infoforge-vault.service")
    mounts = BOX.run(f"cat /proc/{watcher}/mountinfo").stdout.splitlines()
    options = [row.split()[5] for row in mounts if row.split()[4] == FOLDER]
    assert options, mounts
    assert options[-1].split(",")[0] == "ro"
    tried = BOX.run(
        f"nsenter --mount --target {watcher} touch {FOLDER}/x {FOLDER}/agent_learnings/x",
        check=False,
    )
    assert tried.stderr.count("Read-only file system") == 2, tried.stderr
    # The database's container does not have it at all.
    server = BOX.run("pgrep -o -x postgres").stdout.strip()
    assert FOLDER not in BOX.run(f"cat /proc/{server}/mountinfo").stdout
    # Nor has any process of the user's a file of it open for writing.
    script = (
        "for p in $(pgrep -u infoforge); do for f in /proc/$p/fd/*; do "
        f'case "$(readlink "$f")" in {FOLDER}/*) '
        'grep -H flags "/proc/$p/fdinfo/${f##*/}";; esac; done; done || true'
    )
    flags = BOX.run(script, check=False).stdout.split()
    assert not [word for word in flags if word.isdigit() and int(word, 8) & 3]


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
    assert "vault_unavailable" in [notice["code"] for notice in document["warnings"]]
    alone = infoforge("ask", "--corpus", "vault", QUESTION, check=False)
    assert alone["exit_code"] == 1
    assert alone["errors"][0]["code"] == "corpus_unavailable"
    begin = time.monotonic()
    BOX.as_user("systemctl --user start infoforge-postgres.service")
    host.until("the vault answers", LIMIT, answers)
    FIGURES.append(f"{BOX.name}: the vault answers {time.monotonic() - begin:.1f} s after a start")


def test_after_kill_of_the_server_the_vault_comes_back() -> None:
    before = main_pid("infoforge-vault.service")
    BOX.run("kill -9 $(pgrep -o -x postgres)")
    begin = time.monotonic()
    host.until("the vault answers", LIMIT, answers)
    FIGURES.append(f"{BOX.name}: the vault answers {time.monotonic() - begin:.1f} s after kill -9")
    # The indexer waited for it.
    assert main_pid("infoforge-vault.service") == before


def test_after_a_reboot() -> None:
    begin = BOX.reboot()
    host.until("the vault answers", LIMIT, answers, pause=1)
    FIGURES.append(f"{BOX.name}: the vault answers {time.monotonic() - begin:.1f} s after a reboot")
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
    store = "/home/infoforge/.local/share/containers/storage"
    assert BOX.run(f"ls {store}/volumes").stdout.split() == ["infoforge-vault"]
    left = BOX.run(f"cat {store}/overlay-*/*.json").stdout
    assert "postgres" not in left, left
