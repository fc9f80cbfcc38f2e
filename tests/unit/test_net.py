"""Every network read ends in time and at a size, and no other module opens a connection."""

from __future__ import annotations

import ast
import io
import socket
import threading
from pathlib import Path

import pytest
from support.fault_server import Behaviour, refused_url

from infoforge import net, privacy
from infoforge.contract import ConfigError

CODE = Path(net.__file__).parent
ENOUGH = 30.0
SHORT = 0.3
HERE = net.Trust({"127.0.0.1", "nowhere.invalid", "slow.invalid"})


def by_library(url, total, limit):
    return net.get(url, total=total, limit=limit, allow_public=False, what="x").body


def by_private_session(url, total, limit):
    with net.private_session(False, "x") as session:
        return net.fetch(session, "GET", url, total=total, limit=limit).body


def by_public_session(url, total, limit):
    with net.public_session(HERE) as session:
        return net.fetch(session, "GET", url, total=total, limit=limit).body


READERS = [by_library, by_private_session, by_public_session]
READ = pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
LONG = {"/x": "y" * 100}


@READ
def test_a_reply_comes_whole(read, fault_server):
    server = fault_server(files={"/x": "hello"})
    assert read(f"{server.url}/x", ENOUGH, 100) == b"hello"


@READ
@pytest.mark.parametrize("fault", ["hang", "hang-mid", "drip", "drip-head"])
def test_the_whole_ends_in_time_whatever_the_server_does(read, fault, fault_server):
    """Each of them comes to its end later, and byte by byte no read is ever silent for long."""
    server = fault_server(fault, script_all=True, files=LONG)
    with pytest.raises(net.NetworkError) as caught:
        read(f"{server.url}/x", SHORT, 1000)
    assert caught.value.kind == "timeout"


@READ
@pytest.mark.parametrize("fault", ["endless", "ok"])
def test_a_reply_that_is_too_large_is_not_taken(read, fault, fault_server):
    server = fault_server(fault, script_all=True, files={"/x": b"z" * 2_000_000})
    with pytest.raises(net.NetworkError, match="more than 1000000 bytes") as caught:
        read(f"{server.url}/x", ENOUGH, 1_000_000)
    assert caught.value.kind == "too_large"


@READ
@pytest.mark.parametrize(("fault", "kind"), [("cut", "cut"), ("reset", "cut"), ("empty", "")])
def test_faults_of_a_reply(read, fault, kind, fault_server):
    server = fault_server(fault, script_all=True, files=LONG)
    if not kind:
        assert read(f"{server.url}/x", ENOUGH, 1000) == b""
        return
    with pytest.raises(net.NetworkError) as caught:
        read(f"{server.url}/x", ENOUGH, 1000)
    assert caught.value.kind == kind


@READ
def test_nobody_listens(read):
    with pytest.raises(net.NetworkError) as caught:
        read(refused_url() + "/secret", ENOUGH, 1000)
    assert caught.value.kind == "refused"
    assert "secret" not in caught.value.message


@READ
def test_a_name_that_nobody_knows(read, monkeypatch):
    def unknown(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(net.NetworkError) as caught:
        read("http://nowhere.invalid/secret", ENOUGH, 1000)
    assert caught.value.kind == "resolve"


@READ
def test_a_resolver_that_hangs_does_not_hold_the_caller(read, monkeypatch):
    never = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: never.wait(60) and [])
    try:
        with pytest.raises(net.NetworkError) as caught:
            read("http://slow.invalid/", SHORT, 1000)
    finally:
        never.set()
    assert caught.value.kind == "resolve"


@READ
@pytest.mark.parametrize("url", ["http://[::1", "ftp://127.0.0.1/", "http://127.0.0.1:99999/", ""])
def test_an_address_that_is_none(read, url):
    with pytest.raises(net.NetworkError):
        read(url, ENOUGH, 1000)


@READ
def test_a_server_that_speaks_no_http(read):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            taken, _ = listener.accept()
            with taken:
                taken.recv(1000)
                taken.sendall(b"220 mail.example ESMTP\r\n")

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(net.NetworkError) as caught:
            read(f"http://127.0.0.1:{listener.getsockname()[1]}/", ENOUGH, 1000)
    assert caught.value.kind == "not_http"


@READ
def test_tls_that_is_none(read, fault_server):
    server = fault_server(files=LONG)
    with pytest.raises(net.NetworkError) as caught:
        read(server.url.replace("http:", "https:") + "/x", ENOUGH, 1000)
    assert caught.value.kind in ("tls", "cut")


def test_a_stream_gives_its_head_before_its_body_ends(fault_server):
    server = fault_server("hang-mid", script_all=True, files=LONG)
    with (
        net.private_session(False, "x") as session,
        net.stream(session, "GET", f"{server.url}/x", total=ENOUGH, limit=1000) as reply,
    ):
        assert (reply.status, reply.read()) == (200, b"y" * 50)
        with pytest.raises(net.NetworkError) as caught:
            reply.read(seconds=SHORT)
        assert caught.value.kind == "timeout"


def test_the_head_has_a_limit_of_its_own(fault_server):
    server = fault_server("drip-head", script_all=True, files=LONG)
    with (
        net.public_session(HERE) as session,
        pytest.raises(net.NetworkError),
        net.stream(session, "GET", f"{server.url}/x", total=None, limit=None, head=SHORT),
    ):
        pytest.fail("the head took five seconds")


