"""What the pipeline hands to a grant, and the parts that grants share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from msgspec import Struct

from idp.foundation import opaque_tokens
from idp.foundation.opaque_tokens import Confidential
from idp.oauth.authentication import client_authentication
from idp.oauth.errors import InvalidGrant
from idp.oauth.params import Params
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals.check import Check
from idp.oauth.refusals.token import GRANT_STANDS
from idp.oauth.tokens import authorizations, validity_details
from idp.oauth.tokens.access_tokens import lifetime
from idp.oauth.tokens.authorizations import AuthorizedClient
from idp.records import Application, Authorization, DeviceRequest, Instance, Refresh, User
from idp.service import Service
from storage import Key


@dataclass(frozen=True)
class Exchange:
    """One authenticated request. `found` are the records that the grant asked for (`reads`).

    Only a grant whose `authenticates` lets service users in meets one as `caller`.
    """

    service: Service
    caller: Application | User
    params: Params
    found: Sequence[Any]

    @property
    def client(self) -> Application:
        """The application that calls."""
        if not isinstance(self.caller, Application):
            raise TypeError("a service user calls, not an application")
        return self.caller


Authenticate: TypeAlias = Callable[
    [Service, str | None, Params, Sequence[Key]],
    Awaitable[tuple[Application | User, Sequence[Any]]],
]


def _nothing(params: Params) -> list[Key]:
    return []


class Grant(Struct, frozen=True, kw_only=True):
    """One grant type: all that the pipeline, discovery and registration know of it.

    `exchange` gives the token response; `reads` names the records that it needs, which are read
    together with the client; `checks` are all checks of such a request in their order.
    `authenticates` tells who calls. `api_name` is its name in a registration; without one it is
    for everybody who may authenticate. `is_offered` tells by the installation's settings.
    """

    exchange: Callable[[Exchange], Awaitable[dict[str, Any]]]
    checks: tuple[Check, ...]
    reads: Callable[[Params], list[Key]] = _nothing
    authenticates: Authenticate = client_authentication.authenticate
    api_name: str | None = None
    is_offered: Callable[[Instance], bool] | None = None


class RefreshToken(Confidential, frozen=True):
    """A refresh token in the making: its text, and the record that remembers it by hashes."""

    text: str
    record: Refresh


def new_refresh_token(
    service: Service, authorization_id: str, now: datetime, ends_at: datetime | None = None
) -> RefreshToken:
    """The first of a family: the id, a family secret that stays, a secret that changes.

    `ends_at` is when the family has to end at the latest.
    """
    family, secret = service.random.token(), service.random.token()
    config = service.config
    absolute = now + timedelta(seconds=config.refresh_token_seconds)
    absolute = min(absolute, ends_at or absolute)
    record = Refresh(
        family_hash=opaque_tokens.digest(family),
        current_hash=opaque_tokens.digest(secret),
        rotated_at=now,
        idle_expires_at=min(now + timedelta(seconds=config.refresh_token_idle_seconds), absolute),
        expires_at=absolute,
    )
    return RefreshToken(authorization_id + family + secret, record)


def last_token_ends_at(
    exchange: Exchange, refresh: RefreshToken | None, now: datetime
) -> datetime:
    """When the last access token that can come of an authorization has expired."""
    lasts = lifetime(exchange.service.config, exchange.client.access_token_type)
    return max(now, refresh.record.expires_at if refresh else now) + lasts


async def find_live(exchange: Exchange, authorization: Authorization) -> AuthorizedClient:
    """The user and the client, both still allowed. Raises InvalidGrant.

    A session that has ended is no refusal here (`AuthorizedClient.session` tells):
    `offline_access` outlives it, and each grant says what it means.
    """
    grantee = await authorizations.find_live(
        exchange.service, authorization, exchange.client.project_id
    )
    if grantee is None:
        named = authorizations.named(authorization, exchange.client.project_id)
        story, check, fix = await validity_details.fallen(exchange.service, named, GRANT_STANDS)
        with check:
            told = "the grant was revoked, or its user or client is not active any more"
            raise InvalidGrant(told, story=story, fix=fix)
    return grantee


def named(exchange: Exchange) -> Authorization | None:
    """The authorization that the request's code or token begins with, if there is one."""
    return exchange.found[0] if exchange.found else None


def refuse_foreign(exchange: Exchange, issued: Authorization | DeviceRequest, what: str) -> None:
    """Raise InvalidGrant when what was issued belongs to another client."""
    if issued.client_id != exchange.client.id:
        owner, sender = (
            refusal_details.quoted(issued.client_id),
            refusal_details.named(exchange.client),
        )
        raise InvalidGrant(
            f"the {what} was issued to another client",
            story=f"The {what} was issued to the client {owner}; {sender} sent it.",
        )


async def refuse_replay(
    exchange: Exchange, authorization: Authorization, what: str, story: str
) -> None:
    """End everything that came of `authorization`, then raise InvalidGrant."""
    reason = f"{what} replayed"
    await authorizations.revoke(exchange.service, authorization, reason=reason, cause="replay")
    raise InvalidGrant(
        f"the {what} was used before; every token that came of it is revoked",
        story=f"{story} Every token that came of it is revoked.",
    )
