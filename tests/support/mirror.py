"""A real HTTP server on loopback: catalog, metalinks, mirrors of ZIM files, and their faults.

Use::

    with Mirror() as server:
        data = zim.read_bytes()
        server.publish("wiki_en_2026-06.zim", data, mirrors=("a", "b"))
        server.faults["/a/wiki_en_2026-06.zim"] = "404"
        ...
        server.sent("/b/wiki_en_2026-06.zim")      # body bytes that went out

Every file is at ``/MIRROR/FILE``; ``/zim/FILE`` (where the catalog points) has ``.meta4`` and
``.sha256`` beside it. Faults, by path:

=================  ==============================================================================
``"404"`` ...      that status
``"loop"``         redirects to itself
``"stall"``        half of the body, then silence until the server closes
``"hang"``         takes the request and never answers
``"cut"``          half of what was asked for, then the connection closes
``"short"``        a file that lacks its second half, with the Content-Length of that
``"flip"``         one wrong byte in the middle of the file
``"no-range"``     ignores Range and sends the whole file
``"gzip"``         says Content-Encoding: gzip
``"html"``         200 and a login page
``"chunked"``      the whole file without Content-Length
``"other-range"``  answers 206 with the start of the file
=================  ==============================================================================
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

_CHUNK = 32 * 1024


@dataclass
class Asked:
    """One request: path, headers in lower case, and the body bytes that were sent."""

    method: str
    path: str
    headers: dict[str, str]
    sent: int = 0


@dataclass
class Published:
    """What is known of a file."""

    file: str
    data: bytes
    title: str
    name: str
    flavour: str
    language: str
    extra: dict[str, Any] = field(default_factory=dict)


class Mirror:
    """The server; a context manager.

    Attributes:
        files: Path -> bytes that are served.
        etags: Path -> ETag; none: made of the content.
        faults: Path -> fault.
        rate: Bytes a second for every file, 0 for full speed.
        feed: Bytes in place of the catalog.
        asked: Every request, in order.
    """

    def __init__(self, rate: int = 0) -> None:
        self.files: dict[str, bytes] = {}
        self.types: dict[str, str] = {}
        self.etags: dict[str, str] = {}
        self.faults: dict[str, str] = {}
        self.rate = rate
        self.feed: bytes | None = None
        self.asked: list[Asked] = []
        self.published: list[Published] = []
        self.closing = threading.Event()
        owner = self

        class Handler(_Handler):
            mirror = owner

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.catalog = f"{self.url}/catalog/v2/entries"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def __enter__(self) -> Mirror:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop; whoever hangs is let go."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def publish(
        self,
        file: str,
        data: bytes,
        *,
        mirrors: Sequence[str] = ("a",),
        name: str = "",
        flavour: str = "",
        title: str = "A wiki",
        language: str = "eng",
        piece: int = 0,
        hashed: bool = True,
        meta4: bool = True,
        listed: bool = True,
    ) -> None:
        """Put a file on the mirrors, its metalink beside it, and an entry into the catalog.

        Args:
            file: File name.
            data: Its bytes.
            mirrors: Names of mirrors, best first.
            name: The catalog's name; the file name without the date when not given.
            flavour: The catalog's flavour.
            title: Title.
            language: ISO 639-3.
            piece: Length of the pieces hashed in the metalink; 0 for none.
            hashed: Whether the metalink has a SHA-256.
            meta4: Whether there is a metalink at all.
            listed: Whether the catalog has it.
        """
        for mirror in mirrors:
            self.files[f"/{mirror}/{file}"] = data
        self.files[f"/zim/{file}"] = data
        if meta4:
            path = f"/zim/{file}.meta4"
            self.files[path] = self.metalink(file, data, mirrors, piece=piece, hashed=hashed)
            self.types[path] = "application/metalink4+xml"
        if listed:
            plain = name or re.sub(r"_\d{4}-\d{2}\.zim$", "", file)
            self.published.append(Published(file, data, title, plain, flavour, language))

    def metalink(
        self, file: str, data: bytes, mirrors: Sequence[str], *, piece: int, hashed: bool
    ) -> bytes:
        """A metalink as Kiwix's servers write it."""
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<metalink xmlns="urn:ietf:params:xml:ns:metalink">',
            f'<file name="{file}"><size>{len(data)}</size>',
            f'<hash type="md5">{hashlib.md5(data).hexdigest()}</hash>',
        ]
        if hashed:
            lines.append(f'<hash type="sha-256">{hashlib.sha256(data).hexdigest()}</hash>')
        if piece:
            lines.append(f'<pieces length="{piece}" type="sha-1">')
            for start in range(0, len(data), piece):
                digest = hashlib.sha1(data[start : start + piece]).hexdigest()
                lines.append(f"<hash>{digest}</hash>")
            lines.append("</pieces>")
        # Written in the reverse order: the priority decides, not the place.
        for number, mirror in reversed(list(enumerate(mirrors, 1))):
            lines.append(f'<url location="de" priority="{number}">{self.url}/{mirror}/{file}</url>')
        lines.append('<metaurl mediatype="torrent">http://127.0.0.1/x.torrent</metaurl>')
        return "\n".join([*lines, "</file></metalink>"]).encode()

    def feed_bytes(self) -> bytes:
        """The catalog as kiwix-serve writes it."""
        if self.feed is not None:
            return self.feed
        head = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"'
            ' xmlns:dc="http://purl.org/dc/terms/"'
            ' xmlns:opds="https://specs.opds.io/opds-1.2"><id>x</id><title>All</title>'
        )
        return (head + "".join(self.entry(p) for p in self.published) + "</feed>").encode()

    def entry(self, book: Published) -> str:
        """One entry of the catalog."""
        return f"""<entry>
    <id>urn:uuid:{hashlib.md5(book.file.encode()).hexdigest()}</id>
    <title>{book.title}</title>
    <updated>2026-06-02T00:00:00Z</updated>
    <summary>All about it</summary>
    <language>{book.language}</language>
    <name>{book.name}</name>
    <flavour>{book.flavour}</flavour>
    <category>wikipedia</category>
    <articleCount>215</articleCount>
    <author><name>Someone</name></author>
    <link type="text/html" href="/content/x" />
    <dc:issued>2026-06-02T00:00:00Z</dc:issued>
    <link rel="http://opds-spec.org/acquisition/open-access" type="application/x-zim"
          href="{self.url}/zim/{book.file}.meta4" length="{-(-len(book.data) // 1024) * 1024}" />
  </entry>"""

    def sent(self, path: str, since: int = 0) -> int:
        """Body bytes sent for a path, from the ``since``-th request on."""
        return sum(a.sent for a in self.asked[since:] if a.path == path)

    def tried(self, since: int = 0) -> list[str]:
        """Paths of the GET requests for ZIM files, in order."""
        return [a.path for a in self.asked[since:] if a.path.endswith(".zim") and a.method == "GET"]


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away (killed, content, or fed up) is no news."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    mirror: Mirror
    protocol_version = "HTTP/1.1"
    timeout = 60

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        with contextlib.suppress(ConnectionError):
            self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        mirror = self.mirror
        path = unquote(urlsplit(self.path).path)
        headers = {key.lower(): value for key, value in self.headers.items()}
        asked = Asked(self.command, path, headers)
        mirror.asked.append(asked)
        if path == "/catalog/v2/entries":
            self._send(200, mirror.feed_bytes(), asked, {"Content-Type": "application/atom+xml"})
            return
        if path == "/moved/catalog":
            self._send(
                301, b"", asked, {"Location": f"{mirror.catalog}?{urlsplit(self.path).query}"}
            )
            return
        fault = mirror.faults.get(path, "")
        if fault == "hang":
            mirror.closing.wait()
            return
        if fault == "loop":
            self._send(302, b"", asked, {"Location": f"{mirror.url}{path}"})
            return
        if fault == "html":
            self._send(200, b"<html>Please log in", asked, {"Content-Type": "text/html"})
            return
        data = mirror.files.get(path)
        if fault.isdigit() or data is None:
            self._send(int(fault or 404), b"no", asked, {})
            return
        self._file(path, data, fault, asked, body=body)

    def _file(self, path: str, data: bytes, fault: str, asked: Asked, *, body: bool) -> None:
        mirror = self.mirror
        if fault == "short":
            data = data[: len(data) // 2]
        if fault == "flip":
            half = len(data) // 2
            data = data[:half] + bytes([data[half] ^ 0xFF]) + data[half + 1 :]
        etag = mirror.etags.get(path, f'"{hashlib.md5(data).hexdigest()}"')
        reply = {
            "ETag": etag,
            "Content-Type": mirror.types.get(path, "application/octet-stream"),
            "Accept-Ranges": "bytes",
        }
        start, status = 0, 200
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", asked.headers.get("range", ""))
        unchanged = asked.headers.get("if-range", etag) == etag
        if wanted and unchanged and fault not in {"no-range", "chunked"}:
            start, status = int(wanted[1]), 206
            if start >= len(data):
                self._send(416, b"", asked, {"Content-Range": f"bytes */{len(data)}"})
                return
            if fault == "other-range":
                start = 0
            reply["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        part = data[start:]
        if fault == "gzip":
            reply["Content-Encoding"] = "gzip"
        self.send_response(status)
        for key, value in reply.items():
            self.send_header(key, value)
        if fault == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if not body:
            return
        if fault in {"cut", "stall"}:
            part = part[: len(part) - len(part) // 2]
        self._stream(part, asked, chunked=fault == "chunked")
        if fault == "stall":
            mirror.closing.wait()
        if fault in {"cut", "stall"}:
            self.close_connection = True

    def _stream(self, part: bytes, asked: Asked, *, chunked: bool) -> None:
        rate, began = self.mirror.rate, time.monotonic()
        for position in range(0, len(part), _CHUNK):
            piece = part[position : position + _CHUNK]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            asked.sent += len(piece)
            if rate:
                ahead = asked.sent / rate - (time.monotonic() - began)
                if ahead > 0 and self.mirror.closing.wait(ahead):
                    self.close_connection = True
                    return
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _send(self, status: int, data: bytes, asked: Asked, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
            asked.sent += len(data)
