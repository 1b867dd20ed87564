"""One address that floods the service: others are answered, and soon."""

from __future__ import annotations

import asyncio
import base64
import json
import time

import pytest

from tests.fire.floods.flooding import FORM, KINDS, answer, flooded, request
from tests.support.servers.mongod import fresh_database

QUIET, COUNT, CONNECTIONS = 200, 150, 150
# Of the flood's p99 by the quiet one. Up to FLOOR_SECONDS nothing is asked: with three busy
# programs on two cores, the kernel alone lets each of them wait for a while.
FACTOR, FLOOR_SECONDS = 5, 0.15
MOST_ANSWERS = 40  # of the flood, while one introspection is answered
# What a 429 may cost: a secret is compared with the stored one, which has to be read; a personal
# access token is read once in ten seconds.
READS = {"wrong secret": {1}, "wrong personal access token": {0, 1}}


@pytest.fixture(params=["sqlite", "mongodb"])
def store_flags(request):
    if request.param == "sqlite":
        yield ()
        return
    with fresh_database(request.getfixturevalue("mongod")) as url:
        yield "--store", url


def store_commands(program) -> set[int]:
    """How many commands to the store the requests needed that were answered with 429."""
    lines = [json.loads(line) for line in program.errors if '"status":429' in line]
    return {line.get("store_commands", 0) for line in lines}


async def introspections(program, count) -> list[float]:
    """The seconds of so many introspections, one after another, from another address than the
    flood's."""
    demo, body = program.demo(), "token=x"
    basic = base64.b64encode(f"{demo.client_id}:{demo.client_secret}".encode()).decode()
    lines = (f"Authorization: Basic {basic}", f"Accept: {FORM}")
    data = request(program.port, "POST", "/oauth/v2/introspect", *lines, body=body)
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", program.port, local_addr=("127.0.0.2", 0)
    )
    seconds = []
    for _ in range(count):
        started = time.perf_counter()
        writer.write(data)
        assert await answer(reader) == (200, b'{"active":false}')
        seconds.append(time.perf_counter() - started)
    writer.close()
    await writer.wait_closed()
    return seconds


def p99(seconds):
    return sorted(seconds)[len(seconds) * 99 // 100]


@pytest.mark.full
@pytest.mark.promise("overload: turns")
async def test_in_a_flood_of_one_address_another_one_is_answered(start_program):
    program = start_program()

    async with flooded(program, "authorization", 40) as statuses:
        await introspections(program, 10)

    assert statuses.total() >= 40
    assert set(statuses) <= {303, 429, 503}
    assert store_commands(program) <= {0}


@pytest.mark.load
@pytest.mark.parametrize("kind", KINDS)
async def test_a_flood_of_one_address_delays_others_little(
    start_program, store_flags, kind, record_property
):
    program = start_program(*store_flags)
    await introspections(program, 50)
    quiet = p99(await introspections(program, QUIET))

    async with flooded(program, kind, CONNECTIONS) as statuses:
        flooded_p99 = p99(await introspections(program, COUNT))

    figures = f"p99 {quiet * 1000:.1f} ms, in a flood {flooded_p99 * 1000:.1f} ms"
    record_property("counts", f"{figures}, {dict(statuses)}")
    assert flooded_p99 <= max(FACTOR * quiet, FLOOR_SECONDS), figures
    if not store_flags:  # with SQLite, it is the process that a flood keeps busy
        assert statuses.total() <= MOST_ANSWERS * COUNT
    assert set(statuses) <= {401, 303, 429, 503}
    assert store_commands(program) <= READS.get(kind, {0})
