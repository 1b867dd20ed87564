"""Pushed authorization requests (RFC 9126): checked like any other, used once, and soon."""

from __future__ import annotations

import asyncio
from urllib.parse import urlencode

import pytest

from idp.oauth.endpoints import refusal_records
from idp.records import APPLICATIONS, PUSHED_REQUESTS
from storage import Update
from tests.support.protocol.answers import assert_json, assert_refused
from tests.support.protocol.asserting import register_key
from tests.support.protocol.relying_party import without_none
from tests.support.sign_in.steps import text_of
from tests.support.store.stored import everything, only

PATH = "/oauth/v2/par"
PREFIX = "urn:ietf:params:oauth:request_uri:"


@pytest.fixture
def client(io_loop, server):
    return io_loop.run_sync(lambda: server.register("Wiki"))


async def push(visitor, client, headers=None, **changes):
    form = without_none(client.authorize_form(**changes))
    headers = (client.basic() if client.client_secret else {}) if headers is None else headers
    return await visitor.post(PATH, form, headers=headers)


async def pushed(visitor, client, **changes) -> str:
    """The request_uri of a pushed request."""
    page = await push(visitor, client, **changes)
    assert page.status == 201, page.text
    return page.json()["request_uri"]


def by_reference(client, request_uri, **changes):
    form = {"client_id": client.client_id, "request_uri": request_uri} | changes
    return f"/oauth/v2/authorize?{urlencode(without_none(form))}"


@pytest.mark.promise("authorization: pushed request")
async def test_a_pushed_request_is_answered_with_its_reference(server, visitor, client):
    page = await push(visitor, client)
    body = page.json()
    stored = await everything(server.store)

    assert page.status == 201
    assert_json(page)
    assert set(body) == {"request_uri", "expires_in"}
    assert body["expires_in"] == 60
    assert body["request_uri"].startswith(PREFIX)
    assert len(body["request_uri"]) == len(PREFIX) + 43
    assert body["request_uri"].removeprefix(PREFIX) not in repr(stored)
    assert client.client_secret not in repr(stored[PUSHED_REQUESTS.name])


@pytest.mark.promise("authorization: issuer of every answer")
async def test_the_reference_replaces_all_that_was_pushed(server, signed_in, client):
    reference = await pushed(signed_in, client, scope="openid email", nonce="n-pushed")
    outside = {"scope": "openid phone", "state": "other", "redirect_uri": "https://evil.example"}
    page = await signed_in.get(by_reference(client, reference, **outside))
    tokens = (await client.redeem(signed_in, page.answer["code"])).json()

    assert page.location.startswith(client.redirect_uri)
    assert page.answer["state"] == "state-1"
    assert page.answer["iss"] == server.issuer
    assert tokens["scope"] == "openid email"


async def test_a_user_who_is_not_signed_in_goes_through_the_pages(server, visitor, client):
    reference = await pushed(visitor, client)
    page = await visitor.sign_in(by_reference(client, reference), *server.user)

    assert set(page.answer) == {"code", "state", "iss"}


async def test_the_reference_comes_by_post_too(signed_in, client):
    reference = await pushed(signed_in, client)
    form = {"client_id": client.client_id, "request_uri": reference}
    page = await signed_in.follow(await signed_in.post("/oauth/v2/authorize", form))

    assert set(page.answer) == {"code", "state", "iss"}


async def test_prompt_none_and_form_post_can_be_pushed(visitor, client):
    reference = await pushed(visitor, client, prompt="none", response_mode="form_post")
    page = await visitor.get(by_reference(client, reference))

    assert page.name == "form-post"
    assert page.hidden["error"] == "login_required"


def assert_unusable(page):
    assert (page.status, page.name, page.location) == (400, "explain", None)
    assert "The request_uri can't be used" in text_of(page)
    assert "Set-Cookie" not in page.headers


@pytest.mark.promise("authorization: pushed request")
async def test_a_reference_works_once(server, signed_in, client):
    address = by_reference(client, await pushed(signed_in, client))
    first = await signed_in.get(address)
    before = await everything(server.store)
    second = await signed_in.get(address)

    assert "code" in first.answer
    assert_unusable(second)
    assert await everything(server.store) == before


async def test_of_many_who_bring_a_reference_at_once_one_is_answered(server, signed_in, client):
    address = by_reference(client, await pushed(signed_in, client))
    pages = await asyncio.gather(*[signed_in.get(address) for _ in range(8)])

    assert sorted(page.status for page in pages) == [303] + [400] * 7


