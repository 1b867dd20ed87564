"""Mistakes that the authorization endpoint tells the client of, by redirect."""

from __future__ import annotations

from tests.handlers.protocol.mistakes.world import Mistake, World


def request(name: str, check: str, sentence: str, **changes):
    async def make(world: World):
        return await world.authorize(**changes)

    return Mistake(name, check, sentence, make)


def public(name: str, sentence: str, **changes):
    """A mistake of an application that has no secret and must use PKCE."""

    async def make(world: World):
        return await world.authorize(await world.another(auth_method="none"), **changes)

    return Mistake(name, "pkce", sentence, make)


def implicit(name: str, check: str, sentence: str, **changes):
    """A mistake of an application that may use the implicit flow."""

    async def make(world: World):
        party = await world.another(
            response_types=["code", "id_token", "id_token token"],
            grant_types=["authorization_code", "implicit"],
        )
        return await world.authorize(party, **{"response_type": "id_token"} | changes)

    return Mistake(name, check, sentence, make)


async def nonce_twice(world: World):
    return await world.visitor.get(f"{world.wiki.authorize_url()}&nonce=again")


async def by_put(world: World):
    return await world.visitor.request("PUT", world.wiki.authorize_url())


async def two_users(world: World):
    claims = '{"id_token": {"sub": {"value": "somebody"}}}'
    return await world.authorize(id_token_hint=(await world.tokens())["id_token"], claims=claims)


async def out_of_reach(world: World):
    claims = '{"id_token": {"acr": {"essential": true, "value": "urn:x:class"}}}'
    return await world.authorize(claims=claims)


async def not_let_in(world: World):
    await world.tokens()
    return await world.authorize(await world.another(is_third_party=True), prompt="none")


async def for_api(world: World):
    return await world.authorize(await world.another(app_type="api"))


async def several_people(world: World):
    await world.tokens()
    login_name, password = await world.server.copy_user("second@localhost")
    url = world.wiki.authorize_url(prompt="select_account")
    await world.visitor.sign_in(url, login_name, password)
    return await world.authorize(prompt="none")


async def too_long_ago(world: World):
    await world.tokens()
    world.server.clock.advance(61)
    return await world.authorize(prompt="none", max_age="60")


MISTAKES = [
    request(
        "no openid",
        "scope",
        "scope has no openid: `profile email` was sent.",
        scope="profile email",
    ),
    request(
        "scopes parted by commas",
        "scope",
        "Scopes are parted by spaces, and by nothing else; `openid,profile` was sent.",
        scope="openid,profile",
    ),
    request(
        "scopes with an encoded plus",
        "scope",
        "Scopes are parted by spaces, and by nothing else; `openid+profile` was sent.",
        scope="openid+profile",
    ),
    request(
        "a scope in capitals",
        "scope",
        "openid is written in lowercase letters; `OpenID profile` was sent.",
        scope="OpenID profile",
    ),
    request("no scope", "scope", "scope is missing.", scope=None),
    request(
        "a scope in quotes",
        "scope",
        "scope has a character that is not allowed.",
        scope='"openid"',
    ),
    request("no response_type", "response_type", "response_type is missing.", response_type=None),
    request(
        "response_type=token",
        "response_type",
        "response_type is one of code, id_token, id_token token; `token` was sent.",
        response_type="token",
    ),
    request(
        "the implicit flow, not allowed",
        "response_type",
        "The application may use code; id_token token was sent.",
        response_type="id_token token",
    ),
    implicit("no nonce", "nonce", "nonce is missing: the implicit flow needs one.", nonce=None),
    implicit(
        "tokens in a query",
        "response_mode",
        "No token is put into a query: response_mode must be fragment or form_post.",
        response_mode="query",
    ),
    request(
        "an unknown response_mode",
        "response_mode",
        "response_mode is not supported.",
        response_mode="web_message",
    ),
    public(
        "no PKCE",
        "code_challenge is missing: this client must use PKCE.",
        code_challenge=None,
        code_challenge_method=None,
    ),
    public("PKCE by plain", "code_challenge_method must be S256.", code_challenge_method="plain"),
    public(
        "PKCE without its method",
        "code_challenge_method must be S256.",
        code_challenge_method=None,
    ),
    public(
        "a padded challenge",
        "code_challenge must be 43 base64url characters.",
        code_challenge="c" * 43 + "=",
    ),
    request(
        "a method without a challenge",
        "pkce",
        "code_challenge_method was sent without code_challenge.",
        code_challenge=None,
    ),
    request(
        "a request object",
        "request_object",
        "request objects are not supported.",
        request="e30.e30.",
    ),
    request(
        "a request object elsewhere",
        "request_object",
        "request_uri is not supported.",
        request_uri="https://client.example/request",
    ),
    request(
        "a prompt that nobody knows",
        "prompt",
        "prompt has some of none, login, select_account, create, consent; `signup` was sent.",
        prompt="signup",
    ),
    request(
        "prompt=none and login",
        "prompt",
        "prompt none can not be combined with another value.",
        prompt="none login",
    ),
    request(
        "a max_age with a unit",
        "max_age",
        "max_age is a number of seconds; `1h` was sent.",
        max_age="1h",
    ),
    request(
        "a nonce of 5,000 characters",
        "lengths",
        "nonce is longer than 4096 characters.",
        nonce="n" * 5000,
    ),
    request(
        "prompt=none without a session", "person", "The user is not signed in.", prompt="none"
    ),
    Mistake(
        "prompt=none and two people",
        "person",
        "Several users are signed in: one has to be chosen.",
        several_people,
    ),
    Mistake(
        "prompt=none, too long ago", "person", "The user has to authenticate again.", too_long_ago
    ),
    Mistake(
        "a hint and claims of two users",
        "subject",
        "id_token_hint and claims name different users.",
        two_users,
    ),
    Mistake(
        "an essential acr that nobody has",
        "person",
        "No acr that claims demands can be reached here.",
        out_of_reach,
    ),
    Mistake(
        "prompt=none before any consent",
        "person",
        "The user has not let the client in yet.",
        not_let_in,
    ),
    Mistake(
        "an API application at the authorization endpoint",
        "response_type",
        "The application signs no users in; code was sent.",
        for_api,
    ),
    request(
        "a form with a line break in state",
        "response_mode",
        "A form goes to a web address, and can't bring back a state with NUL or a line break.",
        response_mode="form_post",
        state="a\nb",
    ),
    Mistake("nonce twice", "once", "nonce was sent more than once.", nonce_twice),
    Mistake(
        "authorize by PUT",
        "method",
        "The request came by PUT; this endpoint takes GET or POST.",
        by_put,
    ),
]
