"""Who stands behind a session or a token, read in one round trip, and whether it still holds.

Nothing that decides this is cached: a deactivation, a new password or a logout counts from the
moment it is written, on every process.
"""

from __future__ import annotations

from msgspec import Struct

from idp.identity import stamps
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    SESSIONS,
    USERS,
    Application,
    Authorization,
    Instance,
    Organization,
    Session,
    User,
)
from idp.service import Service
from storage import Key


class Subject(Struct, frozen=True):
    """An active user of an active organization, and the instance they are in."""

    instance: Instance
    organization: Organization
    user: User


class Grantee(Struct, frozen=True):
    """A subject, the active client that acts for it, their authorization and live session."""

    subject: Subject
    client: Application
    client_organization: Organization
    authorization: Authorization
    session: Session | None


class Named(Struct, frozen=True):
    """The ids that a token or an authorization names, and the stamps' digest at its issue."""

    authorization_id: str
    user_id: str
    org_id: str
    client_id: str
    client_org_id: str
    stamps: str


async def find_grantee(service: Service, named: Named, session_id: str | None) -> Grantee | None:
    """Everything `named` depends on, or None when any of it does not stand any more.

    The session is None when it has ended or none is named. Its idle end matters to sign-ins
    only, not to tokens.
    """
    keys: list[Key] = [
        (INSTANCES, INSTANCE_ID),
        (AUTHORIZATIONS, named.authorization_id),
        (USERS, named.user_id),
        (ORGANIZATIONS, named.org_id),
        (APPLICATIONS, named.client_id),
        (ORGANIZATIONS, named.client_org_id),
    ]
    if session_id is not None:
        keys.append((SESSIONS, session_id))
    found = await service.store.get_many(keys)
    if any(record is None for record in found[:6]):
        return None
    instance, authorization, user, organization, client, client_organization = found[:6]
    session: Session | None = found[6] if session_id is not None else None
    grantee = Grantee(
        subject=Subject(instance=instance, organization=organization, user=user),
        client=client,
        client_organization=client_organization,
        authorization=authorization,
        session=session if session and session.ended_at is None else None,
    )
    return grantee if _stands(grantee, named.stamps) else None


def _stands(grantee: Grantee, issued_under: str) -> bool:
    """Whether the grant was not revoked, everyone is active, and no stamp has changed."""
    subject, client = grantee.subject, grantee.client
    return (
        grantee.authorization.revoked_at is None
        and is_active(subject)
        and client.state == "active"
        and grantee.client_organization.state == "active"
        and issued_under
        == stamps.of_authorization(
            subject.instance,
            subject.organization,
            subject.user,
            grantee.client_organization,
            client,
        )
    )


def is_active(subject: Subject) -> bool:
    """Whether the user can be acted for at all."""
    user, organization = subject.user, subject.organization
    return (
        user.state == "active"
        and organization.state == "active"
        and user.org_id == organization.id
    )
