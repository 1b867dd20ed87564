"""The demo lives where only this machine reaches the issuer: it dies with a public one."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from idp.records import APPLICATIONS, EVENTS, INSTANCE_ID, INSTANCES, USERS
from storage import Update
from tests.program.first_starts.starts import again, make_ready
from tests.support.browsers.visitor import Visitor
from tests.support.programs.program import run
from tests.support.store.audit import events_agree
from tests.support.store.stored import count, everything

PUBLIC = "http://login.example.com"
NEW = "seven green kettles hum"


async def demo_records(server):
    demo = (await server.store.get(INSTANCES, INSTANCE_ID)).demo
    return await server.store.get_many([(APPLICATIONS, demo.client_id), (USERS, demo.user_id)])


async def types_of(server, record) -> list[str]:
    events = [event async for event in server.store.scan(EVENTS, {"record_id": record.id})]
    return [event.type for event in sorted(events, key=lambda event: event.sequence)]


async def test_all_that_the_demo_had_is_invalid_at_once(server, demo, new_visitor):
    browser, stranger = new_visitor(), new_visitor()
    url = demo.authorize_url()
    tokens = await demo.tokens(browser, *server.user)
    unredeemed = (await browser.get(url)).answer["code"]
    other = await server.register()
    code = (await browser.get(other.authorize_url())).answer["code"]
    theirs = (await other.redeem(browser, code)).json()
    told = await make_ready(again(server, issuer=PUBLIC))

    assert told.demo is None
    assert (await demo.userinfo(browser, tokens["access_token"])).status == 401
    assert (await demo.redeem(browser, unredeemed)).status == 401
    assert (await demo.refresh(browser, tokens["refresh_token"])).status == 401
    assert (await browser.get(url)).status == 400
    assert (await other.userinfo(browser, theirs["access_token"])).status == 401
    assert (await other.refresh(browser, theirs["refresh_token"])).status == 400
    assert (await other.silently(browser))["error"] == "login_required"
    page = await stranger.sign_in(other.authorize_url(), *server.user)
    assert (page.status, page.name) == (400, "password")


async def test_a_public_start_writes_each_change_once(server):
    before = await demo_records(server)
    for _ in range(2):
        await make_ready(again(server, issuer=PUBLIC))
    after = await demo_records(server)

    for old, new, kind in zip(before, after, ("application", "user"), strict=True):
        assert (old.state, new.state) == ("active", "inactive")
        assert old.stamp != new.stamp
        assert await types_of(server, new) == [f"{kind}.created", f"{kind}.deactivated"]
    await events_agree(server.store)


async def test_a_later_local_start_brings_the_demo_back_and_nothing_that_was_issued(
    server, demo, new_visitor
):
    browser = new_visitor()
    tokens = await demo.tokens(browser, *server.user)
    await make_ready(again(server, issuer=PUBLIC))
    off = await demo_records(server)
    told = await make_ready(server)
    on = await demo_records(server)

    assert told == server.start
    assert [one.state for one in on] == ["active", "active"]
    assert not {one.stamp for one in on} & {one.stamp for one in off}
    assert (await types_of(server, on[1]))[-1] == "user.reactivated"
    assert (await demo.userinfo(browser, tokens["access_token"])).status == 401
    assert (await demo.refresh(browser, tokens["refresh_token"])).status == 400
    assert (await demo.silently(browser))["error"] == "login_required"
    assert "access_token" in await demo.tokens(new_visitor(), *server.user)
    await events_agree(server.store)


@pytest.mark.parametrize("issuers", [[PUBLIC] * 4, [PUBLIC, "http://localhost:1"] * 2])
async def test_starts_at_once_agree(server, issuers):
    await asyncio.gather(*[make_ready(again(server, issuer=issuer)) for issuer in issuers])
    application, user = await demo_records(server)

    assert application.state == user.state
    await events_agree(server.store)


async def test_a_change_at_the_same_moment_is_stored_and_the_demo_is_switched_all_the_same(
    server, monkeypatch
):
    _, user = await demo_records(server)
    commit, store = server.store.commit, server.store
    renamed = Update(USERS, user.id, set={"user_name": "Demo"}, increment={"sequence": 1})

    async def overtaken(*writes):
        monkeypatch.setattr(store, "commit", commit)
        await commit(renamed)
        await commit(*writes)

    monkeypatch.setattr(store, "commit", overtaken)
    await make_ready(again(server, issuer=PUBLIC))
    application, user = await demo_records(server)

    assert (application.state, user.state, user.user_name) == ("inactive", "inactive", "Demo")


async def test_an_installation_that_never_had_a_demo_gets_none(server):
    demo = (await server.store.get(INSTANCES, INSTANCE_ID)).demo
    changed = {"demo": None, "issuer": PUBLIC}
    await server.store.commit(Update(INSTANCES, INSTANCE_ID, set=changed))
    before = await everything(server.store)
    await make_ready(again(server, issuer=PUBLIC))

    assert demo is not None
    assert await everything(server.store) == before
    assert (await count(server.store))["applications"] == 1


class Mapped(httpx.AsyncHTTPTransport):
    """Reaches a public name at a port of this machine."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port = port

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url.copy_with(host="127.0.0.1", port=self.port)
        mapped = httpx.Request(request.method, url, headers=request.headers, stream=request.stream)
        return await super().handle_async_request(mapped)


@pytest.mark.parametrize("processes", ["1", "2"])
async def test_a_directory_that_was_tried_out_is_safe_in_public(
    start_program, open_browser, tmp_path, processes
):
    local = start_program()
    demo, user = local.demo(), local.user
    tokens = await demo.tokens(open_browser(local), *user)
    local.stop()
    one_time = run(tmp_path, "admin", "reset-password", user[0]).stdout.strip()
    flags = ("--issuer", PUBLIC, "--insecure-http", "--processes", processes)
    visitor = Visitor(PUBLIC, transport=Mapped(start_program(*flags).port))
    try:
        proof = {"loginName": user[0], "password": one_time, "newPassword": NEW}
        entered = await visitor.send(await visitor.open("/ui/setup"), **proof)
        answers = [
            await visitor.get(demo.authorize_url().removeprefix(demo.issuer)),
            await demo.refresh(visitor, tokens["refresh_token"]),
            await demo.userinfo(visitor, tokens["access_token"]),
        ]
    finally:
        await visitor.close()

    assert (entered.status, entered.name) == (400, "setup")
    assert [answer.status for answer in answers] == [400, 401, 401]
