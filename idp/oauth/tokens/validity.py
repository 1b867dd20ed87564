"""The check whether a token or authorization is still valid: its records, read in one round trip.

A token, an authorization and a personal access token each name the records they depend on
(`TokenDependencies`). None of these records is cached: a deactivation, a new password, a
revocation or a logout takes effect on every process from the moment it is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

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
    Authorization,
    Instance,
    Membership,
    Organization,
    Session,
    User,
)
from idp.service import Service
from storage import Key
from storage.following import NO_RECORDS, RecordsByName, name_of


class Client(Struct, frozen=True):
    """An active client of an active organization."""

    application: Application
    organization: Organization


class ValidRecords(Struct, frozen=True, kw_only=True):
    """The records that a token or authorization depends on, all of them valid.

    `session` is None when it has ended or there is none; `memberships` are those of the actors
    (`acting.keys`), and `grounds` the reasons for which the user may use the client.
    """

    instance: Instance
    subject: Subject | None
    client: Client | None
    other_clients: Sequence[Client]
    actors: Sequence[Subject]
    authorizations: Sequence[Authorization]
    session: Session | None
    memberships: Sequence[Membership | None] = ()
    grounds: AccessGrounds | None = None


async def find(
    service: Service, dependencies: TokenDependencies, read_records: RecordsByName = NO_RECORDS
) -> ValidRecords | None:
    """Returns the records that a token or authorization depends on; None if any of them is not
    valid. The parameters are those of `read`."""
    return await validate(service, dependencies, await read(service, dependencies, read_records))


async def read(
    service: Service, dependencies: TokenDependencies, read_records: RecordsByName = NO_RECORDS
) -> list[Any]:
    """Returns the records of `keys`, in their order. `read_records` has records that were read
    before for the same request; the others are read now, in one round trip."""
    needed = keys(dependencies)
    unknown = [key for key in needed if name_of(key) not in read_records]
    missing_records = await service.store.get_many(unknown) if unknown else []
    records_by_name = {
        **read_records,
        **dict(zip(map(name_of, unknown), missing_records, strict=True)),
    }
    return [records_by_name[name_of(key)] for key in needed]


def keys(dependencies: TokenDependencies) -> list[Key]:
    """Returns the keys of the records that `validate` needs, in their order."""
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
    return needed + [key for keys in _keys_of_uses(dependencies) for key in keys]


def _keys_of_uses(dependencies: TokenDependencies) -> list[list[Key]]:
    return [
        # The project is that of the client, whose use is the first.
        allowed_users.keys(use, None if n else dependencies.project_id)
        for n, use in enumerate(dependencies.uses)
    ]


def _users(dependencies: TokenDependencies) -> list[StampOwner]:
    return [*([dependencies.user] if dependencies.user else []), *dependencies.actors]


def _clients(dependencies: TokenDependencies) -> list[StampOwner]:
    return [*([dependencies.client] if dependencies.client else []), *dependencies.other_clients]


def _sessions(dependencies: TokenDependencies) -> list[str]:
    own = [dependencies.session_id] if dependencies.session_id else []
    # A session that is both is read once; `_validate_records` consumes them by the same list.
    return list(dict.fromkeys([*own, *dependencies.session_ids]))


async def validate(
    service: Service, dependencies: TokenDependencies, records: Sequence[Any]
) -> ValidRecords | None:
    """Returns the records that a token or authorization depends on; None if any of them is not
    valid.

    `records` are those that the store has for `keys`, in this order; others may follow them. Where
    an actor acts for the user, the subject's memberships are read in addition, and a refusal for
    that is logged.
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
    service: Service, dependencies: TokenDependencies, records: Sequence[Any]
) -> str | None:
    """Returns a sentence, for the administrator, on why the actors may no longer act for the
    user.

    `records` are those that the store has for `keys`, in this order. None when the actors may, or
    when another record is not valid.
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


def _validate_records(
    dependencies: TokenDependencies, records: Sequence[Any]
) -> ValidRecords | None:
    # The records come in the order of `keys`; each line consumes as many as it returned.
    remaining = iter(records)
    instance: Instance | None = next(remaining)
    users = [_subject(instance, next(remaining), next(remaining)) for _ in _users(dependencies)]
    clients = [_client(next(remaining), next(remaining)) for _ in _clients(dependencies)]
    authorizations: list[Authorization] = [next(remaining) for _ in dependencies.authorization_ids]
    sessions = {
        session_id: _unless_ended(next(remaining)) for session_id in _sessions(dependencies)
    }
    revoked = [next(remaining) for _ in dependencies.token_ids]
    pats = [next(remaining) for _ in dependencies.pat_ids]
    membership_count = (
        len(dependencies.actors) * acting.MEMBERSHIPS_PER_ACTOR if dependencies.user else 0
    )
    memberships = list(islice(remaining, membership_count))
    subjects = [user for user in users if user]
    active_clients = [client for client in clients if client]
    if (
        instance is None
        or len(subjects) < len(users)
        or len(active_clients) < len(clients)
        or not all(each and each.revoked_at is None for each in authorizations)
        or not all(sessions[session_id] for session_id in dependencies.session_ids)
        # A record of a revoked token exists only for a revoked one, so its presence refuses.
        or any(revoked)
        or not all(pats)
        or dependencies.stamps != security_stamps.of(instance, *_stamped(subjects, active_clients))
    ):
        return None
    grounds = _grounds(dependencies, active_clients, remaining)
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
        memberships=memberships,
        grounds=grounds[0] if grounds else None,
    )


def not_allowed(dependencies: TokenDependencies, records: Sequence[Any]) -> UserRefusal | None:
    """Returns the reason why a user may not use an application, where every other record is valid.

    `records` are those that the store has for `keys`, in this order. None when another record is
    not valid, or when every use is allowed.
    """
    if _validate_records(structs.replace(dependencies, uses=()), records) is None:
        return None
    keys_of_uses = _keys_of_uses(dependencies)
    remaining = iter(records[len(keys(dependencies)) - sum(map(len, keys_of_uses)) :])
    clients = {record.id: record for record in records if isinstance(record, Application)}
    for use, use_keys in zip(dependencies.uses, keys_of_uses, strict=True):
        use_records = [next(remaining) for _ in use_keys]
        client = clients.get(use.client_id)
        if (
            client is not None
            and allowed_users.remaining_grounds(use, client, use_records) is None
        ):
            return allowed_users.refusal(use, client, use_records)
    return None


def _grounds(
    dependencies: TokenDependencies, clients: Sequence[Client], remaining: Iterator[Any]
) -> list[AccessGrounds | None]:
    """Returns the grounds of each use; None for a use that is not allowed."""
    applications = {each.application.id: each.application for each in clients}
    grounds: list[AccessGrounds | None] = []
    for use, keys in zip(dependencies.uses, _keys_of_uses(dependencies), strict=True):
        records = [next(remaining) for _ in keys]
        application = applications.get(use.client_id)
        grounds.append(
            allowed_users.remaining_grounds(use, application, records) if application else None
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
