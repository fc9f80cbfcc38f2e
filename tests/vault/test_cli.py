"""The commands as they are typed: the index, the search, the answer, and what agents leave."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from support.cli import SCRIPT
from support.envelope import check_document

NOTES = {
    "boiler.md": "# Boiler\n\nThe boiler is serviced by Brunner every April.\n"
    "\n## Pressure\n\nThe pressure must be 1.5 bar; below it, open the blue valve.\n",
    "garden/roses.md": "---\ntags: [garden]\ndate: 2026-03-01\n---\n\n# Roses\n\nCut in March.\n",
}


class Checked:
    """Runs commands, and holds every JSON document to its schema."""

    def __init__(self, cli):
        self._cli = cli
        self.home, self.environment = cli.home, cli.environment

    def __call__(self, *args, **options):
        run = self._cli(*args, **options)
        if "--json" in args:
            command = " ".join(args[: 2 if args[0] == "vault" else 1])
            check_document(run.json, command, run.code)
        return run


@pytest.fixture
def cli(vault, run_cli, make_zim):
    """The commands over a vault and a small wiki."""
    for source, text in NOTES.items():
        vault.write(source, text)
    zim = make_zim({"Kettle": "<p>A kettle boils water for tea.</p>"}, name="kettles_en")
    run_cli.configure(
        {
            "vault": {
                "folder": str(vault.folder),
                "url": vault.settings.url,
                "password_file": str(vault.settings.password_file),
            },
            "zims": {"folder": str(zim.parent)},
        }
    )
    return Checked(run_cli)


def test_init_index_status_search(cli, vault):
    init = cli("vault", "init", "--json")
    assert init.code == 0, init.stderr
    assert init.json["data"]["migrations"] == 2
    assert (vault.folder / "agent_learnings").is_dir()
    assert cli("vault", "init", "--json").json["data"]["changed"] is False
    done = cli("vault", "index", "--json")
    assert done.json["data"]["added"] == 2
    status = cli("vault", "status", "--json").json["data"]
    assert (status["notes"], status["new"], status["changed"], status["gone"]) == (2, 0, 0, 0)
    vault.write("boiler.md", NOTES["boiler.md"] + "\nMore.\n")
    assert cli("vault", "status", "--json").json["data"]["changed"] == 1
    found = cli("vault", "search", "--json", "who looks after the heating?").json["data"]
    first = found["results"][0]
    assert first["path"] == "boiler.md"
    assert Path(first["file"]).read_text("utf-8") == NOTES["boiler.md"] + "\nMore.\n"
    text = cli("vault", "search", "heating pressure").stdout
    assert "Boiler > Pressure" in text


def test_ask_searches_both_and_each_alone(cli):
    assert cli("vault", "index").code == 0
    both = cli("ask", "--json", "At which pressure must the boiler be?")
    assert both.code == 0, both.stderr
    cited = both.json["data"]["citations"][0]
    assert cited["corpus"] == "vault"
    assert Path(cited["url"]).is_file()
    wiki = cli("search", "--corpus", "wiki", "--json", "What boils water for tea, a kettle?")
    assert {row["corpus"] for row in wiki.json["data"]["results"]} == {"kettles_en"}
    alone = cli("search", "--corpus", "vault", "--json", "When are roses cut?")
    assert {row["corpus"] for row in alone.json["data"]["results"]} == {"vault"}
    assert alone.json["data"]["results"][0]["date"] == "2026-03-01"


def test_ask_goes_on_without_the_database_and_says_so(cli, vault):
    vault.settings.password_file.write_text("wrong")
    found = cli("search", "--json", "What does a kettle boil?")
    assert found.code == 0, found.stderr
    assert "vault_unavailable" in {warning["code"] for warning in found.json["warnings"]}
    alone = cli("search", "--corpus", "vault", "--json", "When are roses cut?")
    assert alone.code == 1
    assert alone.json["errors"][0]["code"] == "corpus_unavailable"
    assert "password" in alone.json["errors"][0]["message"]


def test_ask_goes_on_without_the_wikis_and_says_so(cli, vault):
    assert cli("vault", "index").code == 0
    for path in (cli.home.parent / "zims").glob("*.zim"):
        path.unlink()
    found = cli("search", "--json", "When are roses cut?")
    assert found.code == 0, found.stderr
    assert "wiki_unavailable" in {warning["code"] for warning in found.json["warnings"]}


def test_no_index_yet_is_told_with_the_command(cli):
    alone = cli("search", "--corpus", "vault", "--json", "When are roses cut?")
    assert alone.code == 1
    assert "infoforge vault index" in alone.json["errors"][0]["message"]


def test_doctor(cli, vault):
    assert cli("vault", "index").code == 0
    well = cli("doctor", "--only", "vault", "--json")
    assert well.code == 0, well.stdout
    names = [check["name"] for check in well.json["data"]["checks"]]
    assert names == ["vault:folder", "vault:model", "vault:database", "vault:index"]
    vault.settings.password_file.write_text("wrong")
    ill = cli("doctor", "--only", "vault", "--json")
    assert ill.code == 1
    failed = [c for c in ill.json["data"]["checks"] if c["status"] == "FAIL"]
    assert [c["name"] for c in failed] == ["vault:database"]


def test_learn_is_the_only_way_in(cli, vault):
    cli("vault", "init")
    left = cli("vault", "learn", "Valve sticks", stdin="Turn it twice.", timeout=60)
    assert left.code == 0, left.stderr
    path = Path(left.stdout.strip())
    assert path.parent == vault.folder / "agent_learnings"
    assert "Turn it twice." in path.read_text("utf-8")
    before = path.read_bytes()
    for title in ("Valve sticks", "valve STICKS", "../boiler", "a/b", "..", ".hidden", "x\ny", ""):
        again = cli("vault", "learn", title, stdin="Other.")
        assert again.code == 2, title
    assert path.read_bytes() == before
    assert [p.name for p in (vault.folder / "agent_learnings").iterdir()] == [path.name]
    # It is no note before a person makes it one.
    done = cli("vault", "index", "--json").json["data"]
    assert done["added"] == len(NOTES)
    listed = cli("vault", "review", "--json").json["data"]["learnings"]
    assert [row["title"] for row in listed] == ["Valve sticks"]
    assert os.system(listed[0]["keep"]) == 0
    assert cli("vault", "index", "--json").json["data"]["added"] == 1


def test_the_folder_may_be_read_only(cli, vault):
    """What is opened in the vault is opened for reading: a run leaves its times and bytes alone."""
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in vault.folder.rglob("*.md")}
    mode = vault.folder.stat().st_mode
    assert cli("vault", "index").code == 0
    assert cli("ask", "When are roses cut?").code == 0
    assert {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in vault.folder.rglob("*.md")} == before
    assert vault.folder.stat().st_mode == mode
    assert {p.name for p in vault.folder.iterdir()} == {"boiler.md", "garden"}


def test_without_the_extra_the_message_says_what_to_install(cli, vault, tmp_path):
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "psycopg.py").write_text("raise ImportError(name='psycopg')\n")
    done = cli("vault", "status", env={"PYTHONPATH": str(blocked)}, process=True)
    assert done.code == 1
    assert "infoforge[vault]" in done.stderr


READ_ONLY = (
    "unshare",
    "--mount",
    "sh",
    "-ec",
    'mount --bind "$0" "$0"; mount --bind "$0/agent_learnings" "$0/agent_learnings";'
    ' mount -o remount,bind,ro "$0"; exec "$@"',
)
"""Runs a command where the vault is mounted read-only, but for the folder of learnings."""


def test_everything_works_on_a_vault_that_nobody_can_write(cli, vault):
    """By mount: each command runs where a write into the vault is an error of the kernel's."""
    cli("vault", "init")
    if subprocess.run([*READ_ONLY, str(vault.folder), "true"], check=False).returncode:
        pytest.skip("no mount namespace is permitted here")
    prefix = (*READ_ONLY, str(vault.folder))
    touched = subprocess.run([*prefix, "touch", str(vault.folder / "x")], check=False)
    assert touched.returncode != 0
    for line in (
        ("vault", "index"),
        ("vault", "status"),
        ("vault", "search", "heating"),
        ("vault", "review"),
        ("ask", "When are roses cut?"),
        ("doctor", "--only", "vault"),
    ):
        done = cli(*line, prefix=prefix)
        assert done.code == 0, (line, done.stderr)
    left = cli("vault", "learn", "Seals", stdin="They dry out.", prefix=prefix)
    assert left.code == 0, left.stderr
    assert {path.name for path in vault.folder.iterdir()} == {
        "agent_learnings",
        "boiler.md",
        "garden",
    }


