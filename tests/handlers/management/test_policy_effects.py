"""What policies bring about: for passwords, for accounts that somebody guesses at, for letters."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from idp.records import EVENTS, MEMBERSHIPS, USERS
from storage import Delete
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.samples.policies import FULL_TEXT, address
from tests.support.sign_in.people import create, person
from tests.support.sign_in.registering import ADDRESS, FIELDS, at_code, at_register, newest
from tests.support.sign_in.steps import Seen, at_password, text_of
from tests.support.store.stored import everything

DAY = timedelta(days=1)
WRONG = "Check your email or username and your password"
NEW = "an entirely new afternoon"


@pytest.fixture
def admin(server):
    return server.start.admin


async def put(owner, name, **policy):
    page = await owner.request("PUT", address(name, "admin"), policy)
    assert page.status == 200, page.text


async def demo_user(server):
    page = await server.store.find(USERS, {"login_key": server.user[0]})
    return page.records[0]


# What a password has to hold


async def test_a_manager_sets_no_password_that_the_user_s_organization_refuses(
    server, visitor, owner
):
    own, other = [await new_organization(server, f"{one}.example") for one in ("own", "other")]
    here, there = {"x-idp-orgid": own.id}, {"x-idp-orgid": other.id}
    made = await owner.post(address("password_complexity"), {"hasNumber": True}, **here)
    assert made.status == 200
    body = person(password={"password": "a lamp in the attic"})
    before = await everything(server.store)

    page = await owner.post("/v2/users/human", body, **here)
    assert refused(page, 400, 3) == {"password.password": "password.number"}
    assert await everything(server.store) == before
    assert (await owner.post("/v2/users/human", body, **there)).status == 200
    email = {"email": "max@mouse.example", "isVerified": True}
    user = await create(owner, email=email, organization={"orgId": own.id})
    path = f"/v2/users/{user['userId']}/password"
    page = await owner.post(path, {"newPassword": {"password": "a lamp in the attic"}})
    assert set(refused(page, 400, 3).values()) == {"password.number"}


async def test_who_sets_up_an_organization_follows_the_installation(server, owner):
    await put(owner, "password_complexity", minLength=24)
    before = await everything(server.store)
    human = person()["profile"]
    body = {
        "org": {"name": "Acme"},
        "human": {
            "userName": "anna",
            "profile": {"firstName": human["givenName"], "lastName": human["familyName"]},
            "email": {"email": "anna@acme.example", "isEmailVerified": True},
            "password": "horse staple battery",
        },
    }

    page = await owner.post("/admin/v1/orgs/_setup", body)
    assert refused(page, 400, 3) == {"human.password": "password.too_short"}
    assert await everything(server.store) == before


async def test_pages_say_what_is_needed_and_refuse_what_lacks_it(visitor, demo, server, owner):
    await put(owner, "password_complexity", minLength=12, hasUppercase=True)
    page = await at_register(visitor, demo)
    (field,) = [one for one in Seen(page).all("input") if one.get("name") == "newPassword"]

    assert "at least 12 characters an uppercase letter" in text_of(page)
    assert field["passwordrules"] == "minlength: 12; maxlength: 200; required: upper;"
    page = await visitor.submit(page, **FIELDS | {"newPassword": "two lamps"})
    assert page.status == 400
    assert "Use at least 12 characters." in text_of(page)
    assert "Use an uppercase letter." in text_of(page)


async def test_the_own_change_follows_the_organization_too(visitor, demo, server, owner):
    await visitor.sign_in(demo.authorize_url(), *server.user)
    await put(owner, "password_complexity", hasSymbol=True)
    page = await visitor.open("/ui/account/password")
    assert "a symbol, such as ! or #" in text_of(page)
    fields = {"currentPassword": server.user[1], "newPassword": NEW}
    refusal = await visitor.submit(page, **fields)

    assert (refusal.status, refusal.name) == (400, "account/password")
    assert "Use a symbol, such as ! or #." in text_of(refusal)
    done = await visitor.submit(refusal, **fields | {"newPassword": NEW + "!"})
    assert done.name == "account/security"


async def test_the_set_up_link_follows_the_organization_too(visitor, owner, admin):
    await put(owner, "password_complexity", hasNumber=True)
    page = await visitor.open("/ui/setup")
    typed = {"loginName": admin.login_name, "password": admin.password}
    refusal = await visitor.submit(page, **typed, newPassword=NEW)

    assert "a digit" in text_of(page)
    assert (refusal.status, refusal.name) == (400, "setup")
    assert "Use a digit." in text_of(refusal)


# How long it may be kept


async def test_a_password_that_is_too_old_is_replaced_at_the_sign_in(
    new_visitor, demo, server, owner
):
    await put(owner, "password_age", maxAgeDays=2)
    server.clock.advance(2 * DAY - timedelta(minutes=1))
    young = await new_visitor().sign_in(demo.authorize_url(), *server.user)
    server.clock.advance(timedelta(minutes=1))
    visitor = new_visitor()
    page = await visitor.sign_in(demo.authorize_url(), *server.user)

    assert "code" in young.answer
    assert (page.status, page.name) == (200, "change-password")
    assert "Your password has expired" in text_of(page)
    assert "code" in (await visitor.submit(page, newPassword=NEW)).answer
    again = await new_visitor().sign_in(demo.authorize_url(), server.user[0], NEW)
    assert "code" in again.answer


async def test_by_default_a_password_is_never_too_old(visitor, demo, server):
    server.clock.advance(5000 * DAY)

    assert "code" in (await visitor.sign_in(demo.authorize_url(), *server.user)).answer


# Locking


async def tries(visitor, demo, name, password, times=1):
    """The answer to the last of so many tries."""
    page = await at_password(visitor, demo, name, prompt="select_account")
    for _ in range(times):
        answer = await visitor.send(page, password=password)
    return answer


async def test_one_wrong_password_too_many_locks_the_account(visitor, demo, server, owner):
    await put(owner, "lockout", maxPasswordAttempts=3)
    wrong = await tries(visitor, demo, server.user[0], "wrong", times=2)
    assert (await demo_user(server)).state == "active"
    stamp = (await demo_user(server)).stamp
    await tries(visitor, demo, server.user[0], "wrong")
    await server.service.background_tasks.finished()
    right = await tries(visitor, demo, *server.user)

    user = await demo_user(server)
    assert (user.state, user.stamp == stamp) == ("locked", False)
    events = [one async for one in server.store.scan(EVENTS) if one.type == "user.locked"]
    assert [(one.record_id, one.sequence, one.actor) for one in events] == [
        (user.id, user.sequence, "lockout")
    ]
    assert (right.status, right.name) == (wrong.status, wrong.name) == (400, "password")
    assert text_of(right) == text_of(wrong)
    assert WRONG in text_of(right)


async def test_who_is_unlocked_begins_at_nothing(visitor, demo, server, owner):
    await put(owner, "lockout", maxPasswordAttempts=2)
    await tries(visitor, demo, server.user[0], "wrong", times=3)
    await server.service.background_tasks.finished()
    user = await demo_user(server)
    assert (await owner.post(f"/v2/users/{user.id}/unlock", {})).status == 200
    await tries(visitor, demo, server.user[0], "wrong")

    assert (await demo_user(server)).state == "active"
    assert (await tries(visitor, demo, *server.user)).status == 303


@pytest.mark.full
async def test_only_wrong_passwords_in_a_row_count(visitor, demo, server, owner):
    await put(owner, "lockout", maxPasswordAttempts=2)
    for _ in range(3):
        await tries(visitor, demo, server.user[0], "wrong")
        assert (await tries(visitor, demo, *server.user)).status == 303

    assert (await demo_user(server)).state == "active"


async def test_many_at_once_lock_an_account_once(new_visitor, demo, server, owner):
    await put(owner, "lockout", maxPasswordAttempts=2)
    name = server.user[0]
    await asyncio.gather(*(tries(new_visitor(), demo, name, "wrong") for _ in range(4)))
    await server.service.background_tasks.finished()

    events = [one async for one in server.store.scan(EVENTS) if one.type == "user.locked"]
    assert len(events) == 1
    assert (await demo_user(server)).state == "locked"


async def test_the_last_owner_is_never_locked_and_nobody_who_is_not_there(
    visitor, demo, server, owner, admin
):
    await put(owner, "lockout", maxPasswordAttempts=1)
    page = await server.store.find(USERS, {"login_key": admin.login_name})
    (user,) = page.records
    others = [one.id async for one in server.store.scan(MEMBERSHIPS) if one.user_id != user.id]
    await server.store.commit(*(Delete(MEMBERSHIPS, id) for id in others))
    nobody = await tries(visitor, demo, "nobody", "wrong", times=2)
    somebody = await tries(visitor, demo, admin.login_name, "wrong", times=2)
    await server.service.background_tasks.finished()

    assert WRONG in text_of(nobody)
    assert text_of(nobody) == text_of(somebody)
    assert (await server.store.get(USERS, user.id)).state == "active"


@pytest.mark.full
async def test_by_default_nobody_is_locked(new_visitor, demo, server):
    for _ in range(12):
        await tries(new_visitor(), demo, server.user[0], "wrong")
        server.clock.advance(timedelta(minutes=2))

    assert (await demo_user(server)).state == "active"


# The words of letters


async def test_a_message_says_what_the_organization_wants_in_the_reader_s_language(
    visitor, demo, server, owner
):
    path = "/management/v1/text/message/verifyemail/en"
    assert (await owner.request("PUT", path, FULL_TEXT)).status == 200
    await at_code(visitor, demo)
    letter = await newest(visitor, ADDRESS)

    host = server.issuer.partition("//")[2]
    assert letter["subject"] == "Your address at Demo application"
    *words, code, button, validity, warning = letter["text"].rstrip().split("\n\n")
    assert words == ["Is it you? {n}", "Good day", f"Somebody gave this address at {host}."]
    assert code.strip() == letter["code"]
    assert button == f"Confirm it here:\n{letter['url']}"
    assert "10 minutes" in validity
    assert "If this wasn't you" in warning
    assert ">Is it you? {n}</h1>" in letter["html"]


async def test_words_are_escaped_and_end_no_header(visitor, demo, owner):
    path = "/admin/v1/text/message/verifyemail/en"
    body = {"text": "<b>{{.Application}}</b> & more", "title": "<i>x</i>", "subject": "A & B"}
    assert (await owner.request("PUT", path, body)).status == 200
    refusal = await owner.request("PUT", path, {"subject": "A\r\nBcc: x@y.example"})
    assert refused(refusal, 400, 3) == {"subject": "field.characters"}
    await at_code(visitor, demo)
    letter = await newest(visitor, ADDRESS)

    assert "&lt;b&gt;Demo application&lt;/b&gt; &amp; more" in letter["html"]
    assert ">&lt;i&gt;x&lt;/i&gt;</h1>" in letter["html"]
    assert letter["subject"] == "A & B"


async def test_messages_of_the_api_say_it_too(server, visitor, owner):
    own = await new_organization(server, "own.example")
    manager = await new_caller(server, visitor, own, "ORG_OWNER")
    for letter in ("verifyemail", "passwordreset"):
        path = f"/management/v1/text/message/{letter}/de"
        page = await manager.request("PUT", path, {"subject": f"Von uns: {letter}"})
        assert page.status == 200
    profile = person()["profile"] | {"preferredLanguage": "de"}
    made = await create(manager, profile=profile, email={"email": "mini@mouse.example"})
    told = await newest(visitor, "mini@mouse.example")
    verified = {"email": {"email": "max@mouse.example", "isVerified": True}}
    other = await create(manager, username="max", profile=profile, **verified)
    path = f"/v2/users/{other['userId']}/password_reset"
    assert (await manager.post(path, {"sendLink": {}})).status == 200

    assert made["mail"] == "held"
    assert told["subject"] == "Von uns: verifyemail"
    assert (await newest(visitor, "max@mouse.example"))["subject"] == "Von uns: passwordreset"