@pytest.mark.promise("authorization: pushed request")
@pytest.mark.parametrize(("seconds", "status"), [(59, 303), (60, 400), (61, 400)])
async def test_a_reference_lasts_a_minute(server, signed_in, client, seconds, status):
    reference = await pushed(signed_in, client)
    server.clock.advance(seconds)
    page = await signed_in.get(by_reference(client, reference))

    assert page.status == status


async def test_the_sign_in_has_its_usual_time_once_it_has_begun(server, visitor, client):
    page = await visitor.open(by_reference(client, await pushed(visitor, client)))
    server.clock.advance(3599)
    page = await visitor.submit(page, loginName=server.user[0])

    assert page.name == "password"


@pytest.mark.promise("authorization: pushed request")
async def test_another_client_s_reference_is_refused_and_not_spent(server, signed_in, client):
    reference = await pushed(signed_in, client)
    other = await server.register("Other")
    before = await everything(server.store)
    foreign = await signed_in.get(by_reference(other, reference))
    after = await everything(server.store)
    own = await signed_in.get(by_reference(client, reference))

    assert_unusable(foreign)
    assert after == before
    assert "code" in own.answer


@pytest.mark.full
async def test_a_reference_that_nobody_was_given_is_refused(server, signed_in, client):
    reference = await pushed(signed_in, client)
    before = await everything(server.store)
    secret = reference.removeprefix(PREFIX)
    for wrong in ("", "x", secret[:-1], secret + "A", secret.swapcase(), "a\0b", "é", "A" * 5000):
        assert_unusable(await signed_in.get(by_reference(client, PREFIX + wrong)))

    assert await everything(server.store) == before


async def test_a_reference_without_its_client_or_twice_is_a_page(server, signed_in, client):
    reference = await pushed(signed_in, client)
    before = await everything(server.store)
    alone = await signed_in.get(by_reference(client, reference, client_id=None))
    twice = await signed_in.get(f"{by_reference(client, reference)}&request_uri={reference}")

    assert [(page.status, page.name) for page in (alone, twice)] == [(400, "explain")] * 2
    assert await everything(server.store) == before


async def test_a_request_uri_of_others_is_not_supported(server, signed_in, client):
    page = await signed_in.get(client.authorize_url(request_uri="https://client.example/r"))

    assert page.answer["error"] == "request_uri_not_supported"


REFUSED = {
    "a request_uri": ({"request_uri": f"{PREFIX}x"}, "invalid_request"),
    "a request_uri of others": ({"request_uri": "https://x.example/r"}, "invalid_request"),
    "no redirect_uri": ({"redirect_uri": None}, "invalid_request"),
    "a foreign redirect_uri": ({"redirect_uri": "https://evil.example/cb"}, "invalid_request"),
    "a request object": ({"request": "e30.e30."}, "request_not_supported"),
    "no response_type": ({"response_type": None}, "invalid_request"),
    "response_type token": ({"response_type": "token"}, "unsupported_response_type"),
    "a type not registered": ({"response_type": "id_token"}, "unauthorized_client"),
    "a mode nobody knows": ({"response_mode": "pigeon"}, "invalid_request"),
    "scope without openid": ({"scope": "email"}, "invalid_scope"),
    "PKCE by plain": ({"code_challenge_method": "plain"}, "invalid_request"),
    "prompt unknown": ({"prompt": "please"}, "invalid_request"),
    "max_age -1": ({"max_age": "-1"}, "invalid_request"),
    "a nonce of 4097": ({"nonce": "n" * 4097}, "invalid_request"),
}


@pytest.mark.promise("authorization: pushed request")
async def test_what_authorize_would_refuse_is_refused_at_once(server, visitor, client):
    before = await everything(server.store)
    for name, (changes, error) in REFUSED.items():
        assert_refused(await push(visitor, client, **changes), 400, error, name)

    assert await everything(server.store) == before


@pytest.mark.promise("security: hint")
async def test_a_pushed_hint_that_is_none_is_ignored(server, visitor, client):
    page = await push(visitor, client, id_token_hint="nonsense")
    (kept,) = await refusal_records.find(server.service, page.headers["X-Request-Id"])

    assert page.status == 201
    assert (kept.endpoint, kept.error) == ("par", "hint.ignored")


