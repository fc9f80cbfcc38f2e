from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from support.fault_server import Behaviour, FaultServer, Request, refused_url, reply, status

from infoforge.config.settings import EndpointSettings, TimeoutSettings
from infoforge.contract import ConfigError
from infoforge.model.probe import probe

Start = Callable[..., FaultServer]
QUICK = TimeoutSettings(connect=0.5, first_byte=0.6, idle=0.6, total=3.0)


def endpoint(url: str, **more: Any) -> EndpointSettings:
    return EndpointSettings("box", url=f"{url}/v1", timeouts=QUICK, **more)


def document(value: object) -> tuple[str, bytes]:
    return "application/json", json.dumps(value).encode()


def test_a_good_server_passes_and_its_context_is_measured(fault_server: Start) -> None:
    server = fault_server(reply("yes", prompt_tokens=3700))
    found = probe(endpoint(server.url, context_tokens=4096))
    assert found.ok
    assert found.reachable
    assert (found.model, found.listed, found.models) == ("test-model", True, ("test-model",))
    assert (found.context_ok, found.context_from) == (True, "measured")
    assert (found.code, found.message) == ("", "")
    assert server.chats[0].json["max_tokens"] == 1
    assert len(server.chats) == 2


def test_without_measuring_one_completion_is_asked(fault_server: Start) -> None:
    server = fault_server(reply("yes"))
    found = probe(endpoint(server.url), measure=False)
    assert (found.ok, found.context_ok) == (True, None)
    assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("path", "body", "context"),
    [
        ("/props", {"default_generation_settings": {"n_ctx": 2048}}, 2048),
        ("/api/ps", {"models": [{"name": "test-model:latest", "context_length": 4096}]}, 4096),
        ("/api/v0/models/test-model", {"id": "test-model", "loaded_context_length": 1024}, 1024),
        ("/v1/models", {"data": [{"id": "test-model", "max_model_len": 512}]}, 512),
    ],
    ids=["llama.cpp", "ollama", "lm studio", "vllm"],
)
def test_a_server_that_tells_its_context_is_believed(
    fault_server: Start, path: str, body: object, context: int
) -> None:
    server = fault_server(reply("yes"), files={path: document(body)})
    found = probe(endpoint(server.url, model="test-model", context_tokens=8192))
    assert found.ok
    assert (found.context, found.context_ok) == (context, False)
    assert found.code == "context_too_small"
    assert "8192" in found.hint
    assert len(server.chats) == 1


def test_a_server_that_cuts_in_silence_is_found_out(fault_server: Start) -> None:
    server = fault_server(reply("yes", prompt_tokens=10), reply("yes", prompt_tokens=2048))
    found = probe(endpoint(server.url, context_tokens=8192))
    assert (found.ok, found.context, found.context_ok) == (True, 2048, False)
    assert "num_ctx" in found.hint


def test_a_server_that_says_too_long_is_found_out(fault_server: Start) -> None:
    says = "This model's maximum context length is 2048 tokens, reduce the length of the messages"
    server = fault_server(reply("yes"), status(400, says))
    found = probe(endpoint(server.url, context_tokens=8192))
    assert (found.ok, found.context, found.context_ok) == (True, 2048, False)


def test_a_model_that_begins_to_think_completes(fault_server: Start) -> None:
    server = fault_server(reply("", reasoning="hm", finish="length"))
    assert probe(endpoint(server.url), measure=False).ok


def test_an_empty_answer_does_not(fault_server: Start) -> None:
    found = probe(endpoint(fault_server("empty-reply").url), measure=False)
    assert (found.reachable, found.ok, found.code) == (True, False, "endpoint_empty")


def test_a_model_that_is_not_listed_is_told(fault_server: Start) -> None:
    server = fault_server(status(404, "model 'x' not found"), models=("one", "two"))
    found = probe(endpoint(server.url, model="x"))
    assert (found.listed, found.ok, found.code) == (False, False, "endpoint_model_unknown")
    assert found.models == ("one", "two")


def test_several_models_and_none_chosen(fault_server: Start) -> None:
    found = probe(endpoint(fault_server(models=("one", "two")).url))
    assert (found.reachable, found.model, found.code) == (True, "", "endpoint_model_unset")


def test_a_server_without_a_list_may_answer_all_the_same(fault_server: Start) -> None:
    def respond(request: Request) -> Behaviour | None:
        return status(404) if request.path.endswith("/models") else None

    found = probe(endpoint(fault_server(respond=respond).url, model="m"), measure=False)
    assert (found.ok, found.listed, found.models) == (True, None, ())


def test_nobody_there() -> None:
    found = probe(endpoint(refused_url(), model="m"))
    assert (found.reachable, found.ok, found.code) == (False, False, "endpoint_refused")
    assert found.hint


def test_a_hanging_server(fault_server: Start) -> None:
    found = probe(endpoint(fault_server("hang", script_all=True).url, model="m"))
    assert (found.reachable, found.code) == (False, "endpoint_timeout")


def test_quote_is_always_there() -> None:
    assert probe(EndpointSettings("quotes", kind="quote")).ok


def test_a_public_address_is_refused() -> None:
    with pytest.raises(ConfigError):
        probe(endpoint("http://203.0.113.7"))


def test_a_prompt_of_full_length_that_fails_leaves_the_context_unknown(fault_server: Start) -> None:
    found = probe(endpoint(fault_server(reply("yes"), "hang").url))
    assert (found.ok, found.context_ok, found.code) == (True, None, "context_unknown")
    assert "timed out" in found.message
