"""The page for somebody who is signed in and may not use the application."""

from __future__ import annotations

import pytest

from idp.records import REFUSALS
from tests.support.callers import instance_owner
from tests.support.device import Device, type_code
from tests.support.tenants import Tenants


@pytest.fixture
def here(io_loop, server, visitor):
    async def make():
        tenants = await Tenants(server, await instance_owner(server, visitor)).make()
        await tenants.allow("OWN_ORGANIZATION")
        return tenants

    return io_loop.run_sync(make)


async def shut_out(here, browser):
    page = await browser.sign_in(here.party.authorize_url(), *here.people["foreign"])
    assert (page.name, page.status) == ("not-allowed", 403), page.text
    return page


async def test_it_names_the_application_and_the_account_and_has_one_form(here, new_visitor):
    page = await shut_out(here, new_visitor())

    assert "Shop" in page.text
    assert here.people["foreign"][0].partition("@")[0] in page.text
    assert page.text.count('method="post"') == page.text.count('<form id="step"') == 1


async def test_nobody_learns_of_it_before_they_have_proven_who_they_are(here, new_visitor):
    browser = new_visitor()
    page = await browser.open(here.party.authorize_url())
    page = await browser.submit(page, loginName=here.people["foreign"][0])
    assert page.name == "password"
    wrong = await browser.submit(page, password="wrong horse")

    assert wrong.name == "password"
    ahead = await browser.open(page.url.replace("/password", "/not-allowed"))
    assert ahead.name == "password"


async def test_cancel_tells_the_application_that_access_is_denied(here, new_visitor):
    browser = new_visitor()
    page = await shut_out(here, browser)

    answer = (await browser.submit(page, decision="cancel")).answer

    assert answer["error"] == "access_denied"


async def test_another_account_may_go_on_from_there(here, new_visitor):
    browser, (login_name, password) = new_visitor(), here.people["own"]
    page = await shut_out(here, browser)

    page = await browser.submit(page, account="other")
    assert page.name == "login-name"
    page = await browser.submit(page, loginName=login_name)
    page = await browser.submit(page, password=password)

    assert "code" in page.answer


async def test_the_rule_is_kept_for_explain(server, here, new_visitor):
    await shut_out(here, new_visitor())

    (refusal,) = (await server.store.find(REFUSALS, {})).records
    assert refusal.checks[-1].name == "user_allowed"
    assert not refusal.checks[-1].passed
    assert "its own organization (allowedUsers)" in refusal.sentence


async def test_a_device_is_not_let_in_and_cancel_denies_it(here, new_visitor):
    browser = new_visitor()
    device = Device(here.party, browser)
    page = await type_code(browser, (await device.begin())["user_code"])
    page = await browser.submit(page, loginName=here.people["foreign"][0])
    page = await browser.submit(page, password=here.people["foreign"][1])
    assert (page.name, page.status) == ("not-allowed", 403)

    await browser.submit(page, decision="cancel")

    assert (await device.poll()).json()["error"] == "access_denied"
