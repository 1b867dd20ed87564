"""Client authentication at the token endpoint (RFC 6749 2.3): one method, the registered one."""

from __future__ import annotations

import base64
from urllib.parse import urlencode

import pytest

from idp.foundation import opaque_tokens
from idp.records import APPLICATIONS
from storage import Update
from tests.support.browsers.wire import FORM
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.store.stored import everything

TOKEN = "/oauth/v2/token"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def basic(text: str | bytes) -> dict:
    octets = text.encode() if isinstance(text, str) else text
    return {"Authorization": "Basic " + base64.b64encode(octets).decode()}


def header(value: str) -> dict:
    return {"Authorization": value}


@pytest.fixture
def refresh_token(io_loop, server, visitor, demo) -> str:
    """Of the demo application, which uses client_secret_basic."""
    return io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))["refresh_token"]


def send(visitor, refresh_token: str, headers: dict, form: dict):
    body = {"grant_type": "refresh_token", "refresh_token": refresh_token} | form
    return visitor.post(TOKEN, body, headers=headers)


def unproven(id: str, secret: str) -> dict[str, tuple[dict, dict]]:
    """Headers and form fields that prove nothing: invalid_client."""
    encoded = base64.b64encode(f"{id}:{secret}".encode()).decode()
    return {
        "nothing": ({}, {}),
        "client_id alone": ({}, {"client_id": id}),
        "client_id and an empty secret": ({}, {"client_id": id, "client_secret": ""}),
        "client_secret alone": ({}, {"client_secret": secret}),
        "a wrong secret": (basic(f"{id}:wrong"), {}),
        "an empty secret": (basic(f"{id}:"), {}),
        "a secret cut": (basic(f"{id}:{secret[:-1]}"), {}),
        "a longer secret": (basic(f"{id}:{secret}x"), {}),
        "a secret with a space": (basic(f"{id}:{secret} "), {}),
        "a secret in other case": (basic(f"{id}:{secret.swapcase()}"), {}),
        "the stored hash for a secret": (basic(f"{id}:{opaque_tokens.digest(secret)}"), {}),
        "an unknown client": (basic(f"nobody:{secret}"), {}),
        "an empty client": (basic(f":{secret}"), {}),
        "only a colon": (basic(":"), {}),
        "no colon": (basic(id), {}),
        "nothing after Basic": (header("Basic"), {}),
        "no base64": (header("Basic %%%"), {}),
        "base64 and garbage": (header(f"Basic {encoded}%%"), {}),
        "base64 and a second word": (header(f"Basic {encoded} {encoded}"), {}),
        "base64 cut": (header(f"Basic {encoded.rstrip('=')[:-2]}"), {}),
        "two headers in one": (header(f"Basic {encoded}, Basic {encoded}"), {}),
        "not UTF-8": (basic(b"\xff\xfe:\xff"), {}),
        "a header with other letters": ({"Authorization": b"Basic \xc3\xa9"}, {}),
        "NUL in the id": (basic(f"{id}\0:{secret}"), {}),
        "NUL in the secret": (basic(f"{id}:{secret}\0"), {}),
        "a bad percent sign": (basic(f"{id}:{secret}%"), {}),
        "half a percent code": (basic(f"{id}:%4"), {}),
        "percent codes that are not UTF-8": (basic(f"{id}:%ff"), {}),
        "percent twice": (basic(f"{id}:" + "".join(f"%25{ord(c):02x}" for c in secret)), {}),
        "an id of 201": (basic("i" * 201 + ":x"), {}),
        "an emoji": (basic("\U0001f600:\U0001f600"), {}),
        "a path": (basic(f"../{id}:{secret}"), {}),
        "Bearer": (header(f"Bearer {encoded}"), {}),
        "Digest": (header('Digest username="x"'), {}),
        "an empty header": (header(""), {}),
        "an assertion, which nobody registered": (
            {},
            {"client_assertion": "e30.e30.e30", "client_assertion_type": ASSERTION},
        ),
    }