def test_an_interrupted_watch_ends_well(cli, vault):
    """As systemd ends a unit: SIGTERM, and exit code 0."""
    watcher = subprocess.Popen(
        [SCRIPT, "vault", "index", "--watch"],
        env=cli.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert watcher.stderr is not None
    first = watcher.stderr.readline()
    assert "2 added" in first, first
    watcher.terminate()
    _, rest = watcher.communicate(timeout=60)
    assert watcher.returncode == 0, rest
    assert set(vault.sources()) == set(NOTES)


def test_a_watch_is_ended_in_the_middle_of_a_run(cli, vault):
    """A box that shuts down does not wait until all is indexed."""
    for i in range(1000):
        words = " ".join(f"w{i}n{j}" for j in range(20))
        vault.write(f"big/{i:04}.md", f"# Note {i}\n\n{words}\n")
    watcher = subprocess.Popen(
        [SCRIPT, "vault", "index", "--watch"],
        env=cli.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 240
    while not _indexed(vault):
        assert watcher.poll() is None
        assert time.monotonic() < end
        time.sleep(0.2)
    watcher.terminate()
    _, said = watcher.communicate(timeout=60)
    assert watcher.returncode == 0, said
    assert "Traceback" not in said
    assert 0 < len(vault.sources()) < 1000 + len(NOTES)


def _indexed(vault) -> int:
    with vault.store() as store:
        return len(store.notes()) if store.version() else 0
