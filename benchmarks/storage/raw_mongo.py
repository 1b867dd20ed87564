"""The yardstick of MongoDB: the driver itself, one command for each operation.

It is as durable as the store: a majority acknowledges each write, with its journal.
"""

from __future__ import annotations

import inspect
from typing import Any
from urllib.parse import urlsplit

from motor.motor_asyncio import AsyncIOMotorClient
from pymongo import AsyncMongoClient
from pymongo.write_concern import WriteConcern

from benchmarks.storage.contract import AT_ONCE, key_of, keys_of
from benchmarks.storage.records import START, account_document, id_of
from benchmarks.storage.rounds import Work

CLIENTS: dict[str, Any] = {"pymongo": AsyncMongoClient, "motor": AsyncIOMotorClient}
DURABLE = WriteConcern("majority", j=True)
ADD = {"$inc": {"sequence": 1}}
IN_COMMAND = 32


class RawMongo:
    """A separate client of one of the drivers, on the store's database."""

    def __init__(self, driver: str, url: str) -> None:
        self._client: Any = CLIENTS[driver](url)
        name = urlsplit(url).path.lstrip("/")
        database = self._client.get_database(name, write_concern=DURABLE)
        self._accounts = database["accounts"]
        self._happenings = database["happenings"]
        self._counters = database["counters"]

    async def close(self) -> None:
        await _awaited(self._client.close())

    def find(self, in_flight: int) -> Work:
        accounts = self._accounts
        return Work("find_one", lambda n: accounts.find_one({"_id": id_of(n)}), in_flight)

    def find_each(self) -> Work:
        def once(n: int) -> Any:
            return self._accounts.find({"login_key": {"$in": keys_of(n)}}).to_list(None)

        return Work("find", once, 1, AT_ONCE)

    def update(self, in_flight: int) -> Work:
        accounts = self._accounts
        return Work("update_one", lambda n: accounts.update_one(_active(n), ADD), in_flight)

    def shared(self) -> Work:
        """Sends the server's own command, with as many updates as two commands share of 64."""

        async def once(n: int) -> None:
            updates = [{"q": _active(n * IN_COMMAND + m), "u": ADD} for m in range(IN_COMMAND)]
            command = {"update": "accounts", "updates": updates, "ordered": False}
            await self._accounts.database.command(command | {"writeConcern": DURABLE.document})

        return Work("bare command of 32 updates", once, 2, IN_COMMAND)

    def insert(self, in_flight: int) -> Work:
        accounts = self._accounts
        return Work(
            "insert_one",
            lambda n: accounts.insert_one(account_document(f"raw-{n}")),
            in_flight,
        )

    def update_and_event(self, in_flight: int) -> Work:
        async def once(n: int) -> None:
            session = await _awaited(self._client.start_session())
            try:
                await _awaited(session.start_transaction(write_concern=DURABLE))
                await self._accounts.update_one(_active(n), ADD, session=session)
                await self._happenings.insert_one(_happening(f"raw-{n}"), session=session)
                await session.commit_transaction()
            finally:
                await _awaited(session.end_session())

        return Work("transaction", once, in_flight)

    def many(self, writes: int) -> Work:
        async def once(n: int) -> None:
            ids = [f"raw-many-{n}-{m}" for m in range(AT_ONCE)]
            await self._accounts.insert_many(
                [account_document(record_id) for record_id in ids], ordered=False
            )
            if writes > 1:
                await self._happenings.insert_many(
                    [_happening(record_id) for record_id in ids], ordered=False
                )

        return Work("insert_many", once, 1, AT_ONCE)

    def increment(self, in_flight: int) -> Work:
        def once(n: int) -> Any:
            return self._counters.find_one_and_update(
                {"_id": f"raw-{key_of(n)}"},
                {"$inc": {"n": 1}, "$setOnInsert": {"expires_at": START}},
                upsert=True,
            )

        return Work("find_one_and_update", once, in_flight)


def _active(number: int) -> dict[str, Any]:
    return {"_id": id_of(number), "state": "active"}


def _happening(record_id: str) -> dict[str, Any]:
    return {"_id": record_id, "aggregate": record_id, "kind": "account.changed", "at": START}


async def _awaited(value: Any) -> Any:
    """Returns a driver's value, awaited if it is an awaitable: PyMongo and Motor differ in
    that."""
    return await value if inspect.isawaitable(value) else value
