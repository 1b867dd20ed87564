"""An installation that an earlier release made is opened, upgraded, and goes on: nobody is signed
out, no application stops working, and what waited for a person or an application is finished."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import datetime

import pytest

from idp.start import resealing
from tests.support.browsers.visitor import Page
from tests.support.management.callers import Caller
from tests.support.management.connecting import Connecting
from tests.support.protocol.device import Device
from tests.support.protocol.relying_party import RelyingParty
from tests.support.servers.mongod import fresh_database
from tests.support.sign_in import factors
from tests.support.sign_in.federating import Federation, link_of
from tests.support.sign_in.hostile_provider import HostileProvider
from tests.support.store.master_keys import NEW, begun, restart, waiting
from tests.upgrades import dumps
from tests.upgrades.golden import PASSWORD, STORES
from tests.upgrades.installation import ISSUER, Installation, installation

RELEASES = sorted(path.name for path in STORES.iterdir())


class Kept:
    """An installation of a release, opened by the present program, and what was kept of it."""

    def __init__(self, made: Installation, known: dict) -> None:
        self.made = made
        self.known = known
        self.waiting = known["waiting"]
        self.tokens = known["tokens"]

    def party(self, name: str) -> RelyingParty:
        return RelyingParty(ISSUER, *self.known[name])

    async def waiting_page(self, name: str, **fields) -> Page:
        """Send the form of a page that a browser had open."""
        page = self.waiting[name]
        browser = self.made.browser(page["cookies"])
        return await browser.submit(
            Page(page["url"], 200, {}, "", hidden=page["hidden"]), **fields
        )

    async def api(self, method: str, path: str, token: str, body=None, **headers) -> Page:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.made.browser().request(
            method, path, json=body, headers=sent | {"Authorization": f"Bearer {token}"}
        )


@pytest.fixture(
    params=[f"{release}-{store}" for release in RELEASES for store in ("sqlite", "mongodb")]
)
def kept(request, io_loop, tmp_path):
    release, _, store = request.param.rpartition("-")
    folder = STORES / release
    known = json.loads((folder / f"known-{store}.json").read_text(encoding="utf-8"))
    if store == "sqlite":
        dumps.bring_sqlite(folder / "sqlite.gz", tmp_path / "idp.sqlite3")
        yield from _opened(io_loop, f"sqlite:///{tmp_path}/idp.sqlite3", known)
    else:
        with fresh_database(request.getfixturevalue("mongod")) as url:
            dumps.bring_mongodb(folder / "mongodb.gz", url)
            yield from _opened(io_loop, url, known)


def _opened(io_loop, url: str, known: dict):
    at, key = datetime.fromisoformat(known["at"]), base64.b64decode(known["key"])
    opening = installation(url, key, at)
    made = io_loop.run_sync(opening.__aenter__)
    yield Kept(made, known)
    io_loop.run_sync(lambda: opening.__aexit__(None, None, None))


@pytest.mark.parametrize("name", ["web", "native", "jwt"])
async def test_tokens_go_on_and_are_refreshed(kept, name):
    party, browser, tokens = kept.party(name), kept.made.browser(), kept.tokens[name]

    before = await party.userinfo(browser, tokens["access_token"])
    refreshed = await party.refresh(browser, tokens["refresh_token"])
    after = await party.userinfo(browser, refreshed.json()["access_token"])

    assert [before.status, refreshed.status, after.status] == [200, 200, 200]
    assert before.json()["sub"] == after.json()["sub"] == kept.known["max"]
    assert before.json()["email_verified"] is True


@pytest.mark.parametrize("name", ["web", "native", "jwt"])
async def test_nobody_is_signed_out(kept, name):
    browser = kept.made.browser(kept.known[f"{name}_browser"])

    answer = await kept.party("web").silently(browser)

    assert "code" in answer, answer


@pytest.mark.parametrize("name", ["anna", "max", "nora"])
async def test_people_sign_in_with_their_passwords(kept, name):
    browser, party = kept.made.browser(), kept.party("web")

    by_name = await party.tokens(browser, name, PASSWORD)
    by_address = await party.tokens(kept.made.browser(), f"{name}@acme.example", PASSWORD)

    assert (await party.userinfo(browser, by_name["access_token"])).status == 200
    assert by_address["refresh_token"]


async def test_people_of_before_link_their_accounts_with_another_provider(kept):
    """Their records are older than connections."""
    server, party = kept.made.server, kept.party("web")
    provider, browser = HostileProvider(server.clock), kept.made.browser()
    caller = Caller(browser, kept.known["owner_token"])
    connecting = Connecting(caller, kept.known["org"])
    federation = Federation(server, connecting, party, browser, provider)
    try:
        await federation.make()
        visitor = kept.made.browser()
        page = await federation.sign_in(visitor)
        assert page.name == "idp-account", page.text
        page = await visitor.open(link_of(page, "/ui/login/name"))
        page = await visitor.submit(page, loginName="nora")
        page = await visitor.submit(page, password=PASSWORD)
        page = await visitor.submit(page, choice="link")
        again = await federation.sign_in(kept.made.browser())
    finally:
        await provider.close()

    assert "code" in page.answer, page.text
    tokens = (await party.redeem(browser, again.answer["code"])).json()
    claims = (await party.userinfo(browser, tokens["access_token"])).json()
    assert claims["sub"] == kept.known["nora"]


async def test_an_authenticator_app_is_asked_for_and_counts(kept):
    browser, clock = kept.made.browser(), kept.made.server.clock
    page = await browser.sign_in(kept.party("web").authorize_url(), "otto", PASSWORD)

    answer = await browser.submit(page, code=factors.code(clock))

    assert page.name == "totp"
    assert "code" in answer.answer


async def test_sign_ins_that_were_begun_are_finished(kept):
    code = factors.code(kept.made.server.clock)
    after_name = await kept.waiting_page("login_name", loginName="max")
    after_password = await kept.waiting_page("password", password=PASSWORD)
    after_totp = await kept.waiting_page("totp", code=code)

    assert (after_name.name, after_name.status) == ("password", 200)
    for page in (after_password, after_totp):
        redeemed = await kept.party("web").redeem(kept.made.browser(), page.answer["code"])
        assert redeemed.status == 200, redeemed.text


async def test_a_code_that_was_issued_is_redeemed_once(kept):
    party, browser, code = kept.party("web"), kept.made.browser(), kept.waiting["code"]

    statuses = [(await party.redeem(browser, code)).status for _ in range(2)]

    assert statuses == [200, 400]


async def test_a_pushed_request_is_used(kept):
    browser, party = kept.made.browser(), kept.party("web")
    query = f"client_id={party.client_id}&request_uri={kept.waiting['pushed']}"

    page = await browser.sign_in(f"{ISSUER}/oauth/v2/authorize?{query}", "max", PASSWORD)

    assert "code" in page.answer


async def test_a_logout_that_was_asked_about_is_confirmed(kept):
    page = await kept.waiting_page("logout", decision="logout")
    browser = kept.made.browser(kept.waiting["logout"]["cookies"])

    assert page.name == "logged-out"
    assert (await kept.party("web").silently(browser))["error"] == "login_required"


async def test_devices_get_their_tokens(kept):
    party, browser = kept.party("web"), kept.made.browser()
    allowed = Device(party, browser, kept.waiting["device_allowed"])
    pending = Device(party, browser, kept.waiting["device"])

    assert (await allowed.poll()).status == 200
    assert (await pending.poll()).json()["error"] == "authorization_pending"


async def test_a_registration_and_a_reset_that_wait_for_a_code_are_finished(kept):
    codes = {mail["to"]: mail["code"] for mail in kept.waiting["mail"] if mail.get("code")}

    registered = await kept.waiting_page("registration", code=codes["new@example.org"])
    reset = await kept.waiting_page("reset", code=codes["anna@acme.example"])

    assert "code" in registered.answer, registered.text
    assert reset.name == "change-password"


async def test_who_acts_for_somebody_goes_on(kept):
    party, browser, tokens = kept.party("web"), kept.made.browser(), kept.tokens["acting"]

    userinfo = await party.userinfo(browser, tokens["access_token"])
    refreshed = await party.refresh(browser, tokens["refresh_token"])

    assert [userinfo.status, refreshed.status] == [200, 200]
    assert userinfo.json()["sub"] == kept.known["otto"]


async def test_service_users_and_the_api_application_go_on(kept):
    browser = kept.made.browser()
    script = RelyingParty(ISSUER, *kept.known["script"], "")
    form = {"grant_type": "client_credentials", "scope": "openid"}
    by_secret = await script.token(browser, form)
    by_pat = await kept.api("GET", "/oidc/v1/userinfo", kept.known["pat"])
    introspected = await browser.post(
        "/oauth/v2/introspect",
        {"token": kept.tokens["web"]["access_token"]},
        headers=kept.party("api").basic(),
    )

    assert [by_secret.status, by_pat.status] == [200, 200]
    assert introspected.json()["active"] is True


async def test_a_call_that_is_repeated_with_its_key_gets_the_same_answer(kept):
    path, body, key, answer = kept.known["repeated_call"]
    headers = {"x_idp_orgid": kept.known["org"], "Idempotency_Key": key}

    repeated = await kept.api("POST", path, kept.known["owner_token"], body, **headers)

    assert (repeated.status, repeated.json()) == (200, answer)


async def test_people_of_before_are_found_by_family_name(kept):
    query = {"lastName": "muster", "method": "TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE"}
    found = await kept.api(
        "POST", "/v2/users", kept.known["owner_token"], {"queries": [{"lastNameQuery": query}]}
    )

    assert {user["userId"] for user in found.json()["result"]} == {
        kept.known[name] for name in ("max", "nora", "otto")
    }


async def test_stored_policies_are_left_alone(kept):
    token, org = kept.known["owner_token"], {"x_idp_orgid": kept.known["org"]}
    path = "/management/v1/policies/password/complexity"
    complexity = (await kept.api("GET", path, token, **org)).json()["policy"]
    lockout = (await kept.api("GET", "/admin/v1/policies/lockout", token)).json()["policy"]

    assert int(complexity["minLength"]) == 10
    assert int(lockout["maxPasswordAttempts"]) == 7


async def test_the_master_key_is_replaced(kept, tmp_path):
    server, party, browser = kept.made.server, kept.party("web"), kept.made.browser()
    await begun(server.service, tmp_path / "keys")
    tokens = kept.tokens["web"]
    refreshed = await party.refresh(browser, tokens["refresh_token"])
    server.clock.advance(waiting(server.service))
    while await resealing.has_work(server.service):
        await resealing.reseal(server.service)
    await restart(server.service, tmp_path / "alone", NEW)

    assert (await resealing.status(server.service)).counts == {}
    assert refreshed.status == 200
    again = await party.refresh(browser, refreshed.json()["refresh_token"])
    assert again.status == 200, again.text
    page = await browser.sign_in(party.authorize_url(), "otto", PASSWORD)
    page = await browser.submit(page, code=factors.code(server.clock))
    assert "code" in page.answer


async def test_an_installation_is_opened_by_two_processes_at_once(kept):
    config = kept.made.server.service.config
    at, key = kept.made.server.clock.now(), base64.b64decode(kept.known["key"])

    async def serve() -> int:
        async with installation(config.store, key, at) as made:
            party = RelyingParty(ISSUER, *kept.known["web"])
            return (
                await party.userinfo(made.browser(), kept.tokens["web"]["access_token"])
            ).status

    assert await asyncio.gather(serve(), serve()) == [200, 200]
