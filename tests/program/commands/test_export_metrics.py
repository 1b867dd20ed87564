"""The metric of `idp audit export`: when every sealed event was exported."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tornado.httpclient import AsyncHTTPClient
from tornado.testing import bind_unused_port

from idp.cli import event_export, local
from idp.cli.event_export import CursorFile, Exporter, ExportOptions, LineStream
from idp.foundation.errors import ConfigError


@pytest.fixture
def service(server):
    return server.service


@pytest.fixture
def address():
    socket, port = bind_unused_port()
    socket.close()
    return f"127.0.0.1:{port}"


async def export(service, directory, record_up_to_date):
    @asynccontextmanager
    async def opened():
        yield await local.backend(service, None)

    with (directory / "events.jsonl").open("ab", buffering=0) as file:
        exporter = Exporter(
            LineStream(file),
            CursorFile(directory / "state"),
            ExportOptions(),
            asyncio.Event(),
            record_up_to_date,
        )
        await exporter.run(opened)


async def test_prometheus_sees_when_every_event_was_exported(service, tmp_path, address):
    with event_export.serving_metric(address, service.clock) as record_up_to_date:
        before = await scraped(address)
        await export(service, tmp_path, record_up_to_date)
        after = await scraped(address)

    assert before == 0
    assert after == service.clock.now().timestamp()


async def scraped(address):
    """The value of the metric, as Prometheus sees it."""
    answer = await AsyncHTTPClient().fetch(f"http://{address}/metrics")
    (family,) = text_string_to_metric_families(answer.body.decode())
    (sample,) = family.samples
    assert sample.name == event_export.UP_TO_DATE
    return sample.value


async def test_an_address_for_metrics_that_can_not_be_used_is_named(service):
    with (
        pytest.raises(ConfigError, match="--metrics-listen must be an IP address and a port"),
        event_export.serving_metric("localhost", service.clock),
    ):
        pass
