"""Making a human user: one unit of writes, or a refusal that says which names or ids are taken.

Whoever makes users goes this way: the management API, the set-up of organizations, registration,
imports. What comes in is well-formed already; here it is decided whether it may exist.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeVar

from msgspec import Struct, structs

from idp import base64url, events
from idp.errors import FieldProblem, Taken
from idp.identity import login_claims, passwords, schemes, users
from idp.policies import effective
from idp.records import (
    DOMAINS,
    LOGIN_CLAIMS,
    ORGANIZATIONS,
    USER_METADATA,
    USERS,
    Address,
    Email,
    IdpLink,
    Organization,
    Password,
    Phone,
    Profile,
    User,
    UserMetadata,
)
from idp.service import Service
from storage import Conflict, Stale, Write
from storage.settling import commit_settled

CLIENT_PREFIX: Final = "client:"  # the subjects of tokens that a client has for itself


class Paths(NamedTuple):
    """Where in a request the parts of a user stand that may be taken."""

    user_name: str = ""
    email: str = ""
    id: str = ""


_NOWHERE: Final = Paths()


class NewHuman(Struct, frozen=True, kw_only=True):
    """A person to be. `profile.display_name` may be empty: then it is "first last".

    `password` is hashed already (`hashed`, `imported`); `metadata` are keys, each once, with
    their values in base64.
    """

    user_name: str
    profile: Profile
    email: Email | None = None
    phone: Phone | None = None
    address: Address | None = None
    password: Password | None = None
    id: str | None = None
    metadata: Sequence[tuple[str, str]] = ()
    idp_links: Sequence[IdpLink] = ()


class Prepared(Struct, frozen=True):
    """The user as it will be, and the writes that make it so: one unit, with more when the
    caller has more. `problems` is what of it is taken: then it can't be made."""

    user: User
    writes: list[Write]
    problems: list[FieldProblem] = []


P = TypeVar("P", bound=Prepared)


async def make(service: Service, prepare: Callable[[], Awaitable[P]]) -> P:
    """Store the user that `prepare` describes, and what belongs to it; what was prepared.

    Who meets somebody at the same names is prepared anew: only what is taken is refused.
    Raises Taken, Busy.
    """

    async def attempt() -> P:
        prepared = await prepare()
        if prepared.problems:
            # Whoever is met may have come between two looks; another one sees all of it.
            prepared = await prepare()
        if prepared.problems:
            raise Taken(prepared.problems)
        await commit_settled(service.store, *prepared.writes)
        return prepared

    return await login_claims.repeated(attempt, MEETS_AT)


MEETS_AT: Final = frozenset({LOGIN_CLAIMS.name, USERS.name, ORGANIZATIONS.name, DOMAINS.name})


def is_met(error: Conflict | Stale) -> bool:
    """Whether the unit was refused because somebody gave out one of its names meanwhile."""
    is_user = error.collection == USERS.name and isinstance(error, Conflict)
    return is_user or error.collection == LOGIN_CLAIMS.name


async def prepare(
    service: Service,
    organization: Organization,
    new: NewHuman,
    *,
    actor: str,
    paths: Paths = _NOWHERE,
) -> Prepared:
    """A user of `organization`, which need not be stored yet."""
    now = service.clock.now()
    user = _user(service, organization, new, now)
    prepared = await insertion(service, organization, user, actor=actor, paths=paths)
    writes = prepared.writes
    for key, value in new.metadata:
        entry = metadata_entry(user, key, value, now)
        writes += events.insertion(
            service.random,
            USER_METADATA,
            entry,
            "user_metadata.created",
            actor,
            now,
            user.org_id,
            key=key,
        )
    return prepared


async def insertion(
    service: Service,
    organization: Organization,
    user: User,
    *,
    actor: str,
    paths: Paths = _NOWHERE,
) -> Prepared:
    """A user of any kind, with the writes that store it and give out its login names."""
    names, addresses = users.login_names(organization, user.user_name, user.email)
    claims = await login_claims.read(service, names | addresses)
    problems = await _taken(service, organization, user, paths)
    type, at = "user.created", user.created_at
    writes = events.insertion(service.random, USERS, user, type, actor, at, kind=user.kind)
    return Prepared(user=user, writes=writes + claims.writes(service), problems=problems)


async def _taken(
    service: Service, organization: Organization, user: User, paths: Paths
) -> list[FieldProblem]:
    found = await users.taken(service, organization, user.user_name, user.email)
    places = dict.fromkeys(getattr(paths, name) for name in sorted(found, reverse=True))
    message = "is somebody's login name already, or could shut somebody out"
    problems = [FieldProblem("user.login_name_taken", place, message) for place in places]
    if await service.store.get(USERS, user.id) is not None:
        problems.append(FieldProblem("user.id_taken", paths.id, "is another user's already"))
    return problems


def _user(service: Service, organization: Organization, new: NewHuman, now: datetime) -> User:
    profile = with_display_name(new.profile)
    return User(
        id=new.id or service.random.id(),
        org_id=organization.id,
        kind="human",
        user_name=new.user_name,
        stamp=service.random.token(bits=64),
        profile=profile,
        created_at=now,
        changed_at=now,
        email=new.email,
        phone=new.phone,
        address=new.address,
        password=new.password,
        idp_links=list(new.idp_links),
        **users.keys(new.user_name, new.email, profile),
    )


def with_display_name(profile: Profile) -> Profile:
    """The profile, with "first last" to show where nothing else is."""
    if profile.display_name:
        return profile
    names = (profile.given_name, profile.family_name)
    return structs.replace(profile, display_name=" ".join(name for name in names if name))


def metadata_entry(user: User, key: str, value: str, now: datetime) -> UserMetadata:
    """An entry that isn't stored yet; `value` in base64."""
    return UserMetadata(
        id=metadata_id(user.id, key),
        user_id=user.id,
        key=key,
        value=value,
        created_at=now,
        changed_at=now,
    )


def metadata_id(user_id: str, key: str) -> str:
    """The id of a user's metadata entry: by its being taken, each key is there once."""
    return base64url.encode(hashlib.sha256(f"{user_id}\0{key}".encode()).digest())


async def hashed(service: Service, password: str, *, must_change: bool = False) -> Password:
    """A password as it is stored, once `password_problems` has found none. Raises HashingBusy."""
    encoded = await service.hasher.hash(password)
    return Password(hash=encoded, changed_at=service.clock.now(), must_change=must_change)


def imported(service: Service, encoded: str, *, must_change: bool = False) -> Password:
    """A password that was hashed elsewhere. Raises UnreadableHash: unknown or out of bounds."""
    schemes.read(encoded)
    return Password(hash=encoded, changed_at=service.clock.now(), must_change=must_change)


async def password_problems(
    service: Service, organization: Organization | None, new: NewHuman, password: str
) -> list[passwords.Problem]:
    """What keeps `password` from being this person's; empty when it is fine.

    Of an organization that is not there (yet), the installation's policy counts.
    """
    names = [new.user_name, new.profile.display_name, organization.name if organization else ""]
    names += [new.profile.given_name or "", new.profile.family_name or ""]
    names += [new.email.address] if new.email else []
    return passwords.policy_problems(
        password,
        rules=await effective.complexity(service, organization.id if organization else None),
        own_words=names,
        max_bytes=service.hasher.max_bytes,
    )
