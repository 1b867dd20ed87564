"""Groups over HTTP: a caller that creates and reads them."""

from __future__ import annotations

import secrets

from tests.support.management.api_samples import MACHINES, PROJECTS

GROUPS = "/v2/groups"


class Grouping:
    """Creates groups, users and projects in the organization of `caller`, or in `org_id`."""

    def __init__(self, caller, org_id: str | None = None) -> None:
        self.caller = caller
        self.headers = {"x-idp-orgid": org_id} if org_id else {}

    async def send(self, method: str, path: str, body: object = None):
        return await self.caller.request(method, path, body, **self.headers)

    async def call(self, method: str, path: str, body: object = None) -> dict:
        page = await self.send(method, path, body)
        assert page.status == 200, page.text
        return page.json()

    async def group(self, name: str = "", **more: str) -> str:
        body = {"name": name or f"group-{secrets.token_hex(4)}", **more}
        return (await self.call("POST", GROUPS, body))["id"]

    async def user(self) -> str:
        body = {"userName": f"u-{secrets.token_hex(6)}", "name": "A user"}
        return (await self.call("POST", MACHINES, body))["userId"]

    async def project(self, *keys: str) -> str:
        made = (await self.call("POST", PROJECTS, {"name": "Shop"}))["id"]
        for key in keys:
            body = {"roleKey": key, "displayName": key}
            await self.call("POST", f"{PROJECTS}/{made}/roles", body)
        return made

    async def add(self, group: str, *users: str) -> None:
        await self.call("POST", f"{GROUPS}/{group}/users", {"userIds": list(users)})

    async def remove(self, group: str, user: str):
        return await self.send("DELETE", f"{GROUPS}/{group}/users?userId={user}")

    async def grant(self, group: str, project: str, *keys: str) -> None:
        path = f"{GROUPS}/{group}/grants/{project}"
        await self.call("PUT", path, {"roleKeys": list(keys)})

    async def shown(self, group: str) -> dict:
        return (await self.call("GET", f"{GROUPS}/{group}"))["group"]

    async def members(self, group: str) -> dict[str, list[str]]:
        """The members of a group, each with its sources."""
        found = await self.call("POST", f"{GROUPS}/{group}/users/_search", {})
        return {one["userId"]: one["sources"] for one in found.get("result", [])}
