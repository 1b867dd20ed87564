"""Mistakes with assertions, with grants that need no person, and with tokens given back."""

from __future__ import annotations

from idp.records import ORGANIZATIONS, USER_KEYS, USERS
from storage import Update
from tests.handlers.protocol.mistakes.world import TOKEN, USERINFO, Mistake, World
from tests.support.management.callers import new_caller
from tests.support.protocol.asserting import JWT_BEARER, private_key, register_key

INTROSPECT = "/oauth/v2/introspect"
REVOKE = "/oauth/v2/revoke"


async def _keyed(world: World):
    party = await world.another(auth_method="private_key_jwt", grant_types=["client_credentials"])
    return await register_key(world.server, party.client_id, "key-1")


async def _machine(world: World):
    (organization,) = [one async for one in world.server.store.scan(ORGANIZATIONS)]
    caller = await new_caller(world.server, world.visitor, organization)
    return await register_key(world.server, caller.user_id, "key-1", collection=USER_KEYS)


def by_client(name: str, sentence: str, make_form):
    """A client assertion that is wrong in something."""

    async def make(world: World):
        form = {"grant_type": "client_credentials"} | make_form(await _keyed(world))
        return await world.visitor.post(TOKEN, form)

    return Mistake(name, "client_proof", sentence, make)


def by_user(name: str, check: str, sentence: str, make_form, headers=None):
    """An assertion of a service user."""

    async def make(world: World):
        form = {"grant_type": JWT_BEARER} | make_form(await _machine(world))
        return await world.visitor.post(TOKEN, form, headers=headers or {})

    return Mistake(name, check, sentence, make)


async def assertion_twice(world: World):
    form = {"grant_type": "client_credentials"} | (await _keyed(world)).client_form()
    await world.visitor.post(TOKEN, form)
    return await world.visitor.post(TOKEN, form)


async def service_user_gone(world: World):
    keyed = await _machine(world)
    await world.server.store.commit(Update(USERS, keyed.issuer, set={"state": "inactive"}))
    form = {"grant_type": JWT_BEARER, "assertion": keyed.assertion()}
    return await world.visitor.post(TOKEN, form)


async def unknown_scope(world: World):
    party = await world.another(grant_types=["client_credentials"])
    form = {"grant_type": "client_credentials", "scope": "openid nonsense"}
    return await world.visitor.post(TOKEN, form, headers=party.basic())


async def foreign_organization(world: World):
    party = await world.another(grant_types=["client_credentials"])
    form = {"grant_type": "client_credentials", "scope": "urn:idp:iam:org:id:another"}
    return await world.visitor.post(TOKEN, form, headers=party.basic())


async def own_token_at_userinfo(world: World):
    party = await world.another(grant_types=["client_credentials"])
    form = {"grant_type": "client_credentials", "scope": "openid"}
    body = (await world.visitor.post(TOKEN, form, headers=party.basic())).json()
    headers = {"Authorization": f"Bearer {body['access_token']}"}
    return await world.visitor.get(USERINFO, headers=headers)


def asking(path: str, name: str, check: str, sentence: str, **changes):
    """A request to introspect or revoke that is wrong in something."""

    async def make(world: World):
        party = await world.another(**changes)
        headers = party.basic() if party.client_secret else {}
        form = {"token": ""} if party.client_secret else {"client_id": party.client_id}
        return await world.visitor.post(path, form, headers=headers)

    return Mistake(name, check, sentence, make)


MISTAKES = [
    by_client(
        "an assertion for another issuer",
        "aud is `https://other.example`, and has to be `{issuer}` or `{issuer}/oauth/v2/token`.",
        lambda keyed: keyed.client_form(aud="https://other.example"),
    ),
    by_client(
        "an assertion that is too old",
        "The assertion expired 60 s ago.",
        lambda keyed: keyed.client_form(
            exp=int(keyed.server.clock.now().timestamp()) - 60, iat=None
        ),
    ),
    by_client(
        "an assertion without jti",
        "The assertion has no jti, so it could be used again.",
        lambda keyed: keyed.client_form(jti=None),
    ),
    by_client(
        "an assertion by a key that nobody registered",
        "No key `key-2` is registered for `{other}`.",
        lambda keyed: (
            keyed.client_form() | {"client_assertion": keyed.sign(keyed.claims(), kid="key-2")}
        ),
    ),
    by_client(
        "an assertion signed by another key",
        "The key `key-1` does not verify it: the signature does not verify.",
        lambda keyed: (
            keyed.client_form()
            | {"client_assertion": keyed.sign(keyed.claims(), key=private_key("RS256", 3))}
        ),
    ),
    by_client(
        "an assertion about somebody else",
        "iss and sub differ: `{other}` and `somebody`.",
        lambda keyed: keyed.client_form(sub="somebody"),
    ),
    Mistake(
        "an assertion twice",
        "client_proof",
        "The assertion was used before: its jti counts once.",
        assertion_twice,
    ),
    by_user(
        "a service user without an assertion",
        "assertion_sent",
        "assertion is missing.",
        lambda keyed: {},
    ),
    by_user(
        "a service user's assertion and a secret",
        "assertion_alone",
        "This grant takes the assertion, and no client authentication.",
        lambda keyed: {"assertion": keyed.assertion(), "client_secret": "s"},
    ),
    by_user(
        "a service user's assertion that was cut",
        "assertion_valid",
        "The assertion can't be read: not a compact JWS.",
        lambda keyed: {"assertion": "assertion"},
    ),
    Mistake(
        "a service user that was switched off",
        "grant_stands",
        "The service user or its organization is not active.",
        service_user_gone,
    ),
    Mistake(
        "a scope that does not exist",
        "scope_known",
        "The scopes are openid profile email phone address groups offline_access and reserved "
        "ones, urn:idp:iam:…; a value of 8 characters was sent.",
        unknown_scope,
    ),
    Mistake(
        "a scope for another organization",
        "scope_organization",
        "scope names another organization than the caller's.",
        foreign_organization,
    ),
    Mistake(
        "an application's own token at userinfo",
        "token_user",
        "The token is an application's own: it stands for no user.",
        own_token_at_userinfo,
    ),
    asking(INTROSPECT, "introspection of nothing", "token_sent", "token is missing."),
    asking(REVOKE, "revocation of nothing", "token_sent", "token is missing."),
    asking(
        INTROSPECT,
        "introspection by a public client",
        "client_method",
        "The application's method is none; this endpoint takes client_secret_basic or "
        "private_key_jwt.",
        auth_method="none",
    ),
]
