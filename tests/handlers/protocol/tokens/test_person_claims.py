"""What is told of a new person is what the scopes profile and address release."""

from __future__ import annotations

import pytest

from idp.records import USERS
from tests.support.attacks.forged import part
from tests.support.sign_in.people import FULL, PASSWORD, create

PROFILE = {
    "name": "Minnie M.",
    "given_name": "Minnie",
    "family_name": "Mouse",
    "middle_name": "M.",
    "nickname": "Mini",
    "preferred_username": "mini",
    "profile": "https://mouse.example/",
    "picture": "https://mouse.example/me.png",
    "website": "https://mouse.example/blog",
    "gender": "female",
    "birthdate": "1990-01-31",
    "zoneinfo": "Europe/Vienna",
    "locale": "en-GB",
}
ADDRESS = {
    "formatted": "High Street 1\n1010 Vienna",
    "street_address": "High Street 1",
    "locality": "Vienna",
    "region": "Vienna",
    "postal_code": "1010",
    "country": "Austria",
}


@pytest.fixture
def released(owner, asserting, new_visitor):
    """What userinfo says of the person, once it is sure that the ID token says the same."""

    async def released(scope):
        await create(owner, **FULL | {"password": {"password": PASSWORD}})
        visitor = new_visitor()
        tokens = await asserting.tokens(visitor, "mini", PASSWORD, scope=scope)
        claims = (await asserting.userinfo(visitor, tokens["access_token"])).json()
        assert claims.items() <= part(tokens["id_token"], 1).items()
        assert not (PROFILE.keys() | {"address"}) & (part(tokens["id_token"], 1).keys() - claims)
        return claims

    return released


async def test_the_scope_profile_releases_the_whole_profile_of_the_person(released):
    claims = await released("openid profile")

    del claims["sub"], claims["updated_at"]
    assert claims == PROFILE


async def test_the_scope_address_releases_the_address_alone(released):
    claims = await released("openid address")

    assert claims == {"sub": FULL["userId"], "address": ADDRESS}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("website", "HTTP://[::1]:8080?a=%20#me"),
        ("picture", "https://xn--bcher-kva.example:443/a/../b/*"),
        ("birthdate", "1990"),
        ("birthdate", "0000-02-29"),
        ("zoneinfo", "UTC"),
        ("zoneinfo", "America/Argentina/Buenos_Aires"),
    ],
)
async def test_a_value_is_stored_as_it_is_written(server, owner, path, value):
    await create(owner, **FULL | {"profile": FULL["profile"] | {path: value}})

    assert getattr((await server.store.get(USERS, FULL["userId"])).profile, path) == value


async def test_an_empty_text_is_like_an_absent_one(server, owner):
    names = ("middleName", "profile", "picture", "website", "birthdate", "zoneinfo")
    profile = FULL["profile"] | dict.fromkeys(names, "")
    address = {"formatted": "", "region": "Tirol"}
    await create(owner, **FULL | {"profile": profile, "address": address})

    user = (await owner.get(f"/v2/users/{FULL['userId']}")).json()["user"]
    assert not set(names) & set(user["human"]["profile"])
    assert user["human"]["address"] == {"region": "Tirol"}
