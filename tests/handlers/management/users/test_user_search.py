"""POST /v2/users: who is found, in which order, and by whom."""

from __future__ import annotations

import pytest

from idp.records import USERS
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.sign_in.people import create
from tests.support.store.stored import everything

PATH = "/v2/users"
IGNORING = "TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE"
STARTS = "TEXT_QUERY_METHOD_STARTS_WITH"


@pytest.fixture
def manager(io_loop, server, visitor, acme):
    return io_loop.run_sync(lambda: new_caller(server, visitor, acme, "ORG_USER_MANAGER"))


async def people(owner, org, *names):
    for name in names:
        await create(
            owner,
            username=name,
            organization={"orgId": org.id},
            profile={"givenName": name, "familyName": f"Of {name}", "nickName": f"{name}ie"},
            email={"email": f"{name}@Mail.example", "isVerified": name.islower()},
            phone={"phone": f"+4179123456{len(name)}", "isVerified": True},
        )


async def search(caller, *queries, **more):
    """The answer to a search, which may be refused."""
    page = await caller.post(PATH, {"queries": list(queries), **more})
    assert page.status == 200, page.text
    return page.json()


async def found(caller, *queries, **more):
    """The user names that are found."""
    answer = await search(caller, *queries, **more)
    return [user["username"] for user in answer.get("result", [])]


HUMANS = {"typeQuery": {"type": "TYPE_HUMAN"}}


async def test_a_manager_finds_the_people_of_the_own_organization_alone(owner, manager, acme):
    await people(owner, acme, "Zoe", "adam")

    answer = await search(manager, HUMANS)

    assert [user["username"] for user in answer["result"]] == ["adam", "Zoe"]
    assert answer["details"]["totalResult"] == "2"
    assert "nextCursor" not in answer


async def test_a_user_is_listed_as_by_itself_but_for_the_address_as_login_name(
    owner, manager, acme
):
    await people(owner, acme, "adam")

    (user,) = (await search(manager, HUMANS))["result"]
    read = (await manager.get(f"/v2/users/{user['userId']}")).json()["user"]

    assert read["loginNames"] == [*user["loginNames"], "adam@mail.example"]
    assert read | {"loginNames": user["loginNames"]} == user


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"userNameQuery": {"userName": "Zoe"}}, ["Zoe"]),
        ({"userNameQuery": {"userName": "zoe"}}, []),
        ({"userNameQuery": {"userName": "zoe", "method": IGNORING}}, ["Zoe"]),
        ({"firstNameQuery": {"firstName": "ad", "method": STARTS}}, ["adam", "ada"]),
        ({"lastNameQuery": {"lastName": "Of ada"}}, ["ada"]),
        ({"nickNameQuery": {"nickName": "ADAie", "method": IGNORING}}, ["ada"]),
        ({"displayNameQuery": {"displayName": "ada", "method": STARTS}}, ["ada", "adam"]),
        ({"displayNameQuery": {"displayName": "Zoe Of Zoe"}}, ["Zoe"]),
        ({"emailQuery": {"emailAddress": "ZOE@mail.example", "method": IGNORING}}, ["Zoe"]),
        ({"emailQuery": {"emailAddress": "ada", "method": STARTS}}, ["ada", "adam"]),
        ({"phoneQuery": {"number": "+41791234564"}}, ["adam"]),
        ({"loginNameQuery": {"loginName": "Zoe@acme.example"}}, ["Zoe"]),
        ({"loginNameQuery": {"loginName": "zoe@acme.example"}}, []),
        ({"loginNameQuery": {"loginName": "ZOE", "method": IGNORING}}, ["Zoe"]),
        ({"loginNameQuery": {"loginName": "ada@mail.example"}}, ["ada"]),
        ({"loginNameQuery": {"loginName": "Zoe@mail.example"}}, []),
        ({"stateQuery": {"state": "USER_STATE_INACTIVE"}}, []),
        ({"organizationIdQuery": {"organizationId": "elsewhere"}}, []),
    ],
)
async def test_each_filter_finds_what_it_says(owner, manager, acme, query, expected):
    await people(owner, acme, "Zoe", "adam", "ada")

    by_owner = await found(owner, query, HUMANS)
    by_manager = await found(manager, HUMANS, query)

    assert sorted(by_owner) == sorted(by_manager) == sorted(expected)


@pytest.mark.parametrize(
    "query",
    [{"lastNameQuery": {"lastName": "Of Zoe"}}, {"phoneQuery": {"number": "+41791234563"}}],
)
async def test_a_family_name_and_a_phone_number_are_found_by_a_list(
    server, owner, acme, query, monkeypatch
):
    """One more record than the result is read, however many others there are."""
    await people(owner, acme, "Zoe", "adam", "adelaide")
    read, find = [], server.store.find

    async def watched(collection, *args, **more):
        page = await find(collection, *args, **more)
        read.extend(page.records if collection is USERS else ())
        return page

    monkeypatch.setattr(server.store, "find", watched)

    assert await found(owner, query) == ["Zoe"]
    assert [user.user_name for user in read] == ["Zoe"]


@pytest.mark.every_row
@pytest.mark.parametrize("method", ["TEXT_QUERY_METHOD_EQUALS", IGNORING, STARTS])
@pytest.mark.parametrize("typed", ["ada@münchen.example", "ada@xn--mnchen-3ya.example"])
@pytest.mark.parametrize("sent", ["ada@xn--mnchen-3ya.example", "ada@MÜNCHEN.example"])
async def test_an_address_is_found_in_every_spelling_of_its_domain(
    owner, manager, acme, sent, typed, method
):
    home, email = {"orgId": acme.id}, {"email": sent, "isVerified": True}
    await create(owner, username="ada", organization=home, email=email)

    assert await found(manager, {"emailQuery": {"emailAddress": typed, "method": method}}) == [
        "ada"
    ]
    by_login_name = {"loginNameQuery": {"loginName": typed}}
    assert await found(manager, by_login_name) == ["ada"]


