"""The authorization record: what a user let a client do, whether it is still valid, and its
revocation."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Final

from msgspec import Struct

from idp.audit import events
from idp.audit.events import AuditEntry
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
    """A valid authorization with its user and its client.

    `session` is None once it has ended; `grounds` are those of the authorization's that the user
    still has.
    """

    authorization: Authorization
    subject: Subject
    client: Client
    session: Session | None
    grounds: Grounds | None = None

    @property
    def token_kind(self) -> TokenKind:
        """The kind of its access tokens: the authorization's own, or else the client's."""
        return self.authorization.token_kind or self.client.application.access_token_type

    @property
    def ends_at(self) -> datetime | None:
        """The end that none of its tokens outlives, or None.

        A token exchange ends with its inputs; the implicit flow has no refresh token, so nothing
        is issued after its first tokens.
        """
        authorization = self.authorization
        is_fixed = authorization.grant in ("exchange", "implicit")
        return acting.ends_at(authorization) if is_fixed else None


def named(authorization: Authorization, project_id: str | None = None) -> TokenDependencies:
    """Returns the records that an authorization depends on. It outlives its own session.

    `project_id` is that of its client's project, for an authorization without grounds, which an
    earlier release made.
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
    """Returns the use of the authorization's client by its user."""
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
    """Returns the authorization as it is now with its user and client; None if it is not valid.

    `project_id` is that of its client's project.
    """
    found = await token_validity.find(service, named(authorization, project_id))
    if found is None or found.subject is None or found.client is None:
        return None
    return AuthorizedClient(
        # The first authorization is the one asked for; those of a token exchange's inputs follow
        # it.
        found.authorizations[0],
        found.subject,
        found.client,
        found.session,
        found.grounds,
    )


async def revoke(
    service: Service,
    authorization: Authorization,
    *,
    reason: str,
    type: str = REVOKED,
    **payload: str,
) -> None:
    """Revokes an authorization with every token that came of it. Does nothing if it is revoked
    already."""
    actor = authorization.client_id
    with suppress(Stale):  # revoked already, or expired and deleted
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
    """Returns the writes that revoke an authorization, with an event of this type.

    Their commit raises `Stale` when it is revoked already or has expired.
    """
    random, now = service.random, service.clock.now()
    # `expect` makes one of two concurrent revocations fail, so there is one event.
    end = Update(
        AUTHORIZATIONS,
        authorization.id,
        set={"revoked_at": now},
        increment={"sequence": 1},
        expect={"revoked_at": None},
    )
    payload |= {"reason": reason}
    event = events.changed(
        random, AUTHORIZATIONS, authorization, AuditEntry(type, actor, now, payload=payload)
    )
    return [end, event]
