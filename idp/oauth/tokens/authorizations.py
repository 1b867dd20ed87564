"""Authorization records, which store what a user let a client do: their validity and
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
from idp.oauth.tokens.dependencies import dependencies_of
from idp.oauth.tokens.validity import Client
from idp.records import AUTHORIZATIONS, AccessGrounds, Authorization, Session, TokenKind
from idp.service import Service
from storage import Stale, Update, Write
from storage.following import Records

REVOKED: Final = "authorization.revoked"


class AuthorizedClient(Struct, frozen=True):
    """A valid authorization with its user and its client.

    `session` is None once it has ended; `grounds` are the reasons stored in the authorization for
    which the user may still use the client.
    """

    authorization: Authorization
    subject: Subject
    client: Client
    session: Session | None
    grounds: AccessGrounds | None = None

    @property
    def token_kind(self) -> TokenKind:
        """The kind of the access tokens: that of the authorization if it has one, or else the
        client's."""
        return self.authorization.token_kind or self.client.application.access_token_type

    @property
    def ends_at(self) -> datetime | None:
        """The latest expiry of any token of the authorization; None if only each token's own
        lifetime limits it.

        Tokens from a token exchange expire with its input tokens. The implicit flow issues no
        refresh token, so its authorization ends with its first tokens.
        """
        authorization = self.authorization
        is_fixed = authorization.grant in ("exchange", "implicit")
        return acting.ends_at(authorization) if is_fixed else None


async def find_live(
    service: Service, authorization: Authorization, project_id: str, known: Records
) -> AuthorizedClient | None:
    """Returns the authorization with its user and client; None if it is not valid.

    `project_id` is that of the client's project, which an authorization of an earlier release does
    not name. `known` has the records that were read before for the same request; the others
    are read now.
    """
    valid_records = await token_validity.find(
        service, dependencies_of(authorization, project_id), known
    )
    if valid_records is None or valid_records.subject is None or valid_records.client is None:
        return None
    return AuthorizedClient(
        # The first authorization is the requested one; those of a token exchange's inputs follow
        # it.
        valid_records.authorizations[0],
        valid_records.subject,
        valid_records.client,
        valid_records.session,
        valid_records.grounds,
    )


async def revoke(
    service: Service,
    authorization: Authorization,
    *,
    reason: str,
    type: str = REVOKED,
    **payload: str,
) -> None:
    """Revokes an authorization with every token that was issued for it, unless it is revoked
    already.

    `type` is that of the event; `reason` (a text) and `payload` are stored in the event, and its
    actor is the client.
    """
    actor = authorization.client_id
    with suppress(Stale):  # revoked already, or expired and deleted
        await service.store.commit(
            *revocation_writes(
                service, authorization, actor=actor, reason=reason, type=type, **payload
            )
        )


def revocation_writes(
    service: Service,
    authorization: Authorization,
    *,
    actor: str,
    reason: str,
    type: str = REVOKED,
    **payload: str,
) -> list[Write]:
    """Returns the writes that revoke an authorization, with an event of this type.

    `actor` is the event's, and `reason` and `payload` are stored in it. A commit of the writes
    raises `Stale` when the authorization is revoked already or has expired.
    """
    random, now = service.random, service.clock.now()
    # `expect` makes one of two concurrent revocations fail, so there is one event.
    update = Update(
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
    return [update, event]
