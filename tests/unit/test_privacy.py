"""What may be connected to without `allow_public`, and every trick to get round it."""

from __future__ import annotations

import ipaddress
import socket
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoforge import privacy
from infoforge.contract import ConfigError
from infoforge.net import private_session
from infoforge.privacy import check_private, host_of, is_private


@pytest.fixture
def names(monkeypatch):
    """`names["box.lan"] = ["10.0.0.2"]`: a resolver with these names; numbers as the real one."""
    table = {}
    real = socket.getaddrinfo

    def getaddrinfo(host, port, *args, **kwargs):
        if host in table:
            return [
                (
                    socket.AF_INET6 if ":" in a else socket.AF_INET,
                    socket.SOCK_STREAM,
                    6,
                    "",
                    (a, port or 0),
                )
                for a in table[host]
            ]
        if any(c.isalpha() and c not in "xabcdef" for c in host):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return real(host, port, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return table


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.8.9.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.178.20",
        "169.254.1.1", "100.64.0.1", "100.127.255.254", "0.0.0.0", "[::1]", "[::]",
        "[fe80::1%25eth0]", "[fe80::1%eth0]", "[fd12:3456::1]", "[fc00::1]",
        "[::ffff:10.0.0.1]", "[::ffff:7f00:1]", "2130706433", "0177.0.0.1", "0x7f.1", "127.1",
        "user:pw@127.0.0.1", "8.8.8.8@127.0.0.1",
    ],
)  # fmt: skip
def test_an_address_of_the_house_is_fine(host, names):
    check_private(f"http://{host}:8080/v1", False, "endpoint x")


@pytest.mark.parametrize(
    "host",
    [
        "8.8.8.8", "1.1.1.1", "172.32.0.1", "172.15.0.1", "192.169.0.1", "100.63.255.255",
        "100.128.0.1", "11.0.0.1", "203.0.113.5", "198.18.0.1", "224.0.0.1", "255.255.255.255",
        "[2001:db8::1]", "[2606:4700::1111]", "[::ffff:8.8.8.8]", "[::8.8.8.8]",
        "[64:ff9b::8.8.8.8]", "[64:ff9b::10.0.0.1]", "[2002:7f00:1::1]", "[ff02::1]",
        "134744072", "010.8.8.8", "0x08.8.8.8", "8.8.2056", "127.0.0.1@8.8.8.8",
        "127.0.0.1:80@8.8.8.8",
    ],
)  # fmt: skip
def test_a_public_address_is_refused_unless_the_config_says_so(host, names):
    with pytest.raises(ConfigError, match=r"endpoint x: .* public address") as caught:
        check_private(f"http://{host}/v1", False, "endpoint x")
    assert caught.value.exit_code == 2
    assert "allow_public: true" in caught.value.hint
    check_private(f"http://{host}/v1", True, "endpoint x")


def test_a_name_is_what_it_resolves_to(names):
    names |= {"box.lan": ["10.0.0.2", "fd00::2"], "pi.local": ["fe80::1%eth0"]}
    names |= {"both.example": ["10.0.0.2", "8.8.8.8"], "six.example": ["fd00::1", "2606:4700::1"]}
    check_private("http://box.lan:8080", False, "kiwix.url")
    check_private("http://pi.local", False, "kiwix.url")
    with pytest.raises(ConfigError, match=r"both\.example leads to 8\.8\.8\.8"):
        check_private("https://both.example/v1", False, "kiwix.url")
    with pytest.raises(ConfigError, match="2606:4700::1"):
        check_private("https://six.example/v1", False, "kiwix.url")
    with pytest.raises(ConfigError, match=r"both\.example"):
        check_private("http://box.lan@both.example/", False, "kiwix.url")


def test_a_name_that_does_not_resolve_is_no_matter_of_privacy(names):
    check_private("http://nowhere.lan/", False, "kiwix.url")
    assert privacy.resolve_private("http://nowhere.lan/", False, "kiwix.url") == ()


