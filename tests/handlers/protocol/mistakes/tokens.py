"""Mistakes with access tokens, at the userinfo endpoint."""

from __future__ import annotations

from tests.handlers.protocol.mistakes.world import USERINFO, Mistake, World
from tests.support.attacks import forged


def asking(name: str, check: str, sentence: str, token, *, after: float = 0):
    """Userinfo with what `token` makes of the tokens."""

    async def make(world: World):
        tokens = await world.tokens()
        world.server.clock.advance(after)
        return await world.wiki.userinfo(world.visitor, token(tokens))

    return Mistake(name, check, sentence, make)


async def no_token(world: World):
    return await world.visitor.get(USERINFO)


async def token_in_the_address(world: World):
    token = (await world.tokens())["access_token"]
    return await world.visitor.get(f"{USERINFO}?access_token={token}")


async def client_credentials_at_userinfo(world: World):
    return await world.visitor.get(USERINFO, headers=world.wiki.basic())


async def token_sent_twice(world: World):
    headers = {"Authorization": "Bearer t"}
    return await world.visitor.post(USERINFO, {"access_token": "t"}, headers=headers)


async def foreign_jwt(world: World):
    token = forged.resigned(
        (await world.tokens())["id_token"], {}, {"iss": "https://accounts.example"}
    )
    return await world.wiki.userinfo(world.visitor, token)


async def token_after_logout(world: World):
    tokens = await world.tokens()
    await world.visitor.get(world.wiki.logout_url(id_token_hint=tokens["id_token"]))
    world.server.clock.advance(4)
    return await world.wiki.userinfo(world.visitor, tokens["access_token"])


async def token_of_a_dead_family(world: World):
    tokens = await world.tokens()
    await world.spend(tokens)
    return await world.wiki.userinfo(world.visitor, tokens["access_token"])


async def token_without_openid(world: World):
    tokens = await world.tokens()
    narrow = await world.wiki.refresh(world.visitor, tokens["refresh_token"], scope="profile")
    return await world.wiki.userinfo(world.visitor, narrow.json()["access_token"])


async def forged_jwt(world: World):
    party = await world.another(access_token_type="jwt")
    token = (await world.tokens(party))["access_token"]
    return await world.wiki.userinfo(
        world.visitor, forged.resigned(token, {}, {"sub": "somebody"})
    )


MISTAKES = [
    Mistake(
        "no token",
        "token_sent",
        "The request has no access token; the challenge names no error then (RFC 6750, 3.1).",
        no_token,
    ),
    Mistake(
        "a token in the address",
        "token_place",
        "The token belongs into the Authorization header.",
        token_in_the_address,
    ),
    Mistake(
        "Basic at userinfo",
        "token_sent",
        "The Authorization header has no Bearer token.",
        client_credentials_at_userinfo,
    ),
    Mistake(
        "a token sent twice",
        "token_sent",
        "The token was sent by header and by form; use one of them.",
        token_sent_twice,
    ),
    asking(
        "an ID token at userinfo",
        "token_genuine",
        "That is an ID token, not an access token.",
        lambda tokens: tokens["id_token"],
    ),
    asking(
        "a refresh token at userinfo",
        "token_genuine",
        "That is a refresh token, not an access token.",
        lambda tokens: tokens["refresh_token"],
    ),
    asking(
        "a token that was cut",
        "token_genuine",
        "It begins like an access token of this service, but can't be opened: it was changed or"
        " cut on its way, or comes from another installation.",
        lambda tokens: tokens["access_token"][:-10],
    ),
    asking(
        "an invented token",
        "token_genuine",
        "It does not look like a token of this service at all.",
        lambda tokens: "token",
    ),
    Mistake(
        "a token of somebody else's service",
        "token_genuine",
        "It is a JWT that says it was issued by `https://accounts.example`, not by this service.",
        foreign_jwt,
    ),
    Mistake(
        "a forged token",
        "token_genuine",
        "It is a JWT of this service by its words, but its signature does not verify.",
        forged_jwt,
    ),
    asking(
        "a token that is late",
        "token_unexpired",
        "The access token expired 100 s ago.",
        lambda tokens: tokens["access_token"],
        after=43_200 + 100,
    ),
    asking(
        "an invented personal access token",
        "token_genuine",
        "The personal access token is unknown, has expired or was deleted.",
        lambda tokens: "idp_pat_" + "p" * 65,
    ),
    Mistake(
        "a token after the logout",
        "token_stands",
        "The session ended 4 s ago, by a logout.",
        token_after_logout,
    ),
    Mistake(
        "a token of a dead family",
        "token_stands",
        "The grant was revoked 0 s ago.",
        token_of_a_dead_family,
    ),
    Mistake(
        "a token without openid",
        "token_scope",
        "The token does not have the scope openid.",
        token_without_openid,
    ),
]
