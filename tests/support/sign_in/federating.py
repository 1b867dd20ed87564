"""Sign-ins by a connection, as a browser without scripts makes them."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, field
from socket import gaierror

from idp.foundation import base64url
from idp.records import DOMAINS, new_domain
from idp.records.connections import CONNECTIONS
from storage import Insert
from tests.support.browsers.visitor import Page, Visitor
from tests.support.management.connecting import Connecting
from tests.support.protocol.relying_party import RelyingParty
from tests.support.sign_in.hostile_provider import CLIENT_ID, CLIENT_SECRET, HostileProvider

ALL = {"isLinkingAllowed": True, "isCreationAllowed": True}
AT_ONCE = {"isCreationAllowed": True, "isAutoCreation": True}
NAMES = {"preferred_username": "ada", "given_name": "Ada", "family_name": "Lovelace"}


def claims_of(token: str) -> dict:
    """The claims of a JWT, whose signature is not checked."""
    return json.loads(base64url.decode(token.split(".")[1]))


def link_of(page: Page, path: str) -> str:
    """The address of a link of the page to this path."""
    return html.unescape(re.search(f'href="({path}[^"]*)"', page.text)[1])


@dataclass
class Federation:
    """A connection to `provider`, offered to the people of `party`."""

    server: object
    connecting: Connecting
    party: RelyingParty
    visitor: Visitor
    provider: HostileProvider
    connection: str = ""
    kind: str = "generic_oidc"
    body: dict = field(default_factory=dict)

    async def make(self, kind: str = "generic_oidc", **settings) -> Federation:
        """Make the connection, by default one that knows the provider by its issuer."""
        self.kind = kind
        self.body = {
            "name": "Corp",
            "clientId": CLIENT_ID,
            "clientSecret": CLIENT_SECRET,
            "providerOptions": ALL,
            **(settings or {"issuer": self.provider.issuer}),
        }
        self.connection = await self.connecting.make(kind, self.body)
        await self.connecting.call("POST", "/policies/login/idps", {"idpId": self.connection})
        return self

    async def change(self, options: dict | None = None, **changes) -> None:
        """Change the connection: some of its options, and other fields."""
        self.body = {**self.body, **changes}
        self.body["providerOptions"] = self.body["providerOptions"] if options is None else options
        await self.connecting.change(self.kind, self.connection, self.body)

    async def verify_domain(self, domain: str) -> None:
        """Make a domain one that the connection's organization has verified."""
        record = await self.server.store.get(CONNECTIONS, self.connection)
        made = new_domain(record.org_id, domain, self.server.clock.now(), is_verified=True)
        await self.server.store.commit(Insert(DOMAINS, made))

    async def begin(self, visitor: Visitor | None = None, **changes) -> Page:
        return await (visitor or self.visitor).open(self.party.authorize_url(**changes))

    async def to_account(self, page: Page, visitor: Visitor | None = None) -> Page:
        """Sign in to the user's account from the page of an identity that waits for one."""
        visitor, (login_name, password) = visitor or self.visitor, self.server.user
        page = await visitor.open(link_of(page, "/ui/login/name"))
        page = await visitor.submit(page, loginName=login_name)
        return await visitor.submit(page, password=password)

    async def leave(self, page: Page, visitor: Visitor | None = None) -> Page:
        """Submits the connection's button; returns the redirect to the provider."""
        form = {**page.hidden, "idp": self.connection}
        url = page.url.replace(page.url.partition("?")[0], f"{self.server.issuer}/ui/login/idp")
        return await (visitor or self.visitor).post(url, form)

    async def come_back(self, left: Page, visitor: Visitor | None = None, **changes) -> Page:
        """Sends the provider's response; returns the page or the redirect at the end."""
        address = self.provider.answer_at(left, **changes)
        return await (visitor or self.visitor).open(address)

    async def sign_in(self, visitor: Visitor | None = None, **changes) -> Page:
        """From the application through the provider."""
        left = await self.leave(await self.begin(visitor, **changes), visitor)
        return await self.come_back(left, visitor)


async def closed_network(host, port):
    """Resolves each name to an address that no connection may reach."""
    return ["169.254.169.254"]


async def unknown_name(host, port):
    """Resolves no name."""
    raise gaierror(-2, "Name or service not known")
