"""A device polls (RFC 8628 3.5): what it is told, how often it may, and who gets the tokens."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from idp.records import APPLICATIONS, AUTHORIZATIONS, DEVICE_REQUESTS, USERS
from storage import Update
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.protocol.asserting import register_key
from tests.support.protocol.device import GRANTS, Device, at_confirmation
from tests.support.store.stored import everything, only, refusals


@pytest.fixture
def device(io_loop, server, new_visitor):
    party = io_loop.run_sync(lambda: server.register("Television", grant_types=GRANTS))
    made = Device(party, new_visitor())
    io_loop.run_sync(made.begin)
    return made


@pytest.fixture
def allow(server, visitor, device):
    """Lets the demo user allow the device."""

    async def done():
        page = await at_confirmation(visitor, device.answer["user_code"], server.user)
        await visitor.submit(page, decision="allow")

    return done


async def polled(device, server, *pauses):
    """What the device is told after each pause of so many seconds."""
    told = []
    for pause in pauses:
        server.clock.advance(pause)
        page = await device.poll()
        told.append(page.json().get("error"))
    return told


PENDING, SLOW = "authorization_pending", "slow_down"


@pytest.mark.promise("device: sign-in")
@pytest.mark.parametrize(
    ("pauses", "told"),
    [
        ([0, 5, 5, 5], [PENDING] * 4),
        ([0, 4], [PENDING, SLOW]),
        ([0, 4, 9], [PENDING, SLOW, SLOW]),
        ([0, 4, 10], [PENDING, SLOW, PENDING]),
        ([0, 4, 10, 9], [PENDING, SLOW, PENDING, SLOW]),
        ([0, 1, 1, 14], [PENDING, SLOW, SLOW, SLOW]),
        ([0, 1, 1, 15], [PENDING, SLOW, SLOW, PENDING]),
        ([0, 0], [PENDING, SLOW]),
    ],
)
async def test_a_device_that_polls_too_soon_has_to_wait_longer_each_time(
    server, device, pauses, told
):
    assert await polled(device, server, *pauses) == told


async def test_a_device_that_polled_too_soon_still_gets_its_tokens(server, device, allow):
    await polled(device, server, 0, 0, 0)
    await allow()

    assert_granted(await device.poll())


async def test_being_asked_to_wait_is_no_refusal_and_is_not_stored(server, device):
    waiting = await device.poll()
    kept = await refusals(server.store)
    hasty = await device.poll()

    assert_refused(waiting, 400, PENDING)
    assert_refused(hasty, 400, SLOW)
    assert kept == []
    assert len(await refusals(server.store)) == 1


async def test_a_waiting_device_changes_nothing_but_when_it_polled(server, device):
    before = await everything(server.store)
    await device.poll()
    after = await everything(server.store)
    request = await only(server.store, DEVICE_REQUESTS)
    before.pop(DEVICE_REQUESTS.name), after.pop(DEVICE_REQUESTS.name)

    assert after == before
    assert request.polled_at == server.clock.now()


# The clock


@pytest.mark.promise("device: sign-in")
@pytest.mark.parametrize("seconds", [300, 301, 3000])
async def test_a_code_that_nobody_typed_expires(server, device, seconds):
    server.clock.advance(seconds)
    before = await everything(server.store)
    page = await device.poll()

    assert_refused(page, 400, "expired_token")
    assert await everything(server.store) == before


@pytest.mark.parametrize(("seconds", "is_granted"), [(299, True), (300, False)])
async def test_a_device_that_was_allowed_has_until_the_code_expires(
    server, device, allow, seconds, is_granted
):
    await allow()
    server.clock.advance(seconds)
    page = await device.poll()

    assert page.json().get("error") == (None if is_granted else "expired_token")


async def test_a_code_that_was_forgotten_is_unknown(server, device):
    server.clock.advance(300 + 3600)

    assert_refused(await device.poll(), 400, "invalid_grant")


# Once


async def test_a_device_code_gives_tokens_once_and_a_second_poll_ends_nothing(
    server, device, allow
):
    await allow()
    first = assert_granted(await device.poll())
    server.clock.advance(5)
    before = await everything(server.store)
    second = await device.poll()
    after = await everything(server.store)
    alive = await device.party.userinfo(device.visitor, first["access_token"])

    assert_refused(second, 400, "invalid_grant")
    assert after == before
    assert alive.status == 200


async def test_of_many_polls_at_once_after_the_approval_one_gets_tokens(server, device, allow):
    await device.poll()
    await allow()
    pages = await asyncio.gather(*[device.poll() for _ in range(16)])
    told = Counter((page.status, page.json().get("error")) for page in pages)
    (body,) = [page.json() for page in pages if page.status == 200]
    refreshed = await device.party.refresh(device.visitor, body["refresh_token"])

    assert told == {(200, None): 1, (400, "invalid_grant"): 15}
    assert refreshed.status == 200


async def test_of_many_polls_at_once_before_it_all_but_one_are_too_many(device):
    pages = await asyncio.gather(*[device.poll() for _ in range(16)])
    told = Counter(page.json()["error"] for page in pages)

    assert told == {PENDING: 1, SLOW: 15}


async def test_polls_while_the_person_decides_get_tokens_once(server, visitor, device):
    page = await at_confirmation(visitor, device.answer["user_code"], server.user)
    answers = await asyncio.gather(
        *[device.poll() for _ in range(4)],
        visitor.send(page, decision="allow"),
        *[device.poll() for _ in range(8)],
    )
    later = await device.poll()
    polls = [each for each in [*answers, later] if each.name is None and each.status != 303]
    told = Counter(each.json().get("error") for each in polls)

    assert told[None] == 1
    assert set(told) <= {None, PENDING, SLOW, "invalid_grant"}


# Whose code


@pytest.mark.promise("device: sign-in")
async def test_another_client_s_device_code_is_refused_and_not_spent(server, device, allow):
    await allow()
    other = Device(await server.register("Radio", grant_types=GRANTS), device.visitor)
    before = await everything(server.store)
    foreign = await other.poll(device_code=device.answer["device_code"])
    after = await everything(server.store)

    assert_refused(foreign, 400, "invalid_grant")
    assert after == before
    assert_granted(await device.poll())


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda code: None, "invalid_request"),
        (lambda code: "", "invalid_request"),
        (lambda code: "code", "invalid_grant"),
        (lambda code: code[:-1], "invalid_grant"),
        (lambda code: f"{code}\n", "invalid_grant"),
        (lambda code: code[:22] + code[22:].swapcase(), "invalid_grant"),
        (lambda code: "d" * 65, "invalid_grant"),
        (lambda code: "d" * 22 + code[22:], "invalid_grant"),
        (lambda code: "\0" * 65, "invalid_grant"),
        (lambda code: "ü" * 65, "invalid_grant"),
        (lambda code: [code, code], "invalid_request"),
    ],
)
async def test_a_device_code_that_nobody_has_is_refused(server, device, allow, spoil, error):
    await allow()
    before = await everything(server.store)
    page = await device.poll(device_code=spoil(device.answer["device_code"]))
    after = await everything(server.store)

    assert_refused(page, 400, error)
    assert after == before
    assert_granted(await device.poll())


async def test_the_user_code_is_no_device_code(server, device):
    page = await device.poll(device_code=device.answer["user_code"])

    assert_refused(page, 400, "invalid_grant")


@pytest.mark.parametrize(
    ("headers", "changes", "error"),
    [
        ({}, {}, "invalid_client"),
        ({}, {"client_id": "nobody"}, "invalid_client"),
        ({"Authorization": "Basic bm9ib2R5Og=="}, {}, "invalid_client"),
    ],
)
async def test_a_client_that_does_not_authenticate_gets_nothing(
    server, device, allow, headers, changes, error
):
    await allow()
    before = await everything(server.store)
    page = await device.poll(headers, **changes)

    assert_refused(page, 401 if headers else 400, error)
    assert await everything(server.store) == before


async def test_a_client_that_authenticates_by_a_key_polls_too(server, new_visitor, visitor):
    party = await server.register(auth_method="private_key_jwt", grant_types=GRANTS)
    asserting = await register_key(server, party.client_id, "key-1")
    device = Device(party, new_visitor())
    told = await device.begin(headers={}, **asserting.client_form())
    page = await at_confirmation(visitor, told["user_code"], server.user)
    await visitor.submit(page, decision="allow")

    assert_granted(await device.poll({}, **asserting.client_form()))


# What ends it before the tokens


@pytest.mark.parametrize("collection", [USERS, APPLICATIONS])
async def test_a_new_stamp_after_the_approval_ends_it(server, device, allow, collection):
    await allow()
    authorization = await only(server.store, AUTHORIZATIONS)
    id = authorization.user_id if collection is USERS else authorization.client_id
    await server.store.commit(Update(collection, id, set={"stamp": "another"}))
    before = await everything(server.store)
    page = await device.poll()

    assert_refused(page, 400, "invalid_grant")
    assert await everything(server.store) == before


async def test_a_logout_after_the_approval_ends_it(server, visitor, device, allow):
    await allow()
    await visitor.submit(await visitor.open("/oidc/v1/end_session"), decision="logout")
    before = await everything(server.store)

    assert_refused(await device.poll(), 400, "invalid_grant")
    assert await everything(server.store) == before


async def test_a_client_that_may_not_refresh_gets_no_refresh_token(server, new_visitor, visitor):
    party = await server.register(grant_types=[GRANTS[0], GRANTS[2]])
    device = Device(party, new_visitor())
    told = await device.begin()
    page = await at_confirmation(visitor, told["user_code"], server.user)
    await visitor.submit(page, decision="allow")
    body = await device.tokens()

    assert "refresh_token" not in body
    assert body["scope"] == "openid profile email"
