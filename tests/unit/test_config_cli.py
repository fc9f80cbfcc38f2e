"""`config init`, `show`, `check`: what is found, said, written and refused."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import stat
from pathlib import Path

import pytest
import yaml
from support.fault_server import FaultServer, refused_url

from infoforge.config import discover as discovery
from infoforge.config.check import check
from infoforge.config.discover import Discovered, ModelServer, ZimFolder, discover
from infoforge.config.explain import explain, keys
from infoforge.config.load import load
from infoforge.config.settings import (
    EndpointSettings,
    KiwixSettings,
    MonitorSettings,
    Settings,
    ZimSettings,
)
from infoforge.config.template import chosen, render
from infoforge.config.validate import schema

ROOT = {"/catalog/v2/root.xml": b'<feed><link href="/catalog/v2/entries"/></feed>'}
REPO = Path(__file__).parent.parent.parent


@pytest.fixture
def env(tmp_path):
    return {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": str(tmp_path / "c")}


def zim(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"ZIM\x04" + b"\0" * 96)
    return path


# What is on the machine


def test_folders_are_searched_and_the_fullest_comes_first(tmp_path):
    zim(tmp_path / "a" / "one.zim")
    zim(tmp_path / "b" / "x.zim")
    zim(tmp_path / "b" / "w.zim")
    (tmp_path / "b" / "note.zim").write_text("no ZIM at all")
    (tmp_path / "b" / "dir.zim").mkdir()
    (tmp_path / "empty").mkdir()
    places = [tmp_path / n for n in ("a", "b", "empty", "missing", "b/w.zim")]
    found = discover(places, [("x", refused_url())], refused_url())
    assert found.folders == (
        ZimFolder(tmp_path / "b", ("w.zim", "x.zim")),
        ZimFolder(tmp_path / "a", ("one.zim",)),
    )
    assert (found.servers, found.kiwix_url) == ((), "")


def test_the_usual_folders_are_those_of_the_manual(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".local" / "share" / "kiwix-desktop").mkdir(parents=True)
    places = {str(p) for p in discovery.usual_folders()}
    assert {f"{tmp_path}/zims", f"{tmp_path}/ZIM", f"{tmp_path}/Downloads"} <= places
    assert {"/var/lib/kiwix", "/srv/zims", "/data"} <= places
    assert f"{tmp_path}/.local/share/kiwix-desktop" in places


def test_servers_are_asked_at_once_and_only_those_that_answer_are_found(tmp_path):
    listed = {"data": [{"id": "m", "max_model_len": 32768}]}
    with (
        FaultServer(models=("a", "b")) as two,
        FaultServer(files={"/v1/models": json.dumps(listed)}) as one,
        FaultServer("garbage", script_all=True) as garbage,
        FaultServer("wrong-type", script_all=True) as page,
        FaultServer("500", script_all=True) as broken,
        FaultServer(files=ROOT) as kiwix,
    ):
        urls = [("two", two.url), ("none", refused_url()), ("one", one.url)]
        urls += [("g", garbage.url), ("p", page.url), ("b", broken.url), ("k", kiwix.url + "/x")]
        found = discover([], [(n, f"{u}/v1") for n, u in urls[:-1]], kiwix.url)
        assert two.paths() == ["GET /v1/models"]
    assert [(s.name, s.models, s.context_tokens) for s in found.servers] == [
        ("two", ("a", "b"), 0),
        ("one", ("m",), 32768),
    ]
    assert found.kiwix_url == kiwix.url


@pytest.mark.parametrize("what", ["hang", "hang-mid", "drip"])
def test_a_server_that_hangs_is_not_waited_for(what, monkeypatch):
    monkeypatch.setattr(discovery, "SECONDS", 0.1)
    with FaultServer(what, script_all=True) as server:
        assert discover([], [("x", f"{server.url}/v1")], server.url).kiwix_url == ""


@pytest.mark.parametrize("version", ["kiwix37", "kiwix33"])
def test_a_real_kiwix_serve_is_found(version, request, make_zim):
    server = request.getfixturevalue(version)(make_zim({"A": "<p>a"}))
    assert discover([], [("x", refused_url())], server.url).kiwix_url == server.url


# The file that is written


FOUND = Discovered(
    (ZimFolder(Path("/srv/zims"), ("a.zim",)),),
    (
        ModelServer("ollama", "http://127.0.0.1:11434/v1", ("nomic-embed-text", "qwen3:8b")),
        ModelServer("vllm", "http://127.0.0.1:8000/v1", ("m",), 32768),
    ),
    "http://127.0.0.1:8080",
)


def test_what_was_found_is_what_the_file_says(tmp_path, env):
    file = tmp_path / "c.yaml"
    file.write_text(render(chosen(FOUND)))
    loaded = load(str(file), env)
    assert loaded.zims.folder == Path("/srv/zims")
    assert loaded.kiwix.url == "http://127.0.0.1:8080"
    ollama, vllm = loaded.endpoints
    assert (ollama.url, ollama.model) == ("http://127.0.0.1:11434/v1", "qwen3:8b")
    assert (vllm.model, vllm.context_tokens) == ("", 32768)


def test_without_a_model_server_answers_are_quotes(tmp_path, env):
    file = tmp_path / "c.yaml"
    file.write_text(render(chosen(Discovered())))
    assert [e.kind for e in load(str(file), env).endpoints] == ["quote"]


def test_every_key_stands_in_the_file_and_every_commented_default_is_the_default(tmp_path, env):
    text = render({})
    uncommented = re.sub(r"(?m)^(\s*)# (\w+:.*)$", r"\1\2", text.split("# A key that", 1)[1])
    for name in schema()["properties"]:
        assert re.search(rf"(?m)^(# )?{name}:", text)
    for key in keys():
        assert re.search(rf"(?m)^[ #-]*{re.escape(key.key.rpartition('.')[2])}:", text), key.key
    file = tmp_path / "c.yaml"
    file.write_text(uncommented.split("\n", 1)[1])
    loaded = load(str(file), env)
    assert loaded.zims == Settings().zims
    assert loaded.search == Settings().search
    assert loaded.box == Settings().box
    assert (loaded.answer_style, loaded.repair) == ("brief", False)


def test_the_example_of_an_endpoint_is_one(tmp_path, env):
    block = render({}).split("# All that an item may hold:\n")[1].split("\n\n")[0]
    item = yaml.safe_load("\n".join(line.removeprefix("  #") for line in block.splitlines()))[0]
    del item["api_key_file"]  # one of the two ways, not both
    file = tmp_path / "c.yaml"
    file.write_text(yaml.safe_dump({"endpoints": [item]}))
    assert load(str(file), env).endpoints[0].name == item["name"]


def test_init_writes_says_and_never_overwrites(run_cli):
    zim(run_cli.home / "Downloads" / "wiki.zim")
    run = run_cli("config", "init")
    assert run.code == 0
    assert f"ZIM files: 1 in {run_cli.home}/Downloads" in run.stdout
    assert f"written: {run_cli.config_path}" in run.stdout
    assert "folder: ~/Downloads" in run_cli.config_path.read_text()
    assert stat.S_IMODE(run_cli.config_path.stat().st_mode) == 0o600

    run_cli.config_path.write_text("# mine\n")
    again = run_cli("config", "init")
    assert (again.code, again.stdout) == (2, "")
    assert "is there already (overwrite it with --force)" in again.stderr
    assert run_cli.config_path.read_text() == "# mine\n"

    forced = run_cli("config", "init", "--force", "--json")
    assert forced.json["data"]["found"]["zims"][0]["files"] == ["wiki.zim"]
    assert run_cli.config_path.read_text() != "# mine\n"


def test_init_writes_where_it_is_told(run_cli, tmp_path):
    assert run_cli("config", "init", "--path", "sub/i.yaml").code == 0
    assert (run_cli.home / "sub" / "i.yaml").exists()
    assert run_cli("--config", tmp_path / "o.yaml", "config", "init").code == 0
    assert (tmp_path / "o.yaml").exists()
    assert not run_cli.config_path.exists()
    refused = run_cli("config", "init", "--path", "/proc/none/i.yaml")
    assert refused.code == 2
    assert "cannot be written" in refused.stderr


# What is shown


def test_every_value_says_where_it_comes_from(run_cli):
    run_cli.configure("search:\n  sources: 3\n  language:\n")
    rows = {v["key"]: v for v in run_cli("config", "show", "--json").json["data"]["values"]}
    assert rows["search.sources"] == {
        "key": "search.sources", "value": 3, "origin": "file", "line": 2
    }  # fmt: skip
    assert rows["search.language"]["origin"] == "default"
    text = run_cli("config", "show").stdout
    assert re.search(r"search\.sources +3 +config\.yaml:2", text)
    assert re.search(r"search\.deadline +10 +default", text)


def test_the_file_says_who_named_it(run_cli):
    path = run_cli.configure("search: {sources: 3}")
    moved = shutil.move(path, run_cli.home / "x.yaml")
    assert "no file" in run_cli("config", "show").stdout
    assert f"{moved} (--config)" in run_cli("--config", moved, "config", "show").stdout
    env = {"INFOFORGE_CONFIG": str(moved)}
    assert f"{moved} (env)" in run_cli("config", "show", env=env).stdout
    assert run_cli("config", "show", "--json", env=env).json["data"]["origin"] == "env"


def test_a_shown_configuration_has_every_key_of_the_schema(tmp_path, env):
    file = tmp_path / "c.yaml"
    file.write_text("endpoints: [{name: q, kind: quote}]")
    shown = {re.sub(r"\[\d+\]", "[]", v.key) for v in explain(str(file), env).values}
    assert shown == {key.key for key in keys() if not key.section}


# What is checked


def problems(settings, environ=None):
    heard = []
    found = check(settings, heard.append, environ or {})
    return [f"{p.key}: {p.message}" for p in found], [n.code for n in heard]


def test_a_good_configuration_has_no_problem(tmp_path):
    zim(tmp_path / "w.zim")
    key = tmp_path / "key"
    key.write_text("sk-x")
    key.chmod(0o600)
    settings = Settings(
        zims=ZimSettings(folder=tmp_path),
        endpoints=(EndpointSettings("x", url="http://10.0.0.1/v1", api_key_file=key),),
    )
    assert problems(settings) == ([], [])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(zims=ZimSettings(Path("/nowhere"))), "zims.folder: /nowhere does not exist"),
        (Settings(zims=ZimSettings(Path("/proc/self/status"))), "zims.folder: .* not a folder"),
        (Settings(zims=ZimSettings(Path("/proc/sys"))), "zims.folder: .* no ZIM file"),
        (Settings(kiwix=KiwixSettings("http://8.8.8.8")), "kiwix.url: .*8.8.8.8 is a public"),
        (
            Settings(endpoints=(EndpointSettings("x", url="http://8.8.8.8"),)),
            r"endpoints\[0\].url: endpoint x: 8.8.8.8 is a public address",
        ),
        (
            Settings(endpoints=(EndpointSettings("x", "quote", api_key_env="NONE"),)),
            r"endpoints\[0\].api_key_env: .*not set",
        ),
        (
            Settings(endpoints=(EndpointSettings("x", "quote", api_key_file=Path("/none")),)),
            r"endpoints\[0\].api_key_file: .*cannot be read",
        ),
        (
            Settings(endpoints=(EndpointSettings("x", "quote", max_tokens=4096),)),
            r"endpoints\[0\].max_tokens: 4096 leaves no room",
        ),
    ],
)
def test_each_problem_names_its_key(settings, words):
    found, _ = problems(settings)
    assert [p for p in found if re.search(words, p)], found


def test_a_folder_is_not_needed_beside_a_kiwix_server():
    settings = Settings(None, ZimSettings(Path("/nowhere")), KiwixSettings("http://127.0.0.1"))
    assert problems(settings) == ([], ["no_endpoint"])


def test_check_lists_all_problems_and_exits_2(run_cli):
    run_cli.configure("searc: 1\nsearch:\n  sources: 0\n")
    run = run_cli("config", "check")
    assert run.code == 2
    assert run.stdout.splitlines()[0].startswith(f"{run_cli.config_path}:1: searc: unknown key")
    assert run.stdout.splitlines()[1].startswith(f"{run_cli.config_path}:3: search.sources: 0")
    assert "2 problem(s)" in run.stderr
    document = run_cli("config", "check", "--json")
    assert (document.code, document.json["exit_code"]) == (2, 2)
    assert [p["line"] for p in document.json["data"]["problems"]] == [1, 3]


def test_check_looks_at_folders_and_addresses_when_the_file_is_valid(run_cli):
    run_cli.configure(
        {"zims": {"folder": "/nowhere"}, "endpoints": [{"name": "x", "url": "http://8.8.8.8/v1"}]}
    )
    run = run_cli("config", "check")
    assert run.code == 2
    assert "zims.folder: /nowhere does not exist" in run.stdout
    assert "public address" in run.stdout


def test_check_passes(run_cli):
    zim(run_cli.home / "zims" / "w.zim")
    run_cli.configure("endpoints: [{name: quote, kind: quote}]")
    run = run_cli("config", "check")
    assert (run.code, run.stdout) == (0, f"{run_cli.config_path}: all checks passed\n")
    assert run_cli("config", "check", "--json").json["data"]["problems"] == []


@pytest.mark.parametrize("command", ["init", "show", "check"])
def test_help_has_an_example(run_cli, command):
    run = run_cli("config", command, "--help")
    assert run.code == 0
    assert "Example: infoforge " in run.stdout


# The manual


def test_the_manual_lists_every_key_with_default_and_example():
    spec = importlib.util.spec_from_file_location("ref", REPO / "scripts" / "config_reference.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    text = (REPO / "docs" / "config.md").read_text()
    assert text == script.renewed(text), "run: python scripts/config_reference.py"
    for key in keys():
        assert f"| `{key.key}` |" in text
        assert key.section or key.default or key.example, f"{key.key} has neither"


def test_the_example_of_the_manual_is_valid(tmp_path, env):
    text = (REPO / "docs" / "config.md").read_text()
    file = tmp_path / "c.yaml"
    file.write_text(text.split("```yaml\n")[1].split("```")[0])
    assert [e.name for e in load(str(file), env).endpoints] == ["workstation", "quote"]


@pytest.mark.parametrize(
    ("command", "bad"),
    [("", False), ("   ", True), ("'' --x", True), ("'open", True), ("notify --all", False)],
)
def test_a_monitor_command_that_names_no_program_is_a_problem(command: str, bad: bool) -> None:
    settings = Settings(monitor=MonitorSettings(command=command))
    found = [text for text in problems(settings)[0] if text.startswith("monitor.")]
    assert [text.partition(":")[0] for text in found] == ["monitor.command"] * bad
