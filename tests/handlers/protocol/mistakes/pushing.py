"""Mistakes with pushed authorization requests: when they are pushed, and when they are brought."""

from __future__ import annotations

from tests.handlers.protocol.mistakes.world import CALLBACK, Mistake, World
from tests.support.protocol.relying_party import RelyingParty

PATH = "/oauth/v2/par"
PREFIX = "urn:ietf:params:oauth:request_uri:"
UNREGISTERED = "The redirect_uri is not one that the application registered."


async def push(world: World, party: RelyingParty | None = None, **changes):
    party = party or world.wiki
    form = party.authorize_form(**changes)
    return await world.visitor.post(PATH, form, headers=party.basic())


async def authorize_by_reference(world: World, request_uri: str):
    form = {"client_id": world.wiki.client_id, "request_uri": request_uri}
    return await world.visitor.get("/oauth/v2/authorize", params=form)


def pushing(name: str, check: str, sentence: str, **changes):
    async def make(world: World):
        return await push(world, **changes)

    return Mistake(name, check, sentence, make)


def bringing(name: str, sentence: str, make):
    shown = ("The request_uri can't be used", "Push a new request for each sign-in")
    return Mistake(name, "reference", sentence, make, shown)


async def plainly(world: World):
    return await world.authorize(await world.another(requires_pushed_requests=True))


async def twice(world: World):
    reference = (await push(world)).json()["request_uri"]
    page = await world.visitor.follow(await authorize_by_reference(world, reference))
    await world.visitor.submit(page, decision="cancel")
    world.server.clock.advance(5)
    return await authorize_by_reference(world, reference)


async def too_late(world: World):
    reference = (await push(world)).json()["request_uri"]
    world.server.clock.advance(61)
    return await authorize_by_reference(world, reference)


async def of_another(world: World):
    other = await world.another()
    return await authorize_by_reference(world, (await push(world, other)).json()["request_uri"])


async def by_an_api(world: World):
    return await push(world, await world.another(app_type="api"))


async def with_wrong_secret(world: World):
    headers = RelyingParty(world.wiki.issuer, world.wiki.client_id, "wrong", CALLBACK).basic()
    return await world.visitor.post(PATH, world.wiki.authorize_form(), headers=headers)


UNKNOWN = "No such request_uri is known. Each lasts 60 s and is used once."
MISTAKES = [
    Mistake(
        "a request that an API pushes",
        "signs_in",
        "The application is an API, which signs no users in.",
        by_an_api,
    ),
    pushing(
        "a request_uri that is pushed",
        "no_reference",
        "request_uri can not be pushed.",
        request_uri=f"{PREFIX}x",
    ),
    pushing(
        "a pushed address with a slash too many",
        "redirect_uri",
        f"{UNREGISTERED} There is an extra / at the end. It differs from `{CALLBACK}` at"
        " character 26: `/` was sent, nothing more is registered there.",
        redirect_uri=f"{CALLBACK}/",
    ),
    pushing(
        "a pushed request without openid",
        "scope",
        "scope has no openid: `email` was sent.",
        scope="email",
    ),
    Mistake(
        "a push with a wrong secret",
        "client_proof",
        "The secret is wrong: it has 5 characters"
        " (the application's method is client_secret_basic, and that was used).",
        with_wrong_secret,
    ),
    Mistake(
        "a plain request where they are pushed",
        "pushed",
        "The client must push its requests.",
        plainly,
    ),
    bringing("a reference used twice", "The request_uri was used 5 s ago.", twice),
    bringing("a reference that has expired", UNKNOWN, too_late),
    bringing(
        "a reference of another application",
        "The request was pushed by another application.",
        of_another,
    ),
]
