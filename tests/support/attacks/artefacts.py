"""The credentials that this service issues or accepts, each new and valid at its endpoint."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from idp.identity.users import lookup as user_lookup
from idp.identity.users import memberships
from idp.records import ORGANIZATIONS, USER_KEYS
from tests.support.browsers.visitor import Visitor
from tests.support.management.callers import Caller, new_caller
from tests.support.protocol import exchanging
from tests.support.protocol.asserting import register_key
from tests.support.protocol.device import GRANT as DEVICE_GRANT
from tests.support.protocol.device import Device, at_confirmation
from tests.support.protocol.relying_party import RelyingParty
from tests.support.service import Server

IMPERSONATOR = "IAM_END_USER_IMPERSONATOR"


@dataclass
class World:
    """A client that may use every grant, a person, a service user, and `ann`, who is not signed
    in."""

    server: Server
    visitor: Visitor
    party: RelyingParty
    machine: Caller
    ann: str

    @classmethod
    async def make(cls, server: Server, visitor: Visitor, kind: str = "opaque") -> World:
        await exchanging.switch(server, allows_token_exchange=True, allows_impersonation=True)
        grants = [*exchanging.GRANTS, DEVICE_GRANT]
        party = await server.register(grant_types=grants, access_token_type=kind)
        user = await user_lookup.find_by_login_name(server.service, server.user[0])
        organization = await server.store.get(ORGANIZATIONS, user.org_id)
        machine = await new_caller(server, visitor, organization, "ORG_OWNER")
        for id in (user.id, machine.user_id):
            await memberships.grant(server.service, id, None, IMPERSONATOR, actor="a test")
        ann = await user_lookup.find_by_login_name(
            server.service, (await server.copy_user("ann"))[0]
        )
        return cls(server, visitor, party, machine, ann.id)


async def code(world: World) -> str:
    page = await world.party.sign_in(world.visitor, *world.server.user)
    return page.answer["code"]


def of_tokens(name: str) -> Callable[[World], Awaitable[str]]:
    async def make(world: World) -> str:
        return (await world.party.tokens(world.visitor, *world.server.user))[name]

    return make


async def personal_access_token(world: World) -> str:
    return world.machine.token


async def assertion(world: World) -> str:
    """An assertion of the service user."""
    user_id = world.machine.user_id
    key = await register_key(world.server, user_id, "key-1", collection=USER_KEYS)
    return key.assertion()


async def device_code(world: World) -> str:
    """A device code that the person has allowed."""
    device_answer = await Device(world.party, world.visitor).begin()
    page = await at_confirmation(world.visitor, device_answer["user_code"], world.server.user)
    await world.visitor.submit(page, decision="allow")
    return device_answer["device_code"]


# By name: the kind of the client's access tokens, and the function that gets the credential.
ARTEFACTS: dict[str, tuple[str, Callable[[World], Awaitable[str]]]] = {
    "code": ("opaque", code),
    "refresh token": ("opaque", of_tokens("refresh_token")),
    "opaque access token": ("opaque", of_tokens("access_token")),
    "JWT access token": ("jwt", of_tokens("access_token")),
    "ID token": ("opaque", of_tokens("id_token")),
    "personal access token": ("opaque", personal_access_token),
    "assertion": ("opaque", assertion),
    "device code": ("opaque", device_code),
}
