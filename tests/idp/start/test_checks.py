"""What a start warns of."""

from __future__ import annotations

from idp.start import bootstrap


async def test_a_start_on_a_sharded_cluster_warns_that_it_is_not_tested(
    server, monkeypatch, lines
):
    await bootstrap.make_ready(server.service)
    assert lines() == []

    monkeypatch.setattr(server.service.store, "is_sharded", True)
    await bootstrap.make_ready(server.service)

    assert [(line["level"], line["event"]) for line in lines()] == [
        ("warning", "a sharded cluster is not tested: all collections stay on one shard")
    ]
