"""Two processes of one installation: services that share a store and nothing else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from idp.records import USERS
from idp.usage import counts


def as_process(service, **others):
    """The service of another process over the same store."""
    return replace(service, usage=Counter(), active_users={}, last_uses={}, **others)


async def total(service, kind, org_id=None, step="DAY", at=None) -> int:
    """What is stored of this kind in the hour or day of `at`, by default now."""
    at = at or service.clock.now()
    found = await counts.read(service, org_id, [kind], step, [at])
    return found[kind][0]


@pytest.fixture
def pair(server):
    return as_process(server.service), as_process(server.service)


@pytest.fixture
def user(io_loop, server):
    async def find():
        return (await server.store.find(USERS, {"login_key": server.user[0]})).records[0]

    return io_loop.run_sync(find)
