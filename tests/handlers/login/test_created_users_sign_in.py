"""Who was created over HTTP signs in at the pages; and of twins one is made."""

from __future__ import annotations

import asyncio

import argon2
import bcrypt
import pytest

from idp.records import USERS
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.sign_in.people import PASSWORD, PATH, create, person
from tests.support.store.stored import count


@pytest.mark.promise("user creation: password")
@pytest.mark.parametrize(
    "login_name", ["mini", "MINI@localhost", "Mini@Mouse.Example", "ｍｉｎｉ"]
)
async def test_a_person_signs_in_by_each_of_their_login_names(
    owner, new_visitor, demo, login_name
):
    made = await create(owner, username="mini", password={"password": PASSWORD})
    tokens = await demo.tokens(new_visitor(), login_name, PASSWORD)

    userinfo = (await demo.userinfo(new_visitor(), tokens["access_token"])).json()
    assert userinfo["sub"] == made["userId"]
    assert userinfo["given_name"] == "Mini"


HASHES = {
    "bcrypt": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode(),
    "argon2id": argon2.PasswordHasher(1, 4096, 1).hash(PASSWORD),
}


@pytest.mark.promise("user creation: hashedPassword")
@pytest.mark.parametrize("scheme", HASHES)
async def test_a_password_that_was_hashed_elsewhere_goes_on_counting(
    server, owner, new_visitor, demo, scheme
):
    made = await create(owner, hashedPassword={"hash": HASHES[scheme]})
    stored = await server.store.get(USERS, made["userId"])

    tokens = await demo.tokens(new_visitor(), "mini@mouse.example", PASSWORD)

    assert stored.password.hash == HASHES[scheme]
    assert tokens["token_type"] == "Bearer"


@pytest.mark.promise("user creation: password")
@pytest.mark.parametrize(
    "password",
    [
        {"password": {"password": PASSWORD, "changeRequired": True}},
        {"hashedPassword": {"hash": HASHES["bcrypt"], "changeRequired": True}},
    ],
)
async def test_a_password_that_is_to_be_changed_is_changed_at_the_first_sign_in(
    owner, new_visitor, demo, password
):
    await create(owner, **password)
    visitor = new_visitor()
    page = await visitor.sign_in(demo.authorize_url(), "mini@mouse.example", PASSWORD)
    assert page.name == "change-password"

    page = await visitor.submit(page, newPassword="another lamp entirely")

    assert "code" in page.answer


async def test_who_has_no_password_does_not_sign_in(owner, new_visitor, demo):
    await create(owner)
    page = await new_visitor().sign_in(demo.authorize_url(), "mini@mouse.example", PASSWORD)

    assert (page.status, page.name) == (400, "password")


# What sixteen want at the same moment.
TWINS = {
    "one id": [{"userId": "same", "username": f"mini-{n}"} for n in range(16)],
    "one user name": [{"username": "mini"} for _ in range(16)],
    "one user name in many forms": [
        {"username": ["mini", "MINI", "ｍｉｎｉ", "Mini"][n % 4]} for n in range(16)
    ],
    "one address as a name": [{} for _ in range(16)],
    "a name and a name at its domain": [
        {"username": ["mini", "mini@localhost"][n % 2]} for n in range(16)
    ],
}


@pytest.mark.promise("user creation: user id", "user creation: username")
@pytest.mark.parametrize("wanted", TWINS)
async def test_of_twins_one_is_made_and_the_others_are_reported(server, owner, wanted):
    before = await count(server.store)
    pages = await asyncio.gather(*(owner.post(PATH, person(**each)) for each in TWINS[wanted]))
    after = await count(server.store)

    made = [page for page in pages if page.status == 200]
    assert len(made) == 1
    for page in pages:
        assert page in made or set(refused(page, 409, 6).values()) <= {
            "user.id_taken",
            "user.login_name_taken",
        }
    assert after["users"] == before["users"] + 1
    assert after["events"] == before["events"] + 1


async def test_twins_of_two_organizations_do_not_share_a_name_either(server, visitor):
    managers = []
    for domain in ("a.example", "b.example"):
        home, role = await new_organization(server, domain), "IAM_USER_MANAGER"
        managers.append(await new_caller(server, visitor, home, role, everywhere=True))
    wanted = ["mini", "mini@a.example"]

    pages = await asyncio.gather(
        *(
            each.post(PATH, person(username=name))
            for each, name in zip(managers, wanted, strict=True)
        )
    )

    assert sorted(page.status for page in pages) == [200, 409]
