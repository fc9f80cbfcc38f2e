"""Doctor: each link good, each link broken, and a walk that nothing stops."""

from __future__ import annotations

import json
import re
import shutil
import threading
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.fault_server import refused_url, reply

import infoforge
from infoforge.box.checks import months_between
from infoforge.box.doctor import GROUPS, examine
from infoforge.box.health import (
    FAIL,
    PASS,
    WARN,
    CheckContext,
    CheckResult,
    HealthCheck,
    run_checks,
)
from infoforge.config.settings import (
    EndpointSettings,
    KiwixSettings,
    Settings,
    TimeoutSettings,
    ZimSettings,
)
from infoforge.contract import ConfigError, UsageError
from infoforge.corpus.base import CorpusError

SCHEMA = json.loads(
    (Path(infoforge.__file__).parent / "data" / "schemas" / "doctor.schema.json").read_text()
)
QUICK = TimeoutSettings(connect=1, first_byte=5, idle=5, total=10)
QUOTE = EndpointSettings("quote", "quote")
ARTICLES = {"Warsaw": "<p>Warsaw lies on the Vistula.</p>", "Kenya": "<p>Kenya and Nairobi.</p>"}


@pytest.fixture
def folder(make_zim):
    """A folder with one good ZIM, of June 2026."""
    return make_zim(ARTICLES, name="wiki_en").parent


def checks(settings, *only, today=date(2026, 11, 29), timeout=20.0):
    """Status by name, and the whole checks by name (the last of a name wins)."""
    made = examine(CheckContext(settings, timeout, today), only).checks
    return {c.name: c.status for c in made}, {c.name: c for c in made}


# The walk itself


def step(name, *statuses):
    return HealthCheck(name, lambda: [CheckResult(name, status, "x") for status in statuses])


def bad(error):
    def raises():
        raise error

    return raises


def test_a_failing_link_does_not_stop_the_walk():
    groups = (
        ("a", lambda context: [HealthCheck("a:1", bad(ValueError("odd"))), step("a:2", PASS)]),
        ("b", lambda context: bad(RuntimeError("no list"))()),
        ("c", lambda context: [HealthCheck("c", bad(ConfigError("wrong", "mend it")))]),
        ("d", lambda context: [HealthCheck("d", bad(CorpusError("is down")))]),
        ("e", lambda context: [step("e", PASS)]),
    )
    made = list(run_checks(CheckContext(Settings()), groups))
    assert [(c.name, c.status) for c in made] == [
        ("a:1", FAIL), ("a:2", PASS), ("b", FAIL), ("c", FAIL), ("d", FAIL), ("e", PASS),
    ]  # fmt: skip
    assert "ValueError: odd" in made[0].detail
    assert (made[3].detail, made[3].hint) == ("wrong", "mend it")
    assert made[4].detail == "is down"


def test_what_was_found_before_a_fault_is_kept():
    def half():
        yield CheckResult("a", PASS, "good")
        raise ValueError("then odd")

    made = list(
        run_checks(CheckContext(Settings()), (("a", lambda context: [HealthCheck("a", half)]),))
    )
    assert [c.status for c in made] == [PASS, FAIL]


def test_a_check_that_hangs_fails_and_the_walk_goes_on(monkeypatch):
    never = threading.Event()
    groups = (
        ("a", lambda context: [HealthCheck("a", lambda: never.wait() and [])]),
        ("b", lambda context: [step("b", PASS)]),
    )
    context = CheckContext(Settings(), timeout=-2.49)  # 4 * timeout + 10: patience of 0.04 s
    made = {c.name: c for c in run_checks(context, groups)}
    never.set()
    assert (made["a"].status, made["b"].status) == (FAIL, PASS)
    assert "no end within" in made["a"].detail
    assert "--timeout" in made["a"].hint


THREE = (
    ("zim", lambda context: [step("zim:a", PASS), step("zim:ab", FAIL)]),
    ("endpoint", lambda context: [HealthCheck("endpoint:x", lambda: [
        CheckResult("endpoint:x", PASS, ""), CheckResult("endpoint:x:model", PASS, "")])]),
    ("kiwix", lambda context: bad(AssertionError("not asked for"))()),
)  # fmt: skip


