"""Rules of the repository that no other tool checks."""

import re
import tomllib

from support.kiwix import REPO

PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))


def normal(name):
    return re.sub(r"[-_.]+", "-", re.split(r"[\s<>=!~;\[]", name, maxsplit=1)[0]).lower()


def documented():
    """Names in the first column of the tables of docs/dependencies.md."""
    page = (REPO / "docs" / "dependencies.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| ([^|]+?) \|", page, re.M)
    return {normal(name.strip()) for cell in cells for name in cell.split(",")}


def test_every_dependency_is_documented():
    declared = list(PROJECT["project"]["dependencies"])
    declared += PROJECT["build-system"]["requires"]
    for group in PROJECT["dependency-groups"].values():
        declared += [item for item in group if isinstance(item, str)]
    assert {normal(name) for name in declared} - documented() == set()


def test_every_debian_package_is_documented():
    script = (REPO / "scripts" / "system-packages").read_text(encoding="utf-8")
    table = script.partition("groups=(")[2].partition("\n)")[0]
    packages = set(re.findall(r"([a-z0-9+-]+):[a-z+]+", table))
    assert {"kiwix-tools", "strace", "g++"} <= packages
    assert {normal(name) for name in packages} - documented() == set()


def test_every_make_target_is_in_its_help():
    text = (REPO / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split()) - {"help"}
    assert targets == set(re.findall(r"@echo 'make ([a-z-]+)", text))


def test_every_page_is_in_the_list_of_pages():
    docs = REPO / "docs"
    listed = re.findall(r"^\| \[[^]]+\]\(([^)]+)\)", (docs / "README.md").read_text("utf-8"), re.M)
    pages = {page.name for page in docs.glob("*.md")} - {"README.md"}
    assert sorted(listed) == sorted(pages)


def test_every_command_is_in_the_readme():
    from infoforge.cli import cli

    text = (REPO / "README.md").read_text(encoding="utf-8")
    table = text.partition("## Commands")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.+) \| [^|]+ \|$", table, re.M)
    named = set(re.findall(r"`([a-z]+)", "\n".join(cells)))
    assert set(cli.list_commands(None)) - named == set()


def test_every_promise_of_security_names_tests_that_exist():
    page = (REPO / "docs" / "security.md").read_text(encoding="utf-8")
    table = page.partition("## What is promised")[2].partition("## What is not promised")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ") and "---" not in row][1:]
    assert len(rows) > 10
    for row in rows:
        tests = re.findall(r"`(tests/[^`]+)`", row)
        assert tests, row
        assert all((REPO / name).exists() for name in tests), row
