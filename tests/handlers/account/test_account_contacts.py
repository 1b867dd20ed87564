"""Somebody's own e-mail address and phone number: changed, confirmed by a code, and told of."""

import asyncio
import re

import pytest

from tests.support.sign_in import account
from tests.support.sign_in.account import ACCOUNT
from tests.support.sign_in.steps import text_of
from tests.support.store import stored

NEW = {"email": "dana@new.example", "phone": "+41791234567"}
KINDS = ("email", "phone")
either = pytest.mark.parametrize("kind", KINDS)


async def code(visitor, n=0):
    """The code of the newest held mail that has one, or of one before."""
    page = await visitor.get("/dev/mail")
    found = re.findall(r"^ +(\d{8})$", page.text, re.MULTILINE)
    return found[n]


async def change(server, visitor, kind, value=None):
    page = await account.enter(server, visitor, f"/{kind}")
    return await visitor.submit(page, **{kind: value or NEW[kind]})


def of(user, kind):
    known = getattr(user, kind)
    return (known.address if kind == "email" else known.number), known.is_verified


@pytest.mark.full
@either
async def test_another_one_waits_for_its_code(server, visitor, kind):
    page = await change(server, visitor, kind)
    assert of(await account.user(server), kind) == (NEW[kind], False)

    done = await visitor.submit(page, verificationCode=await code(visitor))

    assert (page.name, NEW[kind] in text_of(page)) == ("account/form", True)
    assert (done.url.partition("?")[0], "Verified." in text_of(done)) == (
        f"{server.issuer}{ACCOUNT}/profile",
        True,
    )
    user = await account.user(server)
    assert of(user, kind) == (NEW[kind], True)
    for what in ("changed", "verified"):
        (event,) = await account.events_of(server, f"user.{kind}_{what}")
        assert event.actor == user.id


async def test_what_cannot_be_seen_in_an_address_is_left_out(server, visitor):
    page = await change(server, visitor, "email", f"\u200b {NEW['email']}\u200b")

    assert (page.status, NEW["email"] in text_of(page)) == (200, True)
    assert of(await account.user(server), "email") == (NEW["email"], False)


async def test_the_mail_to_another_address_speaks_of_no_new_account(server, visitor):
    await change(server, visitor, "email")

    held = text_of(await visitor.get("/dev/mail"))

    assert "An account at localhost" in held
    assert "created for you" not in held


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("email", "", "Enter a value."),
        ("email", "dana", "Enter an email such as name@example.com."),
        ("email", "dana@new.example\r\nBcc: x@y.example", "Remove the characters"),
        ("email", "x" * 201 + "@new.example", "Enter at most 200 characters."),
        ("email", "DANA@example.com", "Enter a different value. This one is already saved."),
        ("phone", "", "Enter a value."),
        ("phone", "0791234567", "Enter a phone number with its country code"),
        ("phone", "+" + "1" * 300, "Enter at most 200 characters."),
    ],
)
async def test_what_can_not_be_reached_is_refused(server, visitor, kind, value, said):
    page = await account.enter(server, visitor, f"/{kind}")
    before = await stored.everything(server.store)

    refused = await visitor.submit(page, **{kind: value})

    assert (refused.status, said in text_of(refused)) == (400, True), text_of(refused)
    assert await stored.everything(server.store) == before


@either
@pytest.mark.parametrize("typed", ["", "1", "12345678", "x" * 300, "\0"])
async def test_a_wrong_code_confirms_nothing(server, visitor, kind, typed):
    page = await change(server, visitor, kind)

    refused = await visitor.submit(page, verificationCode=typed)

    assert (refused.status, refused.name) == (400, "account/form")
    assert of(await account.user(server), kind) == (NEW[kind], False)


async def test_guessing_a_code_ends_it(server, visitor):
    page = await change(server, visitor, "email")
    right = await code(visitor)
    for _ in range(5):
        await visitor.submit(page, verificationCode="00000000")

    late = await visitor.submit(page, verificationCode=right)

    assert "There were too many failed attempts." in text_of(late)
    server.clock.advance(60)
    again = await visitor.submit(late, decision="again")
    assert "Sent." in text_of(again)
    await visitor.submit(again, verificationCode=await code(visitor))
    assert of(await account.user(server), "email") == (NEW["email"], True)


async def test_codes_are_not_sent_without_end(server, visitor):
    page = await change(server, visitor, "email")
    for _ in range(4):
        page = await visitor.submit(page, decision="again")
    before = await stored.count(server.store)

    late = await visitor.submit(page, decision="again")

    assert (late.status, late.headers["Retry-After"]) == (429, "3600")
    assert await stored.count(server.store) == before


async def test_a_code_that_is_sent_three_times_counts_once(server, visitor):
    page = await change(server, visitor, "phone")
    form = {"verificationCode": await code(visitor)}

    answers = await asyncio.gather(*[visitor.send(page, **form) for _ in range(3)])

    assert {(answer.status, answer.location) for answer in answers} == {
        (303, f"{server.issuer}{ACCOUNT}/profile?done=verified")
    }
    assert len(await account.events_of(server, "user.phone_verified")) == 1


async def test_a_number_can_be_taken_away(server, visitor):
    await change(server, visitor, "phone")
    page = await visitor.open(f"{ACCOUNT}/phone/remove")

    done = await visitor.submit(page)

    assert "Removed." in text_of(done)
    assert (await account.user(server)).phone is None
    twice = await visitor.submit(page)
    assert (twice.status, "Removed." in text_of(twice)) == (200, True)


@pytest.mark.parametrize("path", ["/email", "/phone", "/phone/remove"])
async def test_what_is_delicate_asks_for_the_password_of_late(server, visitor, path):
    page = await account.enter(server, visitor, path)
    before = await account.user(server)
    server.clock.advance(601)

    asked = await visitor.submit(page, **NEW)
    assert (asked.name, asked.inputs["loginName"]) == ("password", "demo")
    assert await account.user(server) == before
    back = await visitor.submit(asked, password=server.user[1])

    assert (back.name, back.url) == ("account/form", f"{server.issuer}{ACCOUNT}{path}")


async def test_nobody_else_can_step_up_for_them(server, visitor):
    await server.copy_user("minnie")
    await account.enter(server, visitor, "/email")
    server.clock.advance(601)
    asked = await visitor.open(f"{ACCOUNT}/email")
    name = await visitor.open(asked.url.replace("/password?", "/name?"))
    page = await visitor.submit(name, loginName="minnie")

    page = await visitor.submit(page, password=server.user[1])

    assert page.name != "account/form"
