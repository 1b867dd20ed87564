"""Users: their login names, and the look-up of a user by a login name.

A user has up to three login names, all compared by `login_key`: the user name, user name@primary
domain of the organization, and a verified e-mail address that no other user holds. An address that
only the user's organization states as verified is a login name in that organization alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from msgspec import structs

from idp.foundation import domain_names
from idp.foundation.texts import typed_texts
from idp.foundation.texts.text_folding import folded
from idp.foundation.user_names import MAX_NAME_CHARACTERS
from idp.identity.guesses import lock_ends
from idp.identity.users.subjects import Subject
from idp.records import (
    DOMAINS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    USERS,
    Email,
    Organization,
    Profile,
    User,
)
from idp.service import Service
from storage import Update, Value

_SCOPE: Final = "\n"  # cannot be typed, and no address or user name may contain it
_MAX_TYPED: Final = MAX_NAME_CHARACTERS + len("@") + 253  # with a domain (RFC 1035)


def login_key(user_name: str) -> str:
    """Returns the form in which login names are compared (`folded`)."""
    return folded(user_name)


def typed_key(typed: str) -> str:
    """Returns the `login_key` of a login name that was typed, without what can't matter in it."""
    return login_key(typed_texts.name(typed))


def email_key(email: Email | None, org_id: str) -> str | None:
    """Returns the form in which an e-mail address is stored as a login name; None if it is no
    login name.

    `org_id` is the user's organization: it is part of the form of an address that is a login name
    there alone.
    """
    if email is None or not email.is_verified or email.is_superseded:
        return None
    key = login_key(email.address)
    return key if email.is_verified_everywhere else scoped_key(key, org_id)


def address_keys(user: User, org_id: str | None) -> set[str]:
    """Returns the key of the user's e-mail address if it is a login name for sign-ins to the
    organization `org_id` (None: to no organization in particular), else an empty set."""
    key, _, scope_org_id = (user.email_key or "").partition(_SCOPE)
    return {key} if key and scope_org_id in ("", org_id) else set()


def scoped_key(key: str, org_id: str) -> str:
    """Returns the form in which the login name `key` is stored if it is valid in one organization
    only. No typed login name has this form."""
    return f"{scoped_prefix(key)}{org_id}"


def scoped_prefix(key: str) -> str:
    """Returns the beginning of all `scoped_key` forms of a login name."""
    return f"{key}{_SCOPE}"


def keys(user_name: str, email: Email | None, profile: Profile, org_id: str) -> dict[str, Any]:
    """Returns the fields of a user's record by which it is found, by name; they are set whenever a
    user is stored."""
    return {
        "login_key": login_key(user_name),
        "email_key": email_key(email, org_id),
        "address_key": login_key(email.address) if email else None,
        "display_key": login_key(profile.display_name),
        "family_key": login_key(profile.family_name) if profile.family_name else None,
    }


def login_names(
    organization: Organization, user_name: str, email: Email | None
) -> tuple[set[str], set[str]]:
    """Returns two sets: the keys of the login names that come from the user name, and that of the
    address, empty if the address is no login name.

    The address may be a login name in the organization alone (`email_key`).
    """
    name = login_key(user_name)
    qualified_name = f"{name}@{organization.primary_domain}"
    qualified_names = {qualified_name, login_key(qualified_name)}
    is_name = email is not None and email_key(email, organization.id) is not None
    return {name} | qualified_names, {login_key(email.address)} if email and is_name else set()


async def is_held_elsewhere(service: Service, org_id: str, key: str) -> bool:
    """Returns whether a user of another organization has verified the address with this
    `login_key`."""
    # Users who verified one address belong to one organization.
    holders = await _by_email(service, key)
    return any(holder.org_id != org_id for holder in holders)


async def find_by_login_name(
    service: Service, typed: str, org_id: str | None = None
) -> User | None:
    """Returns the user with the login name `typed`: a user name, user name@primary domain, or a
    verified e-mail address; None if there is none.

    An address is a login name if exactly one user holds it. One that only an organization states
    as verified is found if the sign-in is for this organization (`org_id`) and no other user has
    verified it. Which look-ups are made depends on `typed` alone, and all are made together, so
    that timing does not reveal which names exist.
    """
    typed = typed_texts.name(typed)
    if not typed or len(typed) > _MAX_TYPED or "\0" in typed or _SCOPE in typed:
        return None
    key = login_key(typed)
    # Without an organization the second one finds nothing, but is looked up nevertheless.
    addresses = (key, scoped_key(key, org_id or ""))
    (by_name, by_domain), users_by_address, domain_org = await asyncio.gather(
        _by_name(service, typed), _by_emails(service, addresses), domain_owner(service, typed)
    )
    verified, asserted = (users_by_address.get(address, []) for address in addresses)
    by_email = _only_holder(verified) if verified else _only_holder(asserted)
    domain_org_id = domain_org or (None if verified or by_domain else org_id)
    if by_name and by_domain and by_name.org_id != by_domain.org_id:
        return by_domain  # the domain belongs to that organization; the other user's name is older
    if by_name and by_email and by_email.org_id == domain_org_id != by_name.org_id:
        # Likewise: in its own organization an address precedes other organizations' user names.
        return by_email
    return by_name or by_domain or by_email


