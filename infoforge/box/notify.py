"""Notify people of a change, through the channels that are configured."""

from __future__ import annotations

import json
import shlex
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from infoforge.box.podman import environment
from infoforge.config.settings import MonitorSettings
from infoforge.contract import InfoForgeError, Warn, WarningMessage
from infoforge.text.mask import MASK, mask_urls, secrets_of

SECONDS = 20.0
"""How long one channel may take."""


@dataclass(frozen=True, slots=True)
class StateChange:
    """A change of the box's state.

    Attributes:
        time: When it was seen: ISO text in UTC.
        kind: ``bad`` (something new fails), ``better`` (something is over, not all), ``good`` (all
            is over) or ``healed`` (a repair was made, and nothing fails any longer).
        failing: Names of all checks that fail now.
        new: Detail of each check that fails since this run, by name.
        over: Names of the checks that no longer fail.
        healed: What was repaired, a sentence each.
    """

    time: str
    kind: str
    failing: tuple[str, ...] = ()
    new: Mapping[str, str] = field(default_factory=dict)
    over: tuple[str, ...] = ()
    healed: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """The JSON form."""
        return {**asdict(self), "new": dict(self.new)}


class NotificationError(Exception):
    """A channel failed; one line."""


def channels(monitor: MonitorSettings) -> tuple[str, ...]:
    """The channels that are configured."""
    chosen = {
        "command": bool(monitor.command),
        "webhook": bool(monitor.webhook),
        "mail": bool(monitor.mail),
        "desktop": monitor.desktop,
        "wall": monitor.wall,
    }
    return tuple(channel for channel, wanted in chosen.items() if wanted)


def title(change: StateChange, host: str = "") -> str:
    """The message in one line."""
    where = host or socket.gethostname()
    count = len(change.failing)
    checks = f"{count} check{'s' * (count != 1)} fail{'s' * (count == 1)}"
    told = {
        "bad": checks,
        "better": f"better, {checks} still",
        "good": "all is well again",
        "healed": "it was repaired",
    }[change.kind]
    return f"infoforge on {where}: {told}"


def body(change: StateChange) -> str:
    """The message in full."""
    lines = [f"repaired: {sentence}" for sentence in change.healed]
    lines += [f"fails: {name}: {detail}" for name, detail in change.new.items()]
    lines += [f"over: {name}" for name in change.over]
    still = [name for name in change.failing if name not in change.new]
    if still:
        lines.append(f"still fails: {', '.join(still)}")
    if change.failing:
        lines.append("what to do: infoforge doctor")
    return "\n".join(lines)


def notify(
    monitor: MonitorSettings, change: StateChange, by: Sequence[str], warn: Warn
) -> list[str]:
    """Send a change through channels.

    Args:
        monitor: The settings.
        change: The change.
        by: The channels, of `channels`.
        warn: Takes a warning for each that failed.

    Returns:
        The channels that failed.
    """
    failed = []
    for channel in by:
        try:
            _CHANNELS[channel](monitor, change)
        except Exception as error:  # whatever it is, the other channels must be tried
            failed.append(channel)
            reason = str(error) if isinstance(error, NotificationError) else type(error).__name__
            warn(WarningMessage("not_notified", f"could not notify by {channel}: {reason}"))
    return failed


def _command(monitor: MonitorSettings, change: StateChange) -> None:
    try:
        line = shlex.split(monitor.command)
    except ValueError as error:
        raise NotificationError(f"monitor.command: {error}") from error
    if not line:
        raise NotificationError("monitor.command is blank")
    try:
        _run([str(Path(line[0]).expanduser()), *line[1:]], change, body(change))
    except (NotificationError, RuntimeError) as error:
        # What a program says of its failure often holds the address or the token it was given.
        said = str(error)
        for secret in secrets_of(monitor.command):
            said = said.replace(secret, MASK)
        raise NotificationError(mask_urls(said, path=True)) from error


def _mail(monitor: MonitorSettings, change: StateChange) -> None:
    program = shutil.which("sendmail") or "/usr/sbin/sendmail"
    message = f"To: {monitor.mail}\nSubject: {title(change)}\n"
    message += "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
    # -i: a line with a lone dot ends nothing. The address stands in the header alone.
    _run(
        [program, "-i", "-t"],
        change,
        f"{message}Content-Transfer-Encoding: 8bit\n\n{body(change)}\n",
    )


def _desktop(monitor: MonitorSettings, change: StateChange) -> None:
    urgency = "critical" if change.kind == "bad" else "normal"
    _run(["notify-send", f"--urgency={urgency}", "--", title(change), body(change)], change, "")


def _wall(monitor: MonitorSettings, change: StateChange) -> None:
    _run(["wall"], change, f"{title(change)}\n{body(change)}\n")


def _run(line: Sequence[str], change: StateChange, stdin: str) -> None:
    """Run a program of this machine; whatever keeps it from ending well is one line."""
    # The desktop's bus is found where Podman's is: in the user's runtime folder.
    env = environment() | {"INFOFORGE_EVENT": change.kind, "INFOFORGE_TITLE": title(change)}
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
        raise NotificationError(f"{line[0]} did not end within {SECONDS:g} s") from None
    except OSError as error:
        raise NotificationError(f"{line[0]}: {error.strerror or error}") from error
    if done.returncode != 0:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:200]
        raise NotificationError(f"{line[0]} ended with {done.returncode}{': ' * bool(said)}{said}")


def _webhook(monitor: MonitorSettings, change: StateChange) -> None:
    from infoforge import net
    from infoforge.privacy import check_private

    what = "monitor.webhook"
    text = body(change)
    headers = {"Content-Type": "text/plain; charset=utf-8"}
    if monitor.webhook_format == "json":
        headers = {"Content-Type": "application/json"}
        data = {"title": title(change), "message": text, "host": socket.gethostname()}
        payload = json.dumps({**data, "event": change.data()}, ensure_ascii=False)
    else:
        # The names that ntfy reads; others take them for what they are. Headers are ASCII.
        bad = change.kind == "bad"
        headers["Title"] = title(change).encode("ascii", "replace").decode()
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
        raise NotificationError(f"{error.message} ({error.hint})") from error
    except net.NetworkError as error:
        raise NotificationError(f"the server does not answer ({error.message})") from error
    if not 200 <= status < 300:
        raise NotificationError(f"the server answered HTTP {status}")


_CHANNELS: Mapping[str, Callable[[MonitorSettings, StateChange], None]] = {
    "command": _command,
    "webhook": _webhook,
    "mail": _mail,
    "desktop": _desktop,
    "wall": _wall,
}


def read_change(data: Any) -> StateChange | None:  # noqa: ANN401 - from a file
    """A change from its JSON form; ``None`` when it is none."""
    try:
        return StateChange(
            time=str(data["time"]),
            kind=str(data["kind"]),
            failing=tuple(data["failing"]),
            new=dict(data["new"]),
            over=tuple(data["over"]),
            healed=tuple(data["healed"]),
        )
    except (KeyError, TypeError, ValueError):
        return None
