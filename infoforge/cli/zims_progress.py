"""How far a long piece of work is: a bar on a terminal, a line a minute, or JSON events."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
import time
from collections import deque

from infoforge.cli.console import Console, printable
from infoforge.contract import WarningMessage
from infoforge.text.mask import mask_document, mask_urls
from infoforge.zims.events import Event
from infoforge.zims.units import show_duration, show_size

_BAR_EVERY = 0.2
_JSON_EVERY = 2.0
_LINE_EVERY = 60.0
_SPEED_WINDOW = 20.0
_WORK = {"progress", "verify"}


class Progress:
    """Shows events on stderr; stdout stays for the answer.

    Args:
        console: The console of this run.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._terminal = sys.stderr.isatty() and not console.as_json
        every = _JSON_EVERY if console.as_json else _LINE_EVERY
        self._every = _BAR_EVERY if self._terminal else every
        self._key = ("", "")
        self._seen: deque[tuple[float, int]] = deque()
        self._shown = 0.0
        self._bar = False

    def report(self, event: Event) -> None:
        """Take one event."""
        if event.kind not in _WORK:
            self._news(event)
            return
        now = time.monotonic()
        if self._key != (event.kind, event.file):
            self._key, self._seen = (event.kind, event.file), deque()
            # The first line of a long wait comes after one interval, a bar at once.
            self._shown = now - (self._every if self._terminal else 0)
        self._seen.append((now, event.done))
        while now - self._seen[0][0] > _SPEED_WINDOW:
            self._seen.popleft()
        if now - self._shown >= self._every:
            self._shown = now
            self._show(event)

    def warn(self, warning: WarningMessage) -> None:
        """Tell a warning without writing into the bar."""
        self.clear()
        self._console.warn(warning)

    def clear(self) -> None:
        """Take the bar off the terminal."""
        if self._bar:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._bar = False

    def _news(self, event: Event) -> None:
        if self._console.as_json:
            self._json(event)
            return
        self.clear()
        words = [event.file, event.message]
        if event.kind == "start" and event.total:
            words = [event.message, event.file, f"({show_size(event.total)})"]
            if event.done:
                words.append(f"from {show_size(event.done)} on")
        elif event.kind == "retry":
            words = [f"{event.url}: {event.message}"]
        elif event.url:
            words = [event.file + ":", event.message, event.url]
        self._console.note(" ".join(word for word in words if word))

    def _speed(self) -> float:
        (start, first), (end, last) = self._seen[0], self._seen[-1]
        return max(0.0, (last - first) / (end - start)) if end > start else 0.0

    def _show(self, event: Event) -> None:
        if self._console.as_json:
            self._json(event)
            return
        speed = self._speed()
        share = event.done / event.total if event.total else 0.0
        figures = f"{share:4.0%}  {show_size(event.done)} of {show_size(event.total)}"
        if speed:
            left = show_duration((event.total - event.done) / speed)
            figures += f"  {show_size(speed)}/s  {left} left"
        verb = "verifying " if event.kind == "verify" else ""
        if not self._terminal:
            self._console.note(f"{verb}{event.file}: {figures.strip().replace('  ', ', ')}")
            return
        width = shutil.get_terminal_size().columns
        name = printable(verb + event.file)
        room = width - len(figures) - 4
        bar = ""
        if room > 30:
            cells = min(30, room // 3)
            bar = "[" + ("#" * round(share * cells)).ljust(cells, ".") + "] "
        name = name[: max(8, room - len(bar))]
        sys.stderr.write(f"\r\x1b[K{f'{name} {bar}{figures}'[: width - 1]}")
        sys.stderr.flush()
        self._bar = True

    def _json(self, event: Event) -> None:
        data = {"event": event.kind, **dataclasses.asdict(event)}
        del data["kind"]
        data["url"] = mask_urls(event.url)
        if event.kind in _WORK:
            data["speed"] = round(self._speed())
        print(json.dumps(mask_document(data)), file=sys.stderr, flush=True)
