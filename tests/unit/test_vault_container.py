"""The database's container: its line, its password; and its errors in the contract's terms."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from infoforge.box.podman import BoxError, Podman
from infoforge.box.postgres import UNITS, arguments, ensure_password, heal, unit_text
from infoforge.config.settings import Settings, VaultSettings


def test_the_port_is_on_loopback_and_the_data_in_a_named_volume(tmp_path):
    vault = VaultSettings(password_file=tmp_path / "password")
    line = arguments(vault, "id")
    assert "--publish=127.0.0.1:5433:5432" in line
    assert "--volume=infoforge-vault:/var/lib/postgresql/data" in line
    assert line[-1] == vault.image
    assert not any("POSTGRES_PASSWORD=" in word for word in line)


def test_no_limit_of_processes_where_there_is_no_controller_for_it(tmp_path):
    vault = VaultSettings(password_file=tmp_path / "password")
    assert "--pids-limit=0" in arguments(vault, "id", frozenset({"memory"}))
    assert not any("pids" in word for word in arguments(vault, "id", frozenset({"pids"})))


def test_what_it_is_made_from_is_in_its_label(tmp_path):
    vault = VaultSettings(password_file=tmp_path / "password")
    labels = {
        next(word for word in line if word.startswith("--label="))
        for line in (
            arguments(vault, "one"),
            arguments(vault, "two"),
            arguments(replace(vault, port=6000), "one"),
        )
    }
    assert len(labels) == 3


def test_the_password_is_made_once_and_for_its_owner_alone(tmp_path):
    path = tmp_path / "new" / "password"
    assert ensure_password(path)
    made = path.read_text()
    assert len(made.strip()) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert not ensure_password(path)
    assert path.read_text() == made
    path.chmod(0o644)
    with pytest.raises(BoxError, match="others can read") as caught:
        ensure_password(path)
    assert f"chmod 600 {path}" in caught.value.hint


def test_units(tmp_path):
    settings = Settings(vault=VaultSettings(folder=tmp_path / "my vault"))
    texts = {name: unit_text(name, settings, ("/opt/infoforge",)) for name in UNITS}
    assert "ExecStart=/opt/infoforge vault start" in texts["infoforge-postgres.service"]
    assert "vault index --watch" in texts["infoforge-vault.service"]
    assert f'ReadOnlyPaths="{tmp_path}/my vault"' in texts["infoforge-vault.service"]
    assert not [text for text in texts.values() if re.search("@[A-Z]+@", text)]


def test_the_units_mark_follows_the_settings(tmp_path):
    """The role starts an indexer anew when its unit's text changed."""
    vault = VaultSettings(folder=tmp_path)
    texts = {
        unit_text(UNITS[1], Settings(vault=one), ("/opt/infoforge",))
        for one in (vault, replace(vault, exclude=("drafts/",)), replace(vault, language="german"))
    }
    assert len(texts) == 3


@pytest.mark.parametrize(("active", "reload", "made"), [(3, 0, False), (0, 0, True), (0, 1, None)])
def test_the_unit_brings_the_database_back_unless_it_was_stopped(tmp_path, active, reload, made):
    told = tmp_path / "told"
    systemctl = tmp_path / "systemctl"
    systemctl.write_text(
        f'#!/bin/sh\necho "$@" >> {told}\n'
        f"case $2 in is-active) exit {active};; reload) exit {reload};; esac\n"
    )
    systemctl.chmod(0o755)
    podman = Podman(env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    if made is None:
        with pytest.raises(BoxError, match="could not recreate the container") as caught:
            heal(podman)
        assert caught.value.code == "not_healed"
    else:
        assert heal(podman) is made
    assert ("reload infoforge-postgres.service" in told.read_text()) is (active == 0)