def ambiguous(id: str, secret: str) -> dict[str, tuple[dict, dict]]:
    """Headers and form fields of more than one method, or of one twice: invalid_request."""
    good, post = basic(f"{id}:{secret}"), {"client_id": id, "client_secret": secret}
    return {
        "header and form": (good, post),
        "header and a wrong form": (good, {"client_secret": "x"}),
        "a wrong header and the form": (basic("x:y"), post),
        "header and another client_id": (good, {"client_id": "other"}),
        "header and an assertion": (good, {"client_assertion": "e30.e30.e30"}),
        "header and an assertion's type": (good, {"client_assertion_type": ASSERTION}),
        "a secret and an assertion": ({}, {**post, "client_assertion": "e30.e30.e30"}),
        "two secrets": ({}, {"client_id": id, "client_secret": [secret, secret]}),
        "two client_ids": ({}, {"client_id": [id, id], "client_secret": secret}),
    }


@pytest.mark.promise(
    "client: client_id",
    "token endpoint: Basic",
    "token error: invalid_request",
    "token error: invalid_client",
)
async def test_a_client_that_does_not_authenticate_is_refused_and_spends_nothing(
    server, visitor, demo, refresh_token
):
    before = await everything(server.store)
    for cases, status, error in (
        (unproven(demo.client_id, demo.client_secret), 401, "invalid_client"),
        (ambiguous(demo.client_id, demo.client_secret), 400, "invalid_request"),
    ):
        for name, (headers, form) in cases.items():
            page = await send(visitor, refresh_token, headers, form)
            expected = status if headers else 400
            assert_refused(page, expected, error, name)

    assert await everything(server.store) == before
    assert_granted(await demo.refresh(visitor, refresh_token))


@pytest.mark.promise("token endpoint: invalid_client")
async def test_all_failures_look_alike(visitor, demo, refresh_token):
    answers = {
        (page.text, page.headers["WWW-Authenticate"])
        for headers in (basic("nobody:x"), basic(f"{demo.client_id}:x"), header("Basic %%%"))
        for page in [await send(visitor, refresh_token, headers, {})]
    }

    assert len(answers) == 1
    assert demo.client_id not in answers.pop()[0]


@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC", "Basic  "])
async def test_the_scheme_s_case_does_not_matter(visitor, demo, refresh_token, scheme):
    value = demo.basic()["Authorization"].removeprefix("Basic ")

    assert_granted(await send(visitor, refresh_token, header(f"{scheme} {value}"), {}))


async def test_the_same_client_id_may_stand_in_the_form_too(visitor, demo, refresh_token):
    page = await send(visitor, refresh_token, demo.basic(), {"client_id": demo.client_id})

    assert_granted(page)


SECRETS = {
    "plus and percent": ("a+b %41&=c", "a%2Bb+%2541%26%3Dc"),
    "a colon": ("a:b::", "a:b%3A:"),
    "umlauts": ("p\u00e4ss w\u00f6rd", "p%C3%A4ss+w%C3%B6rd"),
    "an emoji": ("\U0001f511", "%F0%9F%94%91"),
    "marks": ("!*'()~-._", "%21%2A%27%28%29%7E-._"),
    "left as it is": ("!*'()~-._", "!*'()~-._"),
    "space as percent 20": ("a b", "a%20b"),
}


@pytest.mark.promise("client authentication: client_secret_basic", "token endpoint: Basic")
@pytest.mark.parametrize(("secret", "wire"), SECRETS.values(), ids=SECRETS.keys())
async def test_the_parts_of_the_basic_header_are_form_urldecoded(
    server, visitor, demo, refresh_token, secret, wire
):
    changes = {"secret_hash": opaque_tokens.digest(secret)}
    await server.store.commit(Update(APPLICATIONS, demo.client_id, set=changes))

    page = await send(visitor, refresh_token, basic(f"{demo.client_id}:{wire}"), {})

    assert_granted(page)


