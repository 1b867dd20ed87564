"""Opening the store of an installation for a command, with the issuer that it is served with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from idp.cli.settings import config_for_store
from idp.config.loading import Loaded
from idp.service import Service


@asynccontextmanager
async def opened_service(loaded: Loaded) -> AsyncIterator[Service]:
    """The service over a store that is there; closed at the end of the block.

    `loaded` comes from `load_for_store`. Raises ConfigError; NotFound: nothing was ever set up in
    the store; WrongKey, StorageError.
    """
    from idp.start import bootstrap, first_start

    service = await bootstrap.open_service(loaded.config, must_exist=True)
    try:
        served = await first_start.last_issuer(service.store)
        yield replace(service, config=config_for_store(loaded, served))
    finally:
        await bootstrap.close_service(service)
