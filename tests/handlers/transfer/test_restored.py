"""What people and programs hold after a restore: it works as before, or none of it does."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.support.browsers.visitor import Visitor
from tests.support.clock import SteppingClock
from tests.support.management.callers import instance_owner, new_caller
from tests.support.protocol.device import GRANTS, Device
from tests.support.service import (
    Server,
    make_hashes_cheap,
    share_keys,
    start_server,
    stop_server,
)
from tests.support.sign_in import passkeys
from tests.support.sign_in.factors import code, give_app, give_codes
from tests.support.sign_in.resetting import at_reset_code, give_address, newest
from tests.support.store.audit import events_agree
from tests.support.store.backups import backed_up, make_backups_cheap, master_key_of, restored


class House:
    """A service that is moved to another store, and keeps its address."""

    def __init__(self, directory) -> None:
        self._urls = (f"sqlite:///{directory}/{n}.sqlite3" for n in itertools.count())
        self._clock = SteppingClock()
        self.server: Server
        self._http = None

    async def start(self, url=None, **at) -> None:
        listening = socket.create_server(("127.0.0.1", at.get("port", 0)))
        self.server, self._http = await start_server(
            self._clock, listening, store=url or next(self._urls), seed=7
        )

    async def stop(self) -> None:
        await stop_server(self.server, self._http)

    async def backed_up(self) -> bytes:
        return await backed_up(self.server.store, master_key_of(self.server.service), self._clock)

    async def restored(self, backup: bytes, **how) -> None:
        """The service goes on from the backup, at the same address."""
        port = urlsplit(self.server.issuer).port
        await self.stop()
        url = next(self._urls)
        key = await restored(url, backup, self._clock, **how)
        await self.start(url, port=port)
        assert master_key_of(self.server.service) == key
        self.server.service.random._random.seed(url)  # or it would make the same ids again


@pytest.fixture
def house(io_loop, monkeypatch, tmp_path) -> Iterator[House]:
    share_keys(monkeypatch)
    make_hashes_cheap(monkeypatch)
    make_backups_cheap(monkeypatch)
    house = House(tmp_path)
    io_loop.run_sync(house.start)
    yield house
    io_loop.run_sync(house.stop)


@pytest.fixture
def open_browser(io_loop, house):
    opened = []

    def open_one() -> Visitor:
        opened.append(Visitor(house.server.issuer))
        return opened[-1]

    yield open_one
    for each in opened:
        io_loop.run_sync(each.close)


@pytest.mark.full
@pytest.mark.parametrize("invalidates", [False, True])
async def test_sessions_and_tokens_stay_valid_or_end(house, open_browser, invalidates):
    browser, server = open_browser(), house.server
    party = await server.register()
    tokens = await party.tokens(browser, *server.user, scope="openid offline_access")
    owner = await instance_owner(server, browser)
    waiting = (await browser.get(party.authorize_url())).answer["code"]
    backup = await house.backed_up()

    await house.restored(backup, invalidates=invalidates)

    alive = 401 if invalidates else 200
    granted = 400 if invalidates else 200
    assert (await party.userinfo(browser, tokens["access_token"])).status == alive
    assert (await owner.get("/admin/v1/keys")).status == alive
    assert (await party.redeem(browser, waiting)).status == granted
    assert (await party.refresh(browser, tokens["refresh_token"])).status == granted
    silent = await party.silently(browser)
    assert silent.get("error") == ("login_required" if invalidates else None)
    await events_agree(house.server.store)


@pytest.mark.parametrize("invalidates", [False, True])
async def test_who_has_a_password_an_app_a_passkey_or_codes_gets_in(
    house, open_browser, invalidates
):
    browser, server = open_browser(), house.server
    party = await server.register()
    await party.tokens(browser, *server.user)
    device, page = await passkeys.enrol(browser, server)
    assert page.name == "account/passkeys", page.text
    other = await server.copy_user("other")
    await give_app(server, "other")
    codes = await give_codes(server, "other")
    backup = await house.backed_up()

    await house.restored(backup, invalidates=invalidates)

    assert "code" in (await passkeys.sign_in(open_browser(), party, device)).answer
    page = await open_browser().sign_in(party.authorize_url(), *other)
    assert page.name == "totp", page.text
    stranger = open_browser()
    page = await stranger.sign_in(party.authorize_url(), *other)
    page = await stranger.submit(page, code=code(house.server.clock))
    assert "code" in page.answer
    assert len(codes) == len(set(codes)) > 0


@pytest.mark.full
async def test_what_was_used_before_the_backup_stays_used(house, open_browser):
    browser, server = open_browser(), house.server
    party = await server.register()
    page = await browser.sign_in(party.authorize_url(), *server.user)
    spent = page.answer["code"]
    await party.redeem(browser, spent)
    await give_app(server)
    shown = code(server.clock)
    stranger = open_browser()
    page = await stranger.sign_in(party.authorize_url(prompt="login"), *server.user)
    assert "code" in (await stranger.submit(page, code=shown)).answer
    backup = await house.backed_up()

    await house.restored(backup)

    assert (await party.redeem(browser, spent)).json()["error"] == "invalid_grant"
    other = open_browser()
    page = await other.sign_in(party.authorize_url(), *server.user)
    page = await other.submit(page, code=shown)
    assert (page.status, page.name) == (400, "totp")


@pytest.mark.full
async def test_what_was_ended_after_the_backup_does_not_revive_where_all_is_invalidated(
    house, open_browser
):
    browser, server = open_browser(), house.server
    party = await server.register(post_logout_redirect_uris=[])
    tokens = await party.tokens(browser, *server.user, scope="openid offline_access")
    script = await new_caller(server, browser, await _first_org(server), "ORG_OWNER")
    backup = await house.backed_up()
    form = {"token": tokens["refresh_token"]}
    assert (await browser.post("/oauth/v2/revoke", form, headers=party.basic())).status == 200
    assert (await party.refresh(browser, tokens["refresh_token"])).status == 400

    await house.restored(backup, invalidates=True)

    assert (await party.refresh(browser, tokens["refresh_token"])).status == 400
    assert (await party.userinfo(browser, tokens["access_token"])).status == 401
    assert (await script.get("/management/v1/orgs/me")).status == 401


async def _first_org(server):
    from idp.records import ORGANIZATIONS

    return (await server.store.find(ORGANIZATIONS)).records[0]


@pytest.mark.full
@pytest.mark.parametrize("invalidates", [False, True])
async def test_codes_that_were_on_their_way_count_or_are_gone(house, open_browser, invalidates):
    browser, server = open_browser(), house.server
    await give_address(server)
    party = await server.register("Television", auth_method="none", grant_types=GRANTS)
    page = await at_reset_code(browser, party)
    sent = (await newest(browser))["code"]
    device = Device(party, open_browser())
    await device.begin()
    backup = await house.backed_up()

    await house.restored(backup, invalidates=invalidates)

    page = await browser.submit(page, code=sent)
    assert (page.name == "change-password") is not invalidates, page.text
    polled = (await device.poll()).json()["error"]
    assert polled == ("invalid_grant" if invalidates else "authorization_pending")
