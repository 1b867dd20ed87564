"""Connections over HTTP: a caller that creates them."""

from __future__ import annotations

ORGANIZATION = "/management/v1"
ADMIN = "/admin/v1"


class Connecting:
    """Creates connections in the organization of `caller`, in `org_id`, or (with the prefix ADMIN)
    of the installation."""

    def __init__(self, caller, org_id: str | None = None, prefix: str = ORGANIZATION) -> None:
        self.caller, self.prefix = caller, prefix
        self.headers = {"x-idp-orgid": org_id} if org_id else {}

    async def send(self, method: str, path: str, body: object = None):
        return await self.caller.request(method, self.prefix + path, body, **self.headers)

    async def call(self, method: str, path: str, body: object = None) -> dict:
        page = await self.send(method, path, body)
        assert page.status == 200, page.text
        return page.json()

    async def make(self, kind: str, body: dict) -> str:
        return (await self.call("POST", f"/idps/{kind}", body))["id"]

    async def change(self, kind: str, connection: str, body: dict) -> dict:
        return await self.call("PUT", f"/idps/{kind}/{connection}", body)

    async def shown(self, connection: str) -> dict:
        return (await self.call("GET", f"/idps/templates/{connection}"))["idp"]
