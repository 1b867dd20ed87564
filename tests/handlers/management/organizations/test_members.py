"""Who manages what, changed and withdrawn over HTTP."""

from __future__ import annotations

import pytest

from idp.audit import events
from idp.audit.events import AuditEntry
from idp.identity.users import permissions
from idp.records import EVENTS, LAST_USES, MEMBERSHIPS
from tests.support.management.api_samples import INSTANCE_MEMBERS, MEMBERS, SET_UP, organization
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything

PROJECTS = "/management/v1/projects"
LAST = {"": "member.last_owner"}


@pytest.fixture
def here(io_loop, server):
    return io_loop.run_sync(lambda: new_organization(server, "here.example"))


async def put(caller, path, user_id, *roles, **headers):
    return await caller.request("PUT", f"{path}/{user_id}", {"roles": roles}, **headers)


async def delete(caller, path, user_id, **headers):
    return await caller.request("DELETE", f"{path}/{user_id}", None, **headers)


async def roles_of(server, user_id):
    held = (await server.store.find(MEMBERSHIPS, {"user_id": user_id})).records
    return {one.org_id: one.roles for one in held}


async def two_owners(server, visitor, here, path):
    """The only owners of the organization, or of the instance."""
    everywhere = path == INSTANCE_MEMBERS
    role = "IAM_OWNER" if everywhere else "ORG_OWNER"
    made = [await new_caller(server, visitor, here, role, everywhere=everywhere) for _ in "12"]
    async for held in server.store.scan(MEMBERSHIPS):
        if held.org_id is None and held.user_id not in [each.user_id for each in made]:
            now = server.clock.now()
            gone = events.removal(
                server.service.random,
                MEMBERSHIPS,
                held,
                AuditEntry("membership.deleted", "a test", now),
            )
            await server.store.commit(*gone)
    return made


async def test_a_member_has_the_new_roles_and_no_others_at_once(server, visitor, here):
    chief = await new_caller(server, visitor, here, "ORG_OWNER")
    script = await new_caller(server, visitor, here, "ORG_PROJECT_CREATOR")
    assert (await script.post(PROJECTS, {"name": "P"})).status == 200
    server.clock.advance(1)
    page = await put(chief, MEMBERS, script.user_id, "ORG_USER_MANAGER", "ORG_USER_MANAGER")

    assert page.status == 200, page.text
    details = page.json()["details"]
    assert (details["resourceOwner"], details["sequence"]) == (here.id, "2")
    assert details["creationDate"] < details["changeDate"]
    assert await roles_of(server, script.user_id) == {here.id: ["ORG_USER_MANAGER"]}
    refused(await script.post(PROJECTS, {"name": "P"}), 403, 7)
    assert (await script.get(f"/v2/users/{chief.user_id}")).status == 200
    await events_agree(server.store)


async def test_a_member_of_the_instance_has_the_new_roles_at_once(server, visitor, owner, here):
    script = await new_caller(server, visitor, here, "IAM_OWNER", everywhere=True)
    page = await put(owner, INSTANCE_MEMBERS, script.user_id, "IAM_OWNER_VIEWER")

    assert page.json()["details"]["resourceOwner"] == here.id
    assert await roles_of(server, script.user_id) == {None: ["IAM_OWNER_VIEWER"]}
    refused(await script.post(SET_UP, organization()), 403, 7)
    await events_agree(server.store)


async def test_the_same_roles_are_no_change(server, visitor, here):
    chief = await new_caller(server, visitor, here, "ORG_OWNER")
    before = await everything(server.store)

    assert (await put(chief, MEMBERS, chief.user_id, "ORG_OWNER")).status == 200
    assert await everything(server.store) == before