@pytest.mark.promise(
    "client: client_secret",
    "client: authentication method",
    "client authentication: client_secret_post",
    "token error: invalid_client",
)
@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
async def test_only_the_registered_method_is_accepted_where_it_is_strict(server, visitor, method):
    client = await server.register(auth_method=method, is_auth_method_strict=True)
    secret = client.client_secret or "anything"
    stored = await server.store.get(APPLICATIONS, client.client_id)
    if stored.secret_hash is None:  # a public client whose record holds a secret all the same
        changes = {"secret_hash": opaque_tokens.digest(secret)}
        await server.store.commit(Update(APPLICATIONS, client.client_id, set=changes))
    id = client.client_id
    ways = {
        "client_secret_basic": (basic(f"{id}:{secret}"), {}),
        "client_secret_post": ({}, {"client_id": id, "client_secret": secret}),
        "none": ({}, {"client_id": id}),
    }
    for way, (headers, form) in ways.items():
        page = await send(visitor, "A" * 108, headers, form)
        if way == method:
            assert_refused(page, 400, "invalid_grant", way)
        else:
            assert_refused(page, 401 if headers else 400, "invalid_client", way)


@pytest.mark.promise("client: authentication method", "client authentication: client_secret_post")
@pytest.mark.parametrize("registered", ["client_secret_basic", "client_secret_post"])
@pytest.mark.parametrize("used", ["client_secret_basic", "client_secret_post"])
async def test_a_secret_is_accepted_in_the_header_and_in_the_form(
    server, visitor, registered, used
):
    client = await server.register(auth_method=registered)
    page = await client.sign_in(visitor, *server.user)
    headers, form = credentials_by(client, used)

    assert_granted(await client.redeem(visitor, page.answer["code"], headers, **form))


@pytest.mark.parametrize("method", ["none", "private_key_jwt"])
@pytest.mark.parametrize("used", ["client_secret_basic", "client_secret_post"])
async def test_no_secret_is_accepted_of_a_client_that_is_registered_for_another_method(
    server, visitor, method, used
):
    client = await server.register(auth_method=method)
    client.client_secret = "anything"
    changes = {"secret_hash": opaque_tokens.digest(client.client_secret)}
    await server.store.commit(Update(APPLICATIONS, client.client_id, set=changes))
    page = await send(visitor, "A" * 108, *credentials_by(client, used))

    assert_refused(page, 400 if used == "client_secret_post" else 401, "invalid_client")


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
async def test_an_inactive_client_is_an_unknown_one(server, visitor, method):
    client = await server.register(auth_method=method)
    tokens = await client_tokens(server, visitor, client)
    off = {"state": "inactive"}
    await server.store.commit(Update(APPLICATIONS, client.client_id, set=off))
    page = await send(visitor, tokens["refresh_token"], *credentials_by(client, method))

    assert_refused(page, 401 if method == "client_secret_basic" else 400, "invalid_client")
    assert (await client.userinfo(visitor, tokens["access_token"])).status == 401


async def client_tokens(server, visitor, client) -> dict:
    stored = await server.store.get(APPLICATIONS, client.client_id)
    page = await client.sign_in(visitor, *server.user)
    headers, form = credentials_by(client, stored.auth_method)
    return (await client.redeem(visitor, page.answer["code"], headers, **form)).json()


def credentials_by(client, method: str) -> tuple[dict, dict]:
    if method == "client_secret_basic":
        return client.basic(), {}
    secret = {"client_secret": client.client_secret} if method == "client_secret_post" else {}
    return {}, {"client_id": client.client_id} | secret


@pytest.mark.promise("client: client_secret")
async def test_an_old_secret_ends_when_there_is_a_new_one(server, visitor, demo, refresh_token):
    changes = {"secret_hash": opaque_tokens.digest("the new secret")}
    await server.store.commit(Update(APPLICATIONS, demo.client_id, set=changes))
    old = await send(visitor, refresh_token, demo.basic(), {})
    new = await send(visitor, refresh_token, basic(f"{demo.client_id}:the+new+secret"), {})

    assert_refused(old, 401, "invalid_client")
    assert_granted(new)


