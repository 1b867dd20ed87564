"""Credentials that were used or revoked, and must never be valid again after a restart or a
failover."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.browsers.visitor import Visitor
from tests.support.protocol.answers import assert_refused
from tests.support.protocol.asserting import register_key
from tests.support.protocol.relying_party import RelyingParty


@dataclass
class Spent:
    """A code that was redeemed, a family that a replay ended, a token that was revoked, and an
    assertion that proved its client; and a family that still lives."""

    party: RelyingParty
    code: str
    invalid: list[dict]
    revoked: dict
    living: dict
    assertion: dict

    @classmethod
    async def make(cls, place, browser: Visitor, user: tuple[str, str]) -> Spent:
        party = await place.register()
        url = party.authorize_url(prompt="login")
        code = (await browser.sign_in(url, *user)).answer["code"]
        living = (await party.redeem(browser, code)).json()
        old, revoked = [await party.tokens(browser, *user, prompt="login") for _ in range(2)]
        new = (await party.refresh(browser, old["refresh_token"])).json()
        assert_refused(await party.refresh(browser, old["refresh_token"]), 400, "invalid_grant")
        token = {"token": revoked["refresh_token"]}
        page = await browser.post("/oauth/v2/revoke", token, headers=party.basic())
        assert page.status == 200
        assertion = await _used(place, browser)
        return cls(party, code, [old, new], revoked, living, assertion)

    async def check(self, browser: Visitor) -> None:
        """Assert that nothing of it is valid, and that the other tokens are."""
        for tokens in [*self.invalid, self.revoked]:
            page = await self.party.refresh(browser, tokens["refresh_token"])
            assert_refused(page, 400, "invalid_grant")
            assert (await self.party.userinfo(browser, tokens["access_token"])).status == 401
        page = await browser.post("/oauth/v2/token", self.assertion)
        assert_refused(page, 400, "invalid_client")
        refreshed = await self.party.refresh(browser, self.living["refresh_token"])
        assert refreshed.status == 200, refreshed.text
        assert_refused(await self.party.redeem(browser, self.code), 400, "invalid_grant")


async def _used(place, browser: Visitor) -> dict:
    """A request with an assertion that has proven its client once."""
    keyed = await place.register(auth_method="private_key_jwt")
    key = await register_key(place, keyed.client_id, place.service.random.id())
    form = key.client_form() | {"grant_type": "refresh_token", "refresh_token": "x"}
    assert_refused(await browser.post("/oauth/v2/token", form), 400, "invalid_grant")
    return form
