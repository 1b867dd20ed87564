"""Projects, applications, role assignments, tokens and keys found over HTTP."""

from __future__ import annotations

import pytest

from idp.records import ORGANIZATIONS
from tests.support.management.api_samples import MACHINES, PUBLIC_KEY
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.management.managing import PATH, shop

__all__ = ["shop"]
GRANTS = "/management/v1/users/grants/_search"


def named(name: str, method: str = "STARTS_WITH") -> dict:
    return {"queries": [{"nameQuery": {"name": name, "method": f"TEXT_QUERY_METHOD_{method}"}}]}


async def found(owner, path, body, field="name", **headers) -> list[str]:
    page = await owner.post(path, body, **headers)
    assert page.status == 200, page.text
    return [one[field] for one in page.json().get("result", [])]


@pytest.fixture
def names(io_loop, shop) -> list[str]:
    """Names of projects, and of applications in the first one."""

    async def make():
        for name in ("Shop two", "shop three", "Wiki"):
            await shop.owner.post(PATH, {"name": name})
            await shop.another(name)
        return ["Shop", "Shop two", "shop three", "Wiki"]

    return io_loop.run_sync(make)


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        (named("Shop"), {"Shop", "Shop two"}),
        (named("shop", "STARTS_WITH_IGNORE_CASE"), {"Shop", "Shop two", "shop three"}),
        (named("Wiki", "EQUALS"), {"Wiki"}),
        (named("WIKI", "EQUALS_IGNORE_CASE"), {"Wiki"}),
        (named("nothing"), set()),
        ({}, {"Shop", "Shop two", "shop three", "Wiki", "Default"}),
    ],
)
async def test_projects_are_found_by_their_names(shop, names, query, hits):
    assert set(await found(shop.owner, f"{PATH}/_search", query)) == hits


async def test_applications_of_one_project_are_found_page_by_page(shop, names):
    path, seen, cursor = f"{shop.path}/apps/_search", [], ""
    for _ in range(3):
        page = (await shop.owner.post(path, {"query": {"limit": 2, "cursor": cursor}})).json()
        seen += [one["name"] for one in page.get("result", [])]
        cursor = page.get("nextCursor", "")
        if not cursor:
            break

    assert page["details"]["totalResult"] == "4"
    assert seen == ["Shop two", "Web shop", "Wiki", "shop three"]
    assert await found(shop.owner, path, named("Web")) == ["Web shop"]
    one = (await shop.owner.post(path, named("Web"))).json()["result"][0]
    assert one == (await shop.owner.get(shop.app)).json()["app"]


async def test_what_others_have_is_not_found(server, visitor, shop, names):
    other = await new_organization(server, "other.example")
    stranger = await new_caller(server, visitor, other, "ORG_OWNER")
    user = await grant(shop)

    assert await found(stranger, f"{PATH}/_search", {}) == []
    assert refused(await stranger.post(f"{shop.path}/apps/_search", {}), 404, 5)
    for query in ([], [{"projectIdQuery": {"projectId": shop.id}}], [by_user(user)]):
        assert await found(stranger, GRANTS, {"queries": query}, "id") == []


def by_user(user: str) -> dict:
    return {"userIdQuery": {"userId": user}}


async def grant(shop, n: int = 0) -> str:
    """The id of a user who has a role of the project."""
    await shop.owner.post(f"{shop.path}/roles", {"roleKey": "buyer", "displayName": "Buyer"})
    made = await shop.owner.post(MACHINES, {"userName": f"nightly-{n}", "name": "N"})
    user = made.json()["userId"]
    given = {"projectId": shop.id, "roleKeys": ["buyer"]}
    page = await shop.owner.post(f"/management/v1/users/{user}/grants", given)
    assert page.status == 200, page.text
    return user


async def test_who_has_which_roles_is_found_by_user_and_by_project(server, visitor, shop):
    users = [await grant(shop, n) for n in range(2)]
    project = {"projectIdQuery": {"projectId": shop.id}}
    org = (await shop.owner.get(shop.path)).json()["project"]["details"]["resourceOwner"]
    home = await new_caller(
        server, visitor, (await server.store.get(ORGANIZATIONS, org)), "ORG_OWNER"
    )

    for caller in (shop.owner, home):
        assert await found(caller, GRANTS, {"queries": [by_user(users[0])]}, "userId") == users[:1]
        for queries in ([], [project]):
            hits = await found(caller, GRANTS, {"queries": queries}, "userId")
            assert sorted(hits) == sorted(users)
        both = {"queries": [project, by_user(users[1])]}
        assert await found(caller, GRANTS, both, "userId") == users[1:]


async def test_a_filter_of_assignments_that_says_nothing_is_refused(shop):
    page = await shop.owner.post(GRANTS, {"queries": [{}]})

    assert refused(page, 400, 3) == {"queries[0]": "field.required"}


async def test_tokens_and_keys_are_gone_through_page_by_page(shop):
    made = await shop.owner.post(MACHINES, {"userName": "nightly", "name": "N"})
    user = f"/management/v1/users/{made.json()['userId']}"
    lists = {
        f"{user}/pats": {},
        f"{user}/keys": {"publicKey": PUBLIC_KEY},
        f"{shop.app}/keys": {"publicKey": PUBLIC_KEY},
    }
    for path, body in lists.items():
        for _ in range(3):
            assert (await shop.owner.post(path, body)).status == 200
        first = (await shop.owner.post(f"{path}/_search", {"query": {"limit": 2}})).json()
        rest = {"query": {"limit": 2, "cursor": first["nextCursor"]}}
        second = (await shop.owner.post(f"{path}/_search", rest)).json()

        shown = (await shop.owner.get(path)).json()["result"]
        assert [len(first["result"]), len(second["result"])] == [2, 1]
        assert sorted(one["id"] for one in first["result"] + second["result"]) == sorted(
            one["id"] for one in shown
        )
        assert "nextCursor" not in second