def _only_holder(holders: list[User]) -> User | None:
    return holders[0] if len(holders) == 1 else None


async def domain_owner(service: Service, name: str) -> str | None:
    """Returns the id of the organization that has verified the domain of "name@domain", if any."""
    _, at, domain = name.rpartition("@")
    if not at:
        return None
    page = await service.store.find(DOMAINS, {"verified_key": domain_names.key(domain)}, limit=1)
    return page.records[0].org_id if page.records else None


async def _by_name(service: Service, typed: str) -> tuple[User | None, User | None]:
    """Returns the user with the user name `typed`; and the one whose user name, with the primary
    domain of the organization, is `typed`."""
    # `exact` finds a user whose name was taken in another spelling of the domain when names were
    # first normalized: that one keeps the key that it had.
    key, exact, (name, _, domain) = login_key(typed), typed.lower(), typed.rpartition("@")
    if not name:
        return (await _with_names(service, key)).get(key), None
    plain = login_key(name)
    users, organizations = await asyncio.gather(
        _with_names(service, key, exact, plain),
        service.store.find(ORGANIZATIONS, {"primary_domain": domain_names.key(domain)}, limit=1),
    )
    user, ids = users.get(plain), [organization.id for organization in organizations.records]
    return users.get(exact) or users.get(key), user if user and user.org_id in ids else None


async def _with_names(service: Service, *keys: str) -> dict[Value, User]:
    """Returns the users with these user names, by the form in which these are compared."""
    users_by_key = await service.store.find_each(USERS, "login_key", list(dict.fromkeys(keys)), 1)
    return {key: users[0] for key, users in users_by_key.items() if users}


async def _by_emails(service: Service, keys: Sequence[str]) -> dict[Value, list[User]]:
    """Returns the users who hold each of the addresses, at most two."""
    if not any("@" in key for key in keys):
        return {}  # no address
    return await service.store.find_each(USERS, "email_key", keys, 2)


async def _by_email(service: Service, key: str) -> list[User]:
    """Returns the users who hold the address, at most two."""
    return (await _by_emails(service, [key])).get(key, [])


async def find_subject(service: Service, user_id: str) -> Subject | None:
    """Returns the user with organization and instance record, whatever their state; None if one of
    the three does not exist."""
    user = await service.store.get(USERS, user_id)
    return await subject_of(service, user) if user else None


async def find_unchanged(service: Service, user: User) -> Subject | None:
    """Returns the user as stored now, with organization and instance record; None if the user was
    deleted, or its security stamp has changed since `user` was read.
    """
    current, organization, instance = await service.store.get_many(
        [(USERS, user.id), (ORGANIZATIONS, user.org_id), (INSTANCES, INSTANCE_ID)]
    )
    if current is None or organization is None or instance is None or current.stamp != user.stamp:
        return None
    return Subject(instance=instance, organization=organization, user=current)


async def unlocked(service: Service, subject: Subject) -> Subject:
    """Ends the user's lock in the store if its time has passed (`lock_ends.lift_if_over`), and
    returns the subject with the user as stored then."""
    user = await lock_ends.lift_if_over(service, subject.user)
    return structs.replace(subject, user=user)


def exists_guard(user: User) -> Update:
    """Returns a guard for a unit that stores records of the user: an update without changes, by
    which the unit fails with Stale if the user was removed since it was read."""
    return Update(USERS, user.id, expect={"created_at": user.created_at})


async def subject_of(service: Service, user: User) -> Subject | None:
    """Returns the user, as it was read, with organization and instance record; None if one of
    these does not exist."""
    organization, instance = await service.store.get_many(
        [(ORGANIZATIONS, user.org_id), (INSTANCES, INSTANCE_ID)]
    )
    if organization is None or instance is None:
        return None
    return Subject(instance=instance, organization=organization, user=user)
