"""Users: how they are found by what a person types."""

from __future__ import annotations

import asyncio
import unicodedata

from idp.identity.subjects import Subject
from idp.records import INSTANCE_ID, INSTANCES, ORGANIZATIONS, USERS, User
from idp.service import Service


def login_key(user_name: str) -> str:
    """The form in which a user name is unique: casefold(NFKC)."""
    return unicodedata.normalize("NFKC", user_name).casefold()


async def find_by_login_name(service: Service, typed: str) -> User | None:
    """The user of a user name, of user name@primary domain, or of a verified e-mail address.

    An address counts when exactly one user holds it. Every look-up is made for every name, so
    that time doesn't tell which names exist.
    """
    key = login_key(typed.strip())
    if not key or len(key) > 400 or "\0" in key:
        return None
    by_name, by_domain, by_email = await asyncio.gather(
        _by_key(service, key), _by_domain(service, key), _by_email(service, key)
    )
    return by_name or by_domain or by_email


async def _by_key(service: Service, key: str) -> User | None:
    page = await service.store.find(USERS, {"login_key": key}, limit=1)
    return page.records[0] if page.records else None


async def _by_domain(service: Service, key: str) -> User | None:
    name, _, domain = key.rpartition("@")
    user, organizations = await asyncio.gather(
        _by_key(service, name or key),
        service.store.find(ORGANIZATIONS, {"primary_domain": domain}, limit=1),
    )
    ids = [organization.id for organization in organizations.records]
    return user if name and user and user.org_id in ids else None


async def _by_email(service: Service, key: str) -> User | None:
    page = await service.store.find(USERS, {"email_key": key}, limit=2)
    return page.records[0] if len(page.records) == 1 else None


async def find_subject(service: Service, user_id: str) -> Subject | None:
    """The user with their organization and the instance, whatever their state."""
    user = await service.store.get(USERS, user_id)
    if user is None:
        return None
    organization, instance = await service.store.get_many(
        [(ORGANIZATIONS, user.org_id), (INSTANCES, INSTANCE_ID)]
    )
    if organization is None or instance is None:
        return None
    return Subject(instance=instance, organization=organization, user=user)
