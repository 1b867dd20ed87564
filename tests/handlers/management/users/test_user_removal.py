"""DELETE /v2/users/{id}: what goes with a user, who stays, and what an id made again finds."""

from __future__ import annotations

from idp.changes import committing
from idp.management.users import removal as user_removal
from idp.records import (
    CONSENTS,
    EVENTS,
    MEMBERSHIPS,
    PATS,
    ROLE_ASSIGNMENTS,
    SESSIONS,
    USER_KEYS,
    USER_METADATA,
    USERS,
    VERIFICATIONS,
    Consent,
)
from storage import Insert
from tests.support.management.callers import new_caller, refused
from tests.support.sign_in.people import create
from tests.support.store.stored import everything

PARTS = (
    MEMBERSHIPS,
    ROLE_ASSIGNMENTS,
    USER_KEYS,
    PATS,
    CONSENTS,
    USER_METADATA,
    VERIFICATIONS,
    USERS,
)
ID = "made-again"


async def made(caller, path, method="POST", **body):
    page = await caller.request(method, path, body)
    assert page.status == 200, page.text
    return page.json()


async def delete(caller, id, **headers):
    return await caller.request("DELETE", f"/v2/users/{id}", None, **headers)


async def count(server):
    return {part.name: len([one async for one in server.store.scan(part)]) for part in PARTS}


async def with_everything(server, owner):
    """A person with something of every kind."""
    email = {"email": "mini@mouse.example", "returnCode": {}}
    metadata = [{"key": "shoes", "value": "cmVk"}, {"key": "hat", "value": "cmVk"}]
    await create(owner, userId=ID, username="mini", email=email, metadata=metadata)
    project = (await made(owner, "/management/v1/projects", name="P"))["id"]
    await made(owner, f"/management/v1/projects/{project}/roles", roleKey="r", displayName="R")
    grant = {"projectId": project, "roleKeys": ["r"]}
    await made(owner, f"/management/v1/users/{ID}/grants", **grant)
    await made(owner, "/management/v1/orgs/me/members", userId=ID, roles=["ORG_USER_MANAGER"])
    now = server.clock.now()
    consent = Consent(
        id="c", user_id=ID, client_id="x", scopes=["openid"], created_at=now, changed_at=now
    )
    await server.store.commit(Insert(CONSENTS, consent))


async def test_all_that_hangs_on_a_user_goes_with_them_each_with_its_event(server, owner):
    before = await count(server)
    await with_everything(server, owner)

    page = await delete(owner, ID)

    assert page.status == 200, page.text
    assert page.json()["details"]["sequence"] == "2"
    assert await count(server) == before
    types = [one.type async for one in server.store.scan(EVENTS) if one.type.endswith("deleted")]
    assert sorted(types) == [
        "consent.deleted",
        "membership.deleted",
        "role_assignment.deleted",
        "user.deleted",
        "user_metadata.deleted",
        "user_metadata.deleted",
    ]
    refused(await delete(owner, ID), 404, 5)


async def test_more_than_a_unit_holds_goes_bit_by_bit(server, owner, monkeypatch):
    few = [part._replace(batch_size=1) for part in user_removal._PARTS]
    monkeypatch.setattr(user_removal, "_PARTS", tuple(few))
    before = await count(server)
    await with_everything(server, owner)

    page = await delete(owner, ID)

    assert page.status == 200
    assert await count(server) == before


async def test_what_is_too_much_for_one_call_is_reported_and_goes_on_with_the_next(
    server, owner, monkeypatch
):
    few = [part._replace(batch_size=1) for part in user_removal._PARTS]
    monkeypatch.setattr(user_removal, "_PARTS", tuple(few))
    monkeypatch.setattr(committing, "MAX_PARTS", 1)
    await with_everything(server, owner)

    owner.visitor.may_fail = True
    first, second = await delete(owner, ID), await delete(owner, ID)

    refused(first, 503, 14)
    assert first.headers["Retry-After"] == "1"
    assert second.status == 200


