"""A person's password over the management API: set anew, and by a code."""

from __future__ import annotations

import asyncio

import pytest

from idp.identity.factors import mail_codes
from idp.mail import messages
from idp.records import FAILURE_STREAKS, MADE_CALLS, USERS, VERIFICATIONS, FailureStreak
from storage import Insert
from tests.support.management.callers import refused
from tests.support.sign_in.people import PASSWORD, create
from tests.support.store.stored import everything

NEW = "a cellar full of lamps"


@pytest.fixture
def person(io_loop, owner):
    password = {"password": PASSWORD}
    made = io_loop.run_sync(lambda: create(owner, username="mini", password=password))
    return made["userId"]


async def set_password(owner, id, password=NEW, *, must_change=False, **proof):
    new = {"password": password, "changeRequired": must_change}
    return await owner.post(f"/v2/users/{id}/password", {"newPassword": new, **proof})


async def new_code(owner, id):
    page = await owner.post(f"/v2/users/{id}/password_reset", {"returnCode": {}})
    assert page.status == 200, page.text
    return page.json()["verificationCode"]


async def test_a_new_password_counts_and_all_before_it_ends(
    server, owner, person, demo, new_visitor
):
    tokens = await demo.tokens(new_visitor(), "mini", PASSWORD)

    page = await set_password(owner, person)

    assert page.status == 200, page.text
    assert (await demo.userinfo(new_visitor(), tokens["access_token"])).status == 401
    assert (await demo.tokens(new_visitor(), "mini", NEW))["access_token"]
    refused_page = await new_visitor().sign_in(demo.authorize_url(), "mini", PASSWORD)
    assert refused_page.name == "password"


async def test_one_that_must_be_changed_says_so(server, owner, person):
    await set_password(owner, person, must_change=True)

    answer = (await owner.get(f"/v2/users/{person}")).json()["user"]
    assert answer["human"]["passwordChangeRequired"]


@pytest.mark.parametrize(
    ("password", "error_code"),
    [
        ("short", "password.too_short"),
        ("password1234", "password.common"),
        ("minimouse", "password.own_words"),
        (PASSWORD, "password.unchanged"),
        ("x" * 201, "field.too_long"),
        ("", "field.empty"),
    ],
)
async def test_the_policy_holds_as_everywhere(server, owner, person, password, error_code):
    before = await everything(server.store)

    page = await set_password(owner, person, password)

    assert refused(page, 400, 3) == {"newPassword.password": error_code}
    assert await everything(server.store) == before


async def test_the_present_password_is_looked_at_where_it_is_sent(server, owner, person):
    before = await server.store.get(USERS, person)

    page = await set_password(owner, person, currentPassword="not this one")

    assert refused(page, 400, 3) == {"currentPassword": "password.wrong"}
    assert await server.store.get(USERS, person) == before
    assert (await set_password(owner, person, currentPassword=PASSWORD)).status == 200


async def test_a_code_counts_once(server, owner, person):
    code = await new_code(owner, person)

    first = await set_password(owner, person, verificationCode=code)
    second = await set_password(owner, person, "another lamp in it", verificationCode=code)

    assert first.status == 200
    assert refused(second, 400, 3) == {"verificationCode": "code.expired"}
    assert [one async for one in server.store.scan(VERIFICATIONS)] == []


async def test_of_many_that_use_one_code_at_once_one_sets_the_password(owner, person):
    owner.visitor.may_fail = True
    code = await new_code(owner, person)
    passwords = [f"a lamp in attic {n}" for n in range(mail_codes.MAX_ATTEMPTS)]

    pages = await asyncio.gather(
        *[set_password(owner, person, each, verificationCode=code) for each in passwords]
    )

    assert [page.status for page in pages].count(200) == 1


async def test_a_wrong_code_may_be_tried_so_often_and_the_right_one_is_too_late(owner, person):
    code = await new_code(owner, person)
    for _ in range(mail_codes.MAX_ATTEMPTS):
        page = await set_password(owner, person, verificationCode="00000000")
        assert refused(page, 400, 3) == {"verificationCode": "code.wrong"}

    page = await set_password(owner, person, verificationCode=code)

    assert refused(page, 400, 3) == {"verificationCode": "code.tries"}


