"""What went wrong at others once, each by its name, and does not happen here."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from idp.oauth import paths, request_limits
from tests.support.attacks import artefacts
from tests.support.attacks.artefacts import World
from tests.support.attacks.forged import changed, cut, longer
from tests.support.browsers.wire import FORM, exchange
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.protocol.asserting import ASSERTION_TYPE, JWT_BEARER
from tests.support.protocol.device import GRANT as DEVICE_GRANT
from tests.support.store.stored import everything

AUTHORIZE, TOKEN, PAR = paths.AUTHORIZE, paths.TOKEN, paths.PAR
END_SESSION, USERINFO = paths.END_SESSION, paths.USERINFO
POSTED = [TOKEN, PAR, paths.INTROSPECT, paths.REVOKE, paths.DEVICE_AUTHORIZATION]
MATRIX = (";x=1", ";jsessionid=1", ";/", "%3bx=1", "/;x")
OPENED = [AUTHORIZE, END_SESSION, USERINFO, paths.KEYS, paths.DISCOVERY]


@pytest.fixture
def settings():
    return {"refused_credentials_limit": 1_000_000}  # here nobody is told to stop


@pytest.fixture(autouse=True)
def unlimited(monkeypatch):
    """No limit of authorization requests, which has its own tests."""
    monkeypatch.setattr(request_limits, "admit_authorization", lambda *_: None)


@pytest.fixture
def world(io_loop, server, visitor) -> World:
    return io_loop.run_sync(lambda: World.make(server, visitor))


def spoilt(token: str, until: int | None = None) -> list[str]:
    """Every copy with a character changed (of the first `until`), cut off or added."""
    return [*list(changed(token))[:until], *cut(token), *longer(token)]


class TestTruncatedCredentials:
    """CVE-2026-27840: an opaque token counted although a part of it was missing."""

    @pytest.mark.full
    async def test_no_spoilt_refresh_token_counts(self, server, world):
        token = await artefacts.of_tokens("refresh_token")(world)
        before = await everything(server.store)
        for each in spoilt(token, 22 + 43):  # whoever knows the family's secret ends it
            page = await world.party.refresh(world.visitor, each)
            assert_refused(page, 400, "invalid_grant", each)

        assert await everything(server.store) == before
        assert_granted(await world.party.refresh(world.visitor, token))

    @pytest.mark.full
    async def test_no_spoilt_device_code_counts(self, server, world):
        code = await artefacts.device_code(world)
        before = await everything(server.store)
        for each in spoilt(code):
            form = {"grant_type": DEVICE_GRANT, "device_code": each}
            page = await world.party.token(world.visitor, form)
            assert_refused(page, 400, "invalid_grant", each)

        assert await everything(server.store) == before
        form = {"grant_type": DEVICE_GRANT, "device_code": code}
        assert_granted(await world.party.token(world.visitor, form))

    @pytest.mark.full
    async def test_no_spoilt_reference_to_a_pushed_request_counts(self, server, world):
        form, basic = world.party.authorize_form(prompt="none"), world.party.basic()
        reference = (await world.visitor.post(PAR, form, headers=basic)).json()["request_uri"]
        before = await everything(server.store)
        for each in spoilt(reference):
            assert "code" not in (await authorize_by_reference(world, each)).answer, each

        assert await everything(server.store) == before
        assert (await authorize_by_reference(world, reference)).answer["error"] == "login_required"

    @pytest.mark.full
    async def test_no_spoilt_client_secret_counts(self, server, world):
        secret, before = world.party.client_secret, await everything(server.store)
        for each in spoilt(secret):
            world.party.client_secret = each
            page = await world.party.refresh(world.visitor, "x")
            assert_refused(page, 401, "invalid_client", each)

        world.party.client_secret = secret
        assert_refused(await world.party.refresh(world.visitor, "x"), 400, "invalid_grant")
        assert await everything(server.store) == before

    @pytest.mark.full
    async def test_no_spoilt_cookie_counts(self, server, world, new_visitor):
        await artefacts.code(world)
        (cookie,) = world.visitor.cookies.jar
        browser, before = new_visitor(), await everything(server.store)
        url = world.party.authorize_url(prompt="none")
        for each in [each for each in spoilt(cookie.value) if each.isascii()]:
            page = await browser.get(url, headers={"Cookie": f"{cookie.name}={each}"})
            assert page.answer["error"] == "login_required", each

        assert await everything(server.store) == before
        assert "code" in await world.party.silently(world.visitor)


async def authorize_by_reference(world: World, request_uri: str):
    """The browser comes with a reference to a pushed request."""
    form = {"client_id": world.party.client_id, "request_uri": request_uri}
    return await world.visitor.get(f"{AUTHORIZE}?{urlencode(form)}")


async def test_matrix_parameters_lead_to_no_endpoint(server, world):
    """CVE-2026-0976: what stood after a semicolon in the path got around rules for paths."""
    before = await everything(server.store)
    form = {"grant_type": "client_credentials", "scope": "openid"}
    for path in (f"{path}{more}" for path in POSTED for more in MATRIX):
        page = await world.visitor.post(path, form, headers=world.party.basic())
        assert page.status == 404, path
    for path in (f"{path}{more}" for path in OPENED for more in MATRIX):
        assert (await world.visitor.get(path)).status == 404, path

    assert await everything(server.store) == before


async def test_a_page_s_address_and_form_change_nothing_of_what_was_asked(server, world):
    """CVE-2026-7571: the implicit flow was switched on by what the browser sent later."""
    wanted = {
        "response_type": "id_token token",
        "response_mode": "fragment",
        "redirect_uri": "https://evil.example/cb",
        "scope": "openid urn:idp:iam:org:project:id:idp:aud",
        "nonce": "another",
    }
    page = await world.visitor.open(world.party.authorize_url(scope="openid"))
    page = await world.visitor.open(f"{page.url}&{urlencode(wanted)}")
    page = await world.visitor.submit(page, loginName=server.user[0], **wanted)
    page = await world.visitor.submit(page, password=server.user[1], **wanted)
    body = assert_granted(await world.party.redeem(world.visitor, page.answer["code"]))

    assert page.location.startswith(f"{world.party.redirect_uri}?code=")
    assert set(page.answer) == {"code", "state", "iss"}
    assert body["scope"] == "openid"


ENCRYPTED = "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA"


async def test_what_is_encrypted_gets_around_no_signature(server, world):
    """CVE-2026-9793: of an encrypted request object, nobody asked for the signature."""
    before = await everything(server.store)
    asked = await world.visitor.get(world.party.authorize_url(request=ENCRYPTED))
    hinted = await world.visitor.get(
        world.party.authorize_url(id_token_hint=ENCRYPTED, prompt="none")
    )
    left = await world.visitor.get(f"{END_SESSION}?id_token_hint={ENCRYPTED}")
    form = {"client_assertion_type": ASSERTION_TYPE, "client_assertion": ENCRYPTED}
    client = await world.visitor.post(TOKEN, form | {"grant_type": "client_credentials"})
    form = {"grant_type": JWT_BEARER, "assertion": ENCRYPTED}
    granted = await world.visitor.post(TOKEN, form)
    headers = {"Authorization": f"Bearer {ENCRYPTED}"}
    claims = await world.visitor.get(USERINFO, headers=headers)

    assert asked.answer["error"] == "request_not_supported"
    assert hinted.answer["error"] == "login_required"
    assert (left.status, left.name) == (400, "explain")
    assert_refused(client, 400, "invalid_client")
    assert_refused(granted, 400, "invalid_grant")
    assert claims.status == 401
    assert await everything(server.store) == before


@pytest.mark.parametrize("order", ["good first", "good last", "good twice"])
async def test_of_two_authorization_headers_none_counts(server, world, order):
    """zitadel/oidc, July 2026: a client that authenticated twice was believed once."""
    good, bad = world.party.basic()["Authorization"], "Basic bm9ib2R5OngK"
    sent = {"good first": [good, bad], "good last": [bad, good], "good twice": [good, good]}[order]
    body = "grant_type=refresh_token&refresh_token=x"
    head = [f"POST {TOKEN} HTTP/1.1", f"Host: {server.issuer.partition('://')[2]}"]
    head += [f"Authorization: {each}" for each in sent]
    head += [f"Content-Type: {FORM}", f"Content-Length: {len(body)}", "Connection: close"]
    answer = await exchange(server, "\r\n".join([*head, "", body]).encode())

    assert answer.status_code == 401
    assert answer.json()["error"] == "invalid_client"
