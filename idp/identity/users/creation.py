"""Creation of users: one unit of writes, or a refusal that names what is taken.

All ways to create users come here: the management API, the set-up of organizations, registration
and imports. Callers have validated the values; here they are checked against the store.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Final, Literal, NamedTuple, TypeVar

from msgspec import Struct, structs

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.changes import Change
from idp.foundation import base64url
from idp.foundation.cooperative import in_turns
from idp.foundation.errors import FieldProblem, InvalidArgument, Taken
from idp.foundation.localization.name_order import full_name
from idp.identity.factors import second_factors
from idp.identity.users import (
    login_name_availability,
    login_name_reservations,
    password_acceptance,
    superseded_addresses,
)
from idp.identity.users import lookup as user_lookup
from idp.identity.users.login_name_availability import Candidate, NameCheck
from idp.identity.users.login_name_reservations import Reservations
from idp.passwords import policy as password_policy
from idp.passwords import schemes
from idp.policies import effective
from idp.records import (
    DOMAINS,
    LOGIN_CLAIMS,
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
from idp.schema.field_rules import MAX_TEXT
from idp.service import Service
from storage import Conflict, Stale, Update, Write

CLIENT_PREFIX: Final = "client:"  # the prefix of `sub` in tokens that a client has for itself


class Paths(NamedTuple):
    """The JSON paths, in the request, of the fields whose values may be another user's: they are
    named in problems."""

    user_name: str = ""
    email: str = ""
    id: str = ""


_NO_PATHS: Final = Paths()


class NewHuman(Struct, frozen=True, kw_only=True):
    """A person to be created. If `profile.display_name` is empty, it becomes "first last".

    `password` is hashed already (`password_acceptance.hashed`, `imported`) and `totp_secret` was
    read by `totp.read_secret`; `metadata` holds each key once, with its value in base64.
    """

    user_name: str
    profile: Profile
    email: Email | None = None
    phone: Phone | None = None
    address: Address | None = None
    password: Password | None = None
    totp_secret: str | None = None
    state: Literal["active", "inactive", "locked"] = "active"
    id: str | None = None
    metadata: Sequence[tuple[str, str]] = ()
    idp_links: Sequence[IdpLink] = ()


class NameAvailability(Struct, frozen=True):
    """The result of the check whether a user may have their login names, with what the unit needs
    that stores the user.

    `reservations` are those that were read before the check; `problems` lists what is taken.
    """

    reservations: Reservations
    check: NameCheck

    def problems(self, paths: Paths) -> list[FieldProblem]:
        """Returns a problem for each name that is taken, with the JSON path of its field."""
        return name_problems(self.check.taken, paths)

    def of(self, user: User) -> User:
        """Returns the user with the e-mail address as the check has decided that it is to be
        stored."""
        email = self.check.email
        if email == user.email:
            return user
        return structs.replace(
            user, email=email, email_key=user_lookup.email_key(email, user.org_id)
        )

    def writes(self, service: Service, actor: str) -> list[Write]:
        """Returns the writes that reserve the names, for the unit that stores the user.

        They have a guard that the domain that verifies the address is still verified, and deferred
        work if users of other organizations may have the address without having verified it
        themselves. `actor` is that of its events.
        """
        writes = self.reservations.writes(service)
        domain, email = self.check.domain, self.check.email
        if domain is not None:
            writes.append(Update(DOMAINS, domain.id, expect={"verified_key": domain.domain}))
        if self.check.may_supersede and email is not None:
            key = user_lookup.login_key(email.address)
            writes.append(superseded_addresses.deferred_write(service, key, actor))
        return writes


class PreparedUser(Struct, frozen=True):
    """A new user and the writes that store it, for one unit, to which callers may add.

    `problems` lists which names or ids are taken: unless it is empty, the caller must not commit
    the writes.
    """

    user: User
    writes: list[Write]
    problems: list[FieldProblem] = []


P = TypeVar("P", bound=PreparedUser)


async def planned(prepare: Callable[[], Awaitable[P]]) -> Change[P]:
    """Returns the change that stores the user that `prepare` returns with its writes (a
    `PreparedUser` or similar).

    If a concurrent creation reserves one of its login names, `prepare` is called again, so only
    names that are really taken are refused. Raises Taken, InvalidArgument for a user name with
    another organization's domain.
    """
    prepared = await prepared_or_refused(prepare)
    return Change(prepared, prepared.writes, replan=partial(planned, prepare))


async def prepared_or_refused(prepare: Callable[[], Awaitable[P]]) -> P:
    """Calls `prepare` and returns its result, without storing the user; calls it twice if there
    are problems, since a concurrent change may look like one.

    Raises Taken, or InvalidArgument for a user name with another organization's domain.
    """
    prepared = await prepare()
    if prepared.problems:
        # A concurrent change between two reads can look like a conflict; a second attempt reads
        # everything again.
        prepared = await prepare()
    if prepared.problems:
        raise refusal(prepared.problems)
    return prepared


def is_name_conflict(error: Conflict | Stale) -> bool:
    """Returns whether a unit that stores a user failed with `error` because a concurrent change
    took one of the login names."""
    is_user = error.collection == USERS.name and isinstance(error, Conflict)
    return is_user or error.collection in (LOGIN_CLAIMS.name, DOMAINS.name)


async def prepare(
    service: Service,
    organization: Organization,
    new: NewHuman,
    *,
    actor: str,
    paths: Paths = _NO_PATHS,
    is_by_instance: bool = False,
) -> PreparedUser:
    """Returns a new person of `organization` (which need not be stored yet), with the writes that
    store the person, for the caller to commit (`make` does it).

    `actor` is that of the events. With `is_by_instance` an administrator of the installation
    creates the person: then the user name may end with a domain of another organization.
    """
    now = service.clock.now()
    user = user_of(service, organization, new, now)
    prepared = await insertion(
        service, organization, user, actor=actor, paths=paths, is_by_instance=is_by_instance
    )
    writes = prepared.writes
    for key, value in new.metadata:
        metadata = metadata_entry(user, key, value, now)
        entry = AuditEntry("user_metadata.created", actor, now, user.org_id, payload={"key": key})
        writes += events.insertion(service.random, USER_METADATA, metadata, entry)
    return prepared


async def insertion(
    service: Service,
    organization: Organization,
    user: User,
    *,
    actor: str,
    paths: Paths = _NO_PATHS,
    is_by_instance: bool = False,
) -> PreparedUser:
    """Returns `user`, a new person or service user, with the writes that store it and reserve its
    login names, for the caller to commit. `paths`, `actor` and `is_by_instance` have the same
    meaning as for `prepare`."""
    checked_candidate = candidate(organization, user, is_by_instance=is_by_instance)
    # Callers may choose the id.
    checking = availability_of_each(service, [checked_candidate])
    (names,), existing = await asyncio.gather(checking, service.store.get(USERS, user.id))
    problems, user = names.problems(paths), names.of(user)
    if existing is not None:
        problems.append(FieldProblem("user.id_taken", paths.id, "already belongs to another user"))
    writes = writes_of(service, user, names, actor)
    return PreparedUser(user=user, writes=writes, problems=problems)


def candidate(
    organization: Organization,
    user: User,
    stored: User | None = None,
    *,
    is_by_instance: bool = False,
) -> Candidate:
    """Returns the `Candidate` of a new or changed user, for `availability_of_each`; `stored` is
    the stored user, None for a new one, and `is_by_instance` means that an administrator of the
    installation made the request."""
    return Candidate(organization, user.user_name, user.email, stored, is_by_instance)


async def availability_of_each(
    service: Service, candidates: Sequence[Candidate]
) -> list[NameAvailability]:
    """Returns, for each candidate in this order, whether its login names are free. The candidates
    are not compared with each other: if two have the same name, the writes of their reservations
    conflict."""
    named_users = [login_name_availability.named(each) async for each in in_turns(candidates)]
    reservations, found = await asyncio.gather(
        login_name_reservations.read_each(
            service, [named_user.names | named_user.addresses for named_user in named_users]
        ),
        asyncio.gather(*await login_name_availability.look_ups(service, named_users)),
    )
    # Where nothing was reserved, the reservation that is inserted now fails with Conflict if the
    # name is assigned meanwhile. Else a name may have been assigned after it was looked up.
    if any(each.are_recent for each in reservations):
        checks = await login_name_availability.check_each(service, named_users)
    else:
        checks = await login_name_availability.checks_of(found, named_users)
    return [NameAvailability(*each) for each in zip(reservations, checks, strict=True)]


def name_problems(
    taken_names: Collection[login_name_availability.TakenName], paths: Paths
) -> list[FieldProblem]:
    """Returns the problems of a new user's login names, each with the JSON path of its field.

    `taken_names` names what is taken: the user name (`user_name`) or the e-mail address (`email`);
    or `foreign_domain`, if the user name ends with a domain of another organization, which is then
    the only problem.
    """
    if "foreign_domain" in taken_names:
        text = (
            "ends with a domain that is verified for another organization: only an administrator"
            " of the installation can assign it"
        )
        return [FieldProblem("user.name.foreign_domain", paths.user_name, text)]
    places = dict.fromkeys(getattr(paths, name) for name in sorted(taken_names, reverse=True))
    message = "is the login name of another user, or could prevent another user's sign-in"
    return [FieldProblem("user.login_name_taken", path, message) for path in places]


def refusal(problems: Sequence[FieldProblem]) -> Taken | InvalidArgument:
    """Returns the error for these problems: InvalidArgument if a user name has another
    organization's domain, which no user can have, else Taken."""
    foreign = [each for each in problems if each.error_code == "user.name.foreign_domain"]
    return InvalidArgument(foreign) if foreign else Taken(problems)


