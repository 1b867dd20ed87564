"""A later start of a store, in this process."""

from __future__ import annotations

import msgspec

from idp.start import bootstrap
from idp.start.announcement import Start
from tests.support.service import Server


def again(server: Server, **settings) -> Server:
    """The same store, started with other settings."""
    config = msgspec.structs.replace(server.service.config, **settings)
    service = type(server.service)(**{**vars(server.service), "config": config})
    return Server(service, server.app, server.clock, server.start)


async def make_ready(server: Server) -> Start:
    """What the start tells."""
    return await bootstrap.make_ready(server.service)
