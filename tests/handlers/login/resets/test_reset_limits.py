"""Mails for a new password that strangers ask for do not keep the owner of the account out."""

from __future__ import annotations

import pytest

from idp.identity.guesses import mail_limits
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from tests.support.sign_in.registering import mails
from tests.support.sign_in.resetting import (
    ADDRESS,
    NEW_PASSWORD,
    at_reset,
    at_reset_code,
    chosen,
    give_address,
    newest,
)
from tests.support.store.untouched import untouched_store_fixture  # noqa: F401 - a fixture

OTHERS = [f"2001:db8:{site}::1" for site in range(1, 6)]


@pytest.fixture
def settings():
    return {"trusted_proxies": ("127.0.0.0/8",)}


def at(address):
    return {"X-Forwarded-For": address}


async def ask(new_visitor, demo, address, times=mail_limits.MAX_TO_MAILBOX):
    """What the pages answer to somebody who asks so often from one network, each time in a new
    browser."""
    answers = []
    for _ in range(times):
        stranger = new_visitor(headers=at(address))
        page = await at_reset(stranger, demo)
        answers.append(await stranger.submit(page, loginName="demo"))
    return answers


async def flood(new_visitor, demo):
    for address in OTHERS:
        await ask(new_visitor, demo, address)


@pytest.mark.full
async def test_a_browser_that_the_account_knows_gets_its_mail_whatever_strangers_ask_for(
    server, visitor, new_visitor, demo
):
    await give_address(server)
    owner = new_visitor(headers=at("192.0.2.7"))
    await owner.sign_in(demo.authorize_url(), *server.user)
    await flood(new_visitor, demo)
    await ask(new_visitor, demo, "192.0.2.7")
    before = len(await mails(visitor, ADDRESS))
    server.clock.advance(1)
    page = await owner.open(demo.authorize_url(prompt="login"))
    page = await owner.open(page.url.split("?")[0].rsplit("/", 1)[0] + "/reset?" + query(page))
    page = await owner.submit(page, loginName="demo")

    assert page.name == "reset-code"
    assert len(await mails(visitor, ADDRESS)) == before + 1
    done = await chosen(owner, page)
    assert "code" in done.answer


def query(page):
    return page.url.partition("?")[2]


@pytest.mark.full
async def test_another_browser_of_the_owner_gets_in_by_the_link_of_the_newest_mail(
    server, visitor, new_visitor, demo
):
    await give_address(server)
    await flood(new_visitor, demo)
    most = mail_limits.MAX_TO_MAILBOX * mail_limits.ALL_NETWORKS_FACTOR
    owner = new_visitor(headers=at("192.0.2.7"))
    page = await at_reset_code(owner, demo)
    sent = len(await mails(visitor, ADDRESS))
    choice = await owner.open((await newest(visitor))["url"])
    done = await owner.submit(choice, newPassword=NEW_PASSWORD)

    assert sent == most
    assert (page.status, choice.name) == (200, "change-password")
    assert done.status in (200, 303)


async def test_mails_of_one_ipv6_site_are_limited_in_memory_too(
    server, monkeypatch, untouched_store
):
    monkeypatch.setattr(mail_limits, "MAX_PER_MINUTE", 2)
    origins = [AttemptOrigin(f"2001:db8:1:{n:x}::1") for n in range(9)]
    for n, origin in enumerate(origins[:8]):
        await mail_limits.admit(server.service, f"name{n}", origin)
    untouched_store(server)

    with pytest.raises(Throttled):
        await mail_limits.admit(server.service, "other", origins[8])


@pytest.mark.full
@pytest.mark.parametrize("name", ["demo", "nobody"])
async def test_one_ipv6_site_asks_for_ten_mails_to_one_name(server, new_visitor, demo, name):
    await give_address(server)
    statuses = []
    for subnet in range(11):
        stranger = new_visitor(headers=at(f"2001:db8:1:{subnet:x}::1"))
        page = await at_reset(stranger, demo, name)
        statuses.append((await stranger.submit(page, loginName=name)).status)

    assert statuses == [200] * 10 + [429]
