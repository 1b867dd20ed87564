"""What genuine requests are made of: applications of every method, people, and what they got.

All of it is genuine and fresh after `renew`; what hostile requests spend or end is made anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

from idp.foundation import opaque_tokens
from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships
from idp.records import ORGANIZATIONS, USER_KEYS, USERS
from storage import Update
from tests.fuzz.request import Pair, Request, pairs
from tests.support.browsers.visitor import Page, Visitor
from tests.support.management.callers import new_caller
from tests.support.protocol import device, exchanging
from tests.support.protocol.asserting import ASSERTION_TYPE, Asserting, register_key, sign_raw
from tests.support.protocol.relying_party import RelyingParty
from tests.support.service import Server

CALLBACK: Final = "https://client.example/cb?tenant=1"
GRANTS: Final = [
    *["authorization_code", "implicit", "refresh_token", "client_credentials"],
    *[device.GRANT, exchanging.GRANT],
]
TYPES: Final = ["code", "id_token", "id_token token"]
SECRET: Final = "a-secret-of-a-service-user"
# Everybody comes from one address, and is wrong most of the time.
SETTINGS: Final = {
    "known_networks": ("127.0.0.0/8",),
    "sign_in_failures_before_delay": 10_000_000,
    "refused_credentials_limit": 1_000_000,
}


@dataclass
class Client:
    """An application, how it proves itself, and what it holds now."""

    party: RelyingParty
    method: str
    key: Asserting | None = None
    held: dict[str, str] = field(default_factory=dict)

    def proof(self) -> tuple[dict[str, str], tuple[Pair, ...]]:
        """The form fields and the headers that prove who it is."""
        if self.key is not None:
            assertion = signed(self.key, self.key.claims())
            return {"client_assertion_type": ASSERTION_TYPE, "client_assertion": assertion}, ()
        if self.method == "client_secret_basic":
            return {}, ((b"Authorization", self.party.basic()["Authorization"].encode()),)
        secret = {"client_secret": self.party.client_secret} if self.party.client_secret else {}
        return {"client_id": self.party.client_id} | secret, ()

    def post(self, kind: str, path: str, **form: str) -> Request:
        """A request that it sends by itself."""
        proof, headers = self.proof()
        own = pairs(form | proof)
        return Request(f"{kind} by {self.method}", b"POST", path.encode(), (), own, headers)


@dataclass
class World:
    """A service with all that it serves. `forms` are the pages' forms, as they could be sent."""

    server: Server
    visitor: Visitor
    clients: dict[str, Client] = field(default_factory=dict)
    forms: list[Request] = field(default_factory=list)
    machine: Any = None
    machine_key: Any = None
    pat: str = ""
    assertion: str = ""

    @classmethod
    async def make(cls, server: Server, visitor: Visitor) -> World:
        world = cls(server, visitor)
        await exchanging.switch(server, allows_token_exchange=True, allows_impersonation=True)
        for method in ("client_secret_basic", "client_secret_post", "none", "private_key_jwt"):
            world.clients[method] = await world._client(method)
        world.clients["third party"] = await world._client("none", is_third_party=True)
        await world._make_machine()
        user = await user_lookup.find_by_login_name(server.service, server.user[0])
        await memberships.grant(
            server.service, user.id, None, "IAM_ADMIN_IMPERSONATOR", actor="a test"
        )
        return world

    async def _client(self, method: str, **changes) -> Client:
        party = await self.server.register(
            method,
            auth_method=method,
            grant_types=GRANTS,
            response_types=TYPES,
            redirect_uris=[CALLBACK, f"{self.server.issuer}/cb"],
            post_logout_redirect_uris=["https://client.example/bye"],
            access_token_type="jwt" if method == "none" else "opaque",
            **changes,
        )
        key = None
        if method == "private_key_jwt":
            key = await register_key(self.server, party.client_id, "client-key", sequence=0)
        return Client(party, method, key)

    async def _make_machine(self) -> None:
        user = await user_lookup.find_by_login_name(self.server.service, self.server.user[0])
        organization = await self.server.store.get(ORGANIZATIONS, user.org_id)
        caller = await new_caller(self.server, self.visitor, organization)
        hash = opaque_tokens.digest(SECRET)
        await self.server.store.commit(Update(USERS, caller.user_id, set={"secret_hash": hash}))
        self.machine = RelyingParty(self.server.issuer, caller.user_id, SECRET, "")
        self.machine_key = await register_key(
            self.server, caller.user_id, "machine-key", collection=USER_KEYS, sequence=0
        )
        self.pat = caller.token

    @property
    def host(self) -> bytes:
        return self.server.issuer.partition("://")[2].encode()

    @property
    def cookie(self) -> bytes:
        """The Cookie header of the person's browser."""
        return "; ".join(f"{each.name}={each.value}" for each in self.visitor.cookies.jar).encode()

    @property
    def fresh(self) -> list[str]:
        """Every artefact that was given out since the last `renew`."""
        return [value for each in self.clients.values() for value in each.held.values()]

    @property
    def held(self) -> list[str]:
        """Every artefact that somebody holds now."""
        return [*self.fresh, self.pat, SECRET, self.assertion]

    async def renew(self) -> None:
        """Make anew what is held, and what is on the screen."""
        key = self.clients["private_key_jwt"].key
        self.assertion = signed(key, key.claims())
        for client in self.clients.values():
            await self._sign_in(client)
        self.forms = [_sent(page, self.cookie) for page in await self._pages()]

    async def _sign_in(self, client: Client) -> None:
        for name in ("code", "spare", "spent"):
            client.held[name] = (await self._answer(client))["code"]
        granted = await self._send(self.redeeming(client, "spent"))
        client.held |= {
            name: granted[name] for name in ("access_token", "refresh_token", "id_token")
        }
        implicit = await self._answer(client, response_type="id_token token")
        client.held["implicit"] = implicit["access_token"]
        begun = await self._send(self.asking_for_codes(client))
        client.held |= {"device_code": begun["device_code"], "user_code": begun["user_code"]}
        client.held["request_uri"] = (await self._send(self.pushing(client)))["request_uri"]

    async def _answer(self, client: Client, **changes) -> dict[str, str]:
        """What the authorization endpoint answers, signed in anew if need be."""
        url = client.party.authorize_url(**changes)
        page = await self.visitor.open(url)
        if page.name in ("login-name", "password", "accounts"):
            page = await self.visitor.sign_in(url, *self.server.user)
        if page.name == "consent":
            page = await self.visitor.submit(page, decision="allow")
        return page.answer

    async def _send(self, request: Request) -> dict[str, str]:
        headers = {name.decode(): value.decode() for name, value in request.headers}
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        body = b"&".join(name + b"=" + value for name, value in request.form or ())
        page = await self.visitor.post(request.path.decode(), content=body, headers=headers)
        assert page.status in (200, 201), page.text
        return page.json()

    async def _pages(self) -> list[Page]:
        """A page of each kind, for the browser that is signed in and for one that is not."""
        browser, party = self.visitor, self.clients["client_secret_basic"].party
        stranger = Visitor(self.server.issuer)
        user_code = self.clients["none"].held["user_code"]
        consent = self.clients["third party"].party.authorize_url(prompt="consent")
        pages = [
            await browser.open(party.authorize_url(prompt="login")),
            await browser.open(party.authorize_url(prompt="select_account")),
            await browser.open(party.authorize_url(prompt="create")),
            await browser.open(consent),
            await browser.open("/oidc/v1/end_session"),
            await browser.open("/ui/account/password"),
            await browser.open("/ui/device"),
            await device.type_code(browser, user_code),
        ]
        try:
            name = await stranger.open(party.authorize_url())
            password = await stranger.submit(name, loginName=self.server.user[0])
            address = password.url.replace("/ui/login/password", "/ui/login/reset")
            reset = await stranger.open(address)
            reset_code = await stranger.submit(reset, loginName=self.server.user[0])
            cookie = "; ".join(f"{one.name}={one.value}" for one in stranger.cookies.jar).encode()
        finally:
            await stranger.close()
        met = [name, password, reset, reset_code]
        self.strangers = [_sent(page, cookie) for page in met]
        return [page for page in pages if page.name is not None]

    # Requests that more than one module makes

    def redeeming(self, client: Client, held: str = "code") -> Request:
        return client.post(
            "code",
            "/oauth/v2/token",
            grant_type="authorization_code",
            code=client.held[held],
            redirect_uri=client.party.redirect_uri,
            code_verifier="a-verifier-of-at-least-forty-three-characters-0123456789",
        )

    def asking_for_codes(self, client: Client) -> Request:
        path = "/oauth/v2/device_authorization"
        return client.post("device authorization", path, scope="openid offline_access")

    def pushing(self, client: Client, **changes: str) -> Request:
        form = client.party.authorize_form(**changes)
        if client.method != "none":
            form.pop("client_id")
        return client.post("pushed request", "/oauth/v2/par", **form)


