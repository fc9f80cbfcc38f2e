"""`config`: write, show and check the configuration."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infoforge.cli.console import Console, json_option, printable, table, write
from infoforge.contract import ConfigError

if TYPE_CHECKING:
    from infoforge.config.discover import Discovered
    from infoforge.config.explain import Explanation, Value


@click.group()
def config() -> None:
    """Write, show and check the configuration.

    Example: infoforge config init
    """


@config.command()
@click.option("--path", metavar="FILE", help="Where to write it [default: the file in use].")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@json_option
@click.pass_context
def init(ctx: click.Context, path: str | None, force: bool, as_json: bool) -> int:
    """Write a commented configuration of what this machine has.

    Looks for ZIM files in the usual folders, and for model servers and kiwix-serve on the usual
    ports of this machine.

    Example: infoforge config init --path ./infoforge.yaml
    """
    from infoforge.config.discover import discover
    from infoforge.config.edit import write_file
    from infoforge.config.locate import default_path, expand
    from infoforge.config.template import chosen, render

    console = Console.current("config init", as_json=as_json)
    named = path or ctx.obj
    file = expand(named, Path.cwd()) if named else default_path()
    if file.exists() and not force:
        raise ConfigError(f"{file} is there already", "overwrite it with --force")
    found = discover()
    data = chosen(found)
    write_file(file, render(data, _remarks(found)), mode=0o600)
    return console.finish(
        {"path": str(file), "found": _found_data(found), "config": data}, _told(found, file)
    )


@config.command()
@json_option
@click.pass_context
def show(ctx: click.Context, as_json: bool) -> int:
    """Show every effective value and where it comes from.

    Example: infoforge config show
    """
    from infoforge.config.explain import explain, yaml_text

    console = Console.current("config show", as_json=as_json)
    explained = explain(ctx.obj)
    origin = _origin(ctx, explained)
    file = explained.location.path
    head = f"{file} ({origin})" if explained.location.exists else f"no file ({file} is not there)"
    rows = [
        (value.key, printable(yaml_text(value.value)), _from(value, file))
        for value in explained.values
    ]
    data = {
        "file": str(file) if explained.location.exists else None,
        "origin": origin,
        "values": [
            {
                "key": value.key,
                "value": value.value,
                "origin": "file" if value.line else "default",
                "line": value.line or None,
            }
            for value in explained.values
        ],
    }
    return console.finish(data, f"configuration: {head}\n{table(rows)}")


@config.command()
@json_option
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> int:
    """Check the file, the folders, the keys and that nothing leaves the house.

    Example: infoforge --config ./infoforge.yaml config check
    """
    from infoforge.config.check import check as look
    from infoforge.config.explain import explain, read_document
    from infoforge.config.locate import locate
    from infoforge.config.validate import problems

    console = Console.current("config check", as_json=as_json)
    location = locate(ctx.obj)
    document = read_document(location.path) if location.exists else None
    found = list(problems(document)) if document is not None else []
    if not found:
        explained = explain(ctx.obj)
        found = list(look(explained.settings, console.warn))
    file = location.path
    name = str(file) if location.exists else "built-in defaults"
    lines = document.lines if document is not None else {}
    if not found:
        return console.finish({"file": name, "problems": []}, f"{name}: all checks passed")
    listed = [
        {
            "key": problem.key,
            "line": problem.line(lines) or None,
            "message": problem.message,
            "hint": problem.hint,
        }
        for problem in found
    ]
    if not as_json:
        for problem in found:
            hint = f" ({problem.hint})" if problem.hint else ""
            write(sys.stdout, printable(problem.text(Path(name), lines) + hint) + "\n")
    raise ConfigError(
        f"{name}: {len(found)} problem(s)",
        "each is described above" if not as_json else "see data.problems",
        data={"file": name, "problems": listed},
    )


def _origin(ctx: click.Context, explained: Explanation) -> str:
    """``--config`` or ``env``: Click gives both as one parameter."""
    from click.core import ParameterSource

    if explained.location.origin == "default":
        return "default"
    source = ctx.find_root().get_parameter_source("config_path")
    return "env" if source is ParameterSource.ENVIRONMENT else "--config"


def _from(value: Value, file: Path) -> str:
    return f"{file.name}:{value.line}" if value.line else "default"


def _remarks(found: Discovered) -> dict[str, list[str]]:
    remarks: dict[str, list[str]] = {}
    for number, server in enumerate(found.servers):
        models = ", ".join(server.models[:12]) or "none"
        remarks[f"endpoints[{number}]"] = [f"Models listed when this was written: {models}"]
    if not found.servers:
        remarks["endpoints[0]"] = [
            "No model server was found: answers are quoted from the articles."
            " Put a server above this, and keep this as what is asked when it is down."
        ]
    return remarks


def _found_data(found: Discovered) -> dict[str, Any]:
    return {
        "zims": [{"folder": str(f.path), "files": list(f.files)} for f in found.folders],
        "endpoints": [
            {"name": s.name, "url": s.url, "models": list(s.models)} for s in found.servers
        ],
        "kiwix": found.kiwix_url or None,
    }


def _told(found: Discovered, file: Path) -> str:
    lines = []
    for number, folder in enumerate(found.folders):
        used = "" if number == 0 else "  (not used: set zims.folder)"
        lines.append(f"ZIM files: {len(folder.files)} in {folder.path}{used}")
    if not found.folders:
        lines.append("ZIM files: none in the usual folders (infoforge zims pull NAME fetches one)")
    for server in found.servers:
        lines.append(f"model server: {server.name} at {server.url}, {len(server.models)} model(s)")
    if not found.servers:
        lines.append("model server: none on the usual ports; answers will be quotes (kind: quote)")
    lines.append(f"kiwix-serve: {found.kiwix_url or 'none; the ZIM files are opened directly'}")
    lines.append(f"written: {file}")
    lines.append("next: infoforge config check, then infoforge doctor")
    return "\n".join(printable(line) for line in lines)
