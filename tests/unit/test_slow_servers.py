"""Each client ends in time and at a size, whatever its server does: drip, hang, or never end."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from infoforge import net
from infoforge.box import notify
from infoforge.config.settings import (
    EmbeddingSettings,
    EndpointSettings,
    MonitorSettings,
    TimeoutSettings,
)
from infoforge.corpus.base import CorpusError, Deadline
from infoforge.corpus.kiwix import KiwixServer
from infoforge.model.wire import Exchange, Fault, models
from infoforge.vault.embed import ServerEmbedder
from infoforge.vault.errors import VaultError
from infoforge.zims import catalog, source
from infoforge.zims.net import Unreachable

SHORT = 0.3
HERE = net.Trust({"127.0.0.1"})


def kiwix(url, monkeypatch):
    with pytest.raises(CorpusError):
        KiwixServer(url).books(Deadline(SHORT))


def catalog_feed(url, monkeypatch):
    monkeypatch.setattr(catalog, "_TIMEOUT", SHORT / 10)
    monkeypatch.setattr(catalog, "_FEED_LIMIT", 1_000_000)
    with net.public_session(HERE) as session, pytest.raises(Unreachable):
        catalog.fetch_catalog(session, f"{url}/feed", lambda warning: None)


def metalink(url, monkeypatch):
    monkeypatch.setattr(source, "_TIMEOUT", SHORT / 10)
    monkeypatch.setattr(source, "_META_LIMIT", 1_000_000)
    with net.public_session(HERE) as session, pytest.raises(Unreachable):
        source.resolve(session, f"{url}/a.zim")


def webhook(url, monkeypatch):
    monkeypatch.setattr(notify, "SECONDS", SHORT)
    change = notify.StateChange("2026-12-01T00:00:00Z", "bad", ("kiwix",), {"kiwix": "down"})
    warnings = []
    notify.notify(MonitorSettings(webhook=f"{url}/x"), change, ("webhook",), warnings.append)


def embeddings(url, monkeypatch):
    # Only a reply that is one gets as far as NumPy, which the tests of this folder do without.
    monkeypatch.setitem(sys.modules, "numpy", ModuleType("numpy"))
    settings = EmbeddingSettings(kind="openai", url=url, model="m", timeout=SHORT)
    with pytest.raises(VaultError):
        ServerEmbedder(settings)


def model_list(url, monkeypatch):
    with pytest.raises(Fault):
        models(EndpointSettings("x", url=url), total=SHORT)


def model_stream(url, monkeypatch):
    times = TimeoutSettings(connect=SHORT, first_byte=SHORT, idle=SHORT, total=SHORT)
    endpoint = EndpointSettings("x", url=url, timeouts=times)
    with pytest.raises(Fault), Exchange(endpoint, "POST", "/chat/completions", {}) as reply:
        reply.body(1 << 40)


@pytest.mark.parametrize(
    "client", [kiwix, catalog_feed, metalink, webhook, embeddings, model_list, model_stream]
)
@pytest.mark.parametrize("fault", ["drip-head", "drip", "hang", "hang-mid", "endless"])
def test_every_client_ends(client, fault, fault_server, monkeypatch):
    """What ends it is in the clients above: none of them waits for a server to come to its end."""
    server = fault_server(fault, script_all=True, files={"/x": "y" * 1000})
    client(server.url, monkeypatch)
    assert server.requests or fault == "hang"


def test_a_webhook_that_answers_slowly_is_reported(fault_server, monkeypatch):
    monkeypatch.setattr(notify, "SECONDS", SHORT)
    change = notify.StateChange("2026-12-01T00:00:00Z", "bad", ("kiwix",), {"kiwix": "down"})
    server = fault_server("drip-head", script_all=True, files={"/x": "y"})
    warnings = []
    monitor = MonitorSettings(webhook=f"{server.url}/x")
    assert notify.notify(monitor, change, ("webhook",), warnings.append) == ["webhook"]
    assert "does not answer" in warnings[0].message