@pytest.mark.parametrize("path", [MEMBERS, INSTANCE_MEMBERS])
async def test_who_is_removed_may_do_nothing_and_may_be_added_again(server, visitor, here, path):
    chief, script = await two_owners(server, visitor, here, path)
    page = await delete(chief, path, script.user_id)

    assert page.status == 200, page.text
    assert page.json()["details"]["resourceOwner"] == here.id
    assert await roles_of(server, script.user_id) == {}
    refused(await script.post(PROJECTS, {"name": "P"}), 403, 7)
    role = "ORG_OWNER" if path == MEMBERS else "IAM_OWNER"
    again = await chief.post(path, {"userId": script.user_id, "roles": [role]})
    assert again.status == 200, again.text
    assert (await script.post(PROJECTS, {"name": "P"})).status == 200
    await events_agree(server.store)


async def test_the_log_names_who_changed_and_who_removed_a_member(server, visitor, here):
    chief, script = await two_owners(server, visitor, here, MEMBERS)
    await put(chief, MEMBERS, script.user_id, "ORG_OWNER_VIEWER")
    await delete(chief, MEMBERS, script.user_id)

    told = [one async for one in server.store.scan(EVENTS) if one.actor == chief.user_id]
    assert sorted((one.type, one.org_id, one.sequence) for one in told) == [
        ("membership.changed", here.id, 2),
        ("membership.deleted", here.id, 3),
    ]


@pytest.mark.parametrize("path", [MEMBERS, INSTANCE_MEMBERS])
async def test_the_last_active_owner_stays(server, visitor, owner, here, path):
    last, other = await two_owners(server, visitor, here, path)
    viewer = "ORG_OWNER_VIEWER" if path == MEMBERS else "IAM_OWNER_VIEWER"
    assert (await last.post(f"/v2/users/{other.user_id}/lock", {})).status == 200
    before = await everything(server.store)

    assert refused(await delete(last, path, last.user_id), 400, 9) == LAST
    assert refused(await put(last, path, last.user_id, viewer), 400, 9) == LAST
    assert await everything(server.store) == before
    assert (await last.post(f"/v2/users/{other.user_id}/unlock", {})).status == 200
    assert (await put(last, path, last.user_id, viewer)).status == 200


@pytest.fixture
def overtaken(server, monkeypatch):
    """What lets somebody else come between the look of the next change and its write."""

    def arrange(first):
        commit, told = server.store.commit, []

        async def late(*writes):
            if all(each.collection is not LAST_USES for each in writes):  # the caller's token's
                monkeypatch.setattr(server.store, "commit", commit)
                told.append(await first())
            await commit(*writes)

        monkeypatch.setattr(server.store, "commit", late)
        return told

    return arrange


@pytest.mark.parametrize("path", [MEMBERS, INSTANCE_MEMBERS])
@pytest.mark.parametrize("step", ["removed", "demoted", "locked"])
async def test_of_two_owners_who_go_at_once_one_stays(
    server, visitor, here, overtaken, path, step
):
    one, two = await two_owners(server, visitor, here, path)
    viewer = "ORG_OWNER_VIEWER" if path == MEMBERS else "IAM_OWNER_VIEWER"
    steps = {
        "removed": lambda: delete(one, path, two.user_id),
        "demoted": lambda: put(one, path, two.user_id, viewer),
        "locked": lambda: one.post(f"/v2/users/{two.user_id}/lock", {}),
    }
    told = overtaken(steps[step])
    page = await delete(one, path, one.user_id)

    assert [each.status for each in told] == [200]
    assert refused(page, 400, 9) == LAST
    assert refused(await put(one, path, one.user_id, viewer), 400, 9) == LAST
    await events_agree(server.store)


async def test_the_last_owner_is_not_demoted_while_the_other_one_goes(
    server, visitor, here, overtaken
):
    one, two = await two_owners(server, visitor, here, MEMBERS)
    told = overtaken(lambda: delete(two, MEMBERS, two.user_id))
    page = await put(one, MEMBERS, one.user_id, "ORG_OWNER_VIEWER")

    assert [each.status for each in told] == [200]
    assert refused(page, 400, 9) == LAST
    assert await roles_of(server, one.user_id) == {here.id: ["ORG_OWNER"]}


