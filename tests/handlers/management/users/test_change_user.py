"""What of a user is changed over the management API: names, address, number; and what stays."""

from __future__ import annotations

import asyncio

import pytest

from idp.identity.users import lookup as user_lookup
from idp.mail import messages
from idp.records import USERS, Email, Phone
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.sign_in.people import create
from tests.support.store.audit import events_of
from tests.support.store.stored import everything

AT_ONCE = 32
MOVED = "moved@mouse.example"


@pytest.fixture
def person(io_loop, owner):
    return io_loop.run_sync(lambda: create(owner, username="mini"))["userId"]


async def put(caller, id, **body):
    return await caller.request("PUT", f"/v2/users/human/{id}", body)


async def done(caller, path, method="POST", **body):
    page = await caller.request(method, path, body)
    assert page.status == 200, page.text
    return page.json()


async def stored(server, id):
    return await server.store.get(USERS, id)


async def types(server, id):
    """The types of the user's events, in their order."""
    return [one.type for one in await events_of(server.store, id)]


async def test_what_is_sent_of_a_person_changes_and_the_rest_stays(server, owner, person):
    before = await stored(server, person)
    profile = {"nickName": "Min", "gender": "GENDER_FEMALE"}

    page = await put(owner, person, username="Minnie", profile=profile)

    after = await stored(server, person)
    assert page.json()["details"]["sequence"] == "2"
    assert (after.user_name, after.login_key) == ("Minnie", "minnie")
    assert (after.profile.nick_name, after.profile.gender) == ("Min", "female")
    assert after.profile.given_name == before.profile.given_name
    assert (after.email, after.stamp, after.password) == (
        before.email,
        before.stamp,
        before.password,
    )
    assert await types(server, person) == ["user.created", "user.changed"]


async def test_an_empty_text_takes_away_what_may_be_missing(server, owner, person):
    await put(owner, person, profile={"nickName": "Min", "displayName": "M. M."})
    await put(owner, person, profile={"nickName": "", "displayName": ""})

    profile = (await stored(server, person)).profile
    assert (profile.nick_name, profile.display_name) == (None, "Mini Mouse")


async def test_a_change_that_changes_nothing_is_no_event(server, owner, person):
    page = await put(owner, person, username="mini")

    assert page.json()["details"]["sequence"] == "1"
    assert await types(server, person) == ["user.created"]


async def test_a_user_is_found_by_the_new_name_alone(server, owner, person):
    await put(owner, person, username="other", profile={"displayName": "Other"})

    found = [
        await user_lookup.find_by_login_name(server.service, name)
        for name in ("mini", "mini@localhost", "other", "OTHER@localhost")
    ]
    assert [one and one.id for one in found] == [None, None, person, person]
    query = {"displayNameQuery": {"displayName": "Other"}}
    answer = await done(owner, "/v2/users", queries=[query])
    assert [one["userId"] for one in answer["result"]] == [person]


@pytest.mark.parametrize("name", ["taken", "TAKEN", "taken@localhost", "taken@mouse.example"])
async def test_another_s_login_name_is_nobody_else_s(server, owner, person, name):
    email = {"email": "taken@mouse.example", "isVerified": True}
    await create(owner, username="taken", email=email)
    before = await everything(server.store)

    page = await put(owner, person, username=name)

    assert refused(page, 409, 6) == {"username": "user.login_name_taken"}
    assert await everything(server.store) == before


async def test_one_s_own_address_may_become_one_s_name(server, owner, person):
    page = await put(owner, person, username="mini@mouse.example")

    assert page.status == 200
    assert (await stored(server, person)).user_name == "mini@mouse.example"


async def race(server, owner, names):
    """Many people want each of these names at once; one gets it, the others are told."""
    ids = []
    for n in range(AT_ONCE):
        email = {"email": f"{n}@mouse.example", "isVerified": True}
        ids.append((await create(owner, username=f"p{n}", email=email))["userId"])
    for name in names:
        pages = await asyncio.gather(*[put(owner, id, username=name) for id in ids])

        assert sorted(page.status for page in pages) == [200] + [409] * (AT_ONCE - 1), name
        held = [(await stored(server, id)).user_name for id in ids]
        assert held.count(name) == 1


@pytest.mark.full
async def test_of_many_who_want_one_name_at_once_one_gets_it(server, owner):
    await race(server, owner, ["wanted@localhost", "wanted"])


@pytest.mark.load
@pytest.mark.gen_test(timeout=600)
async def test_of_many_who_want_one_name_at_once_one_gets_it_each_time(server, owner):
    await race(server, owner, [f"wanted-{n}{'@localhost' * (n % 2)}" for n in range(200)])


async def test_of_an_address_for_two_organizations_one_gets_it(server, owner):
    other = await new_organization(server, "other.example")
    ids = [(await create(owner, username="a"))["userId"]]
    ids.append(
        (
            await create(
                owner,
                username="b",
                organization={"orgId": other.id},
                email={"email": "b@mouse.example", "isVerified": True},
            )
        )["userId"]
    )
    body = {"email": MOVED, "isVerified": True}

    pages = await asyncio.gather(*[owner.post(f"/v2/users/{id}/email", body) for id in ids])

    assert sorted(page.status for page in pages) == [200, 409]


