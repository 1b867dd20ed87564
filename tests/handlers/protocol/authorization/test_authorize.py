"""The authorization request: its parameters, and every refusal that goes back by redirect."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import pytest

from idp.records import AUTHORIZATIONS
from tests.support.protocol.noting import read_note
from tests.support.protocol.relying_party import CHALLENGE
from tests.support.store.stored import everything

PATH = "/oauth/v2/authorize"


@pytest.fixture
def signed_in(io_loop, server, visitor, demo):
    """The demo user's browser, signed in a minute ago."""
    io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))
    server.clock.advance(60)
    return visitor


async def by_post(visitor, client, **changes):
    return await visitor.post(PATH, client.authorize_form(**changes))


@pytest.mark.promise("authorization: endpoint")
async def test_a_good_request_leads_to_the_sign_in_page(server, visitor, demo):
    page = await visitor.get(demo.authorize_url())
    stored = await read_note(server, page)

    assert page.status == 303
    assert urlsplit(page.location).path == "/ui/login"
    assert stored.client_id == demo.client_id
    assert stored.redirect_uri == demo.redirect_uri
    assert stored.scopes == ["openid", "profile", "email", "offline_access"]
    assert (stored.nonce, stored.code_challenge) == ("nonce-1", CHALLENGE)


@pytest.mark.promise("service: login page")
async def test_authorize_and_the_sign_in_pages_share_an_origin(server, visitor, demo):
    """So that both read the same cookie."""
    document = (await visitor.get("/.well-known/openid-configuration")).json()
    page = await visitor.get(demo.authorize_url())

    origins = {urlsplit(url)[:2] for url in (document["authorization_endpoint"], page.location)}
    assert origins == {urlsplit(server.issuer)[:2]}


@pytest.mark.promise(
    "authorization: response_type code",
    "authorization: success: code",
    "authorization: query or fragment",
    "authorization: iss",
    "authorization: issuer of every answer",
)
async def test_the_answer_is_a_code_with_state_and_issuer_in_the_query(server, signed_in, demo):
    page = await signed_in.get(demo.authorize_url())
    parts = urlsplit(page.location)

    assert page.status == 303
    assert page.location.startswith(demo.redirect_uri + "?")
    assert set(page.answer) == {"code", "state", "iss"}
    assert page.answer["state"] == "state-1"
    assert page.answer["iss"] == server.issuer
    assert len(page.answer["code"]) == 65
    assert parts.fragment == ""


@pytest.mark.promise("authorization: query or fragment")
async def test_the_answer_goes_to_the_fragment_when_that_was_asked_for(signed_in, demo):
    page = await signed_in.get(demo.authorize_url(response_mode="fragment"))
    parts = urlsplit(page.location)

    assert set(page.answer) == {"code", "state", "iss"}
    assert parts.query == ""


@pytest.mark.promise("authorization: query or fragment")
async def test_a_refusal_goes_to_the_fragment_when_that_was_asked_for(visitor, demo):
    page = await visitor.get(demo.authorize_url(response_mode="fragment", scope="profile"))
    parts = urlsplit(page.location)

    assert page.answer["error"] == "invalid_scope"
    assert (parts.query, bool(parts.fragment)) == ("", True)


@pytest.mark.promise("authorization: methods")
async def test_a_post_is_answered_like_a_get(server, signed_in, demo):
    page = await signed_in.follow(await by_post(signed_in, demo))

    assert set(page.answer) == {"code", "state", "iss"}


@pytest.mark.promise("authorization: methods", "session: cookies")
async def test_a_post_without_a_cookie_begins_a_sign_in(server, visitor, demo):
    page = await visitor.follow(await by_post(visitor, demo))

    assert page.name == "login-name"


@pytest.mark.promise("authorization: prompt none")
async def test_a_post_with_prompt_none_never_shows_a_page(visitor, demo):
    page = await visitor.follow(await by_post(visitor, demo, prompt="none"))

    assert page.location.startswith(demo.redirect_uri)
    assert page.answer["error"] == "login_required"