async def test_a_client_without_a_stored_secret_has_no_secret_that_fits(server, visitor):
    client = await server.register(secret_hash=None)
    for secret in ("", "x", opaque_tokens.digest("")):
        page = await send(visitor, "A" * 108, basic(f"{client.client_id}:{secret}"), {})
        assert_refused(page, 401, "invalid_client", secret)


async def test_secrets_in_the_address_are_refused(server, visitor, demo, refresh_token):
    body = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    secret = urlencode({"client_id": demo.client_id, "client_secret": demo.client_secret})
    page = await visitor.post(f"{TOKEN}?{secret}", body, headers=demo.basic())

    assert_refused(page, 400, "invalid_request")
    assert_granted(await demo.refresh(visitor, refresh_token))


BODIES = {
    "JSON": ("application/json", '{"grant_type": "refresh_token"}'),
    "no type": (None, "grant_type=refresh_token"),
    "multipart": ("multipart/form-data; boundary=x", "--x--"),
    "another charset": (f"{FORM}; charset=latin-1", b"grant_type=refresh_token&scope=\xe9"),
    "a bad percent sign": (FORM, "grant_type=%"),
    "not UTF-8": (FORM, "grant_type=%ff"),
    "raw octets": (FORM, b"grant_type=\xff"),
    "101 parameters": (FORM, "&".join(f"p{n}=1" for n in range(101))),
    "nothing": (FORM, ""),
    "an array": (FORM, "grant_type[]=refresh_token"),
    "an operator": (FORM, "grant_type[$ne]="),
}


@pytest.mark.promise("token endpoint: form and JSON", "token error: invalid_request")
@pytest.mark.parametrize(("kind", "body"), BODIES.values(), ids=BODIES.keys())
async def test_a_body_that_is_no_form_is_an_invalid_request(
    server, visitor, demo, refresh_token, kind, body
):
    before = await everything(server.store)
    headers = demo.basic() | ({"Content-Type": kind} if kind else {})
    page = await visitor.post(TOKEN, content=body, headers=headers)

    assert_refused(page, 400, "invalid_request")
    assert await everything(server.store) == before


async def test_a_body_beyond_64_kb_is_refused_by_413(visitor, demo, refresh_token):
    page = await send(visitor, refresh_token, demo.basic(), {"unknown": "u" * 70_000})

    assert page.status == 413
    assert page.json()["error"] == "invalid_request"
    assert_granted(await demo.refresh(visitor, refresh_token))


async def test_a_head_beyond_16_kb_is_refused_by_431(visitor, demo, refresh_token):
    headers = demo.basic() | {"X-Long": "h" * 17_000}
    page = await send(visitor, refresh_token, headers, {})

    assert page.status == 431
    assert_granted(await demo.refresh(visitor, refresh_token))


async def test_an_unknown_client_learns_nothing_of_the_grant(visitor, refresh_token):
    for form in ({"grant_type": "magic"}, {"grant_type": None}, {"refresh_token": ""}):
        page = await send(
            visitor,
            refresh_token,
            basic("nobody:x"),
            {name: value for name, value in form.items() if value is not None},
        )
        assert page.status in (400, 401)
        assert page.json()["error"] in ("invalid_client", "invalid_request")


async def test_neither_a_cookie_nor_an_origin_is_asked_for(
    server, demo, refresh_token, new_visitor
):
    page = await send(
        new_visitor(), refresh_token, demo.basic() | {"Origin": "https://evil.example"}, {}
    )

    assert_granted(page)
    assert "Access-Control-Allow-Credentials" not in page.headers


@pytest.mark.parametrize("form", [{}, {"grant_type": "authorization_code"}, {"grant_type": "x"}])
async def test_a_wrong_secret_is_reported_before_other_mistakes(visitor, demo, form):
    headers = basic(f"{demo.client_id}:wrong")
    page = await visitor.post(TOKEN, form, headers=headers | {"Content-Type": FORM})

    assert (page.status, page.json()["error"]) == (401, "invalid_client")
