"""What is left to do after the first sign-in, as the store knows it: by a few bounded reads."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from idp.identity.users.memberships import IAM_OWNER
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCE_ID,
    INSTANCES,
    MEMBERSHIPS,
    ORGANIZATIONS,
    USERS,
)
from idp.service import Service

_ENOUGH: Final = 2
_MOST_OWNERS: Final = 20
_MOST_SIGN_INS: Final = 50


class Checklist(Struct, frozen=True):
    """What has been done: the first password replaced, an organization and an application made
    beside those of the first start, somebody signed in to one, a second person to own it all, a
    mail server set up."""

    password: bool
    organization: bool
    application: bool
    sign_in: bool
    owner: bool
    mail: bool


async def look(service: Service) -> Checklist:
    """The state of this installation."""
    store = service.store
    instance = await store.get(INSTANCES, INSTANCE_ID)
    demo = instance.demo.client_id if instance and instance.demo else None
    return Checklist(
        password=instance is not None and instance.first_admin is None,
        organization=await store.count(ORGANIZATIONS, up_to=_ENOUGH) > 1,
        application=await store.count(APPLICATIONS, up_to=_ENOUGH) > (demo is not None),
        sign_in=await _has_sign_in(service, demo),
        owner=await _has_two_owners(service),
        mail=service.config.sends_mail,
    )


async def _has_sign_in(service: Service, demo: str | None) -> bool:
    """Whether somebody signed in to another application than the demonstration, of late."""
    page = await service.store.find(AUTHORIZATIONS, limit=_MOST_SIGN_INS)
    return any(one.client_id != demo for one in page.records)


async def _has_two_owners(service: Service) -> bool:
    """Whether two people at least could let each other in again."""
    page = await service.store.find(MEMBERSHIPS, {"org_id": None}, limit=_MOST_OWNERS)
    ids = [one.user_id for one in page.records if IAM_OWNER in one.roles]
    users = await service.store.get_many([(USERS, id) for id in ids])
    people = [one for one in users if one and one.kind == "human" and one.state == "active"]
    return len(people) > 1
