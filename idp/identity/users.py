"""Users: the names by which they sign in, and how they are found by what a person types.

A user has up to three login names, all compared by `login_key`: the user name, user name@primary
domain of the organization, and a verified e-mail address that nobody else holds.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from typing import Any, Final

from idp import domains
from idp.errors import IdpError
from idp.identity.subjects import Subject
from idp.records import (
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

MAX_NAME_CHARACTERS: Final = 200
_MAX_TYPED: Final = MAX_NAME_CHARACTERS + len("@") + 253  # with a domain (RFC 1035)

# Control characters, and those without a look of their own: zero width, direction, private use;
# and what Unicode calls default-ignorable in other categories.
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
_IGNORABLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


class NameRefused(IdpError):
    """A user name that nobody can have; the message goes on after "the user name"."""

    slug = "user.name_refused"


def login_key(user_name: str) -> str:
    """The form in which a user name is unique: casefold(NFKC)."""
    if user_name.isascii():
        return user_name.lower()  # the same, sooner
    return unicodedata.normalize("NFKC", user_name).casefold()


def email_key(email: Email | None) -> str | None:
    """The form in which an address is a login name; None unless it is verified."""
    return login_key(email.address) if email and email.is_verified else None


def keys(user_name: str, email: Email | None, profile: Profile) -> dict[str, Any]:
    """The fields of a user by which they are found: every way of storing one sets them all."""
    return {
        "login_key": login_key(user_name),
        "email_key": email_key(email),
        "address_key": login_key(email.address) if email else None,
        "display_key": login_key(profile.display_name),
    }


def check_name(user_name: str) -> str:
    """The user name as it was given. Raises NameRefused.

    What looks like another's name, or could not be typed, is nobody's: no invisible characters,
    no spaces around it.
    """
    if _is_hidden(user_name):
        raise NameRefused("holds invisible characters", slug="user.name_invisible")
    if user_name != user_name.strip():
        raise NameRefused("has spaces around it", slug="user.name_spaces")
    if not 0 < len(user_name) <= MAX_NAME_CHARACTERS:
        text = f"must have 1 to {MAX_NAME_CHARACTERS} characters"
        raise NameRefused(text, slug="user.name_length")
    return user_name


def _is_hidden(user_name: str) -> bool:
    if user_name.isascii():
        return not user_name.isprintable()
    hidden = any(unicodedata.category(character) in _INVISIBLE for character in user_name)
    return hidden or _IGNORABLE.search(user_name) is not None


def login_names(
    organization: Organization, user_name: str, email: Email | None
) -> tuple[set[str], set[str]]:
    """The keys by which such a user signs in: those of the name, and that of the address."""
    name, address = login_key(user_name), email_key(email)
    domain = organization.primary_domain
    at_home = {f"{name}@{domain}", f"{name}@{login_key(domains.shown(domain))}"}
    return {name} | at_home, {address} if address else set()


async def is_held_elsewhere(service: Service, org_id: str, key: str) -> bool:
    """Whether somebody of another organization has this address, and it is verified."""
    holder = await _by_email(service, key, most=None)  # those of one address are of one
    return holder is not None and holder.org_id != org_id


async def find_by_login_name(service: Service, typed: str) -> User | None:
    """The user of a user name, of user name@primary domain, or of a verified e-mail address.

    An address counts when exactly one user holds it. Every look-up is made for every name, so
    that time doesn't tell which names exist.
    """
    typed = typed.strip()
    if not typed or len(typed) > _MAX_TYPED or "\0" in typed:
        return None
    key = login_key(typed)
    by_name, by_domain, by_email = await asyncio.gather(
        _by_key(service, key), _by_domain(service, typed), _by_email(service, key)
    )
    if by_name and by_domain and by_name.org_id != by_domain.org_id:
        return by_domain  # the domain is that organization's own, the other's name came before it
    return by_name or by_domain or by_email


async def _by_key(service: Service, key: str) -> User | None:
    page = await service.store.find(USERS, {"login_key": key}, limit=1)
    return page.records[0] if page.records else None


async def _by_domain(service: Service, typed: str) -> User | None:
    name, _, domain = typed.rpartition("@")
    user, organizations = await asyncio.gather(
        _by_key(service, login_key(name or typed)),
        service.store.find(ORGANIZATIONS, {"primary_domain": domains.key(domain)}, limit=1),
    )
    ids = [organization.id for organization in organizations.records]
    return user if name and user and user.org_id in ids else None


async def _by_email(service: Service, key: str, most: int | None = 1) -> User | None:
    """Who holds the address, unless more than `most` do."""
    records = (await service.store.find(USERS, {"email_key": key}, limit=2)).records
    return records[0] if records and (most is None or len(records) <= most) else None


async def find_subject(service: Service, user_id: str) -> Subject | None:
    """The user with their organization and the instance, whatever their state."""
    user = await service.store.get(USERS, user_id)
    return await subject_of(service, user) if user else None


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
