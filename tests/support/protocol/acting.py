"""A user who acts for another user: their tokens, and the responses of all endpoints to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from idp.identity.users import memberships
from idp.records import MEMBERSHIPS
from storage import Delete
from tests.support.management.api_samples import SECURITY
from tests.support.management.callers import Caller, new_caller
from tests.support.protocol.exchanging import Broker

MANAGING = "openid profile offline_access urn:idp:iam:org:project:id:idp:aud"
ACTOR_ROLE = "IAM_END_USER_IMPERSONATOR"


@dataclass
class Acting:
    """Bob acts for Ann at a client that may manage; `body` is the response of the exchange."""

    broker: Broker
    owner: Caller
    ann: str
    bob: str
    of_bob: dict
    body: dict

    @classmethod
    async def make(cls, server, new_visitor) -> Acting:
        visitor = new_visitor()
        broker = await Broker.make(server, visitor, new_visitor, has_management_access=True)
        who = [server.service.random.id().lower() for _ in range(2)]
        ann, _ = await broker.person(who[0])
        bob, of_bob = await broker.person(who[1], ACTOR_ROLE, scope=MANAGING)
        body = await broker.by(of_bob, ann)
        home = await broker.home()
        owner = await new_caller(server, visitor, home, "IAM_OWNER", everywhere=True)
        return cls(broker, owner, ann, bob, of_bob, body)

    @property
    def server(self):
        return self.broker.server

    async def places(self, body: dict | None = None) -> dict[str, tuple[int, object]]:
        """The responses of each endpoint to the access token: the status and the reason."""
        token, visitor = (body or self.body)["access_token"], self.broker.visitor
        caller = Caller(visitor, token)
        userinfo = await self.broker.party.userinfo(visitor, token)
        api = await caller.get(f"/v2/users/{self.ann}")
        management = await caller.post("/management/v1/projects/_search", {})
        introspected = await self.broker.introspect(token)
        exchanged = await self.broker.exchange(token)
        return {
            "userinfo": (userinfo.status, userinfo.headers.get("WWW-Authenticate")),
            "the API": (api.status, _error_code(api)),
            "the management API": (management.status, _error_code(management)),
            "introspection": (200, introspected["active"]),
            "exchange": (exchanged.status, exchanged.json().get("error")),
        }

    async def refreshed(self, body: dict | None = None):
        refresh_token = (body or self.body)["refresh_token"]
        return await self.broker.party.refresh(self.broker.visitor, refresh_token)

    async def assert_acts(self) -> None:
        places = await self.places()
        assert places["userinfo"][0] == places["exchange"][0] == 200
        assert places["introspection"] == (200, True)
        assert places["the API"][0] == places["the management API"][0] == 403
        assert places["the API"][1] not in ("token.invalid", "token.actor")
        page = await self.refreshed()
        assert page.status == 200, page.text
        self.body = page.json()

    async def assert_ended(self, body: dict | None = None) -> None:
        places = await self.places(body)
        status, challenge = places.pop("userinfo")
        assert status == 401
        assert 'error="invalid_token"' in challenge
        assert places == {
            "the API": (401, "token.invalid"),
            "the management API": (401, "token.invalid"),
            "introspection": (200, False),
            "exchange": (400, "invalid_grant"),
        }
        page = await self.refreshed(body)
        assert (page.status, page.json()["error"]) == (400, "invalid_grant")


def _error_code(page) -> str | None:
    details = page.json().get("details") or [{}]
    return details[0].get("id")


async def withdraw_the_role(acting: Acting) -> None:
    """By the API, as an administrator does it."""
    page = await acting.owner.request("DELETE", f"/admin/v1/members/{acting.bob}", None)
    assert page.status == 200, page.text


async def switch_the_policy(acting: Acting, *, is_on: bool) -> None:
    page = await acting.owner.request("PUT", SECURITY, {"enableImpersonation": is_on})
    assert page.status == 200, page.text


async def promote_the_subject(acting: Acting) -> None:
    body = {"userId": acting.ann, "roles": ["IAM_OWNER_VIEWER"]}
    page = await acting.owner.post("/admin/v1/members", body)
    assert page.status == 200, page.text


async def lock_the_actor(acting: Acting) -> None:
    page = await acting.owner.post(f"/v2/users/{acting.bob}/lock", {})
    assert page.status == 200, page.text


async def forget_the_role(acting: Acting) -> None:
    """Without anything else that would end a token."""
    held = memberships.id_of(acting.bob, None)
    await acting.server.store.commit(Delete(MEMBERSHIPS, held))


ENDS = {
    "the role is withdrawn": withdraw_the_role,
    "the policy is switched off": partial(switch_the_policy, is_on=False),
    "the subject came to manage more": promote_the_subject,
    "the actor is locked": lock_the_actor,
}
