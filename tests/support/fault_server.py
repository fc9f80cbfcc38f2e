"""A real HTTP server on loopback that fails on purpose: for faults, not in place of the real.

Use the ``fault_server`` fixture (or ``FaultServer`` as a context manager)::

    server = fault_server()                            # a well-behaved OpenAI-compatible server
    server = fault_server("500", "hang", reply("Yes [1]"))
    config_url = server.url + "/v1"
    ...
    assert server.chats[0].json["messages"]            # what it was asked

**Behaviours** are given in order, one per request to be answered; the last one repeats for ever.
By default only chat completions take a behaviour from the script and everything else
(``/v1/models``, files) is answered properly; ``script_all=True`` makes every request take one. A
behaviour is a name or a ``Behaviour`` (``reply(...)``, ``status(...)``, ``slow(...)``, ``cut(...)``
build one):

=================  ==============================================================================
``"ok"``           a proper answer: a completion with ``text``, a model list, or the file asked for
``"hang"``         read the request, then never send a byte (hang before the first byte)
``"hang-mid"``     headers and half of the body, then silence
``"cut"``          headers and half of the body, then the connection is closed
``"reset"``        as ``cut``, but with a TCP reset and before any byte
``"500"`` ...      any three-digit status, with an OpenAI-like error document as its body
``"garbage"``      200, ``application/json``, a body that is not JSON (a stream: broken events)
``"not-utf8"``     200 with bytes that are no UTF-8
``"empty"``        200 and a body of no bytes
``"empty-reply"``  200, well-formed, and the text of the answer is empty
``"wrong-type"``   200, ``text/html``, a login page where JSON was expected
``"drip"``         a proper body, one byte every ``delay`` seconds
``"drip-head"``    as ``"ok"``, but a hundred bytes of a header first, one every ``delay`` seconds
``"endless"``      a body of 64 MB without a length, faster than anybody needs it
=================  ==============================================================================

Two faults are not answers and so are servers of their own: ``refused_url()`` gives a URL where
nobody listens, ``FaultServer(accept=False)`` a port that takes the TCP connection and never reads.

``close()`` (done by the fixture) wakes every hanging request, so that no test waits for one.
"""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Behaviour:
    """What happens to one request.

    Attributes:
        kind: One of the names in the module's table, or a three-digit status.
        text: The answer of a completion.
        reasoning: Sent as ``reasoning_content`` before the text.
        finish: ``finish_reason``.
        prompt_tokens: Reported in ``usage``; ``None`` leaves ``usage`` out.
        model: The model reported; the one asked for when empty.
        body: Bytes to send in place of the proper body.
        content_type: In place of the proper one.
        headers: Sent besides.
        delay: Seconds between two bytes of ``drip``, and before each event of a stream.
        done: Whether a stream ends with ``data: [DONE]``.
        chunks: The text cut as it is to be streamed; words when not given.
    """

    kind: str = "ok"
    text: str = "It is so, says the source [1]."
    reasoning: str = ""
    finish: str = "stop"
    prompt_tokens: int | None = 1000
    model: str = ""
    body: bytes | None = None
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    done: bool = True
    chunks: tuple[str, ...] = ()


def reply(text: str, **more: Any) -> Behaviour:
    """A proper completion that says ``text``."""
    return Behaviour(text=text, **more)


def status(code: int, message: str = "", error_code: str = "", **more: Any) -> Behaviour:
    """An HTTP error with an OpenAI-like error document (``error_code`` is its ``code``)."""
    document = {"error": {"message": message or f"fault {code}", "code": error_code or None}}
    more.setdefault("body", json.dumps(document).encode())
    return Behaviour(kind=str(code), **more)


def slow(delay: float, text: str = "Slow but sure [1].", **more: Any) -> Behaviour:
    """A proper body, one byte every ``delay`` seconds."""
    return Behaviour(kind="drip", delay=delay, text=text, **more)


