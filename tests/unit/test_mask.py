"""No password, token or webhook is shown."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoforge.box import notify
from infoforge.cli.console import Console
from infoforge.config.check import check
from infoforge.config.explain import explain
from infoforge.config.keys import passwords
from infoforge.config.settings import CatalogSettings, MonitorSettings, Settings
from infoforge.contract import CheckFailed, ConfigError, WarningMessage
from infoforge.privacy import check_private
from infoforge.text.mask import mask_command, mask_document, mask_urls, secrets_of

SECRET = "s3cr3tS3CR3Ts3cr3tS3CR3T"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"https://me:{SECRET}@host/p", "https://…@host/p"),
        (f"https://{SECRET}@host", "https://…@host"),
        (f"https://h/catalog?token={SECRET}&lang=de", "https://h/catalog?token=…&lang=de"),
        ("https://h/c?count=-1&lang=de&q=a", "https://h/c?count=-1&lang=de&q=a"),
        (f"https://h/c?api_key={SECRET}#access_token={SECRET}", "https://h/c?api_key=…#access_token=…"),
        (f"https://h/c?X-Amz-Signature={SECRET}", "https://h/c?X-Amz-Signature=…"),
        (f"https://h/c?{SECRET}", "https://h/c?…"),
        (f"see https://h/?key={SECRET}, or http://i:8080/x", "see https://h/?key=…"),
        ("http://[::1]:8080/search?pattern=a+b", "http://[::1]:8080/search?pattern=a+b"),
    ],
)  # fmt: skip
def test_urls(url, shown):
    assert mask_urls(url).startswith(shown)
    assert SECRET not in mask_urls(url)


def test_a_webhook_is_shown_by_its_host_alone():
    assert mask_urls(f"https://ntfy.example/{SECRET}/a?b=c", path=True) == "https://ntfy.example/…"
    assert mask_urls("http://10.0.0.1:80/", path=True) == "http://10.0.0.1:80/"


@pytest.mark.parametrize(
    "command",
    [
        f"curl -d @- https://hooks.example/{SECRET}",
        f"tell --token {SECRET} --quiet",
        f"tell --api-key={SECRET}",
        f"curl -H 'Authorization: Bearer {SECRET}' http://h/",
        f"curl -u me:{SECRET} http://h/",
        f"env TOKEN={SECRET} tell",
        f"tell {SECRET}",
        "tell --password short --to me",
        f"tell 'unbalanced {SECRET}",
    ],
)
def test_commands(command):
    shown = mask_command(command)
    assert SECRET not in shown
    assert "short" not in shown
    assert "…" in shown
    if "'unb" not in command:
        assert shown.split()[0] == command.split()[0]
        assert any(SECRET in word or word == "short" for word in secrets_of(command))


def test_a_command_without_secrets_is_shown_as_it_is():
    assert mask_command("/usr/local/bin/tell-me --quiet --to 'a b'") == (
        "/usr/local/bin/tell-me --quiet --to 'a b'"
    )


@given(st.text(max_size=80))
def test_any_text_can_be_masked(text):
    mask_urls(text)
    mask_urls(f"https://{text}", path=True)
    mask_command(text)
    assert mask_document({"message": text, "n": [1, text]})["n"] == [1, text]


# Where values are shown


@pytest.fixture
def configured(tmp_path):
    file = tmp_path / "infoforge.yaml"
    file.write_text(
        f"""
