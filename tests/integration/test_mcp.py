"""The MCP server over stdio, with the SDK's client and with another implementation's."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.cli import SCRIPT, Cli
from support.envelope import check_document
from support.fault_server import FaultServer, refused_url, reply
from support.kiwix import Kiwix

pytest.importorskip("mcp", reason="the extra infoforge[mcp] is not installed")

ARTICLES = {
    "Kokoro (novel)": "<p>Kokoro is a novel by the Japanese author Natsume Sōseki. It was "
    "published in 1914 in the newspaper Asahi Shimbun.</p><h2>Plot</h2><p>A student meets a man "
    "whom he calls Sensei.</p><h3>Part one</h3><p>They meet at the beach of Kamakura.</p>"
    "<h2>Reception</h2><p>" + "It has been read widely. " * 400 + "</p>",
    "Natsume Sōseki": "<p>Natsume Sōseki, born in 1867, was a Japanese novelist. He wrote Kokoro "
    "and I Am a Cat.</p>",
}
QUESTION = "Who wrote the novel Kokoro?"
NONSENSE = "qzxvbnm plorkwidget fnargle"


class Served:
    """A configured home whose MCP server can be talked to."""

    def __init__(self, cli: Cli, config: dict[str, Any]) -> None:
        self.cli = cli
        self.config = config
        cli.configure(config)

    def endpoint(self, url: str) -> None:
        self.cli.configure(
            self.config | {"endpoints": [{"name": "model", "url": url, "model": "m"}]}
        )

    def talk(self, use: Callable[[Any], Any]) -> Any:
        """Run ``use(client)`` with the SDK's client, connected over stdio."""
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client

        parameters = StdioServerParameters(
            command=str(SCRIPT), args=["mcp"], env=self.cli.environment(), cwd=self.cli.home
        )

        async def main() -> Any:
            async with Client(stdio_client(parameters)) as client:
                return await use(client)

        return anyio.run(main)


@pytest.fixture
def model(fault_server: Callable[..., FaultServer]) -> FaultServer:
    return fault_server(reply("Natsume Sōseki wrote it [1]."))


@pytest.fixture
def served(run_cli: Cli, make_zim: Callable[..., Path], model: FaultServer) -> Served:
    zim = make_zim(ARTICLES, name="novels_en", folder=run_cli.home / "zims")
    endpoint = {"name": "model", "url": f"{model.url}/v1", "model": "m"}
    return Served(run_cli, {"zims": {"folder": str(zim.parent)}, "endpoints": [endpoint]})


@pytest.fixture
def behind_kiwix(served: Served, kiwix37: Callable[..., Kiwix]) -> Iterator[Served]:
    zim = next((served.cli.home / "zims").glob("*.zim"))
    served.config["kiwix"] = {"url": kiwix37(zim).url}
    served.cli.configure(served.config)
    return served


def document(result: Any) -> Any:
    """The structured content, which is the same as the text."""
    assert len(result.content) == 1
    assert json.loads(result.content[0].text) == result.structured_content
    assert result.is_error == (result.structured_content["exit_code"] != 0)
    return result.structured_content


def test_the_three_tools_are_listed_in_under_600_tokens(served: Served) -> None:
    listed = served.talk(lambda client: client.list_tools()).tools
    assert [tool.name for tool in listed] == ["ask", "search", "read"]
    assert all(tool.annotations.read_only_hint for tool in listed)
    text = json.dumps(
        [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed],
        ensure_ascii=False,
        separators=(",", ":"),
    )
    # Four characters a token: what the tokenizers of the common models make of JSON and English.
    assert len(text) / 4 < 600, len(text)


def test_the_tools_answer_over_a_real_kiwix_serve(behind_kiwix: Served) -> None:
    async def use(client: Any) -> Any:
        answer = document(await client.call_tool("ask", {"question": QUESTION}))
        found = document(await client.call_tool("search", {"question": QUESTION, "limit": 2}))
        first = found["data"]["results"][0]
        where = {"corpus": first["corpus"], "path": first["path"]}
        return answer, found, document(await client.call_tool("read", where))

    answer, found, article = behind_kiwix.talk(use)
    check_document(answer, "ask", 0)
    check_document(found, "search", 0)
    assert answer["data"]["citations"][0]["title"] == "Kokoro (novel)"
    assert answer["data"]["citations"][0]["url"].startswith("http://127.0.0.1:")
    assert article["data"]["title"] == "Kokoro (novel)"
    assert article["data"]["text"].startswith("Kokoro is a novel")


