"""From a file to settings: what is found, what is refused, in which words, at which price."""

from __future__ import annotations

import dataclasses
import json
import os
import stat
import subprocess
import sys
import types
import typing
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infoforge.config.keys import api_key
from infoforge.config.load import load
from infoforge.config.settings import (
    EndpointSettings,
    SearchSettings,
    Settings,
    Size,
    TimeoutSettings,
    home,
)
from infoforge.config.validate import schema
from infoforge.contract import ConfigError
from infoforge.text.parse import parse_size

ENDPOINT = {"name": "x", "url": "http://127.0.0.1:1/v1"}


@pytest.fixture
def env(tmp_path):
    return {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "conf"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


@pytest.fixture
def write(tmp_path):
    def write(text, name="c.yaml"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            file.write_bytes(text)
        else:
            file.write_text(text if isinstance(text, str) else yaml.safe_dump(text))
        return str(file)

    return write


@pytest.fixture
def refusal(write, env):
    """The message of the ConfigError that a text leads to."""

    def refusal(text):
        with pytest.raises(ConfigError) as caught:
            load(write(text), env)
        assert caught.value.exit_code == 2
        assert "\n" not in caught.value.message
        assert "c.yaml" in caught.value.message
        return f"{caught.value.message} ({caught.value.hint})"

    return refusal


# Which file


def test_without_a_file_the_defaults_are_built_in(env):
    assert load(None, env) == Settings()
    assert load(None, env).path is None


def test_the_order_is_option_environment_default(write, env, tmp_path):
    default = write("search: {sources: 1}", "conf/infoforge/config.yaml")
    assert load(None, env).search.sources == 1
    assert load(None, env).path == Path(default)
    named = write("search: {sources: 2}", "named.yaml")
    assert load(None, env | {"INFOFORGE_CONFIG": named}).search.sources == 2
    option = write("search: {sources: 3}", "option.yaml")
    assert load(option, env | {"INFOFORGE_CONFIG": named}).search.sources == 3


def test_without_xdg_it_is_below_home_and_a_relative_xdg_is_ignored(write, env):
    write("search: {sources: 4}", ".config/infoforge/config.yaml")
    del env["XDG_CONFIG_HOME"]
    assert load(None, env).search.sources == 4
    assert load(None, env | {"XDG_CONFIG_HOME": "conf"}).search.sources == 4


@pytest.mark.parametrize("how", ["option", "env"])
def test_a_named_file_that_is_missing_is_an_error(env, tmp_path, how):
    named = str(tmp_path / "no.yaml")
    with pytest.raises(ConfigError, match=r"no\.yaml: no such configuration file"):
        load(named if how == "option" else None, env | {"INFOFORGE_CONFIG": named})


def test_a_folder_or_an_unreadable_name_is_an_error(env, tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load(str(tmp_path), env)
    with pytest.raises(ConfigError, match="NUL"):
        load("a\0b", env)


# What comes of it


def test_every_value_arrives_with_its_type(write, env, tmp_path):
    loaded = load(
        write(
            """
zims: {folder: my/zims, enabled: [b, a.zim]}
kiwix: {url: "http://127.0.0.1:8080", allow_public: true}
endpoints:
  - name: one
    url: http://127.0.0.1:11434/v1
    temperature: 1
    context_tokens: 8192.0
    timeouts: {connect: 1}
    api_key_file: ~/key
  - {name: quote, kind: quote}
search: {language: no, deadline: 5}
"""
        ),
        env,
    )
    assert loaded.path == tmp_path / "c.yaml"
    assert loaded.zims.folder == tmp_path / "my" / "zims"
    assert loaded.zims.enabled == ("b", "a.zim")
    assert loaded.kiwix.allow_public is True
    one, quote = loaded.endpoints
    assert one.timeouts == TimeoutSettings(connect=1.0)
    assert (type(one.temperature), type(one.context_tokens)) == (float, int)
    assert one.api_key_file == home() / "key"
    assert quote == EndpointSettings(name="quote", kind="quote")
    # YAML 1.1 would read Norwegian as false
    assert loaded.search == SearchSettings(language="no", deadline=5.0)


def test_a_key_left_empty_means_its_default(write, env):
    loaded = load(write("zims:\nkiwix:\n  url:\nendpoints:\nsearch: {sources: }\n"), env)
    assert dataclasses.replace(loaded, path=None) == Settings()


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "null\n", "\ufeff# BOM\n"])
def test_an_empty_file_means_defaults(write, env, text):
    assert dataclasses.replace(load(write(text), env), path=None) == Settings()


def test_an_anchor_may_repeat_a_section(write, env):
    text = """
endpoints:
  - {name: a, url: "http://10.0.0.1/v1", timeouts: &t {connect: 1}}
  - {name: b, url: "http://10.0.0.2/v1", timeouts: *t}
"""
    a, b = load(write(text), env).endpoints
    assert a.timeouts == b.timeouts == TimeoutSettings(connect=1.0)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (7, 7),
        ("7", 7),
        ("7 GB", 7 * 10**9),
        ("7GB", 7 * 10**9),
        ("1.5 GiB", 1_610_612_736),
        ("500M", 5 * 10**8),
        ("2 TiB", 2 * 2**40),
        ("12 kB", 12_000),
    ],
)
def test_sizes(text, size):
    from jsonschema import Draft202012Validator

    assert parse_size(text) == size
    assert Draft202012Validator(schema()["$defs"]["size"]).is_valid(text)


