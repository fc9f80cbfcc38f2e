"""One HTTP exchange with a model server, with a limit for each kind of waiting.

The request runs in a thread of its own and hands over what it reads. `requests` alone can bound
neither the name look-up, nor a server that trickles, nor the whole; a queue can.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from infoforge.config.settings import EndpointSettings
from infoforge.contract import ConfigError, Warn

if TYPE_CHECKING:
    import requests

MAX_BODY = 8 * 1024 * 1024
"""Bytes of one reply that are read; no answer is that long, a broken server may be."""
MAX_LINE = 1024 * 1024
_MAX_ERROR = 64 * 1024
_AT_ONCE = 16 * 1024


class Fault(Exception):
    """An endpoint could not answer.

    Args:
        code: Stable code for programs (``endpoint_refused`` ...).
        message: What happened, without the endpoint's name.
        hint: What to do about it.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint


class Exchange:
    """One request and its reply. Use as a context manager: leaving it hangs up.

    Args:
        endpoint: Whom to ask; its timeouts hold.
        method: ``GET`` or ``POST``.
        path: Path below the endpoint's URL.
        payload: JSON body, if any.
        total: Seconds for the whole exchange; the endpoint's own when not given.
        root: Ask below the server's root instead of below ``/v1``.
    """

    def __init__(
        self,
        endpoint: EndpointSettings,
        method: str,
        path: str,
        payload: Mapping[str, Any] | None = None,
        *,
        total: float | None = None,
        root: bool = False,
    ) -> None:
        self._endpoint = endpoint
        self._method = method
        base = endpoint.url.strip().rstrip("/")
        self._url = (base.removesuffix("/v1") if root else base) + path
        self._body = None if payload is None else json.dumps(payload).encode()
        self._headers = _headers(endpoint, self._body is not None)
        self._queue: queue.Queue[tuple[str, Any]] = queue.Queue(maxsize=64)
        self._gone = threading.Event()
        self._response: requests.Response | None = None
        self._started = time.monotonic()
        self._end = self._started + (endpoint.timeouts.total if total is None else total)
        self.status = 0
        self.content_type = ""
        self.location = ""
        self.raw = ""
        """The body of an error as it came, once ``error_text`` was called."""

    def __enter__(self) -> Exchange:
        """Send the request and wait for the head of the reply.

        Raises:
            Fault: No connection, or no reply in time.
        """
        threading.Thread(target=self._run, name="infoforge-model", daemon=True).start()
        times = self._endpoint.timeouts
        try:
            # Twice the time to connect: a name may have an address of each family.
            self._response = self._next(2 * times.connect + times.first_byte, "first byte")
        except BaseException:
            self._gone.set()
            raise
        self.status = self._response.status_code
        self.content_type = self._response.headers.get("Content-Type", "").lower()
        self.location = self._response.headers.get("Location", "")
        return self

    def __exit__(self, *_: object) -> None:
        """Hang up, so that the server stops working for nobody."""
        self._gone.set()
        shutdown = getattr(getattr(self._response, "raw", None), "shutdown", None)
        if shutdown is not None:
            import contextlib

            # Wakes the reading thread, which then closes the connection. Where it cannot be done
            # (already closed, old urllib3) the thread's own timeout ends it.
            with contextlib.suppress(Exception):
                shutdown()

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes.

        Raises:
            Fault: It stopped coming, broke off, or is far too long.
        """
        times = self._endpoint.timeouts
        # Some servers send the head at once and the first word minutes later.
        elapsed = time.monotonic() - self._started
        limit, what = max(times.first_byte - elapsed, 0.0) + times.connect, "first byte"
        size = 0
        while True:
            data = self._next(limit, what)
            if data is None:
                return
            size += len(data)
            if size > MAX_BODY:
                raise Fault("endpoint_too_large", f"sent more than {MAX_BODY} bytes")
            yield data
            limit, what = times.idle, "next byte"

    def body(self, most: int = MAX_BODY) -> bytes:
        """The whole body, at most ``most`` bytes of it."""
        parts: list[bytes] = []
        size = 0
        for data in self.chunks():
            parts.append(data)
            size += len(data)
            if size >= most:
                break
        return b"".join(parts)[:most]

    def error_text(self) -> str:
        """What the server says of an error, as one line of text; empty when it says nothing."""
        try:
            self.raw = self.body(_MAX_ERROR).decode("utf-8", "replace")
        except Fault:
            return ""
        return error_message(self.raw)

    def _next(self, limit: float, what: str) -> Any:  # noqa: ANN401 - what a queue holds
        left = self._end - time.monotonic()
        try:
            kind, value = self._queue.get(timeout=max(0.001, min(limit, left)))
        except queue.Empty:
            seconds = limit
            if left < limit:
                seconds, what = self._end - self._started, "whole answer"
            raise Fault(
                "endpoint_timeout",
                f"timed out: waited {seconds:.3g} s for the {what}",
                f"raise timeouts.{_TIMEOUT_KEYS[what]}, or use a smaller model or fewer --sources",
            ) from None
        if kind == "fault":
            raise value
        return value

    def _put(self, kind: str, value: object) -> None:
        while not self._gone.is_set():
            try:
                self._queue.put((kind, value), timeout=0.2)
            except queue.Full:
                continue
            return

    def _run(self) -> None:
        """The thread: send, read, hand over; every end of it is handed over too."""
        from infoforge.config.privacy import private_session

        times = self._endpoint.timeouts
        what = f"endpoint {self._endpoint.name}"
        try:
            with (
                private_session(self._endpoint.allow_public, what) as session,
                session.request(
                    self._method,
                    self._url,
                    data=self._body,
                    headers=self._headers,
                    stream=True,
                    allow_redirects=False,
                    timeout=(times.connect, times.first_byte),
                ) as response,
            ):
                self._put("head", response)
                if self._gone.is_set():
                    return
                for data in _read(response):
                    self._put("data", data)
                    if self._gone.is_set():
                        return
            self._put("data", None)
        except ConfigError as error:
            # The address turned out to be public: that is for the config to settle.
            self._put("fault", error)
        except Exception as error:
            self._put("fault", _fault(error, self._endpoint))


_TIMEOUT_KEYS = {"first byte": "first_byte", "next byte": "idle", "whole answer": "total"}


def _read(response: requests.Response) -> Iterator[bytes]:
    """Bytes as soon as they are there (``iter_content`` waits for full blocks)."""
    read1 = getattr(response.raw, "read1", None)
    if read1 is None:
        yield from response.iter_content(1)
        return
    while data := read1(_AT_ONCE, decode_content=True):
        yield data


def _headers(endpoint: EndpointSettings, has_body: bool) -> dict[str, str]:
    headers = {"Accept": "text/event-stream, application/json", "Accept-Encoding": "identity"}
    if has_body:
        headers["Content-Type"] = "application/json"
    if key := key_of(endpoint):
        headers["Authorization"] = f"Bearer {key}"
    return headers


def key_of(endpoint: EndpointSettings, warn: Warn | None = None) -> str:
    """The endpoint's API key; empty when it has none.

    Raises:
        Fault: One is configured and cannot be read.
    """
    from infoforge.config.keys import api_key

    try:
        return api_key(endpoint, warn) or ""
    except ConfigError as error:
        raise Fault("endpoint_auth", error.message, error.hint) from None


_CONNECTION = (
    ("refused", "refused the connection"),
    ("resolve", "its host name cannot be resolved"),
    ("Name or service", "its host name cannot be resolved"),
    ("unreachable", "the network is unreachable"),
    ("No route", "there is no route to the host"),
    ("BadStatusLine", "does not speak HTTP"),
)


def _fault(error: Exception, endpoint: EndpointSettings) -> Fault:
    """Say in one's own words what `requests` ran into; its own may hold a header, and so a key."""
    import requests

    text = str(error)
    times = endpoint.timeouts
    kind = type(error).__name__
    code, message, hint = "endpoint_cut", f"broke off in the middle of its reply ({kind})", ""
    if isinstance(error, requests.ConnectTimeout):
        code, message = "endpoint_timeout", f"timed out: no connection within {times.connect:.3g} s"
        hint = "is the machine on, and the port open?"
    elif isinstance(error, requests.Timeout) or "timed out" in text:
        code = "endpoint_timeout"
        message = f"timed out: waited {times.first_byte:.3g} s for the first byte"
        hint = "raise timeouts.first_byte, or use a smaller model"
    elif isinstance(error, requests.exceptions.SSLError):
        code, message, hint = "endpoint_refused", "TLS failed", "is the url http:// or https://?"
    elif isinstance(error, requests.ConnectionError):
        found = next((says for sign, says in _CONNECTION if sign in text), "")
        code = "endpoint_refused" if found else "endpoint_cut"
        message = found or "closed the connection without a whole reply"
        hint = "is the server running at this url?"
    elif isinstance(error, ValueError):
        code, message = "endpoint_refused", f"cannot be asked ({kind})"
        hint = "check the endpoint's url"
    return Fault(code, message, hint)


