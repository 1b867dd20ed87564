"""Mistakes with codes and refresh tokens."""

from __future__ import annotations

from idp.records import APPLICATIONS, PROJECTS, USERS
from storage import Update
from tests.handlers.protocol.mistakes.world import CALLBACK, Mistake, World
from tests.support.protocol.relying_party import CHALLENGE

REVOKED = "Every token that came of it is revoked."


def redeeming(name: str, check: str, sentence: str, *, after: float = 0, **changes):
    """A fresh code, redeemed `after` so many seconds with something wrong."""

    async def make(world: World):
        code = await world.code()
        world.server.clock.advance(after)
        spoiled = {
            key: value(code) if callable(value) else value for key, value in changes.items()
        }
        return await world.wiki.redeem(world.visitor, **({"code": code} | spoiled))

    return Mistake(name, check, sentence, make)


async def used_code(world: World):
    code = await world.code()
    await world.wiki.redeem(world.visitor, code)
    world.server.clock.advance(3)
    return await world.wiki.redeem(world.visitor, code)


async def code_of_another(world: World):
    code = await world.code(await world.another())
    return await world.wiki.redeem(world.visitor, code)


async def refresh_token_as_code(world: World):
    return await world.wiki.redeem(world.visitor, (await world.tokens())["refresh_token"])


async def unasked_verifier(world: World):
    code = await world.code(code_challenge=None, code_challenge_method=None)
    return await world.wiki.redeem(world.visitor, code)


async def code_after_logout(world: World):
    hint = (await world.tokens())["id_token"]
    code = await world.code()
    await world.visitor.get(world.wiki.logout_url(id_token_hint=hint))
    world.server.clock.advance(2)
    return await world.wiki.redeem(world.visitor, code)


async def user_deactivated(world: World):
    code = await world.code()
    user = (await world.server.store.find(USERS, {"login_key": world.server.user[0]})).records[0]
    await world.server.store.commit(Update(USERS, user.id, set={"state": "inactive"}))
    return await world.wiki.redeem(world.visitor, code)


async def user_shut_out(world: World):
    code = await world.code()
    client = await world.server.store.get(APPLICATIONS, world.wiki.client_id)
    required = {"requires_role": True}
    await world.server.store.commit(Update(PROJECTS, client.project_id, set=required))
    return await world.wiki.redeem(world.visitor, code)


CODES = [
    redeeming(
        "an invented code",
        "code_known",
        "That is not an authorization code of this service: those have 65 letters, digits, - and"
        " _, and this has 4 characters.",
        code="code",
    ),
    redeeming(
        "a code that was cut",
        "code_known",
        "That is not an authorization code of this service: those have 65 letters, digits, - and"
        " _, and this has 64 characters.",
        code=lambda code: code[:-1],
    ),
    redeeming(
        "a code with a line break",
        "code_known",
        "A space or a line break is at the beginning or the end of what should be an authorization"
        " code.",
        code=lambda code: f"{code}\n",
    ),
    redeeming(
        "a code of another installation",
        "code_known",
        "It has the form of an authorization code, but no such one is known: it comes from another"
        " installation, or is so old that it was forgotten.",
        code="c" * 65,
    ),
    redeeming(
        "a code in small letters",
        "code_known",
        "It begins like an authorization code of this service, but its rest differs: it was"
        " changed on its way.",
        code=lambda code: code[:22] + code[22:].swapcase(),
    ),
    Mistake(
        "a refresh token as code",
        "code_known",
        "That is a refresh token, not an authorization code.",
        refresh_token_as_code,
    ),
    Mistake(
        "the code of another client",
        "code_client",
        "The code was issued to the client `{other}`; `Wiki` ({wiki}) sent it.",
        code_of_another,
    ),
    redeeming(
        "another redirect_uri than before",
        "code_redirect_uri",
        "There is an extra / at the end. It differs from `https://client.example/cb` at character"
        " 26: `/` was sent, nothing more was in the authorization request.",
        redirect_uri=f"{CALLBACK}/",
    ),
    redeeming("no verifier", "code_verifier", "code_verifier is missing.", code_verifier=None),
    redeeming(
        "another verifier",
        "code_verifier",
        "The code_verifier is not the one that the code_challenge was made of.",
        code_verifier="v" * 43,
    ),
    redeeming(
        "a short verifier",
        "code_verifier",
        "The code_verifier has 8 characters, or some that are not allowed: it has 43 to 128"
        " letters, digits and - . _ ~",
        code_verifier="verifier",
    ),
    redeeming(
        "the challenge as verifier",
        "code_verifier",
        "The code_challenge itself is the code_verifier: it was made by plain, not by S256.",
        code_verifier=CHALLENGE,
    ),
    Mistake(
        "a verifier without a challenge",
        "code_verifier",
        "code_verifier was sent, but the request had no code_challenge.",
        unasked_verifier,
    ),
    Mistake(
        "a code that was used",
        "code_unused",
        f"The code was redeemed 3 s ago by the same client. {REVOKED}",
        used_code,
    ),
    redeeming(
        "a code that is late",
        "code_unexpired",
        "The code expired 12 s ago; a code lasts 60 s.",
        after=72,
    ),
    Mistake(
        "a user who was deactivated",
        "grant_stands",
        "The user is deleted or not active.",
        user_deactivated,
    ),
    Mistake(
        "a user who may not use the application any more",
        "user_allowed",
        "The user has no role in the application's project (projectRoleCheck).",
        user_shut_out,
    ),
    Mistake(
        "a code after the logout",
        "session_live",
        "The session that the code came from has ended.",
        code_after_logout,
    ),
]


