"""POST /management/v1/users/human/_import: which people are imported, and how."""

from __future__ import annotations

import pytest

from idp.identity.factors import second_factors
from idp.mail import messages
from idp.records import USERS, IdpLink, Phone
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.samples.people import IMPORTED
from tests.support.store.stored import everything

PATH = "/management/v1/users/human/_import"
HASH = "hashedPassword.value"


def person(**changes):
    body = {
        "userName": "test9@test9",
        "profile": {"firstName": "Road", "lastName": "Runner"},
        "email": {"email": "test9@test9.example", "isEmailVerified": True},
        "hashedPassword": {"value": IMPORTED["hashedPassword"]["value"]},
    } | changes
    return {name: value for name, value in body.items() if value is not None}


async def take(caller, **changes):
    page = await caller.post(PATH, person(**changes))
    assert page.status == 200, page.text
    return page.json()


async def stored(server, answer):
    return await server.store.get(USERS, answer["userId"])


@pytest.mark.promise("user import: minimal body")
async def test_the_least_that_is_taken_in_has_all_that_it_came_with(server, owner):
    answer = await take(owner)

    user = await stored(server, answer)
    assert user.user_name == "test9@test9"
    assert user.profile.display_name == "Road Runner"
    assert user.email_key == "test9@test9.example"
    assert user.password.hash == IMPORTED["hashedPassword"]["value"]
    assert not user.password.must_change
    assert answer["details"]["resourceOwner"] == user.org_id
    assert await messages.held(server.service) == []


@pytest.mark.promise("user import: minimal body")
async def test_everything_that_can_be_sent_is_stored(server, owner):
    body = {name: value for name, value in IMPORTED.items() if name != "userName"}

    user = await stored(server, await take(owner, **body))

    assert user.profile.nick_name == "O"
    assert user.phone == Phone(number="+41791234567", is_verified=True, verified_by="instance")
    assert user.idp_links == [IdpLink(idp_id="google", user_id="1", user_name="otto")]
    assert user.password.must_change


@pytest.mark.promise("user import: mail")
@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({}, []),
        ({"email": {"email": "a@b.example"}}, ["verify_email"]),
        ({"hashedPassword": None}, ["reset_password"]),
        ({"hashedPassword": None, "password": "a lamp in the attic"}, []),
        ({"email": {"email": "a@b.example"}, "hashedPassword": None}, ["invite"]),
    ],
)
async def test_a_mail_is_sent_only_to_an_unproven_address_or_without_a_password(
    server, owner, changes, kinds
):
    answer = await take(owner, **changes)

    held = await messages.held(server.service)
    assert [one.kind for one in held] == kinds
    assert answer.get("mail", "") == ("held" if kinds else "")


async def test_white_space_around_a_hash_is_not_stored(server, owner):
    encoded = IMPORTED["hashedPassword"]["value"]
    answer = await take(owner, hashedPassword={"value": f" {encoded}\n"})

    assert (await server.store.get(USERS, answer["userId"])).password.hash == encoded


@pytest.mark.promise("user import: hashedPassword.value")
async def test_who_was_taken_in_signs_in_with_the_old_password(server, owner, demo, new_visitor):
    encoded = await server.service.hasher.hash("a lamp in the attic")
    await take(owner, hashedPassword={"value": encoded})

    tokens = await demo.tokens(new_visitor(), "test9@test9", "a lamp in the attic")

    assert tokens["access_token"]


async def test_the_authenticator_app_of_before_goes_on_counting(server, owner, demo, new_visitor):
    encoded = await server.service.hasher.hash("a lamp in the attic")
    secret = "JBSW Y3DP EHPK 3PXP"
    answer = await take(owner, hashedPassword={"value": encoded}, otpCode=secret)

    user = await stored(server, answer)
    assert second_factors.secret_of(server.service, user) == "JBSWY3DPEHPK3PXP"
    page = await new_visitor().sign_in(demo.authorize_url(), "test9@test9", "a lamp in the attic")
    assert page.name == "totp"


@pytest.mark.promise("client authentication: import of a user", "user import: permission")
async def test_owners_alone_take_people_in(server, visitor, owner):
    acme = await new_organization(server, "acme.example")
    manager = await new_caller(server, visitor, acme, "ORG_USER_MANAGER")
    boss = await new_caller(server, visitor, acme, "ORG_OWNER")
    before = await everything(server.store)

    refused(await manager.post(PATH, person()), 403, 7)

    assert await everything(server.store) == before
    assert (await take(boss))["details"]["resourceOwner"] == acme.id
    answer = await owner.post(PATH, person(userName="b"), x_idp_orgid=acme.id)
    assert answer.json()["details"]["resourceOwner"] == acme.id


