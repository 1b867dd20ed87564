"""What an authorization request sends comes back unchanged: `state`, `nonce` in ID tokens."""

from __future__ import annotations

from urllib.parse import quote, unquote, urlsplit

import pytest

from tests.support.attacks.forged import part
from tests.support.browsers.wire import FORM

PATH = "/oauth/v2/authorize"


@pytest.mark.promise("authorization: nonce", "authorization: optional nonce")
async def test_a_nonce_comes_back_unchanged_in_the_id_token(signed_in, demo):
    for nonce in ("n", "n" * 4096, "a b+c%41&=\u00e9\U0001f511", '"><svg/onload=1>'):
        page = await signed_in.post(PATH, demo.authorize_form(nonce=nonce))
        page = await signed_in.follow(page)
        tokens = (await demo.redeem(signed_in, page.answer["code"])).json()

        assert part(tokens["id_token"], 1)["nonce"] == nonce


@pytest.mark.promise("authorization: nonce", "authorization: optional nonce")
async def test_a_request_without_a_nonce_gives_an_id_token_without_one(signed_in, demo):
    page = await signed_in.get(demo.authorize_url(nonce=None))
    tokens = (await demo.redeem(signed_in, page.answer["code"])).json()

    assert "nonce" not in part(tokens["id_token"], 1)


STATES = [
    "s",
    "\U0001f600\U0001f469\u200d\U0001f4bb",
    "a+b",
    "a b",
    "a%20b",
    "100%",
    "a%00b",
    "nul\0nul",
    "line\r\nX-Injected: 1",
    "tab\ttab",
    "a&code=evil&error=x",
    "a#fragment",
    '"><svg/onload=alert(1)>',
    "{{7*7}}${7*7}",
    "javascript:alert(1)",
    "\u2028\u2029\u202e",
    "e\u0301 and \u00e9",
    " leading and trailing ",
    "".join(map(chr, range(0x21, 0x7F))),
    "s" * 4096,
    "\u00e9" * 1024,
]


@pytest.mark.full
@pytest.mark.promise("authorization: state", "authorization: exact state", "authorization: iss")
@pytest.mark.parametrize("outcome", ["code", "error", "cancelled"])
async def test_state_comes_back_exactly_as_it_was_sent(server, visitor, demo, outcome):
    if outcome == "code":
        await demo.tokens(visitor, *server.user)
    scope = "profile" if outcome == "error" else "openid"
    for state in STATES:
        query = "&".join(
            f"{name}={quote(value, safe='')}"
            for name, value in demo.authorize_form(state=state, scope=scope).items()
        )
        page = await visitor.post(PATH, content=query, headers={"Content-Type": FORM})
        page = await visitor.follow(page)
        if outcome == "cancelled":
            page = await visitor.send(page, decision="cancel")
        returned = [
            unquote(value)
            for name, _, value in (
                pair.partition("=") for pair in urlsplit(page.location).query.split("&")
            )
            if name == "state"
        ]

        assert returned == [state]
        assert "+" not in urlsplit(page.location).query
        assert "X-Injected" not in page.headers
        assert page.answer["iss"] == server.issuer


@pytest.mark.promise("authorization: state")
async def test_an_empty_state_counts_as_none(signed_in, demo):
    assert "state" not in (await signed_in.get(demo.authorize_url(state=""))).answer
