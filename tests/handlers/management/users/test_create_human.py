"""POST /v2/users/human: what it makes, and what it answers."""

from __future__ import annotations

import pytest

from idp.mail import messages
from idp.records import EVENTS, USER_METADATA, USERS, Email, IdpLink, Phone, Profile
from tests.support.management.callers import (
    new_caller,
    new_organization,
    refused,
)
from tests.support.sign_in.people import PATH, create


async def stored(server, answer):
    return await server.store.get(USERS, answer["userId"])


@pytest.mark.promise("organization: human user", "user creation: username", "user creation: 200")
async def test_the_least_that_makes_a_person(server, owner):
    answer = await create(owner)

    user = await stored(server, answer)
    assert user.user_name == "mini@mouse.example"
    assert user.profile.display_name == "Mini Mouse"
    assert user.password is None
    assert answer == {
        "userId": user.id,
        "details": {
            "sequence": "1",
            "changeDate": answer["details"]["changeDate"],
            "resourceOwner": user.org_id,
        },
    }


@pytest.mark.promise(
    "organization: human user",
    "user creation: user id",
    "user creation: profile",
    "user creation: metadata",
    "user creation: idpLinks",
)
async def test_everything_that_can_be_sent_about_a_person_is_stored(server, owner):
    answer = await create(
        owner,
        userId="auth0|60425dc4",
        username="Mini-Mouse",
        profile={
            "givenName": "Minnie",
            "familyName": "Mouse",
            "nickName": "Mini",
            "displayName": "Minnie M.",
            "preferredLanguage": "en-GB-u-rg",
            "gender": "GENDER_FEMALE",
        },
        email={"email": "Mini@Mouse.example", "isVerified": True},
        phone={"phone": "+41 (0)79 123-45-67", "isVerified": True},
        metadata=[{"key": "shoes", "value": "cmVk"}],
        idpLinks=[{"idpId": "google", "userId": "65168498048904", "userName": "m@g"}],
    )

    user = await stored(server, answer)
    assert user.id == "auth0|60425dc4"
    assert user.user_name == "Mini-Mouse"
    assert user.profile == Profile(
        display_name="Minnie M.",
        given_name="Minnie",
        family_name="Mouse",
        nick_name="Mini",
        preferred_language="en-GB",
        gender="female",
    )
    assert user.email == Email(
        address="Mini@mouse.example", is_verified=True, verified_by="instance"
    )
    assert user.email_key == "mini@mouse.example"
    assert user.phone == Phone(number="+41791234567", is_verified=True, verified_by="instance")
    assert user.idp_links == [IdpLink(idp_id="google", user_id="65168498048904", user_name="m@g")]
    (entry,) = [one async for one in server.store.scan(USER_METADATA)]
    assert (entry.user_id, entry.key, entry.value) == (user.id, "shoes", "cmVk")


@pytest.mark.promise("user creation: phone")
@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("+1234567890", "+1234567890"),
        ("tel:+41-79-123-45-67", "+41791234567"),
        ("+44 (0)20 7946 0958", "+442079460958"),
    ],
)
async def test_a_number_is_stored_in_its_international_form(server, owner, written, kept):
    answer = await create(owner, phone={"phone": written, "isVerified": True})

    assert (await stored(server, answer)).phone.number == kept


async def test_names_in_snake_case_are_read_alike(server, owner):
    page = await owner.post(
        PATH,
        {
            "user_id": "42",
            "profile": {"given_name": "Mini", "family_name": "Mouse"},
            "email": {"email": "mini@mouse.example", "is_verified": True},
        },
    )

    assert page.json()["userId"] == "42"


