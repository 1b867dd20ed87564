"""What an organization asserts of an address counts there only: attacks on that over HTTP, on both
stores, and what has to go on working beside them."""

from __future__ import annotations

import pytest

from idp.records import APPLICATIONS, EVENTS
from tests.handlers.management.organizations.tenants import (
    HERS,
    NUMBER,
    ORG_SCOPE,
    VERA,
    claims_of,
    claims_parameter,
    import_users,
    place,
    settings,
)
from tests.support.protocol.exchanging import ACCESS, GRANT, switch
from tests.support.sign_in.people import PASSWORD, create
from tests.support.sign_in.registering import code_for, mails
from tests.support.sign_in.resetting import at_reset_code
from tests.support.store.audit import events_agree

__all__ = ["place", "settings"]

# What an application learns of an address that an organization has asserted.


async def userinfo(place, party):
    return await place.userinfo(party, await place.signed_in(party))


async def id_token(place, party):
    await place.options(party, id_token_userinfo_assertion=True)
    return claims_of((await place.signed_in(party))["id_token"])


async def id_token_of_the_front_channel(place, party):
    await place.options(party, response_types=["id_token"], grant_types=["implicit"])
    url = party.authorize_url(response_type="id_token", scope="openid email phone")
    page = await place.new_visitor().sign_in(url, "mallory", PASSWORD)
    return claims_of(page.answer["id_token"])


async def claims_of_the_id_token(place, party):
    return claims_of(
        (await place.signed_in(party, claims=claims_parameter("id_token")))["id_token"]
    )


async def claims_of_userinfo(place, party):
    told = {"scope": "openid", "claims": claims_parameter("userinfo")}
    return await place.userinfo(party, await place.signed_in(party, **told))


async def refreshed(place, party):
    await place.options(party, id_token_userinfo_assertion=True)
    tokens = await place.signed_in(party)
    page = await party.refresh(place.new_visitor(), tokens["refresh_token"])
    return claims_of(page.json()["id_token"])


async def introspection(place, party):
    return await place.introspected(party, (await place.signed_in(party))["access_token"])


async def jwt(place, party):
    await place.options(party, access_token_type="jwt", access_token_role_assertion=True)
    tokens = await place.signed_in(party)
    return await place.introspected(party, tokens["access_token"]) | claims_of(
        tokens["access_token"]
    )


async def exchanged(place, party):
    await switch(place.server, allows_token_exchange=True)
    await place.options(party, id_token_userinfo_assertion=True)
    grants = ["authorization_code", "refresh_token", GRANT]
    await place.options(party, grant_types=grants)
    tokens = await place.signed_in(party)
    form = {"subject_token": tokens["access_token"], "subject_token_type": ACCESS}
    page = await party.token(place.new_visitor(), {"grant_type": GRANT, **form})
    return await place.userinfo(party, page.json())


WAYS = [
    userinfo,
    id_token,
    id_token_of_the_front_channel,
    claims_of_the_id_token,
    claims_of_userinfo,
    refreshed,
    introspection,
    jwt,
    exchanged,
]


@pytest.mark.promise("tenant: claims")
@pytest.mark.parametrize("way", WAYS)
async def test_what_an_organization_asserts_is_verified_for_its_own_applications_alone(place, way):
    await place.mallory()

    at_home, elsewhere = await way(place, place.own), await way(place, place.shop)

    names = ("email_verified", "phone_number_verified")
    assert [at_home[name] for name in names] == [True, True]
    assert [elsewhere[name] for name in names] == [False, False]


@pytest.mark.promise("tenant: claims")
async def test_an_api_of_another_organization_gets_its_own_view_of_a_token(place):
    await place.mallory()
    project = (await place.server.store.get(APPLICATIONS, place.shop.client_id)).project_id
    scope = f"openid email urn:idp:iam:org:project:id:{project}:aud"
    tokens = await place.signed_in(place.own, scope=scope)

    at_home = await place.introspected(place.own, tokens["access_token"])
    elsewhere = await place.introspected(place.shop, tokens["access_token"])

    assert (at_home["active"], at_home["email_verified"]) == (True, True)
    assert (elsewhere["active"], elsewhere["email_verified"]) == (True, False)


# The ways by which the chief of an organization may try to have an address count everywhere.


async def called_verified(place):
    return await place.mallory()


