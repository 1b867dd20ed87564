"""How long a connection may take to its next request, whatever arrives of it meanwhile."""

from __future__ import annotations

import pytest

from tests.idp.server.http1.serving import request, served
from tests.idp.server.test_http_server import Time
from tests.support.patience import until


async def drip(service, client, time, seconds):
    """One byte of a head a second, for so long or until the connection is closed."""
    for byte in request("GET", "/", "X: " + "y" * seconds)[:seconds]:
        received = buffered(service)
        client.send(bytes([byte]))
        await until(lambda received=received: buffered(service) != received)
        time.passes(1)
        if not service.server._connections:
            return


def buffered(service):
    return sum(each._reader.buffered for each in service.server._connection_of_stream)


async def test_a_first_head_that_arrives_slowly_is_waited_for_ten_seconds(counted):
    async with served() as service, service.client() as client:
        time = Time(service.server)
        await until(lambda: service.server._connection_of_stream)
        await drip(service, client, time, 9)
        assert len(service.server._connections) == 1
        await drip(service, client, time, 1)

        assert await client.rest() == b""
        assert counted("http_connections_closed_total", reason="slow_head") == 1


@pytest.mark.parametrize("before", [request("GET", "/"), request("POST", "/", body=b"x")])
async def test_a_later_head_that_arrives_slowly_is_waited_for_as_a_request_is(counted, before):
    async with served() as service, service.client() as client:
        time = Time(service.server)
        client.send(before)
        await client.answer()
        await drip(service, client, time, 74)
        assert len(service.server._connections) == 1
        await drip(service, client, time, 1)

        assert await client.rest() == b""
        assert counted("http_connections_closed_total", reason="idle") == 1


async def test_a_head_that_follows_in_the_same_packet_is_waited_for_as_long(counted):
    async with served() as service, service.client() as client:
        time = Time(service.server)
        client.send(request("GET", "/") + b"GET / HT")
        await client.answer()
        await until(lambda: service.server._connections.active == 0)
        time.passes(74)
        assert len(service.server._connections) == 1
        time.passes(1)

        assert await client.rest() == b""
