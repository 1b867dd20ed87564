"""People of a package: who is made, left alone, changed or refused, and that they sign in."""

from __future__ import annotations

import pytest

from idp.identity.factors import second_factors
from idp.mail import messages
from idp.records import USERS, IdpLink, Phone
from storage import Update
from tests.support.samples.people import IMPORTED
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything
from tests.support.transfer.bringing import brought, exported_org
from tests.support.transfer.bringing_people import outcome

ACME = {"orgId": "acme", "org": {"name": "Acme"}}
HASH = IMPORTED["hashedPassword"]["value"]
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
PASSWORD = "a lamp in the attic"


def person(**changes):
    body = {
        "userName": "road.runner",
        "profile": {"firstName": "Road", "lastName": "Runner"},
        "email": {"email": "road@runner.example", "isEmailVerified": True},
        "hashedPassword": {"value": HASH},
    } | changes
    return {name: value for name, value in body.items() if value is not None}


FULL = person(
    profile=IMPORTED["profile"],
    email={
        "email": "road@runner.example",
        "isEmailVerified": True,
        "verifiedBy": "organization",
    },
    phone={"phone": "+41791234567", "isPhoneVerified": True, "verifiedBy": "instance"},
    address={"streetAddress": "Bahnhofstrasse 1\n2. Stock", "locality": "Zürich"},
    passwordChangeRequired=True,
    otpCode=SECRET,
    otpName="Phone",
    idps=[{"configId": "google", "externalUserId": "1", "displayName": "road"}],
    state="USER_STATE_INACTIVE",
)


def row(id="auth0|1", **changes):
    return {"userId": id, "user": person(**changes)}


def org(*rows, id="acme"):
    return {"orgId": id, "humanUsers": list(rows)}


async def bring(server, *rows, **options):
    """What became of the rows, in an organization that exists."""
    if await server.store.get(USERS, "nobody") is None:
        await brought(server, ACME, job="before")
    return await brought(server, org(*rows), **options)


async def stored(server, id="auth0|1"):
    return await server.store.get(USERS, id)


async def test_a_person_comes_with_id_and_password_and_no_mail_is_sent(server):
    (made,) = await bring(server, row())

    user = await stored(server)
    assert (made.action, made.id, made.problems) == ("create", "auth0|1", ())
    assert (user.org_id, user.user_name, user.state) == ("acme", "road.runner", "active")
    assert user.profile.display_name == "Road Runner"
    assert user.email_key == "road@runner.example"
    assert user.password.hash == HASH
    assert await messages.held(server.service) == []
    await events_agree(server.store)


async def test_a_hash_that_is_brought_is_as_expensive_as_the_settings_say(server):
    weak = "$pbkdf2-sha256$999$c2FsdA$" + "A" * 43
    (made,) = await bring(server, row(hashedPassword={"value": weak}))
    assert (made.action, made.problems[0].error_code) == ("fail", "password_hash.too_weak")
    assert made.problems[0].field == "user.hashedPassword.value"
    assert "imported_pbkdf2_min_rounds" in made.problems[0].message
    assert await stored(server) is None


async def test_a_weak_hash_that_is_here_already_may_come_again(server):
    """As it is told by the export of an installation that let it in once."""
    weak = "$pbkdf2-sha256$999$c2FsdA$" + "A" * 43
    await bring(server, row())
    await server.store.commit(Update(USERS, "auth0|1", set={"password.hash": weak}))

    (again,) = await bring(server, row(hashedPassword={"value": weak}), updates=True, job="second")

    assert (again.action, again.problems) == ("skip", ())
    assert (await stored(server)).password.hash == weak


async def test_all_that_a_record_holds_is_imported_and_exported_again(server):
    await bring(server, {"userId": "otto", "user": FULL})

    user = await stored(server, "otto")
    assert user.phone == Phone(number="+41791234567", is_verified=True, verified_by="instance")
    assert user.idp_links == [IdpLink(idp_id="google", user_id="1", user_name="road")]
    assert (user.state, user.password.must_change) == ("inactive", True)
    assert second_factors.secret_of(server.service, user) == SECRET
    assert SECRET not in user.totp.sealed_secret
    told = await exported_org(server, "acme", with_passwords=True, with_otp=True)
    (again,) = told["humanUsers"]
    assert again["user"].pop("hashedPassword")["value"] == HASH
    assert again == {
        "userId": "otto",
        "user": {name: value for name, value in FULL.items() if name != "hashedPassword"},
    }


async def test_what_is_imported_again_changes_nothing(server):
    await bring(server, {"userId": "otto", "user": FULL}, row())
    before = await everything(server.store)
    told = await exported_org(server, "acme", with_passwords=True, with_otp=True)

    again = await brought(server, told, updates=True, job="second")

    assert {each.action for each in again} == {"skip"}
    assert await everything(server.store) == before


async def test_secrets_are_exported_only_on_request(server):
    await bring(server, {"userId": "otto", "user": FULL})

    (told,) = (await exported_org(server, "acme"))["humanUsers"]

    assert not {"hashedPassword", "passwordChangeRequired", "otpCode"} & set(told["user"])


async def test_a_user_without_address_and_name_is_reported_and_imported(server):
    page = await server.store.find(USERS, {"login_key": server.service.config.admin_login_name})
    admin = page.records[0]
    told = await exported_org(server, admin.org_id, with_passwords=True)
    before = await everything(server.store)

    again = await brought(server, told, updates=True)

    assert {(each.action, each.problems) for each in again} == {("skip", ())}
    assert await everything(server.store) == before


async def test_who_came_signs_in_with_the_password_of_before(server, demo, new_visitor):
    encoded = await server.service.hasher.hash(PASSWORD)
    await bring(
        server,
        row(hashedPassword={"value": encoded}),
        row(
            "2",
            userName="b",
            email={"email": "b@b.example"},
            hashedPassword=None,
            password=PASSWORD,
        ),
    )

    for name in ("road.runner", "road@runner.example", "b"):
        assert (await demo.tokens(new_visitor(), name, PASSWORD))["access_token"]


@pytest.mark.promise("overload: measured hashes")
async def test_a_new_hash_that_takes_long_to_verify_is_warned_of_and_stored(server):
    expensive, usual = ("$2b$12$" + 53 * ".", "$2b$11$" + 53 * ".")
    rows = [
        row("expensive", hashedPassword={"value": expensive}),
        row(
            "usual", userName="b", email={"email": "b@b.example"}, hashedPassword={"value": usual}
        ),
    ]

    first, second = await bring(server, *rows)
    again, _ = await bring(server, *rows, job="again", updates=True)

    assert outcome(first) == ("create", {"user.hashedPassword.value": "password_hash.dear"})
    assert "0.3 s" in first.problems[0].message
    assert outcome(second) == ("create", {})
    assert outcome(again)[1] == {}
    assert (await server.store.get(USERS, "expensive")).password.hash == expensive
