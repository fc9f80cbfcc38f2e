"""One HTTP exchange with a model server, with a limit for each kind of waiting."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from infoforge import net
from infoforge.config.settings import EndpointSettings
from infoforge.contract import ConfigError, Warn
from infoforge.text.parse import from_json

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
        self._open = ExitStack()
        self._reply: net.Stream | None = None
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
            ConfigError: The address turned out to be public.
        """
        times = self._endpoint.timeouts
        # Twice the time to connect: a name may have an address of each family.
        limit = 2 * times.connect + times.first_byte
        try:
            session = self._open.enter_context(
                net.private_session(self._endpoint.allow_public, f"endpoint {self._endpoint.name}")
            )
            reply = self._open.enter_context(
                net.stream(
                    session,
                    self._method,
                    self._url,
                    total=max(0.001, self._end - time.monotonic()),
                    limit=MAX_BODY,
                    head=limit,
                    connect=times.connect,
                    idle=times.first_byte,
                    data=self._body,
                    headers=self._headers,
                    allow_redirects=False,
                )
            )
        except net.NetworkError as error:
            self._open.close()
            raise self._fault(error, limit, "first byte") from None
        except BaseException:
            self._open.close()
            raise
        self._reply = reply
        self.status = reply.status
        self.content_type = reply.headers.get("Content-Type", "").lower()
        self.location = reply.headers.get("Location", "")
        return self

    def __exit__(self, *_: object) -> None:
        """Hang up, so that the server stops working for nobody."""
        self._open.close()

    def chunks(self) -> Iterator[bytes]:
        """The body as it comes.

        Raises:
            Fault: It stopped coming, broke off, or is far too long.
        """
        times = self._endpoint.timeouts
        # Some servers send the head at once and the first word minutes later.
        elapsed = time.monotonic() - self._started
        limit, what = max(times.first_byte - elapsed, 0.0) + times.connect, "first byte"
        assert self._reply is not None
        while True:
            try:
                data = self._reply.read(_AT_ONCE, seconds=limit)
            except net.NetworkError as error:
                raise self._fault(error, limit, what) from None
            if not data:
                return
            yield data
            limit, what = times.idle, "next byte"

    def body(self, most: int = MAX_BODY) -> bytes:
        """The whole body, at most ``most`` bytes of it."""
        parts: list[bytes] = []
        size = 0
        for data in self.chunks():
            parts.append(data)
            size += len(data)
            # Not at ``most`` itself: what comes next says whether the body is whole or too large.
            if size > most:
                break
        return b"".join(parts)[:most]

    def error_text(self) -> str:
        """What the server says of an error, as one line of text; empty when it says nothing."""
        try:
            self.raw = self.body(_MAX_ERROR).decode("utf-8", "replace")
        except Fault:
            return ""
        return error_message(self.raw)

    def _fault(self, error: net.NetworkError, limit: float, what: str) -> Fault:
        """What happened, in the endpoint's terms: a timeout names the setting that bounds it."""
        if error.kind == "too_large":
            return Fault("endpoint_too_large", f"sent more than {MAX_BODY} bytes")
        if error.kind != "timeout":
            return _fault(error, self._endpoint)
        seconds = limit
        if time.monotonic() >= self._end:
            seconds, what = self._end - self._started, "whole answer"
        return Fault(
            "endpoint_timeout",
            f"timed out: waited {seconds:.3g} s for the {what}",
            f"raise timeouts.{_TIMEOUT_KEYS[what]}, or use a smaller model or fewer --sources",
        )


_TIMEOUT_KEYS = {"first byte": "first_byte", "next byte": "idle", "whole answer": "total"}


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


_REFUSED = {
    "refused": "refused the connection",
    "resolve": "its host name cannot be resolved",
    "unreachable": "the network is unreachable",
    "not_http": "does not speak HTTP",
    "tls": "TLS failed",
    "address": "cannot be asked: its url is none",
}
"""Kinds of network errors that mean that there is no such server, in words."""
_HINTS = {"tls": "is the url http:// or https://?", "address": "check the endpoint's url"}


def _fault(error: net.NetworkError, endpoint: EndpointSettings) -> Fault:
    if error.kind == "connect_timeout":
        return Fault(
            "endpoint_timeout",
            f"timed out: no connection within {endpoint.timeouts.connect:.3g} s",
            "is the machine on, and the port open?",
        )
    found = _REFUSED.get(error.kind, "")
    return Fault(
        "endpoint_refused" if found else "endpoint_cut",
        found or "closed the connection without a whole reply",
        _HINTS.get(error.kind, "is the server running at this url?"),
    )


def error_message(body: str) -> str:
    """The sentence in an error body, whatever the server's form of it."""
    text = body
    try:
        found: Any = from_json(body)
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
            return from_json(reply.body())
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