async def test_the_last_owner_is_not_locked_while_the_other_one_goes(
    server, visitor, here, overtaken
):
    one, two = await two_owners(server, visitor, here, INSTANCE_MEMBERS)
    told = overtaken(lambda: delete(one, INSTANCE_MEMBERS, one.user_id))
    page = await one.post(f"/v2/users/{two.user_id}/lock", {})

    assert [each.status for each in told] == [200]
    assert refused(page, 400, 9) == {"": "user.last_owner"}
    await events_agree(server.store)


@pytest.mark.parametrize("path", [MEMBERS, INSTANCE_MEMBERS])
async def test_who_is_no_member_is_404(server, visitor, owner, here, path):
    role, others = "ORG_OWNER", "IAM_OWNER"
    if path == INSTANCE_MEMBERS:
        role, others = others, role
    script = await new_caller(server, visitor, here, others, everywhere=path == MEMBERS)
    before = await everything(server.store)
    for user_id in (script.user_id, "nobody"):
        for page in (
            await delete(owner, path, user_id, x_idp_orgid=here.id),
            await put(owner, path, user_id, role, x_idp_orgid=here.id),
        ):
            assert refused(page, 404, 5) == {"": "member.not_found"}
    assert await everything(server.store) == before


async def test_a_member_of_another_organization_is_out_of_reach(server, visitor, here):
    there = await new_organization(server, "there.example")
    chief = await new_caller(server, visitor, here, "ORG_OWNER")
    stranger = await new_caller(server, visitor, there, "ORG_OWNER")
    before = await everything(server.store)

    assert refused(await delete(chief, MEMBERS, stranger.user_id), 404, 5)
    assert refused(await delete(chief, MEMBERS, stranger.user_id, x_idp_orgid=there.id), 403, 7)
    assert refused(await put(chief, MEMBERS, stranger.user_id, "ORG_OWNER_VIEWER"), 404, 5)
    assert await everything(server.store) == before


async def test_nobody_gives_or_takes_more_than_they_have(server, visitor, here, monkeypatch):
    only_appoints = frozenset({"org.member.write"})
    monkeypatch.setitem(permissions.ORGANIZATION_ROLES, "ORG_APPOINTER", only_appoints)
    script = await new_caller(server, visitor, here, "ORG_APPOINTER")
    chief, second = await two_owners(server, visitor, here, MEMBERS)
    viewer = await new_caller(server, visitor, here, "ORG_END_USER_IMPERSONATOR")
    nobody = await new_caller(server, visitor, here)
    before = await everything(server.store)
    for page in (
        await delete(script, MEMBERS, chief.user_id),
        await put(script, MEMBERS, second.user_id, "ORG_END_USER_IMPERSONATOR"),
        await put(script, MEMBERS, viewer.user_id, "ORG_OWNER"),
        await script.post(MEMBERS, {"userId": nobody.user_id, "roles": ["ORG_OWNER"]}),
    ):
        assert refused(page, 403, 7) == {"": "permission_denied"}

    assert await everything(server.store) == before
    assert (await delete(script, MEMBERS, viewer.user_id)).status == 200


@pytest.mark.parametrize("path", [MEMBERS, INSTANCE_MEMBERS])
async def test_a_change_names_roles_of_its_kind(server, visitor, here, path):
    caller, script = await two_owners(server, visitor, here, path)
    before = await everything(server.store)

    foreign = "IAM_OWNER" if path == MEMBERS else "ORG_OWNER"
    page = await put(caller, path, script.user_id, foreign)
    assert refused(page, 400, 3) == {"roles[0]": "field.unknown_name"}
    assert refused(await put(caller, path, script.user_id), 400, 3) == {"roles": "field.too_few"}
    assert await everything(server.store) == before
