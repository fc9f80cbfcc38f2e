"""From an address to all that is known of the file behind it: size, hash, mirrors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from infoforge import net
from infoforge.contract import CheckFailed
from infoforge.text.parse import integer
from infoforge.zims.metalink import Metalink, Pieces, parse_metalink, parse_sha256
from infoforge.zims.names import file_name
from infoforge.zims.net import Unreachable, explain, get_document, status_reason

if TYPE_CHECKING:
    from infoforge.net import Session

# A metalink of 100 GB in pieces of 1 MiB has about 100,000 hashes.
_META_LIMIT = 64 << 20
_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class DownloadSource:
    """A file that can be fetched.

    Attributes:
        file: Name that it will have.
        origin: The address that it was asked by, without ``.meta4``.
        size: Bytes.
        sha256: Hex digest; empty when there is none and ``--no-verify`` was said.
        pieces: Hashes of its pieces, where the metalink has them.
        mirrors: Addresses of the file, best first.
        ident: ``name`` or ``name:flavour`` of the catalog; empty for a bare URL.
    """

    file: str
    origin: str
    size: int
    sha256: str
    pieces: Pieces | None
    mirrors: tuple[str, ...]
    ident: str = ""


def resolve(session: Session, url: str, *, ident: str = "", verify: bool = True) -> DownloadSource:
    """Ask the metalink, else the ``.sha256`` beside the file, for what is to be known before.

    Args:
        session: From `net.public_session`.
        url: Address of a ``.zim`` or its ``.zim.meta4``.
        ident: What the catalog calls it.
        verify: Refuse a file without a hash.

    Raises:
        CheckFailed: Nothing there, no hash (with ``verify``), or no size.
        UsageError: The URL names no ZIM file.
    """
    file = file_name(url)
    asked_meta = urlsplit(url).path.endswith(".meta4")
    bare = _with_path(url, "", cut=".meta4") if asked_meta else url
    meta: Metalink | None = None
    reasons: list[Unreachable] = []
    try:
        document = get_document(
            session,
            url if asked_meta else _with_path(url, ".meta4"),
            limit=_META_LIMIT,
            timeout=_TIMEOUT,
        )
        meta = parse_metalink(document.body, document.url, file)
        net.named(session, document.url, meta.mirrors)
    except Unreachable as error:
        reasons.append(error)
    except CheckFailed:
        # A server that answers every address with some page has no metalink; a metalink that was
        # asked for by name and is none is an error.
        if asked_meta:
            raise
    digest = meta.sha256 if meta else ""
    if not digest:
        digest = _digest(session, bare, file, reasons)
    if not digest and verify:
        raise _no_hash(bare, reasons)
    mirrors = meta.mirrors if meta else ()
    # An address that a person gave comes first (it may be a server in the house); one of the
    # catalog is what the mirrors stand for, and comes last.
    mirrors = (*mirrors, bare) if ident else (bare, *mirrors)
    return DownloadSource(
        file=file,
        origin=bare,
        size=(meta.size if meta else 0) or _size(session, bare),
        sha256=digest,
        pieces=meta.pieces if meta else None,
        mirrors=tuple(dict.fromkeys(mirrors)),
        ident=ident,
    )


def _with_path(url: str, suffix: str, cut: str = "") -> str:
    """The URL with a suffix put behind (or cut from) its path, the query left where it is."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=parts.path.removesuffix(cut) + suffix))


def _digest(session: Session, url: str, file: str, reasons: list[Unreachable]) -> str:
    try:
        document = get_document(
            session, _with_path(url, ".sha256"), limit=1 << 20, timeout=_TIMEOUT
        )
    except Unreachable as error:
        reasons.append(error)
        return ""
    return parse_sha256(document.body, file)


def _no_hash(url: str, reasons: list[Unreachable]) -> CheckFailed:
    """Why there is no hash: the server is away, the file is away, or only the hash is missing."""
    if reasons and all(r.status == 0 for r in reasons):
        return reasons[0]
    seen = "; ".join(f"{r.message}" for r in reasons)
    return CheckFailed(
        f"no SHA-256 to be had for {url}" + (f" ({seen})" if seen else ""),
        "is the address right? --no-verify takes it with the ZIM's own checksum alone",
        code="no_hash",
    )


def _size(session: Session, url: str) -> int:
    """The size that the server states.

    Raises:
        CheckFailed: It is not there, or states none: then nobody can say whether it fits.
    """
    try:
        for method, headers in (("HEAD", {}), ("GET", {"Range": "bytes=0-0"})):
            with net.stream(
                session,
                method,
                url,
                total=2 * _TIMEOUT,
                limit=0,
                idle=_TIMEOUT,
                headers={"Accept-Encoding": "identity", **headers},
                allow_redirects=True,
            ) as response:
                status = response.status
                size = integer(response.headers.get("Content-Range", "").rpartition("/")[2])
                if status == 200:
                    size = integer(response.headers.get("Content-Length", ""))
                if size and status in {200, 206}:
                    return size
    except net.NetworkError as error:
        raise Unreachable(url, *explain(error, _TIMEOUT)) from error
    if status >= 400:
        raise Unreachable(url, status_reason(status), status)
    raise CheckFailed(
        f"{url}: the server does not say how large it is", "name another mirror", code="no_size"
    )
