"""The clock and the settings of a service that was started with `--test`."""

from __future__ import annotations

from dataclasses import replace

from idp import test_mode


class Store:
    """A store in which the clock was not set."""

    async def get(self, *_):
        return None


async def test_each_request_reads_settings_that_another_process_may_have_reset(server):
    service, stored = replace(server.service, store=Store()), iter(["before", "after"])

    async def read():
        return next(stored)

    async def cached():
        return await service.settings_cache.get("a", service.clock.now(), read)

    assert await cached() == "before"
    await test_mode.synchronise(service)

    assert await cached() == "after"
