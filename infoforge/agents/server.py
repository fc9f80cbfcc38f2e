"""The MCP server: three read-only tools on standard input and output."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from infoforge import __version__
from infoforge.agents.tools import OUTPUT_SCHEMA, TOOLS, Cancelled, call
from infoforge.config.settings import Settings
from infoforge.contract import CheckFailed
from infoforge.text.display import shown, to_json
from infoforge.text.mask import mask_document

AT_ONCE = 8
"""Calls that are worked on at once; the others wait their turn."""

INSTRUCTIONS = (
    "Facts from offline wikis on this machine. Look things up before answering; pass citations on; "
    "report an error result instead of answering from memory."
)


def serve(settings: Callable[[], Settings]) -> None:
    """Serve until standard input ends.

    Args:
        settings: Loads the settings, again for each call.

    Raises:
        CheckFailed: The SDK is not installed.
    """
    try:
        import mcp.server.stdio  # noqa: F401
    except ImportError as error:
        raise CheckFailed(
            f"the MCP server needs the extra mcp: {error}",
            "pip install 'infoforge[mcp]', in the environment that infoforge runs in",
            code="mcp_extra",
        ) from error
    asyncio.run(_serve(settings))


async def _serve(settings: Callable[[], Settings]) -> None:
    from mcp.server.stdio import stdio_server

    server = build(settings)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def build(settings: Callable[[], Settings]) -> Any:  # noqa: ANN401 - the SDK is imported late
    """The server, for any transport."""
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    turns = asyncio.Semaphore(AT_ONCE)

    async def list_tools(context: Any, params: Any) -> Any:  # noqa: ANN401
        return types.ListToolsResult(tools=tools())

    async def call_tool(context: Any, params: Any) -> Any:  # noqa: ANN401
        if params.name not in TOOLS:
            known = ", ".join(TOOLS)
            raise MCPError(types.INVALID_PARAMS, f"no such tool: {params.name}; there are: {known}")
        async with turns:
            document = await _in_thread(
                lambda check: call(params.name, params.arguments or {}, settings, check)
            )
        document = shown(mask_document(document))
        return types.CallToolResult(
            content=[types.TextContent(text=to_json(document))],
            structured_content=document,
            is_error=document["exit_code"] != 0,
        )

    return Server(
        "infoforge",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def tools() -> list[Any]:
    """The tools as the protocol lists them."""
    import mcp_types as types

    return [
        types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=tool.input_schema,
            output_schema=OUTPUT_SCHEMA,
            annotations=types.ToolAnnotations(read_only_hint=True),
        )
        for tool in TOOLS.values()
    ]


async def _in_thread(work: Callable[[Callable[[], None]], dict[str, Any]]) -> dict[str, Any]:
    """Run work in a thread that knows when nobody waits for it any longer.

    The thread is a daemon: one that hangs in a server's silence must not keep the process alive
    after the client has gone.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[dict[str, Any]] = loop.create_future()
    unwanted = threading.Event()

    def check() -> None:
        if unwanted.is_set():
            raise Cancelled

    def settle(result: dict[str, Any]) -> None:
        if not done.done():
            done.set_result(result)

    def go() -> None:
        try:
            result = work(check)
            loop.call_soon_threadsafe(settle, result)
        except (Cancelled, RuntimeError):
            return  # nobody waits, or the loop has ended

    threading.Thread(target=go, name="infoforge mcp", daemon=True).start()
    try:
        return await done
    finally:
        unwanted.set()
