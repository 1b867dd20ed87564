"""Opens the store of an installation for a command, with the issuer under which it is served."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from idp.cli.settings import config_for_store
from idp.config.loading import LoadedSettings
from idp.service import Service


@asynccontextmanager
async def open_store_service(loaded: LoadedSettings) -> AsyncIterator[Service]:
    """Provides the service over the store that the settings name within the block, and closes it
    afterwards.

    `loaded` are the settings that `load_for_store` returned. Raises ConfigError; NotFound if the
    store was never set up; StorageError.
    """
    from idp.start import bootstrap, first_start, master_keys

    service = await bootstrap.open_service(loaded.config, must_exist=True)
    try:
        last_issuer = await first_start.last_issuer(service.store)
        async with master_keys.following(service):
            yield replace(service, config=config_for_store(loaded, last_issuer))
    finally:
        await bootstrap.close_service(service)