def cut(text: str, **more: Any) -> Behaviour:
    """Half of a proper answer, then the connection closes."""
    return Behaviour(kind="cut", text=text, **more)


@dataclass(frozen=True)
class Request:
    """A request as it arrived."""

    method: str
    target: str
    """Path and query as sent."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def path(self) -> str:
        """The path, decoded, without the query."""
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> dict[str, list[str]]:
        """The query's parameters."""
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True)

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class FaultServer:
    """A threaded HTTP server on a free loopback port, running from construction to ``close``.

    Args:
        script: Behaviours, in order; the last one repeats. None: ``ok`` for ever.
        models: What ``/v1/models`` lists.
        files: Path (``"/a/b"``, decoded, no query) -> body, or ``(content type, body)``. Ranges
            (``Range: bytes=``) and ``HEAD`` are honoured, and an ``ETag`` is sent.
        respond: Called first with each request; the ``Behaviour`` it returns is taken, ``None``
            goes on.
        script_all: Whether requests other than chat completions take from the script, too.
        accept: False: the port takes connections and never reads from them.
    """

    def __init__(
        self,
        *script: str | Behaviour,
        models: tuple[str, ...] = ("test-model",),
        files: Mapping[str, bytes | str | tuple[str, bytes]] | None = None,
        respond: Callable[[Request], Behaviour | None] | None = None,
        script_all: bool = False,
        accept: bool = True,
    ) -> None:
        self.models = models
        self.files = dict(files or {})
        self.respond = respond
        self.script_all = script_all
        self.requests: list[Request] = []
        """Every request that was read, in order."""
        self.connections = 0
        """TCP connections that were accepted."""
        self._script = [_behaviour(b) for b in script] or [Behaviour()]
        self._taken = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._listener: socket.socket | None = None
        self._server: _Server | None = None
        if accept:
            self._server = _Server(("127.0.0.1", 0), _handler(self))
            self.port = int(self._server.server_address[1])
            # A short poll makes close() quick; the thread sleeps in select between requests.
            threading.Thread(
                target=self._server.serve_forever, args=(0.02,), daemon=True, name="fault-server"
            ).start()
        else:
            # The kernel completes the handshake by itself, as with a wedged server.
            self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
            self.port = int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT`` without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def chats(self) -> list[Request]:
        """The chat completions that were asked for."""
        return [r for r in self.requests if r.path.endswith("/chat/completions")]

    def paths(self) -> list[str]:
        """``"GET /v1/models"`` and so on, in order."""
        return [f"{r.method} {r.path}" for r in self.requests]

    def then(self, *script: str | Behaviour) -> None:
        """Replace the script; the requests recorded so far stay."""
        with self._lock:
            self._script = [_behaviour(b) for b in script] or [Behaviour()]
            self._taken = 0

    def close(self) -> None:
        """Stop, and let every hanging request go."""
        self._closing.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        if self._listener is not None:
            self._listener.close()

    def __enter__(self) -> FaultServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _record(self, request: Request) -> Behaviour:
        """Keep the request and say what happens to it."""
        with self._lock:
            self.requests.append(request)
            scripted = self.script_all or request.path.endswith("/chat/completions")
            chosen = self.respond(request) if self.respond is not None else None
            if chosen is not None:
                return chosen
            if not scripted:
                return Behaviour()
            behaviour = self._script[min(self._taken, len(self._script) - 1)]
            self._taken += 1
            return behaviour


def refused_url() -> str:
    """A loopback URL where nobody listens: connecting is refused."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    return f"http://127.0.0.1:{port}"


def _behaviour(what: str | Behaviour) -> Behaviour:
    if isinstance(what, Behaviour):
        return what
    if what.isdigit():
        return status(int(what))
    known = {"ok", "hang", "hang-mid", "cut", "reset", "garbage", "not-utf8", "empty"}
    known |= {"empty-reply", "wrong-type", "drip", "drip-head", "endless"}
    if what not in known:
        raise ValueError(f"no such behaviour: {what!r}; known are {sorted(known)} and a status")
    if what in ("drip", "drip-head"):
        return Behaviour(kind=what, delay=0.05)
    return Behaviour(kind=what)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Hanging requests are woken by close(); the server does not wait for their threads.
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is expected here; anything else would be a bug of the tests."""


