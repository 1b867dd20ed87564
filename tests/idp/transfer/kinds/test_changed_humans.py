"""People who are there already: left alone, or with `update` changed where they differ."""

from __future__ import annotations

import pytest

from idp.identity.factors import second_factors
from idp.records import USERS
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything
from tests.support.transfer.bringing_people import HASH, PASSWORD, bring, outcome, row

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
OTHER_HASH = HASH[:-1] + "u"


async def stored(server, id="auth0|1"):
    return await server.store.get(USERS, id)


async def change(server, **changes):
    (changed,) = await bring(server, updates=True, job="second", humanUsers=[row(**changes)])
    return changed


async def test_without_update_they_are_left_alone(server):
    await bring(server, humanUsers=[row()])
    before = await everything(server.store)

    (again,) = await bring(server, job="second", humanUsers=[row(userName="other")])

    assert again.action == "skip"
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("changes", "ends"),
    [
        ({"userName": "other"}, False),
        ({"profile": {"firstName": "Rode", "lastName": "Runner"}}, False),
        ({"email": {"email": "new@runner.example", "isEmailVerified": True}}, False),
        ({"phone": {"phone": "+41791234567"}}, False),
        ({"address": {"locality": "Bern"}}, False),
        ({"passwordChangeRequired": True}, False),
        ({"hashedPassword": {"value": OTHER_HASH}}, True),
        ({"hashedPassword": None, "password": PASSWORD}, True),
        ({"otpCode": SECRET}, True),
        ({"state": "USER_STATE_LOCKED"}, True),
    ],
)
async def test_what_differs_changes_in_one_step_and_credentials_end_all(server, changes, ends):
    await bring(server, humanUsers=[row()])
    before = await stored(server)

    changed = await change(server, **changes)

    after = await stored(server)
    assert outcome(changed) == ("update", {})
    assert after.sequence == before.sequence + 1
    assert (after.stamp != before.stamp) is ends
    await events_agree(server.store)
    between = await everything(server.store)
    (again,) = await bring(server, updates=True, job="third", humanUsers=[row(**changes)])
    assert again.action == "skip"
    assert await everything(server.store) == between


async def test_what_a_row_does_not_speak_of_stays(server):
    await bring(
        server,
        humanUsers=[
            row(phone={"phone": "+41791234567"}, otpCode=SECRET, state="USER_STATE_INACTIVE")
        ],
    )
    before = await everything(server.store)

    changed = await change(server, hashedPassword=None)

    assert changed.action == "skip"
    assert await everything(server.store) == before
    assert second_factors.secret_of(server.service, await stored(server)) == SECRET


async def test_an_address_that_was_verified_stays_verified(server):
    await bring(server, humanUsers=[row()])

    changed = await change(server, email={"email": "road@runner.example"})

    assert changed.action == "skip"
    assert (await stored(server)).email.is_verified


REFUSED = [
    ({"userName": "robot"}, "user.userName", "user.login_name_taken"),
    ({"userName": "robot@acme.localhost"}, "user.userName", "user.login_name_taken"),
    ({"password": "short", "hashedPassword": None}, "user.password", None),
    ({"hashedPassword": {"value": "plain"}}, "user.hashedPassword.value", None),
    ({"password": PASSWORD}, "user.hashedPassword", "field.conflict"),
    ({"email": None}, "user.email", "field.required"),
    ({"profile": {"firstName": "A"}}, "user.profile.lastName", "field.empty"),
    ({"otpCode": "no secret"}, "user.otpCode", "factor.secret"),
    ({"state": "USER_STATE_GONE"}, "user.state", "field.unknown_name"),
    ({"phone": {"phone": "12"}}, "user.phone.phone", "phone.invalid"),
    ({"userName": "a\u200bb"}, "user.userName", "user.name_invisible"),
]


@pytest.mark.full
@pytest.mark.parametrize("updates", [False, True])
@pytest.mark.parametrize(("changes", "field", "error_code"), REFUSED)
async def test_what_is_refused_is_reported_and_changes_nothing(
    server, changes, field, error_code, updates
):
    robot = {"userId": "r", "user": {"userName": "robot", "name": "R"}}
    there = [row()] if updates else []
    await bring(server, humanUsers=there, machineUsers=[robot])
    before = await everything(server.store)

    (refused,) = await bring(server, updates=updates, job="x", humanUsers=[row(**changes)])

    action, said = outcome(refused)
    assert (action, set(said)) == ("fail", {f"!{field}"})
    assert error_code in (None, said[f"!{field}"])
    assert await everything(server.store) == before


async def test_of_twins_in_a_package_the_first_gets_the_name(server):
    twins = [row(), row("2", email={"email": "b@b.example"}), row("3", userName="c")]

    first, second, third = await bring(server, humanUsers=twins)

    assert outcome(first) == ("create", {})
    assert outcome(second) == ("fail", {"!user.userName": "user.login_name_taken"})
    assert outcome(third) == ("create", {})  # an address may be several people's of one home


async def test_a_row_that_comes_twice_is_a_double(server):
    first, second = await bring(server, humanUsers=[row(), row()])

    assert outcome(first) == ("create", {})
    assert second.action == "fail"
    assert [each.error_code for each in second.problems] == ["import.double"]


async def test_a_link_is_added_to_who_is_there_under_either_systems_names(server):
    await bring(server, humanUsers=[row()])
    links = [
        {"userId": "auth0|1", "idpId": "g", "externalUserId": "1", "displayName": "road"},
        {"userId": "auth0|1", "idpId": "h", "providedUserId": "2", "providedUserName": "r"},
    ]

    made = await bring(server, job="second", userLinks=links)
    again = await bring(server, job="third", updates=True, userLinks=links)

    assert [each.action for each in (*made, *again)] == ["create", "create", "skip", "skip"]
    kept = (await stored(server)).idp_links
    assert [(each.idp_id, each.user_id, each.user_name) for each in kept] == [
        ("g", "1", "road"),
        ("h", "2", "r"),
    ]
    await events_agree(server.store)
