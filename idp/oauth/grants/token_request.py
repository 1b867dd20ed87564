"""The request that the token endpoint passes to a grant, and functions that several grants
share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from msgspec import Struct

from idp.foundation import opaque_tokens
from idp.foundation.opaque_tokens import Confidential
from idp.oauth.authentication import client_authentication
from idp.oauth.authentication.client_authentication import Authenticated
from idp.oauth.errors import InvalidGrant
from idp.oauth.grants import lost_answers
from idp.oauth.params import Params
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals.check import Check
from idp.oauth.refusals.token import GRANT_VALID
from idp.oauth.tokens import authorizations, validity_details
from idp.oauth.tokens.access_tokens import lifetime
from idp.oauth.tokens.authorizations import AuthorizedClient
from idp.oauth.tokens.dependencies import dependencies_of
from idp.records import (
    AUTHORIZATIONS,
    ORGANIZATIONS,
    PROJECTS,
    SESSIONS,
    USERS,
    Application,
    Authorization,
    DeviceRequest,
    Instance,
    Refresh,
    User,
)
from idp.service import Service
from storage import Collection, Follow, Key, Update, Write
from storage.following import Records, name_of


@dataclass(frozen=True)
class TokenRequest:
    """A token request whose sender, `caller`, is authenticated.

    `records` has those with the keys that `Grant.reads` returned, and `fresh` what need not be
    read again (`Authenticated`). `caller` is a service user only in
    a grant whose `authenticates` accepts service users. `if_lost` gets the write that states that
    the response reached no one (`lost_answers`), of a grant that uses something up.
    """

    service: Service
    caller: Application | User
    params: Params
    records: Records
    fresh: Records = field(default_factory=Records)
    if_lost: list[Update] = field(default_factory=list)

    async def get_many(self, keys: Sequence[Key]) -> list[Any]:
        """Returns the records in the order of `keys`, None for each absent one. Records that were
        read with the sender are not read again."""
        if all(name_of(key) in self.fresh for key in keys):
            return [self.fresh.of(*key) for key in keys]
        return await self.service.store.get_many(keys)

    @property
    def client(self) -> Application:
        """The application that sent the request. Raises `TypeError` for a service user."""
        if not isinstance(self.caller, Application):
            raise TypeError("a service user calls, not an application")
        return self.caller


class Authenticate(Protocol):
    """A function that authenticates the sender of a token request, such as
    `client_authentication.authenticate`."""

    def __call__(
        self,
        service: Service,
        authorization: str | None,
        params: Params,
        other_keys: Sequence[Key],
        *,
        follow: Sequence[Follow],
    ) -> Awaitable[Authenticated[Any]]: ...


def _no_keys(params: Params) -> list[Key]:
    return []


class Grant(Struct, frozen=True, kw_only=True):
    """A grant type: everything that the token endpoint, discovery and registration need to know.

    `respond` returns the token response; `reads` returns the keys of the records that it needs,
    which are read together with the client, and with the records that `follows` names; `checks`
    are all checks of such a request in their
    order. `authenticates` authenticates the caller. `api_name` is the name by which an application
    is registered for the grant type; None lets every caller use it that may authenticate.
    `is_offered` returns whether the installation has switched it on; None means always.
    """

    respond: Callable[[TokenRequest], Awaitable[dict[str, Any]]]
    checks: tuple[Check, ...]
    reads: Callable[[Params], list[Key]] = _no_keys
    follows: tuple[Follow, ...] = ()
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
    latest_end = now + timedelta(seconds=config.refresh_token_seconds)
    latest_end = min(latest_end, ends_at or latest_end)
    record = Refresh(
        family_hash=opaque_tokens.digest(family),
        current_hash=opaque_tokens.digest(secret),
        rotated_at=now,
        idle_expires_at=min(
            now + timedelta(seconds=config.refresh_token_idle_seconds), latest_end
        ),
        expires_at=latest_end,
    )
    return RefreshToken(authorization_id + family + secret, record)


def last_token_ends_at(
    request: TokenRequest, refresh: RefreshToken | None, now: datetime
) -> datetime:
    """Returns when the last access token that can be issued for a grant will have expired.

    That is the lifetime of an access token after `now`, or after the end of the refresh token
    `refresh` if there is one.
    """
    token_lifetime = lifetime(request.service.config, request.client.access_token_type)
    return max(now, refresh.record.expires_at if refresh else now) + token_lifetime


async def find_live(request: TokenRequest, authorization: Authorization) -> AuthorizedClient:
    """Returns the authorization with its user and client, all valid. Raises `InvalidGrant`.

    A session that has ended does not make it invalid: `AuthorizedClient.session` is then None, and
    each grant decides whether it issues tokens without one.
    """
    authorized = await authorizations.find_live(
        request.service, authorization, request.client.project_id, request.fresh
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


# The records that an authorization names and that its tokens depend on.
FOLLOWED: Final = (
    Follow(AUTHORIZATIONS, "user_id", USERS),
    Follow(AUTHORIZATIONS, "org_id", ORGANIZATIONS),
    Follow(AUTHORIZATIONS, "client_org_id", ORGANIZATIONS),
    Follow(AUTHORIZATIONS, "session_id", SESSIONS),
    Follow(AUTHORIZATIONS, "grounds.project_id", PROJECTS),
)


def authorization_of(request: TokenRequest, parts: Sequence[str] | None) -> Authorization | None:
    """Returns the authorization that a code or a refresh token of these parts names, if it
    exists."""
    return request.records.of(AUTHORIZATIONS, parts[0]) if parts else None


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


async def confirmed(
    request: TokenRequest, collection: Collection[Any], record_id: str
) -> TokenRequest:
    """Returns the request with this record as a majority of the store's servers has it. What was
    used before, and may be used again, is decided by that."""
    stored = await request.service.store.get_confirmed(collection, record_id)
    record = Records.read([(collection, record_id)], [stored])
    return replace(
        request, records=request.records.with_more(record), fresh=request.fresh.with_more(record)
    )


async def use_up(request: TokenRequest, *writes: Write, if_lost: Update) -> None:
    """Commits the unit that uses up what the request sent; `if_lost` states that its response
    reached no one. Raises the errors of `commit_confirmed`."""
    await lost_answers.commit(request.service, *writes, if_lost=if_lost)
    request.if_lost.append(if_lost)


async def refuse_replay(
    request: TokenRequest, authorization: Authorization, credential: str, details: str
) -> None:
    """Revokes `authorization` with all its tokens, then raises `InvalidGrant`.

    `credential` names what was used a second time, for the error's text (`code`, `refresh token`);
    `details` are for the administrator. Raises Unavailable while it is not certain that the first
    use was answered.
    """
    lost_answers.refuse_while_uncertain(request.service)
    reason = f"{credential} replayed"
    await authorizations.revoke(request.service, authorization, reason=reason, cause="replay")
    raise InvalidGrant(
        f"the {credential} was used before; every token that came of it is revoked",
        details=f"{details} Every token that came of it is revoked.",
    )
