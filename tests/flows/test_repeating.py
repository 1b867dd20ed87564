"""Twins under one Idempotency-Key, over every store and two processes: one thing, one answer."""

from __future__ import annotations

import asyncio

import pytest

from idp.records import PROJECTS
from tests.flows.conftest import PLACES
from tests.flows.test_managing import AT_ONCE, NO_REUSE, owner


@pytest.mark.full
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_of_twins_one_is_carried_out_and_all_get_its_answer(place, open_browser):
    browser = open_browser(place, limits=NO_REUSE)
    script, name = await owner(place, browser), f"Shop {place.service.random.id()}"
    key = {"Idempotency_Key": place.service.random.id()}
    pages = await asyncio.gather(
        *(script.post("/management/v1/projects", {"name": name}, **key) for _ in range(AT_ONCE))
    )

    made = [one async for one in place.store.scan(PROJECTS) if one.name == name]
    assert {page.status for page in pages} == {200}, pages[0].text
    assert len({page.text for page in pages}) == 1
    assert [one.id for one in made] == [pages[0].json()["id"]]
