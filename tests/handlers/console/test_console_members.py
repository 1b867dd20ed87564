"""Members and domains in the console."""

from __future__ import annotations

import html
import re

import pytest

from handlers.console.lists import PAGE
from idp.records import MEMBERSHIPS
from tests.support.management import console
from tests.support.management.callers import new_caller
from tests.support.sign_in.steps import Seen
from tests.support.store.stored import everything


async def of_own_org(server, visitor):
    org = await console.own_org(server)
    return await console.admin(server, visitor, f"/ui/console/organizations/{org.id}")


async def test_a_member_is_added_by_login_name_changed_and_removed(server, visitor):
    page = await of_own_org(server, visitor)
    here = page.url
    new = await visitor.open(f"{here}/members/new")

    page = await visitor.submit(new, userId=server.user[0], roles=["ORG_USER_MANAGER"])
    assert "ORG_USER_MANAGER" in page.text
    edit = re.findall(r'href="([^"]+/members/[^"]+/edit)"', page.text)
    shown = [await visitor.open(each) for each in edit]
    form = next(each for each in shown if server_user_is(each))
    assert 'value="ORG_USER_MANAGER" checked' in form.text
    page = await visitor.submit(form, roles=["ORG_OWNER_VIEWER"])
    assert "ORG_USER_MANAGER" not in page.text
    remove = form.url.replace("/edit", "/remove")
    page = await visitor.submit(await visitor.open(remove))

    assert "Removed." in page.text
    assert "ORG_OWNER_VIEWER" not in page.text


def server_user_is(page):
    return "Dana Demo" in page.text


async def test_who_is_unknown_is_not_added_and_nobody_without_a_role(server, visitor):
    page = await of_own_org(server, visitor)
    new = await visitor.open(f"{page.url}/members/new")
    before = await everything(server.store)

    unknown = await visitor.submit(new, userId="nobody", roles=["ORG_OWNER"])
    without = await visitor.submit(new, userId=server.user[0])

    assert (unknown.status, without.status) == (400, 400)
    assert "No user has that name." in unknown.text
    assert 'id="roles-problem"' in without.text
    assert await everything(server.store) == before


async def test_the_last_owner_stays_and_the_page_says_why(server, visitor):
    page = await of_own_org(server, visitor)
    remove = re.search(r'href="([^"]+/members/[^"]+/remove)"', page.text)[1]

    refused = await visitor.submit(await visitor.open(remove))

    assert refused.status == 400
    assert "There is no other owner. Add a second owner first." in refused.text


async def test_the_installation_gets_a_second_owner_and_the_checklist_knows(server, visitor):
    page = await console.admin(server, visitor, "/ui/console/administrators")
    assert "IAM_OWNER" in page.text
    new = await visitor.open("/ui/console/administrators/new")

    page = await visitor.submit(new, userId=server.user[0], roles=["IAM_OWNER"])

    assert page.name == "console/list"
    assert "Dana Demo" in page.text
    held = [one async for one in server.store.scan(MEMBERSHIPS) if one.org_id is None]
    assert len(held) == 2
    overview = await visitor.open("/ui/console")
    owner = overview.text.partition("Add a second owner")[2]
    assert owner.partition("</li>")[0].count(">done<") == 1


@pytest.mark.full
async def test_a_domain_is_named_verified_by_a_token_and_removed(server, visitor):
    page = await of_own_org(server, visitor)
    here = page.url
    new = await visitor.open(f"{here}/domains/new")

    wrong = await visitor.submit(new, domain="no domain")
    page = await visitor.submit(wrong, domain="acme.example")
    assert (wrong.status, "not verified yet" in page.text) == (400, True)
    prove = await visitor.open(f"{here}/domains/acme.example/prove")
    told = await visitor.submit(prove, type="DOMAIN_VALIDATION_TYPE_DNS")
    assert "_idp-challenge.acme.example" in told.text
    primary = await visitor.submit(await visitor.open(f"{here}/domains/acme.example/primary"))
    page = await visitor.submit(await visitor.open(f"{here}/domains/acme.example/remove"))

    assert primary.status == 400
    assert "Verify the domain first." in primary.text
    assert "acme.example" not in page.text


async def test_the_members_of_an_organization_are_shown_a_page_at_a_time(server, visitor):
    own = await console.own_org(server)
    for _ in range(PAGE):
        await new_caller(server, visitor, own, "ORG_OWNER_VIEWER")
    await console.admin(server, visitor)
    first = await visitor.get(f"/ui/console/organizations/{own.id}")
    ahead = html.unescape(re.search(r'href="([^"]*[?&;]members=[^"]+)"', first.text)[1])
    second = await visitor.get(ahead)

    shown = [set(re.findall(r"/members/([^/]+)/edit", page.text)) for page in (first, second)]
    assert [len(each) for each in shown] == [PAGE, 1]
    assert not shown[0] & shown[1]
    assert "members=" not in " ".join(Seen(second).links)
    assert f'href="/ui/console/organizations/{own.id}"' in second.text
    assert (await visitor.get(f"/ui/console/organizations/{own.id}?members=x")).status == 400