def writes_of(
    service: Service, user: User, names: NameAvailability, actor: str, **payload: str
) -> list[Write]:
    """Returns the writes that store a new user with an event, whose `actor` and `payload` these
    are, and that reserve its login names; for the caller to commit."""
    payload = {"kind": user.kind, **payload}
    entry = AuditEntry("user.created", actor, user.created_at, payload=payload)
    stored = events.insertion(service.random, USERS, user, entry)
    return stored + names.writes(service, actor)


def user_of(service: Service, organization: Organization, new: NewHuman, now: datetime) -> User:
    """Returns the record of a new person, which is not stored yet."""
    profile, user_id = with_display_name(new.profile), new.id or service.random.id()
    secret = new.totp_secret
    return User(
        id=user_id,
        org_id=organization.id,
        kind="human",
        user_name=new.user_name,
        stamp=service.random.token(bits=64),
        profile=profile,
        created_at=now,
        changed_at=now,
        state=new.state,
        email=new.email,
        phone=new.phone,
        address=new.address,
        password=new.password,
        totp=second_factors.imported(service, user_id, secret) if secret else None,
        idp_links=list(new.idp_links),
        **user_lookup.keys(new.user_name, new.email, profile, organization.id),
    )


def with_display_name(profile: Profile) -> Profile:
    """Returns the profile; an empty display name becomes both names, cut at the maximal length."""
    if profile.display_name:
        return profile
    name = full_name(profile.given_name, profile.family_name, profile.preferred_language)
    return structs.replace(profile, display_name=name[:MAX_TEXT])


