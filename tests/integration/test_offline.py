"""Everything runs with the cable pulled; a run connects to what is configured and nothing else."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.fault_server import reply
from support.kiwix import REPO

OFFLINE = REPO / "scripts" / "offline"
ARTICLES = {
    "Kokoro (novel)": "<p>Kokoro is a novel by Natsume Sōseki, published in 1914.</p>",
    "Warsaw": "<p>Warsaw is the capital of Poland. It stands on the Vistula.</p>",
}
QUOTE = {"name": "quotes", "kind": "quote"}


@pytest.fixture(scope="module")
def offline():
    """The prefix of a command that then has no interface but ``lo``."""
    seen = subprocess.run(
        [OFFLINE, "cat", "/proc/net/dev"], capture_output=True, text=True, check=False
    )
    if seen.returncode:
        pytest.skip(seen.stderr.strip())
    interfaces = [line.split(":")[0].strip() for line in seen.stdout.splitlines()[2:]]
    assert interfaces == ["lo"]
    return (str(OFFLINE),)


def test_the_demo_runs_offline(run_cli, offline):
    run = run_cli("demo", prefix=offline, timeout=180)
    assert run.code == 0, run.stderr
    assert "[1]" in run.stdout
    assert "Natsume Sōseki" in run.stdout


def test_search_and_ask_run_offline_on_a_zim_file(run_cli, make_zim, offline):
    zim = make_zim(ARTICLES, name="books_en")
    run_cli.configure({"zims": {"folder": str(zim.parent)}, "endpoints": [QUOTE]})
    search = run_cli("search", "Who wrote the novel Kokoro?", prefix=offline)
    assert (search.code, search.stderr) == (0, "")
    assert "Kokoro (novel)" in search.stdout
    ask = run_cli("ask", "Who wrote the novel Kokoro?", prefix=offline)
    assert ask.code == 0, ask.stderr
    assert "Natsume Sōseki" in ask.stdout


# --- which connections does a run make? -----------------------------------------------------------

AUDIT = """\
import sys, os
_log = os.open(os.environ["AUDIT_LOG"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def _hook(event, args):
    if event == "socket.connect" and isinstance(args[1], tuple):
        os.write(_log, f"{args[1][0]} {args[1][1]}\\n".encode())
    elif event == "socket.getaddrinfo":
        os.write(_log, f"lookup {args[0]}\\n".encode())
sys.addaudithook(_hook)
"""


class Watch:
    """Runs the script and tells which addresses it connected to, and which names it looked up."""

    def __init__(self, how: str, folder: Path) -> None:
        self.how = how
        self.log = folder / "connections"
        self.prefix: tuple[str, ...] = ()
        self.env: dict[str, str] = {}
        if how == "strace":
            # Sees libraries in C as well, and the queries of a resolver.
            calls = "trace=connect,sendto,sendmsg,sendmmsg"
            self.prefix = ("strace", "-f", "-qq", "-e", calls, "-e", "signal=none")
            self.prefix += ("-o", str(self.log))
        else:
            hook = folder / "hook"
            hook.mkdir()
            (hook / "sitecustomize.py").write_text(AUDIT, encoding="utf-8")
            self.env = {"PYTHONPATH": str(hook), "AUDIT_LOG": str(self.log)}

    def seen(self) -> set[str]:
        """``"ADDRESS PORT"`` of every connection, since the last call."""
        text = self.log.read_text(encoding="utf-8")
        self.log.unlink()
        if self.how == "audit":
            # A literal address needs no resolver; a name would.
            return {line for line in text.splitlines() if line != "lookup 127.0.0.1"}
        found = set()
        port = r'sin6?_port=htons\((\d+)\).*?(?:inet_addr\(|inet_pton\(AF_INET6, )"([^"]+)"'
        for number, address in re.findall(port, text):
            found.add(f"{address} {number}")
        return found


@pytest.fixture(params=["strace", "audit"])
def watch(request, tmp_path):
    if request.param == "strace":
        strace = shutil.which("strace")
        if strace is None:
            pytest.skip("strace is not installed")
        tried = subprocess.run([strace, "true"], capture_output=True, text=True, check=False)
        if tried.returncode:
            pytest.skip(f"strace is not permitted here: {tried.stderr.strip()[-200:]}")
    return Watch(request.param, tmp_path)


def test_a_run_connects_to_kiwix_and_the_endpoint_and_nothing_else(
    run_cli, make_zim, kiwix37, fault_server, watch
):
    zim = make_zim(ARTICLES, name="books_en")
    kiwix = kiwix37(zim)
    model = fault_server(reply('According to "Kokoro (novel)", Natsume Sōseki wrote it [1].'))
    config = {
        "kiwix": {"url": kiwix.url},
        "endpoints": [{"name": "local", "url": model.url + "/v1", "model": "test-model"}],
    }
    run_cli.configure(config)
    for command, expected in {
        "search": {f"127.0.0.1 {kiwix.port}"},
        "passages": {f"127.0.0.1 {kiwix.port}"},
        "ask": {f"127.0.0.1 {kiwix.port}", f"127.0.0.1 {model.port}"},
    }.items():
        run = run_cli(
            command,
            "Who wrote the novel Kokoro?",
            prefix=watch.prefix,
            env=watch.env,
            process=True,
            timeout=240,
        )
        assert run.code == 0, run.stderr
        assert watch.seen() == expected, command


def test_a_run_on_a_zim_file_with_quotes_connects_to_nothing(run_cli, make_zim, watch):
    zim = make_zim(ARTICLES, name="books_en")
    run_cli.configure({"zims": {"folder": str(zim.parent)}, "endpoints": [QUOTE]})
    for command in ("search", "ask"):
        run = run_cli(
            command,
            "Who wrote the novel Kokoro?",
            prefix=watch.prefix,
            env=watch.env,
            process=True,
            timeout=240,
        )
        assert run.code == 0, run.stderr
        assert watch.seen() == set(), command


@pytest.mark.parametrize("command", ["zims list", "--version", "--help"])
def test_commands_that_need_no_network_use_none(run_cli, watch, command):
    run = run_cli(*command.split(), prefix=watch.prefix, env=watch.env, process=True)
    assert run.code in {0, 1, 2}
    assert watch.seen() == set()


def test_the_watch_sees_a_connection(run_cli, watch):
    """Else the tests above could not fail."""
    code = "import socket; s = socket.socket(); print(s.connect_ex(('127.0.0.1', 9)))"
    subprocess.run(
        [*watch.prefix, sys.executable, "-c", code],
        env=run_cli.environment(watch.env),
        check=True,
        capture_output=True,
    )
    assert watch.seen() == {"127.0.0.1 9"}
