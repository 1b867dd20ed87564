"""Who signs in: prompt, max_age, hints and a browser's sessions (OpenID Connect Core 3.1.2.1)."""

from __future__ import annotations

import pytest
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT

from idp.oauth.endpoints import refusal_records
from tests.support.attacks import forged
from tests.support.attacks.forged import part
from tests.support.browsers.visitor import Visitor
from tests.support.service import shared_key
from tests.support.store.both_stores import on_both_stores, store_as_marked  # noqa: F401
from tests.support.store.stored import everything

DAY = 86400


@pytest.fixture
def tokens(io_loop, server, visitor, demo):
    """The demo user signed in, a minute ago."""
    found = io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))
    server.clock.advance(60)
    return found


@pytest.fixture
def other(io_loop, server):
    """Another user, not signed in anywhere."""
    return io_loop.run_sync(lambda: server.copy_user("otto"))


async def id_token(visitor, client, page) -> dict:
    redeemed = await client.redeem(visitor, page.answer["code"])
    return part(redeemed.json()["id_token"], 1)


# prompt


@pytest.mark.promise(
    "authorization: prompt none", "authorization error: login_required", "session: prompt none"
)
async def test_without_a_session_prompt_none_is_login_required(server, visitor, demo):
    before = await everything(server.store)
    answer = await demo.silently(visitor)

    assert answer["error"] == "login_required"
    assert answer["iss"] == server.issuer
    assert await everything(server.store) == before


@pytest.mark.promise(
    "authorization: prompt none", "session: prompt none", "session: max_age", "session: auth_time"
)
async def test_with_a_session_prompt_none_keeps_sub_and_auth_time(visitor, demo, tokens):
    first = part(tokens["id_token"], 1)
    page = await visitor.get(demo.authorize_url(prompt="none"))
    again = await id_token(visitor, demo, page)

    assert (again["sub"], again["auth_time"]) == (first["sub"], first["auth_time"])
    assert again["iat"] > first["iat"]


@pytest.mark.promise("authorization error: interaction_required", "session: prompt none")
async def test_with_several_sessions_prompt_none_needs_interaction(visitor, demo, tokens, other):
    await demo.sign_in(visitor, *other, prompt="select_account")

    assert (await demo.silently(visitor))["error"] == "interaction_required"


@pytest.mark.full
async def test_with_several_sessions_a_hint_decides(server, visitor, demo, tokens, other):
    await demo.sign_in(visitor, *other, prompt="select_account")
    by_token = await demo.silently(visitor, id_token_hint=tokens["id_token"])
    page = await visitor.get(demo.authorize_url(prompt="none", login_hint="Otto"))
    by_name = await id_token(visitor, demo, page)

    assert "code" in by_token
    assert by_name["sub"] != part(tokens["id_token"], 1)["sub"]


@pytest.mark.promise("authorization: prompt absent")
async def test_one_session_is_used_without_asking(visitor, demo, tokens):
    assert "code" in (await visitor.get(demo.authorize_url())).answer


@pytest.mark.promise("authorization: prompt absent", "authorization: prompt select_account")
async def test_several_sessions_are_offered_for_choice(visitor, demo, tokens, other):
    await demo.sign_in(visitor, *other, prompt="select_account")

    assert (await visitor.open(demo.authorize_url())).name == "accounts"


@pytest.mark.promise("authorization: prompt login", "session: prompt login", "session: auth_time")
async def test_prompt_login_asks_for_the_password_and_moves_auth_time(
    server, visitor, demo, tokens
):
    page = await visitor.open(demo.authorize_url(prompt="login"))
    silent = await demo.silently(visitor)
    server.clock.advance(5)
    page = await visitor.submit(page, password=server.user[1])
    again = await id_token(visitor, demo, page)

    assert "code" in silent
    assert again["auth_time"] == part(tokens["id_token"], 1)["auth_time"] + 65


@pytest.mark.promise("authorization: prompt login", "session: prompt login")
async def test_prompt_login_is_not_answered_by_opening_the_flow_again(visitor, demo, tokens):
    page = await visitor.open(demo.authorize_url(prompt="login"))
    flow = page.url.replace("/ui/login/password", "/ui/login")

    assert page.name == "password"
    assert (await visitor.open(flow)).name == "password"


@pytest.mark.promise("session: prompt login")
async def test_cancelling_prompt_login_is_access_denied(visitor, demo, tokens):
    page = await visitor.open(demo.authorize_url(prompt="login"))
    page = await visitor.send(page, decision="cancel")

    assert page.answer["error"] == "access_denied"
    assert page.answer["state"] == "state-1"