def error_message(body: str) -> str:
    """The sentence in an error body, whatever the server's form of it."""
    text = body
    try:
        found: Any = json.loads(body)
    except ValueError:
        pass
    else:
        # {"error": {"message": ...}}, {"error": "..."}, {"message": ...}, {"detail": [...]}
        for key in ("error", "message", "detail", "msg"):
            while isinstance(found, list) and found:
                found = found[0]
            if isinstance(found, dict) and found.get(key):
                found = found[key]
        text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    if text.lstrip()[:1] == "<":
        # A page of HTML says nothing that fits a line.
        return ""
    text = " ".join(text.split())
    return text if len(text) <= 300 else text[:299] + "…"


def get_json(endpoint: EndpointSettings, path: str, *, total: float, root: bool = False) -> Any:  # noqa: ANN401 - JSON
    """GET a JSON document.

    Raises:
        Fault: There is none to be had.
    """
    with Exchange(endpoint, "GET", path, total=total, root=root) as reply:
        if reply.status in (401, 403):
            raise Fault("endpoint_auth", f"HTTP {reply.status} for {path}", "check the API key")
        if reply.status != 200:
            raise Fault("endpoint_http", f"HTTP {reply.status} for {path}")
        try:
            return json.loads(reply.body())
        except ValueError:
            raise Fault("endpoint_not_json", f"{path} is not JSON") from None


def models(endpoint: EndpointSettings, *, total: float = 10.0) -> tuple[dict[str, Any], ...]:
    """The models that a server lists, as it describes them (``id`` is their name).

    Raises:
        Fault: It lists none.
    """
    found = get_json(endpoint, "/models", total=total)
    rows = found.get("data") if isinstance(found, dict) else found
    if not isinstance(rows, list):
        raise Fault("endpoint_not_json", "/models is no list of models")
    return tuple(row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str))


def lines(chunks: Iterator[bytes]) -> Iterator[tuple[str, bool]]:
    """Bytes as lines of UTF-8 text.

    Yields:
        A line without its end, and whether it had one: the last of a broken stream has not.
    """
    rest = b""
    for chunk in chunks:
        *ended, rest = (rest + chunk).split(b"\n")
        if len(rest) > MAX_LINE:
            raise Fault("endpoint_too_large", f"sent a line of more than {MAX_LINE} bytes")
        for line in ended:
            yield line.decode("utf-8", "replace").rstrip("\r"), True
    if rest:
        yield rest.decode("utf-8", "replace").rstrip("\r"), False
