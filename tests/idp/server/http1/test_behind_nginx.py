"""nginx in front and the service behind it read the same requests."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.idp.server.http1.hostile import TABLE
from tests.idp.server.http1.serving import Served, request, served
from tests.support import patience
from tests.support.patience import until
from tests.support.servers.nginx import Nginx

pytestmark = pytest.mark.full

LAST = request("GET", "/last", "Connection: close")
LAST_READ = ("GET", "/last", b"")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


async def in_front(tmp_path, service):
    nginx = Nginx(tmp_path, free_port(), service.port)
    front = Served(service.server, nginx.port, service.seen)
    async with asyncio.timeout(patience.SECONDS):
        while not await is_served(front):
            await asyncio.sleep(0.02)
    await until(nginx.answered)
    return nginx, front


async def is_served(front):
    try:
        async with front.client() as client:
            client.send(LAST)
            return bool(await client.rest())
    except OSError:
        return False


def addresses(read):
    return [(method, target) for method, target, _ in read]


def difference(expected, read, answered):
    """How both differ, if they do. The service may refuse what nginx passes on, and nginx what
    the service reads."""
    if addresses(read) != answered:
        return f"nginx has passed on {answered}, the service has read {read}"
    if isinstance(expected, list) and read != [*expected, LAST_READ][: len(read)]:
        return f"the service reads {read} behind nginx"
    return None


async def settled(nginx, before, service):
    """What nginx has passed on since, once its log has as much as the service has read."""
    try:
        async with asyncio.timeout(3):
            await until(lambda: addresses(service.seen.read) == nginx.answered()[before:])
    except TimeoutError:
        pass
    return nginx.answered()[before:]


@pytest.mark.promise("security: framing")
async def test_no_hostile_request_is_read_differently(tmp_path):
    differing, passed_on = {}, 0
    async with served() as service:
        nginx, front = await in_front(tmp_path, service)
        for name, (raw, expected) in TABLE.items():
            before = len(nginx.answered())
            service.seen.read.clear()
            async with front.client() as client:
                client.send(raw + LAST)
                await client.rest()
            answered = await settled(nginx, before, service)
            passed_on += len(answered)
            if problem := difference(expected, service.seen.read, answered):
                differing[name] = problem
        nginx.close()

    assert not differing
    assert passed_on > 50  # it has not just refused them all