@pytest.mark.parametrize(("minutes", "status"), [(59, 200), (61, 400)])
async def test_a_code_counts_for_an_hour(server, owner, person, minutes, status):
    code = await new_code(owner, person)
    server.clock.advance(minutes * 60)

    assert (await set_password(owner, person, verificationCode=code)).status == status


async def test_a_code_is_stored_only_as_its_mac(server, owner, person):
    code = await new_code(owner, person)

    (kept,) = [one async for one in server.store.scan(VERIFICATIONS)]
    assert kept.proves == "password"
    assert code not in kept.code_mac


async def test_a_new_password_or_address_ends_the_codes_before(owner, person):
    first = await new_code(owner, person)
    await set_password(owner, person)
    page = await set_password(owner, person, "another lamp in it", verificationCode=first)
    assert refused(page, 400, 3) == {"verificationCode": "code.wrong"}

    second = await new_code(owner, person)
    body = {"email": "moved@mouse.example", "isVerified": True}
    assert (await owner.post(f"/v2/users/{person}/email", body)).status == 200
    page = await set_password(owner, person, "another lamp in it", verificationCode=second)
    assert refused(page, 400, 3) == {"verificationCode": "code.wrong"}


async def test_the_mail_brings_the_code_to_a_verified_address(server, owner, person):
    template = "https://acme.example/new?user={{.UserID}}&code={{.Code}}"
    link = {"sendLink": {"urlTemplate": template}}
    page = await owner.post(f"/v2/users/{person}/password_reset", link)

    answer, (held, *_) = page.json(), await messages.held(server.service)
    assert "verificationCode" not in answer
    assert (answer["mail"], held.kind, held.mail_message.to) == (
        "held",
        "reset_password",
        "mini@mouse.example",
    )
    assert held.mail_message.url.endswith(f"code={held.mail_message.code}")
    assert (
        await set_password(owner, person, verificationCode=held.mail_message.code)
    ).status == 200


async def test_no_mail_goes_to_an_unverified_address(server, owner):
    email = {"email": "x@mouse.example", "returnCode": {}}
    id = (await create(owner, email=email))["userId"]
    before = await everything(server.store)

    page = await owner.post(f"/v2/users/{id}/password_reset", {"sendLink": {}})

    assert refused(page, 400, 9) == {"": "email.not_verified"}
    assert await everything(server.store) == before


async def guess(owner, id, n, *, with_key=True):
    headers = {"Idempotency_Key": f"k-{n}"} if with_key else {}
    body = {"newPassword": {"password": NEW}, "currentPassword": f"wrong {n}"}
    return await owner.post(f"/v2/users/{id}/password", body, **headers)


@pytest.mark.parametrize("with_key", [False, True])
async def test_each_of_five_wrong_passwords_at_once_is_counted(server, owner, person, with_key):
    tries = [guess(owner, person, n, with_key=with_key) for n in range(5)]
    pages = await asyncio.gather(*tries)

    assert {page.status for page in pages} == {400}
    assert (await server.store.get(FAILURE_STREAKS, person)).unknown == 5


async def test_under_a_key_a_try_is_counted_before_it_is_compared(
    server, owner, person, monkeypatch
):
    for n in range(5):
        await guess(owner, person, n)
    counted, real = [], server.service.hasher.verify

    async def verify(password, encoded):
        if password.startswith("wrong"):
            counted.append((await server.store.get(FAILURE_STREAKS, person)).unknown)
        return await real(password, encoded)

    monkeypatch.setattr(server.service.hasher, "verify", verify)
    await guess(owner, person, 6)

    assert counted == [6]


async def test_under_a_key_tries_are_forgotten_after_the_unit_of_the_new_password(
    server, owner, person, monkeypatch
):
    await server.store.commit(Insert(FAILURE_STREAKS, FailureStreak(id=person, unknown=7)))
    commit, units = type(server.store).commit, []

    async def noted(store, *writes):
        units.append({write.collection for write in writes})
        return await commit(store, *writes)

    monkeypatch.setattr(type(server.store), "commit", noted)
    body = {"newPassword": {"password": NEW, "changeRequired": False}}
    page = await owner.post(f"/v2/users/{person}/password", body, Idempotency_Key="k-1")
    deed = next(n for n, unit in enumerate(units) if USERS in unit)

    assert page.status == 200
    assert MADE_CALLS in units[deed]
    assert [unit for unit in units[:deed] if FAILURE_STREAKS in unit] == []
    assert await server.store.get(FAILURE_STREAKS, person) is None
