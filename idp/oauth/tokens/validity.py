"""The check whether a token or authorization is still valid: its records, read in one round trip.

A token, an authorization and a personal access token each name the records they depend on
(`TokenDependencies`). None of these records is cached: a deactivation, a new password, a
revocation or a logout takes effect on every process from the moment it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from idp.identity.sessions import security_stamps
from idp.identity.sessions.security_stamps import Stamped
from idp.identity.users import subjects
from idp.identity.users.subjects import Subject
from idp.oauth.tokens import acting, allowed_users
from idp.oauth.tokens.acting import Acting, ActingRefusal
from idp.oauth.tokens.allowed_users import UserRefusal
from idp.oauth.tokens.dependencies import StampOwner, TokenDependencies
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    PATS,
    REVOKED_TOKENS,
    SESSIONS,
    USERS,
    AccessGrounds,
    Application,
    ApplicationUse,
    Authorization,
    Instance,
    Membership,
    Organization,
    Session,
    User,
)
from idp.service import Service
from storage import Key
from storage.following import Records, name_of


class Client(Struct, frozen=True):
    """An active client of an active organization."""

    application: Application
    organization: Organization


class ValidRecords(Struct, frozen=True, kw_only=True):
    """The records that a token or authorization depends on, all of them valid.

    `session` is None when it has ended or there is none; `memberships` are those of the actors, by
    their ids (`acting.keys`), and `grounds` the reasons for which the user may use the client.
    """

    instance: Instance
    subject: Subject | None
    client: Client | None
    other_clients: Sequence[Client]
    actors: Sequence[Subject]
    authorizations: Sequence[Authorization]
    session: Session | None
    memberships: Mapping[str, Sequence[Membership | None]]
    grounds: AccessGrounds | None = None


async def find(
    service: Service, dependencies: TokenDependencies, known: Records | None = None
) -> ValidRecords | None:
    """Returns the records that a token or authorization depends on; None if any of them is not
    valid. The parameters are those of `read`."""
    return await validate(service, dependencies, await read(service, dependencies, known))


async def read(
    service: Service, dependencies: TokenDependencies, known: Records | None = None
) -> Records:
    """Returns the records of `keys`. `known` has records that were read before for the same
    request; the others are read now, in one round trip."""
    known = known or Records()
    unknown = [key for key in keys(dependencies) if name_of(key) not in known]
    return known.with_more(await service.store.get_records(unknown))


def keys(dependencies: TokenDependencies) -> list[Key]:
    """Returns the keys of the records that `validate` needs."""
    needed: list[Key] = [(INSTANCES, INSTANCE_ID)]
    for user in _users(dependencies):
        needed += [(USERS, user.id), (ORGANIZATIONS, user.org_id)]
    for client in _clients(dependencies):
        needed += [(APPLICATIONS, client.id), (ORGANIZATIONS, client.org_id)]
    needed += [(AUTHORIZATIONS, record_id) for record_id in dependencies.authorization_ids]
    needed += [(SESSIONS, record_id) for record_id in _sessions(dependencies)]
    needed += [(REVOKED_TOKENS, record_id) for record_id in dependencies.token_ids]
    needed += [(PATS, record_id) for record_id in dependencies.pat_ids]
    if dependencies.user:
        needed += acting.keys(
            [actor.id for actor in dependencies.actors], dependencies.user.org_id
        )
    for use, project_id in _uses(dependencies):
        needed += allowed_users.keys(use, project_id)
    return needed


def _uses(dependencies: TokenDependencies) -> list[tuple[ApplicationUse, str | None]]:
    """Returns the uses with the ids of their projects. That of the client's is known, whose use is
    the first."""
    return [
        (use, use.grounds.project_id if use.grounds else None if n else dependencies.project_id)
        for n, use in enumerate(dependencies.uses)
    ]


def _users(dependencies: TokenDependencies) -> list[StampOwner]:
    return [*([dependencies.user] if dependencies.user else []), *dependencies.actors]


def _clients(dependencies: TokenDependencies) -> list[StampOwner]:
    return [*([dependencies.client] if dependencies.client else []), *dependencies.other_clients]


def _sessions(dependencies: TokenDependencies) -> list[str]:
    own = [dependencies.session_id] if dependencies.session_id else []
    return list(dict.fromkeys([*own, *dependencies.session_ids]))


async def validate(
    service: Service, dependencies: TokenDependencies, records: Records
) -> ValidRecords | None:
    """Returns the records that a token or authorization depends on; None if any of them is not
    valid.

    `records` has those of `keys`. Where an actor acts for the user, the subject's memberships are
    read in addition, and a refusal for that is logged.
    """
    valid_records = _validate_records(dependencies, records)
    refused = await _refused_acting(service, valid_records)
    if valid_records is None or refused is None:
        return valid_records
    acting.report_refusal(
        service,
        actor_id=refused.actor_id or dependencies.actors[0].id,
        subject_id=dependencies.user.id if dependencies.user else "",
        client_id=dependencies.client.id if dependencies.client else None,
        reason=refused.details,
    )
    return None


async def refused_acting(
    service: Service, dependencies: TokenDependencies, records: Records
) -> str | None:
    """Returns a sentence, for the administrator, on why the actors may no longer act for the
    user.

    `records` has those of `keys`. None when the actors may, or when another record is not valid.
    """
    refused = await _refused_acting(service, _validate_records(dependencies, records))
    return refused.details if refused else None


async def _refused_acting(
    service: Service, valid_records: ValidRecords | None
) -> ActingRefusal | None:
    if valid_records is None or valid_records.subject is None or not valid_records.actors:
        return None
    return await acting.refusal(
        service,
        Acting(
            instance=valid_records.instance,
            subject=valid_records.subject,
            actors=valid_records.actors,
            authorizations=valid_records.authorizations,
            memberships=valid_records.memberships,
        ),
    )


def _validate_records(dependencies: TokenDependencies, records: Records) -> ValidRecords | None:
    instance: Instance | None = records.of(INSTANCES, INSTANCE_ID)
    users = [
        _subject(instance, records.of(USERS, each.id), records.of(ORGANIZATIONS, each.org_id))
        for each in _users(dependencies)
    ]
    clients = [
        _client(records.of(APPLICATIONS, each.id), records.of(ORGANIZATIONS, each.org_id))
        for each in _clients(dependencies)
    ]
    authorizations: list[Authorization] = [
        records.of(AUTHORIZATIONS, each) for each in dependencies.authorization_ids
    ]
    sessions = {
        each: _unless_ended(records.of(SESSIONS, each)) for each in _sessions(dependencies)
    }
    subjects = [user for user in users if user]
    active_clients = [client for client in clients if client]
    if (
        instance is None
        or len(subjects) < len(users)
        or len(active_clients) < len(clients)
        or not all(each and each.revoked_at is None for each in authorizations)
        or not all(sessions[session_id] for session_id in dependencies.session_ids)
        # A record of a revoked token exists only for a revoked one, so its presence refuses.
        or any(records.of(REVOKED_TOKENS, each) for each in dependencies.token_ids)
        or not all(records.of(PATS, each) for each in dependencies.pat_ids)
        or dependencies.stamps != security_stamps.of(instance, *_stamped(subjects, active_clients))
    ):
        return None
    grounds = _grounds(dependencies, active_clients, records)
    if None in grounds:
        return None
    return ValidRecords(
        instance=instance,
        subject=subjects[0] if dependencies.user else None,
        client=active_clients[0] if dependencies.client else None,
        other_clients=active_clients[1:] if dependencies.client else active_clients,
        actors=subjects[1:] if dependencies.user else subjects,
        authorizations=authorizations,
        session=sessions[dependencies.session_id] if dependencies.session_id else None,
        memberships=_memberships(dependencies, records),
        grounds=grounds[0] if grounds else None,
    )


def not_allowed(dependencies: TokenDependencies, records: Records) -> UserRefusal | None:
    """Returns the reason why a user may not use an application, where every other record is valid.

    `records` has those of `keys`. None when another record is not valid, or when every use is
    allowed.
    """
    if _validate_records(structs.replace(dependencies, uses=()), records) is None:
        return None
    clients = {each.id: records.of(APPLICATIONS, each.id) for each in _clients(dependencies)}
    for use, project_id in _uses(dependencies):
        client = clients.get(use.client_id)
        if client is None:
            continue
        use_records = allowed_users.records_of(use, project_id, records)
        if allowed_users.remaining_grounds(use, client, use_records) is None:
            return allowed_users.refusal(use, client, use_records)
    return None


def _memberships(
    dependencies: TokenDependencies, records: Records
) -> dict[str, Sequence[Membership | None]]:
    """Returns the memberships by the ids of the actors."""
    user = dependencies.user
    if user is None:
        return {}
    return {
        actor.id: [records.of(*key) for key in acting.keys([actor.id], user.org_id)]
        for actor in dependencies.actors
    }


def _grounds(
    dependencies: TokenDependencies, clients: Sequence[Client], records: Records
) -> list[AccessGrounds | None]:
    """Returns the grounds of each use; None for a use that is not allowed."""
    applications = {each.application.id: each.application for each in clients}
    grounds: list[AccessGrounds | None] = []
    for use, project_id in _uses(dependencies):
        application = applications.get(use.client_id)
        use_records = allowed_users.records_of(use, project_id, records)
        grounds.append(
            allowed_users.remaining_grounds(use, application, use_records) if application else None
        )
    return grounds


def stamps_of(
    instance: Instance,
    user: Subject | None = None,
    client: Client | None = None,
    actors: Sequence[Subject] = (),
    other_clients: Sequence[Client] = (),
) -> str:
    """Returns the digest of the stamps of these users and clients.

    A token or authorization stores it, and is invalid once one of the stamps changes.
    """
    users = [*([user] if user else []), *actors]
    clients = [*([client] if client else []), *other_clients]
    return security_stamps.of(instance, *_stamped(users, clients))


def _stamped(users: Sequence[Subject], clients: Sequence[Client]) -> list[Stamped]:
    stamped: list[Stamped] = []
    for user in users:
        stamped += [user.organization, user.user]
    for client in clients:
        stamped += [client.organization, client.application]
    return stamped


def _subject(
    instance: Instance | None, user: User | None, organization: Organization | None
) -> Subject | None:
    if instance is None or user is None or organization is None:
        return None
    subject = Subject(instance=instance, organization=organization, user=user)
    return subject if subjects.is_active(subject) else None


def _client(application: Application | None, organization: Organization | None) -> Client | None:
    if application is None or organization is None:
        return None
    is_active = application.state == "active" and organization.state == "active"
    # The ids came from a token: the pair must still be the one that is stored.
    is_of_organization = application.org_id == organization.id
    return Client(application, organization) if is_active and is_of_organization else None


def _unless_ended(session: Session | None) -> Session | None:
    """Returns the session, unless it has ended. Its idle timeout matters to sign-ins only."""
    return session if session is not None and session.ended_at is None else None