@pytest.mark.promise("authorization: prompt select_account")
@pytest.mark.parametrize(
    "prompt", ["select_account", "select_account login", "login select_account"]
)
async def test_select_account_offers_the_sessions(visitor, demo, tokens, prompt):
    page = await visitor.open(demo.authorize_url(prompt=prompt))
    session = next(value for name, value in page.buttons if value != "other")
    chosen = await visitor.submit(page, account=session)

    assert page.name == "accounts"
    if "login" in prompt:
        assert chosen.name == "password"
    else:
        assert "code" in chosen.answer


@pytest.mark.promise("authorization: prompt select_account")
async def test_select_account_without_a_session_asks_for_the_login_name(visitor, demo):
    assert (await visitor.open(demo.authorize_url(prompt="select_account"))).name == "login-name"


@pytest.mark.promise("consent: prompt consent")
@pytest.mark.parametrize("prompt", ["consent", "consent consent", "", " "])
async def test_a_prompt_that_asks_nothing_more_goes_through(visitor, demo, tokens, prompt):
    assert "code" in (await visitor.get(demo.authorize_url(prompt=prompt))).answer


@pytest.mark.promise("consent: prompt consent")
async def test_consent_and_login_ask_for_the_password(visitor, demo, tokens):
    assert (await visitor.open(demo.authorize_url(prompt="consent login"))).name == "password"


# max_age

# seconds since the password, max_age, whether the session is young enough
AGES = [
    (60, "60", True),
    (61, "60", False),
    (60, "0", False),
    (1, "0", False),
    (0.001, "0", False),
    (60, "00", False),
    (60, "059", False),
    (60, "9999999999", True),
    (11 * 3600, str(12 * 3600), True),
    (11 * 3600, "3600", False),
]


@pytest.mark.promise("authorization: max_age", "session: max_age")
@pytest.mark.parametrize(("age", "max_age", "is_young"), AGES)
async def test_max_age_decides_whether_the_session_counts(
    server, visitor, demo, age, max_age, is_young
):
    await demo.tokens(visitor, *server.user)
    server.clock.advance(age)
    silent = await demo.silently(visitor, max_age=max_age)
    shown = await visitor.open(demo.authorize_url(max_age=max_age))

    assert ("code" in silent) == is_young
    assert is_young or silent["error"] == "login_required"
    assert ("code" in shown.answer) == is_young
    assert is_young or shown.name == "password"


@pytest.mark.promise("authorization: max_age", "session: max_age")
async def test_after_max_age_the_new_password_check_is_the_auth_time(
    server, visitor, demo, tokens
):
    page = await visitor.open(demo.authorize_url(max_age="10"))
    page = await visitor.submit(page, password=server.user[1])
    claims = await id_token(visitor, demo, page)

    assert claims["auth_time"] == int(server.clock.now().timestamp())


@pytest.mark.full
async def test_the_password_is_asked_for_again_after_ten_days(server, visitor, demo, tokens):
    for _ in range(24):  # used every 10 hours, so that it does not idle out
        server.clock.advance(10 * 3600)
        last = await demo.silently(visitor)

    assert last["error"] == "login_required"
    assert (await visitor.open(demo.authorize_url())).name == "password"


async def test_a_session_that_was_not_used_for_twelve_hours_signs_nobody_in(
    server, visitor, demo, tokens
):
    server.clock.advance(12 * 3600 - 61)
    used = await demo.silently(visitor)
    server.clock.advance(12 * 3600)

    assert "code" in used
    assert (await demo.silently(visitor))["error"] == "login_required"
    assert (await visitor.open(demo.authorize_url())).name == "login-name"


# hints


@pytest.mark.promise(
    "authorization: id_token_hint",
    "authorization: unusable id_token_hint",
    "session: id_token_hint",
)
async def test_a_hint_of_this_user_answers_silently_even_when_it_has_expired(
    server, visitor, demo, tokens
):
    for _ in range(3):
        server.clock.advance(11 * 3600)
        answer = await demo.silently(visitor, id_token_hint=tokens["id_token"])

    assert part(tokens["id_token"], 1)["exp"] < server.clock.now().timestamp()
    assert "code" in answer


@pytest.mark.promise("authorization: id_token_hint", "session: id_token_hint")
async def test_a_hint_of_another_user_is_login_required(new_visitor, server, demo, tokens, other):
    elsewhere = new_visitor()
    await demo.tokens(elsewhere, *other)

    answer = await demo.silently(elsewhere, id_token_hint=tokens["id_token"])

    assert answer["error"] == "login_required"


@pytest.mark.promise("session: id_token_hint")
async def test_another_user_than_the_hinted_one_is_never_answered_for(
    server, visitor, demo, tokens, other, new_visitor
):
    page = await new_visitor().sign_in(
        demo.authorize_url(id_token_hint=tokens["id_token"]), *other
    )

    assert page.answer["error"] == "login_required"
    assert "code" not in page.answer