def _handler(owner: FaultServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            owner.connections += 1

        def log_message(self, *args: object) -> None:
            """Silent: the tests read ``requests``."""

        def do_GET(self) -> None:
            self._serve()

        do_HEAD = do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815

        def _serve(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            headers = {k.lower(): v for k, v in self.headers.items()}
            request = Request(self.command, self.path, headers, self.rfile.read(size))
            behaviour = owner._record(request)
            # One answer a connection: a hang or a cut then concerns that answer alone.
            self.close_connection = True
            with contextlib.suppress(OSError):
                self._answer(request, behaviour)

        def _answer(self, request: Request, behaviour: Behaviour) -> None:
            kind = behaviour.kind
            if kind == "hang":
                owner._closing.wait()
                return
            if kind == "reset":
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                # The file objects hold the socket open; only when all are closed does it reset.
                self.rfile.close()
                self.wfile.close()
                self.connection.close()
                return
            code, content_type, pieces, extra = _content(owner, request, behaviour)
            total = sum(map(len, pieces))
            streamed = content_type.startswith("text/event-stream")
            if kind == "drip-head" and not self._drip_head(behaviour):
                return
            self.send_response(code)
            self.send_header("Content-Type", behaviour.content_type or content_type)
            if not streamed and kind != "endless":
                self.send_header("Content-Length", str(total))
            for name, value in {**extra, **behaviour.headers, "Connection": "close"}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "HEAD":
                return
            if kind == "endless":
                for _ in range(64):
                    self.wfile.write(b"x" * 1_000_000)
                return
            for piece in _paced(owner, pieces, behaviour, half=kind in {"cut", "hang-mid"}):
                self.wfile.write(piece)
                self.wfile.flush()
            if kind == "hang-mid":
                owner._closing.wait()

        def _drip_head(self, behaviour: Behaviour) -> bool:
            """An interim response, which is no reply yet, byte by byte; whether it got through."""
            head = f"HTTP/1.1 100 Continue\r\nX-Slow: {'.' * 66}\r\n\r\n".encode()
            for i in range(len(head)):
                if owner._closing.wait(behaviour.delay):
                    return False
                self.wfile.write(head[i : i + 1])
                self.wfile.flush()
            return True

    return Handler


def _paced(
    owner: FaultServer, pieces: list[bytes], behaviour: Behaviour, *, half: bool
) -> Iterator[bytes]:
    """The body's pieces with the pauses between them; only the first half of it if so asked."""
    left = sum(map(len, pieces)) // 2 if half else None
    for whole in pieces:
        piece = whole if left is None else whole[:left]
        if left is not None:
            left -= len(piece)
        if behaviour.kind != "drip":
            if behaviour.delay and owner._closing.wait(behaviour.delay):
                return
            yield piece
            continue
        for i in range(len(piece)):
            if owner._closing.wait(behaviour.delay):
                return
            yield piece[i : i + 1]


Content = tuple[int, str, list[bytes], dict[str, str]]


def _content(owner: FaultServer, request: Request, behaviour: Behaviour) -> Content:
    """Status, content type, body in pieces, and headers of an answer."""
    kind = behaviour.kind
    if kind.isdigit():
        return int(kind), "application/json", [behaviour.body or b""], {}
    if kind == "empty":
        return 200, "application/json", [b""], {}
    if kind == "wrong-type":
        page = b"<!doctype html><title>Sign in</title><p>Please sign in to the network."
        return 200, "text/html", [behaviour.body or page], {}
    streamed = _wants_stream(request)
    if kind in {"garbage", "not-utf8"}:
        junk = b"\xff\xfe\x80 ;" if kind == "not-utf8" else b'{"choices": [{"mess'
        if behaviour.body is not None:
            junk = behaviour.body
        if streamed:
            return 200, "text/event-stream", [b"data: " + junk + b"\n\n", b"data: [DONE]\n\n"], {}
        return 200, "application/json", [junk], {}
    if behaviour.body is not None:
        return 200, "application/json", [behaviour.body], {}
    if kind == "empty-reply":
        behaviour = replace(behaviour, text="", chunks=())
    if request.path.endswith("/chat/completions"):
        if streamed:
            return 200, "text/event-stream", _events(request, behaviour), {}
        return 200, "application/json", [_completion(request, behaviour)], {}
    if request.path.endswith("/models") and request.path not in owner.files:
        listed = [{"id": m, "object": "model"} for m in owner.models]
        document = {"object": "list", "data": listed}
        return 200, "application/json", [json.dumps(document).encode()], {}
    return _file(owner, request)


def _file(owner: FaultServer, request: Request) -> Content:
    found = owner.files.get(request.path)
    if found is None:
        return 404, "text/plain", [b"not found"], {}
    content_type, body = found if isinstance(found, tuple) else ("application/octet-stream", found)
    data = body.encode() if isinstance(body, str) else body
    extra = {"ETag": f'"{zlib.crc32(data):08x}"', "Accept-Ranges": "bytes"}
    asked = request.headers.get("range", "")
    if asked.startswith("bytes=") and asked.removeprefix("bytes=").split("-")[0].isdigit():
        first, _, last = asked.removeprefix("bytes=").partition("-")
        start, end = int(first), min(int(last) if last else len(data) - 1, len(data) - 1)
        if start >= len(data):
            return 416, "text/plain", [b""], {"Content-Range": f"bytes */{len(data)}"}
        extra["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
        return 206, content_type, [data[start : end + 1]], extra
    return 200, content_type, [data], extra


def _wants_stream(request: Request) -> bool:
    with contextlib.suppress(ValueError, AttributeError):
        return bool(request.json.get("stream"))
    return False


def _model(request: Request, behaviour: Behaviour) -> str:
    with contextlib.suppress(ValueError, AttributeError):
        return behaviour.model or str(request.json.get("model", ""))
    return behaviour.model


def _usage(behaviour: Behaviour) -> dict[str, Any]:
    if behaviour.prompt_tokens is None:
        return {}
    prompt, completion = behaviour.prompt_tokens, max(1, len(behaviour.text) // 4)
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {"usage": {**tokens, "total_tokens": prompt + completion}}


def _completion(request: Request, behaviour: Behaviour) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": behaviour.text}
    if behaviour.reasoning:
        message["reasoning_content"] = behaviour.reasoning
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": _model(request, behaviour),
        "choices": [{"index": 0, "message": message, "finish_reason": behaviour.finish}],
        **_usage(behaviour),
    }
    return json.dumps(document, ensure_ascii=False).encode()


def _events(request: Request, behaviour: Behaviour) -> list[bytes]:
    """The server-sent events of a streamed completion, one list item each."""
    words = behaviour.chunks or tuple(behaviour.text.replace(" ", " \0").split("\0"))
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    if behaviour.reasoning:
        deltas.append({"reasoning_content": behaviour.reasoning})
    deltas += [{"content": word} for word in words if word]
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk"}
    head["model"] = _model(request, behaviour)
    documents: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    last = {"index": 0, "delta": {}, "finish_reason": behaviour.finish}
    documents.append({**head, "choices": [last]})
    usage = _usage(behaviour)
    if usage:
        documents.append({**head, "choices": [], **usage})
    events = [f"data: {json.dumps(d, ensure_ascii=False)}\n\n".encode() for d in documents]
    return [*events, b"data: [DONE]\n\n"] if behaviour.done else events
