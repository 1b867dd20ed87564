"""The store is away for a while: requests are refused with a time at which to ask again."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from storage.sqlite.locks import FileLock
from tests.fire.under_load.outlasting import outlast, reads_went_on
from tests.support.servers.mongod import fresh_database


async def away(trio) -> None:
    """Every member hangs, and comes back."""
    for member in trio.members:
        member.pause()
    await asyncio.sleep(15)
    for member in trio.members:
        member.resume()


async def frozen(trio) -> None:
    """The primary hangs, and comes back when another one is elected."""
    primary = await asyncio.to_thread(trio.primary)
    primary.pause()
    await asyncio.sleep(20)
    primary.resume()


async def alone(trio) -> None:
    """Two of three members are killed, and started again."""
    primary = await asyncio.to_thread(trio.primary)
    others = [member for member in trio.members if member is not primary]
    for member in others:
        member.kill()
    await asyncio.sleep(12)
    for member in others:
        await asyncio.to_thread(member.start)


async def written(file) -> None:
    """Another program has a transaction that writes."""
    with closing(sqlite3.connect(file, isolation_level=None, timeout=30)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        await asyncio.sleep(15)
        connection.execute("ROLLBACK")


async def locked(file) -> None:
    """A process that has its turn at writing hangs."""
    lock = FileLock(f"{file}-lock")
    with closing(lock), lock.held():
        await asyncio.sleep(15)


@pytest.fixture
def on_mongodb(mongod_trio, databases, make_groups, io_loop):
    mongod_trio.mend()
    groups = make_groups("--store", databases.enter_context(fresh_database(mongod_trio.url)))
    io_loop.run_sync(groups.start, timeout=120)
    yield groups
    mongod_trio.mend()


@pytest.mark.load
@pytest.mark.parametrize("fault", [away, frozen, alone], ids=lambda fault: fault.__name__)
async def test_without_its_database_the_service_says_when_to_ask_again_and_loses_nothing(
    on_mongodb, mongod_trio, fault, record_property
):
    await outlast(on_mongodb, fault(mongod_trio), record_property)
    await asyncio.to_thread(mongod_trio.mend)

    await on_mongodb.check()


@pytest.mark.load
@pytest.mark.parametrize("fault", [written, locked], ids=lambda fault: fault.__name__)
async def test_while_others_lock_its_file_the_service_says_when_to_write_again_and_is_read(
    on_sqlite, fault, record_property
):
    file = on_sqlite.directory / "idp-data" / "idp.sqlite3"
    outlasted = await outlast(on_sqlite, fault(file), record_property)

    await on_sqlite.check()
    assert reads_went_on(outlasted.asked)
