"""Checks which login names are taken, for one new or changed user or for many together."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct, structs

from idp.foundation import domain_names
from idp.foundation.cooperative import in_turns
from idp.identity.users import lookup as user_lookup
from idp.identity.users.lookup import login_key
from idp.records import (
    DOMAINS,
    ORGANIZATIONS,
    USERS,
    Email,
    Organization,
    OrganizationDomain,
    User,
)
from idp.service import Service
from storage import MAX_VALUES
from storage import Collection as StoredCollection

TakenName: TypeAlias = Literal["user_name", "email", "foreign_domain"]
LookUp: TypeAlias = Coroutine[Any, Any, dict[Any, list[Any]]]
_MAX_FOUND: Final = 2


class Candidate(Struct, frozen=True):
    """The login names of a new or changed user, for the check whether they are taken.

    `stored` is the user as stored before the change, None for a new one. `is_by_instance` means
    that an administrator of the installation sets them: then the user name may end with a domain
    of another organization.
    """

    organization: Organization
    user_name: str
    email: Email | None
    stored: User | None = None
    is_by_instance: bool = False

    @property
    def own_id(self) -> str | None:
        """The id of the stored user, whose own names are not taken."""
        return self.stored.id if self.stored else None

    @property
    def has_new_name(self) -> bool:
        return self.stored is None or self.stored.user_name != self.user_name

    @property
    def has_new_email(self) -> bool:
        return self.stored is None or self.stored.email != self.email


class NamedUser(NamedTuple):
    """A candidate with its login names as they are compared: `names` are those of the user name,
    `addresses` that of the e-mail address."""

    candidate: Candidate
    names: set[str]
    addresses: set[str]

    @property
    def typed(self) -> Iterable[str]:
        """The user name and the address as far as they have an @: as such they may equal another
        user's "name@domain"."""
        return (text for text in (self.candidate.user_name, *self.addresses) if "@" in text)


class _Lookups(Struct, frozen=True):
    """The users who have the checked names. For an address at most two are read: users who
    verified the same address belong to one organization."""

    by_key: Mapping[str, list[User]]
    by_email: Mapping[str, list[User]]
    by_address: Mapping[str, list[User]]
    at_domain: Mapping[str, list[Organization]]
    owners: Mapping[str, list[OrganizationDomain]]

    def owner(self, name: str) -> OrganizationDomain | None:
        """Returns the record of the domain that the login name `name` ends with, if an
        organization has verified it: users of that organization alone may have such a name."""
        _, domain = _split(name)
        return next(iter(self.owners.get(domain, ())), None) if "@" in name else None

    def by_name_at_domain(self, typed: str) -> Iterable[User]:
        """The user of "name@primary domain of the organization"."""
        name, domain = _split(typed)
        ids = {organization.id for organization in self.at_domain.get(domain, ())}
        return (user for user in self.by_key.get(name, ()) if user.org_id in ids)


class NameCheck(Struct, frozen=True):
    """The result of checking a candidate's names: which are `taken`, and the address `email` as it
    is to be stored.

    `domain` is the one by which the address is verified, None if it is not: the caller's unit has
    a guard that it stays so. `may_supersede` says that users of other organizations may have the
    address, verified by their organization's statement alone.
    """

    taken: set[TakenName]
    email: Email | None
    domain: OrganizationDomain | None = None
    may_supersede: bool = False


async def taken(service: Service, candidate: Candidate) -> set[TakenName]:
    """Returns which of the candidate's names another user has, and `foreign_domain` if the user
    name ends with a domain of another organization.

    Several users of one organization may have verified the same address; it is then no login name
    of any of them. Users of other organizations would lose it as a login name, so for them it is
    taken. An address that only an organization states as verified excludes no user elsewhere.
    """
    return (await check_each(service, [named(candidate)]))[0].taken


def named(candidate: Candidate) -> NamedUser:
    """Returns the candidate with the keys of its login names."""
    name_values = candidate.organization, candidate.user_name, candidate.email
    return NamedUser(candidate, *user_lookup.login_names(*name_values))


async def check_each(service: Service, named_users: Sequence[NamedUser]) -> list[NameCheck]:
    """Returns the check of each candidate's login names, in this order, after a few round trips
    for all of them. The candidates are not compared with each other."""
    return await checks_of(
        await asyncio.gather(*await look_ups(service, named_users)), named_users
    )


async def look_ups(service: Service, named_users: Sequence[NamedUser]) -> list[LookUp]:
    """Returns the reads that `check_each` makes side by side, for a caller that makes others with
    them and passes what they return to `checks_of`."""
    keys = {key for each in named_users for key in each.names | each.addresses}
    scoped = {_scoped(each, key) for each in named_users for key in each.names}
    addresses = {key for each in named_users for key in each.addresses}
    split_names = [_split(typed) async for each in in_turns(named_users) for typed in each.typed]
    typed_domains = {domain for _, domain in split_names}
    return [
        _find_each(service, USERS, "login_key", keys | {name for name, _ in split_names if name}),
        _find_each(service, USERS, "email_key", keys | scoped),
        _find_each(service, USERS, "address_key", addresses),
        _find_each(service, ORGANIZATIONS, "primary_domain", typed_domains),
        _find_each(service, DOMAINS, "verified_key", typed_domains),
    ]


