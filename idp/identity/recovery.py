"""A way back in: a new one-time password for somebody who has lost theirs."""

from __future__ import annotations

from datetime import datetime, timedelta

from idp import events
from idp.errors import NotFound
from idp.identity import password_change, users
from idp.records import INSTANCE_ID, INSTANCES, USERS, Password, User
from idp.service import Service
from storage import Write


async def reset_password(service: Service, login_name: str, *, actor: str) -> str:
    """The one-time password; every session and token of the user has ended. Raises NotFound."""
    user = await users.find_by_login_name(service, login_name)
    if user is None or user.kind != "human":
        raise NotFound(f"no person has the login name {login_name}")
    password, now = service.random.one_time_password(), service.clock.now()
    writes = await one_time(service, user, password, now, actor)
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is not None:
        writes += password_change.forget_first_password(
            service, instance, user.id, actor=actor, now=now
        )
    await service.store.commit(*writes)
    return password


async def one_time(
    service: Service, user: User, password: str, now: datetime, actor: str
) -> list[Write]:
    """The writes that replace a user's password by a one-time one."""
    expires_at = now + timedelta(seconds=service.config.one_time_password_seconds)
    new = Password(
        hash=await service.hasher.hash(password),
        changed_at=now,
        must_change=True,
        expires_at=expires_at,
    )
    changes = {"password": new, "stamp": service.random.token(bits=64), "changed_at": now}
    type = "user.password_reset"
    return events.update(service.random, USERS, user, changes, type, actor, now)
