from __future__ import annotations

import json

import pytest

from infoforge.config.settings import EndpointSettings
from infoforge.contract import WarningMessage
from infoforge.model.faults import check_prompt_cut, least_tokens, limit_in, redact, too_long
from infoforge.model.prompt import Prompt
from infoforge.model.wire import error_message, lines

ENDPOINT = EndpointSettings("here", url="http://127.0.0.1:1/v1", context_tokens=4096)
ENGLISH = "Natsume Soseki was a novelist of the Meiji era. " * 225
CHINESE = "夏目漱石是日本作家。" * 300


def told(text: str, tokens: int) -> list[WarningMessage]:
    warnings: list[WarningMessage] = []
    prompt = Prompt(({"role": "user", "content": text},), (), len(text))
    check_prompt_cut(ENDPOINT, prompt, tokens, warnings.append)
    return warnings


@pytest.mark.parametrize(
    ("text", "tokens", "cut"),
    [
        (ENGLISH, 2500, False),  # 4.3 characters a token: as usual
        (ENGLISH, 1900, False),  # sparse, but a tokeniser may do it
        (ENGLISH, 1700, True),
        (ENGLISH, 2048, True),  # a full window of the default size
        (ENGLISH, 2041, True),
        (ENGLISH, 2049, False),
        (ENGLISH, 0, False),  # not told
        (CHINESE, 2000, False),
        (CHINESE, 1200, True),
        ("short", 1, False),
    ],
)
def test_a_cut_prompt_is_seen_and_a_dense_tokeniser_is_not_accused(
    text: str, tokens: int, cut: bool
) -> None:
    assert [warning.code for warning in told(text, tokens)] == (["prompt_cut"] if cut else [])


def test_the_warning_says_what_to_set() -> None:
    (warning,) = told(ENGLISH, 1024)
    for part in ("1024", "OLLAMA_CONTEXT_LENGTH=4096", "--ctx-size 4096", "context_tokens"):
        assert part in warning.message


def test_wide_characters_are_more_tokens() -> None:
    assert least_tokens("夏目漱石") == 2
    assert least_tokens("abcdefabcdef") == 2


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("the available context size (4096 tokens)", 4096),
        ("maximum context length is 8192 tokens", 8192),
        ("context length of only 2048 tokens", 2048),
        ("exceed context window of 512", 512),
        ("n_ctx=1024", 1024),
        ("no number", 0),
    ],
)
def test_the_limit_in_a_message(text: str, limit: int) -> None:
    assert limit_in(text) == limit


@pytest.mark.parametrize(
    "text",
    [
        "model 'x' not found",
        "invalid temperature",
        "max_tokens is too large",
        "rate limit exceeded",
        "",
        "the context of this request is unclear",
    ],
)
def test_other_complaints_are_not_too_long(text: str) -> None:
    assert not too_long(text)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "a", "code": 1}}, "a"),
        ({"error": "b"}, "b"),
        ({"message": "c"}, "c"),
        ({"detail": [{"msg": "d"}]}, "d"),
        ([{"error": {"message": "e"}}], "e"),
        ({"x": 1}, '{"x": 1}'),
        ("f", "f"),
    ],
)
def test_the_sentence_in_an_error_body(body: object, message: str) -> None:
    assert error_message(json.dumps(body)) == message


def test_a_page_is_no_sentence_and_a_long_one_is_cut() -> None:
    assert error_message("<html><body>502") == ""
    assert error_message("two\n lines") == "two lines"
    assert len(error_message("x" * 5000)) == 300


def test_an_unset_key_needs_no_redaction(monkeypatch: pytest.MonkeyPatch) -> None:
    keyed = EndpointSettings("here", api_key_env="SOME_KEY")
    monkeypatch.setenv("SOME_KEY", "abc123")
    assert redact("key abc123 refused", keyed) == "key [api key] refused"
    monkeypatch.delenv("SOME_KEY")
    assert redact("key abc123 refused", keyed) == "key abc123 refused"
    assert redact("abc", EndpointSettings("quotes", kind="quote")) == "abc"


def test_lines_come_whole_however_the_bytes_are_cut() -> None:
    data = "data: é中\r\n\ndata: end".encode()
    whole = [("data: é中", True), ("", True), ("data: end", False)]
    for size in range(1, len(data) + 1):
        chunks = [data[i : i + size] for i in range(0, len(data), size)]
        assert list(lines(iter(chunks))) == whole
