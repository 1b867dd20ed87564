"""The first start: everything that a new installation needs, created once.

All of it is one unit of writes with the record of the installation. So a process that is killed in
between leaves nothing behind, and of two concurrent starts one succeeds and the other finds its
records.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Final

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.foundation.opaque_tokens import Confidential
from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships, org_domains, organizations
from idp.identity.users.memberships import IAM_OWNER, ORG_OWNER
from idp.keys import key_ring
from idp.records import (
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    PROJECTS,
    SIGNING_KEYS,
    USERS,
    FirstAdmin,
    Instance,
    Organization,
    Password,
    Profile,
    Project,
    User,
    sealed_fields,
)
from idp.service import Service
from idp.start import master_keys
from storage import Collection, Conflict, Reader, Update, Write

PAGE: Final = "/ui/setup"  # replaces a one-time password without an application
ACTOR: Final = "set-up"
_ADMIN_PASSWORD: Final = sealed_fields.FIRST_ADMIN_PASSWORD.purpose


class Admin(Confidential, frozen=True):
    """The first administrator as the announcement of a start describes it.

    `password` is the one-time password; None once it was used or has expired.
    """

    login_name: str
    password: str | None


async def ensure_instance(service: Service) -> Instance:
    """Returns the record of the installation, created now if this store is new.

    Raises ConfigError if the store was created with another master key.
    """
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is None:
        with suppress(Conflict):  # another process was faster; its records are read below
            await service.store.commit(*await _first_writes(service))
        instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is None:
        raise LookupError("the instance record disappeared while it was created")
    master_keys.check(instance, service.master_key)
    return instance


async def last_issuer(store: Reader) -> str:
    """Returns the issuer that the store was last served with.

    It is empty if the store has no installation, or was last served by an older program, which
    recorded none.
    """
    instance = await store.get(INSTANCES, INSTANCE_ID)
    return instance.issuer if instance else ""


async def store_issuer(service: Service, instance: Instance) -> None:
    """Stores the issuer of this start in the record of the installation, for commands that are run
    without that setting; does nothing in test mode.
    """
    issuer = service.config.issuer
    if not service.config.test and instance.issuer != issuer:
        await service.store.commit(Update(INSTANCES, INSTANCE_ID, set={"issuer": issuer}))


async def _first_writes(service: Service) -> list[Write]:
    random, now = service.random, service.clock.now()
    signing_keys = [
        # An RSA key takes long to create.
        await asyncio.to_thread(key_ring.new_signing_key, service.master_key, random, now, state)
        for state in ("active", "next")
    ]
    sealing_keys = [
        key_ring.new_sealing_key(service.master_key, random, now, state)
        for state in ("active", "next")
    ]
    domain = organizations.installation_domain(service)
    organization = organizations.new(service, "Default", domain, now)
    password = random.one_time_password()
    admin = await _admin(service, organization, password, now)
    instance = Instance(
        id=INSTANCE_ID,
        stamp=random.token(bits=64),
        key_check=service.master_key.fingerprint(),
        org_id=organization.id,
        created_at=now,
        first_admin=_first_admin(service, admin.id, password, now),
    )
    project = _project(service, organization, now)
    admin_memberships = [
        memberships.new(admin.id, None, [IAM_OWNER], now),
        memberships.new(admin.id, organization.id, [ORG_OWNER], now),
    ]
    writes = creation_writes(service, INSTANCES, instance, "instance.created", now)
    writes += org_domains.insertion(service, organization, ACTOR, now)
    writes += creation_writes(service, USERS, admin, "user.created", now, kind=admin.kind)
    writes += creation_writes(service, PROJECTS, project, "project.created", now)
    for each in admin_memberships:
        writes += memberships.insertion(random, each, ACTOR, now)
    for key in (*signing_keys, *sealing_keys):
        writes += creation_writes(service, SIGNING_KEYS, key, "key.made", now)
    return writes


def creation_writes(
    service: Service,
    collection: Collection[Any],
    record: Any,
    type: str,
    now: datetime,
    **payload: str,
) -> list[Write]:
    """Returns the writes that insert a record, with its creation event of the given type and
    payload; the caller commits them. The event names the start as its author.
    """
    return events.insertion(
        service.random, collection, record, AuditEntry(type, ACTOR, now, payload=payload)
    )


async def _admin(
    service: Service, organization: Organization, password: str, now: datetime
) -> User:
    expires_at = now + timedelta(seconds=service.config.one_time_password_seconds)
    user = new_user(
        service, organization, "human", service.config.admin_login_name, "Administrator", now
    )
    user.password = Password(
        hash=await service.hasher.hash(password),
        changed_at=now,
        must_change=True,
        expires_at=expires_at,
    )
    return user


def new_user(
    service: Service,
    organization: Organization,
    kind: str,
    user_name: str,
    display_name: str,
    now: datetime,
) -> User:
    """Returns a new record of a user without a password; the caller stores it. `kind` is `human`
    or `machine`.
    """
    profile = Profile(display_name=display_name)
    return User(
        id=service.random.id(),
        org_id=organization.id,
        kind="human" if kind == "human" else "machine",
        user_name=user_name,
        stamp=service.random.token(bits=64),
        profile=profile,
        created_at=now,
        changed_at=now,
        **user_lookup.keys(user_name, None, profile, organization.id),
    )


async def describe_admin(service: Service, instance: Instance) -> Admin:
    """Returns the first administrator's login name, and the one-time password if it can still be
    used."""
    first_admin = instance.first_admin
    if first_admin is None:
        return Admin(login_name=service.config.admin_login_name, password=None)
    user = await service.store.get(USERS, first_admin.user_id)
    if user is None:
        return Admin(login_name=service.config.admin_login_name, password=None)
    if first_admin.expires_at <= service.clock.now():
        return Admin(login_name=user.user_name, password=None)
    password = service.master_key.open(first_admin.sealed_password, _ADMIN_PASSWORD).decode()
    return Admin(login_name=user.user_name, password=password)


def _first_admin(service: Service, user_id: str, password: str, now: datetime) -> FirstAdmin:
    return FirstAdmin(
        user_id=user_id,
        sealed_password=service.master_key.seal(password, _ADMIN_PASSWORD),
        expires_at=now + timedelta(seconds=service.config.one_time_password_seconds),
    )


async def is_link_used(service: Service) -> bool:
    """Returns whether the first administrator has replaced the one-time password that the set-up
    link contains.
    """
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    return instance is not None and instance.first_admin is None


async def find_default_organization(service: Service, instance: Instance) -> Organization:
    """Returns the organization that the first start created."""
    organization = await service.store.get(ORGANIZATIONS, instance.org_id)
    if organization is None:
        raise LookupError("the default organization does not exist")
    return organization


async def find_default_project(service: Service, organization: Organization) -> Project:
    """Returns the project of the organization that is the first by name; creates one if it has
    none.
    """
    page = await service.store.find(PROJECTS, {"org_id": organization.id}, order="name", limit=1)
    if page.records:
        return page.records[0]
    now = service.clock.now()
    project = _project(service, organization, now)
    await service.store.commit(
        *creation_writes(service, PROJECTS, project, "project.created", now)
    )
    return project


def _project(service: Service, organization: Organization, now: datetime) -> Project:
    return Project(
        id=service.random.id(),
        org_id=organization.id,
        name="Default",
        created_at=now,
        changed_at=now,
    )