@pytest.mark.parametrize(
    ("only", "names"),
    [
        (("zim",), ["zim:a", "zim:ab"]),
        (("zim:a",), ["zim:a"]),
        (("endpoint:x",), ["endpoint:x", "endpoint:x:model"]),
        (("zim:a", "endpoint"), ["zim:a", "endpoint:x", "endpoint:x:model"]),
    ],
)
def test_only_what_is_asked_for_is_looked_at(only, names):
    assert [c.name for c in run_checks(CheckContext(Settings()), THREE, only)] == names


def test_asking_for_one_link_of_a_chain_shows_it():
    names = [c.name for c in run_checks(CheckContext(Settings()), THREE, ("endpoint:x:model",))]
    assert "endpoint:x:model" in names


def test_asking_for_what_is_not_there_fails():
    (made,) = run_checks(CheckContext(Settings()), THREE, ("zim:c",))
    assert (made.name, made.status) == ("zim:c", FAIL)
    with pytest.raises(UsageError, match="no such check: zip") as caught:
        list(run_checks(CheckContext(Settings()), THREE, ("zip",)))
    assert "'zim'" in caught.value.hint


# Configuration and folder


def test_all_is_well(folder):
    status, made = checks(Settings(zims=ZimSettings(folder), endpoints=(QUOTE,)))
    assert set(status.values()) == {PASS}
    # Without a vault nothing of it is looked at.
    assert {name.partition(":")[0] for name in status} == {name for name, _ in GROUPS} - {"vault"}
    assert "2 articles" in made["zim:wiki_en_2026-06.zim"].detail
    assert "full text yes" in made["zim:wiki_en_2026-06.zim"].detail
    assert re.search(r"hit\(s\) for '\w+' in \d+ ms; read '", made["search:wiki_en"].detail)


def test_settings_that_do_not_go_together_fail(folder):
    endpoint = replace(QUOTE, max_tokens=9000)
    status, made = checks(Settings(zims=ZimSettings(folder), endpoints=(endpoint,)), "config")
    assert status == {"config": FAIL}
    assert "max_tokens" in made["config"].detail


def test_a_key_that_others_may_read_is_a_warning(folder, tmp_path):
    key = tmp_path / "key"
    key.write_text("sk-x")
    key.chmod(0o644)
    endpoint = replace(QUOTE, api_key_file=key)
    made = examine(
        CheckContext(Settings(zims=ZimSettings(folder), endpoints=(endpoint,))), ("config",)
    )
    assert [c.status for c in made.checks] == [WARN, PASS]


@pytest.mark.parametrize("kind", ["missing", "empty", "file"])
def test_a_folder_without_zims_fails_with_the_next_step(tmp_path, kind):
    where = tmp_path / "z"
    if kind == "empty":
        where.mkdir()
    elif kind == "file":
        where.write_text("")
    status, made = checks(Settings(zims=ZimSettings(where), endpoints=(QUOTE,)))
    assert (status["folder"], status["search"]) == (FAIL, FAIL)
    assert made["folder"].hint


def test_an_enabled_zim_that_is_not_there_fails(folder):
    zims = ZimSettings(folder, ("wiki_en", "wiki_de"))
    made = examine(CheckContext(Settings(zims=zims)), ("folder",)).checks
    assert [c.status for c in made] == [FAIL, PASS]
    assert "wiki_de" in made[0].detail


# ZIM files


@pytest.mark.parametrize(
    ("dump", "status"),
    [("2026-06-01", PASS), ("2024-12-01", PASS), ("2024-11-29", PASS), ("2024-10-01", WARN)],
)
def test_a_dump_older_than_two_years_is_a_warning(make_zim, dump, status):
    path = make_zim(ARTICLES, name="wiki", date=dump)
    found, made = checks(Settings(zims=ZimSettings(path.parent)), "zim")
    assert list(found.values()) == [status]
    if status == WARN:
        (check,) = made.values()
        assert "2 years old" in check.detail
        assert check.hint == "infoforge zims update --check"


@pytest.mark.parametrize(
    ("dump", "months"),
    [
        ("2026-06", 5),
        ("2026-06-15", 5),
        ("2025-11", 12),
        ("", None),
        ("June", None),
        ("2026", None),
    ],
)
def test_months_between(dump, months):
    assert months_between(dump, date(2026, 11, 29)) == months


