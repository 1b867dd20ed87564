"""Which login names are somebody's already: judged for one user to be, or for many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from idp import domains
from idp.identity import users
from idp.identity.users import login_key
from idp.records import ORGANIZATIONS, USERS, Email, Organization, User
from idp.service import Service
from storage import VALUES_AT_ONCE
from storage import Collection as Kept

Part: TypeAlias = Literal["user_name", "email"]


class Candidate(Struct, frozen=True):
    """By what somebody would sign in; `besides` is their id when they are a user already."""

    organization: Organization
    user_name: str
    email: Email | None
    besides: str | None = None


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
    return (await taken_each(service, [candidate]))[0]


async def taken_each(service: Service, candidates: Sequence[Candidate]) -> list[set[Part]]:
    """The same for many, in a few round trips; they are not compared with each other."""
    named = [(each, *names(each)) for each in candidates]
    keys = {key for _, names, addresses in named for key in names | addresses}
    apart = [_apart(typed) for each, _, addresses in named for typed in _typed(each, addresses)]
    by_key, by_email, at_domain = await asyncio.gather(
        _each(service, USERS, "login_key", keys | {name for name, _ in apart if name}),
        _each(service, USERS, "email_key", keys),
        _each(service, ORGANIZATIONS, "primary_domain", {domain for _, domain in apart}),
    )
    found = _Found(by_key=by_key, by_email=by_email, at_domain=at_domain)
    return [_judged(found, *each) for each in named]


def _judged(
    found: _Found, candidate: Candidate, names: set[str], addresses: set[str]
) -> set[Part]:
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


def names(candidate: Candidate) -> tuple[set[str], set[str]]:
    """The keys by which they would sign in: those of the name, and that of the address."""
    return users.login_names(candidate.organization, candidate.user_name, candidate.email)


def _typed(candidate: Candidate, addresses: Iterable[str]) -> Iterable[str]:
    """What may be another's "name@domain"."""
    return (text for text in (candidate.user_name, *addresses) if "@" in text)


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