@pytest.mark.promise("user import: hashedPassword.value")
@pytest.mark.parametrize(
    ("changes", "field", "error_code"),
    [
        (
            {"hashedPassword": {"value": "nonsense"}},
            "hashedPassword.value",
            "password_hash.unreadable",
        ),
        ({"password": "a lamp in the attic"}, "hashedPassword", "field.conflict"),
        ({"otpCode": "no secret"}, "otpCode", "factor.secret"),
        ({"otpCode": "JBSWY3DP"}, "otpCode", "factor.secret"),
        ({"otpCode": "A" * 201}, "otpCode", "field.too_long"),
        (
            {"requestPasswordlessRegistration": True},
            "requestPasswordlessRegistration",
            "factor.unsupported",
        ),
        ({"userName": None}, "userName", "field.required"),
        ({"userName": "x" * 201}, "userName", "field.too_long"),
        ({"phone": {"phone": "+" + "1" * 50}}, "phone.phone", "field.too_long"),
        ({"profile": {"firstName": "", "lastName": "x"}}, "profile.firstName", "field.empty"),
        ({"profile": {"firstName": "a"}}, "profile.lastName", "field.required"),
        (
            {"hashedPassword": {"value": "$2b$" + "x" * 197}},
            "hashedPassword.value",
            "field.too_long",
        ),
        ({"metadata": []}, "metadata", "field.unknown"),
        ({"dryRun": "yes"}, "dryRun", "field.wrong_type"),
        (
            {"idps": [{"configId": "a", "externalUserId": "b", "displayName": "c"}] * 2},
            "idps[1].externalUserId",
            "field.duplicate",
        ),
    ],
)
async def test_what_can_not_be_imported_is_reported_and_nothing_is_stored(
    server, owner, changes, field, error_code
):
    before = await everything(server.store)

    page = await owner.post(PATH, person(**changes))
    foretold = await owner.post(PATH, person(**{"dryRun": True} | changes))

    assert refused(page, 400, 3)[field] == error_code
    assert refused(foretold, 400, 3) == refused(page, 400, 3)
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    "changes",
    [
        {"userName": "x" * 200},
        {"userName": "x"},
        {"profile": {"firstName": "a" * 200, "lastName": "ß" * 200, "nickName": "n" * 200}},
        {"profile": {"firstName": "a", "lastName": "b", "preferredLanguage": "abcdefgh-1"}},
        {"phone": {"phone": "+41 79 123 45 67".ljust(49, " ") + "8"}},
        {"hashedPassword": None, "password": "ä" * 200},
    ],
)
async def test_what_is_as_long_as_it_may_be_is_taken_in(owner, changes):
    await take(owner, **changes)


async def test_a_name_that_is_taken_is_reported(server, owner):
    await take(owner)
    before = await everything(server.store)

    for dry in (True, False):
        page = await owner.post(PATH, person(email={"email": "b@c.example"}, dryRun=dry))

        assert refused(page, 409, 6) == {"userName": "user.login_name_taken"}
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"email": {"email": "a@b.example"}},
        {"hashedPassword": None},
        {"hashedPassword": None, "password": "a lamp in the attic"},
        {"phone": {"phone": "+41791234567"}, "otpCode": "JBSWY3DPEHPK3PXP"},
    ],
)
async def test_a_dry_run_reports_what_the_real_one_does_and_stores_nothing(server, owner, changes):
    before = await everything(server.store)
    foretold = await take(owner, **changes, dryRun=True)
    assert await everything(server.store) == before
    assert await stored(server, foretold) is None

    answer = await take(owner, **changes)

    assert foretold.pop("dryRun")
    assert foretold.pop("userId") != answer.pop("userId")
    for told in (foretold, answer):
        del told["details"]["creationDate"], told["details"]["changeDate"]
    assert foretold == answer


async def test_nobody_else_may_try_it(server, visitor, owner):
    acme = await new_organization(server, "acme.example")
    manager = await new_caller(server, visitor, acme, "ORG_USER_MANAGER")

    refused(await manager.post(PATH, person(dryRun=True)), 403, 7)