@pytest.mark.parametrize("text", ["7 XB", "GB", "-1", "1e3", "7 GB/s", "", "1.2.3"])
def test_no_sizes(text):
    from jsonschema import Draft202012Validator

    assert not Draft202012Validator(schema()["$defs"]["size"]).is_valid(text)


# What is refused, in which words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("searc: {}", [":1: searc: unknown key", "did you mean 'search'?", "allowed: zims"]),
        ("a:\nb:", [":1: a: unknown key", "and 1 more"]),
        (
            "kiwix:\n  alow_public: true",
            [":2: kiwix.alow_public: unknown key", "did you mean 'allow_public'?"],
        ),
        (
            "endpoints:\n  - name: a\n    url: http://h/\n    kind: opnai",
            [':4: endpoints[0].kind: "opnai"', "allowed: openai, quote"],
        ),
        ("search: {sources: 0}", ["search.sources: 0", "a whole number from 1 to 50"]),
        ("search: {sources: many}", ['search.sources: "many"', "a whole number"]),
        ("search: {sources: true}", ["search.sources: true", "a whole number"]),
        ("search: {deadline: .inf}", ["search.deadline", "a number above 0"]),
        ("search: {deadline: 1e999}", ["search.deadline"]),
        ("search: {language: English}", ['search.language: "English"', "ISO 639"]),
        ("search: []", ["search: a list is not allowed", "a mapping of keys to values"]),
        ("zims: {enabled: [a, a]}", ["zims.enabled", "without repetition"]),
        ("zims: {enabled: [a/b]}", ['zims.enabled[0]: "a/b"']),
        ("zims: {enabled: [~]}", ["zims.enabled[0]: null", "text"]),
        ("zims: {folder: 3}", ["zims.folder: 3", "text"]),
        ('zims: {folder: "a\\nb"}', ["zims.folder", "control character"]),
        ("zims: {folder: ~no-such-user/z}", ["zims.folder: ~no-such-user/z: no home directory"]),
        ("kiwix: {allow_public: yes}", ['kiwix.allow_public: "yes"', "true or false"]),
        ("kiwix: {url: 127.0.0.1:8080}", ["kiwix.url", "http://"]),
        ("kiwix: {url: 'http://h:99999'}", ["kiwix.url: not a URL"]),
        ("endpoints: [{url: http://h/}]", ["endpoints[0].name: must be given"]),
        ("endpoints: [{name: a}]", ["endpoints[0].url: must be given for kind: openai"]),
        (
            "endpoints:\n- {name: a, kind: quote, url: http://h/}",
            [":2: endpoints[0].url: not allowed with kind: quote"],
        ),
        (
            "endpoints:\n- {name: a, kind: quote}\n- {name: a, kind: quote}",
            [':3: endpoints[1].name: "a" is already the name of endpoints[0]'],
        ),
        (
            "endpoints:\n- {name: a, url: http://h/, timeouts: {connect: -1}}",
            ["endpoints[0].timeouts.connect: -1", "a number of seconds above 0"],
        ),
        (
            "endpoints:\n- {name: a, url: http://h/, api_key_env: A, api_key_file: b}",
            ["endpoints[0].api_key_file", "api_key_env"],
        ),
        ("zims: {}\nzims: {}", [":2: zims: the key stands twice", "line 1"]),
        ("kiwix:\n  url:\n  url:", [":3: kiwix.url: the key stands twice"]),
        ("- a", [":1: the file must be a mapping"]),
        ("text", [":1: the file must be a mapping"]),
        ("1: 2", ["1: unknown key"]),
        ("? [a]\n: b", ["a key must be a word"]),
        ("kiwix: !!python/name:os.system x", ["kiwix: the tag", "is not allowed"]),
        ("kiwix: !!str {a: b}", ["kiwix: the tag", "is not allowed"]),
        ("search: {sources: !!int x}", ["search.sources: not a usable int"]),
        ("a: [", ["not valid YAML", "line 2, column 1"]),
        ("a: b: c", ["not valid YAML", "line 1, column 5"]),
        ("zims:\n\tfolder: x", ["not valid YAML", "line 2, column 1"]),
        ("--- a\n--- b", ["not valid YAML"]),
        ("a: *b", ["not valid YAML", "b"]),
        (b"\xff\xfe\x80", ["not UTF-8"]),
        (b"a: 1\nb: \xff", [":2: not UTF-8"]),
        (b"a: \x00", ["not valid YAML"]),
        ("x" * 1_000_001, ["is no configuration file"]),
        ("[" * 5000, ["YAML"]),
        ("a: &a [*a]", ["nested too deep"]),
        (
            "".join(f"{c}: &{c} [{', '.join(['*' + p] * 9) if p else 'x'}]\n"
                    for p, c in zip(" abcdefgh", "abcdefghi", strict=True)).replace("* ", "x"),
            ["too many values"],
        ),
    ],
)  # fmt: skip
def test_a_refusal_names_file_key_value_and_what_is_allowed(refusal, text, words):
    message = refusal(text)
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "text",
    [
        "endpoints: [{name: a, url: http://h/, api_key: sk-geheim}]",
        "endpoints: [{name: a, url: http://h/, apikey: sk-geheim}]",
        "endpoints: [{name: a, url: http://h/, token: sk-geheim}]",
        "endpoints: [{name: a, url: http://h/, api_key_env: sk-geheim}]",
        "endpoints: [{name: a, url: http://h/, api_key_file: [sk-geheim]}]",
        "endpoints: [{name: a, url: 'http://me:sk-geheim@h/'}]",
        "endpoints: [{name: a, kind: quote, url: 'http://me:sk-geheim@h/'}]",
        "kiwix: {url: 'http://me:sk-geheim@h/'}",
        "api_key: sk-geheim",
        "endpoints: [{name: a, url: http://h/, api_key: sk-geheim: x}]",
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_shown(refusal, text):
    message = refusal(text)
    assert "geheim" not in message


def test_a_key_in_the_file_gets_a_hint(refusal):
    message = refusal("endpoints: [{name: a, url: http://h/, api_key: x}]")
    assert "api_key_env" in message
    assert "api_key_file" in message


# The keys


def endpoint(**more):
    return EndpointSettings(name="x", url="http://h/", **more)


def test_a_key_is_read_when_it_is_used(tmp_path):
    file = tmp_path / "key"
    file.write_text("sk-one\n")
    file.chmod(0o600)
    heard = []
    assert api_key(endpoint()) is None
    assert api_key(endpoint(api_key_file=file), heard.append) == "sk-one"
    file.write_text("sk-two\r\n")
    assert api_key(endpoint(api_key_file=file), heard.append) == "sk-two"
    assert api_key(endpoint(api_key_env="K"), heard.append, {"K": " sk-three "}) == "sk-three"
    assert heard == []


def test_a_key_does_not_show_itself(tmp_path):
    key = api_key(endpoint(api_key_env="K"), None, {"K": "sk-geheim"})
    assert "geheim" not in repr(key)
    assert "geheim" not in repr({"key": key})
    assert f"Bearer {key}" == "Bearer sk-geheim"


def test_a_key_file_that_others_may_read_is_a_warning(tmp_path):
    file = tmp_path / "key"
    file.write_text("sk-geheim")
    file.chmod(0o640)
    heard = []
    assert api_key(endpoint(api_key_file=file), heard.append) == "sk-geheim"
    assert [n.code for n in heard] == ["api_key_mode"]
    assert f"chmod 600 {file}" in heard[0].message
    assert "geheim" not in heard[0].message


@pytest.mark.parametrize(
    "content", [b"", b" \n", b"two words", b"a\nb", b"\xff\xfe", "schlüssel".encode()]
)
def test_what_is_no_key_is_refused_unseen(tmp_path, content):
    file = tmp_path / "key"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"endpoint x: api_key_file .* holds no key") as caught:
        api_key(endpoint(api_key_file=file))
    assert "schl" not in caught.value.message


