"""`doctor --watch`, `--heal`, `--history` and `--format prometheus`, as the timer calls them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.cli import Cli, Run
from support.envelope import check_document
from support.fault_server import FaultServer, reply

ARTICLES = {"Kokoro (novel)": "<p>Kokoro is a novel by the Japanese author Natsume Sōseki.</p>"}


class Home:
    def __init__(self, cli: Cli, zim: Path, hook: FaultServer) -> None:
        self.cli, self.zim, self.hook = cli, zim, hook
        self.config: dict[str, Any] = {
            "zims": {"folder": str(zim.parent)},
            "endpoints": [{"name": "quote", "kind": "quote"}],
            "monitor": {"webhook": f"{hook.url}/infoforge"},
        }
        cli.configure(self.config)

    def doctor(self, *options: str, code: int = 0) -> Any:
        run = self.cli("doctor", *options, "--json")
        check_document(run.json, "doctor", code)
        return run.json["data"]

    @property
    def told(self) -> list[str]:
        return [request.body.decode() for request in self.hook.requests]


@pytest.fixture
def home(
    run_cli: Cli, make_zim: Callable[..., Path], fault_server: Callable[..., FaultServer]
) -> Home:
    zim = make_zim(ARTICLES, name="novels_en", folder=run_cli.home / "zims")
    return Home(run_cli, zim, fault_server(files={"/infoforge": "{}"}))


def test_what_breaks_is_told_once_and_what_is_mended_once(home: Home) -> None:
    assert home.doctor("--watch", "--quiet")["change"] is None
    whole = home.zim.read_bytes()
    home.zim.write_bytes(whole[:1000])
    bad = home.doctor("--watch", code=1)["change"]
    assert bad["kind"] == "bad"
    assert f"zim:{home.zim.name}" in bad["new"]
    assert home.doctor("--watch", code=1)["change"] is None
    assert home.doctor("--heal", code=1)["healed"] == []
    home.zim.write_bytes(whole)
    assert home.doctor("--watch")["change"]["kind"] == "good"
    assert home.doctor("--watch")["change"] is None
    assert len(home.told) == 2
    assert home.zim.name in home.told[0]
    assert home.told[1].startswith("over: ")
    history = home.doctor("--history")
    assert [event["kind"] for event in history["events"]] == ["bad", "good"]
    assert (history["state"], history["failing"]) == ("good", [])
    assert "over: zim:" in home.cli("doctor", "--history").stdout


def test_a_look_of_a_person_keeps_and_tells_nothing(home: Home) -> None:
    home.zim.write_bytes(b"no ZIM")
    assert home.doctor(code=1)["change"] is None
    assert home.told == []
    assert not (home.cli.home / ".local").exists()
    assert home.doctor("--history")["state"] == "unknown"


def test_the_timers_look_is_quiet_when_all_is_well(home: Home) -> None:
    assert home.cli("skill", "install").code == 0
    run = home.cli("doctor", "--heal", "--quiet")
    assert (run.code, run.stdout, run.stderr) == (0, "", "")


def test_the_timer_spares_the_model_server(
    home: Home, fault_server: Callable[..., FaultServer]
) -> None:
    model = fault_server(reply("yes"))
    endpoint = {"name": "model", "url": f"{model.url}/v1", "model": "test-model"}
    home.cli.configure(home.config | {"endpoints": [endpoint]})
    home.cli("doctor", "--watch", "--only", "endpoint")
    short = sum(len(request.body) for request in model.chats)
    assert len(model.chats) == 1
    home.cli("doctor", "--only", "endpoint")
    assert sum(len(request.body) for request in model.chats) > 3 * short


def metrics(run: Run) -> dict[str, float]:
    rows = [line.rsplit(" ", 1) for line in run.stdout.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in rows}


def test_metrics_on_stdout_and_in_a_file(home: Home) -> None:
    found = metrics(home.cli("doctor", "--format", "prometheus"))
    assert found["infoforge_up"] == 1
    assert found[f'infoforge_dump_age_days{{zim="{home.zim.name}"}}'] >= 0
    assert found['infoforge_search_seconds{corpus="novels_en"}'] > 0
    home.zim.write_bytes(b"no ZIM")
    out = home.cli.home / "infoforge.prom"
    run = home.cli("doctor", "--format", "prometheus", "--output", out, "--only", "zim")
    assert (run.code, run.stdout) == (1, "")
    assert "infoforge_up 0\n" in out.read_text()


@pytest.mark.parametrize(
    "options", [("--format", "prometheus", "--json"), ("--output", "x"), ("--format", "xml")]
)
def test_options_that_do_not_go_together_are_exit_2(home: Home, options: tuple[str, ...]) -> None:
    assert home.cli("doctor", *options).code == 2


def test_a_public_webhook_is_refused_by_config_check(home: Home) -> None:
    home.cli.configure(home.config | {"monitor": {"webhook": "http://8.8.8.8/x"}})
    run = home.cli("config", "check", "--json")
    check_document(run.json, "config check", 2)
    assert run.json["data"]["problems"][0]["key"] == "monitor.webhook"
    home.cli.configure(
        home.config | {"monitor": {"webhook": "http://8.8.8.8/x", "allow_public": True}}
    )
    assert home.cli("config", "check").code == 0
