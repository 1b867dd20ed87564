"""What policies bring about on pages: accounts of one's own, links, colours, the way on."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from idp.foundation.colours.contrast import contrast
from idp.policies import palette
from idp.policies.effective import policy_id
from idp.policies.page_settings import digest
from idp.records import APPLICATIONS, POLICIES, LabelRules, PrivacyRules
from storage import Update
from tests.support.management.callers import new_caller, new_organization
from tests.support.samples.policies import FULL, address
from tests.support.sign_in.registering import FIELDS, at_register
from tests.support.sign_in.steps import Seen, text_of
from tests.support.store.stored import everything

LINK = "https://shop.example/go-on"


async def put(owner, name, **policy):
    page = await owner.request("PUT", address(name, "admin"), policy)
    assert page.status == 200, page.text


async def at_login_name(visitor, demo):
    page = await visitor.open(demo.authorize_url())
    assert page.name == "login-name", page.text
    return page


def brand_of(page):
    sheets = [one["href"] for one in Seen(page).all("link") if one["rel"] == "stylesheet"]
    return [one for one in sheets if one.startswith("/ui/brand/")]


# Accounts of one's own


async def test_where_nobody_opens_an_account_no_page_leads_there_and_each_leads_back(
    visitor, demo, server, owner
):
    open_page = await at_login_name(visitor, demo)
    form = await at_register(visitor, demo)
    await put(owner, "login", allowRegister=False)
    closed = await at_login_name(visitor, demo)
    page = await visitor.open(demo.authorize_url(prompt="create"))
    before = await everything(server.store)
    late = await visitor.submit(form, **FIELDS)

    assert any("/register" in link for link in Seen(open_page).links)
    assert not any("/register" in link for link in Seen(closed).links)
    assert (page.status, page.name, list(page.inputs)) == (200, "login-name", ["loginName"])
    assert not any("/register" in link for link in Seen(page).links)
    assert (late.status, late.name) == (400, "register")
    assert "Only administrators can create accounts here" in text_of(late)
    assert any("/ui/login/name?flow=" in link for link in Seen(late).links)
    assert await everything(server.store) == before


async def test_an_organization_may_close_its_own_door_alone(visitor, demo, server, owner):
    other = await new_organization(server, "other.example")
    await server.store.commit(Update(APPLICATIONS, demo.client_id, set={"org_id": other.id}))
    manager = await new_caller(server, visitor, other, "ORG_OWNER")
    elsewhere = await server.register()
    assert (await manager.post(address("login"), {"allowRegister": False})).status == 200
    closed = await visitor.open(demo.authorize_url(prompt="create"))
    open_page = await visitor.open(elsewhere.authorize_url(prompt="create"))

    assert closed.name == "login-name"
    assert "newPassword" in open_page.inputs


async def test_how_long_a_password_counts_is_the_organization_s_word(visitor, demo, server, owner):
    await put(owner, "login", passwordCheckLifetime="1h")
    await visitor.sign_in(demo.authorize_url(), *server.user)
    server.clock.advance(timedelta(minutes=59))
    at_once = await visitor.open(demo.authorize_url())
    server.clock.advance(timedelta(minutes=2))
    page = await visitor.open(demo.authorize_url())

    assert "code" in at_once.answer
    assert page.name == "password"


async def test_who_came_without_an_application_has_a_way_on(visitor, demo, server, owner):
    await visitor.sign_in(demo.authorize_url(), *server.user)
    before = await visitor.open("/ui/login")
    await put(owner, "login", defaultRedirectUri=LINK)
    after = await visitor.open("/ui/login")
    expired = await visitor.open("/ui/login?flow=gone")

    assert LINK not in Seen(before).links
    assert (after.name, expired.name) == ("signed-in", "expired")
    assert LINK in Seen(after).links
    assert LINK in Seen(expired).links


# Links


async def test_pages_lead_to_the_organization_s_own_terms_in_the_page_s_language(
    visitor, demo, owner
):
    await put(owner, "privacy", **FULL["privacy"] | {"supportEmail": "a+b%c@shop.example"})
    page = await at_login_name(visitor, demo)
    german = await visitor.open(page.url + "&lang=de")

    assert "https://shop.example/en/terms" in Seen(page).links
    assert "https://shop.example/de/terms" in Seen(german).links
    assert "Nutzungsbedingungen" in german.text
    for link in ("privacy", "help", "docs"):
        assert f"https://shop.example/{link}" in Seen(page).links
    assert "mailto:a%2Bb%25c@shop.example" in Seen(page).links
    for path in ("/ui/setup", "/ui/device", "/ui/login"):
        assert "https://shop.example/privacy" in Seen(await visitor.open(path)).links, path


async def test_links_and_colours_are_those_of_the_application_s_organization(
    visitor, new_visitor, demo, server, owner
):
    other = await new_organization(server, "other.example")
    manager = await new_caller(server, visitor, other, "ORG_SETTINGS_MANAGER")
    assert (await manager.post(address("privacy"), {"helpLink": LINK})).status == 200
    assert (await manager.post(address("label"), FULL["label"])).status == 200
    elsewhere = await server.register()
    await server.store.commit(Update(APPLICATIONS, demo.client_id, set={"org_id": other.id}))
    theirs = await at_login_name(visitor, demo)
    ours = await at_login_name(new_visitor(), elsewhere)

    assert (LINK in Seen(theirs).links, LINK in Seen(ours).links) == (True, False)
    assert len(brand_of(theirs)) == 1
    assert brand_of(ours) == []


# Colours


async def test_the_colours_are_a_stylesheet_that_browsers_keep(visitor, demo, owner):
    assert brand_of(await at_login_name(visitor, demo)) == []
    await put(owner, "label", **FULL["label"])
    page = await at_login_name(visitor, demo)
    (url,) = brand_of(page)
    sheet = await visitor.get(url)

    assert (sheet.status, sheet.headers["Content-Type"]) == (200, "text/css; charset=utf-8")
    assert sheet.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "--accent: #7a1f3d;" in sheet.text
    assert "--accent: #ffb3c7;" in sheet.text.partition("prefers-color-scheme: dark")[2]
    assert "style=" not in page.text


async def test_other_colours_have_another_address_and_the_old_one_is_not_cached(
    visitor, demo, owner
):
    await put(owner, "label", primaryColor="#7a1f3d")
    (old,) = brand_of(await at_login_name(visitor, demo))
    await put(owner, "label", primaryColor="#1f3d7a")
    (new,) = brand_of(await at_login_name(visitor, demo))
    late = await visitor.get(old)

    assert old != new
    assert late.headers["Cache-Control"] == "no-store"
    assert "--accent: #1f3d7a;" in late.text
    await put(owner, "label")
    assert brand_of(await at_login_name(visitor, demo)) == []


@pytest.mark.parametrize("path", ["x" * 43 + "/" + "0" * 16, "x/y", "../../x"])
async def test_there_are_no_colours_of_what_is_no_policy(visitor, path):
    assert (await visitor.get(f"/ui/brand/{path}.css")).status == 404


async def test_another_process_s_change_is_seen_after_five_seconds(visitor, demo, server, owner):
    await put(owner, "privacy", helpLink=LINK)
    await at_login_name(visitor, demo)
    elsewhere = {"rules": PrivacyRules(help_link=f"{LINK}/new")}
    await server.store.commit(Update(POLICIES, policy_id(None, "privacy"), set=elsewhere))
    stale = await at_login_name(visitor, demo)
    server.clock.advance(timedelta(seconds=6))
    fresh = await at_login_name(visitor, demo)

    assert LINK in Seen(stale).links
    assert f"{LINK}/new" in Seen(fresh).links


async def test_a_page_of_colours_that_can_not_be_read_is_never_made(visitor, demo, owner):
    await put(owner, "label", fontColor="#ffffff")
    page = await at_login_name(visitor, demo)
    (sheet,) = brand_of(page)
    text = re.search("--text: (#[0-9a-f]{6});", (await visitor.get(sheet)).text)[1]

    assert contrast(text, "#ffffff") >= 4.5


def test_each_stylesheet_has_a_digest_of_its_own():
    sheets = [palette.stylesheet(LabelRules(primary_color=one)) for one in ("#000000", "#000001")]

    assert len({digest(sheet) for sheet in sheets}) == 2
    assert all(re.fullmatch("[0-9a-f]{16}", digest(sheet)) for sheet in sheets)