def test_a_missing_key_is_refused(tmp_path):
    with pytest.raises(
        ConfigError, match="api_key_env NO_KEY: the environment variable is not set"
    ):
        api_key(endpoint(api_key_env="NO_KEY"), None, {})
    with pytest.raises(ConfigError, match=r"api_key_file .*: cannot be read"):
        api_key(endpoint(api_key_file=tmp_path / "none"))


# What it costs


def imported(code, env):
    """Which of the heavy modules a piece of code imports."""
    report = (
        "import sys; print([m for m in ('yaml', 'jsonschema', 'requests') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; {report}"],
        env=os.environ | env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


LOAD = "from infoforge.config.load import load; load(None)"


def test_without_a_file_nothing_heavy_is_imported(env):
    assert imported(LOAD, env) == "[]"


def test_a_file_is_validated_once(write, env):
    write({"endpoints": [ENDPOINT]}, "conf/infoforge/config.yaml")
    assert imported(LOAD, env) == "['yaml', 'jsonschema']"
    assert imported(LOAD, env) == "[]"
    write({"endpoints": [ENDPOINT], "search": {"sources": 2}}, "conf/infoforge/config.yaml")
    assert imported(LOAD, env) == "['yaml', 'jsonschema']"


def test_what_was_remembered_is_what_was_read(write, env):
    path = write({"zims": {"folder": "z", "enabled": ["ä"]}, "endpoints": [ENDPOINT]})
    assert load(path, env) == load(path, env)
    assert list(Path(env["XDG_CACHE_HOME"]).rglob("*.json"))


