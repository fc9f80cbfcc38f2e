"""The endpoints against a real HTTP server that fails on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from support.fault_server import Behaviour, FaultServer, Request, cut, refused_url, reply, status

from infoforge.config.settings import EndpointSettings, TimeoutSettings
from infoforge.contract import ConfigError, NoEndpoint, WarningMessage
from infoforge.model import prompt
from infoforge.model.endpoints import complete
from infoforge.records import Completion, Source

QUESTION = "When was Natsume Sōseki born?"
SOURCES = (
    Source(
        number=1,
        title="Natsume Sōseki",
        url="zim://a/Natsume",
        corpus="a",
        path="Natsume",
        date="2026-06",
        language="en",
        text="Natsume Sōseki was a Japanese novelist. He was born on 9 February 1867 in Tokyo.",
    ),
    Source(
        number=2,
        title="Kokoro",
        url="zim://a/Kokoro",
        corpus="a",
        path="Kokoro",
        date="2026-06",
        language="en",
        text="Kokoro is a 1914 novel by Natsume Sōseki.",
    ),
)
QUICK = TimeoutSettings(connect=0.5, first_byte=0.6, idle=0.6, total=5.0)
GOOD = "He was born on 9 February 1867 [1]."

Start = Callable[..., FaultServer]


def endpoint(server: FaultServer | str, name: str = "first", **more: Any) -> EndpointSettings:
    url = server if isinstance(server, str) else server.url
    options = {"model": "test-model", "timeouts": QUICK, **more}
    return EndpointSettings(name=name, url=f"{url}/v1", **options)


@dataclass
class Run:
    """One call of ``complete`` and everything that it told on the way."""

    screen: str = ""
    restarts: list[str] = field(default_factory=list)
    warnings: list[WarningMessage] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    @property
    def codes(self) -> list[str]:
        return [warning.code for warning in self.warnings]

    def ask(self, *endpoints: EndpointSettings, stream: bool = True) -> Completion:
        def build(_: EndpointSettings, share: float) -> prompt.Prompt:
            self.shares.append(share)
            kept = SOURCES[: max(1, int(len(SOURCES) * share))]
            return prompt.build(QUESTION, kept, "en")

        def show(text: str) -> None:
            self.screen += text

        def restart(why: str) -> None:
            self.screen = ""
            self.restarts.append(why)

        return complete(
            endpoints,
            build,
            on_text=show if stream else None,
            warn=self.warnings.append,
            on_restart=restart,
        )


STREAMED = pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])


@STREAMED
def test_a_good_server_answers(fault_server: Start, stream: bool) -> None:
    server = fault_server(reply(GOOD))
    run = Run()
    answer = run.ask(endpoint(server, max_tokens=50, temperature=0.7), stream=stream)
    assert (answer.text, answer.endpoint, answer.model) == (GOOD, "first", "test-model")
    assert (answer.kind, answer.sources, answer.truncated) == ("openai", SOURCES, False)
    assert answer.usage.prompt_tokens == 1000
    assert run.screen == (GOOD if stream else "")
    assert run.warnings == []
    asked = server.chats[0].json
    assert (asked["model"], asked["temperature"], asked["max_tokens"]) == ("test-model", 0.7, 50)
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    assert asked["messages"][-1]["content"].endswith(f"Question: {QUESTION}")
    assert len(server.requests) == 1


FAULTS = {
    "500": "endpoint_server_error",
    "503": "endpoint_server_error",
    "401": "endpoint_auth",
    "403": "endpoint_auth",
    "404": "endpoint_model_unknown",
    "429": "endpoint_http",
    "302": "endpoint_redirect",
    "hang": "endpoint_timeout",
    "hang-mid": "endpoint_timeout",
    "drip": "endpoint_timeout",
    "cut": "endpoint_cut",
    "reset": "endpoint_cut",
    "garbage": "endpoint_not_json",
    "not-utf8": "endpoint_not_json",
    "empty": "endpoint_empty",
    "empty-reply": "endpoint_empty",
    "wrong-type": "endpoint_content_type",
}


@STREAMED
@pytest.mark.parametrize(("fault", "code"), FAULTS.items(), ids=FAULTS)
def test_each_fault_leads_to_the_next_endpoint(
    fault_server: Start, fault: str, code: str, stream: bool
) -> None:
    bad, good = fault_server(fault), fault_server(reply(GOOD))
    quick = replace(QUICK, total=1.0)
    run = Run()
    answer = run.ask(endpoint(bad, timeouts=quick), endpoint(good, "second"), stream=stream)
    assert (answer.text, answer.endpoint) == (GOOD, "second")
    assert run.codes == [code]
    assert run.warnings[0].message.startswith("endpoint first: ")
    assert run.screen == (GOOD if stream else "")
    assert len(bad.chats) == 1


def test_refused_and_unreachable_hosts_lead_to_the_next(fault_server: Start) -> None:
    good = fault_server(reply(GOOD))
    run = Run()
    answer = run.ask(
        endpoint(refused_url()),
        endpoint("http://no-such-host.invalid", "second"),
        endpoint(good, "third"),
    )
    assert answer.endpoint == "third"
    assert run.codes == ["endpoint_refused", "endpoint_refused"]


def test_a_port_that_takes_the_connection_and_never_reads(fault_server: Start) -> None:
    wedged, good = fault_server(accept=False), fault_server(reply(GOOD))
    run = Run()
    assert run.ask(endpoint(wedged), endpoint(good, "second")).endpoint == "second"
    assert run.codes == ["endpoint_timeout"]


def test_a_port_that_does_not_speak_http(tmp_path: Path) -> None:
    import socket
    import threading

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        run = Run()
        with pytest.raises(NoEndpoint):
            run.ask(endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}"))
        thread.join()
    assert run.codes in (["endpoint_refused"], ["endpoint_cut"])


def test_when_all_fail_the_error_names_each_and_says_what_to_do(fault_server: Start) -> None:
    run = Run()
    with pytest.raises(NoEndpoint) as failure:
        run.ask(endpoint(fault_server("500")), endpoint(refused_url(), "second"))
    assert failure.value.exit_code == 5
    assert "first: server error" in failure.value.message
    assert "second: refused the connection" in failure.value.message
    assert "infoforge doctor" in failure.value.hint


def test_no_endpoint_at_all_is_the_same_error() -> None:
    with pytest.raises(NoEndpoint, match="no model endpoint is configured"):
        Run().ask()


def test_a_stream_that_breaks_is_taken_back(fault_server: Start) -> None:
    bad = fault_server(cut("Wrong words that a reader has seen by now, and more of them."))
    run = Run()
    answer = run.ask(endpoint(bad), endpoint(fault_server(reply(GOOD)), "second"))
    assert answer.text == run.screen == GOOD
    assert len(run.restarts) == 1
    assert "starting over" in run.restarts[0]


def test_a_stream_without_its_end_is_half_a_stream(fault_server: Start) -> None:
    half = fault_server(Behaviour(text="As if all were said.", done=False, finish=""))
    run = Run()
    with pytest.raises(NoEndpoint):
        run.ask(endpoint(half))
    assert run.codes == ["endpoint_cut"]


def test_a_finish_reason_ends_a_stream_without_done(fault_server: Start) -> None:
    server = fault_server(reply(GOOD, done=False))
    assert Run().ask(endpoint(server)).text == GOOD


def test_a_server_that_does_not_stream_is_understood(fault_server: Start) -> None:
    document = {"choices": [{"message": {"content": GOOD}, "finish_reason": "stop"}]}
    server = fault_server(Behaviour(body=json.dumps(document).encode()))
    run = Run()
    assert run.ask(endpoint(server)).text == GOOD
    assert run.screen == GOOD


def test_content_in_parts_is_understood(fault_server: Start) -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": GOOD}]
    document = {"choices": [{"message": {"content": parts}}]}
    server = fault_server(Behaviour(body=json.dumps(document).encode()))
    assert Run().ask(endpoint(server)).text == GOOD


@pytest.mark.parametrize(
    "document",
    [[], {"choices": "x"}, {"choices": [1]}, {"choices": [{"message": "x"}]}, {"hello": 1}, 7],
)
def test_json_that_is_no_completion_is_a_fault(fault_server: Start, document: object) -> None:
    run = Run()
    with pytest.raises(NoEndpoint):
        run.ask(endpoint(fault_server(Behaviour(body=json.dumps(document).encode()))))
    assert run.codes == ["endpoint_not_json"]


def test_an_error_inside_the_stream_is_a_fault(fault_server: Start) -> None:
    body = b'data: {"error": {"message": "out of memory"}}\n\n'
    server = fault_server(Behaviour(body=body, content_type="text/event-stream"))
    run = Run()
    with pytest.raises(NoEndpoint):
        run.ask(endpoint(server))
    assert run.codes == ["endpoint_server_error"]
    assert "out of memory" in run.warnings[0].message


@STREAMED
@pytest.mark.parametrize(
    "thinking",
    [
        Behaviour(text="", reasoning="Let me think."),
        Behaviour(text="<think>Let me think.</think>"),
        Behaviour(text="<think>Let me think and never stop"),
    ],
    ids=["beside", "between", "unclosed"],
)
def test_nothing_but_thinking_is_a_fault(
    fault_server: Start, thinking: Behaviour, stream: bool
) -> None:
    run = Run()
    answer = run.ask(
        endpoint(fault_server(thinking)),
        endpoint(fault_server(reply(GOOD)), "second"),
        stream=stream,
    )
    assert answer.endpoint == "second"
    assert run.codes == ["endpoint_reasoning_only"]
    assert "think" not in run.screen


@STREAMED
@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(text=GOOD, reasoning="He was born in 1999 [2]."),
        reply(
            f"<think>1999 [2]</think>\n\n{GOOD}",
            chunks=("<th", "ink>1999 ", "[2]</", "think>\n\n", GOOD),
        ),
        reply(f"1999 [2]</think>{GOOD}"),
        reply(f"{GOOD}<think>1999 [2]"),
    ],
    ids=["beside", "split tags", "closing tag only", "never closed"],
)
def test_thinking_is_stripped(fault_server: Start, behaviour: Behaviour, stream: bool) -> None:
    run = Run()
    answer = run.ask(endpoint(fault_server(behaviour)), stream=stream)
    assert answer.text == GOOD
    assert run.screen == (GOOD if stream else "")
    assert run.warnings == []


def test_a_model_that_spent_its_budget_thinking_is_asked_once_more(fault_server: Start) -> None:
    spent = Behaviour(text="<think>Let me think and never stop", finish="length")
    server = fault_server(spent, reply(GOOD))
    run = Run()
    answer = run.ask(endpoint(server, max_tokens=200, context_tokens=8192))
    assert answer.text == run.screen == GOOD
    assert run.codes == ["thinking_budget"]
    assert [chat.json["max_tokens"] for chat in server.chats] == [200, 800]


@pytest.mark.parametrize(("context", "asked"), [(8192, [200, 800]), (450, [150])])
def test_and_otherwise_reported_as_that(
    fault_server: Start, context: int, asked: list[int]
) -> None:
    server = fault_server(Behaviour(text="", reasoning="Let me think", finish="length"))
    run = Run()
    with pytest.raises(NoEndpoint, match="thinking") as failure:
        run.ask(endpoint(server, max_tokens=200, context_tokens=context))
    assert "no model endpoint answered" not in failure.value.message
    assert "context_tokens" in failure.value.hint
    assert run.codes[-1] == "endpoint_reasoning_only"
    assert [chat.json["max_tokens"] for chat in server.chats] == asked


SSE = "text/event-stream"
PRETTY = json.dumps({"error": {"message": "out of memory"}}, indent=2)


@STREAMED
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('{"object": "error", "message": "out of memory", "code": 500}', "application/json"),
        ('{"detail": "out of memory"}', "application/json"),
        ('{"detail": [{"msg": "out of memory"}]}', "application/json"),
        (PRETTY, "application/json"),
        ('data: {"object": "error", "message": "out of memory"}\n\n', SSE),
        ('data: {"detail": "out of memory"}\n\n', SSE),
        ('event: error\ndata: {"message": "out of memory"}\n\n', SSE),
        ("event: error\ndata: out of memory\n\n", SSE),
        (PRETTY, SSE),
        ("".join(f"data: {line}\n" for line in PRETTY.splitlines()) + "\n", SSE),
    ],
)
def test_an_error_with_status_200_shows_the_server_s_words(
    fault_server: Start, body: str, kind: str, stream: bool
) -> None:
    bad = fault_server(Behaviour(body=body.encode(), content_type=kind))
    run = Run()
    good = endpoint(fault_server(reply(GOOD)), "second")
    assert run.ask(endpoint(bad), good, stream=stream).text == GOOD
    assert run.codes == ["endpoint_server_error"]
    assert "out of memory" in run.warnings[0].message


@pytest.mark.parametrize(
    "words", ["This model's maximum context length is 2048 tokens", "context size exceeded"]
)
def test_an_overflow_with_status_200_is_asked_again_with_fewer_sources(
    fault_server: Start, words: str
) -> None:
    body = json.dumps({"object": "error", "message": words}).encode()
    run = Run()
    server = fault_server(Behaviour(body=body, content_type="application/json"), reply(GOOD))
    assert run.ask(endpoint(server)).text == GOOD
    assert run.shares == [1.0, 0.5]


def test_chunks_without_choices_are_passed_over(fault_server: Start) -> None:
    event = {"choices": [{"delta": {"content": GOOD}, "finish_reason": "stop"}]}
    body = (
        'data: {"id": "1", "choices": null}\n\ndata: null\n\n'
        f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n"
    )
    server = fault_server(Behaviour(body=body.encode(), content_type=SSE))
    assert Run().ask(endpoint(server)).text == GOOD


@STREAMED
@pytest.mark.parametrize(
    "call",
    [
        '<tool_call>\n{"name": "search", "arguments": {"q": "born"}}\n</tool_call>',
        '{"name": "search", "parameters": {"q": "born"}}',
        '```json\n{"name": "search", "arguments": {}}\n```',
        '[{"name": "search", "arguments": {"q": "born"}}]',
        '[TOOL_CALLS][{"name": "search", "arguments": {}}]',
        "<function=search>{}</function>",
        '<|python_tag|>search.call(query="born")',
        '[search(query="born")]',
        "Thought: I should look.\nAction: search\nAction Input: born",
        '```tool_code\nprint(search("born"))\n```',
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search",
        '<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"q": 1}<|call|>',
        'functools[{"name": "search", "arguments": {}}]',
    ],
)
def test_a_tool_call_is_no_answer(fault_server: Start, call: str, stream: bool) -> None:
    run = Run()
    good = endpoint(fault_server(reply(GOOD)), "second")
    assert run.ask(endpoint(fault_server(reply(call))), good, stream=stream).text == GOOD
    assert run.codes in (["endpoint_tool_call"], ["endpoint_reasoning_only"])
    assert run.screen == (GOOD if stream else "")


def test_a_tool_call_next_to_no_text_is_no_answer(fault_server: Start) -> None:
    call = {"function": {"name": "search", "arguments": "{}"}, "type": "function"}
    document = {"choices": [{"message": {"content": None, "tool_calls": [call]}}]}
    run = Run()
    with pytest.raises(NoEndpoint):
        run.ask(endpoint(fault_server(Behaviour(body=json.dumps(document).encode()))))
    assert run.codes == ["endpoint_tool_call"]


def test_a_cut_answer_is_told(fault_server: Start) -> None:
    run = Run()
    answer = run.ask(endpoint(fault_server(reply("He was born", finish="length"))))
    assert answer.truncated
    assert run.codes == ["answer_cut"]
    assert "max_tokens" in run.warnings[0].message


def test_a_prompt_that_the_server_cut_is_told(fault_server: Start) -> None:
    run = Run()
    answer = run.ask(endpoint(fault_server(reply(GOOD, prompt_tokens=120))))
    assert answer.text == GOOD
    assert run.codes == ["prompt_cut"]
    assert "num_ctx" in run.warnings[0].message
    assert "--ctx-size" in run.warnings[0].message


@pytest.mark.parametrize("tokens", [None, 0, 400, 100_000])
def test_a_plausible_or_missing_count_is_not(fault_server: Start, tokens: int | None) -> None:
    run = Run()
    run.ask(endpoint(fault_server(reply(GOOD, prompt_tokens=tokens))))
    assert run.warnings == []


TOO_LONG = {
    "llama.cpp": (
        "the request exceeds the available context size (4096 tokens), try increasing it",
        "exceed_context_size_error",
    ),
    "ollama": ("the input length exceeds the context length", ""),
    "ollama new": ("prompt too long; exceeded max context length by 904 tokens", ""),
    "by its code alone": ("Bad request.", "context_length_exceeded"),
    "vllm": (
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"
        " (4300 in the messages, 700 in the completion). Please reduce the length.",
        "",
    ),
    "vllm new": (
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "",
    ),
    "lm studio": (
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is"
        " loaded with context length of only 4096 tokens, which is not enough.",
        "",
    ),
    "llama-cpp-python": (
        "Requested tokens (5000) exceed context window of 4096",
        "context_length_exceeded",
    ),
}


@pytest.mark.parametrize("server", TOO_LONG)
def test_too_long_is_asked_once_more_with_half(fault_server: Start, server: str) -> None:
    message, code = TOO_LONG[server]
    asked = fault_server(status(400, message, code), reply(GOOD))
    run = Run()
    answer = run.ask(endpoint(asked))
    assert answer.text == GOOD
    assert answer.sources == SOURCES[:1]
    assert run.shares == [1.0, 0.5]
    assert run.codes == ["prompt_too_long"]
    if "4096" in message:
        assert "context_tokens: 4096" in run.warnings[0].message
    long, short = (len(chat.body) for chat in asked.chats)
    assert short < long


def test_too_long_twice_is_a_fault(fault_server: Start) -> None:
    message, _ = TOO_LONG["vllm"]
    bad, good = fault_server(status(400, message)), fault_server(reply(GOOD))
    run = Run()
    assert run.ask(endpoint(bad), endpoint(good, "second")).sources == SOURCES
    assert run.codes == ["prompt_too_long", "endpoint_too_long"]
    assert run.shares == [1.0, 0.5, 1.0]
    assert len(bad.chats) == 2


def test_the_only_model_listed_is_used(fault_server: Start) -> None:
    server = fault_server(reply(GOOD), models=("qwen3:4b",))
    answer = Run().ask(endpoint(server, model=""))
    assert answer.model == "qwen3:4b"
    assert server.paths() == ["GET /v1/models", "POST /v1/chat/completions"]


@pytest.mark.parametrize("models", [(), ("one", "two")])
def test_several_models_or_none_need_a_choice(fault_server: Start, models: tuple[str, ...]) -> None:
    server = fault_server(models=models)
    run = Run()
    with pytest.raises(NoEndpoint) as failure:
        run.ask(endpoint(server, model=""))
    assert run.codes == ["endpoint_model_unset"]
    assert all(name in run.warnings[0].message for name in models)
    assert "set model" in failure.value.hint
    assert server.chats == []


def test_an_unknown_model_is_told_with_those_there_are(fault_server: Start) -> None:
    server = fault_server(status(404, "model 'llama9' not found"), models=("one", "two"))
    run = Run()
    with pytest.raises(NoEndpoint):
        run.ask(endpoint(server, model="llama9"))
    assert run.codes == ["endpoint_model_unknown"]
    assert "one, two" in run.warnings[0].message


def test_a_template_without_system_role_gets_one_message(fault_server: Start) -> None:
    server = fault_server(status(500, "Jinja Exception: System role not supported"), reply(GOOD))
    assert Run().ask(endpoint(server)).text == GOOD
    messages = server.chats[1].json["messages"]
    assert [message["role"] for message in messages] == ["user"]
    assert "numbered sources" in messages[0]["content"]
    assert messages[0]["content"].endswith(QUESTION)


def test_a_server_without_stream_options_is_asked_without(fault_server: Start) -> None:
    server = fault_server(status(422, "Unrecognized request argument: stream_options"), reply(GOOD))
    assert Run().ask(endpoint(server)).text == GOOD
    assert "stream_options" not in server.chats[1].json


def test_the_key_is_sent_and_never_told(
    fault_server: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", "sk-secret-1")
    server = fault_server(status(401, "Incorrect API key provided: sk-secret-1"))
    run = Run()
    with pytest.raises(NoEndpoint) as failure:
        run.ask(endpoint(server, api_key_env="TEST_MODEL_KEY"))
    assert server.chats[0].headers["authorization"] == "Bearer sk-secret-1"
    told = run.warnings[0].message + failure.value.message + failure.value.hint
    assert "[api key]" in told
    assert "sk-secret-1" not in told


def test_a_missing_key_leads_to_the_next_endpoint(
    fault_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    keyed, good = fault_server(reply(GOOD)), fault_server(reply(GOOD))
    run = Run()
    first = endpoint(keyed, api_key_env="NO_SUCH_KEY")
    assert run.ask(first, endpoint(good, "second")).endpoint == "second"
    assert run.codes == ["endpoint_auth"]
    assert keyed.requests == []


def test_proxies_of_the_environment_are_not_used(
    fault_server: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = fault_server(reply("from the proxy"))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url)
    assert Run().ask(endpoint(fault_server(reply(GOOD)))).text == GOOD
    assert proxy.connections == 0


def test_a_redirect_is_not_followed(fault_server: Start) -> None:
    other = fault_server(reply("from elsewhere"))
    moved = fault_server(
        Behaviour(kind="307", headers={"Location": f"{other.url}/v1/chat/completions"})
    )
    run = Run()
    with pytest.raises(NoEndpoint):
        run.ask(endpoint(moved))
    assert run.codes == ["endpoint_redirect"]
    assert other.connections == 0


def test_a_public_address_is_refused_before_any_connection() -> None:
    run = Run()
    with pytest.raises(ConfigError) as failure:
        run.ask(endpoint("http://203.0.113.7:8080"))
    assert failure.value.exit_code == 2
    assert run.warnings == []


def test_a_reply_without_end_is_cut_off(fault_server: Start) -> None:
    body = b'{"choices": [' + b" " * (9 * 1024 * 1024)
    run = Run()
    with pytest.raises(NoEndpoint):
        run.ask(endpoint(fault_server(Behaviour(body=body))))
    assert run.codes == ["endpoint_too_large"]


def test_a_left_server_is_hung_up_on(fault_server: Start) -> None:
    """The connection of a hanging stream is closed, so that the model stops for nobody."""
    import socket
    import threading

    hung_up = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def hang() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n"
                connection.sendall(head)
                connection.settimeout(10)
                while connection.recv(65536):
                    pass
                hung_up.set()

        thread = threading.Thread(target=hang)
        thread.start()
        run = Run()
        slow = replace(QUICK, first_byte=30.0, idle=0.3)
        with pytest.raises(NoEndpoint):
            run.ask(endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}", timeouts=slow))
        assert hung_up.wait(10)
        thread.join()
    assert run.codes == ["endpoint_timeout"]


def test_quote_needs_no_server() -> None:
    run = Run()
    answer = run.ask(endpoint(refused_url()), EndpointSettings("quotes", kind="quote"))
    assert (answer.kind, answer.endpoint) == ("quote", "quotes")
    assert "9 February 1867" in answer.text
    assert "[1]" in answer.text
    assert run.screen == answer.text
    assert run.codes == ["endpoint_refused"]


def test_each_request_is_recorded_as_sent(fault_server: Start) -> None:
    seen: list[Request] = []

    def respond(request: Request) -> None:
        seen.append(request)

    server = fault_server(reply(GOOD), respond=respond)
    Run().ask(endpoint(server))
    assert [r.method for r in seen] == ["POST"]
    assert "authorization" not in seen[0].headers
    assert "Natsume Sōseki" in seen[0].json["messages"][1]["content"]
