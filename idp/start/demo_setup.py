"""The demonstration application and its user, which are active with a loopback issuer only."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Literal

from idp.audit import events
from idp.audit.events import AuditEntry, Sequenced
from idp.config.settings import Config
from idp.foundation import opaque_tokens
from idp.foundation.opaque_tokens import Confidential
from idp.identity.users import lookup as user_lookup
from idp.management.projects import apps
from idp.records import (
    APPLICATIONS,
    INSTANCES,
    USERS,
    Address,
    Application,
    Demo,
    Email,
    Instance,
    Organization,
    Password,
    Phone,
    Profile,
    Project,
    User,
    sealed_fields,
)
from idp.service import Service
from idp.start import first_start
from storage import Collection, Conflict, Stale, Write

PATH: Final = "/demo"
CALLBACK: Final = "/demo/callback"
_SECRET: Final = sealed_fields.DEMO_CLIENT_SECRET.purpose
_PASSWORD: Final = sealed_fields.DEMO_PASSWORD.purpose
_DEMO_USER: Final = "demo"
_TRANSITIONS: Final = {
    "active": (("inactive",), "reactivated"),
    "inactive": (("active", "suspended"), "deactivated"),
}


class DemoDescription(Confidential, frozen=True):
    """The demo as the announcement of a start describes it; the same at every start.

    `password` is None once the demo's user has chosen another one.
    """

    client_id: str
    client_secret: str
    redirect_uri: str
    post_logout_redirect_uri: str
    url: str
    login_name: str
    password: str | None


async def ensure(service: Service, instance: Instance) -> DemoDescription:
    """Creates the demo if it is missing, activates it, adapts its addresses to the issuer, and
    returns its description.
    """
    demo = instance.demo or await _create(service, instance)
    await _switch(service, demo, "active")
    await _follow_issuer(service, demo)
    user = await service.store.get(USERS, demo.user_id)
    base = service.config.issuer
    return DemoDescription(
        client_id=demo.client_id,
        client_secret=client_secret(service, demo),
        redirect_uri=base + CALLBACK,
        post_logout_redirect_uri=base + PATH,
        url=base + PATH,
        login_name=user.user_name if user else _DEMO_USER,
        password=_password(service, demo, user),
    )


async def switch_off(service: Service, instance: Instance) -> None:
    """Deactivates the demo application and its user."""
    if instance.demo is not None:
        await _switch(service, instance.demo, "inactive")


async def _switch(service: Service, demo: Demo, state: Literal["active", "inactive"]) -> None:
    """Sets the state of the application and its user, unless they have it.

    The new stamps revoke everything that was issued to them before, also after a later activation.
    """
    client, user = await service.store.get_many(
        [(APPLICATIONS, demo.client_id), (USERS, demo.user_id)]
    )
    other_states, verb = _TRANSITIONS[state]
    writes: list[Write] = []
    for collection, record, kind in ((APPLICATIONS, client, "application"), (USERS, user, "user")):
        if record is not None and record.state in other_states:
            stamp, now = service.random.token(bits=64), service.clock.now()
            changes = {"state": state, "stamp": stamp, "changed_at": now}
            writes += _change(service, collection, record, changes, f"{kind}.{verb}")
    if not writes:
        return
    try:
        await service.store.commit(*writes)
    except Stale:
        # Another start did so, or a record was changed: check the states again.
        await _switch(service, demo, state)


def _password(service: Service, demo: Demo, user: User | None) -> str | None:
    if user is None or user.password is None or user.password.changed_at > user.created_at:
        return None
    return service.master_key.open(demo.sealed_password, _PASSWORD).decode()


def client_secret(service: Service, demo: Demo) -> str:
    """Returns the demo application's client secret, decrypted."""
    return service.master_key.open(demo.sealed_client_secret, _SECRET).decode()


async def _create(service: Service, instance: Instance) -> Demo:
    organization = await first_start.find_default_organization(service, instance)
    project = await first_start.find_default_project(service, organization)
    secret, password = service.random.token(), service.random.one_time_password()
    client = _client(service, project, secret)
    user = await _user(service, organization, password)
    demo = Demo(
        client_id=client.id,
        sealed_client_secret=service.master_key.seal(secret, _SECRET),
        user_id=user.id,
        sealed_password=service.master_key.seal(password, _PASSWORD),
    )
    now = service.clock.now()
    writes = _change(service, INSTANCES, instance, {"demo": demo}, "instance.demo_made")
    writes += first_start.creation_writes(
        service, APPLICATIONS, client, "application.created", now
    )
    writes += first_start.creation_writes(
        service, USERS, user, "user.created", now, kind=user.kind
    )
    try:
        await service.store.commit(*writes)
    except (Conflict, Stale):  # another process was faster, usually with the same change
        instance = await first_start.ensure_instance(service)
        return instance.demo or await _create(service, instance)
    return demo


def _change(
    service: Service,
    collection: Collection[Any],
    record: Sequenced,
    changes: Mapping[str, object],
    type: str,
) -> list[Write]:
    now = service.clock.now()
    return events.update(
        service.random, collection, record, changes, AuditEntry(type, first_start.ACTOR, now)
    )


def _client(service: Service, project: Project, secret: str) -> Application:
    now = service.clock.now()
    return Application(
        id=service.random.id(),
        project_id=project.id,
        org_id=project.org_id,
        name="Demo application",
        auth_method="client_secret_basic",
        **_addresses(service.config),
        grant_types=["authorization_code", "refresh_token"],
        secret_hash=opaque_tokens.digest(secret),
        stamp=service.random.token(bits=64),
        created_at=now,
        changed_at=now,
        state=apps.inherited_state(project),
    )


async def _user(service: Service, organization: Organization, password: str) -> User:
    now = service.clock.now()
    name = _DEMO_USER
    if await user_lookup.find_by_login_name(service, name):
        name = f"{_DEMO_USER}-{service.random.id()}"  # another user has this name
    user = first_start.new_user(service, organization, "human", name, "Dana Demo", now)
    user.profile = Profile(display_name="Dana Demo", given_name="Dana", family_name="Demo")
    user.email = Email(address="dana@example.com", is_verified=True, verified_by="instance")
    user.email_key = user.address_key = "dana@example.com"
    user.family_key = "demo"
    user.phone = Phone(number="+15555550100")
    user.address = Address(locality="Springfield", country="US")
    user.password = Password(hash=await service.hasher.hash(password), changed_at=now)
    return user


async def _follow_issuer(service: Service, demo: Demo) -> None:
    """Updates the demo's registered addresses after a start with another issuer, such as another
    port.
    """
    client = await service.store.get(APPLICATIONS, demo.client_id)
    addresses = _addresses(service.config)
    if client is None or client.redirect_uris == addresses["redirect_uris"]:
        return
    changes = {**addresses, "changed_at": service.clock.now()}
    with suppress(Stale):  # another start updated them concurrently
        await service.store.commit(
            *_change(service, APPLICATIONS, client, changes, "application.changed")
        )


def _addresses(config: Config) -> dict[str, Any]:
    return {
        "redirect_uris": [config.issuer + CALLBACK],
        "post_logout_redirect_uris": [config.issuer + PATH],
        "home_url": config.issuer + PATH,
    }
