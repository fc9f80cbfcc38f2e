"""What a valid configuration of the vault can still get wrong."""

from __future__ import annotations

import pytest

from infoforge.config.check import check_vault
from infoforge.config.settings import EmbeddingSettings, Settings, VaultSettings


@pytest.mark.parametrize(
    ("vault", "keys"),
    [
        (VaultSettings(), []),
        (VaultSettings(embedding=EmbeddingSettings(kind="openai")), ["url", "model"]),
        (
            VaultSettings(
                embedding=EmbeddingSettings(kind="openai", url="http://8.8.8.8/v1", model="m")
            ),
            ["url"],
        ),
        (
            VaultSettings(
                embedding=EmbeddingSettings(
                    kind="openai", url="http://8.8.8.8/v1", model="m", allow_public=True
                )
            ),
            [],
        ),
    ],
)
def test_the_embedding_server(vault, keys):
    found = list(check_vault(Settings(vault=vault)))
    assert [problem.key.rpartition(".")[2] for problem in found] == keys


def test_the_folder(tmp_path):
    assert not list(check_vault(Settings(vault=VaultSettings(folder=tmp_path))))
    (problem,) = check_vault(Settings(vault=VaultSettings(folder=tmp_path / "none")))
    assert problem.key == "vault.folder"
    assert "mkdir" in problem.hint
