"""Users: the names by which they sign in, and how they are found by what a person types.

A user has up to three login names, all compared by `login_key`: the user name, user name@primary
domain of the organization, and a verified e-mail address that nobody else holds. An address that
only the user's organization has called verified is a login name in that organization alone.
"""

from __future__ import annotations

import asyncio
import unicodedata
from typing import Any, Final

from msgspec import structs

from idp.foundation import domain_names
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
from storage import Update

_SCOPE: Final = "\n"  # what nobody types, and no address or user name may hold
_MAX_TYPED: Final = MAX_NAME_CHARACTERS + len("@") + 253  # with a domain (RFC 1035)


def login_key(user_name: str) -> str:
    """The form in which a user name is unique: casefold(NFKC)."""
    if user_name.isascii():
        return user_name.lower()  # the same, sooner
    return unicodedata.normalize("NFKC", user_name).casefold()


def email_key(email: Email | None, org_id: str) -> str | None:
    """The form in which an address is a login name; None where it is none.

    `org_id` is the user's organization: the form has it where the address counts there alone.
    """
    if email is None or not email.is_verified or email.is_superseded:
        return None
    key = login_key(email.address)
    return key if email.is_verified_everywhere else scoped_key(key, org_id)


def address_keys(user: User, org_id: str | None) -> set[str]:
    """The key of the user's address, where it is a login name in that organization."""
    key, _, home = (user.email_key or "").partition(_SCOPE)
    return {key} if key and home in ("", org_id) else set()


def scoped_key(key: str, org_id: str) -> str:
    """The form of a login name of one organization. No login name that is typed has this form."""
    return f"{scoped_prefix(key)}{org_id}"


def scoped_prefix(key: str) -> str:
    """How the forms of a login name of single organizations begin."""
    return f"{key}{_SCOPE}"


def keys(user_name: str, email: Email | None, profile: Profile, org_id: str) -> dict[str, Any]:
    """The fields of a user by which they are found: every way of storing one sets them all."""
    return {
        "login_key": login_key(user_name),
        "email_key": email_key(email, org_id),
        "address_key": login_key(email.address) if email else None,
        "display_key": login_key(profile.display_name),
    }


def login_names(
    organization: Organization, user_name: str, email: Email | None
) -> tuple[set[str], set[str]]:
    """The keys by which such a user signs in: those of the name, and that of the address.

    The latter may be of the organization alone: `email_key` tells.
    """
    name = login_key(user_name)
    domain = organization.primary_domain
    at_home = {f"{name}@{domain}", f"{name}@{login_key(domain_names.shown(domain))}"}
    is_name = email is not None and email_key(email, organization.id) is not None
    return {name} | at_home, {login_key(email.address)} if email and is_name else set()


async def is_held_elsewhere(service: Service, org_id: str, key: str) -> bool:
    """Whether somebody of another organization has proven that this address is theirs."""
    found = await _by_email(service, key)  # those of one address are of one organization
    return any(holder.org_id != org_id for holder in found)


async def find_by_login_name(
    service: Service, typed: str, org_id: str | None = None
) -> User | None:
    """The user of a user name, of user name@primary domain, or of a verified e-mail address.

    An address counts when exactly one user holds it; one that only an organization has called
    verified counts where this organization (`org_id`) is signed in to, unless somebody has proven
    that it is theirs. Every look-up is made for every name, so that time doesn't tell which names
    exist.
    """
    typed = typed.strip()
    if not typed or len(typed) > _MAX_TYPED or "\0" in typed or _SCOPE in typed:
        return None
    key = login_key(typed)
    by_name, by_domain, proven, asserted, owner = await asyncio.gather(
        _by_key(service, key),
        _by_domain(service, typed),
        _by_email(service, key),
        _by_email(service, scoped_key(key, org_id or "")),
        domain_owner(service, typed),
    )
    by_email = _only(proven) if proven else _only(asserted)
    home = owner or (None if proven or by_domain else org_id)
    if by_name and by_domain and by_name.org_id != by_domain.org_id:
        return by_domain  # the domain is that organization's own, the other's name came before it
    if by_name and by_email and by_email.org_id == home != by_name.org_id:
        return by_email  # likewise, and in its own organization an address comes before strangers
    return by_name or by_domain or by_email


def _only(holders: list[User]) -> User | None:
    return holders[0] if len(holders) == 1 else None


async def domain_owner(service: Service, name: str) -> str | None:
    """The id of the organization to which the domain of "name@domain" belongs, if any."""
    domain = name.rpartition("@")[2]
    page = await service.store.find(DOMAINS, {"verified_key": domain_names.key(domain)}, limit=1)
    return page.records[0].org_id if page.records and "@" in name else None


async def _by_key(service: Service, key: str) -> User | None:
    page = await service.store.find(USERS, {"login_key": key}, limit=1)
    return page.records[0] if page.records else None


async def _by_domain(service: Service, typed: str) -> User | None:
    name, _, domain = typed.rpartition("@")
    user, organizations = await asyncio.gather(
        _by_key(service, login_key(name or typed)),
        service.store.find(ORGANIZATIONS, {"primary_domain": domain_names.key(domain)}, limit=1),
    )
    ids = [organization.id for organization in organizations.records]
    return user if name and user and user.org_id in ids else None


async def _by_email(service: Service, key: str) -> list[User]:
    """Those who hold the address, two at most."""
    return (await service.store.find(USERS, {"email_key": key}, limit=2)).records


async def find_subject(service: Service, user_id: str) -> Subject | None:
    """The user with their organization and the instance, whatever their state."""
    user = await service.store.get(USERS, user_id)
    return await subject_of(service, user) if user else None


async def unlocked(service: Service, subject: Subject) -> Subject:
    """The subject as they are now: active again when the time of a lock has passed."""
    user = await lock_ends.lifted(service, subject.user)
    return structs.replace(subject, user=user)


def staying(user: User) -> Update:
    """A guard that the user, as they were read, is still there: for what is made for them."""
    return Update(USERS, user.id, expect={"created_at": user.created_at})


async def subject_of(service: Service, user: User) -> Subject | None:
    """The user, as it was read, with their organization and the instance."""
    organization, instance = await service.store.get_many(
        [(ORGANIZATIONS, user.org_id), (INSTANCES, INSTANCE_ID)]
    )
    if organization is None or instance is None:
        return None
    return Subject(instance=instance, organization=organization, user=user)
