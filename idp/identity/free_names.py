"""Which login names are somebody's already: judged for one user to be, or for many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from idp import domains
from idp.identity import users
from idp.identity.users import login_key
from idp.records import ORGANIZATIONS, USERS, Email, Organization, User
from idp.service import Service
from idp.turns import in_turns
from storage import VALUES_AT_ONCE
from storage import Collection as Kept

Part: TypeAlias = Literal["user_name", "email"]


class Candidate(Struct, frozen=True):
    """By what somebody would sign in; `besides` is their id when they are a user already."""

    organization: Organization
    user_name: str
    email: Email | None
    besides: str | None = None


class Named(NamedTuple):
    """A candidate, and the keys by which they would sign in: those of the name, and that of the
    address."""

    candidate: Candidate
    names: set[str]
    addresses: set[str]

    @property
    def typed(self) -> Iterable[str]:
        """What may be another's "name@domain"."""
        return (text for text in (self.candidate.user_name, *self.addresses) if "@" in text)


class _Found(Struct, frozen=True):
    """Who has the names that are asked for, two at most for an address: those are of one
    organization."""

    by_key: Mapping[str, list[User]]
    by_email: Mapping[str, list[User]]
    at_domain: Mapping[str, list[Organization]]

    def by_name_at_domain(self, typed: str) -> Iterable[User]:
        """The user of "name@primary domain of their organization"."""
        name, domain = _apart(typed)
        ids = {organization.id for organization in self.at_domain.get(domain, ())}
        return (user for user in self.by_key.get(name, ()) if user.org_id in ids)


async def taken(service: Service, candidate: Candidate) -> set[Part]:
    """By which of the two they would share a login name with somebody else.

    A verified address may be held by several of one organization: it is then nobody's login
    name. Those of other organizations it would shut out, so there it is taken.
    """
    return (await taken_each(service, [named(candidate)]))[0]


def named(candidate: Candidate) -> Named:
    """The candidate, with their keys."""
    of = candidate.organization, candidate.user_name, candidate.email
    return Named(candidate, *users.login_names(*of))


async def taken_each(service: Service, named: Sequence[Named]) -> list[set[Part]]:
    """The same for many, in a few round trips; they are not compared with each other."""
    keys = {key for each in named for key in each.names | each.addresses}
    apart = [_apart(typed) async for each in in_turns(named) for typed in each.typed]
    by_key, by_email, at_domain = await asyncio.gather(
        _each(service, USERS, "login_key", keys | {name for name, _ in apart if name}),
        _each(service, USERS, "email_key", keys),
        _each(service, ORGANIZATIONS, "primary_domain", {domain for _, domain in apart}),
    )
    found = _Found(by_key=by_key, by_email=by_email, at_domain=at_domain)
    return [_judged(found, each) async for each in in_turns(named)]


def _judged(found: _Found, named: Named) -> set[Part]:
    candidate, names, addresses = named
    besides, taken = candidate.besides, set[Part]()
    holders = [*found.by_name_at_domain(candidate.user_name)]
    holders += [user for key in names for user in found.by_key.get(key, ())]
    holders += [user for key in names for user in found.by_email.get(key, ())]
    if any(user.id != besides for user in holders):
        taken.add("user_name")
    holders = [user for key in addresses for user in found.by_name_at_domain(key)]
    holders += [user for key in addresses for user in found.by_key.get(key, ())]
    home = candidate.organization.id
    elsewhere = (user for key in addresses for user in found.by_email.get(key, ()))
    if any(user.id != besides for user in holders) or any(
        user.org_id != home for user in elsewhere
    ):
        taken.add("email")
    return taken


def _apart(typed: str) -> tuple[str, str]:
    """The keys of name and domain; without a name, nobody is meant."""
    name, _, domain = typed.rpartition("@")
    return login_key(name), domains.key(domain)


async def _each(
    service: Service, collection: Kept[Any], field: str, values: Collection[str]
) -> dict[Any, list[Any]]:
    """The records that have any of the values, two at most for each."""
    asked, found = sorted(values), dict[Any, list[Any]]()
    for start in range(0, len(asked), VALUES_AT_ONCE):
        part = asked[start : start + VALUES_AT_ONCE]
        found |= await service.store.find_each(collection, field, part)
    return found