@pytest.mark.every_row
@pytest.mark.parametrize("method", [STARTS, "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"])
@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("ada@xn--fa-hia", ["ada"]),
        ("ada@faß", ["ada"]),
        ("ada@faß.ex", ["ada"]),
        ("ada@fass", ["eva"]),
    ],
)
async def test_an_address_is_found_by_its_beginning_with_labels_in_every_spelling(
    owner, manager, acme, typed, names, method
):
    for name, domain in {"ada": "faß.example", "eva": "fass.example"}.items():
        email = {"email": f"ada@{domain}", "isVerified": True}
        await create(owner, username=name, organization={"orgId": acme.id}, email=email)

    query = {"emailQuery": {"emailAddress": typed, "method": method}}
    assert await found(manager, query) == names


async def test_filters_count_together(owner, manager, acme):
    await people(owner, acme, "Zoe", "adam", "ada")
    everybody = (await search(manager, HUMANS))["result"]
    ids = [user["userId"] for user in everybody if user["username"] != "ada"]
    await owner.post(f"/v2/users/{ids[0]}/deactivate", {})
    prefix = {"userNameQuery": {"userName": "ada", "method": STARTS}}
    these = {"inUserIdsQuery": {"userIds": ids}}
    active = {"stateQuery": {"state": "USER_STATE_ACTIVE"}}

    assert await found(manager, prefix, these) == ["adam"]
    assert await found(manager, prefix, active) == ["ada"]
    assert await found(manager, prefix, active, these) == []


async def test_the_order_is_chosen_and_turned(owner, manager, acme):
    await people(owner, acme, "b", "c", "a")
    by_name = {"sortingColumn": "USER_FIELD_NAME_DISPLAY_NAME"}

    assert await found(manager, HUMANS, **by_name) == ["a", "b", "c"]
    assert await found(manager, HUMANS, query={"asc": False}, **by_name) == ["c", "b", "a"]


async def test_pages_follow_each_other_by_the_cursor(owner, manager, acme):
    await people(owner, acme, "a", "b", "c")
    organization = {"organizationIdQuery": {"organizationId": acme.id}}
    pages, cursor = [], ""
    while cursor is not None:
        query = {"limit": "2", "cursor": cursor}
        answer = await search(owner, organization, query=query)
        pages.append([user["username"] for user in answer["result"]])
        assert answer["details"]["totalResult"] == "4"
        cursor = answer.get("nextCursor")

    assert [len(page) for page in pages] == [2, 2]
    assert {"a", "b", "c"} < set(sum(pages, []))


async def test_nobody_finds_users_of_an_organization_that_they_do_not_manage(
    server, owner, manager
):
    other = await new_organization(server, "other.example")
    await people(owner, other, "olga")
    (olga,) = (await search(owner, {"userNameQuery": {"userName": "olga"}}))["result"]
    attempts = [
        {"userNameQuery": {"userName": "olga"}},
        {"loginNameQuery": {"loginName": "olga@other.example"}},
        {"emailQuery": {"emailAddress": "olga@mail.example"}},
        {"inUserIdsQuery": {"userIds": [olga["userId"]]}},
        {"organizationIdQuery": {"organizationId": other.id}},
    ]

    for query in attempts:
        answer = await search(manager, query)
        assert "result" not in answer, query
        assert answer["details"]["totalResult"] == "0", query
    refused(await manager.post(PATH, {}, x_idp_orgid=other.id), 403, 7)


@pytest.mark.parametrize(
    ("body", "field", "error_code"),
    [
        ({"query": {"limit": 0}}, "query.limit", "field.out_of_range"),
        ({"query": {"limit": 1001}}, "query.limit", "field.out_of_range"),
        ({"query": {"offset": 1}}, "query.offset", "query.offset_unsupported"),
        ({"query": {"offset": "100"}}, "query.offset", "query.offset_unsupported"),
        ({"query": {"cursor": "nonsense"}}, "query.cursor", "query.cursor"),
        ({"queries": [{}]}, "queries[0]", "field.required"),
        (
            {
                "queries": [
                    {"userNameQuery": {"userName": "a", "method": f"{STARTS[:18]}CONTAINS"}}
                ]
            },
            "queries[0].userNameQuery.method",
            "query.method_unsupported",
        ),
        (
            {"queries": [{"loginNameQuery": {"loginName": "a", "method": STARTS}}]},
            "queries[0].loginNameQuery.method",
            "query.method_unsupported",
        ),
        (
            {"sortingColumn": "USER_FIELD_NAME_EMAIL"},
            "sortingColumn",
            "query.sorting_unsupported",
        ),
        ({"queries": [HUMANS] * 21}, "queries", "field.too_many"),
    ],
)
async def test_what_a_search_can_not_do_is_reported(server, manager, body, field, error_code):
    before = await everything(server.store)

    page = await manager.post(PATH, body)

    assert refused(page, 400, 3)[field] == error_code
    assert await everything(server.store) == before


@pytest.mark.parametrize("limit", [1, "1000"])
async def test_a_limit_at_its_edges_is_taken(manager, limit):
    assert (await search(manager, query={"limit": limit}))["details"]["totalResult"] == "1"


async def test_the_cursor_of_another_search_is_refused(owner, manager, acme):
    await people(owner, acme, "a", "b")
    first = await search(manager, query={"limit": 1})

    query = {"limit": 1, "cursor": first["nextCursor"]}
    page = await manager.post(PATH, {"query": query, "queries": [HUMANS]})

    assert refused(page, 400, 3) == {"query.cursor": "query.cursor"}