def metadata_entry(user: User, key: str, value: str, now: datetime) -> UserMetadata:
    """Returns a metadata entry that isn't stored yet; `value` is in base64."""
    return UserMetadata(
        id=metadata_id(user.id, key),
        user_id=user.id,
        key=key,
        value=value,
        created_at=now,
        changed_at=now,
    )


def metadata_id(user_id: str, key: str) -> str:
    """Returns the id of a user's metadata entry, derived from the key: so each key exists once."""
    return base64url.encode(hashlib.sha256(f"{user_id}\0{key}".encode()).digest())


def imported(service: Service, encoded: str, *, must_change: bool = False) -> Password:
    """Returns the record of a password from `encoded`, the hash that another system made.

    With `must_change` the user has to choose another one at the next sign-in. Raises
    UnreadableHash if the hash has no supported form.
    """
    schemes.read_imported(encoded, service.config)
    return Password(hash=encoded, changed_at=service.clock.now(), must_change=must_change)


def hash_problems(service: Service, field: str, encoded: str | None) -> list[FieldProblem]:
    """Returns why `imported` would refuse the hash `encoded`, as problems of the request's `field`
    (a JSON path); empty if it is accepted or there is none."""
    if not encoded:
        return []
    try:
        schemes.read_imported(encoded, service.config)
    except schemes.UnreadableHash as error:
        return [FieldProblem(error.error_code, field, error.message)]
    return []


async def initial_password_problems(
    service: Service, organization: Organization | None, new: NewHuman, password: str
) -> list[password_policy.PasswordProblem]:
    """Returns why an administrator or a program can't set `password` for this new person; empty if
    it is accepted.

    If the organization is None, because it does not exist yet, the installation's policy applies.
    Raises HashingBusy.
    """
    reading = effective.initial_complexity(service, organization.id if organization else None)
    words, rules = await asyncio.gather(password_words(service, organization, new), reading)
    required = password_acceptance.requirements(service, rules, words, rules.min_length)
    return await password_acceptance.problems(service, password, required)


async def password_words(
    service: Service, organization: Organization | None, new: NewHuman
) -> list[str]:
    """Returns the words that an acquaintance would try as the new person's password, as
    `password_acceptance.words_of` does."""
    return await password_acceptance.words_of(
        service, organization, new.user_name, new.profile, new.email
    )
