"""Members of a group that are added and taken out at the same moment, over two processes."""

from __future__ import annotations

import asyncio

import pytest

from idp.background import deferred_work
from idp.records.groups import GROUP_MEMBERS, GROUPS
from tests.flows.conftest import PLACES
from tests.flows.test_managing import NO_REUSE, owner
from tests.support.management.grouping import GROUPS as PATH
from tests.support.management.grouping import Grouping
from tests.support.store.audit import events_agree

AT_ONCE = 32
ROUNDS = [pytest.param(1, id="1"), pytest.param(10, id="10", marks=pytest.mark.load)]


@pytest.mark.full
@pytest.mark.load("mongodb")
@pytest.mark.promise("groups: races")
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_32_racing_adds_and_removes_end_in_one_state(place, open_browser, rounds):
    grouping = Grouping(await owner(place, open_browser(place, limits=NO_REUSE)))
    users = [await grouping.user() for _ in range(4)]
    for _ in range(rounds):
        group = await grouping.group()
        await grouping.add(group, *users[:2])

        def change(n, group=group):
            user = users[n % len(users)]
            if n % 8 < 4:
                body = {"userIds": [user]}
                return grouping.send("POST", f"{PATH}/{group}/users", body)
            return grouping.remove(group, user)

        pages = await asyncio.gather(*(change(n) for n in range(AT_ONCE)))

        assert {page.status for page in pages} <= {200, 404}
        members = await grouping.members(group)
        assert set(members) <= set(users)
        assert (await grouping.shown(group)).get("memberCount", 0) == len(members)
    await events_agree(place.store)


@pytest.mark.load("mongodb")
@pytest.mark.promise("groups: races")
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_a_group_that_is_deleted_while_users_are_added_keeps_none(place, open_browser):
    grouping = Grouping(await owner(place, open_browser(place, limits=NO_REUSE)))
    users, group = [await grouping.user() for _ in range(8)], await grouping.group()

    added = (grouping.send("POST", f"{PATH}/{group}/users", {"userIds": [user]}) for user in users)
    pages = await asyncio.gather(*added, grouping.send("DELETE", f"{PATH}/{group}"))

    assert pages[-1].status == 200
    assert {page.status for page in pages} <= {200, 404}
    await deferred_work.process_due(place.service)
    assert await place.store.get(GROUPS, group) is None
    left = await place.store.find(GROUP_MEMBERS, {"user_id": users[0]})
    assert left.records == []
    await events_agree(place.store)