def signed(key: Asserting, claims: dict[str, Any]) -> str:
    """A JWT by RS256, of claims as they are; what loads a key first takes ten times as long."""
    header = json.dumps({"alg": "RS256", "kid": key.kid, "typ": "JWT"})
    return sign_raw(key.private, header.encode(), json.dumps(claims).encode())


_TYPED: Final = {
    "loginName": "mini",
    "password": "not the password",
    "account": "other",
    "decision": "allow",
    "userCode": "BBBB-BBBB",
    "currentPassword": "not the password",
    "newPassword": "a quiet afternoon in May",
    "givenName": "Mini",
    "familyName": "Mouse",
    "email": "mini@mouse.example",
    "userName": "mini",
    "code": "12345678",
}


def _sent(page: Page, cookie: bytes) -> Request:
    """The page's form, filled in."""
    path, _, query = page.url.split("/", 3)[3].partition("?")
    fields = page.hidden | {name: _TYPED.get(name, "x") for name in page.inputs}
    fields |= dict(page.buttons[:1])
    parts = [part.partition("=") for part in query.split("&") if part]
    return Request(
        f"form of {page.name}",
        b"POST",
        b"/" + path.encode(),
        tuple((name.encode(), value.encode()) for name, _, value in parts),
        pairs(fields),
        ((b"Cookie", cookie),),
    )