async def test_a_new_address_is_to_be_verified_by_the_code_of_its_mailbox(server, owner, person):
    answer = await done(owner, f"/v2/users/{person}/email", email=MOVED)

    user = await stored(server, person)
    letters = await messages.held(server.service)
    (letter,) = [each for each in letters if each.mail_message.to == MOVED]
    assert answer["mail"] == "held"
    assert "verificationCode" not in answer
    assert (user.email, user.email_key) == (Email(address=MOVED), None)
    code = letter.mail_message.code
    await done(owner, f"/v2/users/{person}/email/verify", verificationCode=code)
    assert (await stored(server, person)).email_key == MOVED
    assert await types(server, person) == [
        "user.created",
        "user.email_changed",
        "user.email_verified",
    ]


async def test_an_address_is_called_verified_by_others_alone(server, visitor, owner, person):
    await done(owner, f"/v2/users/{person}/email", email=MOVED, isVerified=True)
    acme = await new_organization(server, "acme.example")
    manager = await new_caller(server, visitor, acme, "ORG_USER_MANAGER")
    before = await everything(server.store)

    for path, body in (("email", {"email": MOVED}), ("phone", {"phone": "+41791234567"})):
        page = await manager.post(
            f"/v2/users/{manager.user_id}/{path}", {**body, "isVerified": True}
        )
        assert refused(page, 403, 7) == {"isVerified": "user.proves_itself"}

    assert (await stored(server, person)).email_key == MOVED
    assert await everything(server.store) == before


async def test_another_code_ends_the_one_before(server, owner, person):
    path = f"/v2/users/{person}/email"
    first = await done(owner, path, email=MOVED, returnCode={})
    server.clock.advance(1)
    second = await done(owner, f"{path}/resend", returnCode={})

    page = await owner.post(f"{path}/verify", {"verificationCode": first["verificationCode"]})
    assert refused(page, 400, 3) == {"verificationCode": "code.wrong"}
    await done(owner, f"{path}/verify", verificationCode=second["verificationCode"])
    page = await owner.post(f"{path}/resend", {})
    assert refused(page, 400, 9) == {"": "email.not_waiting"}


async def test_the_code_for_an_address_verifies_no_later_one(owner, person):
    path = f"/v2/users/{person}/email"
    first = await done(owner, path, email=MOVED, returnCode={})
    await done(owner, path, email="third@mouse.example", returnCode={})

    page = await owner.post(f"{path}/verify", {"verificationCode": first["verificationCode"]})

    assert refused(page, 400, 3) == {"verificationCode": "code.wrong"}


async def test_a_number_is_set_verified_and_removed(server, owner, person):
    path = f"/v2/users/{person}/phone"
    await done(owner, path, phone="+41791234567", returnCode={})
    server.clock.advance(1)
    again = await done(owner, f"{path}/resend", returnCode={})
    await done(owner, f"{path}/verify", verificationCode=again["verificationCode"])
    phone = (await stored(server, person)).phone
    await done(owner, path, "DELETE")

    assert phone == Phone(number="+41791234567", is_verified=True, verified_by="instance")
    assert (await stored(server, person)).phone is None
    assert await types(server, person) == [
        "user.created",
        "user.phone_changed",
        "user.phone_verified",
        "user.phone_removed",
    ]
    assert refused(await owner.request("DELETE", path, None), 400, 9) == {"": "phone.missing"}
    assert refused(await owner.post(f"{path}/resend", {}), 400, 9) == {"": "phone.not_waiting"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/v2/users/human/{id}", {"username": "x"}),
        ("POST", "/v2/users/{id}/email", {"email": MOVED}),
        ("POST", "/v2/users/{id}/phone", {"phone": "+41791234567"}),
        ("POST", "/v2/users/{id}/password", {"newPassword": {"password": "a lamp in the attic"}}),
        ("POST", "/v2/users/{id}/password_reset", {"returnCode": {}}),
    ],
)
async def test_nobody_changes_who_may_do_more_and_no_service_user_is_a_person(
    server, visitor, owner, method, path, body
):
    acme = await new_organization(server, "acme.example")
    manager = await new_caller(server, visitor, acme, "ORG_USER_MANAGER")
    boss = await new_caller(server, visitor, acme, "ORG_OWNER")
    before = await everything(server.store)

    by_manager = await manager.request(method, path.format(id=boss.user_id), body)
    by_owner = await owner.request(method, path.format(id=boss.user_id), body)

    refused(by_manager, 403, 7)
    assert refused(by_owner, 400, 9) == {"": "user.not_human"}
    assert await everything(server.store) == before


async def test_a_service_user_is_called_otherwise(server, owner):
    machines = "/management/v1/users"
    body = {"userName": "m", "name": "M", "description": "d"}
    id = (await done(owner, f"{machines}/machine", **body))["userId"]

    await done(owner, f"{machines}/{id}/machine", "PUT", userName="n", description="")

    user = await stored(server, id)
    assert (user.user_name, user.login_key, user.profile.display_name) == ("n", "n", "M")
    assert user.description is None
    page = await owner.request("PUT", f"{machines}/{id}/machine", {"userName": "demo"})
    assert refused(page, 409, 6) == {"userName": "user.login_name_taken"}
