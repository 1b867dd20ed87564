"""Impersonation by token exchange (RFC 8693 1.1): which actors may act for a user, and how long.

An actor's right depends on roles and on the installation's security policy. Both are read at every
use of an actor's tokens, so a role that is withdrawn has its effect at the next request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from idp.audit import failure_events
from idp.config.settings import Config
from idp.foundation import logs
from idp.identity.users import memberships, permissions
from idp.identity.users.subjects import Subject
from idp.records import MEMBERSHIPS, Authorization, Instance, Membership
from idp.service import Service
from storage import Key

MAX_LIFETIME: Final = timedelta(hours=8)

_log: Final = logs.logger(__name__)


class ActingRefusal(Struct, frozen=True):
    """The reason why actors may no longer act for a user.

    `details` is a sentence for the administrator, and `actor_id` the actor that it is about, if it
    is about one.
    """

    details: str
    actor_id: str | None = None


class Acting(Struct, frozen=True, kw_only=True):
    """The records that decide whether actors may act for a user, `subject`.

    `authorizations` are those that the token in use depends on, and `memberships` the records of
    `keys`, by the ids of the actors.
    """

    instance: Instance
    subject: Subject
    actors: Sequence[Subject]
    authorizations: Sequence[Authorization]
    memberships: Mapping[str, Sequence[Membership | None]]


def keys(actor_ids: Sequence[str], org_id: str) -> list[Key]:
    """Returns the keys of the actors' memberships, for `Acting.memberships`: for each actor that
    of the installation and that of `org_id`, the organization of the user.

    `actor_ids` are the actors' user ids.
    """
    return [
        (MEMBERSHIPS, memberships.id_of(actor_id, membership_org_id))
        for actor_id in actor_ids
        for membership_org_id in (None, org_id)
    ]


async def refusal(service: Service, acting: Acting) -> ActingRefusal | None:
    """Returns the reason why these actors may no longer act for the subject, or None.

    Reads the subject's memberships, so a user who is made a manager is protected from the next
    request on.
    """
    now, instance = service.clock.now(), acting.instance
    if not instance.allows_impersonation:
        return ActingRefusal("The security policy does not allow a user to act for another one.")
    impersonations = [each for each in acting.authorizations if each.actor]
    # The stamp changes when impersonation is switched off: tokens that were issued before must
    # not become valid when it is switched on again.
    if any(each.acting_stamp != instance.acting_stamp for each in impersonations):
        return ActingRefusal(
            "Impersonation was switched off since: that ended what actors had then."
        )
    if any(now >= ends_at(each) for each in impersonations):
        return ActingRefusal("Tokens to act for another user end 8 hours after the exchange.")
    managed = await permissions.managed_by(service, acting.subject.user)
    for actor in acting.actors:
        memberships = acting.memberships[actor.user.id]
        rights = permissions.of_memberships(each for each in memberships if each)
        if not permissions.allow_impersonation(rights, acting.subject.user, managed):
            details = "The actor's roles do not allow to act for this user any more."
            return ActingRefusal(details, actor.user.id)
    return None


def ends_at(authorization: Authorization) -> datetime:
    """Returns when an authorization ends.

    With an actor that is at most 8 hours after the exchange, also for a record without
    `acting_ends_at`, which an earlier release stored.
    """
    if authorization.actor is None:
        return authorization.expires_at
    latest = authorization.acting_ends_at or authorization.created_at + MAX_LIFETIME
    return min(authorization.expires_at, latest)


def shortened(config: Config, token_lifetime: timedelta) -> timedelta:
    """Returns the lifetime of an actor's access token, where that of other tokens is
    `token_lifetime`."""
    return min(token_lifetime, timedelta(seconds=config.acting_token_seconds))


def report_refusal(
    service: Service, *, actor_id: str | None, subject_id: str, client_id: str | None, reason: str
) -> None:
    """Logs that an actor was not allowed to act for a user, and counts it as a failure event.

    `actor_id` is None if the actor is unknown; `reason` is a sentence for the log.
    """
    failure_events.impersonation(service, actor_id, subject_id, client_id)
    _log.info(
        "impersonation refused",
        actor_id=actor_id,
        subject_id=subject_id,
        client_id=client_id,
        reason=reason,
    )
