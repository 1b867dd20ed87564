"""Whether something issued is still valid: all records that it depends on, read in one round trip.

A token, an authorization and a personal access token each name the records they depend on
(`TokenDependencies`). Nothing that decides is cached: a deactivation, a new password, a revocation
or a logout takes effect on every process from the moment it is written.
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
    Application,
    Authorization,
    Grounds,
    Instance,
    Membership,
    Organization,
    Session,
    Use,
    User,
)
from idp.service import Service
from storage import Key


class StampOwner(Struct, frozen=True):
    """A user or a client, and the organization that it belonged to."""

    id: str
    org_id: str


class TokenDependencies(Struct, frozen=True, kw_only=True):
    """The ids of the records that something issued depends on, and the digest of their stamps.

    `session_id` is the session that it came of; whether its end matters is for the caller to
    decide. All the others must be valid: neither revoked, nor ended, nor inactive. `token_ids` are
    those of single access tokens, `pat_ids` of personal ones; `others` are the clients that the
    inputs of a token exchange were issued to. For each of `uses` the user must be allowed to use
    the application, which is among `client` and `others`; the first is that of `user` and
    `client`. `project_id` is the project of a first use without grounds.
    """

    stamps: str
    user: StampOwner | None = None
    client: StampOwner | None = None
    others: Sequence[StampOwner] = ()
    actors: Sequence[StampOwner] = ()
    authorization_ids: Sequence[str] = ()
    session_id: str | None = None
    session_ids: Sequence[str] = ()
    token_ids: Sequence[str] = ()
    pat_ids: Sequence[str] = ()
    uses: Sequence[Use] = ()
    project_id: str | None = None


class Client(Struct, frozen=True):
    """An active client of an active organization."""

    application: Application
    organization: Organization


class LiveRecords(Struct, frozen=True, kw_only=True):
    """The records that something issued depends on, all of them valid.

    `session` is None when it has ended or there is none; `memberships` are those of the actors
    (`acting.keys`), `grounds` those of the first use.
    """

    instance: Instance
    subject: Subject | None
    client: Client | None
    others: Sequence[Client]
    actors: Sequence[Subject]
    authorizations: Sequence[Authorization]
    session: Session | None
    memberships: Sequence[Membership | None] = ()
    grounds: Grounds | None = None


async def find(service: Service, named: TokenDependencies) -> LiveRecords | None:
    """Reads the records that something issued depends on. Returns None when any of them is not
    valid any more."""
    return await judge(service, named, await service.store.get_many(keys(named)))


def keys(named: TokenDependencies) -> list[Key]:
    """Returns the keys of the records to read for `judge`, in the order in which it takes them."""
    wanted: list[Key] = [(INSTANCES, INSTANCE_ID)]
    for user in _users(named):
        wanted += [(USERS, user.id), (ORGANIZATIONS, user.org_id)]
    for client in _clients(named):
        wanted += [(APPLICATIONS, client.id), (ORGANIZATIONS, client.org_id)]
    wanted += [(AUTHORIZATIONS, id) for id in named.authorization_ids]
    wanted += [(SESSIONS, id) for id in _sessions(named)]
    wanted += [(REVOKED_TOKENS, id) for id in named.token_ids]
    wanted += [(PATS, id) for id in named.pat_ids]
    if named.user:
        wanted += acting.keys([actor.id for actor in named.actors], named.user.org_id)
    return wanted + [key for keys in _keys_of_uses(named) for key in keys]


def _keys_of_uses(named: TokenDependencies) -> list[list[Key]]:
    projects = [named.project_id, *[None] * len(named.uses)]
    return [
        allowed_users.keys(use, project_id)
        for use, project_id in zip(named.uses, projects, strict=False)
    ]


def _users(named: TokenDependencies) -> list[StampOwner]:
    return [*([named.user] if named.user else []), *named.actors]


def _clients(named: TokenDependencies) -> list[StampOwner]:
    return [*([named.client] if named.client else []), *named.others]


def _sessions(named: TokenDependencies) -> list[str]:
    own = [named.session_id] if named.session_id else []
    # A session that is both is read once; `_judge_records` takes them by the same list.
    return list(dict.fromkeys([*own, *named.session_ids]))


async def judge(
    service: Service, named: TokenDependencies, records: Sequence[Any]
) -> LiveRecords | None:
    """Returns the records of `keys` if all are valid, else None. More records may follow them.

    Where an actor acts for the user, the subject's memberships are read in addition, and a refusal
    for that is logged.
    """
    stands = _judge_records(named, records)
    refused = await _refused_acting(service, stands)
    if stands is None or refused is None:
        return stands
    acting.note_refused(
        service,
        actor_id=refused.actor_id or named.actors[0].id,
        subject_id=named.user.id if named.user else "",
        client_id=named.client.id if named.client else None,
        reason=refused.details,
    )
    return None


async def refused_acting(
    service: Service, named: TokenDependencies, records: Sequence[Any]
) -> str | None:
    """Returns why the actors may not act for the user any more, in words for the administrator.

    None when they may, or when another record of `keys` is not valid.
    """
    refused = await _refused_acting(service, _judge_records(named, records))
    return refused.details if refused else None


async def _refused_acting(service: Service, stands: LiveRecords | None) -> ActingRefusal | None:
    if stands is None or stands.subject is None or not stands.actors:
        return None
    return await acting.refusal(
        service,
        Acting(
            instance=stands.instance,
            subject=stands.subject,
            actors=stands.actors,
            authorizations=stands.authorizations,
            memberships=stands.memberships,
        ),
    )


def _judge_records(named: TokenDependencies, records: Sequence[Any]) -> LiveRecords | None:
    # The records come in the order of `keys`; each line takes as many as that one named.
    left = iter(records)
    instance: Instance | None = next(left)
    users = [_subject(instance, next(left), next(left)) for _ in _users(named)]
    clients = [_client(next(left), next(left)) for _ in _clients(named)]
    authorizations: list[Authorization] = [next(left) for _ in named.authorization_ids]
    sessions = {id: _living(next(left)) for id in _sessions(named)}
    revoked = [next(left) for _ in named.token_ids]
    pats = [next(left) for _ in named.pat_ids]
    of_actors = len(named.actors) * acting.MEMBERSHIPS_OF_ONE if named.user else 0
    memberships = list(islice(left, of_actors))
    subjects = [user for user in users if user]
    live = [client for client in clients if client]
    if (
        instance is None
        or len(subjects) < len(users)
        or len(live) < len(clients)
        or not all(each and each.revoked_at is None for each in authorizations)
        or not all(sessions[id] for id in named.session_ids)
        # A record of a revoked token exists only for a revoked one, so its presence refuses.
        or any(revoked)
        or not all(pats)
        or named.stamps != security_stamps.of(instance, *_stamped(subjects, live))
    ):
        return None
    grounds = _grounds(named, live, left)
    if None in grounds:
        return None
    return LiveRecords(
        instance=instance,
        subject=subjects[0] if named.user else None,
        client=live[0] if named.client else None,
        others=live[1:] if named.client else live,
        actors=subjects[1:] if named.user else subjects,
        authorizations=authorizations,
        session=sessions[named.session_id] if named.session_id else None,
        memberships=memberships,
        grounds=grounds[0] if grounds else None,
    )


def not_allowed(named: TokenDependencies, records: Sequence[Any]) -> UserRefusal | None:
    """Returns why a user may not use an application where everything else is valid.

    The text is for administrators. None when something else is not valid, or when every use is
    allowed.
    """
    if _judge_records(structs.replace(named, uses=()), records) is None:
        return None
    of_uses = _keys_of_uses(named)
    left = iter(records[len(keys(named)) - sum(map(len, of_uses)) :])
    clients = {one.id: one for one in records if isinstance(one, Application)}
    for use, own in zip(named.uses, of_uses, strict=True):
        read = [next(left) for _ in own]
        client = clients.get(use.client_id)
        if client is not None and allowed_users.judge(use, client, read) is None:
            return allowed_users.refusal(use, client, read)
    return None


def _grounds(
    named: TokenDependencies, clients: Sequence[Client], left: Iterator[Any]
) -> list[Grounds | None]:
    """Returns the grounds of each use; None for a use that is not allowed."""
    applications = {each.application.id: each.application for each in clients}
    found: list[Grounds | None] = []
    for use, keys in zip(named.uses, _keys_of_uses(named), strict=True):
        records = [next(left) for _ in keys]
        application = applications.get(use.client_id)
        found.append(allowed_users.judge(use, application, records) if application else None)
    return found


def stamps_of(
    instance: Instance,
    user: Subject | None = None,
    client: Client | None = None,
    actors: Sequence[Subject] = (),
    others: Sequence[Client] = (),
) -> str:
    """Returns the digest of the stamps of these users and clients, which something issued to them
    stores."""
    users = [*([user] if user else []), *actors]
    clients = [*([client] if client else []), *others]
    return security_stamps.of(instance, *_stamped(users, clients))


def _stamped(users: Sequence[Subject], clients: Sequence[Client]) -> list[Stamped]:
    found: list[Stamped] = []
    for user in users:
        found += [user.organization, user.user]
    for client in clients:
        found += [client.organization, client.application]
    return found


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
    is_its_own = application.org_id == organization.id
    return Client(application, organization) if is_active and is_its_own else None


def _living(session: Session | None) -> Session | None:
    """Returns the session, unless it has ended. Its idle timeout matters to sign-ins only."""
    return session if session is not None and session.ended_at is None else None
