"""What is fuzzed: for each kind of input a case that passes it in, and looks at what comes out."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

from support import documents
from support.cli import SCRIPT, Cli, Run
from support.envelope import check_document
from support.fault_server import Behaviour, FaultServer, Request
from support.kiwix import REPO
from support.zim import build_zim

from fuzz.mutate import ODD, spoil

DATA = REPO.parent / "shared" / "data"
QUESTION = "Who wrote the novel Kokoro and when was it published?"
GOOD = {
    "Kokoro": "<p>Kokoro is a novel by Natsume Soseki. It was published in 1914.</p>",
    "Warsaw": "<p>Warsaw is the capital of Poland and has a university.</p>",
}
Case = Callable[[Random], None]


def check(run: Run, command: str) -> None:
    """Hold a run to what every run promises."""
    assert 0 <= run.code <= 5, f"exit code {run.code}: {run.stderr[-300:]}"
    assert "Traceback" not in run.stderr + run.stdout, run.stderr[-300:]
    assert "internal fault" not in run.stderr + run.stdout, run.stderr[-300:] + run.stdout[:300]
    if command:
        check_document(json.loads(run.stdout), command, run.code)


@contextmanager
def home() -> Iterator[tuple[Cli, Path]]:
    """A home for runs, and a folder with one good ZIM."""
    with tempfile.TemporaryDirectory() as folder:
        zims = Path(folder) / "zims"
        zims.mkdir()
        build_zim(zims / "good_en_2026-06.zim", GOOD, name="good_en")
        yield Cli(Path(folder) / "home"), zims


@contextmanager
def zim() -> Iterator[Case]:
    """A spoilt ZIM next to a good one: the good one answers."""
    whole = [
        path.read_bytes()
        for name in ("wikipedia_en_xquad_2026-06.zim", "zimfile.zim", "poor.zim")
        if (path := DATA / "zims" / name).is_file()
    ]
    with home() as (cli, zims):
        whole.append((zims / "good_en_2026-06.zim").read_bytes())
        cli.configure({"zims": {"folder": str(zims)}})
        bad = zims / "bad_en_2026-06.zim"

        def case(random: Random) -> None:
            data = random.choice(whole)
            bad.write_bytes(spoil(data, random, most=12, grow=random.random() < 0.2))
            words = random.choice(
                (QUESTION, "When was Ray Charles born?", "Who plays in the Super Bowl of Denver?")
            )
            command = random.choice(("search", "ask", "passages"))
            run = cli(command, "--json", words)
            check(run, command)
            if words == QUESTION:
                assert run.code == 0, run.stdout[:300]
            if random.random() < 0.2:
                check(cli("zims", "list", "--json"), "zims list")

        yield case


@contextmanager
def html() -> Iterator[Case]:
    """A page of a ZIM."""
    from infoforge.corpus.base import CorpusError
    from infoforge.corpus.page import article
    from infoforge.records import CorpusInfo

    pages = [body.encode() for body in GOOD.values()]
    pages.append(
        b"<html><head><title>T</title><style>p{}</style></head><body><h1>T</h1><table><tr><th>Born"
        b"</th><td>1914<sup>2</sup></td></tr></table><h2>Life</h2><p>He <a href='A'>wrote</a> it."
        b"<ul><li>One</li></ul><math><mi>x</mi></math><div style='display:none'>no</div></body>"
    )
    info = CorpusInfo("w", "zim", "W", ("en",))

    def case(random: Random) -> None:
        body = spoil(random.choice(pages) * random.choice((1, 20)), random, most=20)
        kind = random.choice(("text/html", "text/plain", ""))
        with suppress(CorpusError):  # too complex: a warning, and the next article
            article(info, "A/B", "", "zim://w/A", body, kind)

    yield case


@contextmanager
def files() -> Iterator[Case]:
    """Documents of every kind in one folder: what can be read becomes a ZIM."""
    whole = {
        "a.pdf": documents.pdf(["Kokoro is a novel.", "It was published in 1914."], "Kokoro"),
        "b.docx": documents.docx([("Heading1", "Kokoro"), ("Normal", "A novel.")], "Kokoro"),
        "c.epub": documents.epub("Kokoro", {"1.xhtml": "<h1>One</h1><p>A novel of 1914.</p>"}),
        "d.csv": b'Title;Year\r\n"Kokoro";1914\r\n"The ""Gate""";1910\r\n' * 9,
        "e.md": b"---\ntitle: Kokoro\ntags: [a, b]\n---\n# Kokoro\n\n- a `b` [c](d.md)\n\n"
        b"```\nx\n```\n"
        b"| a | b |\n|---|---|\n| 1 | 2 |\n",
        "f.html": b"<html><title>Kokoro</title><body><h1>Kokoro</h1><p>A novel</p></body></html>",
        "g.txt": b"Kokoro is a novel.\n\nIt was published in 1914.\n",
    }
    with home() as (cli, zims):
        folder = zims.parent / "documents"

        def case(random: Random) -> None:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            (folder / "good.md").write_bytes(b"# Good\n\nThis one is whole.\n")
            for name, data in whole.items():
                (folder / name).write_bytes(spoil(data, random))
            out = zims.parent / "out_en_2026-06.zim"
            out.unlink(missing_ok=True)
            run = cli("zimify", str(folder), "--json", "--output", str(out), process=True)
            check(run, "zimify")

        yield case


