"""The back ends of commands: the store itself, or a running service.

Both carry out the same operations, with the same answers and exceptions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from idp.api.operation import Operation
from idp.cli.document import Document
from idp.cli.opening import open_store_service
from idp.cli.settings import load, load_for_store
from idp.config import loading as settings
from idp.foundation.clock import Clock, SystemClock
from idp.foundation.errors import ConfigError


class Backend(Protocol):
    """An installation on which a command carries out operations of the management API."""

    @property
    def clock(self) -> Clock:
        """The clock with which a command turns durations, such as 24h, into instants."""

    @property
    def issuer(self) -> str:
        """The address of the service, as applications know it."""

    async def call(
        self,
        operation: Operation,
        values: Sequence[str] = (),
        document: object = None,
        if_match: int | None = None,
    ) -> Document:
        """Carries out the operation and returns its answer.

        `values` are those of the parameters in its path, in their order; `document` is the body;
        `if_match` is the expected `sequence` of the record that is changed. Raises IdpError,
        StorageError.
        """

    def within(self, org_id: str | None) -> Backend:
        """Returns a back end of the same installation whose calls name the organization `org_id`,
        or none if that is None."""


class BackendLocation(Struct, frozen=True, kw_only=True):
    """The installation on which a command works: the `url` of a service, or without one the store
    that the settings name (`config_file` and `flags`).

    `token_file` holds the token for the service, which otherwise is in IDP_TOKEN; `org_id` is the
    organization of the calls, which otherwise is in IDP_ORG.
    """

    url: str | None = None
    token_file: Path | None = None
    org_id: str | None = None
    config_file: Path | None = None
    flags: dict[str, object] = {}


Work = Callable[[Backend], Awaitable[None]]
_CONTRADICTION: Final = "--url can't be used together with --data or --store"


@asynccontextmanager
async def open_backend(location: BackendLocation) -> AsyncIterator[Backend]:
    """Provides the back end of this location within the block, and closes it afterwards. Raises
    IdpError, StorageError."""
    has_store = any(location.flags.get(name) for name in ("data", "store"))
    if location.url and has_store:
        raise ConfigError([_CONTRADICTION])
    url = location.url
    # An option takes precedence over the environment.
    if url is None and not has_store:
        url = settings.name_from_environment(settings.URL_VARIABLE)
    org_id = location.org_id or settings.name_from_environment(settings.ORG_VARIABLE)
    if url:
        from idp.cli import remote

        config = load(location.config_file, location.flags).config
        yield remote.backend(url, _token(location), org_id, config.vendor, SystemClock())
        return
    from idp.cli import local

    async with open_store_service(load_for_store(location.config_file, location.flags)) as service:
        yield await local.backend(service, org_id)


def _token(location: BackendLocation) -> str:
    """Returns the token for the service. It is not an option, because other users of the machine
    can read command lines. Raises ConfigError."""
    if location.token_file is not None:
        try:
            token = location.token_file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError([f"the token file {location.token_file} can't be read"]) from error
    else:
        token = settings.from_environment(settings.TOKEN_VARIABLE) or ""
    if not token:
        raise ConfigError(
            [("a token is required: name its file with --token-file, or set IDP_TOKEN")]
        )
    return token