async def test_each_record_has_its_event_and_the_caller_is_its_actor(server, visitor):
    home = await new_organization(server, "acme.example")
    caller = await new_caller(server, visitor, home, "ORG_USER_MANAGER")
    before = {event.id async for event in server.store.scan(EVENTS)}
    answer = await create(caller, metadata=[{"key": "a", "value": "YQ=="}])

    made = [event async for event in server.store.scan(EVENTS) if event.id not in before]
    assert sorted(event.type for event in made) == ["user.created", "user_metadata.created"]
    assert {event.actor for event in made} == {caller.user_id}
    assert (await stored(server, answer)).org_id == home.id


@pytest.mark.promise("security: organization")
async def test_an_empty_organization_is_that_of_the_caller(server, visitor):
    home = await new_organization(server, "acme.example")
    caller = await new_caller(server, visitor, home, "ORG_USER_MANAGER")
    answer = await create(caller, organization={})

    assert (await stored(server, answer)).org_id == home.id


@pytest.mark.promise("user creation: email", "user creation: verification email")
async def test_an_address_that_is_not_verified_is_sent_a_code(server, owner):
    answer = await create(owner, email={"email": "mini@mouse.example"})

    assert "emailCode" not in answer
    assert answer["mail"] == "held"
    user = await stored(server, answer)
    assert (user.email.is_verified, user.email_key) == (False, None)
    (sent,) = await held(server)
    assert (sent.kind, sent.user_id) == ("invite", user.id)
    assert sent.mail_message.to == "mini@mouse.example"
    await verified(server, owner, user, "email", sent.mail_message.code)


@pytest.mark.promise(
    "user creation: email", "user creation: verification email", "user creation: 200"
)
async def test_the_code_is_returned_to_who_asks_and_then_nothing_is_sent(server, owner):
    answer = await create(
        owner,
        email={"email": "mini@mouse.example", "returnCode": {}},
        phone={"phone": "+41791234567", "returnCode": {}},
    )

    assert await held(server) == []
    assert "mail" not in answer
    user = await stored(server, answer)
    await verified(server, owner, user, "email", answer["emailCode"])
    await verified(server, owner, user, "phone", answer["phoneCode"])


@pytest.mark.promise("user creation: phone")
async def test_a_number_that_is_not_verified_is_sent_a_code(server, owner):
    answer = await create(owner, phone={"phone": "+41791234567", "sendCode": {}})

    (sent,) = await held(server)
    assert answer["mail"] == "held"
    assert (sent.kind, sent.mail_message.to) == ("verify_phone", "+41791234567")
    await verified(server, owner, await stored(server, answer), "phone", sent.mail_message.code)


@pytest.mark.promise("user creation: email")
async def test_the_mail_leads_where_the_caller_wants_it(server, owner):
    template = "https://app.example/verify?u={{.UserID}}&c={{.Code}}&o={{.OrgID}}"
    answer = await create(
        owner,
        userId="a b",
        email={"email": "mini@mouse.example", "sendCode": {"urlTemplate": template}},
    )

    (sent,) = await held(server)
    home, code = answer["details"]["resourceOwner"], sent.mail_message.code
    assert sent.mail_message.url == f"https://app.example/verify?u=a%20b&c={code}&o={home}"


@pytest.mark.promise("user creation: verification email")
async def test_a_verified_address_is_sent_nothing(server, owner):
    answer = await create(owner)

    assert await held(server) == []
    assert "mail" not in answer


async def held(server):
    """The mails and text messages that wait to be read."""
    return await messages.held(server.service)


async def verified(server, owner, user, contact, code):
    """Whether the code proves what it was sent to, once."""
    path = f"/v2/users/{user.id}/{contact}/verify"
    before = await server.store.get(USERS, user.id)
    page = await owner.post(path, {"verificationCode": code})

    assert page.status == 200
    changed = await server.store.get(USERS, user.id)
    assert getattr(changed, contact).is_verified
    assert page.json()["details"]["sequence"] == str(before.sequence + 1)
    again = refused(await owner.post(path, {"verificationCode": code}), 400, 3)
    assert again == {"verificationCode": "code.expired"}