def test_read_gives_windows_and_sections(served: Served) -> None:
    where = {"corpus": "novels_en", "path": "Kokoro (novel)"}

    async def use(client: Any) -> Any:
        found = document(await client.call_tool("search", {"question": QUESTION}))
        where["path"] = found["data"]["results"][0]["path"]
        windows, offset = [], 0
        while offset is not None:
            window = document(await client.call_tool("read", where | {"offset": offset}))["data"]
            windows.append(window)
            offset = window["next_offset"]
        section = document(await client.call_tool("read", where | {"section": "plot"}))["data"]
        wrong = document(await client.call_tool("read", where | {"section": "Nowhere"}))
        gone = document(await client.call_tool("read", where | {"path": "No_such"}))
        return windows, section, wrong, gone

    windows, section, wrong, gone = served.talk(use)
    assert len(windows) == 2
    assert sum(len(w["text"]) for w in windows) == windows[0]["total"]
    assert max(len(w["text"]) for w in windows) == 6000
    assert "Sensei" in section["text"]
    assert "Kamakura" in section["text"]
    assert "read widely" not in section["text"]
    assert wrong["exit_code"] == 2
    assert "Reception" in wrong["errors"][0]["hint"]
    assert (gone["exit_code"], gone["errors"][0]["code"]) == (3, "no_article")


def test_nothing_found_is_a_typed_error_and_no_model_hears_of_it(
    served: Served, model: FaultServer
) -> None:
    async def use(client: Any) -> Any:
        return [
            document(await client.call_tool(t, {"question": NONSENSE})) for t in ("ask", "search")
        ]

    for found, command in zip(served.talk(use), ("ask", "search"), strict=True):
        check_document(found, command, 3)
        assert found["errors"][0]["code"] == "nothing_found"
    assert model.requests == []


def test_an_ungrounded_answer_is_a_typed_error_with_strict(
    served: Served, model: FaultServer
) -> None:
    model.then(reply("It was somebody."))

    async def use(client: Any) -> Any:
        return document(await client.call_tool("ask", {"question": QUESTION, "strict": True}))

    check_document(served.talk(use), "ask", 4)


def test_a_model_that_is_down_is_a_typed_error_with_the_articles(served: Served) -> None:
    served.endpoint(refused_url())

    async def use(client: Any) -> Any:
        return document(await client.call_tool("ask", {"question": QUESTION}))

    found = served.talk(use)
    check_document(found, "ask", 5)
    assert found["data"]["results"][0]["title"] == "Kokoro (novel)"


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("ask", {"question": QUESTION, "strct": True}, "did you mean strict?"),
        ("ask", {}, "needs the argument 'question'"),
        ("ask", {"question": 7}, "must be a string"),
        ("ask", {"question": "x" * 5000}, "4000"),
        ("ask", {"question": "  "}, "empty"),
        ("search", {"question": QUESTION, "limit": 99}, "from 1 to 20"),
        ("search", {"question": QUESTION, "limit": True}, "must be a integer"),
        ("read", {"corpus": "nosuch", "path": "x"}, "novels_en"),
    ],
)
def test_wrong_arguments_are_refused_with_a_hint(
    served: Served, model: FaultServer, tool: str, arguments: dict[str, Any], told: str
) -> None:
    from infoforge.agents.tools import call
    from infoforge.config.load import load

    found = call(tool, arguments, lambda: load(str(served.cli.config_path)))
    assert found["exit_code"] == 2
    error = found["errors"][0]
    assert told in f"{error['message']} {error['hint']}"
    assert model.requests == []


def test_an_unknown_tool_is_an_error_of_the_protocol(served: Served) -> None:
    from mcp.shared.exceptions import MCPError

    async def use(client: Any) -> Any:
        with pytest.raises(MCPError, match="no such tool"):
            await client.call_tool("delete", {})
        return await client.list_tools()

    assert len(served.talk(use).tools) == 3


def test_twenty_calls_at_once(behind_kiwix: Served, model: FaultServer) -> None:
    async def use(client: Any) -> Any:
        tools = ["ask", "search"] * 10
        return await asyncio.gather(
            *(client.call_tool(tool, {"question": QUESTION}) for tool in tools)
        )

    results = [document(result) for result in behind_kiwix.talk(use)]
    assert [r["exit_code"] for r in results] == [0] * 20
    assert len(model.chats) == 10


