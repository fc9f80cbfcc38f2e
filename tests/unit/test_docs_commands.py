"""Every `infoforge` command line in the pages, the help, the messages and the roles exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from infoforge.cli import cli

REPO = Path(__file__).resolve().parents[2]
PAGES = [REPO / "README.md", *sorted((REPO / "docs").glob("*.md"))]
SOURCES = [
    path
    for folder in ("infoforge", "roles", "playbooks")
    for path in sorted((REPO / folder).rglob("*"))
    if path.suffix in (".py", ".yml", ".in", ".md")
]
_LINE = re.compile(r"(?:^|[\s(/`$])infoforge(?! +infoforge\b)((?: +[^\s`]+)+)")


@cache
def command(name: str) -> click.Command | None:
    return cli.get_command(click.Context(cli), name)


def code_of(page: str) -> Iterator[str]:
    """The lines of a page's fenced blocks, joined where they are continued, and its inline code."""
    blocks = re.findall(r"^ *```[^\n]*\n(.*?)^ *```", page, re.M | re.S)
    for block in blocks:
        yield from re.sub(r"\\\n\s*", " ", block).splitlines()
    yield from re.findall(r"`([^`\n]+)`", re.sub(r"^ *```.*?^ *```", "", page, flags=re.M | re.S))


def words_of(line: str) -> Iterator[list[str]]:
    """The arguments of each call of infoforge in a line of code."""
    if "ansible-playbook" in line:  # there it is a user's name
        return
    for call in _LINE.findall(line):
        plain = re.split(r"\s(?:[|>&;#]|&&|→)|[;|]", call)[0]
        try:
            yield shlex.split(plain)
        except ValueError:
            yield plain.split()


def fault(words: list[str]) -> str:
    """What of a call does not exist; empty when all of it does."""
    current: click.Command = cli
    known = {"--help": False, "-h": False, **options(cli)}
    rest = iter(words)
    for word in rest:
        if word.startswith("-") and word != "-":
            option, given, _ = word.rstrip(".,").partition("=")
            if option not in known:
                return f"{current.name} has no option {option}"
            if known[option] and not given:
                next(rest, None)
        elif isinstance(current, click.Group) and re.fullmatch(r"[a-z][a-z-]*", word):
            found = command(word) if current is cli else current.commands.get(word)
            if found is None:
                return f"there is no command '{word}' of {current.name}"
            current = found
            known |= options(current)
        elif isinstance(current, click.Group):
            return ""  # a placeholder: COMMAND, …
    return ""


def options(of: click.Command) -> dict[str, bool]:
    """The options of a command, and whether each takes a value."""
    return {
        name: not param.is_flag
        for param in of.params
        if isinstance(param, click.Option)
        for name in (*param.opts, *param.secondary_opts)
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_command_line_of_a_page_exists(page: Path) -> None:
    faults = [
        f"infoforge {' '.join(words)}: {what}"
        for line in code_of(page.read_text("utf-8"))
        for words in words_of(line)
        if (what := fault(words))
    ]
    assert faults == []


def test_every_subcommand_that_messages_and_roles_name_exists() -> None:
    groups = {
        name: found.commands
        for name in cli.list_commands(click.Context(cli))
        if isinstance(found := command(name), click.Group)
    }
    named = re.compile(rf"infoforge ({'|'.join(groups)}) ([a-z-]+)")
    faults = [
        f"{path.relative_to(REPO)}: infoforge {group} {word}"
        for path in SOURCES
        for group, word in named.findall(path.read_text("utf-8"))
        if word not in groups[group]
    ]
    assert faults == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("infoforge serve restart", True),
        ("$ infoforge --config x.yaml serve start --anew", True),
        ("sudo -u x infoforge zims list --json | jq .", False),
        ("infoforge ask 'what is --this?' --json", False),
        ("infoforge frobnicate", True),
        ("infoforge doctor --only=zim", False),
    ],
)
def test_what_does_not_exist_is_found(line: str, wrong: bool) -> None:
    assert any(fault(words) for words in words_of(line)) == wrong


def test_the_period_of_a_timer_is_the_same_on_every_page() -> None:
    unit = (REPO / "infoforge" / "data" / "infoforge-heal.timer.in").read_text("utf-8")
    seconds = re.findall(r"^OnUnitInactiveSec=(\d+)$", unit, re.M)
    for page in PAGES:
        text = page.read_text("utf-8")
        told = re.findall(r"infoforge-heal\.timer`[^\n]*?(\d+) seconds", text)
        assert set(told) <= set(seconds), page.name