def test_a_resolver_that_hangs_is_not_waited_for(monkeypatch):
    never = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: never.wait() and [])
    monkeypatch.setattr(privacy, "LOOKUP_SECONDS", 0.01)
    assert privacy.resolve_private("http://slow.lan/", False, "kiwix.url") == ()
    never.set()


def test_a_name_in_any_script_is_read_as_the_client_reads_it(names):
    # requests encodes by UTS 46; Python's own codec would make "strasse.example" of it
    assert host_of("http://straße.example/", "x") == "xn--strae-oqa.example"
    assert host_of("http://１２７.０.０.１/", "x") == "127.0.0.1"
    names["xn--strae-oqa.example"] = ["8.8.8.8"]
    with pytest.raises(ConfigError, match="public"):
        check_private("http://straße.example/", False, "x")


@pytest.mark.parametrize(
    "url",
    [
        "http://evil.example\\@127.0.0.1/", "http://127.0.0.1\\.evil.example/", "http:///v1",
        "http://127.0.0.1 .evil.example/", "http://%31%32%37.0.0.1/", "ftp://127.0.0.1/",
        "file:///etc/passwd", "127.0.0.1:8080", "http://[::1", "http://a@b@127.0.0.1/",
        "http://127.0.0.1:99999999/", "http://127.0.0.1\n.evil.example/", "http://127.0.0.1\x00/",
        "http://ex ample/", "http://\u2100.example/", "http://xn--\u00e9/",
    ],
)  # fmt: skip
def test_a_url_that_may_be_read_in_two_ways_is_refused_even_when_public_is_allowed(url, names):
    for allowed in (False, True):
        with pytest.raises(ConfigError, match=r"kiwix\.url"):
            check_private(url, allowed, "kiwix.url")


def test_no_url_no_connection_no_refusal():
    check_private("", False, "kiwix.url")


def test_a_password_in_a_url_is_not_shown():
    with pytest.raises(ConfigError) as caught:
        check_private("ftp://me:geheim@host/", False, "kiwix.url")
    assert "geheim" not in caught.value.message


@settings(deadline=None)
@given(st.ip_addresses())
def test_what_python_calls_global_is_never_private(address):
    if address.is_global:
        assert not is_private(str(address)) or address in ipaddress.ip_network("100.64.0.0/10")


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_answered_or_refused(text):
    try:
        host = host_of(f"http://{text}", "x")
    except ConfigError:
        return
    assert host
    assert "@" not in host


@settings(deadline=None)
@given(st.text(st.sampled_from("127.0@:/\\#?[]%a. "), max_size=20))
def test_the_host_is_the_one_that_urllib3_connects_to(text):
    """The check and the client must never read two hosts out of one URL."""
    from urllib3.util import parse_url

    url = f"http://{text}"
    try:
        host = host_of(url, "x")
    except ConfigError:
        return
    assert (parse_url(url).host or "").strip("[]") == host


def test_the_session_talks_to_the_house(fault_server):
    with fault_server("500", script_all=True) as server, private_session(False, "x") as session:
        assert session.get(server.url, timeout=5).status_code == 500


def test_the_session_sends_nothing_to_a_public_address_whatever_the_name_said(
    fault_server, monkeypatch
):
    """The name was checked as private, and leads elsewhere when the connection is made."""
    with (
        fault_server("500", script_all=True) as server,
        private_session(False, "endpoint x") as session,
    ):
        monkeypatch.setattr(privacy, "is_private", lambda address: False)
        with pytest.raises(ConfigError, match=r"endpoint x: 127\.0\.0\.1 is a public address"):
            session.post(server.url, json={"q": "secret"}, timeout=5)
        assert server.requests == []
        with private_session(True, "endpoint x") as open_session:
            assert open_session.get(server.url, timeout=5).status_code == 500


def test_the_session_takes_no_proxy_from_the_environment(fault_server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    with fault_server("500", script_all=True) as server, private_session(False, "x") as session:
        assert session.get(server.url, timeout=5).status_code == 500
