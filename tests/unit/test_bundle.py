"""A bundle is used only when every file in it is as its signed list says."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

REPO = Path(__file__).resolve().parents[2]
SCRIPT = REPO / "roles" / "cli" / "files" / "bundle.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bundle", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bundle = _load()
FILES = {
    "wheels/infoforge-1-py3-none-any.whl": b"a wheel",
    "images/kiwix-serve.tar": b"an image",
    "zims/wiki en_2026-06.zim": b"a ZIM " * 1000,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        path = tmp_path / "bundle" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    bundle.write_list(tmp_path / "bundle")
    return tmp_path / "bundle"


def key_pair(folder: Path, name: str = "key") -> tuple[str, str]:
    """Paths of a private key, and the text of its public one."""
    path = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return str(path), path.with_suffix(".pub").read_text()


def test_an_untouched_bundle_is_accepted_and_sha256sum_reads_its_list(folder: Path) -> None:
    assert bundle.verify(folder) == len(FILES)
    subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True
    )


@pytest.mark.parametrize("name", FILES)
def test_one_flipped_bit_in_any_kind_of_file_is_refused(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(bundle.BundleError, match=name):
        bundle.verify(folder)


@pytest.mark.parametrize("name", ["wheels/other.whl", "zims/.hidden", "autorun.sh", "new/x"])
def test_a_file_that_is_not_listed_is_refused(folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"")
    with pytest.raises(bundle.BundleError, match=f"{name} is not in SHA256SUMS"):
        bundle.verify(folder)


def test_a_missing_file_and_a_link_are_refused(folder: Path) -> None:
    path = folder / "images" / "kiwix-serve.tar"
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(bundle.BundleError, match="not in the bundle"):
        bundle.verify(folder)
    (folder.parent / "elsewhere").write_bytes(content)
    path.symlink_to(folder.parent / "elsewhere")
    with pytest.raises(bundle.BundleError, match="a link"):
        bundle.verify(folder)


@pytest.mark.parametrize(
    "line",
    ["0" * 64 + "  ../outside", "0" * 64 + "  /etc/passwd", "0" * 64 + "  zims/../../x", "?", ""],
)
def test_a_list_that_is_none_is_refused(folder: Path, line: str) -> None:
    (folder / "SHA256SUMS").write_text(line + "\n" if line else "")
    with pytest.raises(bundle.BundleError, match="SHA256SUMS"):
        bundle.verify(folder)


def test_the_signature_must_be_by_the_key_and_over_this_list(folder: Path, tmp_path: Path) -> None:
    private, public = key_pair(tmp_path)
    with pytest.raises(bundle.BundleError, match="not signed"):
        bundle.verify(folder, public)
    bundle.write_list(folder, private)
    assert bundle.verify(folder, public) == len(FILES)
    _, other = key_pair(tmp_path, "other")
    with pytest.raises(bundle.BundleError, match="infoforge_bundle_key"):
        bundle.verify(folder, other)
    # What an attacker with the stick can do: change a file, and the list with it.
    (folder / "images" / "kiwix-serve.tar").write_bytes(b"another image")
    signature = (folder / "SHA256SUMS.sig").read_bytes()
    bundle.write_list(folder)
    (folder / "SHA256SUMS.sig").write_bytes(signature)
    assert bundle.verify(folder) == len(FILES)
    with pytest.raises(bundle.BundleError, match="infoforge_bundle_key"):
        bundle.verify(folder, public)


def test_the_command_says_the_reason_on_one_line_and_ends_with_1(folder: Path) -> None:
    (folder / "wheels" / "x").touch()
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "verify", str(folder), ""],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "wheels/x is not in SHA256SUMS\n")


@pytest.mark.parametrize("role", ["cli", "zims", "kiwix", "vault"])
def test_every_role_that_uses_a_bundle_verifies_it_first(role: str) -> None:
    tasks = (REPO / "roles" / role / "tasks" / "preflight.yml").read_text("utf-8")
    assert "- name: Verify the bundle\n" in tasks
    assert f"__cli_bundle_verified | default('') != {role}_bundle" in tasks