@pytest.mark.promise("authorization: parameters")
async def test_order_of_parameters_and_scopes_and_unknown_parameters_do_not_matter(
    server, signed_in, demo
):
    form = demo.authorize_form(scope="email unknown openid profile")
    form |= {"unknown": "x", "display": "wap", "claims_locales": "xx", "acr_values": "urn:x"}
    page = await signed_in.get(f"{PATH}?{urlencode(list(reversed(form.items())))}")
    tokens = (await demo.redeem(signed_in, page.answer["code"])).json()

    assert tokens["scope"] == "email openid profile"


@pytest.mark.promise("authorization: scope")
@pytest.mark.parametrize(
    "scope",
    ["openid", "openid openid", " openid ", "openid  profile", "x:y openid https://x.example/y"],
)
async def test_a_scope_string_that_holds_openid_is_accepted(signed_in, demo, scope):
    assert "code" in (await signed_in.get(demo.authorize_url(scope=scope))).answer


NATIVE = {"auth_method": "none"}
REFUSED = {
    # response_type: required, known, allowed to this client
    "no response_type": ({"response_type": None}, "invalid_request"),
    "an empty response_type": ({"response_type": ""}, "invalid_request"),
    "response_type token": ({"response_type": "token"}, "unsupported_response_type"),
    "code id_token": ({"response_type": "code id_token"}, "unsupported_response_type"),
    "code token": ({"response_type": "code token"}, "unsupported_response_type"),
    "code id_token token": ({"response_type": "code id_token token"}, "unsupported_response_type"),
    "response_type none": ({"response_type": "none"}, "unsupported_response_type"),
    "code twice": ({"response_type": "code code"}, "unsupported_response_type"),
    "response_type CODE": ({"response_type": "CODE"}, "unsupported_response_type"),
    "a space after code": ({"response_type": "code "}, "unsupported_response_type"),
    "a comma for a space": ({"response_type": "id_token,token"}, "unsupported_response_type"),
    "id_token not registered": ({"response_type": "id_token"}, "unauthorized_client"),
    "id_token token": ({"response_type": "id_token token"}, "unauthorized_client"),
    "token id_token": ({"response_type": "token id_token"}, "unauthorized_client"),
    # response_mode
    "response_mode unknown": ({"response_mode": "carrier_pigeon"}, "invalid_request"),
    "response_mode QUERY": ({"response_mode": "QUERY"}, "invalid_request"),
    # scope
    "no scope": ({"scope": None}, "invalid_scope"),
    "an empty scope": ({"scope": ""}, "invalid_scope"),
    "scope without openid": ({"scope": "profile email"}, "invalid_scope"),
    "scope OPENID": ({"scope": "OPENID"}, "invalid_scope"),
    "a tab in scope": ({"scope": "openid\tprofile"}, "invalid_scope"),
    "a line in scope": ({"scope": "openid\nprofile"}, "invalid_scope"),
    "a quote in scope": ({"scope": 'openid "x"'}, "invalid_scope"),
    "a backslash in scope": ({"scope": "openid x\\y"}, "invalid_scope"),
    "an umlaut in scope": ({"scope": "openid \u00fc"}, "invalid_scope"),
    # request objects
    "request": ({"request": "e30.e30."}, "request_not_supported"),
    "request_uri": ({"request_uri": "https://x.example/r"}, "request_uri_not_supported"),
    # PKCE
    "method plain": ({"code_challenge_method": "plain"}, "invalid_request"),
    "method s256": ({"code_challenge_method": "s256"}, "invalid_request"),
    "method empty": ({"code_challenge_method": ""}, "invalid_request"),
    "no method": ({"code_challenge_method": None}, "invalid_request"),
    "method S512": ({"code_challenge_method": "S512"}, "invalid_request"),
    "method S256 and a space": ({"code_challenge_method": "S256 "}, "invalid_request"),
    "method without challenge": ({"code_challenge": None}, "invalid_request"),
    "challenge empty": ({"code_challenge": ""}, "invalid_request"),
    "challenge of 42": ({"code_challenge": CHALLENGE[:42]}, "invalid_request"),
    "challenge of 44": ({"code_challenge": CHALLENGE + "A"}, "invalid_request"),
    "challenge of 128": ({"code_challenge": "A" * 128}, "invalid_request"),
    "challenge of 129": ({"code_challenge": "A" * 129}, "invalid_request"),
    "challenge padded": ({"code_challenge": CHALLENGE[:42] + "="}, "invalid_request"),
    "challenge in base64": ({"code_challenge": "+/" + CHALLENGE[2:]}, "invalid_request"),
    "challenge with a line": ({"code_challenge": CHALLENGE + "\n"}, "invalid_request"),
    # prompt
    "prompt unknown": ({"prompt": "please"}, "invalid_request"),
    "prompt NONE": ({"prompt": "NONE"}, "invalid_request"),
    "prompt none login": ({"prompt": "none login"}, "invalid_request"),
    "prompt consent none": ({"prompt": "consent none"}, "invalid_request"),
    "prompt none select_account": ({"prompt": "none select_account"}, "invalid_request"),
    # max_age
    "max_age -1": ({"max_age": "-1"}, "invalid_request"),
    "max_age +1": ({"max_age": "+1"}, "invalid_request"),
    "max_age 1.5": ({"max_age": "1.5"}, "invalid_request"),
    "max_age 1e3": ({"max_age": "1e3"}, "invalid_request"),
    "max_age 0x10": ({"max_age": "0x10"}, "invalid_request"),
    "max_age 1_0": ({"max_age": "1_0"}, "invalid_request"),
    "max_age with a space": ({"max_age": " 10"}, "invalid_request"),
    "max_age in other digits": ({"max_age": "\u0661\u0662"}, "invalid_request"),
    "max_age superscript": ({"max_age": "\u00b2"}, "invalid_request"),
    "max_age 2^63": ({"max_age": str(2**63)}, "invalid_request"),
    "max_age of 5000 digits": ({"max_age": "9" * 5000}, "invalid_request"),
    "max_age NaN": ({"max_age": "NaN"}, "invalid_request"),
    # what can't be kept
    "NUL in nonce": ({"nonce": "a\0b"}, "invalid_request"),
    "a nonce of 4097": ({"nonce": "n" * 4097}, "invalid_request"),
    "a state of 4097": ({"state": "s" * 4097}, "invalid_request"),
    "a scope of 4097": ({"scope": "openid " + "s" * 4090}, "invalid_request"),
}
FRAGMENT = {"id_token not registered", "id_token token", "token id_token", "response_type token"}
FRAGMENT |= {"code id_token", "code token", "code id_token token"}


