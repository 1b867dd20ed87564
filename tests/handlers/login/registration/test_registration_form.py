"""What the form of a new account takes and refuses: limits at both edges, hostile characters."""

import pytest

from tests.support.sign_in.registering import (
    ADDRESS,
    FIELDS,
    INPUTS,
    at_register,
    found,
    registered,
)
from tests.support.sign_in.steps import Seen
from tests.support.store.stored import everything


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("givenName", "", "Enter your given name."),
        ("givenName", " \u3000 ", "Enter your given name."),
        ("givenName", "x" * 201, "Enter at most 200 characters."),
        ("givenName", "No\0ra", "Remove the characters that can't be used."),
        ("givenName", "Nora\r\nBcc: x@y.org", "Remove the characters that can't be used."),
        ("familyName", "", "Enter your family name."),
        ("familyName", "x" * 201, "Enter at most 200 characters."),
        ("familyName", "a\u2028b", "Remove the characters that can't be used."),
        ("email", "", "Enter your email."),
        ("email", "nora", "Enter an email such as name@example.com."),
        ("email", "a@b@c.org", "Enter an email such as name@example.com."),
        ("email", "nora@example.org\r\nBcc: x@y.org", "Enter an email such as"),
        ("email", "nora@example.org, x@y.org", "Enter an email such as"),
        ("email", "Nora <nora@example.org>", "Enter an email such as"),
        ("email", "\u202enora@example.org", "Enter an email such as"),
        ("email", "n@" + "a." * 98 + "aaa", "Enter at most 200 characters."),
        ("userName", "x" * 201, "Enter at most 200 characters."),
        ("userName", "no\u202era", "Remove the characters that can't be used."),
        ("userName", "no\u202dra", "Remove the characters that can't be used."),
        ("userName", "no\nra", "Remove the characters that can't be used."),
        ("userName", "bob@example.org", "Enter a username without @"),
        ("userName", "bob\uff20example.org", "Enter a username without @"),
        ("userName", "demo@localhost", "Enter a username without @"),
        ("userName", "u" * 201, "Enter at most 200 characters."),
        ("newPassword", "", "Use at least 8 characters."),
        ("newPassword", "short", "Use at least 8 characters."),
        ("newPassword", "password", "This password is too common"),
        ("newPassword", "x" * 201, "at most 200 characters"),
        ("newPassword", "quiet\0afternoon", "characters that can't be used"),
        ("newPassword", "nora@example.org", "little more than your name"),
    ],
)
async def test_a_field_that_does_not_fit_is_marked_beside_it(
    visitor, demo, server, field, value, said
):
    page = await at_register(visitor, demo)
    before = await everything(server.store)
    again = await visitor.submit(page, **(FIELDS | {field: value}))

    assert (again.status, again.name) == (400, "register")
    seen = Seen(again)
    (element,) = [e for e in seen.all("input") if e.get("name") == field]
    assert element["aria-invalid"] == "true"
    assert seen.text.count(said) == 1
    assert await everything(server.store) == before
    kept = {name: FIELDS[name] for name in INPUTS if name not in (field, "newPassword")}
    assert {name: again.inputs[name] for name in kept} == kept
    assert again.inputs["newPassword"] == ""


async def test_everything_that_is_wrong_is_reported_at_once(visitor, demo):
    page = await at_register(visitor, demo)
    wrong = {
        "givenName": "",
        "familyName": "\t",
        "email": "x",
        "userName": "\0",
        "newPassword": "",
    }
    page = await visitor.submit(page, **wrong)

    marked = [e["name"] for e in Seen(page).all("input") if e.get("aria-invalid")]
    assert sorted(marked) == sorted(INPUTS)


async def test_a_form_without_its_fields_shows_what_is_missing(visitor, demo):
    page = await at_register(visitor, demo)
    page = await visitor.submit(page)

    marked = [e["name"] for e in Seen(page).all("input") if e.get("aria-invalid")]
    assert (page.status, marked) == (400, ["givenName", "familyName", "email", "newPassword"])


@pytest.mark.parametrize(
    "fields",
    [
        {"givenName": "x" * 200, "familyName": "y" * 200, "userName": "z" * 200},
        {"givenName": "x", "familyName": "y", "userName": "z"},
        {"email": "n" * 60 + "@" + "a." * 68 + "com"},
        {"email": "nora@intranet"},
        {"newPassword": "x7 \u00e9" * 50},
        {"newPassword": " 8 signs"},
        {"givenName": "\u0646\u0648\u0631\u0627\u200f", "familyName": "O'Neill-\u5c71\u7530"},
        {"userName": "\u5c71\u7530"},
        {"userName": ADDRESS.upper()},
        {"givenName": "<b>${7*7}</b>", "familyName": "{{7*7}}%(n)s"},
    ],
)
async def test_what_fits_exactly_opens_an_account(visitor, demo, server, fields):
    answer = await registered(visitor, demo, **fields)

    assert "code" in answer.answer
    user = await found(server, fields.get("userName") or fields.get("email") or ADDRESS)
    assert user.profile.given_name == fields.get("givenName", "Nora")
    assert user.profile.family_name == fields.get("familyName", FIELDS["familyName"])


@pytest.mark.parametrize("name", [*INPUTS, "token", "decision"])
async def test_a_field_sent_twice_is_refused(visitor, demo, server, name):
    page = await at_register(visitor, demo)
    before = await everything(server.store)
    pairs = [*{**page.hidden, **FIELDS}.items(), (name, "other"), (name, "another")]
    body = "&".join(f"{key}={value}" for key, value in pairs).replace("@", "%40")
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await visitor.request("POST", page.url, content=body.encode(), headers=headers)

    assert answer.status == 400
    assert await everything(server.store) == before


@pytest.mark.parametrize("octets", [b"%ff", b"%ed%a0%80", b"%", b"%c0%80"])
async def test_bytes_that_are_no_text_are_refused(visitor, demo, server, octets):
    page = await at_register(visitor, demo)
    before = await everything(server.store)
    token = page.hidden["token"].encode()
    body = b"token=" + token + b"&familyName=x&email=a%40b.org&givenName=" + octets
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await visitor.request("POST", page.url, content=body, headers=headers)

    assert answer.status == 400
    assert await everything(server.store) == before


async def test_a_megabyte_is_refused(visitor, demo, server):
    page = await at_register(visitor, demo)
    before = await everything(server.store)
    answer = await visitor.submit(page, **(FIELDS | {"givenName": "x" * 2**20}))

    assert answer.status == 413
    assert await everything(server.store) == before
