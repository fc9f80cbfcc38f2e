"""The real parts that other tests start: are they what they say, and do they go away again?"""

import urllib.error
import urllib.request
from xml.etree import ElementTree

import pytest
from support.proxy import RecordingProxy

ARTICLES = {"Kokoro (novel)": "<p>Kokoro is a novel by Natsume Sōseki.</p>"}


def search(server, name, words):
    url = f"{server.url}/search?pattern={words}&books.name={name}&format=xml"
    with urllib.request.urlopen(url, timeout=10) as answer:
        return [i.findtext("title") for i in ElementTree.parse(answer).iter("item")]


def status(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("version", ["3.7", "3.3"])
def test_a_real_kiwix_serve_finds_what_was_written(request, make_zim, version):
    start = request.getfixturevalue("kiwix" + version.replace(".", ""))
    zim = make_zim(ARTICLES, name="books_en", redirects={"Soseki's Kokoro": "Kokoro (novel)"})
    server = start(zim)
    assert search(server, "books_en_2026-06", "novel") == ["Kokoro (novel)"]
    assert search(server, "books_en_2026-06", "album") == []
    # What the two differ in: 3.3 has its content at the root.
    content = status(f"{server.url}/content/books_en_2026-06/Soseki's_Kokoro")
    assert content == {"3.7": 200, "3.3": 404}[version]
    assert status(f"{server.url}/books_en_2026-06/Kokoro_(novel)") == 200
    server.stop()
    with pytest.raises(urllib.error.URLError):
        status(server.url)


def test_a_zim_without_a_fulltext_index(kiwix37, make_zim):
    server = kiwix37(make_zim(ARTICLES, name="poor", fulltext=False), options=("-r", "/wiki"))
    assert server.url.endswith("/wiki")
    assert status(f"{server.url}/search?pattern=novel&books.name=poor_2026-06") == 404


def test_a_server_that_does_not_start_says_why(kiwix37, shared_data):
    damaged = sorted((shared_data / "zims" / "broken").glob("*.zim"))[0]
    with pytest.raises(RuntimeError, match="Unable to add"):
        kiwix37(damaged)


def test_a_version_that_is_not_there_is_skipped_with_its_reason():
    from support.kiwix import Unavailable, command

    with pytest.raises(Unavailable, match=r"kiwix-serve is not|is not installed"):
        command("2.0")


def test_a_run_of_the_script_sees_nothing_of_the_caller(run_cli, monkeypatch):
    monkeypatch.setenv("INFOFORGE_CONFIG", "/nowhere/config.yaml")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    run = run_cli("--version")
    assert (run.code, run.stderr) == (0, "")
    assert run.stdout.startswith("infoforge ")
    assert "INFOFORGE_CONFIG" not in run_cli.environment()
    assert "HTTP_PROXY" not in run_cli.environment()


def test_the_proxy_notes_requests_and_changes_nothing(kiwix37, make_zim):
    server = kiwix37(make_zim(ARTICLES, name="books_en"))
    with RecordingProxy(server.port) as proxy:
        assert search(proxy, "books_en_2026-06", "novel") == ["Kokoro (novel)"]
        assert status(f"{proxy.url}/raw/nowhere") == 404
        assert proxy.targets == [
            "/search?pattern=novel&books.name=books_en_2026-06&format=xml",
            "/raw/nowhere",
        ]