def marker_of(env):
    return Path(env["XDG_CACHE_HOME"]) / "infoforge" / "config-valid.json"


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b"\xff", b"null", "changed"])
def test_a_damaged_memory_is_as_good_as_none(write, env, damage):
    path = write({"search": {"sources": 2}})
    load(path, env)
    marker = marker_of(env)
    if damage == "changed":
        kept = json.loads(marker.read_bytes())
        kept["data"]["search"]["sources"] = 999
        damage = json.dumps(kept).encode()
    marker.write_bytes(damage)
    assert load(path, env).search.sources == 2


def test_an_invalid_file_is_never_remembered_as_valid(write, env):
    path = write("search: {sources: 0}")
    for _ in range(2):
        with pytest.raises(ConfigError):
            load(path, env)
    assert not marker_of(env).exists()


def test_a_cache_that_cannot_be_written_is_no_error(write, env, tmp_path):
    (tmp_path / "file").write_text("")
    path = write("search: {sources: 2}")
    assert load(path, env | {"XDG_CACHE_HOME": str(tmp_path / "file")}).search.sources == 2


def test_the_memory_is_for_the_owner_alone(write, env):
    load(write({"endpoints": [ENDPOINT]}), env)
    assert stat.S_IMODE(marker_of(env).stat().st_mode) == 0o600