async def checks_of(
    found: Sequence[dict[Any, list[Any]]], named_users: Sequence[NamedUser]
) -> list[NameCheck]:
    """Returns the check of each candidate's login names, by what the reads of `look_ups` have
    found, in their order."""
    lookups = _Lookups(*found)
    return [_check(lookups, each) async for each in in_turns(named_users)]


def _scoped(named_user: NamedUser, key: str) -> str:
    return user_lookup.scoped_key(key, named_user.candidate.organization.id)


def _check(lookups: _Lookups, named_user: NamedUser) -> NameCheck:
    email, domain = _as_stored(lookups, named_user)
    taken_names = set[TakenName]()
    if _has_others(_holders_of_name(lookups, named_user), named_user):
        taken_names.add("user_name")
    if _has_others(_holders_of_address(lookups, named_user, email), named_user):
        taken_names.add("email")
    if _is_foreign(lookups, named_user.candidate):
        taken_names.add("foreign_domain")
    return NameCheck(
        taken=taken_names,
        email=email,
        domain=domain,
        may_supersede=_may_supersede(lookups, named_user, email),
    )


def _has_others(holders: Iterable[User], named_user: NamedUser) -> bool:
    return any(user.id != named_user.candidate.own_id for user in holders)


def _as_stored(
    lookups: _Lookups, named_user: NamedUser
) -> tuple[Email | None, OrganizationDomain | None]:
    """The address as it is to be stored, and the domain by which it is verified.

    What an organization states as verified is verified by its domain if the address is below one;
    this ends when the domain no longer belongs to the organization.
    """
    candidate = named_user.candidate
    email = candidate.email
    if email is None or not email.is_verified or email.verified_by in ("mailbox", "instance"):
        return email, None
    domain = lookups.owner(email.address)
    is_own = domain is not None and domain.org_id == candidate.organization.id
    if is_own and (candidate.has_new_email or email.verified_by == "domain"):
        return structs.replace(email, verified_by="domain", is_superseded=False), domain
    holders = (user for key in named_user.addresses for user in lookups.by_email.get(key, ()))
    is_superseded = email.is_superseded or _has_others(holders, named_user)
    email = structs.replace(email, verified_by="organization", is_superseded=is_superseded)
    return email, None


def _holders_of_name(lookups: _Lookups, named_user: NamedUser) -> Iterable[User]:
    yield from lookups.by_name_at_domain(named_user.candidate.user_name)
    for key in named_user.names:
        yield from lookups.by_key.get(key, ())
        yield from lookups.by_email.get(key, ())
        yield from lookups.by_email.get(_scoped(named_user, key), ())


def _holders_of_address(
    lookups: _Lookups, named_user: NamedUser, email: Email | None
) -> Iterable[User]:
    """The users who sign in by the address already, so that no other user can verify it.

    An address that is a login name in one organization alone conflicts with users of that
    organization only. If it is below a verified domain of the candidate's organization, user names
    of other organizations that equal it do not conflict either.
    """
    org_id = named_user.candidate.organization.id
    domain = lookups.owner(email.address) if email else None
    is_own_domain = domain is not None and domain.org_id == org_id
    is_everywhere = email is not None and email.is_verified_everywhere
    for key in named_user.addresses:
        holders = [*lookups.by_name_at_domain(key), *lookups.by_key.get(key, ())]
        yield from (
            user
            for user in holders
            if user.org_id == org_id or (is_everywhere and not is_own_domain)
        )
        if is_everywhere:
            yield from (user for user in lookups.by_email.get(key, ()) if user.org_id != org_id)


def _is_foreign(lookups: _Lookups, candidate: Candidate) -> bool:
    """Whether a new user name ends with the domain of another organization."""
    if candidate.is_by_instance or not candidate.has_new_name:
        return False
    domain = lookups.owner(login_key(candidate.user_name))
    return domain is not None and domain.org_id != candidate.organization.id


def _may_supersede(lookups: _Lookups, named_user: NamedUser, email: Email | None) -> bool:
    """Whether other users may have the address, verified by their organization's statement
    alone."""
    if email is None or not email.is_verified_everywhere or not named_user.candidate.has_new_email:
        return False
    holders = [user for key in named_user.addresses for user in lookups.by_address.get(key, ())]
    is_asserted = any(
        user.email and user.email.is_verified and not user.email.is_verified_everywhere
        for user in holders
        if user.id != named_user.candidate.own_id
    )
    return is_asserted or len(holders) == _MAX_FOUND


def _split(typed: str) -> tuple[str, str]:
    """The keys of name and domain; the name's is empty if the text has none."""
    name, _, domain = typed.rpartition("@")
    return login_key(name), domain_names.key(domain)


async def _find_each(
    service: Service, collection: StoredCollection[Any], field: str, values: Collection[str]
) -> dict[Any, list[Any]]:
    """The records that have any of the values, at most `_MAX_FOUND` for each."""
    sorted_values, records = sorted(values), dict[Any, list[Any]]()
    for start in range(0, len(sorted_values), MAX_VALUES):
        part = sorted_values[start : start + MAX_VALUES]
        records |= await service.store.find_each(collection, field, part, _MAX_FOUND)
    return records
