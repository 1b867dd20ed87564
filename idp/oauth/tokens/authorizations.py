"""The authorization record: what a user let a client do, whether it stands, and its end."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Final

from msgspec import Struct

from idp.audit import events
from idp.identity.users.subjects import Subject
from idp.oauth.tokens import acting
from idp.oauth.tokens import validity as token_validity
from idp.oauth.tokens.access_tokens import chain
from idp.oauth.tokens.validity import Client, StampOwner, TokenDependencies
from idp.records import AUTHORIZATIONS, Authorization, Grounds, Session, TokenKind, Use
from idp.service import Service
from storage import Stale, Update, Write

REVOKED: Final = "authorization.revoked"


class AuthorizedClient(Struct, frozen=True):
    """An authorization that stands, and who stands behind it. `session` is None once it ended;
    `grounds` are those that the user still has of the authorization's."""

    authorization: Authorization
    subject: Subject
    client: Client
    session: Session | None
    grounds: Grounds | None = None

    @property
    def token_kind(self) -> TokenKind:
        """Of which kind its access tokens are."""
        return self.authorization.token_kind or self.client.application.access_token_type

    @property
    def ends_at(self) -> datetime | None:
        """The end that no token outlives: that of a token exchange's inputs, or of the implicit
        flow, which has no other tokens than those it began with."""
        authorization = self.authorization
        is_fixed = authorization.grant in ("exchange", "implicit")
        return acting.ends_at(authorization) if is_fixed else None


def named(authorization: Authorization, project_id: str | None = None) -> TokenDependencies:
    """The records that an authorization depends on; it outlives its own session.

    `project_id` is that of its client's project, for one that an older program made.
    """
    actors = zip(chain(authorization.actor), authorization.actor_org_ids, strict=True)
    return TokenDependencies(
        stamps=authorization.stamps,
        user=StampOwner(authorization.user_id, authorization.org_id),
        client=StampOwner(authorization.client_id, authorization.client_org_id),
        actors=[StampOwner(*each) for each in actors],
        authorization_ids=[authorization.id, *authorization.parent_ids],
        session_id=authorization.session_id,
        session_ids=authorization.parent_session_ids,
        token_ids=authorization.parent_token_ids,
        pat_ids=authorization.parent_pat_ids,
        others=[StampOwner(*each) for each in authorization.parent_clients],
        uses=[use_of(authorization), *authorization.parent_uses],
        project_id=project_id,
    )


def use_of(authorization: Authorization) -> Use:
    """That its user uses its client."""
    return Use(
        user_id=authorization.user_id,
        user_org_id=authorization.org_id,
        client_id=authorization.client_id,
        client_org_id=authorization.client_org_id,
        grounds=authorization.grounds,
    )


async def find_live(
    service: Service, authorization: Authorization, project_id: str
) -> AuthorizedClient | None:
    """The authorization as it is now with its user and client, all of them still allowed.

    `project_id` is that of its client's project.
    """
    found = await token_validity.find(service, named(authorization, project_id))
    if found is None or found.subject is None or found.client is None:
        return None
    return AuthorizedClient(
        found.authorizations[0], found.subject, found.client, found.session, found.grounds
    )


async def revoke(
    service: Service,
    authorization: Authorization,
    *,
    reason: str,
    type: str = REVOKED,
    **payload: str,
) -> None:
    """End an authorization with every token that came of it. Repeating it changes nothing."""
    actor = authorization.client_id
    with suppress(Stale):  # revoked already, or expired: as dead as it can be
        await service.store.commit(
            *ending(service, authorization, actor=actor, reason=reason, type=type, **payload)
        )


def ending(
    service: Service,
    authorization: Authorization,
    *,
    actor: str,
    reason: str,
    type: str = REVOKED,
    **payload: str,
) -> list[Write]:
    """The writes that do it, with an event of this type. Stale: it is revoked, or has expired."""
    random, now = service.random, service.clock.now()
    end = Update(
        AUTHORIZATIONS,
        authorization.id,
        set={"revoked_at": now},
        increment={"sequence": 1},
        expect={"revoked_at": None},
    )
    payload |= {"reason": reason}
    event = events.changed(random, AUTHORIZATIONS, authorization, type, actor, now, **payload)
    return [end, event]
