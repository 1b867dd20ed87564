"""Who may use an application: at each point of the protocol, over each store and two processes."""

from __future__ import annotations

import pytest

from tests.flows.conftest import PLACES
from tests.flows.test_managing import NO_REUSE, owner
from tests.support.management.tenants import Tenants
from tests.support.protocol.device import Device, type_code
from tests.support.protocol.exchanging import GRANT as EXCHANGE
from tests.support.protocol.exchanging import ID

WHO = ("own", "granted", "foreign")
ALLOWED = {
    "EVERYBODY": {"own", "granted", "foreign"},
    "OWN_ORGANIZATION": {"own"},
    "GRANTED": {"own", "granted"},
}
ROWS = [(rule, who) for rule in ALLOWED for who in WHO]


async def tenants(place, browser) -> Tenants:
    return await Tenants(place, await owner(place, browser)).make("buyer")


async def let_in(device, browser, login_name, password):
    """The page after the person has typed the code, or what follows their yes."""
    page = await type_code(browser, (await device.begin())["user_code"])
    if page.name == "login-name":
        page = await browser.submit(page, loginName=login_name)
        page = await browser.submit(page, password=password)
    return await browser.submit(page, decision="allow") if page.name == "device-confirm" else page


class Issued:
    """What a person has got at the application, and what becomes of it."""

    async def get(self, here, browser, who):
        self.here, self.browser, self.person = here, browser, here.people[who]
        self.tokens = await here.party.tokens(browser, *self.person)
        self.code = (await browser.open(here.party.authorize_url())).answer["code"]
        self.device = Device(here.party, browser)
        await let_in(self.device, browser, *self.person)
        return self

    async def used(self):
        """Userinfo and introspection: whether the access token counts there."""
        party, token = self.here.party, self.tokens["access_token"]
        userinfo = await party.userinfo(self.browser, token)
        introspected = await self.browser.post(
            "/oauth/v2/introspect", {"token": token}, headers=party.basic()
        )
        assert userinfo.status in (200, 401)
        return {
            "userinfo": userinfo.status == 200,
            "introspection": introspected.json()["active"],
        }

    async def redeemed(self):
        """Whether something more is issued for what was issued before."""
        party, browser = self.here.party, self.browser
        form = {
            "grant_type": EXCHANGE,
            "subject_token": self.tokens["id_token"],
            "subject_token_type": ID,
        }
        answers = {
            "code": await party.redeem(browser, self.code),
            "device code": await self.device.poll(),
            "exchange": await party.token(browser, form),
            "refresh": await party.refresh(browser, self.tokens["refresh_token"]),
        }
        errors = {name: (page.status, page.json().get("error")) for name, page in answers.items()}
        dead = {name: (400, "invalid_grant") for name in answers}
        dead["exchange"] = (400, "invalid_request")
        assert all(told in ((200, None), dead[name]) for name, told in errors.items()), errors
        return {name: page.status == 200 for name, page in answers.items()}

    async def asked(self):
        """Whether the application gets an answer for who is signed in already."""
        party, browser = self.here.party, self.browser
        page = await browser.open(party.authorize_url())
        silent = (await browser.get(party.authorize_url(prompt="none"))).answer
        typed = await let_in(Device(party, browser), browser, *self.person)
        assert (page.name, page.status) == ("not-allowed", 403) or "code" in page.answer
        assert "code" in silent or silent["error"] == "interaction_required"
        assert typed.name in ("not-allowed", "signed-in", "device-done"), typed.name
        return {
            "sign-in": page.name != "not-allowed",
            "prompt=none": "code" in silent,
            "device": typed.name != "not-allowed",
        }

    async def all(self):
        return await self.used() | await self.redeemed() | await self.asked()


@pytest.mark.load("mongodb")
@pytest.mark.promise("application users: each point")
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_each_user_may_use_what_the_application_says_at_every_point(place, open_browser):
    here = await tenants(place, open_browser(place, limits=NO_REUSE))
    await here.grant()

    for rule, who in ROWS:
        await here.allow("EVERYBODY")
        issued = await Issued().get(here, open_browser(place, limits=NO_REUSE), who)
        assert set((await issued.used()).values()) == {True}
        await here.allow(rule)

        found = await issued.all()

        assert found == dict.fromkeys(found, who in ALLOWED[rule]), (rule, who, found)


@pytest.mark.promise("application users: withdrawn")
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_what_was_issued_by_a_grant_ends_with_it_for_good(place, open_browser):
    here = await tenants(place, open_browser(place, limits=NO_REUSE))
    grant = await here.grant()
    await here.allow("GRANTED")
    browser = open_browser(place, limits=NO_REUSE)
    issued = await Issued().get(here, browser, "granted")
    assert set((await issued.used()).values()) == {True}

    await here.call("DELETE", grant, None)

    assert set((await issued.used()).values()) == {False}
    await here.grant()
    found = await issued.used() | await issued.redeemed()
    assert {name for name, is_alive in found.items() if is_alive} == {"exchange"}  # a new use
    assert set((await issued.asked()).values()) == {True}


@pytest.mark.promise("application users: projects")
@pytest.mark.parametrize("place", PLACES, indirect=True)
async def test_a_project_that_requires_roles_or_grants_is_enforced(place, open_browser):
    here = await tenants(place, open_browser(place, limits=NO_REUSE))
    await here.grant("buyer")
    await here.check(projectRoleCheck=True)
    held = {who: await here.assign(who, "buyer") for who in ("own", "granted")}
    issued = {
        who: await Issued().get(here, open_browser(place, limits=NO_REUSE), who) for who in held
    }

    for who, assignment in held.items():
        assert set((await issued[who].used()).values()) == {True}
        await here.call("DELETE", assignment, None, here.organizations[who])
        found = await issued[who].all()
        assert found == dict.fromkeys(found, False), (who, found)
    await here.check(projectRoleCheck=False, hasProjectCheck=True)
    foreign = open_browser(place, limits=NO_REUSE)
    page = await foreign.sign_in(here.party.authorize_url(), *here.people["foreign"])
    assert page.name == "not-allowed"
    granted = await issued["granted"].asked()
    assert granted == dict.fromkeys(granted, True)