# Nothing brings it down


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_give_settings_or_a_config_error(tmp_path, env, content):
    file = tmp_path / "any.yaml"
    file.write_bytes(content)
    try:
        assert isinstance(load(str(file), env), Settings)
    except ConfigError as error:
        message = error.message
    else:
        message = ""
    assert "\n" not in message


KEYS = st.sampled_from(
    ("zims", "kiwix", "endpoints", "search", "box", "folder", "enabled", "url", "name", "kind",
     "timeouts", "connect", "model", "api_key", "language", "allow_public", "temperature", "x")
)  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.dates()
    | st.sampled_from(["http://h/", "http://[", "openai", "quote", "~x"])
)  # fmt: skip
TREES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(KEYS, TREES, max_size=4))
def test_any_tree_of_known_words_gives_settings_or_a_config_error(tmp_path, env, tree):
    file = tmp_path / "tree.yaml"
    file.write_text(yaml.safe_dump(tree, allow_unicode=True))
    try:
        assert isinstance(load(str(file), env), Settings)
    except ConfigError as error:
        message = error.message
    else:
        message = f"{file}"
    assert str(file) in message or "~x" in message


# The schema and the dataclasses are one


def resolved(part):
    if "$ref" in part:
        name = part["$ref"].removeprefix("#/$defs/")
        return schema()["$defs"][name] | {k: v for k, v in part.items() if k != "$ref"}
    return part


def compare(cls, part, path=""):
    part = resolved(part)
    hints = typing.get_type_hints(cls)
    fields = {f.name for f in dataclasses.fields(cls)} - ({"path"} if cls is Settings else set())
    assert set(part["properties"]) == fields, path
    assert part["additionalProperties"] is False, path
    for key, sub in part["properties"].items():
        compare_value(hints[key], sub, f"{path}.{key}")


def compare_value(hint, part, path):
    assert part.get("description"), f"{path} has no description"
    part = resolved(part)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        hint = next(a for a in args if a is not type(None))
        origin = None
    if dataclasses.is_dataclass(hint):
        compare(hint, part, path)
        return
    if origin is tuple:
        assert part["type"] == "array", path
        compare_value(args[0], {"description": "an item", **part["items"]}, f"{path}[]")
        return
    if origin is not None:
        assert part["type"] == "object", path
        return
    expected = {str: "string", Path: "string", bool: "boolean", int: "integer", float: "number"}
    if hint is Size:
        assert set(part["type"]) == {"integer", "string"}, path
    elif "enum" in part:
        assert hint is str, path
    else:
        assert part["type"] == expected[hint], path


def test_schema_and_dataclasses_name_the_same_keys_with_the_same_types():
    compare(Settings, schema())


def test_the_schema_is_a_schema_and_lets_its_examples_through():
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(schema())

    def walk(part):
        if isinstance(part, dict):
            for example in part.get("examples", []):
                whole = {"$defs": schema()["$defs"], **part}
                assert Draft202012Validator(whole).is_valid(example), part
            for sub in part.values():
                walk(sub)

    walk(schema())