catalog: {{url: "https://mirror.example/opds?token={SECRET}"}}
kiwix: {{url: "http://127.0.0.1:8080/?key={SECRET}"}}
monitor: {{webhook: "http://127.0.0.1/{SECRET}", command: "curl https://h/{SECRET}"}}
"""
    )
    return file


def test_the_values_of_the_configuration_hold_no_secret(configured):
    explained = explain(str(configured))
    values = {value.key: value.value for value in explained.values}
    assert SECRET not in repr(values)
    assert values["monitor.webhook"] == "http://127.0.0.1/…"
    assert explained.settings.monitor.webhook.endswith(SECRET)


@pytest.mark.parametrize(
    "text",
    [
        f"monitor: {{webhook: 'htps://h/{SECRET}'}}",
        f"monitor: {{command: ['curl', '{SECRET}']}}",
        f"kiwix: {{url: 'http://me:{SECRET}@h/{SECRET}'}}",
        f"kiwix: {{url: 'httpx://h/{SECRET}'}}",
        f"catalog: {{url: 'ftp://me:{SECRET}@h/?token={SECRET}'}}",
    ],
)
def test_a_value_that_is_refused_is_not_shown(text, tmp_path):
    file = tmp_path / "infoforge.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        explain(str(file))
    assert SECRET not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("url", [f"http://a b/{SECRET}", f"http://h\\@i/{SECRET}"])
def test_an_address_that_is_refused_is_shown_by_its_host(url):
    with pytest.raises(ConfigError) as caught:
        check_private(url, False, "x")
    assert SECRET not in caught.value.message


@pytest.mark.parametrize("as_json", [True, False])
def test_errors_and_warnings_hold_no_secret(as_json, capsys):
    console = Console(as_json=as_json)
    console.warn(WarningMessage("x", f"https://h/?token={SECRET}: slow"))
    with pytest.raises(SystemExit):
        console.fail(CheckFailed(f"https://me:{SECRET}@h/: gone", f"ask http://{SECRET}@h"))
    taken = capsys.readouterr()
    assert SECRET not in taken.out + taken.err
    assert "slow" in taken.err
    if as_json:
        assert json.loads(taken.out)["errors"][0]["message"] == "https://…@h/: gone"


# The channels

CHANGE = notify.StateChange("2026-12-01T00:00:00Z", "bad", ("kiwix",), {"kiwix": "down"})


@pytest.mark.parametrize("command", ["   ", "'unbalanced", "/does/not/exist", "~nobody-here/x"])
def test_a_channel_that_fails_does_not_silence_the_next(command, fault_server):
    server = fault_server(files={"/x": "{}"})
    monitor = MonitorSettings(command=command, webhook=f"{server.url}/x")
    warnings = []
    failed = notify.notify(monitor, CHANGE, ("command", "webhook"), warnings.append)
    assert failed == ["command"]
    assert len(warnings) == 1
    assert [request.path for request in server.requests] == ["/x"]


def test_a_channel_that_fails_in_a_way_that_nobody_foresaw(monkeypatch):
    def broken(monitor, change):
        raise RuntimeError(SECRET)

    told = []
    monkeypatch.setattr(
        notify,
        "_CHANNELS",
        {"wall": broken, "desktop": lambda monitor, change: told.append(change)},
    )
    warnings = []
    assert notify.notify(MonitorSettings(), CHANGE, ("wall", "desktop"), warnings.append) == [
        "wall"
    ]
    assert told == [CHANGE]
    assert SECRET not in warnings[0].message


def test_what_a_command_says_of_its_failure_holds_no_secret(tmp_path):
    script = tmp_path / "tell"
    script.write_text('#!/bin/sh\necho "no answer from $2 with $1" >&2; exit 3\n')
    script.chmod(0o755)
    warnings = []
    monitor = MonitorSettings(command=f"{script} {SECRET} https://h/{SECRET}")
    notify.notify(monitor, CHANGE, ("command",), warnings.append)
    assert SECRET not in warnings[0].message
    assert "ended with 3" in warnings[0].message


@pytest.mark.parametrize("command", ["  ", "'x"])
def test_a_command_that_is_none_is_reported(command):
    problems = check(Settings(monitor=MonitorSettings(command=command)), lambda warning: None)
    assert "monitor.command" in {problem.key for problem in problems}


# The file with passwords


def test_the_file_with_passwords(tmp_path):
    file = tmp_path / "netrc"
    file.write_text(f"machine Mirror.example login me password {SECRET}\n")
    file.chmod(0o644)
    warnings = []
    found = passwords(file, warnings.append)
    assert found == {"mirror.example": ("me", SECRET)}
    assert SECRET not in repr(found)
    assert "chmod 600" in warnings[0].message


@pytest.mark.parametrize("content", [f"machine h password {SECRET} nonsense", f"{SECRET}", b"\xff"])
def test_a_file_with_passwords_that_is_none_is_reported_without_its_content(content, tmp_path):
    file = tmp_path / "netrc"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    settings = Settings(catalog=CatalogSettings(auth_file=file))
    problems = [p for p in check(settings, lambda w: None) if p.key == "catalog.auth_file"]
    assert len(problems) == 1
    assert SECRET not in problems[0].message + problems[0].hint