async def test_the_login_name_is_free_again_and_the_id_finds_nothing(server, owner):
    await with_everything(server, owner)
    await delete(owner, ID)

    await create(owner, userId=ID, username="mini")

    grants = await made(owner, f"/management/v1/users/{ID}/grants", "GET")
    metadata = await made(owner, f"/management/v1/users/{ID}/metadata/_search")
    assert "result" not in grants
    assert "result" not in metadata


async def test_tokens_and_sessions_of_the_user_end_for_good(
    server, owner, new_visitor, demo, acme, visitor
):
    manager = await new_caller(server, visitor, acme, "ORG_USER_MANAGER")
    assert (await manager.get(f"/v2/users/{manager.user_id}")).status == 200

    await delete(owner, manager.user_id)
    machine = {"userId": manager.user_id, "username": "again"}
    await create(owner, **machine)

    refused(await manager.get(f"/v2/users/{manager.user_id}"), 401, 16)
    assert [one async for one in server.store.scan(SESSIONS)] == []


async def test_the_last_owner_of_an_organization_stays(server, visitor, owner, acme):
    last = await new_caller(server, visitor, acme, "ORG_OWNER")
    before = await everything(server.store)

    for step in ("deactivate", "lock"):
        page = await owner.post(f"/v2/users/{last.user_id}/{step}", {})
        assert refused(page, 400, 9) == {"": "user.last_owner"}
    assert refused(await delete(owner, last.user_id), 400, 9) == {"": "user.last_owner"}

    assert await everything(server.store) == before
    await new_caller(server, visitor, acme, "ORG_OWNER")
    assert (await delete(owner, last.user_id)).status == 200


async def test_the_last_owner_of_the_instance_stays(server, visitor, acme):
    first = await new_caller(server, visitor, acme, "IAM_OWNER", everywhere=True)
    second = await new_caller(server, visitor, acme, "IAM_OWNER", everywhere=True)
    owners = [m async for m in server.store.scan(MEMBERSHIPS) if m.org_id is None]
    for one in owners:
        if one.user_id not in (first.user_id, second.user_id):
            page = await first.request("DELETE", f"/admin/v1/members/{one.user_id}", None)
            assert page.status == 200, page.text

    assert (await delete(first, second.user_id)).status == 200
    assert refused(await delete(first, first.user_id), 400, 9) == {"": "user.last_owner"}


async def test_nobody_deletes_who_may_do_more_than_they(server, visitor, acme):
    manager = await new_caller(server, visitor, acme, "ORG_USER_MANAGER")
    boss = await new_caller(server, visitor, acme, "ORG_OWNER")
    await new_caller(server, visitor, acme, "ORG_OWNER")
    before = await everything(server.store)

    page = await delete(manager, boss.user_id)

    refused(page, 403, 7)
    assert await everything(server.store) == before


async def test_a_user_is_deleted_in_the_state_that_the_caller_knows(server, owner):
    id = (await create(owner))["userId"]
    before = await everything(server.store)

    refused(await delete(owner, id, If_Match='"7"'), 412, 9)

    assert await everything(server.store) == before
    assert (await delete(owner, id, If_Match='"1"')).status == 200


async def test_the_demonstration_s_user_stays(server, owner, demo):
    instance = [one async for one in server.store.scan(USERS) if one.user_name == "demo"]
    before = await everything(server.store)

    for user in instance:
        assert refused(await delete(owner, user.id), 400, 9) == {"": "user.demo"}

    assert await everything(server.store) == before


async def test_a_key_that_is_made_while_its_user_is_removed_belongs_to_no_user(
    server, owner, monkeypatch
):
    body = {"userName": "m", "name": "M"}
    id = (await made(owner, "/management/v1/users/machine", **body))["userId"]
    path, commit, met = f"/management/v1/users/{id}/keys", server.store.commit, []

    async def late(*writes):
        if not met and any(write.collection is USER_KEYS for write in writes):
            met.append(id)
            assert (await delete(owner, id)).status == 200
            server.clock.advance(1)
            await create(owner, userId=id)
        return await commit(*writes)

    monkeypatch.setattr(server.store, "commit", late)
    page = await owner.post(path, {})

    assert refused(page, 400, 9) == {"": "user.not_machine"}
    assert [one async for one in server.store.scan(USER_KEYS)] == []
