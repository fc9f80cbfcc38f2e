"""``mcp``: the tools for agents, over the Model Context Protocol."""

from __future__ import annotations

import click

from infoforge.cli.console import Console


@click.command()
@click.pass_context
def mcp(ctx: click.Context) -> int:
    """Serve the tools ask, search and read over MCP, on standard input and output.

    For a client's configuration: {"command": "infoforge", "args": ["mcp"]}. Needs the extra
    infoforge[mcp]. What is exit code 3, 4 or 5 in the shell is an error result here.

    Example: infoforge mcp
    """
    from infoforge.agents.server import serve
    from infoforge.config.load import load

    Console.current("mcp", as_json=False)
    load(ctx.obj)  # a bad configuration is told at the start, not at the first question
    serve(lambda: load(ctx.obj))
    return 0