@pytest.mark.promise("authorization: id_token_hint")
async def test_a_hint_fills_in_the_login_name(demo, tokens, new_visitor, server):
    page = await new_visitor().open(demo.authorize_url(id_token_hint=tokens["id_token"]))

    assert page.name == "login-name"
    assert page.inputs["loginName"] == server.user[0]


@pytest.mark.full
@pytest.mark.promise("authorization: id_token_hint", "authorization: unusable id_token_hint")
@on_both_stores
async def test_hints_that_this_service_did_not_make_are_ignored(server, visitor, demo, tokens):
    elsewhere = await server.register(access_token_type="jwt")
    foreign = await elsewhere.silently(visitor)
    foreign_tokens = (await elsewhere.redeem(visitor, foreign["code"])).json()
    published = (await visitor.get("/oauth/v2/keys")).json()["keys"][0]
    public = JWK(**published).export_to_pem()
    own = JWK.from_pyca(shared_key(3))
    claims = part(tokens["id_token"], 1)
    header = {"alg": "RS256", "typ": "JWT", "kid": published["kid"]}
    other_key = JWT(header=header, claims=claims)
    other_key.make_signed_token(own)
    hints = forged.hostile_jwts(tokens["id_token"], public) | {
        "an access token": foreign_tokens["access_token"],
        "a refresh token": foreign_tokens["refresh_token"],
        "an opaque access token": tokens["access_token"],
        "signed by another key": other_key.serialize(),
        "text": "hint",
        "dots": "..",
        "NUL": "\0",
        "not ASCII": "\u00e9.\u00e9.\u00e9",
    }
    hints.pop("1 MB cut to what a header may hold")
    for name, hint in hints.items():
        for prompt in ("none", None):
            form = demo.authorize_form(prompt=prompt, id_token_hint=hint)
            page = await visitor.get("/oauth/v2/authorize", params=form)
            assert "code" in page.answer, name


@pytest.mark.promise("security: hint")
@on_both_stores
async def test_an_ignored_hint_can_be_explained(server, visitor, demo):
    page = await visitor.get(demo.authorize_url(id_token_hint="an-old-hint"))
    (kept,) = await refusal_records.find(server.service, page.headers["X-Request-Id"])
    plain = Visitor(server.issuer)
    again = await plain.get(demo.authorize_url(id_token_hint="an-old-hint", prompt="none"))
    await plain.close()
    found = await refusal_records.find(server.service, again.headers["X-Request-Id"])

    assert "/ui/login?flow=" in page.location
    assert kept.error == "hint.ignored"
    assert kept.told == ""
    assert kept.sentence == "That is no JWT at all, not an ID token. It was ignored."
    assert [(each.name, each.passed) for each in kept.checks] == [("id_token_hint", False)]
    assert again.answer["error"] == "login_required"
    assert {each.error for each in found} == {"hint.ignored", "login_required"}


@pytest.mark.parametrize("hint", ["demo", "DEMO", " demo ", "demo@localhost", "dana@example.com"])
async def test_a_login_hint_of_the_signed_in_user_goes_through(visitor, demo, tokens, hint):
    assert "code" in await demo.silently(visitor, login_hint=hint)
    assert "code" in (await visitor.get(demo.authorize_url(login_hint=hint))).answer


@pytest.mark.promise(
    "authorization: login_hint",
    "authorization: optional parameters",
    "session: login_hint and ui_locales",
)
@pytest.mark.parametrize("hint", ["nobody", '"><svg/onload=alert(1)>', "x" * 4096, "\U0001f600"])
async def test_an_unknown_login_hint_still_leads_to_a_page(visitor, demo, tokens, hint):
    page = await visitor.open(demo.authorize_url(login_hint=hint, prompt="login"))
    page = await visitor.submit(page, account="other") if page.name == "accounts" else page

    assert page.name == "login-name"
    assert page.inputs["loginName"] == hint
    assert "<svg/" not in page.text
    assert (await demo.silently(visitor, login_hint=hint))["error"] == "login_required"


async def test_another_browser_gains_nothing_from_a_flow_s_address(visitor, demo, new_visitor):
    page = await visitor.open(demo.authorize_url())
    stranger = await new_visitor().get(page.url)

    assert (stranger.status, stranger.name) == (410, "expired")


@pytest.mark.promise("authorization: unusable id_token_hint")
async def test_a_hint_may_have_been_issued_to_another_client(server, visitor, demo, tokens):
    elsewhere = await server.register()
    answer = await elsewhere.silently(visitor, id_token_hint=tokens["id_token"])

    assert "code" in answer
