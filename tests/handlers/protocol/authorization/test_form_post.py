"""response_mode=form_post: the answer is a page that posts itself (Form Post Response Mode)."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import urlsplit

import pytest

from idp.foundation import base64url
from idp.oauth.endpoints.authorization_response import MODES
from tests.support.sign_in.steps import Seen, text_of
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import everything

IMPLICIT = {
    "response_types": ["code", "id_token", "id_token token"],
    "grant_types": ["authorization_code", "implicit", "refresh_token"],
}
CALLBACK = "https://client.example/cb?tenant=1"
ANSWERS = {
    "code": {"code", "state", "iss"},
    "id_token": {"id_token", "state", "iss"},
    "id_token token": {
        *["access_token", "token_type", "expires_in", "scope", "id_token", "state", "iss"]
    },
}


@pytest.fixture
def client(io_loop, server):
    values = IMPLICIT | {"redirect_uris": [CALLBACK, "app:/cb"]}
    return io_loop.run_sync(lambda: server.register("Wiki", **values))


def posted(client, **changes):
    return client.authorize_url(**({"response_mode": "form_post"} | changes))


def assert_posts(page, address=CALLBACK) -> dict:
    """The page posts its hidden inputs to `address`, by script or by a button; the inputs."""
    policy = page.headers["Content-Security-Policy"]
    (form,) = [each for each in Seen(page).all("form") if each.get("id") == "step"]
    assert (page.status, page.name, page.location) == (200, "form-post", None), page.text
    assert (form["method"], html.unescape(form["action"])) == ("post", address)
    assert page.inputs == {}
    assert len(re.findall("<button", page.text)) == 1
    assert "form-action" not in policy
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    return page.hidden


@pytest.mark.promise("authorization: form_post", "authorization: issuer of every answer")
@pytest.mark.parametrize("response_type", ANSWERS)
async def test_an_answer_is_posted_whole_and_nothing_of_it_is_in_an_address(
    server, signed_in, client, response_type
):
    page = await signed_in.get(posted(client, response_type=response_type))
    answer = assert_posts(page)

    assert set(answer) == ANSWERS[response_type]
    assert answer["state"] == "state-1"
    assert answer["iss"] == server.issuer
    assert "We're taking you back to Wiki." in text_of(page)


async def test_a_posted_code_is_redeemed_like_any_other(signed_in, client):
    page = await signed_in.get(posted(client))
    redeemed = await client.redeem(signed_in, page.hidden["code"])

    assert redeemed.status == 200


async def test_signing_in_through_the_pages_ends_in_the_form(server, visitor, client):
    page = await visitor.sign_in(posted(client), *server.user)
    again = await visitor.open(page.url)
    await client.redeem(visitor, page.hidden["code"])
    late = await visitor.open(page.url)

    assert set(assert_posts(page)) == {"code", "state", "iss"}
    assert again.hidden == page.hidden
    assert late.name == "expired"


@pytest.mark.promise("authorization: form_post", "authorization: issuer of every answer")
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"scope": "profile"}, "invalid_scope"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"prompt": "none"}, "login_required"),
        ({"prompt": "please"}, "invalid_request"),
        ({"nonce": None, "response_type": "id_token"}, "invalid_request"),
        ({"request": "e30.e30."}, "request_not_supported"),
    ],
)
async def test_an_error_is_posted_as_well(server, visitor, client, method, changes, error):
    before = await everything(server.store)
    form = client.authorize_form(response_mode="form_post", **changes)
    if method == "GET":
        page = await visitor.get(client.authorize_url(response_mode="form_post", **changes))
    else:
        page = await visitor.post("/oauth/v2/authorize", form)
    answer = assert_posts(page)

    assert answer["error"] == error
    assert answer["state"] == "state-1"
    assert answer["iss"] == server.issuer
    assert set(answer) <= {"error", "error_description", "state", "iss"}
    assert await everything(server.store) == before


@pytest.mark.promise("authorization: form_post")
async def test_cancelling_is_posted(visitor, client):
    page = await visitor.open(posted(client))
    page = await visitor.send(page, decision="cancel")

    assert assert_posts(page)["error"] == "access_denied"


STATES = [
    '"><svg/onload=alert(1)>',
    "a&b=c",
    "a+b c%20d",
    "{{7*7}}${7*7}",
    "\u202e\u2028",
    "é" * 99,
]


@pytest.mark.promise("authorization: form_post")
async def test_state_comes_back_as_it_was_sent_and_never_becomes_markup(signed_in, client):
    for state in STATES:
        page = await signed_in.get(posted(client, state=state))

        assert assert_posts(page)["state"] == state
        assert "<svg/" not in page.text


@pytest.mark.parametrize("state", ["a\r\nb", "a\nb", "a\rb", "a\0b"])
async def test_a_state_that_a_form_would_change_is_refused_by_redirect(
    server, signed_in, client, state
):
    before = await everything(server.store)
    page = await signed_in.get(posted(client, state=state))

    assert page.answer["error"] == "invalid_request"
    assert page.answer["state"] == state
    assert await everything(server.store) == before


async def test_nothing_is_posted_to_what_is_not_a_web_address(server, signed_in, client):
    before = await everything(server.store)
    page = await signed_in.get(posted(client, redirect_uri="app:/cb"))

    assert page.location.startswith("app:/cb?error=invalid_request")
    assert await everything(server.store) == before


async def test_an_unusable_address_gets_no_form(server, visitor, client):
    page = await visitor.get(posted(client, redirect_uri="https://evil.example/cb"))

    assert (page.status, page.name) == (400, "explain")


@pytest.mark.promise("authorization: response_mode")
@pytest.mark.parametrize("mode", [None, *MODES, "QUERY", "jwt", "form_post.jwt", "query fragment"])
@pytest.mark.parametrize("response_type", ANSWERS)
@pytest.mark.parametrize("outcome", ["success", "failure"])
async def test_tokens_and_their_errors_are_never_in_a_query(
    signed_in, client, mode, response_type, outcome
):
    scope = "openid" if outcome == "success" else "email"
    changes = {"response_type": response_type, "response_mode": mode, "scope": scope}
    page = await signed_in.get(client.authorize_url(**changes))
    parts, usual = urlsplit(page.location or ""), urlsplit(CALLBACK).query
    answer = page.answer if page.location else page.hidden
    is_allowed = mode in (None, *MODES) and (mode, response_type == "code") != ("query", False)
    error = "invalid_scope" if is_allowed else "invalid_request"

    assert answer.get("error") == (None if is_allowed and outcome == "success" else error)
    if response_type != "code":
        assert parts.query in ("", usual)
    if mode == "fragment":
        assert (parts.query, bool(parts.fragment)) == (usual, True)


def request_object(claims: object, *, header=b'{"alg":"none"}', signature="") -> str:
    octets = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
    return f"{base64url.encode(header)}.{base64url.encode(octets)}.{signature}"


ASKS_FOR_A_FORM = {"response_mode": "form_post", "state": "inside"}
PLACED_IN_A_FORM = {
    "unsecured": request_object(ASKS_FOR_A_FORM),
    "signed by whomever": request_object(ASKS_FOR_A_FORM, signature="c2lnbmVk"),
    "of tokens": request_object(ASKS_FOR_A_FORM | {"response_type": "id_token token"}),
}


@pytest.mark.promise("security: request")
@on_both_stores
@pytest.mark.parametrize("name", PLACED_IN_A_FORM)
async def test_a_refused_request_object_says_that_the_refusal_is_posted(visitor, client, name):
    page = await visitor.get(client.authorize_url(request=PLACED_IN_A_FORM[name]))
    answer = assert_posts(page)

    assert answer["error"] == "request_not_supported"


@pytest.mark.promise("security: request")
@on_both_stores
@pytest.mark.parametrize("mode", ["fragment", "query", "pigeon", None, 5, ["form_post"]])
@pytest.mark.parametrize("response_type", [None, "code", "id_token", "id_token token"])
async def test_the_mode_of_a_refused_request_object_never_puts_tokens_types_into_a_query(
    visitor, client, mode, response_type
):
    claims = {"response_mode": mode, "response_type": response_type}
    request = request_object({name: value for name, value in claims.items() if value is not None})
    page = await visitor.get(client.authorize_url(request=request))
    parts = urlsplit(page.location)
    is_fragment = mode == "fragment" or response_type not in (None, "code")

    assert ("error=" in parts.fragment) == is_fragment
    assert ("error=" in parts.query) != is_fragment
    assert page.answer["error"] == "request_not_supported"


UNREADABLE = {
    "encrypted": "e30.e30.e30.e30.e30",
    "not base64url": "e30.%%%.",
    "not JSON": request_object(b"form_post"),
    "an array": request_object(["form_post"]),
    "two modes": request_object(b'{"response_mode":"form_post","response_mode":"form_post"}'),
    "not UTF-8": request_object(b'{"response_mode":"form_post","x":"\xff"}'),
    "nested too deep": request_object(b'{"response_mode":"form_post","x":' + b"[" * 2000),
    "more than 16 kB": request_object(ASKS_FOR_A_FORM | {"x": "x" * 16 * 1024}),
    "empty": "",
    "two parts": "e30.e30",
}


@pytest.mark.promise("security: request")
@pytest.mark.parametrize("name", UNREADABLE)
async def test_a_request_object_that_cannot_be_read_leaves_the_refusal_where_it_was(
    visitor, client, name
):
    form = client.authorize_form(request=UNREADABLE[name])
    page = await visitor.post("/oauth/v2/authorize", form)

    assert page.name != "form-post"
    if name == "empty":  # as if it had not been sent (RFC 6749 3.1)
        assert "/ui/login?flow=" in page.location
    else:
        assert "error=request_not_supported" in urlsplit(page.location).query


async def test_the_mode_of_a_request_object_wins_over_the_one_beside_it(visitor, client):
    request = request_object({"response_mode": "fragment"})
    page = await visitor.get(client.authorize_url(request=request, response_mode="form_post"))

    assert "error=request_not_supported" in urlsplit(page.location).fragment


async def test_a_form_that_a_request_object_asks_for_goes_to_web_addresses_only(visitor, client):
    request = request_object(ASKS_FOR_A_FORM)
    page = await visitor.get(client.authorize_url(request=request, redirect_uri="app:/cb"))

    assert page.location.startswith("app:/cb?error=request_not_supported")
