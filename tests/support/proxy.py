"""A loopback proxy that notes each HTTP request on its way to a server, and changes nothing."""

from __future__ import annotations

import contextlib
import re
import socket
import threading

REQUEST = re.compile(rb"^(?:GET|HEAD|POST) (\S+) HTTP/1\.[01]\r$", re.MULTILINE)


class RecordingProxy:
    """Listens on a free loopback port and forwards every connection.

    Args:
        port: Port of the real server on 127.0.0.1.
    """

    def __init__(self, port: int) -> None:
        self.targets: list[str] = []
        """Path and query of every request, in order."""
        self._to = port
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = int(self._listener.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        # shutdown wakes the thread that is in accept; close alone would not.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def __enter__(self) -> RecordingProxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._to))
            for source, sink, note in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._pump, args=(source, sink, note), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, note: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if note:
                    found = [target.decode() for target in REQUEST.findall(data)]
                    with self._lock:
                        self.targets += found
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
        if not note:
            source.close()
            sink.close()
