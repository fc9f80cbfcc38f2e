"""What the boxes are fed: small ZIM files, in editions, and the wheels of this repository."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from support.zim import build_zim

from box.host import CACHE

REPO = Path(__file__).resolve().parents[2]

QUESTION = "How tall is the Eiffel Tower?"
EXPECTED = "330"

_LANDMARKS = {
    "Eiffel Tower": "<p>The Eiffel Tower is a wrought-iron lattice tower on the Champ de Mars in "
    "Paris, France.</p><p>The Eiffel Tower is 330 metres tall and was completed in 1889 for the "
    "World's Fair.</p>",
    "Colosseum": "<p>The Colosseum is an elliptical amphitheatre in the centre of Rome, Italy. "
    "Its construction began under Vespasian and was completed in AD 80.</p>",
    "Brandenburg Gate": "<p>The Brandenburg Gate is a neoclassical monument in Berlin, Germany, "
    "built between 1788 and 1791.</p>",
}
_RIVERS = {
    "Danube": "<p>The Danube is the second-longest river in Europe. It rises in the Black Forest "
    "and flows into the Black Sea after 2,850 kilometres.</p>",
    "Rhine": "<p>The Rhine rises in the Swiss Alps and flows into the North Sea. It is about "
    "1,230 kilometres long.</p>",
}


def make_zims(folder: Path) -> dict[str, Path]:
    """The ZIM files of the tests in ``folder``; what is there already is kept.

    Returns:
        ``landmarks`` and ``rivers`` (good), ``landmarks_new`` (a newer good edition),
        ``rivers_bad`` (a newer edition that is cut short), ``truncated`` (cut short).
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "landmarks": folder / "landmarks_en_all_2026-06.zim",
        "landmarks_new": folder / "landmarks_en_all_2026-09.zim",
        "rivers": folder / "rivers_en_all_2026-06.zim",
        "rivers_bad": folder / "rivers_en_all_2026-09.zim",
        "truncated": folder / "broken_en_all_2026-06.zim",
    }
    pages = {"landmarks": _LANDMARKS, "landmarks_new": _LANDMARKS, "rivers": _RIVERS}
    for key, articles in pages.items():
        if not files[key].exists():
            stem, date = files[key].stem.rsplit("_", 1)
            part = build_zim(
                folder / f".{files[key].name}",
                articles,
                name=stem,
                title=stem.split("_", 1)[0].title(),
                date=f"{date}-01",
            )
            part.replace(files[key])
    whole = files["rivers"].read_bytes()
    for key in ("rivers_bad", "truncated"):
        files[key].write_bytes(whole[: len(whole) // 2])
    return files


def _pip(*args: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "-q", *args], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"pip {args[0]}: {done.stderr.strip()[-400:]}")


def own_wheel(folder: Path) -> Path:
    """The wheel of this repository, built in ``folder``.

    Every play of the tests installs this one, as long as the boxes stand: building it is the
    dearest step of a play that has nothing to do, and the work tree may change meanwhile.
    """
    for old in folder.glob("*.whl"):
        old.unlink()
    _pip("wheel", "--no-deps", f"--wheel-dir={folder}", str(REPO))
    return next(folder.glob("*.whl"))


def wheels(python: str) -> Path:
    """A folder with the wheels that the tool needs on a box with this Python (``3.13``).

    The tool's own wheel is not among them.
    """
    needs = (REPO / "pyproject.toml").read_bytes()
    folder = CACHE / f"wheels-{python}-{hashlib.sha256(needs).hexdigest()[:10]}"
    if (folder / "complete").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    import tomllib

    _pip(
        "download",
        f"--dest={folder}",
        "--only-binary=:all:",
        f"--python-version={python}",
        "--implementation=cp",
        f"--abi=cp{python.replace('.', '')}",
        "--abi=abi3",
        "--abi=none",
        "--platform=manylinux_2_28_x86_64",
        "--platform=manylinux_2_17_x86_64",
        "--platform=manylinux2014_x86_64",
        "--platform=any",
        *tomllib.loads(needs.decode())["project"]["dependencies"],
    )
    (folder / "complete").touch()
    return folder
