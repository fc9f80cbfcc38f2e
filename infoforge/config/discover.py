"""What is on this machine already: ZIM files in the usual folders, servers on the usual ports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from infoforge.config.settings import home
from infoforge.text.parse import from_json, integer

MODEL_PORTS = {11434: "ollama", 8080: "llama-cpp", 8000: "vllm", 1234: "lm-studio"}
"""Usual local ports of model servers, and the name that an endpoint there gets."""

KIWIX_PORT = 8080
SECONDS = 2.5
"""For each server that may be there."""
_LARGEST = 1_000_000

_ZIM_MAGIC = b"ZIM\x04"
_MOST_ENTRIES = 20_000


@dataclass(frozen=True, slots=True)
class ZimFolder:
    """A folder with ZIM files in it, by name."""

    path: Path
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelServer:
    """An OpenAI-compatible server that answered.

    Attributes:
        name: A name for the endpoint.
        url: With its ``/v1``.
        models: What it lists.
        context_tokens: The context that it says it gives; 0 when it does not.
    """

    name: str
    url: str
    models: tuple[str, ...]
    context_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Discovered:
    """All that was found."""

    folders: tuple[ZimFolder, ...] = ()
    servers: tuple[ModelServer, ...] = ()
    kiwix_url: str = ""


def usual_folders() -> tuple[Path, ...]:
    """Where people keep ZIM files."""
    own = home()
    places = [own / "zims", own / "ZIM", own / "Downloads"]
    places += _matching(own / ".local" / "share", "kiwix*")
    places += [Path(p) for p in ("/var/lib/kiwix", "/srv/zims", "/data")]
    places += _matching(Path("/media"), "*/*")
    return tuple(dict.fromkeys(places))


def discover(
    folders: Iterable[Path] | None = None,
    model_urls: Sequence[tuple[str, str]] | None = None,
    kiwix_url: str = f"http://127.0.0.1:{KIWIX_PORT}",
) -> Discovered:
    """Look in the usual places, on this machine alone, all ports at once.

    Args:
        folders: Folders to look in; the usual ones when not given.
        model_urls: Name and base URL (with ``/v1``) of possible model servers.
        kiwix_url: Where kiwix-serve may be.

    Returns:
        What answered, in the order asked; folders with most ZIM files first.
    """
    if model_urls is None:
        model_urls = [(n, f"http://127.0.0.1:{port}/v1") for port, n in MODEL_PORTS.items()]
    with ThreadPoolExecutor(len(model_urls) + 1) as pool:
        asked = [pool.submit(_models, name, url) for name, url in model_urls]
        kiwix = pool.submit(_is_kiwix, kiwix_url)
        places = usual_folders() if folders is None else folders
        shelves = [s for s in (_zims(folder) for folder in places) if s.files]
        servers = [s for s in (job.result() for job in asked) if s is not None]
        url = kiwix_url if kiwix.result() else ""
    shelves.sort(key=lambda shelf: -len(shelf.files))
    return Discovered(tuple(shelves), tuple(servers), url)


def _matching(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(islice(folder.glob(pattern), 100))
    except OSError:
        return []


def _zims(folder: Path) -> ZimFolder:
    names = []
    try:
        for path in islice(folder.iterdir(), _MOST_ENTRIES):
            if path.suffix == ".zim" and _looks_like_zim(path):
                names.append(path.name)
    except OSError:
        pass
    return ZimFolder(folder, tuple(sorted(names)))


def _looks_like_zim(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == _ZIM_MAGIC
    except OSError:
        return False


def _get(url: str) -> bytes:
    """The body of a 200; empty for everything else."""
    from infoforge import net

    try:
        reply = net.get(url, total=SECONDS, limit=_LARGEST, allow_public=False, what=url)
    except net.NetworkError:
        return b""
    return reply.body if reply.status == 200 else b""


def _models(name: str, url: str) -> ModelServer | None:
    try:
        rows = from_json(_get(f"{url}/models"))["data"]
        models = tuple(str(row["id"]) for row in rows)
        lengths = [integer(row.get("max_model_len")) for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    # vLLM says what it gives; what others list is what the model could take, which is no promise.
    known = [n for n in lengths if n >= 512]
    return ModelServer(name, url, models, min(known, default=0))


def _is_kiwix(url: str) -> bool:
    body = _get(f"{url}/catalog/v2/root.xml")
    return b"<feed" in body and b"/catalog/v2/entries" in body
