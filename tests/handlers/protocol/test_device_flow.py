"""The device flow (RFC 8628): a device shows a code, and gets tokens once a person allowed it."""

from __future__ import annotations

import asyncio

import pytest

from idp.keys import jws
from idp.records import AUTHORIZATIONS, DEVICE_REQUESTS, EVENTS, LOGOUT_MESSAGES
from tests.support.protocol.answers import assert_granted, assert_json, assert_refused
from tests.support.protocol.device import GRANTS, LETTERS, Device, at_confirmation, type_code
from tests.support.sign_in.steps import shape, text_of
from tests.support.store.stored import everything, only


@pytest.fixture
def device(io_loop, server, new_visitor):
    """A television set of an application without a secret."""
    party = io_loop.run_sync(
        lambda: server.register("Television", auth_method="none", grant_types=GRANTS)
    )
    return Device(party, new_visitor())


@pytest.fixture
def allowed(io_loop, server, visitor, device):
    """The same, after the demo user has allowed it."""

    async def allow():
        told = await device.begin()
        page = await at_confirmation(visitor, told["user_code"], server.user)
        await visitor.submit(page, decision="allow")
        return device

    return io_loop.run_sync(allow)


# The request


@pytest.mark.promise("device: sign-in")
async def test_the_device_gets_its_two_codes(server, device):
    page = await device.ask()
    body = page.json()
    letters = body["user_code"].replace("-", "")

    assert_json(page)
    assert set(body) == {
        *["device_code", "user_code", "verification_uri", "verification_uri_complete"],
        *["expires_in", "interval"],
    }
    assert (body["expires_in"], body["interval"]) == (300, 5)
    assert body["verification_uri"] == f"{server.issuer}/ui/device"
    assert body["verification_uri_complete"] == (
        f"{server.issuer}/ui/device?user_code={body['user_code']}"
    )
    assert body["user_code"] == f"{letters[:4]}-{letters[4:]}"
    assert len(letters) == 8
    assert set(letters) <= set(LETTERS)
    assert len(body["device_code"]) == 65


async def test_neither_code_is_stored(server, device):
    told = await device.begin()
    stored = repr(await everything(server.store))

    assert told["device_code"][22:] not in stored
    assert told["user_code"] not in stored
    assert told["user_code"].replace("-", "") not in stored


async def test_codes_differ_each_time(device):
    told = [await device.begin() for _ in range(30)]

    assert len({each["user_code"] for each in told}) == 30
    assert len({each["device_code"] for each in told}) == 30


async def test_two_living_requests_never_share_a_user_code(server, device, monkeypatch):
    letters = iter(["BBBBBBBB", "BBBBBBBB", "CCCCCCCC"])
    monkeypatch.setattr(server.service.random, "characters", lambda n, among: next(letters))
    first, second = await device.begin(), await device.begin()

    assert (first["user_code"], second["user_code"]) == ("BBBB-BBBB", "CCCC-CCCC")


# From the code to the tokens


@pytest.mark.promise("device: sign-in")
async def test_a_person_lets_the_device_in(server, visitor, device):
    told = await device.begin()
    waiting = await device.poll()
    page = await at_confirmation(visitor, told["user_code"], server.user)
    done = await visitor.submit(page, decision="allow")
    server.clock.advance(5)
    body = assert_granted(await device.poll())
    claims = jws.parse(body["id_token"]).payload
    userinfo = await device.party.userinfo(device.visitor, body["access_token"])

    assert_refused(waiting, 400, "authorization_pending")
    assert (done.status, done.name) == (200, "signed-in")
    assert "You can close this page." in text_of(done)
    assert set(body) == {
        *["access_token", "token_type", "expires_in", "scope", "refresh_token", "id_token"]
    }
    assert body["scope"] == "openid profile email offline_access"
    assert b"nonce" not in claims
    assert userinfo.status == 200


@pytest.mark.promise("device: sign-in")
async def test_the_confirmation_names_the_application_and_what_it_asks_for(
    server, visitor, device
):
    told = await device.begin(scope="openid email")
    page = await at_confirmation(visitor, told["user_code"], server.user)

    assert shape(page) == (
        "device-confirm",
        [],
        [("decision", "allow"), ("decision", "deny")],
    )
    for words in ("Television", "Recognize you", "See your email address", "Demo"):
        assert words in text_of(page)
    assert "profile" not in text_of(page)


async def test_the_refresh_token_works_and_outlives_the_session(server, visitor, allowed):
    tokens = await allowed.tokens()
    await visitor.submit(await visitor.open("/oidc/v1/end_session"), decision="logout")
    dead = await allowed.party.userinfo(allowed.visitor, tokens["access_token"])
    refreshed = await allowed.party.refresh(allowed.visitor, tokens["refresh_token"])
    alive = await allowed.party.userinfo(allowed.visitor, refreshed.json()["access_token"])

    assert_granted(refreshed)
    assert (dead.status, alive.status) == (401, 200)


