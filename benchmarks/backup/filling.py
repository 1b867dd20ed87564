"""Fills an installation with people: each with an account, a session and the events of both."""

from __future__ import annotations

from pathlib import Path

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.config.settings import Config
from idp.identity.sessions import browsers
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users.subjects import Subject
from idp.records import SESSIONS, USERS, Email, Instance, Organization, Password, Profile
from idp.service import Service
from idp.start import bootstrap, first_start
from storage import Insert, Write

# As long as one of argon2id.
_HASH = "$argon2id$v=19$m=19456,t=2,p=1$" + "c" * 22 + "$" + "d" * 43
_BATCH_SIZE = 2_000


async def fill(directory: Path, people: int) -> Config:
    """Creates an installation with `people` people in the directory; returns its settings."""
    config = Config(data=str(directory), port=0)
    service = await bootstrap.open_service(config)
    try:
        instance = await first_start.ensure_instance(service)
        organization = await first_start.find_default_organization(service, instance)
        for start in range(0, people, _BATCH_SIZE):
            numbers = range(start, min(start + _BATCH_SIZE, people))
            units = [_person(service, instance, organization, n) for n in numbers]
            assert not any(await service.store.commit_each(units))
    finally:
        await bootstrap.close_service(service)
    return config


def _person(
    service: Service, instance: Instance, organization: Organization, n: int
) -> list[Write]:
    now, name = service.clock.now(), f"person-{n}"
    user = first_start.new_user(service, organization, "human", name, name, now)
    user.profile = Profile(display_name=name, given_name="Some", family_name="Body")
    user.email = Email(address=f"{name}@example.com", is_verified=True)
    user.email_key = f"{name}@example.com"
    user.password = Password(hash=_HASH, changed_at=now)
    subject = Subject(instance=instance, organization=organization, user=user)
    browser = browsers.new(service).browser
    session = session_lifetime.new(service.random, service.config, browser, subject, now)
    entry = AuditEntry("user.human.added", user.id, now, payload={"userName": name})
    return [*events.insertion(service.random, USERS, user, entry), Insert(SESSIONS, session)]
