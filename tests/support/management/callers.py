"""Callers of the management API: service users with a role and a token, and their answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import msgspec

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.identity.users import memberships, org_domains, organizations
from idp.identity.users import personal_access_tokens as user_personal_access_tokens
from idp.identity.users.subjects import Subject
from idp.records import (
    INSTANCE_ID,
    INSTANCES,
    MEMBERSHIPS,
    PATS,
    USERS,
    Profile,
    User,
)
from idp.start import admin_pat
from tests.support.browsers.visitor import Page, Visitor

JSON = {"Content-Type": "application/json"}


@dataclass
class Caller:
    """A caller with a token. `user_id` is None for the instance's owner."""

    visitor: Visitor
    token: str | None
    user_id: str | None = None

    async def get(self, path: str, **headers) -> Page:
        return await self.request("GET", path, None, **headers)

    async def post(self, path: str, body: object, **headers) -> Page:
        """Sends `body` as JSON; bytes are sent unchanged."""
        return await self.request("POST", path, body, **headers)

    async def request(self, method: str, path: str, body: object, **headers) -> Page:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        if body is None:
            return await self.visitor.request(method, path, headers=sent)
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return await self.visitor.request(method, path, content=data, headers={**JSON, **sent})


async def instance_owner(server, visitor) -> Caller:
    """The IAM_OWNER that an unattended start creates."""
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    return Caller(visitor, await admin_pat.ensure(server.service, instance, None))


async def new_organization(server, domain: str):
    """An organization without users."""
    service, now = server.service, server.clock.now()
    made = organizations.new(service, domain, domain, now)
    await server.store.commit(*org_domains.insertion(service, made, "a test", now))
    return made


async def new_caller(server, visitor, organization, *roles: str, everywhere=False) -> Caller:
    """A service user of the organization who manages it (or the instance) in these roles."""
    service, random, now = server.service, server.service.random, server.clock.now()
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    user = User(
        id=random.id(),
        org_id=organization.id,
        kind="machine",
        user_name=f"script-{random.id()}",
        login_key=f"script-{random.id()}",
        stamp=random.token(64),
        profile=Profile(display_name="Script"),
        created_at=now,
        changed_at=now,
    )
    user.login_key, user.display_key = user.user_name.lower(), "script"
    writes = events.insertion(random, USERS, user, AuditEntry("user.created", "a test", now))
    if roles:
        held = memberships.new(user.id, None if everywhere else organization.id, roles, now)
        writes += events.insertion(
            random, MEMBERSHIPS, held, AuditEntry("membership.created", "a test", now)
        )
    subject = Subject(instance=instance, organization=organization, user=user)
    pat, token = user_personal_access_tokens.new(
        random, service.config.vendor, subject, now, now + timedelta(days=1)
    )
    writes += events.insertion(random, PATS, pat, AuditEntry("pat.created", "a test", now))
    await server.store.commit(*writes)
    return Caller(visitor, token, user.id)


def refused(page: Page, status: int, code: int) -> dict[str, str]:
    """Checks the form of an error body; returns its error codes by their paths."""
    assert page.status == status, page.text
    assert page.headers["Content-Type"] == "application/json"
    body = page.json()
    assert set(body) == {"code", "message", "details"}
    assert body["code"] == code
    assert body["message"]
    *details, request = body["details"]
    assert request["requestId"] == page.headers["X-Request-Id"]
    assert all(one["@type"].startswith("type.googleapis.com/") for one in details)
    return {one.get("field", ""): one["id"] for one in details}


def is_admitted(page):
    """Whether the status is 200, or the refusal is due to an invented code, to a state that is
    already reached, or to mail without a mail server."""
    if page.status == 400 and page.json()["code"] == 9:
        return refused(page, 400, 9) in ({"": "organization.state"}, {"": "mail.off"})
    if page.status == 400:
        return "verificationCode" in refused(page, 400, 3)
    return page.status == 200