async def called_verified_later(place):
    id = await place.mallory(email={"email": "m@evil-mail.example"})
    await place.chief.post(f"/v2/users/{id}/email", {"email": VERA, "isVerified": True})
    await place.chief.post(f"/v2/users/{id}/phone", {"phone": NUMBER, "isVerified": True})
    return id


async def proven_by_a_code_that_was_returned(place):
    told = {"email": {"email": VERA, "returnCode": {}}}
    told["phone"] = {"phone": NUMBER, "returnCode": {}}
    password = {"password": PASSWORD}
    made = await create(place.chief, username="mallory", password=password, **told)
    for kind in ("email", "phone"):
        body = {"verificationCode": made[f"{kind}Code"]}
        page = await place.chief.post(f"/v2/users/{made['userId']}/{kind}/verify", body)
        assert page.status == 200, page.text
    return made["userId"]


async def proven_by_a_code_that_was_returned_later(place):
    id = await place.mallory(email={"email": VERA}, phone={"phone": NUMBER})
    for kind in ("email", "phone"):
        place.server.clock.advance(1)
        page = await place.chief.post(f"/v2/users/{id}/{kind}/resend", {"returnCode": {}})
        body = {"verificationCode": page.json()["verificationCode"]}
        page = await place.chief.post(f"/v2/users/{id}/{kind}/verify", body)
        assert page.status == 200, page.text
    return id


async def set_with_a_returned_code(place):
    id = await place.mallory(email={"email": "m@evil-mail.example"}, phone=None)
    for kind, value in (("email", VERA), ("phone", NUMBER)):
        place.server.clock.advance(1)
        page = await place.chief.post(f"/v2/users/{id}/{kind}", {kind: value, "returnCode": {}})
        body = {"verificationCode": page.json()["verificationCode"]}
        assert (await place.chief.post(f"/v2/users/{id}/{kind}/verify", body)).status == 200
    return id


async def imported_as_verified(place):
    body = {
        "userName": "mallory",
        "profile": {"firstName": "M", "lastName": "M"},
        "email": {"email": VERA, "isEmailVerified": True},
        "phone": {"phone": NUMBER, "isPhoneVerified": True},
        "password": PASSWORD,
    }
    page = await place.chief.post("/management/v1/users/human/_import", body)
    assert page.status == 200, page.text
    return page.json()["userId"]


async def brought_with_a_domain_that_is_not_theirs(place):
    row = {
        "userName": "mallory",
        "profile": {"firstName": "M", "lastName": "M"},
        "email": {"email": VERA, "isEmailVerified": True, "verifiedBy": "domain"},
        "phone": {"phone": NUMBER, "isPhoneVerified": True, "verifiedBy": "organization"},
        "password": PASSWORD,
    }
    await import_users(place, place.evil.id, {"userId": "mallory-1", "user": row})
    return "mallory-1"


ASSERTIONS = [
    called_verified,
    called_verified_later,
    proven_by_a_code_that_was_returned,
    proven_by_a_code_that_was_returned_later,
    set_with_a_returned_code,
    imported_as_verified,
    brought_with_a_domain_that_is_not_theirs,
]


@pytest.mark.promise("tenant: forged address")
@pytest.mark.parametrize("assertion", ASSERTIONS)
async def test_an_asserted_address_is_no_claim_no_login_no_409_and_no_takeover_elsewhere(
    place, assertion
):
    mallory = await assertion(place)
    user = await place.user(mallory)
    told = await place.userinfo(place.shop, await place.signed_in(place.shop))
    names = [await place.who(party, VERA) for party in (place.shop, place.server.demo())]
    at_home = await place.who(place.own, VERA)
    vera = await place.vera()  # nothing keeps her from opening an account

    assert (user.email.verified_by, user.phone.verified_by) == ("organization", "organization")
    assert (told["email_verified"], told["phone_number_verified"]) == (False, False)
    assert names == [None, None]
    assert at_home == mallory
    assert await place.who(place.shop, VERA, HERS) == vera
    assert await place.who(place.own, VERA, HERS) == vera
    assert await place.who(place.own, VERA) is None


