"""Every artefact at every place that takes one: it counts where it belongs, and is
refused everywhere else in that place's own words, with nothing written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from msgspec import Struct

from tests.support.attacks.artefacts import ARTEFACTS, World
from tests.support.browsers.visitor import Page
from tests.support.management.callers import Caller, refused
from tests.support.protocol import exchanging
from tests.support.protocol.answers import assert_granted, assert_json, assert_refused
from tests.support.protocol.asserting import ASSERTION_TYPE, JWT_BEARER
from tests.support.protocol.device import GRANT as DEVICE_GRANT
from tests.support.protocol.exchanging import ACCESS, ID, JWT, USER_ID
from tests.support.store.stored import everything

ACCESS_TOKENS = {"opaque access token", "JWT access token"}
BEARERS = ACCESS_TOKENS | {"personal access token"}


class Place(Struct, frozen=True):
    """Where an artefact may be put: who it belongs to, what it gives, what all others are told."""

    send: Callable[[World, str], Awaitable[Page]]
    takes: set[str]
    accepts: Callable[[Page], object]
    refuses: Callable[[Page], object]


def error(status: int, code: str) -> Callable[[Page], object]:
    return lambda page: assert_refused(page, status, code)


def grant(grant_type: str, name: str, takes: str, **more: str) -> Place:
    """A parameter of the token endpoint."""

    async def send(world: World, text: str) -> Page:
        return await world.party.token(
            world.visitor, {"grant_type": grant_type, name: text} | more
        )

    return Place(send, {takes}, assert_granted, error(400, "invalid_grant"))


async def redeem(world: World, text: str) -> Page:
    return await world.party.redeem(world.visitor, text)


async def assert_oneself(world: World, text: str) -> Page:
    form = {"grant_type": JWT_BEARER, "assertion": text}
    return await world.visitor.post("/oauth/v2/token", form)


async def assert_client(world: World, text: str) -> Page:
    form = {"client_assertion_type": ASSERTION_TYPE, "client_assertion": text}
    return await world.visitor.post("/oauth/v2/token", form | {"grant_type": "refresh_token"})


def subject(type: str, takes: set[str]) -> Place:
    """The subject of a token exchange. The last two types come with an actor."""

    async def send(world: World, text: str) -> Page:
        sent = {"subject_token": text, "subject_token_type": type}
        if type in (JWT, USER_ID):
            sent |= {"actor_token": world.machine.token, "actor_token_type": ACCESS}
        return await world.party.token(world.visitor, {"grant_type": exchanging.GRANT} | sent)

    return Place(send, takes, assert_granted, error(400, "invalid_request"))


def actor(type: str, takes: set[str]) -> Place:
    """Who acts for somebody."""

    async def send(world: World, text: str) -> Page:
        sent = {"subject_token": world.ann, "subject_token_type": USER_ID}
        sent |= {"actor_token": text, "actor_token_type": type}
        return await world.party.token(world.visitor, {"grant_type": exchanging.GRANT} | sent)

    return Place(send, takes, assert_granted, error(400, "invalid_request"))


async def introspect(world: World, text: str) -> Page:
    headers = world.party.basic()
    return await world.visitor.post("/oauth/v2/introspect", {"token": text}, headers=headers)


def is_active(page: Page) -> None:
    assert page.status == 200
    assert page.json()["active"] is True


def is_inactive(page: Page) -> None:
    assert_json(page)
    assert (page.status, page.text) == (200, '{"active":false}')
    assert "WWW-Authenticate" not in page.headers


async def revoke(world: World, text: str) -> Page:
    headers = world.party.basic()
    return await world.visitor.post("/oauth/v2/revoke", {"token": text}, headers=headers)


def is_done(page: Page) -> None:
    """Also where there was nothing to do (RFC 7009, 2.2)."""
    assert_json(page)
    assert (page.status, page.text) == (200, "")


async def userinfo(world: World, text: str) -> Page:
    return await world.party.userinfo(world.visitor, text)


def has_subject(page: Page) -> None:
    assert page.status == 200
    assert page.json()["sub"]


def is_no_token(page: Page) -> None:
    assert (page.status, page.json()["error"]) == (401, "invalid_token")
    assert page.headers["WWW-Authenticate"].startswith('Bearer realm="idp", error="invalid_token"')
    assert page.headers["Cache-Control"] == "no-store"


async def manage(world: World, text: str) -> Page:
    body = {"name": "A project"}
    return await Caller(world.visitor, text).post("/management/v1/projects", body)


def is_made(page: Page) -> None:
    assert page.status == 200
    assert page.json()["id"]


def is_unauthenticated(page: Page) -> None:
    refused(page, 401, 16)
    assert page.headers["WWW-Authenticate"].startswith('Bearer realm="idp", error="invalid_token"')
    assert page.headers["Cache-Control"] == "no-store"


PLACES = {
    "code": Place(redeem, {"code"}, assert_granted, error(400, "invalid_grant")),
    "refresh_token": grant("refresh_token", "refresh_token", "refresh token"),
    "assertion": Place(assert_oneself, {"assertion"}, assert_granted, error(400, "invalid_grant")),
    "client_assertion": Place(assert_client, set(), assert_granted, error(400, "invalid_client")),
    "device_code": grant(DEVICE_GRANT, "device_code", "device code"),
    "subject_token, access token": subject(ACCESS, BEARERS),
    "subject_token, ID token": subject(ID, {"ID token"}),
    "subject_token, JWT": subject(JWT, set()),
    "subject_token, user id": subject(USER_ID, set()),
    "actor_token, access token": actor(ACCESS, BEARERS),
    "actor_token, ID token": actor(ID, {"ID token"}),
    "introspect": Place(introspect, BEARERS, is_active, is_inactive),
    "userinfo": Place(userinfo, BEARERS, has_subject, is_no_token),
    "revoke": Place(revoke, ACCESS_TOKENS | {"refresh token"}, is_done, is_done),
    "management": Place(manage, {"personal access token"}, is_made, is_unauthenticated),
}
ACCEPTED = [
    (name, at) for at, place in PLACES.items() for name in ARTEFACTS if name in place.takes
]


@pytest.fixture
def made(io_loop, server, visitor, artefact):
    """The world of an artefact, and the artefact."""

    async def make():
        kind, get = ARTEFACTS[artefact]
        world = await World.make(server, visitor, kind)
        return world, await get(world)

    return io_loop.run_sync(make)


def test_every_artefact_has_a_place_of_its_own():
    taken = [place.takes for place in PLACES.values()]

    assert set().union(*taken) == set(ARTEFACTS)
    assert (len(ARTEFACTS), len(PLACES)) == (8, 15)


@pytest.mark.parametrize(("artefact", "at"), ACCEPTED)
async def test_an_artefact_counts_where_it_belongs(server, made, artefact, at):
    world, text = made
    before = await everything(server.store)
    page = await PLACES[at].send(world, text)
    after = await everything(server.store)

    PLACES[at].accepts(page)
    assert at != "revoke" or after != before


@pytest.mark.parametrize("artefact", ARTEFACTS)
async def test_an_artefact_is_refused_everywhere_else_and_changes_nothing(server, made, artefact):
    world, text = made
    before = await everything(server.store)
    others = {at: place for at, place in PLACES.items() if artefact not in place.takes}
    for at, place in others.items():
        page = await place.send(world, text)
        try:
            place.refuses(page)
            assert await everything(server.store) == before
        except AssertionError as failure:
            failure.add_note(f"{artefact} as {at}: {page.status} {page.text}")
            raise


@pytest.mark.parametrize("artefact", ARTEFACTS)
async def test_an_artefact_that_was_presented_at_the_wrong_places_still_counts_at_its_own(
    server, made, artefact
):
    world, text = made
    own = next(place for place in PLACES.values() if artefact in place.takes)
    for place in PLACES.values():
        if artefact not in place.takes:
            await place.send(world, text)

    own.accepts(await own.send(world, text))