async def test_an_api_signs_nobody_in_and_pushes_nothing(server, visitor):
    api = await server.register("Stock", app_type="api")
    before = await everything(server.store)
    for changes in ({}, {"redirect_uri": None}):
        page = await push(visitor, api, **changes)
        assert_refused(page, 400, "unauthorized_client")
        assert page.json()["error_description"] == "the client may not push requests"

    assert await everything(server.store) == before


WISHES = ["prompt", "max_age", "login_hint", "ui_locales", "acr_values", "claims", "display"]


@pytest.mark.full
async def test_a_parameter_may_not_be_repeated(server, visitor, client):
    before = await everything(server.store)
    headers = client.basic() | {"Content-Type": "application/x-www-form-urlencoded"}
    form = client.authorize_form() | dict.fromkeys([*WISHES, "id_token_hint", "unknown"], "1")
    for name, value in form.items():
        for again in (value, "another"):
            content = urlencode([*form.items(), (name, again)])
            page = await visitor.post(PATH, content=content, headers=headers)
            assert_refused(page, 400, "invalid_request", name)
            assert "sent more than once" in page.json()["error_description"]

    assert await everything(server.store) == before


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "PATCH"])
async def test_only_post_is_taken(visitor, method):
    page = await visitor.request(method, PATH)

    assert (page.status, page.headers["Allow"]) == (405, "POST")


async def test_a_request_is_a_form(server, visitor, client):
    page = await visitor.post(PATH, json=client.authorize_form(), headers=client.basic())

    assert_refused(page, 400, "invalid_request")


# Client authentication


@pytest.mark.full
@pytest.mark.promise("authorization: pushed request")
async def test_a_client_authenticates_as_it_does_for_tokens(server, visitor):
    basic = await server.register()
    post = await server.register(auth_method="client_secret_post")
    public = await server.register(auth_method="none")
    key = await server.register(auth_method="private_key_jwt")
    asserting = await register_key(server, key.client_id, "key-1")
    by_secret = {"client_secret": post.client_secret}

    assert (await push(visitor, basic)).status == 201
    assert (await push(visitor, post, headers={}, **by_secret)).status == 201
    assert (await push(visitor, public, headers={})).status == 201
    assert (await push(visitor, key, headers={}, **asserting.client_form())).status == 201


async def test_no_secret_of_a_client_is_stored_with_its_request(server, visitor):
    client = await server.register(auth_method="client_secret_post")
    await push(visitor, client, headers={}, client_secret=client.client_secret)

    assert client.client_secret not in repr(await only(server.store, PUSHED_REQUESTS))


@pytest.mark.promise("authorization: pushed request")
async def test_a_client_that_does_not_authenticate_is_refused(server, visitor, client):
    other = await server.register("Other")
    before = await everything(server.store)
    wrong = {
        "no authentication": await push(visitor, client, headers={}),
        "a wrong secret": await push(visitor, client, headers={}, client_secret="wrong"),
        "an unknown client": await push(visitor, client, headers={}, client_id="nobody"),
    }
    for name, page in wrong.items():
        assert_refused(page, 400, "invalid_client", name)
    assert_refused(await push(visitor, client, headers=other.basic()), 400, "invalid_request")
    assert await everything(server.store) == before


# Applications that demand it


@pytest.mark.promise("authorization: pushed request")
async def test_where_it_is_demanded_only_pushed_requests_are_taken(server, signed_in):
    client = await server.register(requires_pushed_requests=True)
    before = await everything(server.store)
    plain = await signed_in.get(client.authorize_url())
    after = await everything(server.store)
    page = await signed_in.get(by_reference(client, await pushed(signed_in, client)))

    assert plain.answer["error"] == "invalid_request"
    assert plain.answer["error_description"] == "the client must push its requests"
    assert after == before
    assert "code" in page.answer


async def test_an_application_that_is_switched_off_meanwhile_is_not_answered(
    server, signed_in, client
):
    reference = await pushed(signed_in, client)
    off = {"state": "inactive"}
    await server.store.commit(Update(APPLICATIONS, client.client_id, set=off))
    page = await signed_in.get(by_reference(client, reference))

    assert (page.status, page.name) == (400, "explain")


async def test_scripts_of_the_application_s_own_origins_may_push(server, visitor):
    client = await server.register(auth_method="none", redirect_uris=["https://spa.example/cb"])
    own = await push(visitor, client, headers={"Origin": "https://spa.example"})
    other = await push(visitor, client, headers={"Origin": "https://evil.example"})

    assert own.headers["Access-Control-Allow-Origin"] == "https://spa.example"
    assert "Access-Control-Allow-Origin" not in other.headers