@pytest.mark.promise("tenant: forged address")
async def test_the_others_organization_makes_a_person_with_the_address(place):
    await place.mallory()
    email = {"email": VERA, "isVerified": True}
    at_corp = await create(place.boss, username="vera", email=email)
    by_instance = await create(
        place.owner, username="v2", email=email, organization={"orgId": place.corp.id}
    )

    assert (await place.user(at_corp["userId"])).email.verified_by == "organization"
    assert (await place.user(by_instance["userId"])).email.verified_by == "instance"


@pytest.mark.promise("tenant: superseded address")
async def test_an_address_that_is_verified_elsewhere_ends_the_asserted_login_name_for_good(place):
    mallory = await place.mallory()
    vera = await place.vera()
    await place.tidied()
    await place.tidied()
    user = await place.user(mallory)
    found = [one async for one in place.server.store.scan(EVENTS)]
    told = (await place.chief.get(f"/v2/users/{mallory}")).json()["user"]
    page = await place.owner.request("DELETE", f"/v2/users/{vera}", None)

    (event,) = [one for one in found if one.type == "user.email_superseded"]
    assert (event.record_id, event.org_id, event.actor) == (mallory, place.evil.id, vera)
    assert (user.email.is_superseded, user.email_key) == (True, None)
    assert VERA not in told["loginNames"]
    assert told["human"]["email"]["verifiedBy"] == "organization"
    assert page.status == 200
    assert await place.who(place.own, VERA) is None
    await events_agree(place.server.store)


async def test_an_address_that_is_verified_already_becomes_no_login_name_by_assertion(place):
    vera = await place.vera()
    mallory = await place.mallory()

    assert (await place.user(mallory)).email.is_superseded is True
    assert await place.who(place.own, VERA) is None
    assert await place.who(place.own, VERA, HERS) == vera


@pytest.mark.promise("tenant: forged address")
async def test_no_mail_for_a_new_password_goes_to_an_asserted_address_from_elsewhere(place):
    await place.mallory()
    for party, count in ((place.shop, 0), (place.own, 1)):
        visitor = place.new_visitor()
        await at_reset_code(visitor, party, VERA)

        assert len(await mails(visitor, VERA)) == count
        place.server.clock.advance(120)


@pytest.mark.promise("tenant: claims")
async def test_a_code_from_the_mailbox_makes_an_asserted_address_count_everywhere(place):
    mallory = await place.mallory()
    visitor = place.new_visitor()
    await place.chief.post(f"/v2/users/{mallory}/email/resend", {})
    body = {"verificationCode": await code_for(visitor, VERA)}
    page = await place.chief.post(f"/v2/users/{mallory}/email/verify", body)
    told = await place.userinfo(place.shop, await place.signed_in(place.shop))

    assert page.status == 200, page.text
    assert (await place.user(mallory)).email.verified_by == "mailbox"
    assert told["email_verified"] is True
    assert await place.who(place.shop, VERA) == mallory


async def test_within_the_organization_that_a_scope_names_an_asserted_address_is_a_login_name(
    place,
):
    mallory = await place.mallory()
    scope = f"openid {ORG_SCOPE}{place.evil.id}"

    assert await place.who(place.shop, VERA, scope=scope) == mallory


@pytest.mark.promise("tenant: forged address")
async def test_a_hint_does_not_choose_who_asserts_the_address_at_other_applications(place):
    await place.mallory()
    visitor = place.new_visitor()
    await visitor.sign_in(place.shop.authorize_url(), "mallory", PASSWORD)

    elsewhere = await place.shop.silently(visitor, login_hint=VERA)
    at_home = await place.own.silently(visitor, login_hint=VERA)

    assert elsewhere["error"] == "login_required"
    assert "code" in at_home


@pytest.mark.parametrize("by", ["owner", "boss"])
async def test_by_whom_an_address_is_verified_is_shown_beside_it(place, by):
    where = {"organization": {"orgId": place.corp.id}}
    made = await create(getattr(place, by), phone={"phone": NUMBER, "isVerified": True}, **where)
    human = (await place.boss.get(f"/v2/users/{made['userId']}")).json()["user"]["human"]
    waiting = await create(place.boss, username="w", email={"email": "w@mail.example"})
    waits = (await place.boss.get(f"/v2/users/{waiting['userId']}")).json()["user"]["human"]

    source = {"owner": "instance", "boss": "organization"}[by]
    assert (human["email"]["verifiedBy"], human["phone"]["verifiedBy"]) == (source, source)
    assert "verifiedBy" not in waits["email"]
