"""Projects in the console, their roles, and who has them."""

from __future__ import annotations

import pytest

from idp.records import INSTANCE_ID, INSTANCES, PROJECT_ROLES, PROJECTS
from tests.support.management import console
from tests.support.management.callers import new_organization
from tests.support.store.stored import everything

NEW = "/ui/console/projects/new"


async def all_of(server, collection):
    return [one async for one in server.store.scan(collection)]


@pytest.fixture
def address(io_loop, server, visitor):
    """The page of a project with one role."""

    async def make():
        await console.admin(server, visitor)
        page = await visitor.submit(await visitor.get(NEW), name="Shop")
        address = page.url.removeprefix(server.issuer).partition("?")[0]
        form = await visitor.get(f"{address}/roles/new")
        await visitor.submit(form, roleKey="admin", displayName="Administrators")
        return address

    return io_loop.run_sync(make)


async def test_a_role_is_added_changed_and_deleted(server, visitor, address):
    form = await visitor.get(f"{address}/roles/admin/edit")
    changed = await visitor.submit(form, displayName="Bosses", group="Office")
    (role,) = await all_of(server, PROJECT_ROLES)
    gone = await visitor.submit(await visitor.get(f"{address}/roles/admin/delete"))

    assert form.inputs["displayName"] == "Administrators"
    assert (role.display_name, role.group) == ("Bosses", "Office")
    assert "Bosses" in changed.text
    assert "Bosses" not in gone.text
    assert (await visitor.get(f"{address}/roles/admin/edit")).status == 404


@pytest.mark.every_row
@pytest.mark.parametrize("key", ["x" * 201, "%00", "%0A", "%F0%9F%98%80"])
async def test_a_key_that_no_role_can_have_is_not_found(server, visitor, address, key):
    before = await everything(server.store)
    edited = await visitor.get(f"{address}/roles/{key}/edit")
    deleted = await visitor.submit(await visitor.get(f"{address}/roles/{key}/delete"))

    assert (edited.status, deleted.status) == (404, 404)
    assert await everything(server.store) == before


@pytest.mark.full
@pytest.mark.parametrize(
    "values",
    [
        {"roleKey": "admin", "displayName": "Again"},
        {"roleKey": "with blank", "displayName": "A"},
        {"roleKey": "", "displayName": "A"},
        {"roleKey": "x" * 201, "displayName": "A"},
        {"roleKey": "a", "displayName": " "},
    ],
)
async def test_what_can_be_no_role_comes_back_with_the_reason(server, visitor, address, values):
    before = await everything(server.store)
    page = await visitor.submit(await visitor.get(f"{address}/roles/new"), **values)

    assert (page.status, page.name) in [(400, "console/action"), (409, "console/action")]
    assert 'class="problem"' in page.text
    assert await everything(server.store) == before


async def test_users_with_roles_are_listed(server, visitor, address):
    empty = await visitor.get(address)
    instance = await server.store.get(INSTANCES, INSTANCE_ID)
    form = await visitor.get(f"/ui/console/users/{instance.demo.user_id}/grants/new")
    project_id = address.rpartition("/")[2]
    await visitor.submit(form, projectId=project_id, roleKeys="admin")
    page = await visitor.get(address)

    assert "No user has roles here." in empty.text
    assert f'href="/ui/console/users/{instance.demo.user_id}"' in page.text


async def test_a_project_is_renamed_shut_opened_and_deleted(server, visitor, address):
    id = address.rpartition("/")[2]
    await visitor.submit(await visitor.get(f"{address}/edit"), name="Store")
    shut = await visitor.submit(await visitor.get(f"{address}/deactivate"))
    opened = await visitor.submit(await visitor.get(f"{address}/reactivate"))
    wrong = await visitor.submit(await visitor.get(f"{address}/delete"), confirm="Shop")
    kept = await server.store.get(PROJECTS, id)
    await visitor.submit(wrong, confirm="Store")

    assert (kept.name, kept.state, wrong.status) == ("Store", "active", 400)
    assert "deactivated" in shut.text
    assert "Reactivated." in opened.text
    assert await server.store.get(PROJECTS, id) is None


async def test_a_project_of_another_organization_is_not_there(
    server, visitor, new_visitor, address
):
    stranger, other = new_visitor(), await new_organization(server, "other.example")
    await console.manager(server, stranger, "ORG_OWNER", org_id=other.id)
    pages = [f"{address}{rest}" for rest in ("", "/edit", "/delete", "/roles/new")]

    answers = [await stranger.get(page) for page in pages]
    listed = await stranger.get("/ui/console/projects")

    assert [answer.status for answer in answers] == [404] * 4
    assert "Shop" not in listed.text
