"""The UserInfo endpoint (OpenID Connect Core 5.3, RFC 6750)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from handlers.http.params import FORM_TYPE
from idp.identity.users import lookup as user_lookup
from idp.identity.users import personal_access_tokens as user_personal_access_tokens
from idp.records import INSTANCE_ID, INSTANCES, USERS, Address, Email, Phone, Profile
from idp.start import admin_pat
from storage import Delete, Insert, Update
from tests.support.attacks.forged import changed, cut, longer, part
from tests.support.protocol.answers import assert_json
from tests.support.store.stored import everything

USERINFO = "/oidc/v1/userinfo"
ALL_SCOPES = "openid profile email phone address offline_access"


@pytest.fixture
def tokens(io_loop, server, visitor, demo) -> dict:
    return io_loop.run_sync(lambda: demo.tokens(visitor, *server.user, scope=ALL_SCOPES))


@pytest.fixture
def asked(server, visitor, demo):
    """What userinfo says to a token of these scopes."""

    async def asked(scope: str) -> dict:
        page = await visitor.get(demo.authorize_url(scope=scope))
        if "code" not in page.answer:
            page = await demo.sign_in(visitor, *server.user, scope=scope)
        token = (await demo.redeem(visitor, page.answer["code"])).json()["access_token"]
        return (await demo.userinfo(visitor, token)).json()

    return asked


async def user_of(server):
    return await user_lookup.find_by_login_name(server.service, server.user[0])


def bearer(token: str, scheme: str = "Bearer") -> dict:
    return {"Authorization": f"{scheme} {token}"}


FULL = {
    "profile": Profile(
        display_name="Dana Demo",
        given_name="Dana",
        family_name="Demo",
        middle_name="D.",
        nick_name="Dee",
        preferred_language="de-AT",
        gender="diverse",
        profile="https://dana.example/",
        picture="https://dana.example/me.png",
        website="https://dana.example/blog",
        birthdate="1990-01-31",
        zoneinfo="Europe/Vienna",
    ),
    "email": Email(address="dana@example.com", is_verified=True),
    "phone": Phone(number="+15555550100", is_verified=False),
    "address": Address(locality="Springfield", country="US"),
}
PROFILE_CLAIMS = {
    "name": "Dana Demo",
    "given_name": "Dana",
    "family_name": "Demo",
    "middle_name": "D.",
    "nickname": "Dee",
    "preferred_username": "demo",
    "profile": "https://dana.example/",
    "picture": "https://dana.example/me.png",
    "website": "https://dana.example/blog",
    "gender": "diverse",
    "birthdate": "1990-01-31",
    "zoneinfo": "Europe/Vienna",
    "locale": "de-AT",
}
BY_SCOPE = {
    "profile": PROFILE_CLAIMS,
    "email": {"email": "dana@example.com", "email_verified": True},
    "phone": {"phone_number": "+15555550100", "phone_number_verified": False},
    "address": {"address": {"locality": "Springfield", "country": "US"}},
}


@pytest.mark.promise(
    "scope: profile email phone address",
    "discovery: listed scopes",
    "userinfo: response",
    "userinfo: sub and scopes",
    "userinfo: claims of each scope",
)
@pytest.mark.parametrize(
    "scope",
    ["", "profile", "email", "phone", "address", "email phone", "profile email phone address"],
)
async def test_each_scope_releases_its_claims_and_no_others(server, asked, scope):
    user = await user_of(server)
    await server.store.commit(Update(USERS, user.id, set=FULL))
    claims = await asked(f"openid {scope}".strip())
    expected = {"sub": user.id}
    for name in scope.split():
        expected |= BY_SCOPE[name]
    if "profile" in scope:
        expected["updated_at"] = int(user.changed_at.timestamp())

    assert claims == expected


EMPTY = {
    "profile": Profile(display_name="Dana", given_name="", nick_name="  "),
    "email": None,
    "phone": None,
    "address": Address(locality=""),
}


@pytest.mark.promise("userinfo: unknown values")
async def test_what_is_not_known_is_left_out(server, asked):
    user = await user_of(server)
    await server.store.commit(Update(USERS, user.id, set=EMPTY))
    claims = await asked("openid profile email phone address")

    assert set(claims) == {"sub", "name", "preferred_username", "updated_at"}


@pytest.mark.promise("userinfo: sub and scopes")
async def test_the_sub_is_the_id_token_s(visitor, demo, tokens):
    claims = (await demo.userinfo(visitor, tokens["access_token"])).json()

    assert claims["sub"] == part(tokens["id_token"], 1)["sub"]


async def test_a_changed_name_is_reported_at_once(server, visitor, demo, tokens):
    user = await user_of(server)
    changes = {"profile.display_name": "Dana New"}
    await server.store.commit(Update(USERS, user.id, set=changes))

    assert (await demo.userinfo(visitor, tokens["access_token"])).json()["name"] == "Dana New"


@pytest.mark.promise("client authentication: userinfo", "userinfo: header", "userinfo: methods")
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_token_goes_into_the_header(visitor, tokens, method, scheme):
    headers = bearer(tokens["access_token"], scheme)
    page = await visitor.request(method, USERINFO, headers=headers)

    assert page.status == 200
    assert_json(page)


@pytest.mark.promise("userinfo: methods")
async def test_the_token_may_be_a_form_field_of_a_post(visitor, tokens):
    page = await visitor.post(USERINFO, {"access_token": tokens["access_token"]})

    assert page.status == 200


async def test_unknown_parameters_of_the_address_are_ignored(visitor, tokens):
    headers = bearer(tokens["access_token"])

    assert (await visitor.get(f"{USERINFO}?schema=openid", headers=headers)).status == 200


@pytest.mark.promise("userinfo: methods")
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("with_header", [True, False])
async def test_a_token_in_the_address_is_refused(visitor, tokens, method, with_header):
    headers = bearer(tokens["access_token"]) if with_header else {}
    url = f"{USERINFO}?access_token={tokens['access_token']}"
    page = await visitor.request(method, url, headers=headers)

    assert (page.status, page.json()["error"]) == (400, "invalid_request")
    assert "dana" not in page.text


async def test_a_token_in_two_places_is_refused(visitor, tokens):
    token = tokens["access_token"]
    page = await visitor.post(USERINFO, {"access_token": token}, headers=bearer(token))
    twice = await visitor.post(USERINFO, {"access_token": [token, token]})

    assert (page.status, page.json()["error"]) == (400, "invalid_request")
    assert (twice.status, twice.json()["error"]) == (400, "invalid_request")


BODIES = {
    "JSON, empty": ("application/json", b""),
    "JSON": ("application/json", b"{}"),
    "JSON that has the token's name": ("application/json", b'{"access_token": "x"}'),
    "no type": (None, b"hello"),
    "text": ("text/plain", b"access_token=x"),
    "multipart": ("multipart/form-data; boundary=x", b"--x--"),
    "a bad percent sign": (FORM_TYPE, b"a=%"),
    "not UTF-8": (FORM_TYPE, b"a=%ff"),
    "a form": (FORM_TYPE, b"schema=openid"),
    "an empty form": (f"{FORM_TYPE}; charset=ISO-8859-1", b""),
}


@pytest.mark.promise("userinfo: methods")
@pytest.mark.parametrize("name", BODIES)
async def test_beside_a_token_in_the_header_the_body_is_not_judged(visitor, tokens, name):
    kind, body = BODIES[name]
    headers = bearer(tokens["access_token"]) | ({"Content-Type": kind} if kind else {})

    page = await visitor.post(USERINFO, content=body, headers=headers)

    assert page.status == 200, page.text


@pytest.mark.parametrize("name", ["JSON", "a bad percent sign", "not UTF-8"])
async def test_without_the_header_a_body_that_is_no_form_is_refused(visitor, name):
    kind, body = BODIES[name]

    page = await visitor.post(USERINFO, content=body, headers={"Content-Type": kind})

    assert (page.status, page.json()["error"]) == (400, "invalid_request")


async def test_without_a_token_the_challenge_names_no_error(visitor):
    for page in (await visitor.get(USERINFO), await visitor.post(USERINFO)):
        assert page.status == 401
        assert page.headers["WWW-Authenticate"] == 'Bearer realm="idp"'
        assert_json(page)


def assert_invalid(page, what: object = None) -> None:
    assert page.status == 401, (what, page.text)
    assert page.json()["error"] == "invalid_token"
    assert page.headers["WWW-Authenticate"].startswith('Bearer realm="idp", error="invalid_token"')
    assert_json(page)


HEADERS = [
    "Bearer",
    "Bearer nonsense",
    "Bearer v1.",
    "Bearer v1..",
    "Bearer v1.a.b",
    "Bearer ...",
    "Bearer a.b.c",
    "Bearer " + "t" * 15_000,
    "Bearer two words",
    "Bearer one, Bearer two",
    "Basic eDp5",
    "Digest x",
    "nonsense",
    "Bearer\tx",
    b"Bearer \xc3\xa9.\xc3\xa9.\xc3\xa9",
    b"Bearer v1.\xc3\xa9.\xc3\xa9",
    "Bearer idp_pat_",
    "Bearer idp_pat_" + "A" * 65,
]


@pytest.mark.promise("userinfo: 401", "userinfo: methods", "userinfo: invalid_token")
@pytest.mark.parametrize("value", HEADERS)
async def test_a_header_without_a_valid_token_is_401(visitor, value):
    assert_invalid(await visitor.get(USERINFO, headers={"Authorization": value}))


@pytest.mark.promise("client authentication: userinfo")
async def test_no_other_kind_of_credential_is_an_access_token(server, visitor, demo, tokens):
    page = await visitor.get(demo.authorize_url())
    before = await everything(server.store)
    others = {
        "code": page.answer["code"],
        "refresh token": tokens["refresh_token"],
        "ID token": tokens["id_token"],
        "client secret": demo.client_secret,
        "cookie": next(iter(visitor.cookies.jar)).value,
        "session id": part(tokens["id_token"], 1)["sid"],
        "user id": part(tokens["id_token"], 1)["sub"],
    }
    for name, token in others.items():
        assert_invalid(await demo.userinfo(visitor, token), name)
        assert_invalid(await visitor.post(USERINFO, {"access_token": token}), name)

    assert await everything(server.store) == before


async def test_a_token_without_openid_is_403(visitor, demo, tokens):
    fresh = await demo.refresh(visitor, tokens["refresh_token"], scope="profile")
    page = await demo.userinfo(visitor, fresh.json()["access_token"])

    assert (page.status, page.json()["error"]) == (403, "insufficient_scope")
    assert 'error="insufficient_scope"' in page.headers["WWW-Authenticate"]
    assert page.headers["WWW-Authenticate"].startswith("Bearer ")
    assert_json(page)


@pytest.mark.promise("userinfo: 401", "userinfo: methods", "userinfo: invalid_token")
@pytest.mark.parametrize("access_token_type", ["opaque", "jwt"])
async def test_an_expired_token_is_401(server, visitor, access_token_type):
    client = await server.register(access_token_type=access_token_type)
    tokens = await client.tokens(visitor, *server.user)
    ends = int(server.clock.now().timestamp()) + tokens["expires_in"]
    server.clock.advance(datetime.fromtimestamp(ends, UTC) - server.clock.now())
    server.clock.advance(-0.001)
    in_time = await client.userinfo(visitor, tokens["access_token"])
    server.clock.advance(0.001)

    assert in_time.status == 200
    assert_invalid(await client.userinfo(visitor, tokens["access_token"]))


async def test_the_token_of_a_deleted_user_is_401(server, visitor, demo, tokens):
    await server.store.commit(Delete(USERS, (await user_of(server)).id))

    assert_invalid(await demo.userinfo(visitor, tokens["access_token"]))


@pytest.fixture
def pat(io_loop, server) -> str:
    async def make() -> str:
        instance = await server.store.get(INSTANCES, INSTANCE_ID)
        return await admin_pat.ensure(server.service, instance, None)

    return io_loop.run_sync(make)


async def test_a_personal_access_token_works(server, visitor, demo, pat):
    page = await demo.userinfo(visitor, pat)

    assert page.status == 200
    assert page.json()["preferred_username"] == "admin-pat"


async def test_a_personal_access_token_expires(server, visitor, demo, pat):
    server.clock.advance(admin_pat.LIFETIME - timedelta(seconds=1))
    in_time = await demo.userinfo(visitor, pat)
    server.clock.advance(1)

    assert in_time.status == 200
    assert_invalid(await demo.userinfo(visitor, pat))


@pytest.mark.full
async def test_a_changed_personal_access_token_is_401(visitor, demo, pat):
    for hostile in (*changed(pat), *cut(pat), *longer(pat)):
        assert_invalid(await demo.userinfo(visitor, hostile), hostile)


@pytest.mark.parametrize("changes", [{"state": "inactive"}, {"stamp": "new"}])
async def test_a_personal_access_token_ends_with_its_user(server, visitor, demo, pat, changes):
    user = await user_lookup.find_by_login_name(server.service, admin_pat.USER_NAME)
    await server.store.commit(Update(USERS, user.id, set=changes))

    assert_invalid(await demo.userinfo(visitor, pat))


async def test_a_personal_access_token_of_another_instance_s_stamps_is_401(
    server, visitor, demo, pat
):
    record, token = user_personal_access_tokens.new(
        server.service.random,
        "idp",
        await user_lookup.find_subject(server.service, (await user_of(server)).id),
        server.clock.now(),
        server.clock.now() + timedelta(hours=1),
    )
    record.stamps = "other"
    await server.store.commit(Insert(user_personal_access_tokens.PATS, record))

    assert_invalid(await demo.userinfo(visitor, token))