@contextmanager
def notes() -> Iterator[Case]:
    """A note of the vault."""
    from infoforge.vault.notes import parse

    note = (
        b"---\ntitle: Kokoro\ntags: [a, b]\ndate: 2026-06-01\naliases:\n  - K\n---\n# Kokoro\n\n"
        b"Text `code` [[Link|name]] ![[pic.png]] %%no%%\n\n```sh\nrm -rf /srv/*/cache\n```\n"
        b"| a | b |\n|---|---|\n| 1 | 2 |\n\n> [!note] Call\n<!-- no -->\n"
    )

    def case(random: Random) -> None:
        parse(spoil(note, random, most=12).decode("utf-8", "replace"), "note.md")

    yield case


@contextmanager
def catalogs() -> Iterator[Case]:
    """Catalogs and metalinks."""
    from infoforge import kiwix_catalog
    from infoforge.contract import InfoForgeError
    from infoforge.zims.catalog import parse_feed
    from infoforge.zims.metalink import parse_metalink, parse_sha256

    feed = (
        b'<feed xmlns="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/terms/">'
        b"<entry><id>urn:uuid:6f1d19d0-633f-087b-fb55-7ac324ff9baf</id><title>One</title>"
        b"<name>one</name><language>eng</language><articleCount>5000</articleCount>"
        b"<dc:issued>2026-06-01</dc:issued><tags>a;b</tags>"
        b'<link type="text/html" href="/content/one_en_2026-06"/><link type="application/x-zim" '
        b'length="1234" href="http://127.0.0.1/one_en_2026-06.zim.meta4"/></entry></feed>'
    )
    link = (
        '<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="one_en_2026-06.zim">'
        '<size>1234</size><hash type="sha-256">' + "ab" * 32 + '</hash><pieces length="512" '
        'type="sha-1">' + ("<hash>" + "cd" * 20 + "</hash>") * 3 + "</pieces>"
        '<url priority="1" location="de">https://example.org/one_en_2026-06.zim</url></file>'
        "</metalink>"
    ).encode()

    def case(random: Random) -> None:
        base = "https://example.org/catalog"
        try:
            parse_feed(spoil(feed, random), base)
            kiwix_catalog.books(200, spoil(feed, random), base)
            parse_metalink(spoil(link, random), base, "one_en_2026-06.zim")
            parse_sha256(
                spoil(b"ab" * 32 + b"  one_en_2026-06.zim\n", random), "one_en_2026-06.zim"
            )
        except (InfoForgeError, kiwix_catalog.CatalogError):
            return

    yield case


@contextmanager
def kiwix() -> Iterator[Case]:
    """Replies of kiwix-serve: catalog, hits, titles, pages."""
    proper = {
        "catalog": (
            '<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>One</title><name>one</name>'
            "<language>eng</language><articleCount>5000</articleCount>"
            '<link type="text/html" href="/content/one_en_2026-06"/></entry></feed>'
        ),
        "search": (
            '<rss xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><channel>'
            "<opensearch:totalResults>1,234</opensearch:totalResults><item><title>Kokoro</title>"
            "<link>/content/one_en_2026-06/Kokoro</link></item></channel></rss>"
        ),
        "suggest": '[{"value":"Kokoro","label":"K","kind":"path","path":"Kokoro"}]',
        "content": f"<html><title>Kokoro</title><body>{GOOD['Kokoro']}</body></html>",
    }
    chosen = [Random(0)]

    def respond(request: Request) -> Behaviour:
        what = request.path.split("/")[1]
        random = chosen[0]
        if what not in proper or random.random() < 0.05:
            return Behaviour(kind=random.choice(("404", "500", "cut", "reset", "empty")))
        body = proper[what].encode()
        return Behaviour(
            body=spoil(body, random) if random.random() < 0.4 else body,
            content_type=random.choice(("text/html", "application/xml", "", "a;charset=\xff")),
        )

    with home() as (cli, zims), FaultServer(respond=respond) as server:
        cli.configure({"zims": {"folder": str(zims)}, "kiwix": {"url": server.url}})

        def case(random: Random) -> None:
            chosen[0] = random
            check(cli("search", "--json", "--deadline", "5", QUESTION), "search")

        yield case


