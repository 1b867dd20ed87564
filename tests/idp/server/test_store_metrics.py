"""The gauges of what is stored and of the service's files."""

from __future__ import annotations

import sqlite3

import msgspec
import pytest

from idp.backup import series
from idp.server import store_metrics
from idp.service import Service
from tests.support.servers.certificate import self_signed
from tests.support.service import use_settings


def with_settings(server, **settings) -> Service:
    use_settings(server.service, **settings)
    return server.service


async def test_what_is_stored_is_measured(counted, server):
    await store_metrics.measure(server.service)
    before = counted("key_age_seconds", algorithm="RS256", state="active")
    server.clock.advance(100)
    await store_metrics.measure(server.service)

    assert counted("store_writable") == 1
    assert counted("store_info", kind="memory", server_version=sqlite3.sqlite_version) == 1
    assert counted("sqlite_bytes", file="database") > 0
    assert counted("sqlite_bytes", file="free") == 0
    assert counted("outbox_messages", channel="message", state="queued") == 0
    assert counted("outbox_oldest_seconds", channel="back_channel") == 0
    assert counted("audit_unsealed") > 0
    assert counted("audit_unsealed_oldest_seconds") >= 100
    assert counted("key_age_seconds", algorithm="RS256", state="active") == before + 100


@pytest.mark.promise("faults: readyz")
@pytest.mark.parametrize("is_read_only", [True, False])
async def test_a_store_that_can_not_be_written_to_is_measured(
    counted, server, monkeypatch, is_read_only
):
    monkeypatch.setattr(type(server.service.store), "is_read_only", is_read_only)
    await store_metrics.measure(server.service)

    assert counted("store_writable") == (not is_read_only)


async def test_a_server_of_another_version_is_shown_alone(counted, server, monkeypatch):
    await store_metrics.measure(server.service)
    kind = server.service.config.store.partition(":")[0]
    before = await server.service.store.engine_version()

    async def upgraded():
        return "99.1"

    monkeypatch.setattr(server.service.store, "engine_version", upgraded)
    await store_metrics.measure(server.service)

    assert counted("store_info", kind=kind, server_version=before) == 0
    assert counted("store_info", kind=kind, server_version="99.1") == 1


async def test_the_disk_the_certificate_and_the_last_backup_are_measured(
    counted, server, tmp_path
):
    chain, key = (str(tmp_path / name) for name in self_signed(tmp_path))
    made_at = server.clock.now()
    last = series.LastBackup(file="f", made_at=made_at, verified_at=made_at, records=1, bytes=1)
    (tmp_path / series.LAST).write_bytes(msgspec.json.encode(last))
    service = with_settings(
        server, data=str(tmp_path), tls_cert=chain, tls_key=key, backup_dir=str(tmp_path)
    )
    await store_metrics.measure(service)

    assert 0 < counted("disk_free_bytes") <= counted("disk_size_bytes")
    assert counted("certificate_expiry_timestamp_seconds") > 1_000_000_000
    assert counted("backup_last_success_timestamp_seconds") == made_at.timestamp()


async def test_a_backup_directory_that_can_not_be_read_counts_as_no_backup(
    counted, server, tmp_path
):
    (tmp_path / "file").write_bytes(b"")

    await store_metrics.measure(with_settings(server, backup_dir=str(tmp_path / "file")))

    assert counted("backup_last_success_timestamp_seconds") == 0


@pytest.mark.parametrize("content", [None, b"{}", b"\xff"])
async def test_files_that_can_not_be_read_are_left_out_and_count_as_no_backup(
    counted, server, tmp_path, content
):
    if content is not None:
        (tmp_path / series.LAST).write_bytes(content)
        (tmp_path / "chain.pem").write_bytes(content)
    chain = str(tmp_path / "chain.pem")
    service = with_settings(
        server, data=str(tmp_path / "gone"), tls_cert=chain, backup_dir=str(tmp_path)
    )
    await store_metrics.measure(service)

    assert counted("store_writable") == 1
    assert counted("disk_free_bytes") in (0, None)
    assert counted("certificate_expiry_timestamp_seconds") in (0, None)
    assert counted("backup_last_success_timestamp_seconds") == 0
