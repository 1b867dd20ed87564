"""Something for every call of the management API to act on: two organizations and what is in one.

What a call uses up (a key that it deletes, a user whom it deactivates) is made anew each time.
"""

from __future__ import annotations

from typing import NamedTuple

from idp.oauth.keys import PUBLISHED_CACHE_SECONDS
from idp.records import SIGNING_KEYS
from tests.support import api_samples
from tests.support.api_samples import SAMPLES, filled, first_alternative
from tests.support.callers import new_caller, new_organization


class Target(NamedTuple):
    """A call that only its caller is missing from."""

    method: str
    address: str
    body: dict | None

    async def by(self, caller, **headers):
        return await caller.request(self.method, self.address, self.body, **headers)


class World:
    """`own` has a project, applications, a role, a person, a service user, and enough users to
    make members of; `other` has nothing."""

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
        self.user = await self.made("/v2/users/human", "userId", **self.body("/v2/users/human"))
        self.machine = await self.new_machine()
        members = [await new_caller(self.server, self.visitor, self.own) for _ in range(16)]
        self.members = [each.user_id for each in members]
        self.names = {"project": self.project, "role": await self.new_role()}
        return self

    async def made(self, path, id, method="POST", **body):
        """The id (by its name in the answer) of what the instance's owner makes there."""
        page = await self.owner.request(method, path, body, **self.here)
        assert page.status == 200, page.text
        return page.json()[id] if id else None

    async def new_machine(self):
        body = self.body(api_samples.MACHINES)
        return await self.made(api_samples.MACHINES, "userId", **body)

    async def new_role(self):
        self.n += 1
        path, key = f"/management/v1/projects/{self.project}/roles", f"role-{self.n}"
        await self.made(path, None, roleKey=key, displayName="R")
        return key

    async def new_grant(self):
        user = await self.new_machine()
        body = {"projectId": self.project, "roleKeys": [self.names["role"]]}
        return user, await self.made(f"/management/v1/users/{user}/grants", "userGrantId", **body)

    async def new_member(self, path, role):
        user = await self.new_machine()
        await self.made(path, None, userId=user, roles=[role])
        return user

    async def new_entry(self):
        self.n += 1
        path = f"/management/v1/users/{self.user}/metadata/key-{self.n}"
        await self.made(path, None, value="cmVk")
        return self.user, f"key-{self.n}"

    async def new_below(self, path, id):
        """The ids of an application's or a service user's new key or token."""
        body = {"publicKey": api_samples.PUBLIC_KEY} if path.endswith("keys") else {}
        return await self.made(path, id, **body)

    async def waiting_key(self):
        """A key that may sign by now, and whose removal leaves another one waiting."""
        self.server.clock.advance(PUBLISHED_CACHE_SECONDS)
        where = {"use": "sig", "state": "next"}
        return [[key.id async for key in self.server.store.scan(SIGNING_KEYS, where)][0]]

    async def waited(self):
        """Until the waiting keys may sign."""
        self.server.clock.advance(PUBLISHED_CACHE_SECONDS)
        return []

    async def signing_key(self):
        found = [one async for one in self.server.store.scan(SIGNING_KEYS) if one.use == "sig"]
        return next(one.id for one in found if one.state == "active")

    async def ids(self, route, method):
        """What the address of the call names."""
        app_keys = f"/management/v1/projects/{self.project}/apps/{self.app}/keys"
        machine = f"/management/v1/users/{self.machine}"
        made = {
            f"{api_samples.ROLES}/([^/]+)": lambda: self._with(self.project, self.new_role()),
            f"{api_samples.APP_KEYS}/([^/]+)": lambda: self._with(
                self.project, self.app, self.new_below(app_keys, "keyId")
            ),
            f"{api_samples.USER_KEYS}/([^/]+)": lambda: self._with(
                self.machine, self.new_below(f"{machine}/keys", "keyId")
            ),
            f"{api_samples.PATS}/([^/]+)": lambda: self._with(
                self.machine, self.new_below(f"{machine}/pats", "tokenId")
            ),
            f"{api_samples.GRANTS}/([^/]+)": self.new_grant,
            api_samples.METADATA: self.new_entry,
            api_samples.MEMBER: lambda: self._with(
                self.new_member(api_samples.MEMBERS, "ORG_OWNER_VIEWER")
            ),
            api_samples.INSTANCE_MEMBER: lambda: self._with(
                self.new_member(api_samples.INSTANCE_MEMBERS, "IAM_OWNER_VIEWER")
            ),
            api_samples.GRANTS: lambda: self._with(self.new_machine()),
            api_samples.ROTATE_KEYS: self.waiting_key,
            api_samples.REMOVE_KEY: self.waiting_key,
            api_samples.STATES: lambda: self._with(self.new_machine()),
            api_samples.ROTATE_KEYS: self.waited,
            api_samples.REMOVE_KEY: lambda: self._with(self.signing_key()),
        }
        if route in made:
            return await made[route]()
        if route == api_samples.SECRET and method == "DELETE":
            await self.made(f"{machine}/secret", None, method="PUT")
        is_api = route == api_samples.API_CONFIG
        of_machines = (api_samples.SECRET, api_samples.PATS, api_samples.USER_KEYS)
        user = self.machine if route in of_machines else self.user
        return [user] if "/users/" in route else [self.project, self.api if is_api else self.app]

    async def _with(self, *ids):
        return [each if isinstance(each, str) else await each for each in ids]

    async def target(self, route, method):
        """A call that could be made: what it uses up is there, once."""
        address = first_alternative(route)
        for id in await self.ids(route, method):
            address = address.replace("([^/]+)", id, 1)
        return Target(method, address, self.body(route, method))

    def body(self, route, method="POST"):
        self.n += 1
        if route not in SAMPLES or SAMPLES[route].method != method:
            return None
        member = self.members[self.n % len(self.members)]
        return filled(SAMPLES[route].bodies[0], n=f"w{self.n}", member=member, **self.names)
