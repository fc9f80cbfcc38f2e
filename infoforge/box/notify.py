"""Tell people of a change, by the ways that are configured."""

from __future__ import annotations

import json
import shlex
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from infoforge.box.history import Event
from infoforge.box.podman import environment
from infoforge.config.settings import MonitorSettings
from infoforge.contract import InfoForgeError, Warn, WarningMessage

SECONDS = 20.0
"""How long one way may take."""


class NotTold(Exception):
    """A way could not be gone; one line."""


def ways(monitor: MonitorSettings) -> tuple[str, ...]:
    """The ways that are configured."""
    chosen = {
        "command": bool(monitor.command),
        "webhook": bool(monitor.webhook),
        "mail": bool(monitor.mail),
        "desktop": monitor.desktop,
        "wall": monitor.wall,
    }
    return tuple(way for way, wanted in chosen.items() if wanted)


def title(event: Event, host: str = "") -> str:
    """The message in one line."""
    where = host or socket.gethostname()
    count = len(event.failing)
    checks = f"{count} check{'s' * (count != 1)} fail{'s' * (count == 1)}"
    told = {
        "bad": checks,
        "better": f"better, {checks} still",
        "good": "all is well again",
        "healed": "it was repaired",
    }[event.kind]
    return f"infoforge on {where}: {told}"


def body(event: Event) -> str:
    """The message in full."""
    lines = [f"repaired: {sentence}" for sentence in event.healed]
    lines += [f"fails: {name}: {detail}" for name, detail in event.new.items()]
    lines += [f"over: {name}" for name in event.over]
    still = [name for name in event.failing if name not in event.new]
    if still:
        lines.append(f"still fails: {', '.join(still)}")
    if event.failing:
        lines.append("what to do: infoforge doctor")
    return "\n".join(lines)


def tell(monitor: MonitorSettings, event: Event, by: Sequence[str], warn: Warn) -> list[str]:
    """Tell an event.

    Args:
        monitor: The settings.
        event: The change.
        by: The ways to go, of `ways`.
        warn: Takes a warning for each that could not be gone.

    Returns:
        The ways that could not be gone.
    """
    failed = []
    for way in by:
        try:
            _WAYS[way](monitor, event)
        except NotTold as error:
            failed.append(way)
            warn(WarningMessage("not_notified", f"could not tell by {way}: {error}"))
    return failed


def _command(monitor: MonitorSettings, event: Event) -> None:
    try:
        line = shlex.split(monitor.command)
    except ValueError as error:
        raise NotTold(f"monitor.command: {error}") from error
    _run([str(Path(line[0]).expanduser()), *line[1:]], event, body(event))


def _mail(monitor: MonitorSettings, event: Event) -> None:
    program = shutil.which("sendmail") or "/usr/sbin/sendmail"
    message = f"To: {monitor.mail}\nSubject: {title(event)}\n"
    message += "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
    # -i: a line with a lone dot ends nothing. The address stands in the header alone.
    _run(
        [program, "-i", "-t"], event, f"{message}Content-Transfer-Encoding: 8bit\n\n{body(event)}\n"
    )


def _desktop(monitor: MonitorSettings, event: Event) -> None:
    urgency = "critical" if event.kind == "bad" else "normal"
    _run(["notify-send", f"--urgency={urgency}", "--", title(event), body(event)], event, "")


def _wall(monitor: MonitorSettings, event: Event) -> None:
    _run(["wall"], event, f"{title(event)}\n{body(event)}\n")


def _run(line: Sequence[str], event: Event, stdin: str) -> None:
    """Run a program of this machine; whatever keeps it from ending well is one line."""
    # The desktop's bus is found where Podman's is: in the user's runtime folder.
    env = environment() | {"INFOFORGE_EVENT": event.kind, "INFOFORGE_TITLE": title(event)}
    try:
        done = subprocess.run(  # noqa: S603
            list(line),
            input=stdin.encode("utf-8", "replace"),
            capture_output=True,
            env=env,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotTold(f"{line[0]} did not end within {SECONDS:g} s") from None
    except OSError as error:
        raise NotTold(f"{line[0]}: {error.strerror or error}") from error
    if done.returncode != 0:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        raise NotTold(f"{line[0]} ended with {done.returncode}{': ' * bool(said)}{said}")


def _webhook(monitor: MonitorSettings, event: Event) -> None:
    from infoforge import net
    from infoforge.privacy import check_private

    what = "monitor.webhook"
    text = body(event)
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    if monitor.webhook_format == "json":
        headers = {"Content-Type": "application/json"}
        data = {"title": title(event), "message": text, "host": socket.gethostname()}
        payload = json.dumps({**data, "event": event.data()}, ensure_ascii=False)
    else:
        # The names that ntfy reads; others take them for what they are. Headers are ASCII.
        bad = event.kind == "bad"
        headers["Title"] = title(event).encode("ascii", "replace").decode()
        headers["Priority"] = "high" if bad else "default"
        headers["Tags"] = "warning" if bad else "white_check_mark"
        payload = text
    try:
        check_private(monitor.webhook, monitor.allow_public, what)
        with (
            net.private_session(monitor.allow_public, what) as session,
            net.stream(
                session,
                "POST",
                monitor.webhook,
                total=SECONDS,
                limit=0,
                data=payload.encode("utf-8", "replace"),
                headers=headers,
                allow_redirects=False,
            ) as reply,
        ):
            status = reply.status
    except InfoForgeError as error:
        raise NotTold(f"{error.message} ({error.hint})") from error
    except net.NetworkError as error:
        raise NotTold(f"the server does not answer ({error.message})") from error
    if not 200 <= status < 300:
        raise NotTold(f"the server answered HTTP {status}")


_WAYS: Mapping[str, Callable[[MonitorSettings, Event], None]] = {
    "command": _command,
    "webhook": _webhook,
    "mail": _mail,
    "desktop": _desktop,
    "wall": _wall,
}
