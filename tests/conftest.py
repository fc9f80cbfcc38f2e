"""Fixtures that every room's tests share; the parts behind them stand in ``tests/support``."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from support.cli import Cli
from support.fault_server import Behaviour, FaultServer
from support.kiwix import REPO, Kiwix, Unavailable, command
from support.zim import build_zim

SHARED = REPO.parent / "shared" / "data"

# An example that takes long on a busy machine is no fault.
hypothesis.settings.register_profile("no-deadline", deadline=None)
hypothesis.settings.load_profile("no-deadline")

# A shell's background job, nohup, and some CI runners hand down an ignored SIGINT; the runs that a
# test interrupts would inherit it, and never end.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real ZIM files, questions and notes beside the repository (``zims/``, ``questions/``)."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared/data beside the repository: the real ZIM files are not here")
    return SHARED


def _kiwix(version: str) -> Iterator[Callable[..., Kiwix]]:
    try:
        command(version)
    except Unavailable as reason:
        pytest.skip(f"kiwix-serve {version}: {reason}")
    with ExitStack() as stack:
        yield lambda *zims, options=(): stack.enter_context(Kiwix(version, zims, options))


@pytest.fixture
def kiwix37() -> Iterator[Callable[..., Kiwix]]:
    """``kiwix37(zim, …, options=("-r", "/x"))`` starts a kiwix-serve: ``.url``, ``.stop()``."""
    yield from _kiwix("3.7")


@pytest.fixture
def kiwix33() -> Iterator[Callable[..., Kiwix]]:
    """As ``kiwix37``, with the 3.3 that Debian 12 has."""
    yield from _kiwix("3.3")


@pytest.fixture
def make_zim(tmp_path: Path) -> Callable[..., Path]:
    """``make_zim({"Title": "<p>HTML"}, name="wiki", …)`` -> ``tmp_path/zims/wiki_2026-06.zim``.

    The other options are those of ``support.zim.build_zim``; ``folder=`` puts it elsewhere.
    """

    def make(
        articles: Mapping[str, str | bytes],
        *,
        name: str = "sample_en",
        date: str = "2026-06-01",
        folder: Path | None = None,
        **options: Any,
    ) -> Path:
        where = folder or tmp_path / "zims"
        where.mkdir(parents=True, exist_ok=True)
        path = where / f"{name}_{date[:7]}.zim"
        return build_zim(path, articles, name=name, date=date, **options)

    return make


@pytest.fixture
def run_cli(tmp_path: Path) -> Cli:
    """``run_cli("ask", "…", config={…}, stdin="…")`` runs the script: ``.code``, ``.stdout``, …

    ``run_cli.home`` is its home folder, ``run_cli.configure`` writes its configuration.
    """
    return Cli(tmp_path / "home")


@pytest.fixture
def fault_server() -> Iterator[Callable[..., FaultServer]]:
    """``fault_server("500", "hang", reply("…"))``: see ``support.fault_server``."""
    with ExitStack() as stack:

        def start(*script: str | Behaviour, **options: Any) -> FaultServer:
            return stack.enter_context(FaultServer(*script, **options))

        yield start