def test_a_redirect_to_a_public_address_sends_nothing_there(fault_server, monkeypatch):
    other = fault_server(files=LONG)
    away = Behaviour(kind="302", headers={"Location": f"{other.url}/x"})
    server = fault_server(away, script_all=True)
    answers = iter([True, False])  # of the first connection, and of the one redirected to
    monkeypatch.setattr(privacy, "is_private", lambda address: next(answers))
    with net.private_session(False, "x") as session, pytest.raises(ConfigError, match="public"):
        net.fetch(session, "GET", server.url, total=ENOUGH, limit=1000)
    assert (len(server.requests), other.requests) == (1, [])


# Redirects, passwords, addresses that a public server names


def redirect(url):
    return Behaviour(kind="302", headers={"Location": url})


def test_no_redirect_leads_from_https_to_http_anywhere_in_a_chain(monkeypatch):
    """https -> https -> http -> https: the last address alone looks fine."""
    import requests

    chain = {
        "https://a.example/": "https://b.example/",
        "https://b.example/": "http://c.example/",
        "http://c.example/": "https://d.example/",
        "http://e.example/": "https://d.example/",
    }

    class Adapter(requests.adapters.BaseAdapter):
        def send(self, request, **options):
            response = requests.Response()
            response.url, response.request, response.raw = request.url, request, io.BytesIO()
            response.status_code = 302 if request.url in chain else 200
            response.headers["Location"] = chain.get(request.url, "")
            return response

        def close(self):
            pass

    with net.public_session(net.Trust()) as session:
        session.mount("http://", Adapter())
        session.mount("https://", Adapter())
        with pytest.raises(net.NetworkError) as caught:
            session.get("https://a.example/")
        assert caught.value.kind == "insecure"
        assert session.get("http://e.example/").url == "https://d.example/"


def test_passwords_come_from_the_file_alone_and_go_to_their_host(
    fault_server, tmp_path, monkeypatch
):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    server = fault_server(files=LONG)
    for trust, sent in (
        (net.Trust({"127.0.0.1"}), ""),
        (net.Trust({"127.0.0.1"}, {"127.0.0.1": ("me", "pw")}), "Basic bWU6cHc="),
        (net.Trust({"127.0.0.1"}, {"other.example": ("me", "pw")}), ""),
    ):
        with net.public_session(trust) as session:
            net.fetch(session, "GET", f"{server.url}/x", total=ENOUGH, limit=1000)
        assert server.requests[-1].headers.get("authorization", "") == sent


def test_a_redirect_takes_no_password_to_another_host(fault_server):
    other = fault_server(files=LONG)
    server = fault_server(redirect(f"http://localhost:{other.port}/x"), script_all=True)
    trust = net.Trust({"127.0.0.1", "localhost"}, {"127.0.0.1": ("me", "pw")})
    with net.public_session(trust) as session:
        net.fetch(session, "GET", server.url, total=ENOUGH, limit=1000)
    assert server.requests[0].headers["authorization"]
    assert "authorization" not in other.requests[0].headers


def test_an_address_of_the_local_network_must_be_named_by_somebody_there(fault_server):
    server = fault_server(files=LONG)
    with net.public_session(net.Trust()) as session, pytest.raises(net.NetworkError) as caught:
        net.fetch(session, "GET", f"{server.url}/x", total=ENOUGH, limit=1000)
    assert caught.value.kind == "local"
    assert server.requests == []


def test_what_a_local_server_names_is_trusted_and_what_a_public_one_names_is_not(fault_server):
    other = fault_server(files=LONG)
    trust = net.Trust({"127.0.0.1"})
    away = redirect(f"http://localhost:{other.port}/x")
    with net.public_session(trust) as session:
        net.named(session, "http://127.0.0.1/", ["http://localhost/"])
        assert "localhost" not in trust.local, "nothing was read from there"
        server = fault_server(away, script_all=True)
        assert net.fetch(session, "GET", server.url, total=ENOUGH, limit=1000).body
    assert {"127.0.0.1", "localhost"} <= trust.local
    trust.named("https://public.example/", ["http://10.0.0.1/"])
    assert "10.0.0.1" not in trust.local


def test_a_proxy_does_not_hide_the_local_network(fault_server, monkeypatch):
    proxy = fault_server(files=LONG)
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("no_proxy", "")
    with net.public_session(net.Trust()) as session, pytest.raises(net.NetworkError) as caught:
        net.fetch(session, "GET", "http://10.1.2.3/x", total=ENOUGH, limit=1000)
    assert caught.value.kind == "local"
    assert proxy.requests == []


def test_limits_nest_and_end_with_their_block():
    with net.time_limit(100), net.time_limit(1000):
        assert net._left(None) <= 100
    with net.time_limit(0), pytest.raises(TimeoutError), net.time_limit(50):
        net._left(None)
    assert net._left(7.0) == 7.0


# No other module

MODULES = ("requests", "urllib3", "urllib.request", "http.client", "httpx", "aiohttp", "ftplib")
CALLS = ("create_connection", "urlopen", "open_connection")


def _network_use(tree):
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if any(name == m or name.startswith(m + ".") for m in MODULES):
                yield name
        if isinstance(node, ast.Attribute) and node.attr in CALLS:
            yield node.attr
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "socket.socket":
            yield "socket.socket"


def test_no_other_module_opens_a_connection():
    """privacy.py looks at a connected socket; what asks Podman or Postgres uses their clients."""
    found = {}
    for path in sorted(CODE.rglob("*.py")):
        if used := list(_network_use(ast.parse(path.read_text("utf-8")))):
            found[str(path.relative_to(CODE))] = sorted(set(used))
    assert "net.py" in found
    assert {k: v for k, v in found.items() if k != "net.py"} == {"privacy.py": ["socket.socket"]}
