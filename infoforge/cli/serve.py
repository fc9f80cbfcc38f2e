"""`serve`: the container that serves the ZIM files."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infoforge.cli.console import (
    Console,
    accept_option,
    json_option,
    printable,
    table,
    write,
)
from infoforge.contract import EXIT_FAILED

if TYPE_CHECKING:
    from infoforge.box.lifecycle import BoxStatus, StartResult
    from infoforge.box.podman import Podman
    from infoforge.config.settings import Settings


@click.group()
def serve() -> None:
    """Run kiwix-serve in its container and keep it healthy.

    Example: infoforge serve start
    """


def _parts(ctx: click.Context) -> tuple[Settings, Podman]:
    from infoforge.box.podman import Podman
    from infoforge.config.load import load

    return load(ctx.obj), Podman()


@serve.command()
@json_option
@click.pass_context
def start(ctx: click.Context, as_json: bool) -> int:
    """Start the container, unless it already serves the right books; heal what is broken.

    Returns when the books are in the server's catalog, or says why they are not.

    Example: infoforge serve start
    """
    return _start(ctx, "serve start", as_json, recreate=False)


@serve.command()
@json_option
@click.pass_context
def recreate(ctx: click.Context, as_json: bool) -> int:
    """Recreate the container, even if it is well.

    Example: infoforge serve recreate
    """
    return _start(ctx, "serve recreate", as_json, recreate=True)


def _start(ctx: click.Context, command: str, as_json: bool, *, recreate: bool) -> int:
    from infoforge.box import lifecycle

    console = Console.current(command, as_json=as_json)
    settings, podman = _parts(ctx)
    started = lifecycle.start(settings, podman, console.warn, recreate=recreate)
    return console.finish(_started_data(started), _started_text(started))


def _started_data(started: StartResult) -> dict[str, object]:
    prepared = started.prepared
    return {
        "changed": started.action == "created",
        "action": started.action,
        "reason": started.reason,
        "url": started.url,
        "seconds": started.seconds,
        "fingerprint": prepared.spec.fingerprint,
        "zims": {
            "served": list(started.books),
            "missing": list(started.missing),
            "left_out": [
                {"file": item.file, "reason": item.reason, "older": item.older}
                for item in prepared.selection.left_out
            ],
        },
        "choices": [
            {"what": choice.what, "value": choice.value, "reason": choice.reason}
            for choice in prepared.spec.choices
        ],
    }


def _started_text(started: StartResult) -> str:
    books = f"{len(started.books)} ZIM{'s' * (len(started.books) != 1)}"
    if started.action == "running":
        return f"already serving {books} at {started.url}"
    return f"serving {books} at {started.url} after {started.seconds:.1f} s ({started.reason})"


@serve.command()
@json_option
@click.pass_context
def stop(ctx: click.Context, as_json: bool) -> int:
    """Stop and remove the container; the ZIM files stay.

    Example: infoforge serve stop
    """
    from infoforge.box import lifecycle

    console = Console.current("serve stop", as_json=as_json)
    settings, podman = _parts(ctx)
    stopped = lifecycle.stop(settings, podman)
    return console.finish({"changed": stopped}, "stopped" if stopped else "it was not running")


@serve.command()
@json_option
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> int:
    """Show what runs, what it serves, and what was decided by what this machine can give.

    Exit code 0 when the box serves what it should, 1 when it does not.

    Example: infoforge serve status --json
    """
    from infoforge.box.lifecycle import box_status

    console = Console.current("serve status", as_json=as_json)
    found = box_status(*_parts(ctx))
    return console.finish(found.data(), _status_text(found), EXIT_FAILED if found.faults else 0)


def _status_text(found: BoxStatus) -> str:
    container, prepared = found.container, found.prepared
    rows = [("url", found.url)]
    if container is not None:
        words = [container.status, container.health, f"{container.restarts} restarts"]
        rows.append(("container", ", ".join(word for word in words if word)))
        rows.append(("image", container.image))
    rows += [("serves", file) for file in found.served]
    if prepared is not None:
        rows += [("left out", f"{i.file}: {i.reason}") for i in prepared.selection.left_out]
        rows += [(c.what, f"{c.value} ({c.reason})") for c in prepared.spec.choices]
        host = prepared.host
        mode = "rootless" if host.rootless else "as root"
        cgroups = f"cgroups {host.cgroup_version} by {host.cgroup_manager}"
        rows.append(("podman", f"{host.version_text}, {mode}, {cgroups}"))
    rows += [("FAULT", fault) for fault in found.faults]
    return table(rows)


@serve.command()
@click.option(
    "--tail",
    metavar="N",
    type=click.IntRange(0, 1_000_000),
    default=50,
    help="Lines from the end [default: 50].",
)
@click.option("--follow", "-f", is_flag=True, help="Go on printing what comes.")
@json_option
@click.pass_context
def logs(ctx: click.Context, tail: int, follow: bool, as_json: bool) -> int:
    """Show what kiwix-serve wrote.

    Example: infoforge serve logs --tail 20
    """
    from infoforge.contract import UsageError

    console = Console.current("serve logs", as_json=as_json)
    settings, podman = _parts(ctx)
    name = settings.box.container
    if follow:
        if as_json:
            raise UsageError("--follow never ends, so it makes no JSON document", "leave out one")
        arguments = [podman.program, "logs", f"--tail={tail}", "--follow", name]
        with subprocess.Popen(  # noqa: S603
            arguments, env=podman.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                write(sys.stdout, printable(line.decode("utf-8", "replace")) + "\n")
        return process.returncode
    from infoforge.box.podman import BoxError, complaint

    reply = podman.run("logs", f"--tail={tail}", name)
    if reply.code != 0:
        raise BoxError(f"no log of {name}: {complaint(reply)}", "infoforge serve status")
    lines = (reply.out + reply.err).splitlines()
    return console.finish({"lines": lines}, lines)


@serve.command()
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    """Print the podman line that `start` would run, to copy.

    Example: infoforge serve command
    """
    from infoforge.box.lifecycle import prepare

    console = Console.current("serve command", as_json=as_json)
    settings, podman = _parts(ctx)
    plan = prepare(settings, podman, need_image=False).spec
    line = ["podman", *plan.argv]
    data = {"argv": line, "fingerprint": plan.fingerprint}
    return console.finish(data, shlex.join(line))


@serve.command()
@accept_option
@json_option
@click.pass_context
def pull(ctx: click.Context, accept: bool, as_json: bool) -> int:
    """Fetch the container image from its registry (`start` never does).

    Example: infoforge serve pull
    """
    from infoforge.box import image
    from infoforge.box.image import image_data

    console = Console.current("serve pull", as_json=as_json)
    settings, podman = _parts(ctx)
    before = podman.inspect("image", settings.box.image)
    quiet = as_json or not sys.stderr.isatty()
    found = image_data(image.pull(settings.box, podman, quiet=quiet, accept=accept))
    changed = before is None or before.get("Id") != found["id"]
    text = f"{settings.box.image} is {'now' if changed else 'already'} on this machine"
    return console.finish({"changed": changed, "image": found}, text)


@serve.command()
@click.argument("archive", type=click.Path(path_type=Path))
@accept_option
@json_option
@click.pass_context
def load(ctx: click.Context, archive: Path, accept: bool, as_json: bool) -> int:
    """Take the container image from an archive that `podman save` wrote.

    Example: infoforge serve load kiwix-serve.tar
    """
    from infoforge.box import image
    from infoforge.box.image import image_data

    console = Console.current("serve load", as_json=as_json)
    settings, podman = _parts(ctx)
    before = podman.inspect("image", settings.box.image)
    found = image_data(image.load(settings.box, podman, archive, accept=accept))
    changed = before is None or before.get("Id") != found["id"]
    text = f"{settings.box.image} is {'now' if changed else 'already'} on this machine"
    return console.finish({"changed": changed, "image": found}, text)


@serve.command()
@json_option
@click.pass_context
def heal(ctx: click.Context, as_json: bool) -> int:
    """Have infoforge.service recreate the container, if it serves no books (a timer calls this).

    A box that was stopped on purpose stays stopped.

    Example: infoforge serve heal
    """
    from infoforge.box import lifecycle, systemd

    console = Console.current("serve heal", as_json=as_json)
    settings, podman = _parts(ctx)
    reason = lifecycle.unhealthy_reason(settings, podman)
    healed = bool(reason) and systemd.heal(podman.env, settings.box.start_timeout + 120)
    if healed:
        text = f"recreated, since {reason}"
        _tell_repair(settings, reason, console)
    else:
        text = f"{reason}; {systemd.UNIT_NAME} is not active" if reason else "serving"
    return console.finish({"changed": healed, "reason": reason}, text)


def _tell_repair(settings: Settings, reason: str, console: Console) -> None:
    """The box serves again whether or not the repair can be kept and told."""
    from infoforge.box.monitor import record_repair
    from infoforge.contract import InfoForgeError, WarningMessage

    try:
        record_repair(settings, reason, console.warn)
    except InfoForgeError as error:
        console.warn(WarningMessage("state_folder", error.message))


@serve.command("unit")
@click.argument("name", required=False)
@click.option(
    "--program", metavar="PATH", help="The infoforge that the unit calls [default: this one]."
)
@json_option
@click.pass_context
def show_unit(ctx: click.Context, name: str | None, program: str | None, as_json: bool) -> int:
    """Print a systemd user unit: infoforge.service starts the box at boot.

    The others are infoforge-heal.service and .timer, which bring it back when it serves nothing,
    and infoforge-doctor.service and .timer, which examine it and tell of changes.

    Example: infoforge serve unit > ~/.config/systemd/user/infoforge.service
    """
    from infoforge.box.systemd import UNIT_NAME, UNITS, own_command, unit_text
    from infoforge.config.load import load
    from infoforge.contract import UsageError

    console = Console.current("serve unit", as_json=as_json)
    name = name or UNIT_NAME
    if name not in UNITS:
        raise UsageError(f"there is no unit '{name}'", f"one of {', '.join(UNITS)}")
    line = own_command(ctx.obj)
    if program is not None:
        line = (str(Path(program).absolute()), *line[1:])
    text = unit_text(name, load(ctx.obj), line)
    return console.finish({"name": name, "text": text}, text)