@contextmanager
def streams() -> Iterator[Case]:
    """What a model server sends: events, JSON, neither."""
    event = (
        'data: {"choices":[{"index":0,"delta":{"content":"It was published in 1914 [1]. "}}]}\n\n'
    )
    last = (
        'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],'
        '"usage":{"prompt_tokens":10,"completion_tokens":5}}\n\ndata: [DONE]\n\n'
    )
    plain = (
        '{"choices":[{"index":0,"message":{"role":"assistant","content":"In 1914 [1]."},'
        '"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5}}'
    )

    with home() as (cli, zims), FaultServer() as server:
        endpoint = {"name": "model", "url": f"{server.url}/v1", "model": "test-model"}
        cli.configure({"zims": {"folder": str(zims)}, "endpoints": [endpoint]})

        def case(random: Random) -> None:
            body = spoil(random.choice((event * 3 + last, plain)).encode(), random, most=10)
            kinds = ("text/event-stream", "application/json", "text/html")
            server.then(Behaviour(body=body, content_type=random.choice(kinds)))
            strict = ["--strict"] * (random.random() < 0.5)
            check(cli("ask", "--json", *strict, QUESTION), "ask")

        yield case


@contextmanager
def mcp() -> Iterator[Case]:
    """Frames of an agent: whatever comes, the server still answers a proper one."""

    def frame(number: int, method: str, **parameters: Any) -> bytes:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        return json.dumps(message).encode()

    hello = frame(
        1, "initialize", protocolVersion="2025-06-18", capabilities={},
        clientInfo={"name": "fuzz", "version": "1"},
    )  # fmt: skip
    calls = [
        frame(2, "tools/list"),
        frame(3, "tools/call", name="search", arguments={"question": QUESTION}),
        frame(4, "tools/call", name="ask", arguments={"question": QUESTION, "strict": True}),
        frame(5, "tools/call", name="read", arguments={"corpus": "good_en", "path": "Kokoro"}),
    ]
    with ExitStack() as stack:
        cli, zims = stack.enter_context(home())
        cli.configure({"zims": {"folder": str(zims)}})
        process = subprocess.Popen(
            [str(SCRIPT), "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=cli.environment(),
        )
        stack.callback(process.kill)
        assert process.stdin is not None
        assert process.stdout is not None
        descriptor = process.stdout.fileno()
        state = {"number": 1000, "rest": b""}

        def say(data: bytes) -> None:
            process.stdin.write(data + b"\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]

        def until(number: int) -> None:
            while True:
                head, found, state["rest"] = bytes(state["rest"]).partition(b"\n")
                if not found:
                    state["rest"] = head
                    ready, _, _ = select.select([descriptor], [], [], 30)
                    assert ready, "the server does not answer a proper frame"
                    piece = os.read(descriptor, 65536)
                    assert piece, f"the server ended: {process.wait()}"
                    state["rest"] = head + piece
                    continue
                answer = json.loads(head)
                assert b"internal fault" not in head, head[:300]
                assert b"Traceback" not in head, head[:300]
                if answer.get("id") == number:
                    return

        say(hello)
        until(1)
        say(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

        def case(random: Random) -> None:
            for _ in range(3):
                spoilt = spoil(random.choice(calls), random).replace(b"\n", b" ")
                say(spoilt)
            state["number"] = int(state["number"]) + 1
            say(frame(int(state["number"]), "ping"))
            until(int(state["number"]))

        yield case


COMMANDS = (
    ("ask", "--json"), ("search", "--json"), ("passages", "--json"), ("explain", "--json"),
    ("eval", "--json"), ("config", "show", "--json"), ("zims", "list", "--json"),
    ("zims", "verify", "--json"), ("stats", "--json"), ("config", "check", "--json"),
)  # fmt: skip
ARGUMENTS = (
    "--zim", "--corpus", "--sources", "--characters", "--deadline", "--language", "--strict",
    "--endpoint", "--batch", "--compare", "--sample", "--json", "--help", "--", "-", "nan", "inf",
    "-1", "0", "1e309", "٣", "²", "en", "xx", "all", "/dev/null", "/", "..", "a" * 5000, "\udcff",
    "\x1b[31m", "http://[::1", "file:///etc/passwd", "Kokoro", QUESTION, "", " ", "[", "*", "%s",
    "good_en", "good_en_2026-06.zim",
)  # fmt: skip
COMMAND = re.compile(r"[a-z]+( [a-z]+)?")


@contextmanager
def arguments() -> Iterator[Case]:
    """Argument vectors."""
    with home() as (cli, zims):
        cli.configure({"zims": {"folder": str(zims)}})

        def case(random: Random) -> None:
            words = list(random.choice(COMMANDS))
            for _ in range(random.randint(0, 6)):
                word = random.choice(ARGUMENTS)
                if random.random() < 0.2:
                    word += random.choice(ODD).decode("utf-8", "surrogateescape")
                words.append(word[:50_000])
            run = cli(*(word.replace("\0", "") for word in words))
            check(run, "")
            if "--help" in words:
                return
            assert COMMAND.fullmatch(json.loads(run.stdout)["command"]), run.stdout[:200]

        yield case


TARGETS: dict[str, Callable[[], Any]] = {
    "zim": zim,
    "html": html,
    "files": files,
    "notes": notes,
    "catalogs": catalogs,
    "kiwix": kiwix,
    "streams": streams,
    "mcp": mcp,
    "arguments": arguments,
}