def test_a_cancelled_call_lets_the_others_go_on(served: Served, model: FaultServer) -> None:
    model.then("hang")

    async def use(client: Any) -> Any:
        begun = time.monotonic()
        with anyio.move_on_after(3) as scope:
            await client.call_tool("ask", {"question": QUESTION})
        assert scope.cancelled_caught
        result = document(await client.call_tool("search", {"question": QUESTION}))
        return result, time.monotonic() - begun

    result, seconds = served.talk(use)
    assert result["exit_code"] == 0
    assert seconds < 60


def test_nothing_but_protocol_on_stdout_and_an_end_at_eof(served: Served) -> None:
    """Raw lines, as a client of the handshake's days writes them."""
    served.endpoint(refused_url())  # its warnings must not reach stdout
    messages = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "ask", "arguments": {"question": QUESTION}},
        },
    ]
    process = subprocess.Popen(
        [str(SCRIPT), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=served.cli.environment(),
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for message in messages:
        process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
    lines = [json.loads(process.stdout.readline()) for _ in range(2)]
    process.stdin.close()
    assert process.wait(30) == 0
    assert process.stdout.read() == ""
    assert [line["id"] for line in lines] == [1, 2]
    assert lines[1]["result"]["structuredContent"]["exit_code"] == 5
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()


def test_a_second_implementation_lists_and_calls_the_tools(behind_kiwix: Served) -> None:
    pytest.importorskip("chuk_mcp", reason="the second client is not installed")
    from chuk_mcp.protocol.messages import send_initialize, send_tools_call, send_tools_list
    from chuk_mcp.transports.stdio import stdio_client
    from chuk_mcp.transports.stdio.parameters import StdioParameters

    parameters = StdioParameters(
        command=str(SCRIPT), args=["mcp"], env=behind_kiwix.cli.environment()
    )

    async def main() -> Any:
        async with stdio_client(parameters) as (reading, writing):
            await send_initialize(reading, writing)
            listed = await send_tools_list(reading, writing)
            asked = {"question": QUESTION}
            answer = await send_tools_call(reading, writing, "ask", asked, timeout=60)
            found = await send_tools_call(reading, writing, "search", asked, timeout=60)
            first = _plain(found)["structuredContent"]["data"]["results"][0]
            where = {"corpus": first["corpus"], "path": first["path"]}
            article = await send_tools_call(reading, writing, "read", where, timeout=60)
            nothing = await send_tools_call(
                reading, writing, "ask", {"question": NONSENSE}, timeout=60
            )
            return [_plain(item) for item in (listed, answer, article, nothing)]

    listed, answer, article, nothing = anyio.run(main)
    assert [tool["name"] for tool in listed["tools"]] == ["ask", "search", "read"]
    assert answer["structuredContent"]["data"]["citations"]
    assert article["structuredContent"]["data"]["text"].startswith("Kokoro")
    assert nothing["isError"]
    assert nothing["structuredContent"]["status"] == "nothing_found"


def _plain(value: Any) -> Any:
    return value.model_dump(by_alias=True) if hasattr(value, "model_dump") else value


def test_without_the_sdk_it_says_what_to_install(run_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ImportError('not here')\n")
    run = run_cli("mcp", env={"PYTHONPATH": str(tmp_path)}, process=True)
    assert run.code == 1
    assert "infoforge[mcp]" in run.stderr
    assert run.stdout == ""


def test_a_zim_that_ends_its_process_does_not_end_the_server(
    run_cli: Cli, shared_data: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "rotten"
    folder.mkdir()
    for path in ("hostile/rotten.zim", "wikipedia_en_squad_2026-06.zim"):
        shutil.copy(shared_data / "zims" / path, folder)
    question = "Who was the Super Bowl champion in the American Football Conference?"

    async def use(client: Any) -> Any:
        calls = [document(await client.call_tool("search", {"question": question}))]
        calls += [document(await client.call_tool("search", {"question": question}))]
        calls += [document(await client.call_tool("search", {"question": "Where is Warsaw?"}))]
        return calls

    calls = Served(run_cli, {"zims": {"folder": str(folder)}}).talk(use)
    assert [call["exit_code"] for call in calls] == [0, 0, 0]
    assert any("rotten.zim" in warning["message"] for warning in calls[0]["warnings"])
