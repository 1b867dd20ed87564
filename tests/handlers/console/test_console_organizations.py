"""Organizations in the console: set up, found, renamed, shut and opened."""

from __future__ import annotations

import pytest

from idp.records import ORGANIZATIONS, USERS
from tests.support.management import console
from tests.support.store.stored import everything

NEW = "/ui/console/organizations/new"
FILLED = {
    "org.name": "Acme",
    "human.userName": "anna",
    "human.profile.firstName": "Anna",
    "human.profile.lastName": "Owner",
    "human.email.email": "anna@acme.example",
    "roles": ["ORG_OWNER"],
}


async def made(server, visitor):
    page = await console.admin(server, visitor, NEW)
    return await visitor.submit(page, **FILLED)


async def test_an_organization_is_made_with_its_administrator(server, visitor):
    page = await made(server, visitor)

    assert (page.status, page.name) == (200, "console/show")
    assert "Created." in page.text
    assert "acme.localhost" in page.text
    listed = await visitor.open("/ui/console/organizations")
    assert "Acme" in listed.text
    assert "2 in all" in listed.text
    users = await visitor.open(f"/ui/console/users?{page.url.partition('?')[2]}")
    assert "Anna Owner" in users.text
    assert "Administrator</a></th>" not in users.text


async def test_every_mistake_comes_back_beside_its_field_and_nothing_is_stored(server, visitor):
    page = await console.admin(server, visitor, NEW)
    before = await everything(server.store)

    wrong = {**FILLED, "org.domain": "not a domain", "human.email.email": "anna@"}
    page = await visitor.submit(page, **{**wrong, "human.profile.lastName": ""})

    assert page.status == 400
    assert "<title>Error: New organization" in page.text
    for name in ("org.domain", "human.email.email", "human.profile.lastName"):
        assert f'<a href="#{name}">' in page.text
        assert f'id="{name}-problem"' in page.text
    assert page.inputs["org.name"] == "Acme"
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (NEW, "human.password"),
        ("/ui/console/users/new", "password.password"),
        ("/ui/console/users/{user}/password", "newPassword.password"),
    ],
)
async def test_a_form_with_a_password_says_how_long_it_has_to_be(server, visitor, path, field):
    user = (await server.store.find(USERS, {})).records[0]
    page = await console.admin(server, visitor, path.format(user=user.id))

    refused = await visitor.submit(page, **{field: "otto"})

    assert f'id="{field}-hint">Use at least 8 characters.<' in page.text
    assert refused.text.count("Use at least 8 characters.") == 2  # hint and problem


async def test_a_name_that_is_taken_is_refused_by_its_field(server, visitor):
    await made(server, visitor)
    page = await visitor.open(NEW)

    page = await visitor.submit(page, **{**FILLED, "org.name": "acme"})

    assert page.status == 409
    assert "Choose another name. Another organization has this one." in page.text
    assert "That name is taken." in page.text


async def test_a_form_that_is_sent_twice_makes_one_organization(server, visitor):
    page = await console.admin(server, visitor, NEW)

    first = await visitor.send(page, **FILLED)
    second = await visitor.send(page, **FILLED)
    other = await visitor.send(page, **{**FILLED, "org.name": "Other"})

    assert first.location == second.location
    assert other.status == 409
    assert "This form was already submitted" in other.text
    assert len([one async for one in server.store.scan(ORGANIZATIONS)]) == 2


@pytest.mark.full
async def test_it_is_renamed_only_from_its_present_name(server, visitor):
    page = await made(server, visitor)
    edit = page.url.replace("?", "/edit?").partition("&done")[0]
    form = await visitor.open(edit)
    late = await visitor.open(edit)

    page = await visitor.submit(form, name="Acorn")
    refused = await visitor.submit(late, name="Ackee")

    assert "Acorn" in page.text
    assert "Saved." in page.text
    assert refused.status == 412
    assert "Someone else has changed this." in refused.text
    assert refused.inputs["name"] == "Ackee"
    again = await visitor.submit(refused, name="Ackee")
    assert "Ackee" in again.text


async def test_it_is_shut_once_that_was_confirmed_and_opened_again(server, visitor):
    page = await made(server, visitor)
    here = page.url.partition("&done")[0]
    before = await everything(server.store)
    form = await visitor.open(here.replace("?", "/deactivate?"))

    assert "confirm" not in form.inputs
    assert await everything(server.store) == before
    page = await visitor.submit(form)
    assert "deactivated" in page.text
    page = await visitor.submit(await visitor.open(here.replace("?", "/reactivate?")))
    assert "Reactivated." in page.text


async def test_the_first_organization_can_not_be_shut(server, visitor):
    org = await console.own_org(server)
    page = await console.admin(server, visitor, f"/ui/console/organizations/{org.id}/deactivate")

    page = await visitor.submit(page)

    assert page.status == 400
    assert "first organization can" in page.text
    assert (await server.store.get(ORGANIZATIONS, org.id)).state == "active"


async def test_a_manager_of_users_neither_renames_nor_makes_organizations(server, visitor):
    org = await console.own_org(server)
    page = await console.manager(
        server, visitor, "ORG_USER_MANAGER", path=f"/ui/console/organizations/{org.id}"
    )
    assert "Rename" not in page.text
    edit = f"/ui/console/organizations/{org.id}/edit"
    before = await everything(server.store)

    for address in (edit, NEW):
        form = await visitor.open(address)
        own = await console.token(server, visitor, address)
        sent = await visitor.post(address, {**FILLED, **own, "name": "Mine"})

        assert (form.status, sent.status) == (403, 403)
        assert form.hidden == {}
    assert await everything(server.store) == before


async def test_it_is_deleted_with_its_name_and_one_is_at_home_again(server, visitor):
    page = await made(server, visitor)
    here = page.url.partition("&done")[0]
    form = await visitor.open(here.replace("?", "/delete?"))
    before = await everything(server.store)
    refused = await visitor.submit(form, confirm="acme")

    assert refused.status == 400
    assert 'id="confirm-problem"' in refused.text
    assert await everything(server.store) == before
    page = await visitor.submit(refused, confirm="Acme")

    assert (page.status, page.name) == (200, "console/list")
    assert "Deleted." in page.text
    assert "Acme" not in page.text.partition("<main")[2]
    assert (await visitor.get(here)).status == 404