def refreshing(name: str, check: str, sentence: str, token, *, after: float = 0, **changes):
    """A refresh with what `token` makes of the tokens."""

    async def make(world: World):
        tokens = await world.tokens()
        world.server.clock.advance(after)
        return await world.wiki.refresh(world.visitor, token(tokens), **changes)

    return Mistake(name, check, sentence, make)


async def spent_refresh_token(world: World):
    tokens = await world.tokens()
    await world.wiki.refresh(world.visitor, tokens["refresh_token"])
    world.server.clock.advance(5)
    return await world.wiki.refresh(world.visitor, tokens["refresh_token"])


async def revoked_refresh_token(world: World):
    tokens = await world.tokens()
    await world.spend(tokens)
    world.server.clock.advance(7)
    return await world.wiki.refresh(world.visitor, tokens["refresh_token"])


async def refresh_token_of_another(world: World):
    tokens = await world.tokens(await world.another())
    return await world.wiki.refresh(world.visitor, tokens["refresh_token"])


REFRESHES = [
    refreshing(
        "no refresh_token", "refresh_sent", "refresh_token is missing.", lambda tokens: None
    ),
    refreshing(
        "an access token as refresh token",
        "refresh_known",
        "That is an access token, not a refresh token.",
        lambda tokens: tokens["access_token"],
    ),
    refreshing(
        "a refresh token of another installation",
        "refresh_known",
        "It has the form of a refresh token, but no such one is known: it comes from another"
        " installation, or is so old that it was forgotten.",
        lambda tokens: "r" * 108,
    ),
    Mistake(
        "the refresh token of another client",
        "refresh_client",
        "The refresh token was issued to the client `{other}`; `Wiki` ({wiki}) sent it.",
        refresh_token_of_another,
    ),
    Mistake(
        "a refresh token of a dead family",
        "refresh_unrevoked",
        "The grant was revoked 7 s ago, with every token that came of it.",
        revoked_refresh_token,
    ),
    Mistake(
        "a refresh token that was used",
        "refresh_current",
        "The refresh token was rotated 5 s ago: this one was used. Its successor was never used:"
        f" perhaps the answer with it was lost. {REVOKED}",
        spent_refresh_token,
    ),
    refreshing(
        "a refresh token that nobody used",
        "refresh_unexpired",
        "The refresh token expired 24 h ago: it was not used for too long.",
        lambda tokens: tokens["refresh_token"],
        after=31 * 86_400,
    ),
    refreshing(
        "more scopes than before",
        "scope_granted",
        "`openid phone` was asked for, `openid profile email offline_access` granted.",
        lambda tokens: tokens["refresh_token"],
        scope="openid phone",
    ),
]
