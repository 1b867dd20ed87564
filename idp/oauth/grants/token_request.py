"""What the token endpoint passes to a grant, and the parts that several grants share."""

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
from idp.oauth.refusals.token import GRANT_VALID
from idp.oauth.tokens import authorizations, validity_details
from idp.oauth.tokens.access_tokens import lifetime
from idp.oauth.tokens.authorizations import AuthorizedClient
from idp.oauth.tokens.dependencies import dependencies_of
from idp.records import Application, Authorization, DeviceRequest, Instance, Refresh, User
from idp.service import Service
from storage import Key


@dataclass(frozen=True)
class TokenRequest:
    """A token request whose sender, `caller`, is authenticated.

    `records` are those with the keys that `Grant.reads` returned. `caller` is a service user only
    in a grant whose `authenticates` accepts service users.
    """

    service: Service
    caller: Application | User
    params: Params
    records: Sequence[Any]

    @property
    def client(self) -> Application:
        """The application that sent the request. Raises `TypeError` for a service user."""
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
    """A grant type: everything that the token endpoint, discovery and registration need to know.

    `respond` returns the token response; `reads` returns the keys of the records that it needs,
    which are read together with the client; `checks` are all checks of such a request in their
    order. `authenticates` authenticates the caller. `api_name` is the name by which an application
    is registered for the grant type; None lets every caller use it that may authenticate.
    `is_offered` returns whether the installation has switched it on; None means always.
    """

    respond: Callable[[TokenRequest], Awaitable[dict[str, Any]]]
    checks: tuple[Check, ...]
    reads: Callable[[Params], list[Key]] = _nothing
    authenticates: Authenticate = client_authentication.authenticate
    api_name: str | None = None
    is_offered: Callable[[Instance], bool] | None = None


class RefreshToken(Confidential, frozen=True):
    """A new refresh token: its text, and the record with the hashes of it."""

    text: str
    record: Refresh


def new_refresh_token(
    service: Service, authorization_id: str, now: datetime, ends_at: datetime | None = None
) -> RefreshToken:
    """Returns the first refresh token of the authorization with this id.

    Its text is that id, a secret that all its successors have, too, and one that changes at each
    rotation. They all end at `ends_at` at the latest.
    """
    # By the family's secret a rotated token is recognised as one of the family, and not as a
    # forged one.
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
    request: TokenRequest, refresh: RefreshToken | None, now: datetime
) -> datetime:
    """Returns when the last access token that can be issued for a grant will have expired.

    That is the lifetime of an access token after `now`, or after the end of the refresh token
    `refresh` if there is one.
    """
    lasts = lifetime(request.service.config, request.client.access_token_type)
    return max(now, refresh.record.expires_at if refresh else now) + lasts


async def find_live(request: TokenRequest, authorization: Authorization) -> AuthorizedClient:
    """Returns the authorization with its user and client, all valid. Raises `InvalidGrant`.

    A session that has ended does not make it invalid: `AuthorizedClient.session` is then None, and
    each grant decides whether it issues tokens without one.
    """
    authorized = await authorizations.find_live(
        request.service, authorization, request.client.project_id
    )
    if authorized is None:
        dependencies = dependencies_of(authorization, request.client.project_id)
        details, check, fix = await validity_details.find_reason(
            request.service, dependencies, GRANT_VALID
        )
        with check:
            description = "the grant was revoked, or its user or client is not active any more"
            raise InvalidGrant(description, details=details, fix=fix)
    return authorized


def authorization_of(request: TokenRequest) -> Authorization | None:
    """Returns the authorization that the request's code or refresh token names, if it exists."""
    return request.records[0] if request.records else None


def refuse_foreign(
    request: TokenRequest, issued: Authorization | DeviceRequest, credential: str
) -> None:
    """Raises `InvalidGrant` when a code or token was issued to another client than the request's.

    `issued` is its record, and `credential` its kind, for the error's text (`code`, `refresh
    token`).
    """
    if issued.client_id != request.client.id:
        # The client_ids are for the administrator alone; the response names neither.
        owner, sender = (
            refusal_details.quoted(issued.client_id),
            refusal_details.named(request.client),
        )
        raise InvalidGrant(
            f"the {credential} was issued to another client",
            details=f"The {credential} was issued to the client {owner}; {sender} sent it.",
        )


async def refuse_replay(
    request: TokenRequest, authorization: Authorization, credential: str, details: str
) -> None:
    """Revokes `authorization` with all its tokens, then raises `InvalidGrant`.

    `credential` names what was used a second time, for the error's text (`code`, `refresh token`);
    `details` are for the administrator.
    """
    reason = f"{credential} replayed"
    await authorizations.revoke(request.service, authorization, reason=reason, cause="replay")
    raise InvalidGrant(
        f"the {credential} was used before; every token that came of it is revoked",
        details=f"{details} Every token that came of it is revoked.",
    )
