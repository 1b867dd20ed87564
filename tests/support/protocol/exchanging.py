"""Token exchange for tests: a client that may, people and their tokens, and the requests."""

from __future__ import annotations

from dataclasses import dataclass, field

from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    SESSIONS,
)
from storage import Update
from tests.support.attacks.forged import part
from tests.support.browsers.visitor import Page, Visitor
from tests.support.protocol.asserting import Asserting, register_key
from tests.support.protocol.relying_party import RelyingParty, without_none
from tests.support.service import Server

GRANT = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS, REFRESH, ID, JWT = (
    f"urn:ietf:params:oauth:token-type:{name}"
    for name in ("access_token", "refresh_token", "id_token", "jwt")
)
USER_ID = "urn:idp:params:oauth:token-type:user_id"
GRANTS = ["authorization_code", "refresh_token", GRANT]
INTROSPECT = "/oauth/v2/introspect"


@dataclass
class Broker:
    """A client that exchanges tokens, and the people at it. `demo` is the demo user's tokens."""

    server: Server
    visitor: Visitor
    party: RelyingParty
    new_visitor: object

    @classmethod
    async def make(cls, server, visitor, new_visitor, **changes) -> Broker:
        """`changes` are of the client, such as `has_management_access`."""
        await switch(server, allows_token_exchange=True, allows_impersonation=True)
        party = await server.register("Broker", grant_types=GRANTS, **changes)
        return cls(server, visitor, party, new_visitor)

    async def home(self):
        """The organization of the client, and of the people."""
        client = await self.server.store.get(APPLICATIONS, self.party.client_id)
        return await self.server.store.get(ORGANIZATIONS, client.org_id)

    async def person(self, name: str | None = None, role: str | None = None, **request):
        """Somebody with a role of the instance, signed in at the client: the id, the tokens."""
        who = await self.server.copy_user(name) if name else self.server.user
        user = await user_lookup.find_by_login_name(self.server.service, who[0])
        if role:
            await memberships.grant(self.server.service, user.id, None, role, actor="a test")
        party = request.pop("party", self.party)
        return user.id, await party.tokens(self.new_visitor(), *who, **request)

    async def exchange(self, subject: str | None, type: str | None = ACCESS, **form) -> Page:
        """The request. A form field given as None is left out."""
        party = form.pop("party", self.party)
        headers = form.pop("headers", None)
        sent = {"grant_type": GRANT, "subject_token": subject, "subject_token_type": type}
        return await party.token(self.visitor, without_none(sent | form), headers)

    async def granted(self, subject: str, type: str = ACCESS, **form) -> dict:
        page = await self.exchange(subject, type, **form)
        assert page.status == 200, page.text
        return page.json()

    async def by(self, actor: dict, subject: str, type: str = USER_ID, **form) -> dict:
        """The tokens that an actor gets in the name of another user."""
        acting = {"actor_token": actor["access_token"], "actor_token_type": ACCESS}
        return await self.granted(subject, type, **(acting | form))

    async def introspect(self, token: str, party: RelyingParty | None = None) -> dict:
        headers = (party or self.party).basic()
        return (await self.visitor.post(INTROSPECT, {"token": token}, headers=headers)).json()

    async def is_active(self, token: str) -> bool:
        return (await self.introspect(token))["active"]

    async def authorization(self):
        """The record of the newest exchange."""
        found = [one async for one in self.server.store.scan(AUTHORIZATIONS)]
        return max(
            (one for one in found if one.grant == "exchange"), key=lambda one: one.created_at
        )

    async def log_out(self, tokens: dict) -> None:
        """Ends the session that the tokens were issued in."""
        ended = {"ended_at": self.server.clock.now()}
        await self.server.store.commit(
            Update(SESSIONS, part(tokens["id_token"], 1)["sid"], set=ended)
        )


@dataclass
class Ground:
    """The users and tokens that an attacker can use: `ann` is signed in, and `bob` may act for
    her."""

    broker: Broker
    ann: str
    bob: str
    tokens: dict
    of_bob: dict
    keyed: Asserting
    foreign: RelyingParty
    of_foreign: dict
    seen: dict = field(default_factory=dict)

    @property
    def by_bob(self) -> dict:
        return {"actor_token": self.of_bob["access_token"], "actor_token_type": ACCESS}

    @classmethod
    async def make(cls, broker: Broker) -> Ground:
        server = broker.server
        foreign = await server.register("Foreign", grant_types=GRANTS)
        await server.store.commit(
            Update(APPLICATIONS, foreign.client_id, set={"project_id": "another"})
        )
        ann, tokens = await broker.person(scope="openid profile offline_access")
        _, of_foreign = await broker.person(party=foreign)
        bob, of_bob = await broker.person("bob", "IAM_END_USER_IMPERSONATOR")
        keyed = await register_key(server, broker.party.client_id, "key-1")
        return cls(broker, ann, bob, tokens, of_bob, keyed, foreign, of_foreign)


async def switch(server, **settings) -> None:
    await server.store.commit(Update(INSTANCES, INSTANCE_ID, set=settings))
    server.service.settings_cache.forget()  # as the process does that has changed them
