"""If-Match: who says which state they change changes that one, or nothing."""

from __future__ import annotations

import asyncio

import pytest

from idp.api import OPERATIONS
from tests.support.management.api_samples import CALLS, called
from tests.support.management.callers import is_admitted, refused
from tests.support.slices import one_in
from tests.support.store.stored import everything

CONDITIONAL = [called(one) for one in OPERATIONS if one.is_conditional]
OTHERS = [called(one) for one in OPERATIONS if not one.is_conditional]
PROJECT = "/management/v1/projects"


def is_not_so(page):
    """412; or what the sample changes is not there, or in no state that leads on."""
    if page.status == 412:
        return refused(page, 412, 9) == {"": "precondition.failed"}
    return (page.status, page.json()["code"]) in {(404, 5), (400, 9)}


@pytest.mark.full
async def test_another_state_than_the_one_that_is_there_is_not_changed(server, world):
    for call in CONDITIONAL:
        target = await world.target(CALLS[call])
        before = await everything(server.store)
        page = await target.by(world.owner, **world.here, If_Match='"999999"')

        assert is_not_so(page), (call, page.text)
        assert await everything(server.store) == before, call


@pytest.mark.parametrize("call", one_in(4, CONDITIONAL))
async def test_a_star_is_any_state(world, call):
    target = await world.target(CALLS[call])
    page = await target.by(world.owner, **world.here, If_Match="*")

    assert is_admitted(page), page.text


@pytest.mark.full
async def test_what_is_no_state_is_refused(server, world):
    for call in CONDITIONAL:
        target = await world.target(CALLS[call])
        before = await everything(server.store)
        for tag in ("7", 'W/"7"', '"x"', '"1", "2"', '""', '"-1"', '"' + "9" * 30 + '"'):
            page = await target.by(world.owner, **world.here, If_Match=tag)

            assert refused(page, 400, 3) == {"If-Match": "if_match.invalid"}, (call, tag)
        assert await everything(server.store) == before, call


@pytest.mark.full
async def test_a_call_that_has_no_state_says_so(server, world):
    for call in OTHERS:
        target = await world.target(CALLS[call])
        before = await everything(server.store)
        page = await target.by(world.owner, **world.here, If_Match='"1"')

        assert refused(page, 400, 3) == {"If-Match": "if_match.unsupported"}, call
        assert await everything(server.store) == before, call


async def test_the_tag_of_an_answer_is_the_state_that_can_be_changed(world):
    made = await world.owner.post(PROJECT, {"name": "Shop"})
    path = f"{PROJECT}/{made.json()['id']}"
    first = await world.owner.request(
        "PUT", path, {"name": "Shop 2"}, If_Match=made.headers["ETag"]
    )
    late = await world.owner.request(
        "PUT", path, {"name": "Shop 3"}, If_Match=made.headers["ETag"]
    )

    assert (made.headers["ETag"], first.headers["ETag"]) == ('"1"', '"2"')
    refused(late, 412, 9)
    assert 'its version is 2 now (ETag "2")' in late.text.replace("\\", "")
    assert (await world.owner.get(path)).json()["project"]["name"] == "Shop 2"


async def test_of_many_who_change_one_state_one_wins(server, world):
    made = await world.owner.post(PROJECT, {"name": "Shop"})
    path = f"{PROJECT}/{made.json()['id']}"
    pages = await asyncio.gather(
        *(
            world.owner.request("PUT", path, {"name": f"Shop {n}"}, If_Match='"1"')
            for n in range(16)
        )
    )

    (winner,) = [page for page in pages if page.status == 200]
    for page in pages:
        if page is not winner:
            refused(page, 412, 9)
    assert (await world.owner.get(path)).headers["ETag"] == '"2"'
