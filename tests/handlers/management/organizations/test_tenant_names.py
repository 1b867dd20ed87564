"""Nobody is called like a user of somebody else's domain: over HTTP, on both stores."""

from __future__ import annotations

import msgspec
import pytest

from idp.records import USERS
from tests.handlers.management.organizations.naming import verify_domain
from tests.handlers.management.organizations.tenants import (
    FOREIGN,
    HERS,
    claims_of,
    import_users,
    place,
    settings,
)
from tests.support.management.callers import (
    refused,
)
from tests.support.sign_in.people import PASSWORD, PATH, create, person
from tests.support.sign_in.registering import registered
from tests.support.store.stored import everything

__all__ = ["place", "settings"]

# Names: nobody is called like a user of somebody else's domain.


async def make_a_person(place, name):
    return await place.chief.post(PATH, person(username=name))


async def make_a_person_by_address(place, name):
    email = {"email": name, "isVerified": True}
    return await place.chief.post(PATH, person(email=email))


async def make_a_service_user(place, name):
    body = {"userName": name, "name": "Robot"}
    return await place.chief.post("/management/v1/users/machine", body)


async def import_a_person(place, name):
    body = {
        "userName": name,
        "profile": {"firstName": "M", "lastName": "M"},
        "email": {"email": "m@evil-mail.example", "isEmailVerified": True},
    }
    return await place.chief.post("/management/v1/users/human/_import", body)


async def rename_a_person(place, name):
    id = await place.mallory()
    return await place.chief.request("PUT", f"/v2/users/human/{id}", {"username": name})


async def rename_a_service_user(place, name):
    page = await make_a_service_user(place, "robot")
    path = f"/management/v1/users/{page.json()['userId']}/machine"
    return await place.chief.request("PUT", path, {"userName": name})


SQUATS = [
    make_a_person,
    make_a_service_user,
    import_a_person,
    rename_a_person,
    rename_a_service_user,
]


@pytest.mark.promise("tenant: squatted name")
@pytest.mark.parametrize("squat", SQUATS)
@pytest.mark.parametrize("name", ["ceo@corp.example", "CEO@Mail.Corp.example"])
async def test_a_name_of_another_organizations_domain_is_refused(place, squat, name):
    await verify_domain(place.boss, "mail.corp.example", place.zone)
    page = await squat(place, name)

    (error_code,) = refused(page, 400, 3).values()
    assert error_code == "user.name.foreign_domain"
    assert (await place.server.store.find(USERS, {"login_key": name.lower()})).records == []


async def test_an_address_in_place_of_a_name_is_refused_likewise(place):
    page = await make_a_person_by_address(place, "ceo@corp.example")

    assert refused(page, 400, 3) == {"email.email": "user.name.foreign_domain"}


@pytest.mark.promise("tenant: squatted name")
async def test_a_row_of_an_import_with_such_a_name_is_refused_and_the_others_are_not(place):
    rows = [
        {
            "userId": f"row-{n}",
            "user": {
                "userName": name,
                "profile": {"firstName": "M", "lastName": "M"},
                "email": {"email": f"m{n}@mail.example", "isEmailVerified": True},
            },
        }
        for n, name in enumerate(["ceo@corp.example", "mia@evil.example"])
    ]
    answer = await import_users(place, place.evil.id, *rows)

    (error,) = answer["errors"]
    assert (error["id"], error["slug"]) == ("row-0", "user.name.foreign_domain")
    assert await place.user("row-0") is None
    assert (await place.user("row-1")).email.verified_by == "instance"


@pytest.mark.promise("tenant: squatted name")
async def test_who_registers_elsewhere_by_an_address_of_the_domain_chooses_another_name(place):
    party, visitor = place.own, place.new_visitor()
    page = await registered(visitor, party, email="ceo@corp.example", userName="")
    assert page.name == "user-name", page.text
    page = await visitor.submit(page, userName="nora")

    assert "code" in page.answer
    names = [one.user_name async for one in place.server.store.scan(USERS)]
    assert "nora" in names
    assert "ceo@corp.example" not in names


@pytest.mark.promise("tenant: squatted name")
async def test_a_role_of_the_instance_gives_out_any_name(place):
    where = {"organization": {"orgId": place.evil.id}}
    made = await create(place.owner, username="ceo@corp.example", **where)

    assert (await place.user(made["userId"])).user_name == "ceo@corp.example"


@pytest.mark.promise("tenant: squatted name")
async def test_a_squatted_name_is_never_returned_as_if_it_were_the_domains(place):
    password = {"password": PASSWORD}
    email = {"email": "x@mail.example", "isVerified": True}
    name = "ceo@late.example"
    squatter = await create(place.chief, username=name, email=email, password=password)
    before = await place.userinfo(place.shop, await place.signed_in(place.shop, name))
    await verify_domain(place.boss, "late.example", place.zone)
    tokens = await place.signed_in(place.shop, name)
    after = await place.userinfo(place.shop, tokens)
    seen = await place.introspected(place.shop, tokens["access_token"])
    asked = msgspec.json.encode({"id_token": {"preferred_username": None}}).decode()
    by_name = claims_of((await place.signed_in(place.shop, name, claims=asked))["id_token"])

    assert before["preferred_username"] == name
    names = {each["preferred_username"] for each in (after, seen, by_name)} | {seen["username"]}
    assert names == {f"{name}@evil.example"}
    assert after["sub"] == squatter["userId"]


@pytest.mark.promise("tenant: squatted name")
async def test_a_squatted_name_keeps_nobody_of_the_domain_from_their_address(place):
    password = {"password": PASSWORD}
    email = {"email": "x@mail.example", "isVerified": True}
    await create(place.chief, username="ceo@late.example", email=email, password=password)
    await verify_domain(place.boss, "late.example", place.zone)
    email, hers = {"email": "ceo@late.example", "isVerified": True}, {"password": HERS}
    boss = await create(place.boss, username="the-ceo", email=email, password=hers)

    assert (await place.user(boss["userId"])).email.verified_by == "domain"
    assert await place.who(place.shop, "ceo@late.example", HERS) == boss["userId"]
    assert await place.who(place.shop, "ceo@late.example") is None


async def test_a_refused_name_changes_nothing(place):
    before = await everything(place.server.store)
    page = await make_a_person(place, "ceo@corp.example")

    assert refused(page, 400, 3) == FOREIGN
    assert await everything(place.server.store) == before
