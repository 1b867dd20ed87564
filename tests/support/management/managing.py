"""Projects and applications as their owner makes them over HTTP, for tests of what becomes of
them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.support.management.callers import Caller, instance_owner
from tests.support.protocol.relying_party import RelyingParty
from tests.support.service import Server

PATH = "/management/v1/projects"
CALLBACK = "http://localhost:3000/cb"
REFRESHING = ["OIDC_GRANT_TYPE_AUTHORIZATION_CODE", "OIDC_GRANT_TYPE_REFRESH_TOKEN"]


@dataclass
class Shop:
    """A project with an application that users sign in to, and the caller who manages both."""

    server: Server
    owner: Caller
    path: str
    app: str
    made: dict

    @property
    def id(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def party(self) -> RelyingParty:
        made = self.made
        return RelyingParty(self.server.issuer, made["clientId"], made["clientSecret"], CALLBACK)

    async def step(self, name: str, path: str | None = None):
        return await self.owner.post(f"{path or self.path}/{name}", {})

    async def another(self, name: str = "Other") -> dict:
        """The answer to the creation of a further application."""
        body = {"name": name, "redirectUris": [CALLBACK], "grantTypes": REFRESHING}
        page = await self.owner.post(f"{self.path}/apps/oidc", body)
        assert page.status == 200, page.text
        return page.json()


async def make_shop(server, visitor) -> Shop:
    owner = await instance_owner(server, visitor)
    path = f"{PATH}/{(await owner.post(PATH, {'name': 'Shop'})).json()['id']}"
    shop = Shop(server, owner, path, "", {})
    shop.made = await shop.another("Web shop")
    shop.app = f"{path}/apps/{shop.made['appId']}"
    return shop


@pytest.fixture
def shop(io_loop, server, visitor) -> Shop:
    return io_loop.run_sync(lambda: make_shop(server, visitor))


async def has_ended(shop: Shop, browser, tokens: dict) -> bool:
    """Whether the tokens of the shop's application are refused, old ones and new ones."""
    userinfo = await shop.party.userinfo(browser, tokens["access_token"])
    refreshed = await shop.party.refresh(browser, tokens["refresh_token"])
    return userinfo.status == 401 and refreshed.status in (400, 401)
