"""Deactivating and locking users over HTTP, and letting them in again."""

from __future__ import annotations

import pytest

from idp.records import MEMBERSHIPS, USERS
from storage import Delete
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

ENDS = [("deactivate", "reactivate", "inactive"), ("lock", "unlock", "locked")]


async def person(server) -> str:
    """The id of the demo user."""
    page = await server.store.find(USERS, {"login_key": server.user[0]})
    return page.records[0].id


@pytest.mark.parametrize(("end", "back", "state"), ENDS)
async def test_a_user_who_is_shut_out_loses_everything_for_good(
    server, new_visitor, owner, demo, end, back, state
):
    id, browser = await person(server), new_visitor()
    tokens = await demo.tokens(browser, *server.user)
    page = await owner.post(f"/v2/users/{id}/{end}", {})

    assert page.status == 200, page.text
    shown = (await owner.get(f"/v2/users/{id}")).json()["user"]
    assert shown["state"] == f"USER_STATE_{state.upper()}"
    assert (await demo.userinfo(browser, tokens["access_token"])).status == 401
    assert (await demo.refresh(browser, tokens["refresh_token"])).status == 400
    assert (await demo.silently(browser))["error"] == "login_required"
    refused_page = await new_visitor().sign_in(demo.authorize_url(), *server.user)
    assert not refused_page.answer

    await owner.post(f"/v2/users/{id}/{back}", {})

    assert (await demo.userinfo(browser, tokens["access_token"])).status == 401
    assert (await demo.refresh(browser, tokens["refresh_token"])).status == 400
    assert (await demo.silently(browser))["error"] == "login_required"
    assert await demo.tokens_by_pages(new_visitor(), *server.user)
    await events_agree(server.store)


@pytest.mark.parametrize(("end", "back", "state"), ENDS)
async def test_a_step_is_taken_from_its_own_state_alone(server, owner, end, back, state):
    path = f"/v2/users/{await person(server)}"
    before = await everything(server.store)
    assert refused(await owner.post(f"{path}/{back}", {}), 400, 9) == {"": "user.state"}
    assert await everything(server.store) == before
    await owner.post(f"{path}/{end}", {})
    before = await everything(server.store)

    others = [step for steps in ENDS for step in steps[:2] if step != back]
    for step in others:
        assert refused(await owner.post(f"{path}/{step}", {}), 400, 9) == {"": "user.state"}, step
    assert await everything(server.store) == before


async def test_nobody_shuts_out_who_may_do_more_than_they(server, visitor):
    here = await new_organization(server, "here.example")
    manager = await new_caller(server, visitor, here, "ORG_USER_MANAGER")
    chief = await new_caller(server, visitor, here, "ORG_OWNER")
    before = await everything(server.store)
    for step in ("deactivate", "lock"):
        page = await manager.post(f"/v2/users/{chief.user_id}/{step}", {})
        assert refused(page, 403, 7) == {"": "permission_denied"}

    assert await everything(server.store) == before
    assert (await chief.post(f"/v2/users/{manager.user_id}/deactivate", {})).status == 200


async def test_the_last_owner_of_the_instance_stays(server, visitor):
    here = await new_organization(server, "here.example")
    last = await new_caller(server, visitor, here, "IAM_OWNER", everywhere=True)
    second = await new_caller(server, visitor, here, "IAM_OWNER", everywhere=True)
    async for held in server.store.scan(MEMBERSHIPS):
        if held.org_id is None and held.user_id not in (last.user_id, second.user_id):
            await server.store.commit(Delete(MEMBERSHIPS, held.id))
    assert (await last.post(f"/v2/users/{second.user_id}/deactivate", {})).status == 200
    before = await everything(server.store)

    for step in ("deactivate", "lock"):
        page = await last.post(f"/v2/users/{last.user_id}/{step}", {})
        assert refused(page, 400, 9) == {"": "user.last_owner"}
    assert await everything(server.store) == before