@pytest.mark.promise(
    "client: allowed response types",
    "scope: openid",
    "authorization: response_type code",
    "authorization: response_type id_token",
    "authorization: scope",
    "authorization: code_challenge_method",
    "authorization: error",
    "authorization: redirected errors",
    "authorization: error members",
    "authorization: request objects",
    "authorization: query or fragment",
    "authorization: iss",
    "authorization: issuer of every answer",
    "authorization error: invalid_request",
    "authorization error: invalid_scope",
    "authorization error: unauthorized_client",
    "authorization error: unsupported_response_type",
    "consent: prompt consent",
)
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("who", ["signed in", "a stranger"])
async def test_a_refused_request_goes_back_to_the_client_and_leaves_nothing(
    server, visitor, demo, method, who
):
    if who == "signed in":
        await demo.tokens(visitor, *server.user)
    before = await everything(server.store)
    for name, (changes, error) in REFUSED.items():
        form = demo.authorize_form(**changes)
        url = f"{PATH}?{urlencode(form)}"
        page = await (visitor.get(url) if method == "GET" else visitor.post(PATH, form))

        assert page.status == 303, name
        assert page.location.startswith(demo.redirect_uri), name
        assert page.answer.pop("error_description", "").isascii(), name
        assert page.answer["error"] == error, name
        assert page.answer["state"] == form["state"], name
        assert page.answer["iss"] == server.issuer, name
        assert set(page.answer) <= {"error", "error_description", "state", "iss"}, name
        assert bool(urlsplit(page.location).fragment) == (name in FRAGMENT), name
        assert bool(urlsplit(page.location).query) != (name in FRAGMENT), name
        assert "Set-Cookie" not in page.headers, name
    assert await everything(server.store) == before