def test_a_zim_without_full_text_is_a_warning_and_is_searched_by_title(make_zim):
    path = make_zim(ARTICLES, name="bare", fulltext=False)
    status, made = checks(Settings(zims=ZimSettings(path.parent), endpoints=(QUOTE,)))
    assert status["zim:bare_2026-06.zim"] == WARN
    assert "full text no" in made["zim:bare_2026-06.zim"].detail
    assert status["search:bare"] == PASS


def test_every_damaged_file_is_named_and_the_good_one_is_searched(folder, shared_data):
    broken = sorted((shared_data / "zims" / "broken").glob("*.zim"))
    for path in broken:
        shutil.copy(path, folder)
    (folder / "text.zim").write_text("no ZIM")
    (folder / "empty.zim").write_bytes(b"")
    good = (folder / "wiki_en_2026-06.zim").read_bytes()
    (folder / "cut.zim").write_bytes(good[: len(good) // 2])
    status, made = checks(Settings(zims=ZimSettings(folder), endpoints=(QUOTE,)))
    bad = [p.name for p in broken] + ["text.zim", "empty.zim", "cut.zim"]
    assert len(broken) >= 4
    for name in bad:
        assert status[f"zim:{name}"] == FAIL, name
        assert made[f"zim:{name}"].hint == f"infoforge zims verify {name}"
    assert status["zim:wiki_en_2026-06.zim"] == PASS
    assert status["search:wiki_en"] == PASS


@pytest.mark.parametrize(
    "name",
    ["wikipedia_en_squad", "wikipedia_zh_xquad", "wikipedia_de_xquad", "tonedear.com_en"],
)
def test_real_zims_are_searched_in_their_own_words(shared_data, name):
    zims = ZimSettings(shared_data / "zims", (name,))
    status, _ = checks(Settings(zims=zims, endpoints=(QUOTE,)), "search")
    assert status == {f"search:{name}": PASS}


def test_a_zim_with_nothing_in_it_fails(make_zim):
    path = make_zim({"Ω": ""}, name="void")
    status, made = checks(Settings(zims=ZimSettings(path.parent)), "search")
    assert status["search:void"] == FAIL
    assert "nothing is found" in made["search:void"].detail


# kiwix-serve


@pytest.fixture(params=["kiwix37", "kiwix33"])
def kiwix(request):
    return request.getfixturevalue(request.param)


def served(folder, url, *enabled):
    return Settings(zims=ZimSettings(folder, enabled), kiwix=KiwixSettings(url), endpoints=(QUOTE,))


def test_a_real_kiwix_serve_is_searched(kiwix, folder):
    server = kiwix(*folder.glob("*.zim"))
    status, made = checks(served(folder, server.url))
    assert set(status.values()) == {PASS}
    assert "serves 1 book(s): wiki_en" in made["kiwix"].detail
    assert "read '" in made["search:wiki_en"].detail


def test_a_book_that_is_expected_and_not_served_fails(kiwix, folder, make_zim):
    server = kiwix(*folder.glob("*.zim"))
    make_zim(ARTICLES, name="new_en")
    status, made = checks(served(folder, server.url), "kiwix")
    assert status == {"kiwix": FAIL}
    assert "does not serve: new_en" in made["kiwix"].detail
    assert checks(served(folder, server.url, "wiki_en"), "kiwix")[0] == {"kiwix": PASS}
    assert checks(served(folder, server.url, "other"), "kiwix")[0] == {"kiwix": FAIL}


def test_a_damaged_file_is_told_of_once(kiwix, folder):
    server = kiwix(*folder.glob("*.zim"))
    (folder / "text.zim").write_text("no ZIM")
    status, _ = checks(served(folder, server.url))
    assert [name for name, s in status.items() if s == FAIL] == ["zim:text.zim"]


def test_a_server_of_another_folder_is_a_warning(kiwix, folder, make_zim, tmp_path):
    other = make_zim(ARTICLES, name="other", folder=tmp_path / "elsewhere")
    server = kiwix(other)
    assert checks(served(folder, server.url), "kiwix")[0] == {"kiwix": WARN}
    # without a folder here it is simply another machine's
    status, _ = checks(served(tmp_path / "none", server.url))
    assert (status["folder"], status["kiwix"], status["search:other"]) == (WARN, PASS, PASS)


def test_a_server_without_books_fails_though_it_answers(fault_server, folder):
    feed = b'<feed xmlns="http://www.w3.org/2005/Atom"></feed>'
    server = fault_server(files={"/catalog/v2/entries": ("application/atom+xml", feed)})
    status, made = checks(served(folder, server.url))
    assert status["kiwix"] == FAIL
    assert "serves no book" in made["kiwix"].detail
    assert status["search:wiki_en"] == PASS  # from the files


@pytest.mark.parametrize("what", ["refused", "500", "wrong-type", "empty", "hang"])
def test_a_kiwix_that_is_down_fails_and_the_files_are_searched(fault_server, folder, what):
    url = refused_url() if what == "refused" else fault_server(what, script_all=True).url
    status, made = checks(served(folder, url), timeout=0.5)
    assert status["kiwix"] == FAIL
    assert url in made["kiwix"].detail
    assert "infoforge serve status" in made["kiwix"].hint
    assert status["search:wiki_en"] == PASS


def test_a_public_kiwix_is_refused_without_a_connection(folder):
    status, made = checks(served(folder, "http://8.8.8.8"))
    assert status["kiwix"] == FAIL
    assert "public address" in made["kiwix"].detail
    assert "allow_public" in made["kiwix"].hint


# Endpoints


def endpoint_checks(url, **more):
    endpoint = EndpointSettings("x", url=f"{url}/v1", timeouts=QUICK, **more)
    status, made = checks(Settings(endpoints=(endpoint,)), "endpoint")
    return {n.removeprefix("endpoint:"): s for n, s in status.items()}, {
        n.removeprefix("endpoint:"): c for n, c in made.items()
    }


def test_a_good_endpoint_passes_in_all_four(fault_server):
    server = fault_server(reply("yes", prompt_tokens=3700))
    status, made = endpoint_checks(server.url)
    assert status == {"x": PASS, "x:model": PASS, "x:completion": PASS, "x:context": PASS}
    assert made["x:model"].detail == "test-model"
    assert server.chats[0].json["max_tokens"] == 1


def test_a_server_that_cuts_the_prompt_fails_and_says_what_to_set(fault_server):
    status, made = endpoint_checks(fault_server(reply("yes", prompt_tokens=2048)).url)
    assert status["x:completion"] == PASS
    assert status["x:context"] == FAIL
    assert "2048" in made["x:context"].detail
    assert "4096" in made["x:context"].hint


def test_a_server_that_counts_no_tokens_is_a_warning(fault_server):
    status, _ = endpoint_checks(fault_server(reply("yes", prompt_tokens=None)).url)
    assert status["x:context"] == WARN


def test_a_model_that_is_not_listed(fault_server):
    status, made = endpoint_checks(fault_server("404").url, model="other")
    assert (status["x"], status["x:model"], status["x:completion"]) == (PASS, FAIL, FAIL)
    assert "it lists: test-model" in made["x:model"].detail
    status, _ = endpoint_checks(fault_server(reply("y", prompt_tokens=3700)).url, model="other")
    assert (status["x:model"], status["x:completion"]) == (WARN, PASS)


def test_several_models_and_none_chosen(fault_server):
    status, made = endpoint_checks(fault_server(models=("a", "b")).url)
    assert status == {"x": PASS, "x:model": FAIL}
    assert "a, b" in made["x:model"].detail


def test_an_endpoint_that_is_down(fault_server):
    url = refused_url()
    status, made = endpoint_checks(url)
    assert status == {"x": FAIL}
    assert url in made["x"].detail
    assert made["x"].hint


@pytest.mark.parametrize("what", ["500", "garbage", "empty", "cut", "reset"])
def test_an_endpoint_that_lists_a_model_and_cannot_complete(fault_server, what):
    status, made = endpoint_checks(fault_server(what).url)
    assert (status["x"], status["x:completion"]) == (PASS, FAIL)
    assert made["x:completion"].detail


def test_an_endpoint_that_hangs_is_given_up_after_the_timeout(fault_server):
    server = fault_server("hang")
    endpoint = EndpointSettings("x", url=f"{server.url}/v1")  # its own: 120 s
    status, made = checks(Settings(endpoints=(endpoint,)), "endpoint", timeout=0.3)
    assert status["endpoint:x:completion"] == FAIL
    assert "timed out" in made["endpoint:x:completion"].detail


def test_a_public_endpoint_is_refused_and_the_next_is_looked_at():
    endpoints = (EndpointSettings("far", url="http://8.8.8.8/v1"), QUOTE)
    status, made = checks(Settings(endpoints=endpoints), "endpoint")
    assert status == {"endpoint:far": FAIL, "endpoint:quote": PASS}
    assert "public address" in made["endpoint:far"].detail


def test_a_missing_key_fails_its_endpoint(fault_server, tmp_path):
    status, made = endpoint_checks(fault_server().url, api_key_file=tmp_path / "none")
    assert status["x"] == FAIL
    assert str(tmp_path / "none") in made["x"].detail


def test_no_endpoint_is_a_warning():
    assert checks(Settings(), "endpoint")[0] == {"endpoint": WARN}


# The command


def valid(document):
    Draft202012Validator(SCHEMA).validate(document["data"])
    return document["data"]


@pytest.fixture
def configured(run_cli, folder):
    run_cli.configure(
        {"zims": {"folder": str(folder)}, "endpoints": [{"name": "quote", "kind": "quote"}]}
    )
    return run_cli


def test_the_command_says_that_all_is_well(configured):
    assert "skill:agents" in configured("doctor").stdout  # nobody told the agents yet
    assert configured("skill", "install").code == 0
    run = configured("doctor")
    assert run.code == 0
    lines = run.stdout.splitlines()
    assert lines[-1] == "doctor: all checks passed"
    assert all(re.match(r"  \[PASS\] \S+  \S", line) for line in lines[:-1])
    assert configured("doctor", "--quiet").stdout == ""
    data = valid(configured("doctor", "--json").json)
    assert (data["failed"], data["warned"], data["passed"]) == (0, 0, len(data["checks"]))


def test_the_command_says_what_failed_and_exits_1(configured, folder):
    (folder / "text.zim").write_text("no ZIM")
    run = configured("doctor")
    assert run.code == 1
    assert "  [FAIL] zim:text.zim  " in run.stdout
    assert "         next: infoforge zims verify text.zim" in run.stdout
    assert run.stdout.splitlines()[-1] == "doctor: 1 check(s) failed"
    quiet = configured("doctor", "--quiet").stdout
    assert "PASS" not in quiet
    assert "[FAIL]" in quiet
    run = configured("doctor", "--json")
    assert (run.code, run.json["status"], run.json["exit_code"]) == (1, "failed", 1)
    assert valid(run.json)["failed"] == 1
    assert run.json["errors"][0]["code"] == "check_failed"


def test_warnings_alone_are_no_failure(run_cli, make_zim):
    path = make_zim(ARTICLES, name="bare", fulltext=False)
    run_cli.configure({"zims": {"folder": str(path.parent)}})
    run = run_cli("doctor")
    assert run.code == 0
    assert "[WARN] endpoint" in run.stdout
    assert run.stdout.endswith("doctor: all checks passed\n")


def test_a_bad_configuration_is_exit_2_with_the_check_that_failed(run_cli):
    run_cli.configure("searc: 1")
    run = run_cli("doctor")
    assert run.code == 2
    assert "[FAIL] config" in run.stdout
    assert run.stdout.endswith("doctor: 1 check(s) failed\n")
    assert "did you mean 'search'?" in run.stderr
    run = run_cli("doctor", "--json")
    assert run.code == 2
    assert valid(run.json)["checks"][0]["name"] == "config"


def test_only_and_usage(configured):
    run = configured("doctor", "--only", "folder", "--only", "kiwix")
    assert [line.split()[2 - 1] for line in run.stdout.splitlines()[:-1]] == ["folder", "kiwix"]
    assert configured("doctor", "--only", "nonsense").code == 2
    assert configured("doctor", "--timeout", "0").code == 2
    assert "Example: infoforge doctor" in configured("doctor", "--help").stdout


def test_without_a_configuration_it_says_what_to_do(run_cli):
    run = run_cli("doctor")
    assert run.code == 1
    assert "[PASS] config  no file: built-in defaults" in run.stdout
    assert f"next: mkdir -p {run_cli.home}/zims" in run.stdout


def test_the_manual_describes_every_group():
    page = (Path(infoforge.__file__).parent.parent / "docs" / "doctor.md").read_text()
    for name, _ in GROUPS:
        assert f"| `{name}" in page, f"docs/doctor.md does not describe {name}"
