"""Where a relying party's developer makes mistakes: an application, people, and what they got."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.support.browsers.visitor import Page, Visitor
from tests.support.protocol.relying_party import RelyingParty
from tests.support.service import Server

CALLBACK = "https://client.example/cb"
GOODBYE = "https://client.example/bye"
LOCAL = "http://127.0.0.1:8080/cb"
APP = "https://client.example/app/"
FIND = "https://client.example/find?tenant=1"
AUTHORIZE = "/oauth/v2/authorize"
TOKEN = "/oauth/v2/token"
USERINFO = "/oidc/v1/userinfo"
END_SESSION = "/oidc/v1/end_session"


@dataclass
class World:
    """A service, a browser at it, and the application `wiki`."""

    server: Server
    visitor: Visitor
    wiki: RelyingParty
    seen: dict[str, str] = field(default_factory=dict)

    @classmethod
    async def make(cls, server: Server, visitor: Visitor) -> World:
        return cls(server, visitor, await register(server, "Wiki"))

    async def authorize(self, party: RelyingParty | None = None, **changes) -> Page:
        """Send the browser with a request that is right but for the changes."""
        return await self.visitor.get((party or self.wiki).authorize_url(**changes))

    async def code(self, party: RelyingParty | None = None, **changes) -> str:
        """A fresh code of the demo user."""
        party = party or self.wiki
        page = await self.visitor.get(party.authorize_url(**changes))
        if "code" not in page.answer:
            page = await party.sign_in(self.visitor, *self.server.user, **changes)
        return page.answer["code"]

    async def tokens(self, party: RelyingParty | None = None, **changes) -> dict:
        party = party or self.wiki
        redeemed = await party.redeem(self.visitor, await self.code(party, **changes))
        return redeemed.json()

    async def spend(self, tokens: dict) -> None:
        """Use a refresh token twice: its family dies."""
        for _ in range(2):
            await self.wiki.refresh(self.visitor, tokens["refresh_token"])

    async def another(self, **changes) -> RelyingParty:
        """Another application, whose id is `{other}` in sentences."""
        party = await register(self.server, "Other", **changes)
        self.seen["other"] = party.client_id
        return party

    def filled(self, sentence: str) -> str:
        """The sentence with the ids of this world."""
        return sentence.format(wiki=self.wiki.client_id, issuer=self.server.issuer, **self.seen)


async def register(server: Server, name: str, **changes) -> RelyingParty:
    values = {
        "redirect_uris": [CALLBACK, LOCAL, APP, FIND],
        "post_logout_redirect_uris": [GOODBYE],
    } | changes
    return await server.register(name, **values)


@dataclass(frozen=True)
class Mistake:
    """A mistake, the check that finds it, and the sentence that says what it is.

    `shown` is what the explain page says, for those that have one.
    """

    name: str
    check: str
    sentence: str
    make: Callable[[World], Awaitable[Page]]
    shown: tuple[str, ...] = ()
