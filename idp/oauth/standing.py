"""Whether something issued still stands: all that it depends on, read in one round trip.

A token, an authorization and a personal access token each name the records they depend on
(`Named`). Nothing that decides is cached: a deactivation, a new password, a revocation or a logout
counts from the moment it is written, on every process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from idp.identity import stamps, subjects
from idp.identity.stamps import Stamped
from idp.identity.subjects import Subject
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    REVOKED_TOKENS,
    SESSIONS,
    USERS,
    Application,
    Authorization,
    Instance,
    Organization,
    Session,
)
from idp.service import Service
from storage import Key

_Found: TypeAlias = Mapping[tuple[str, str], Any]


class Member(Struct, frozen=True):
    """A user or a client, and the organization that it belonged to."""

    id: str
    org_id: str


class Named(Struct, frozen=True, kw_only=True):
    """What something issued depends on, by ids, and the digest of the stamps at its issue.

    `session_id` is the session that it came of; whether its end matters is for the caller to say.
    All the others must stand: neither revoked, nor ended, nor inactive. `token_ids` are those of
    single access tokens.
    """

    stamps: str
    user: Member | None = None
    client: Member | None = None
    actors: Sequence[Member] = ()
    authorization_ids: Sequence[str] = ()
    session_id: str | None = None
    session_ids: Sequence[str] = ()
    token_ids: Sequence[str] = ()


class Client(Struct, frozen=True):
    """An active client of an active organization."""

    application: Application
    organization: Organization


class Standing(Struct, frozen=True, kw_only=True):
    """What stands behind something issued. `session` is None when it has ended or is none."""

    instance: Instance
    subject: Subject | None
    client: Client | None
    actors: Sequence[Subject]
    authorizations: Sequence[Authorization]
    session: Session | None


async def find(service: Service, named: Named) -> Standing | None:
    """What stands behind it, or None when any of it does not stand any more."""
    return judge(named, await service.store.get_many(keys(named)))


def keys(named: Named) -> list[Key]:
    """The records to read for `judge`, in the order in which it takes them."""
    wanted: list[Key] = [(INSTANCES, INSTANCE_ID)]
    for user in _users(named):
        wanted += [(USERS, user.id), (ORGANIZATIONS, user.org_id)]
    if named.client:
        wanted += [(APPLICATIONS, named.client.id), (ORGANIZATIONS, named.client.org_id)]
    wanted += [(AUTHORIZATIONS, id) for id in named.authorization_ids]
    wanted += [(SESSIONS, id) for id in _sessions(named)]
    wanted += [(REVOKED_TOKENS, id) for id in named.token_ids]
    return wanted


def _users(named: Named) -> list[Member]:
    return [*([named.user] if named.user else []), *named.actors]


def _sessions(named: Named) -> list[str]:
    return [*([named.session_id] if named.session_id else []), *named.session_ids]


def judge(named: Named, records: Sequence[Any]) -> Standing | None:
    """What the records of `keys` tell; more records may follow them."""
    found = {(c.name, id): record for (c, id), record in zip(keys(named), records, strict=False)}
    instance: Instance | None = found[INSTANCES.name, INSTANCE_ID]
    users = [_subject(instance, user, found) for user in _users(named)] if instance else []
    client = _client(named.client, found) if named.client else None
    authorizations = [found[AUTHORIZATIONS.name, id] for id in named.authorization_ids]
    if (
        instance is None
        or None in users
        or (named.client is not None and client is None)
        or not all(each and each.revoked_at is None for each in authorizations)
        or not all(_lives(found, id) for id in named.session_ids)
        or any(found[REVOKED_TOKENS.name, id] for id in named.token_ids)
    ):
        return None
    subjects = [user for user in users if user]
    if named.stamps != stamps.of(instance, *_stamped(subjects, client)):
        return None
    own = named.session_id
    return Standing(
        instance=instance,
        subject=subjects[0] if named.user else None,
        client=client,
        actors=subjects[1:] if named.user else subjects,
        authorizations=authorizations,
        session=found[SESSIONS.name, own] if own and _lives(found, own) else None,
    )


def stamps_of(
    instance: Instance,
    user: Subject | None = None,
    client: Client | None = None,
    actors: Sequence[Subject] = (),
) -> str:
    """The digest that something issued to these keeps."""
    users = [*([user] if user else []), *actors]
    return stamps.of(instance, *_stamped(users, client))


def _stamped(users: Sequence[Subject], client: Client | None) -> list[Stamped]:
    of_users: list[Stamped] = []
    for user in users:
        of_users += [user.organization, user.user]
    of_client: list[Stamped] = [client.organization, client.application] if client else []
    return [*of_users, *of_client]


def _subject(instance: Instance, member: Member, found: _Found) -> Subject | None:
    user = found[USERS.name, member.id]
    organization = found[ORGANIZATIONS.name, member.org_id]
    if user is None or organization is None:
        return None
    subject = Subject(instance=instance, organization=organization, user=user)
    return subject if subjects.is_active(subject) else None


def _client(member: Member, found: _Found) -> Client | None:
    application = found[APPLICATIONS.name, member.id]
    organization = found[ORGANIZATIONS.name, member.org_id]
    if application is None or organization is None:
        return None
    is_active = application.state == "active" and organization.state == "active"
    is_its_own = application.org_id == organization.id
    return Client(application, organization) if is_active and is_its_own else None


def _lives(found: _Found, session_id: str) -> bool:
    """Whether a session has not ended. Its idle end matters to sign-ins only."""
    session: Session | None = found[SESSIONS.name, session_id]
    return session is not None and session.ended_at is None
