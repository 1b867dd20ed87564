"""People made over HTTP, over every store and two processes: they sign in, and twins are one."""

from __future__ import annotations

import asyncio
import itertools
from functools import partial

import httpx
import pytest

from idp.records import ORGANIZATIONS, USERS
from tests.flows.conftest import PLACES
from tests.support.management.callers import new_caller, refused
from tests.support.sign_in.people import PASSWORD, PATH, create, person

AT_ONCE = 32
ROUNDS = [pytest.param(3, id="3"), pytest.param(20, id="20", marks=pytest.mark.load)]
NUMBERS = itertools.count()  # of mailboxes, each of which gets few messages
NO_REUSE = httpx.Limits(max_keepalive_connections=0)


async def manager(place, browser):
    """Who manages the users of the first organization."""
    page = await place.store.find(ORGANIZATIONS, {"primary_domain": "localhost"})
    return await new_caller(place, browser, page.records[0], "ORG_USER_MANAGER")


@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_a_person_who_was_made_signs_in(place, open_browser):
    browser, party = open_browser(place, limits=NO_REUSE), await place.register()
    address = {"email": f"{place.service.random.id()}@mouse.example", "isVerified": True}
    entries = [{"key": f"k{n}", "value": "YQ=="} for n in range(100)]
    password = {"password": PASSWORD}
    made = await create(
        await manager(place, browser), email=address, password=password, metadata=entries
    )

    tokens = await party.tokens(browser, address["email"].upper(), PASSWORD)

    userinfo = await party.userinfo(browser, tokens["access_token"])
    assert userinfo.json()["sub"] == made["userId"]


def one_id(name, n):
    return {"userId": name, "username": f"{name}-{n}"}


def one_name(name, n):
    return {"username": name.upper() if n % 2 else name}


def name_and_domain(name, n):
    return {"username": f"{name}@localhost" if n % 2 else name}


def name_and_address(name, n):
    address = f"{name}@mouse.example"
    if n % 2:
        return {"username": address}
    return {"username": f"{name}-{n}", "email": {"email": address, "isVerified": True}}


@pytest.mark.gen_test(timeout=600)
@pytest.mark.parametrize("twin", [one_id, one_name, name_and_domain])
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("place", ["sqlite", "mongodb"], indirect=True)
async def test_of_many_twins_one_is_made(place, open_browser, rounds, twin):
    caller = await manager(place, open_browser(place, limits=NO_REUSE))
    for _ in range(rounds):
        pages = await at_once(caller, partial(twin, place.service.random.id()))

        made = [page for page in pages if page.status == 200]
        assert len(made) == 1
        check_told([page for page in pages if page not in made])


@pytest.mark.gen_test(timeout=600)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("place", ["sqlite", "mongodb"], indirect=True)
async def test_a_name_is_never_given_out_beside_the_same_address(place, open_browser, rounds):
    caller = await manager(place, open_browser(place, limits=NO_REUSE))
    for _ in range(rounds):
        name = place.service.random.id()
        pages = await at_once(caller, partial(name_and_address, name))

        assert {page.status for page in pages} == {200, 409}
        check_told([page for page in pages if page.status == 409])
        key = f"{name}@mouse.example".casefold()
        named = await place.store.find(USERS, {"login_key": key})
        holders = await place.store.find(USERS, {"email_key": key})
        assert not named.records or not [
            one for one in holders.records if one not in named.records
        ]


async def at_once(caller, twin):
    bodies = [
        person(email=None) | {"email": {"email": f"a{next(NUMBERS)}@b.example"}} | twin(n)
        for n in range(AT_ONCE)
    ]
    return await asyncio.gather(*(caller.post(PATH, body) for body in bodies))


def check_told(pages):
    for page in pages:
        assert set(refused(page, 409, 6).values()) <= {"user.id_taken", "user.login_name_taken"}
