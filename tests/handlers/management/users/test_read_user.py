"""GET /v2/users/{id}, and the proof of an address by its code."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

import pytest

from idp.records import USERS
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.sign_in.people import FULL, PASSWORD, create
from tests.support.store.stored import everything


async def read(caller, user_id):
    page = await caller.get(f"/v2/users/{quote(user_id, safe='')}")
    assert page.status == 200, page.text
    return page.json()


async def test_a_person_is_returned_as_it_was_sent(server, owner):
    made = await create(owner, **FULL | {"email": {"email": "mini@mouse.example"}})
    answer = await read(owner, "mini-1")

    details = {**made["details"], "creationDate": made["details"]["changeDate"]}
    assert answer == {
        "details": details,
        "user": {
            "userId": "mini-1",
            "details": details,
            "state": "USER_STATE_ACTIVE",
            "username": "mini",
            "loginNames": ["mini@localhost", "mini"],
            "preferredLoginName": "mini@localhost",
            "human": {
                "profile": FULL["profile"],
                "email": {"email": "mini@mouse.example"},
                "phone": {
                    "phone": "+41791234567",
                    "isVerified": True,
                    "verifiedBy": "instance",
                },
                "address": FULL["address"],
                "passwordChangeRequired": True,
                "passwordChanged": made["details"]["changeDate"],
            },
        },
    }


async def test_nothing_secret_is_answered(owner):
    await create(owner, **FULL)
    page = await owner.get("/v2/users/mini-1")

    for secret in (PASSWORD, "argon2", "hash", "stamp", "login_key"):
        assert secret not in page.text


async def test_what_has_its_default_value_is_left_out(owner):
    made = await create(owner)
    answer = await read(owner, made["userId"])

    assert answer["user"]["human"] == {
        "profile": {"givenName": "Mini", "familyName": "Mouse", "displayName": "Mini Mouse"},
        "email": {
            "email": "mini@mouse.example",
            "isVerified": True,
            "verifiedBy": "instance",
        },
    }
    assert answer["user"]["loginNames"] == ["mini@mouse.example@localhost", "mini@mouse.example"]


async def test_an_address_is_a_login_name_while_one_person_alone_holds_it(owner):
    first = await create(owner, username="one")
    assert "mini@mouse.example" in (await read(owner, first["userId"]))["user"]["loginNames"]

    await create(owner, username="two")

    assert "mini@mouse.example" not in (await read(owner, first["userId"]))["user"]["loginNames"]


async def test_a_service_user_is_answered_as_one(server, visitor, owner):
    home = await new_organization(server, "acme.example")
    script = await new_caller(server, visitor, home, "ORG_USER_MANAGER")
    answer = (await read(owner, script.user_id))["user"]

    assert answer["machine"] == {"name": "Script"}
    assert "human" not in answer


@pytest.mark.parametrize("id", ["auth0|6042", "a/b", "ü ß", "100%", "a+b", "x" * 200, "{id}"])
async def test_a_person_is_found_by_whatever_id_was_given(owner, id):
    await create(owner, userId=id)

    assert (await read(owner, id))["user"]["userId"] == id


@pytest.mark.parametrize(
    "path", ["nobody", "%00", "%ff", "x" * 201, "%E2%80%AE", "human%2F..", "%20"]
)
async def test_whom_nobody_knows_is_not_found(owner, path):
    refused(await owner.get(f"/v2/users/{path}"), 404, 5)


async def test_the_etag_is_the_sequence_and_a_change_is_a_step_of_it(server, owner):
    made = await create(owner, email={"email": "mini@mouse.example", "returnCode": {}})
    path = f"/v2/users/{made['userId']}"
    before = await owner.get(path)
    await owner.post(f"{path}/email/verify", {"verificationCode": made["emailCode"]})
    after = await owner.get(path)

    assert (before.headers["ETag"], after.headers["ETag"]) == ('"1"', '"2"')
    assert after.json()["user"]["human"]["email"]["isVerified"] is True
    assert "mini@mouse.example" in after.json()["user"]["loginNames"]


async def test_five_wrong_codes_end_a_code(server, owner):
    made = await create(owner, email={"email": "mini@mouse.example", "returnCode": {}})
    path = f"/v2/users/{made['userId']}/email/verify"
    wrong = f"{(int(made['emailCode']) + 1) % 10**8:08}"
    before = await everything(server.store)

    tries = [await owner.post(path, {"verificationCode": wrong}) for _ in range(5)]
    spent = await owner.post(path, {"verificationCode": made["emailCode"]})

    for page in tries:
        assert refused(page, 400, 3) == {"verificationCode": "code.wrong"}
    assert refused(spent, 400, 3) == {"verificationCode": "code.tries"}
    assert await everything(server.store) == before


async def test_of_many_at_once_a_code_counts_once(server, owner):
    made = await create(owner, email={"email": "mini@mouse.example", "returnCode": {}})
    path = f"/v2/users/{made['userId']}/email/verify"
    body = {"verificationCode": made["emailCode"]}

    pages = await asyncio.gather(*(owner.post(path, body) for _ in range(5)))

    assert sorted(page.status for page in pages) == [200, 400, 400, 400, 400]
    assert (await server.store.get(USERS, made["userId"])).sequence == 2


async def test_a_code_counts_for_a_day_and_for_what_it_was_sent_to(server, owner):
    made = await create(
        owner,
        email={"email": "mini@mouse.example", "returnCode": {}},
        phone={"phone": "+41791234567", "returnCode": {}},
    )
    path = f"/v2/users/{made['userId']}"
    crossed = await owner.post(f"{path}/email/verify", {"verificationCode": made["phoneCode"]})
    server.clock.advance(24 * 3600 + 1)
    late = await owner.post(f"{path}/phone/verify", {"verificationCode": made["phoneCode"]})

    assert refused(crossed, 400, 3) == {"verificationCode": "code.wrong"}
    assert late.status in (400, 401)


@pytest.mark.parametrize("code", [None, 12345678, "", "x" * 201, ["1"], {"$gt": ""}])
async def test_what_is_no_code_is_refused_by_its_place(server, owner, code):
    made = await create(owner, email={"email": "mini@mouse.example", "returnCode": {}})
    before = await everything(server.store)
    page = await owner.post(f"/v2/users/{made['userId']}/email/verify", {"verificationCode": code})

    assert list(refused(page, 400, 3)) == ["verificationCode"]
    assert await everything(server.store) == before
