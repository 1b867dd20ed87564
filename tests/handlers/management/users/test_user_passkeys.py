"""A person's passkeys over the management API: listed, and taken away."""

from __future__ import annotations

import pytest

from idp.records import EVENTS, PASSKEYS
from tests.support.management.callers import refused
from tests.support.sign_in.passkeys import at_name, enrol, options_of
from tests.support.store import stored


@pytest.fixture
def device(io_loop, server, demo, new_visitor):
    """Of somebody who is signed in elsewhere, too."""
    other = new_visitor()
    io_loop.run_sync(lambda: demo.tokens(other, *server.user))
    made, page = io_loop.run_sync(lambda: enrol(other, server, name="Télephone"))
    assert page.name == "account/passkeys", page.text
    return made


async def of_demo(server, owner):
    passkey = await stored.only(server.store, PASSKEYS)
    page = await owner.post(f"/v2/users/{passkey.user_id}/passkeys/_search", {})
    assert page.status == 200, page.text
    return passkey, page.json()


async def test_a_passkey_is_listed_by_its_name_without_its_key(server, owner, device):
    passkey, answer = await of_demo(server, owner)

    (told,) = answer["result"]
    assert answer["details"]["totalResult"] == "1"
    assert (told["id"], told["name"]) == (passkey.id, "Télephone")
    assert told["state"] == "AUTH_FACTOR_STATE_READY"
    assert passkey.public_key not in str(answer)
    assert passkey.credential_id not in str(answer)


async def test_one_that_is_taken_away_opens_nothing_and_its_user_is_signed_out(
    server, owner, device, demo, new_visitor
):
    passkey, _ = await of_demo(server, owner)
    path = f"/v2/users/{passkey.user_id}/passkeys/{passkey.id}"

    page = await owner.request("DELETE", path, None)

    assert page.status == 200, page.text
    assert not [one async for one in server.store.scan(PASSKEYS)]
    other = new_visitor()
    page = await at_name(other, demo)
    assert (await other.send(page, passkey=device.get(options_of(page)))).status == 400
    told = {one.type async for one in server.store.scan(EVENTS)}
    assert {"user.passkey_added", "user.passkey_removed", "passkey.deleted"} <= told
    gone = await owner.request("DELETE", path, None)
    assert refused(gone, 404, 5) == {"": "passkey.not_found"}


async def test_another_persons_passkey_is_not_theirs(server, owner, device):
    passkey, _ = await of_demo(server, owner)
    mine = (await stored.everything(server.store))["users"]
    (admin,) = [id for id, one in mine.items() if one.login_key.startswith("admin@")]
    before = await stored.everything(server.store)

    page = await owner.request("DELETE", f"/v2/users/{admin}/passkeys/{passkey.id}", None)

    assert refused(page, 404, 5) == {"": "passkey.not_found"}
    assert await stored.everything(server.store) == before


async def test_a_deleted_user_leaves_no_passkey(server, owner, demo, new_visitor):
    other = new_visitor()
    await demo.tokens(other, *(await server.copy_user("minnie")))
    await enrol(other, server)
    passkey = await stored.only(server.store, PASSKEYS)

    page = await owner.request("DELETE", f"/v2/users/{passkey.user_id}", None)

    assert page.status == 200, page.text
    assert not [one async for one in server.store.scan(PASSKEYS)]
