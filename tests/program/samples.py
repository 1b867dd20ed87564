"""What the tests of the running program share."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import httpx

from idp.records import ALL, SCHEMA
from storage import open_store


async def close(writer: asyncio.StreamWriter) -> None:
    """Close a connection, however it stands."""
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


def secrets_of(program) -> set[str]:
    """Every secret value that a start made or told, as far as it can be seen from outside."""
    told = program.announcement
    values = {
        told["admin"]["password"],
        told["adminPat"],
        told["demo"]["clientId"],
        told["demo"]["clientSecret"],
        told["demo"]["user"]["password"],
        (Path(told["dataDir"]) / "master.key").read_text().strip(),
    }
    keys = httpx.get(f"{told['issuer']}/oauth/v2/keys").json()["keys"]
    values |= {key["n"] for key in keys} | {key["kid"] for key in keys}
    assert None not in values
    return values


async def records_of(url: str, wanted) -> dict[str, int]:
    """How many records the collections of `wanted` have."""
    store = open_store(url, now=lambda: datetime.now(UTC), new_id=lambda: uuid.uuid4().hex)
    await store.open(ALL, SCHEMA)
    try:
        return {
            collection.name: await store.count(collection, {})
            for collection in ALL
            if collection.name in wanted
        }
    finally:
        await store.close()