async def test_without_openid_there_is_no_id_token_and_without_offline_access_no_refresh(
    server, visitor, device
):
    told = await device.begin(scope="profile")
    page = await at_confirmation(visitor, told["user_code"], server.user)
    await visitor.submit(page, decision="allow")
    body = await device.tokens()

    assert set(body) == {"access_token", "token_type", "expires_in", "scope"}
    assert body["scope"] == "profile"


@pytest.mark.parametrize("scope", [None, "", "urn:unknown"])
async def test_a_device_may_ask_for_no_scope_that_exists(server, visitor, device, scope):
    told = await device.begin(scope=scope)
    page = await at_confirmation(visitor, told["user_code"], server.user)
    await visitor.submit(page, decision="allow")

    assert (await device.tokens())["scope"] == ""


async def test_the_authorization_is_the_device_s_and_in_the_audit_log(server, allowed):
    authorization = await only(server.store, AUTHORIZATIONS)
    events = [each async for each in server.store.scan(EVENTS)]
    told = [each for each in events if each.record_id == authorization.id]

    assert authorization.grant == "device"
    assert authorization.scopes == ["openid", "profile", "email", "offline_access"]
    assert [(each.type, each.actor) for each in told] == [
        ("device.allowed", authorization.user_id)
    ]


async def test_a_person_who_is_signed_in_is_only_asked(server, visitor, demo, device):
    await demo.tokens(visitor, *server.user)
    told = await device.begin()
    page = await type_code(visitor, told["user_code"])

    assert page.name == "device-confirm"


async def test_another_account_can_be_chosen(server, visitor, demo, device):
    tokens = await demo.tokens(visitor, *server.user)
    demo_id = (await demo.userinfo(visitor, tokens["access_token"])).json()["sub"]
    other = await server.copy_user("otto")
    told = await device.begin(scope="openid")
    page = await type_code(visitor, told["user_code"])
    name_page = page.url.replace("/ui/device/confirm", "/ui/login/name")
    page = await visitor.submit(await visitor.get(name_page), loginName=other[0])
    page = await visitor.submit(page, password=other[1])
    await visitor.submit(page, decision="allow")
    tokens = await device.tokens()
    userinfo = await device.party.userinfo(device.visitor, tokens["access_token"])

    assert "otto" in text_of(page)
    assert userinfo.json()["sub"] != demo_id


async def test_an_application_on_a_device_has_a_pending_logout_token(server, visitor, new_visitor):
    wants = {"back_channel_logout_uri": "https://tv.example/logout", "grant_types": GRANTS}
    device = Device(await server.register("Television", **wants), new_visitor())
    told = await device.begin()
    page = await at_confirmation(visitor, told["user_code"], server.user)
    await visitor.submit(page, decision="allow")
    await visitor.submit(await visitor.open("/oidc/v1/end_session"), decision="logout")

    assert (await only(server.store, LOGOUT_MESSAGES)).client_id == device.party.client_id


async def test_scripts_of_the_application_s_own_origins_may_ask(server, visitor):
    uris = {"redirect_uris": ["https://tv.example/cb"], "auth_method": "none"}
    device = Device(await server.register(grant_types=GRANTS, **uris), visitor)
    own = await device.ask({"Origin": "https://tv.example"})
    other = await device.ask({"Origin": "https://evil.example"})

    assert own.headers["Access-Control-Allow-Origin"] == "https://tv.example"
    assert "Access-Control-Allow-Origin" not in other.headers


@pytest.mark.promise("device: sign-in")
@pytest.mark.parametrize("where", ["login-name", "device-confirm"])
async def test_the_person_may_refuse_at_every_step(server, visitor, device, where):
    told = await device.begin()
    if where == "login-name":
        page = await type_code(visitor, told["user_code"])
        done = await visitor.submit(page, decision="cancel")
    else:
        page = await at_confirmation(visitor, told["user_code"], server.user)
        done = await visitor.submit(page, decision="deny")
    before = await everything(server.store)
    first, second = await device.poll(), await device.poll()

    assert "The device is not signed in." in text_of(done)
    assert done.name == "signed-in"
    assert_refused(first, 400, "access_denied")
    assert_refused(second, 400, "access_denied")
    assert before[AUTHORIZATIONS.name] == {}
    assert await everything(server.store) == before


@pytest.mark.parametrize("decision", [None, "", "ALLOW", "yes"])
async def test_only_the_two_decisions_count(server, visitor, device, decision):
    told = await device.begin()
    page = await at_confirmation(visitor, told["user_code"], server.user)
    before = await everything(server.store)
    again = await visitor.submit(page, **({"decision": decision} if decision else {}))

    assert (again.status, again.name) == (400, "device-confirm")
    assert await everything(server.store) == before


async def test_one_decision_is_made_whatever_is_pressed_at_once(server, visitor, device):
    told = await device.begin()
    page = await at_confirmation(visitor, told["user_code"], server.user)
    pressed = ["allow", "deny"] * 5
    await asyncio.gather(*[visitor.send(page, decision=each) for each in pressed])
    request = await only(server.store, DEVICE_REQUESTS)
    made = (await everything(server.store))[AUTHORIZATIONS.name]

    assert request.decided_at == server.clock.now()
    assert len(made) == request.is_allowed
