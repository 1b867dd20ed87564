"""Hashes of every form in one package: the report names what is refused, the rest sign in."""

from __future__ import annotations

import pytest

from idp.config.settings import Config
from idp.passwords import schemes
from idp.records import USERS
from tests.support.transfer.bulk import imported, package
from tests.support.transfer.foreign_hashes import VERIFIED
from tests.support.transfer.refused_hashes import REFUSED, TOO_WEAK

KNOWN = [row for rows in VERIFIED.values() for row in rows]
HASHES = list(dict.fromkeys([*(encoded for _, encoded in KNOWN), *TOO_WEAK, *REFUSED]))
BOUNDS = {schemes.read(encoded).strength.setting for encoded in TOO_WEAK}
USUAL = {name: getattr(Config(), name) for name in BOUNDS}
NONE = {
    setting: min(
        strength.value
        for strength in (schemes.read(encoded).strength for encoded in TOO_WEAK)
        if strength.setting == setting
    )
    for setting in BOUNDS
} | {"known_networks": ("127.0.0.0/8",)}


@pytest.fixture
def settings(request):
    return getattr(request, "param", USUAL)


def person(number, encoded):
    return {
        "userId": f"u{number}",
        "user": {
            "userName": f"mini{number}",
            "profile": {"firstName": "Mini", "lastName": "Mouse"},
            "email": {"email": f"mini{number}@mouse.example", "isEmailVerified": True},
            "hashedPassword": {"value": encoded},
        },
    }


async def brought(owner):
    """What the import of a person for each of the hashes told."""
    people = [person(number, encoded) for number, encoded in enumerate(HASHES)]
    acme = {"orgId": "mice", "org": {"name": "Mice"}, "humanUsers": people}
    return await imported(owner, package(acme))


@pytest.mark.promise("user creation: hashedPassword")
async def test_the_report_names_each_hash_that_is_refused_and_the_others_go_in(server, owner):
    told = await brought(owner)

    refused = {encoded: "password_hash.unreadable" for encoded in REFUSED}
    refused |= dict.fromkeys(TOO_WEAK, "password_hash.too_weak")
    found = {HASHES[int(error["id"][1:])]: error for error in told["errors"]}
    assert {encoded: error["slug"] for encoded, error in found.items()} == refused
    assert {error["field"] for error in told["errors"]} == {"user.hashedPassword.value"}
    for encoded, piece in (REFUSED | TOO_WEAK).items():
        assert piece in found[encoded]["message"]
    assert told["created"] == 1 + len(HASHES) - len(refused)
    for number, encoded in enumerate(HASHES):
        user = await server.store.get(USERS, f"u{number}")
        assert (user.password.hash if user else None) == (None if encoded in refused else encoded)


@pytest.mark.promise("user creation: hashedPassword")
@pytest.mark.load
@pytest.mark.parametrize("settings", [NONE], indirect=True, ids=["without bounds"])
async def test_a_user_who_came_with_a_hash_signs_in_at_the_pages(server, owner, new_visitor, demo):
    told = await brought(owner)
    assert {HASHES[int(error["id"][1:])] for error in told["errors"]} == {*REFUSED}

    for password, encoded in KNOWN:
        number, tokens = HASHES.index(encoded), None
        page = await new_visitor().sign_in(demo.authorize_url(), f"mini{number}", password + "x")
        assert (page.status, page.name) == (400, "password"), encoded
        if password:
            tokens = await demo.tokens(new_visitor(), f"mini{number}", password)
        now = (await server.store.get(USERS, f"u{number}")).password.hash
        assert bool(tokens) == (password != "")
        assert now.startswith("$argon2id$v=19$m=64,t=1,p=1$") is bool(tokens), encoded
