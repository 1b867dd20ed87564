"""The call that checks a connection without a person: its provider, the provider's keys, and the
client secret."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final, Literal, TypeAlias

from idp.foundation import opaque_tokens
from idp.foundation.errors import TooMany
from idp.keys.algorithms import ALGORITHMS
from idp.management.call import Call
from idp.management.connections import read
from idp.outgoing.documents import FetchedDocuments
from idp.records.connections import ProviderConnection
from idp.schema.answers import Answer
from idp.service import Service
from idp.upstream import paths
from idp.upstream.oidc import code_exchange, id_tokens, key_sets, provider
from idp.upstream.refused import UpstreamRefused, owner_details

SECONDS: Final = 12.0  # for all calls of one check
# Of the connections of an owner, in WINDOW. A check may wait for the provider for SECONDS, and
# those of two windows together leave half of the management API to others.
MAX_CHECKS: Final = 4
WINDOW: Final = timedelta(minutes=1)
# A wrong secret counts as a failed attempt at the provider.
SECRET_WINDOW: Final = timedelta(minutes=10)

Outcome: TypeAlias = Literal["passed", "failed", "unknown"]
_Result: TypeAlias = tuple[Outcome, str]
# What providers answer to a client that they do not know by its secret; Keycloak sends the last.
_NOT_THE_CLIENT: Final = ("invalid_client", "unauthorized_client")
_UNAUTHORIZED: Final = 401
_FIXES: Final[Mapping[str, str]] = {
    "provider": (
        "Compare the issuer and the URLs with those of the provider, and check that this"
        " service can reach them. The setting outgoing_networks allows addresses in a private"
        " network."
    ),
    "keys": (
        "The provider must publish a key for one of the algorithms in idTokenAlgorithms at its"
        " jwks_uri."
    ),
    "client_authentication": (
        "Compare the client ID, the client secret and clientAuthentication with what is set at"
        " the provider."
    ),
}


class ConnectionCheck(Answer, frozen=True, kw_only=True):
    """A check of a connection: its name, its outcome (`passed`, `failed`, or `unknown` where the
    provider's answer does not decide it), what was found, and how to fix a failure."""

    name: str
    outcome: str
    details: str
    fix: str = ""


class ConnectionChecked(Answer, frozen=True, kw_only=True):
    """The checks in their order. After the first that has failed, no further ones are made."""

    checks: list[ConnectionCheck]


async def check(
    service: Service, call: Call, connection_id: str, *, is_instance: bool
) -> ConnectionChecked:
    """Checks a connection: that its provider can be reached and is the one in the settings, that
    it publishes a usable key, and that it accepts the client secret. An authorization code that
    does not exist is sent for the last, so no user is involved.

    Raises NotFound, TooMany.
    """
    connection = await read.find(service, call, connection_id, is_instance=is_instance)
    await admit(service, connection, "checks", MAX_CHECKS)
    # The check is of the provider as it is now: what this process has read before does not count.
    fresh = dataclasses.replace(service, documents=FetchedDocuments())
    ends_at = asyncio.get_running_loop().time() + SECONDS
    return ConnectionChecked(checks=[each async for each in _made(fresh, connection, ends_at)])


async def admit(
    service: Service, connection: ProviderConnection, what: Literal["checks", "tests"], limit: int
) -> None:
    """Counts a check or test of an owner's connections, because it calls servers that the owner
    chooses; `limit` of them are possible in WINDOW. Raises TooMany."""
    name = f"connection {what} of {connection.org_id or ''}"
    counter = await service.store.increment(name, window=WINDOW)
    if counter.n > limit:
        wait = counter.resets_at - service.clock.now()
        raise TooMany(
            f"too many {what} of connections",
            retry_after_seconds=max(1, round(wait.total_seconds())),
        )


async def _made(
    service: Service, connection: ProviderConnection, ends_at: float
) -> AsyncIterator[ConnectionCheck]:
    for name, step in _STEPS.items():
        try:
            async with asyncio.timeout_at(ends_at):
                outcome, details = await step(service, connection)
        except UpstreamRefused as refused:
            outcome, details = "failed", owner_details(refused)
        except TimeoutError:
            outcome, details = "failed", f"the provider did not answer within {SECONDS:g} s"
        fix = "" if outcome == "passed" else _FIXES[name]
        yield ConnectionCheck(name=name, outcome=outcome, details=details, fix=fix)
        if outcome == "failed":
            return


async def _provider(service: Service, connection: ProviderConnection) -> _Result:
    found = await provider.find(service, connection)
    return "passed", f"the provider is {found.issuer}"


async def _keys(service: Service, connection: ProviderConnection) -> _Result:
    found = await provider.find(service, connection)
    keys = key_sets.read(await provider.key_set(service, found))
    allowed = id_tokens.algorithms(connection)
    usable = [
        key
        for key in keys
        if any(
            key.algorithm in (None, name) and ALGORITHMS[name].fits(key.public) for name in allowed
        )
    ]
    details = f"{len(usable)} keys at {found.jwks_uri} can be used"
    return "passed" if usable else "failed", details


async def _client(service: Service, connection: ProviderConnection) -> _Result:
    found = await provider.find(service, connection)
    if not await _may_try_secret(service, connection):
        minutes = round(SECRET_WINDOW.total_seconds() / 60)
        return "unknown", f"it was tried within the last {minutes} minutes"
    redirect_uri = paths.redirect_uri(service, connection.id)
    status, error = await code_exchange.try_client(
        service, connection, found, redirect_uri=redirect_uri
    )
    answered = f"{found.token_endpoint} has answered with the status {status}, error {error!r}"
    if error == "invalid_grant":
        return "passed", answered
    is_refused = status == _UNAUTHORIZED or error in _NOT_THE_CLIENT
    return "failed" if is_refused else "unknown", answered


async def _may_try_secret(service: Service, connection: ProviderConnection) -> bool:
    """Returns whether the client authentication was not tried yet, within the window, with these
    settings and this secret."""
    tried = f"{connection.id}\n{connection.stamp}\n{connection.sealed_secrets.changed_at}"
    name = f"connection secret {opaque_tokens.digest(tried)}"
    return (await service.store.increment(name, window=SECRET_WINDOW)).n == 1


_STEPS: Final[Mapping[str, Callable[[Service, ProviderConnection], Awaitable[_Result]]]] = {
    "provider": _provider,
    "keys": _keys,
    "client_authentication": _client,
}
