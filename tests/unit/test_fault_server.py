"""The faults are what other tests rest on: each must be the fault it says it is."""

import socket

import pytest
import requests
from support.fault_server import FaultServer, cut, refused_url, reply, slow

BODY = {"model": "m", "messages": [{"role": "user", "content": "?"}]}


def ask(server, *, stream=False, timeout=1.0):
    url = server.url + "/v1/chat/completions"
    return requests.post(url, json={**BODY, "stream": stream}, timeout=timeout)


def test_a_well_behaved_server_answers_whole_and_streamed(fault_server):
    server = fault_server(reply("One two [1].", reasoning="hm"))
    whole = ask(server).json()
    assert whole["choices"][0]["message"]["content"] == "One two [1]."
    streamed = ask(server, stream=True)
    assert streamed.headers["Content-Type"].startswith("text/event-stream")
    assert streamed.text.count("data: ") == 8  # role, reasoning, 3 words, finish, usage, done
    assert [r.json["stream"] for r in server.chats] == [False, True]
    models = requests.get(server.url + "/v1/models", timeout=1).json()
    assert [m["id"] for m in models["data"]] == ["test-model"]


def test_the_script_goes_on_and_its_last_line_repeats(fault_server):
    server = fault_server("500", "401", reply("late"))
    assert [ask(server).status_code for _ in range(4)] == [500, 401, 200, 200]


@pytest.mark.parametrize("kind", ["hang", "hang-mid"])
@pytest.mark.parametrize("stream", [False, True])
def test_hangs_are_only_ended_by_the_client(fault_server, kind, stream):
    # In the middle of a stream the silence meets requests while it reads on.
    with pytest.raises((requests.ReadTimeout, requests.ConnectionError)):
        ask(fault_server(kind), stream=stream, timeout=0.2)


def test_hanging_at_connect_takes_the_connection_and_never_answers():
    with FaultServer(accept=False) as server, pytest.raises(requests.ReadTimeout):
        ask(server, timeout=0.2)


def test_refused_is_refused():
    with pytest.raises(requests.ConnectionError, match="refused"):
        requests.get(refused_url(), timeout=1)


def test_a_cut_body_is_shorter_than_announced(fault_server):
    with pytest.raises((requests.exceptions.ChunkedEncodingError, requests.ConnectionError)):
        ask(fault_server(cut("half of it")))
    streamed = ask(fault_server(cut("half of it")), stream=True)
    assert "[DONE]" not in streamed.text
    assert streamed.text.startswith("data: {")


def test_a_reset_is_a_reset_and_not_an_end(fault_server):
    server = fault_server("reset")
    with socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            raw.recv(1)


@pytest.mark.parametrize("kind", ["garbage", "not-utf8", "empty", "wrong-type"])
def test_what_is_not_json_is_not_json(fault_server, kind):
    response = ask(fault_server(kind))
    assert response.status_code == 200
    with pytest.raises(ValueError, match=r"."):
        response.json()


def test_an_empty_reply_is_well_formed(fault_server):
    assert ask(fault_server("empty-reply")).json()["choices"][0]["message"]["content"] == ""


def test_a_drip_arrives_whole(fault_server):
    assert "Slow [1]" in ask(fault_server(slow(0.0001, "Slow [1]")), timeout=5).text


def test_files_with_ranges_and_head(fault_server):
    server = fault_server(files={"/a/ü.txt": b"0123456789"})
    url = server.url + "/a/%C3%BC.txt"
    assert requests.head(url, timeout=1).headers["Content-Length"] == "10"
    part = requests.get(url, headers={"Range": "bytes=7-"}, timeout=1)
    assert (part.status_code, part.content) == (206, b"789")
    assert part.headers["Content-Range"] == "bytes 7-9/10"
    assert requests.get(url, headers={"Range": "bytes=10-"}, timeout=1).status_code == 416
    assert requests.get(server.url + "/none", timeout=1).status_code == 404
    assert server.paths()[0] == "HEAD /a/ü.txt"


def test_a_script_for_all_requests(fault_server):
    server = fault_server("500", "ok", files={"/f": b"x"}, script_all=True)
    codes = [requests.get(server.url + "/f", timeout=1).status_code for _ in range(2)]
    assert codes == [500, 200]


def test_an_unknown_behaviour_is_an_error():
    with pytest.raises(ValueError, match="no such behaviour"):
        FaultServer("hagn")
