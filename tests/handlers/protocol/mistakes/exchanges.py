"""Mistakes with token exchange."""

from __future__ import annotations

from idp.identity.users import lookup as user_lookup
from idp.records import APPLICATIONS
from storage import Update
from tests.handlers.protocol.mistakes.world import Mistake, World
from tests.support.protocol.exchanging import (
    ACCESS,
    GRANT,
    GRANTS,
    ID,
    JWT,
    REFRESH,
    USER_ID,
    switch,
)

SWITCHES = {"allows_token_exchange": True, "allows_impersonation": True}


def exchanging(name: str, check: str, sentence: str, form=None, *, after: float = 0, **settings):
    """The demo user's access token exchanged, with what `form` changes of the request."""

    async def make(world: World):
        await switch(world.server, **(SWITCHES | settings))
        id = world.wiki.client_id
        await world.server.store.commit(Update(APPLICATIONS, id, set={"grant_types": GRANTS}))
        tokens = await world.tokens()
        user = await user_lookup.find_by_login_name(world.server.service, world.server.user[0])
        world.seen["user"] = user.id
        world.server.clock.advance(after)
        sent = {
            "grant_type": GRANT,
            "subject_token": tokens["access_token"],
            "subject_token_type": ACCESS,
        }
        changes = await form(world, tokens) if form else {}
        return await world.wiki.token(world.visitor, sent | changes)

    return Mistake(name, check, sentence, make)


def sending(**form):
    """A form that doesn't depend on anything."""

    async def change(world: World, tokens: dict) -> dict:
        return form

    return change


async def the_id_token(world: World, tokens: dict) -> dict:
    return {"subject_token": tokens["id_token"]}


async def the_refresh_token(world: World, tokens: dict) -> dict:
    return {"subject_token": tokens["refresh_token"], "subject_token_type": REFRESH}


async def of_another_project(world: World, tokens: dict) -> dict:
    other = await world.another()
    changes = {"project_id": "another"}
    await world.server.store.commit(Update(APPLICATIONS, other.client_id, set=changes))
    return {"subject_token": (await world.tokens(other))["access_token"]}


async def a_spent_grant(world: World, tokens: dict) -> dict:
    await world.spend(tokens)
    return {}


async def an_old_id_token(world: World, tokens: dict) -> dict:
    return {"subject_token": tokens["id_token"], "subject_token_type": ID}


async def an_id_token_after_the_logout(world: World, tokens: dict) -> dict:
    await world.visitor.get(world.wiki.logout_url(id_token_hint=tokens["id_token"]))
    return {"subject_token": tokens["id_token"], "subject_token_type": ID}


async def an_id_token_as_a_jwt(world: World, tokens: dict) -> dict:
    return {"subject_token": tokens["id_token"], "subject_token_type": JWT}


async def itself(world: World, tokens: dict) -> dict:
    return {"actor_token": tokens["access_token"], "actor_token_type": ACCESS}


async def somebody_without_a_role(world: World, tokens: dict) -> dict:
    login_name, _ = await world.server.copy_user("bob")
    bob = await user_lookup.find_by_login_name(world.server.service, login_name)
    world.seen["bob"] = bob.id
    return {"subject_token": bob.id, "subject_token_type": USER_ID} | await itself(world, tokens)


async def the_sixth_in_a_row(world: World, tokens: dict) -> dict:
    body, form = tokens, {"grant_type": GRANT, "subject_token_type": ACCESS}
    for _ in range(5):
        sent = form | {"subject_token": body["access_token"]}
        body = (await world.wiki.token(world.visitor, sent)).json()
    return {"subject_token": body["access_token"]}


MISTAKES = [
    exchanging(
        "a token exchange where that is off",
        "grant_type",
        f"{GRANT} is switched off on this installation.",
        allows_token_exchange=False,
    ),
    exchanging(
        "a resource for a token exchange",
        "exchange_resource",
        "resource is not supported.",
        sending(resource="https://api.example"),
    ),
    exchanging(
        "a subject token without its type",
        "exchange_tokens_sent",
        "subject_token_type is missing.",
        sending(subject_token_type=""),
    ),
    exchanging(
        "an actor token without its type",
        "exchange_tokens_sent",
        "actor_token_type is missing.",
        sending(actor_token="token"),
    ),
    exchanging(
        "a refresh token to exchange",
        "exchange_types",
        f"subject_token_type is one of {ACCESS}, {ID}, {JWT}, {USER_ID}; `{REFRESH}` was sent.",
        the_refresh_token,
    ),
    exchanging(
        "an unknown type to exchange for",
        "exchange_types",
        f"requested_token_type is one of {ACCESS}, {ID}, {JWT}; a value of 12 characters was"
        " sent.",
        sending(requested_token_type="access_token"),
    ),
    exchanging(
        "an ID token with the type of an access token",
        "exchange_subject",
        "That is an ID token, not an access token.",
        the_id_token,
    ),
    exchanging(
        "a token of another project to exchange",
        "exchange_subject",
        "It was issued to `{other}`; neither this client nor its project is in aud.",
        of_another_project,
    ),
    exchanging(
        "a late token to exchange",
        "exchange_subject",
        "The access token expired 100 s ago.",
        after=43_200 + 100,
    ),
    exchanging(
        "a token of a dead family to exchange",
        "exchange_subject",
        "The grant was revoked 0 s ago.",
        a_spent_grant,
    ),
    exchanging(
        "a late ID token to exchange",
        "exchange_subject",
        "The ID token expired 100 s ago.",
        an_old_id_token,
        after=43_200 + 100,
    ),
    exchanging(
        "an ID token to exchange after the logout",
        "exchange_subject",
        "The session of the ID token has ended.",
        an_id_token_after_the_logout,
    ),
    exchanging(
        "an ID token as the client's own JWT",
        "exchange_subject",
        "The JWT's iss is `{issuer}`, not the client that sent it.",
        an_id_token_as_a_jwt,
    ),
    exchanging(
        "a user id of nobody",
        "exchange_subject",
        "There is no such user, or they or their organization are not active.",
        sending(subject_token="nobody", subject_token_type=USER_ID),
    ),
    exchanging(
        "an actor where impersonation is off",
        "exchange_impersonation",
        "The security policy does not allow it.",
        itself,
        allows_impersonation=False,
    ),
    exchanging(
        "an actor who is the subject",
        "exchange_actor",
        "The actor is the subject: no user acts for themselves.",
        itself,
    ),
    exchanging(
        "an actor without a role",
        "exchange_permission",
        "The user `{user}` may not act for `{bob}`.",
        somebody_without_a_role,
    ),
    exchanging(
        "a sixth exchange",
        "exchange_depth",
        "More than 5 exchanges came one after another.",
        the_sixth_in_a_row,
    ),
    exchanging(
        "an audience of somebody else",
        "exchange_audience",
        "audience is larger than that of the tokens that were sent.",
        sending(audience="somebody"),
    ),
    exchanging(
        "a scope that the token lacks",
        "exchange_scope",
        "`openid phone` was asked for, `email offline_access openid profile` may be.",
        sending(scope="openid phone"),
    ),
]
