"""The records that every call of the management API acts on: two organizations, and records of
one.

Records that a call changes (a key that it deletes, a user that it deactivates) are created for
each call."""

from __future__ import annotations

from typing import NamedTuple

from tests.support.management import api_samples
from tests.support.management.api_samples import CALLS, address, bodies, called, filled
from tests.support.management.callers import new_caller, new_organization
from tests.support.samples import MADE


class Target(NamedTuple):
    """A complete call without a caller."""

    method: str
    address: str
    body: dict | None

    async def by(self, caller, **headers):
        return await caller.request(self.method, self.address, self.body, **headers)


class World:
    """`own` has a project, applications, a role, a person, a service user, and enough users
    for members; `other` has no records."""

    def __init__(self, server, visitor, owner):
        self.server, self.visitor, self.owner = server, visitor, owner
        self.n, self.members, self.names = 0, ["nobody"], {}

    async def make(self):
        self.own = await new_organization(self.server, "own.example")
        self.other = await new_organization(self.server, "other.example")
        self.here = {"x-idp-orgid": self.own.id}
        self.project = await self.made("/management/v1/projects", "id", name="P")
        apps = f"/management/v1/projects/{self.project}/apps"
        self.app = await self.made(f"{apps}/oidc", "appId", name="A")
        self.api = await self.made(f"{apps}/api", "appId", name="B")
        self.user = await self.made(
            "/v2/users/human", "userId", **self.body(CALLS["POST /v2/users/human"])
        )
        self.machine = await self.new_machine()
        members = [await new_caller(self.server, self.visitor, self.own) for _ in range(16)]
        self.members = [each.user_id for each in members]
        self.names = {"project": self.project, "role": await self.new_role()}
        return self

    async def made(self, path, id, method="POST", **body):
        """Creates a record as the instance's owner; returns the member `id` of the answer."""
        page = await self.owner.request(method, path, body, **self.here)
        assert page.status == 200, page.text
        return page.json()[id] if id else None

    async def new_machine(self):
        body = self.body(CALLS[f"POST {api_samples.MACHINES}"])
        return await self.made(api_samples.MACHINES, "userId", **body)

    def new_name(self, what):
        self.n += 1
        return f"{what}-{self.n}"

    async def new_role(self):
        path, key = f"/management/v1/projects/{self.project}/roles", self.new_name("role")
        await self.made(path, None, roleKey=key, displayName="R")
        return key

    async def new_member(self, path, role):
        user = await self.new_machine()
        await self.made(path, None, userId=user, roles=[role])
        return user

    async def ids(self, operation):
        """The path parameters of the call, by name."""
        make = MADE.get(called(operation))
        found = {"projectId": self.project, "appId": self.app, "userId": self.user}
        return found | (await make(self) if make else {})

    async def target(self, operation):
        """A call that can be made: the records that it changes exist, and no background task of an
        earlier call is running."""
        await self.server.service.background_tasks.finished()
        ids = await self.ids(operation)
        return Target(operation.method, address(operation, **ids), self.body(operation))

    def body(self, operation):
        of_one = bodies(operation)
        if not of_one:
            return None
        return self.body_of(of_one[0])

    def body_of(self, sample):
        """The sample with unused names."""
        self.n += 1
        member = self.members[self.n % len(self.members)]
        return filled(sample, n=f"w{self.n}", member=member, **self.names)