@pytest.mark.promise("authorization: error", "authorization: exact state")
async def test_a_refusal_has_no_state_when_none_was_sent(visitor, demo):
    page = await visitor.get(demo.authorize_url(state=None, scope="profile"))

    assert "state" not in page.answer


@pytest.mark.promise("authorization: error members")
async def test_descriptions_have_only_the_characters_that_are_allowed(visitor, demo):
    said = set()
    for changes, _ in REFUSED.values():
        page = await visitor.post(PATH, demo.authorize_form(**changes))
        said |= set(page.answer.get("error_description", ""))

    assert said
    assert not said & set('"\\\r\n\t')


@pytest.mark.promise("authorization: code_challenge")
async def test_a_public_client_must_use_pkce(server, visitor):
    client = await server.register(**NATIVE)
    page = await visitor.get(client.authorize_url(code_challenge=None, code_challenge_method=None))

    assert page.answer["error"] == "invalid_request"
    assert "code_challenge" in page.answer["error_description"]


@pytest.mark.promise("authorization: code_challenge")
async def test_a_client_with_a_secret_may_leave_pkce_out(signed_in, demo):
    url = demo.authorize_url(code_challenge=None, code_challenge_method=None)
    page = await signed_in.get(url)
    redeemed = await demo.redeem(signed_in, page.answer["code"], code_verifier=None)

    assert redeemed.status == 200


@pytest.mark.promise("authorization: query or fragment", "authorization: response_mode")
async def test_a_query_cannot_carry_tokens_and_is_refused_in_the_fragment(server, visitor):
    client = await server.register(
        response_types=["code", "id_token", "id_token token"],
        grant_types=["authorization_code", "implicit"],
    )
    for response_type in ("id_token", "id_token token", "token id_token"):
        url = client.authorize_url(response_type=response_type, response_mode="query")
        page = await visitor.get(url)

        assert page.answer["error"] == "invalid_request"
        assert urlsplit(page.location).query == ""


async def test_a_redirect_uri_with_a_query_keeps_it(server, signed_in):
    uri = f"{server.issuer}/cb?tenant=1&x=a+b"
    client = await server.register(redirect_uris=[uri])
    page = await signed_in.get(client.authorize_url())

    assert page.location.startswith(uri + "&code=")


@pytest.mark.full
@pytest.mark.promise("code: single use")
async def test_codes_are_long_and_never_the_same(server, signed_in, demo):
    codes = {(await demo.silently(signed_in))["code"] for _ in range(20)}
    stored = await everything(server.store)
    secrets = {code[22:] for code in codes}

    assert len(codes) == len(secrets) == 20
    assert {len(code) for code in codes} == {65}
    assert not any(secret in repr(stored) for secret in secrets)


@pytest.mark.promise("code: single use")
async def test_a_code_is_bound_to_everything_that_was_asked(server, signed_in, demo):
    page = await signed_in.get(demo.authorize_url(scope="openid email"))
    found = await everything(server.store)
    authorization = found[AUTHORIZATIONS.name][page.answer["code"][:22]]

    assert authorization.client_id == demo.client_id
    assert authorization.scopes == ["openid", "email"]
    assert authorization.nonce == "nonce-1"
    assert authorization.code.redirect_uri == demo.redirect_uri
    assert authorization.code.code_challenge == CHALLENGE
    assert authorization.session_id in found["sessions"]
    assert (authorization.code.expires_at - server.clock.now()).total_seconds() == 60


async def test_a_posted_request_that_no_other_site_sent_is_answered_at_once(visitor, demo):
    page = await visitor.post("/oauth/v2/authorize", demo.authorize_form(prompt="none"))

    assert page.answer["error"] == "login_required"


@pytest.mark.promise("scope: separated by spaces")
@pytest.mark.parametrize("scope", ["openid,profile,email", "openid, email", "openid%20email"])
async def test_scopes_that_are_not_separated_by_spaces_are_told_so(visitor, demo, scope):
    page = await visitor.get(demo.authorize_url(scope=scope))

    assert page.answer["error"] == "invalid_scope"
    assert page.answer["error_description"].startswith("scopes are separated by spaces")
