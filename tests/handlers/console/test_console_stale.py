"""Edits of what somebody else has changed meanwhile: nothing is lost, on either side."""

from __future__ import annotations

import html
import re

import pytest

from idp.records import ORGANIZATIONS, POLICIES, USERS
from storage import Delete
from tests.support.management import console
from tests.support.store.stored import everything

LOGIN = "/ui/console/policies/login"
DAY = {"passwordCheckLifetime": "1", "passwordCheckLifetime.unit": "d"}


def shown(page):
    """What somebody else has saved, by the label of the field."""
    part = page.text.partition("Saved by someone else</h2>")[2].partition("</dl>")[0]
    found = re.findall(r"<dt>([^<]*)</dt><dd>(.*?)</dd>", part, re.DOTALL)
    return {label: html.unescape(re.sub(r"<[^>]*>|\n", "", value)) for label, value in found}


async def two_forms(visitor, path):
    return [await visitor.get(path) for _ in range(2)]


async def own_policy(server):
    (policy,) = [one async for one in server.store.scan(POLICIES)]
    return policy.rules


async def demo_user(server):
    (user,) = (await server.store.find(USERS, {"login_key": server.user[0]})).records
    return user


async def changed_user(server, visitor):
    """The form of a user, after somebody else has changed the given name; and the user's id."""
    await console.admin(server, visitor)
    user = await demo_user(server)
    one, other = await two_forms(visitor, f"/ui/console/users/{user.id}/edit")
    await visitor.submit(one, **one.inputs | {"profile.givenName": "Ada"})
    return other


async def test_the_entered_values_stay_and_the_other_change_is_shown(server, visitor):
    form = await changed_user(server, visitor)
    before = await everything(server.store)
    page = await visitor.submit(form, **form.inputs | {"profile.familyName": "Lovelace"})

    assert (page.status, page.name) == (412, "console/action")
    assert "Someone else has changed this." in page.text
    assert shown(page) == {"Given name": "Ada"}
    assert page.inputs["profile.familyName"] == "Lovelace"
    assert page.inputs["profile.givenName"] == form.inputs["profile.givenName"]
    assert ">Save anyway</button>" in page.text
    assert await everything(server.store) == before


@pytest.mark.full
async def test_saving_anyway_replaces_the_other_change(server, visitor):
    form = await changed_user(server, visitor)
    stale = await visitor.submit(form, **form.inputs | {"profile.familyName": "Lovelace"})
    page = await visitor.submit(stale, **stale.inputs)
    user = await demo_user(server)

    assert "Saved." in page.text
    assert user.profile.family_name == "Lovelace"
    assert user.profile.given_name == form.inputs["profile.givenName"]


async def test_a_third_change_is_not_replaced_unseen(server, visitor):
    form = await changed_user(server, visitor)
    stale = await visitor.submit(form, **form.inputs | {"profile.familyName": "Lovelace"})
    third = await visitor.get(form.url)
    await visitor.submit(third, **third.inputs | {"profile.nickName": "Countess"})
    page = await visitor.submit(stale, **stale.inputs)

    assert page.status == 412
    assert shown(page) == {"Nickname": "Countess"}


async def test_a_form_that_was_refused_for_its_values_is_still_stale(server, visitor):
    await console.admin(server, visitor)
    await visitor.submit(await visitor.get(LOGIN), **DAY)
    one, other = await two_forms(visitor, LOGIN)
    await visitor.submit(one, **DAY | {"passwordCheckLifetime": "9"})
    refused = await visitor.submit(other, **DAY | {"passwordCheckLifetime": "a while"})
    page = await visitor.submit(refused, **DAY)

    assert (refused.status, page.status) == (400, 412)
    assert shown(page) == {"Ask for the password again after": "9 days"}
    assert (await own_policy(server)).password_check_seconds == 9 * 86400


async def test_values_of_every_kind_are_shown_as_people_read_them(server, visitor):
    await console.admin(server, visitor)
    await visitor.submit(await visitor.get(LOGIN), **DAY)
    one, other = await two_forms(visitor, LOGIN)
    changes = {"forceMfa": "on", "secondFactors": "SECOND_FACTOR_TYPE_U2F", **DAY}
    await visitor.submit(one, **changes | {"passwordCheckLifetime": "9"})
    page = await visitor.submit(other, **DAY, allowRegister="on")

    assert page.status == 412
    assert shown(page) == {
        "Ask for the password again after": "9 days",
        "Require a second factor": "yes",
        "Second factors": "Passkeys",
    }


async def test_a_policy_that_somebody_made_meanwhile_is_not_overwritten(server, visitor):
    await console.admin(server, visitor)
    one, other = await two_forms(visitor, LOGIN)
    await visitor.submit(one, **DAY)
    page = await visitor.submit(other, **DAY | {"passwordCheckLifetime": "2"})
    stored = (await own_policy(server)).password_check_seconds
    saved = await visitor.submit(page, **DAY | {"passwordCheckLifetime": "2"})

    assert (page.status, stored) == (412, 86400)
    assert shown(page) == {"Ask for the password again after": "1 day"}
    assert "Saved." in saved.text
    assert (await own_policy(server)).password_check_seconds == 2 * 86400


async def test_a_policy_that_somebody_gave_back_meanwhile_is_not_made_again(server, visitor):
    await console.admin(server, visitor)
    await visitor.submit(await visitor.get(LOGIN), **DAY)
    form = await visitor.get(LOGIN)
    await visitor.submit(await visitor.get(f"{LOGIN}/reset"))
    page = await visitor.submit(form, **DAY)

    assert page.status == 412
    assert [one async for one in server.store.scan(POLICIES)] == []


async def test_what_is_gone_meanwhile_is_not_there(server, visitor):
    await console.admin(server, visitor)
    await server.copy_user("minnie")
    (user,) = (await server.store.find(USERS, {"login_key": "minnie"})).records
    form = await visitor.get(f"/ui/console/users/{user.id}/edit")
    await server.store.commit(Delete(USERS, user.id))
    page = await visitor.submit(form, **form.inputs)

    assert (page.status, page.name) == (404, "console/message")


@pytest.mark.parametrize("seen", ["", "x", "." * 500, "a.b.c", "\u0663"])
async def test_a_stale_form_without_a_true_record_of_its_values_shows_all_that_differ(
    server, visitor, seen
):
    form = await changed_user(server, visitor)
    fields = form.inputs | {"profile.familyName": "Lovelace", "seen": seen}
    page = await visitor.submit(form, **fields)

    assert page.status == 412
    assert {"Given name", "Family name"} <= shown(page).keys()


async def test_an_organization_that_was_renamed_meanwhile_asks_again(server, visitor):
    await console.admin(server, visitor)
    org = await console.own_org(server)
    path = f"/ui/console/organizations/{org.id}/edit"
    one, other = await two_forms(visitor, path)
    await visitor.submit(one, name="First")
    page = await visitor.submit(other, name="Second")
    stored = (await server.store.get(ORGANIZATIONS, org.id)).name
    await visitor.submit(page, name="Second")

    assert (page.status, stored, shown(page)) == (412, "First", {"Name": "First"})
    assert (await server.store.get(ORGANIZATIONS, org.id)).name == "Second"
