"""POST /admin/v1/import: what it answers, who may call it, and bodies of every kind."""

from __future__ import annotations

import gzip
import json

import pytest

from idp.records import JOBS, ORGANIZATIONS, PACKAGE_PARTS, USERS
from storage import Update
from tests.support.management.callers import new_caller, new_organization, refused
from tests.support.store.stored import count, everything
from tests.support.transfer.bulk import IMPORT, imported, large, orgs, package

PERSON = {
    "userName": "ada",
    "profile": {"firstName": "Ada", "lastName": "Lovelace"},
    "email": {"email": "ada@example.com", "isEmailVerified": True},
}


@pytest.mark.promise("migration: body shape")
async def test_a_package_is_stored_and_reported(server, owner):
    acme = {**orgs(1)[0], "humanUsers": [{"userId": "u|1", "user": PERSON}]}
    found = await imported(owner, package(acme, timeout="30s"))

    assert found["state"] == "JOB_STATE_SUCCEEDED"
    assert found["success"] == {"orgs": [{"orgId": "o0", "humanUserIds": ["u|1"]}]}
    assert "errors" not in found
    assert (found["total"], found["created"]) == (2, 2)
    assert (await server.store.get(USERS, "u|1")).org_id == "o0"
    assert (await server.store.get(JOBS, found["jobId"])).state == "succeeded"


@pytest.mark.promise("import: data_orgsv1")
@pytest.mark.parametrize(
    "document",
    [
        {"dataOrgs": {"orgs": orgs(2)}},
        {"data_orgs": {"orgs": orgs(2)}},
        {"dataOrgsv1": {"orgs": orgs(2)}},
        {"data_orgsv1": {"orgs": orgs(2)}},
        {"data_orgsv1": json.dumps({"orgs": orgs(2)})},
        {"dataOrgsv1": json.dumps({"orgs": orgs(2)})},
        {"orgs": orgs(2)},
        {"timeout": "1h30m", "dataOrgs": {"orgs": orgs(2)}, "update": False},
    ],
)
async def test_every_envelope_is_taken(server, owner, document):
    assert (await imported(owner, document))["created"] == 2


@pytest.mark.promise("import: data_orgsv1")
async def test_a_row_that_is_refused_is_reported_and_the_others_go_in(server, owner):
    rows = [*orgs(1), {"orgId": "bad", "org": {"name": ""}}, *orgs(1, first=1)]
    found = await imported(owner, package(*rows))

    (told,) = found["errors"]
    assert found["state"] == "JOB_STATE_FINISHED_WITH_ERRORS"
    assert (told["type"], told["row"], told["path"]) == ("org", 2, "orgs[1].org")
    assert (told["slug"], told["field"]) == ("field.empty", "name")
    assert told["message"] == "name: must not be empty"
    assert told["fix"]
    assert await server.store.get(ORGANIZATIONS, "o1")


async def test_what_breaks_a_rule_in_what_is_not_taken_is_no_error(server, owner):
    found = await imported(owner, package({**orgs(1)[0], "actions": [{"actionId": "a\0"}]}))

    assert found["state"] == "JOB_STATE_SUCCEEDED"
    assert [each["slug"] for each in found["warnings"]] == [
        "json.characters",
        "import.unsupported",
    ]


@pytest.mark.parametrize("user", [{}, {"userName": "\0"}], ids=["a field", "a rule of JSON"])
@pytest.mark.parametrize("name", ["userId", "user_id"])
async def test_a_row_that_can_not_be_read_is_reported_by_its_id(server, owner, name, user):
    found = await imported(
        owner, package({**orgs(1)[0], "humanUsers": [{name: "u7", "user": user}]})
    )

    assert {(each["type"], each["id"]) for each in found["errors"]} == {("human_user", "u7")}
    assert all(each["slug"] and each["field"] and each["fix"] for each in found["errors"])


@pytest.mark.promise("import: data_orgsv1")
async def test_the_same_package_again_changes_nothing(server, owner):
    await imported(owner, package(*orgs(3)))
    before = await everything(server.store)

    again = await imported(owner, package(*reversed(orgs(3))))

    assert again["skipped"] == 3
    after = await everything(server.store)
    for name in ("organizations", "organization_domains", "users", "memberships"):
        assert after[name] == before[name]


@pytest.mark.parametrize("update", [False, True])
async def test_a_package_that_has_one_record_twice_changes_it_once(server, owner, update):
    def told(first_name, **differs):
        profile = {"firstName": first_name, "lastName": "Lovelace"}
        return {"userId": "u", "user": PERSON | {"profile": profile} | differs}

    entries = [{"id": "u", "key": "plan", "value": value} for value in ("MQ==", "Mg==")]
    people = [told("Ada"), told("Eve"), told("Eve", userName="eve")]
    acme = {**orgs(1)[0], "humanUsers": people, "userMetadata": entries}
    await imported(owner, package(acme))
    before = await everything(server.store)
    for _ in range(3):
        found = await imported(owner, package(acme, update=update))
        types = [error["type"] for error in found["errors"]]

        assert types == ["human_user", "human_user", "user_metadata"]
        assert {error["slug"] for error in found["errors"]} == {"import.double"}
    after = await everything(server.store)

    assert after["users"] == before["users"]
    assert after["user_metadata"] == before["user_metadata"]
    assert (await server.store.get(USERS, "u")).profile.given_name == "Ada"


@pytest.mark.parametrize("update", [False, True])
async def test_of_two_rows_the_second_counts_where_the_first_is_none(server, owner, update):
    broken = {"userId": "u", "user": PERSON | {"email": {"email": "none"}}}
    acme = {**orgs(1)[0], "humanUsers": [broken, {"userId": "u", "user": PERSON}]}
    first = await imported(owner, package(acme))
    before = await everything(server.store)
    await imported(owner, package(acme, update=update))

    assert len(first["errors"]) == 1
    assert (await everything(server.store))["users"] == before["users"]
    assert (await server.store.get(USERS, "u")).user_name == "ada"


@pytest.mark.promise("client authentication: import")
@pytest.mark.parametrize("roles", [(), ("IAM_OWNER_VIEWER",), ("IAM_ORG_MANAGER",)])
async def test_only_an_owner_of_the_instance_imports(server, visitor, roles):
    organization = await new_organization(server, "own.example")
    caller = await new_caller(server, visitor, organization, *roles, everywhere=True)
    before = await everything(server.store)

    refused(await caller.post(IMPORT, package(*orgs(1))), 403, 7)
    assert await everything(server.store) == before


@pytest.mark.promise("import: data_orgsv1")
@pytest.mark.parametrize(
    ("octets", "field"),
    [
        (b"", ""),
        (b"null", ""),
        (b"[]", ""),
        (b"{}", "dataOrgs"),
        (b'{"dataOrgs":{"orgs":[]}', ""),
        (b'{"dataOrgs":{"orgs":[]}}{}', ""),
        (b'{"dataOrgs":{"orgs":[{"orgId":"a","org":{"name":"A"}}]', ""),
        (b'{"dataOrgs":{"orgs":[]},"dataOrgs":{"orgs":[]}}', "dataOrgs"),
        (b'{"dataOrgs":{"orgs":[]},"data_orgsv1":{"orgs":[]}}', "data_orgsv1"),
        (b'{"dataOrgs":{"orgs":[]},"surprise":1}', "surprise"),
        (b'{"dataOrgs":{"orgs":[]},"dryRun":"yes"}', "dryRun"),
        (b'{"dataOrgs":{"orgs":[]},"timeout":7}', "timeout"),
        (b'{"dataOrgs":{"orgs":\xff[]}}', ""),
        (b'{"dataOrgs":{"orgs":["\xff"]}}', ""),
        ('{"dataOrgs":{"orgs":[]}}'.encode("utf-16"), ""),
        (b'{"dataOrgs":7}', None),
        (b'{"dataOrgs":{"orgs":7}}', None),
        (b'{"dataOrgs":' + b"[" * 100_000, ""),
        (b'{"a":' * 50_000, ""),
        (b'{"dataOrgs":{"orgs":[]},"timeout":' + b"9" * 5000 + b"}", "timeout"),
    ],
)
async def test_what_is_no_package_is_refused_and_nothing_is_stored(server, owner, octets, field):
    before = await everything(server.store)

    fields = refused(await owner.post(IMPORT, octets), 400, 3)

    assert field is None or field in fields
    assert await everything(server.store) == before


@pytest.mark.promise("import: timeout")
@pytest.mark.parametrize("timeout", ["-1s", "NaN", "", "s", "1e9s", "1 s", "١s", "9" * 39 + "h"])
async def test_a_timeout_that_is_none_is_refused(server, owner, timeout):
    before = await everything(server.store)
    page = await owner.post(IMPORT, package(*orgs(1), timeout=timeout))

    assert [*refused(page, 400, 3)] == ["timeout"]
    assert await everything(server.store) == before


@pytest.mark.promise("import: timeout")
@pytest.mark.parametrize("timeout", ["1ns", "0s", "10000h", "1h30m0s", "1.5h"])
async def test_a_timeout_ends_the_wait_for_the_job(server, owner, timeout):
    found = await imported(owner, package(*orgs(1), timeout=timeout))

    wanted = "RUNNING" if timeout in ("1ns", "0s") else "SUCCEEDED"
    assert found["state"] == f"JOB_STATE_{wanted}"
    await server.service.background_tasks.finished()
    assert (await server.store.get(JOBS, found["jobId"])).state == "succeeded"


@pytest.mark.full
@pytest.mark.promise("import: timeout")
async def test_after_the_timeout_the_job_goes_on(server, owner):
    found = await imported(owner, large(timeout="0.1s"))
    assert found["state"] == "JOB_STATE_RUNNING"

    await server.service.background_tasks.finished()

    job = await server.store.get(JOBS, found["jobId"])
    assert (job.state, job.created, job.total) == ("succeeded", 1500, 1500)


async def test_a_large_package_that_is_none_is_refused_when_it_was_looked_through(server, owner):
    octets = large()[:-1]
    before = await count(server.store)

    refused(await owner.post(IMPORT, octets), 400, 3)
    await server.service.background_tasks.finished()

    after = await count(server.store)
    assert after["organizations"] == before["organizations"]
    assert PACKAGE_PARTS.name not in after  # nobody can go on by it


@pytest.mark.parametrize("form", ["dataOrgs", "dataOrgsv1"])
async def test_a_body_that_was_cut_off_is_called_that(server, owner, form):
    """Not by a place in what is left of it when the package is taken out."""
    value = {"orgs": orgs(2)} if form == "dataOrgs" else json.dumps({"orgs": orgs(2)})
    octets = json.dumps({"timeout": "1m", form: value}).encode()
    for end in (len(octets) // 2, len(octets) - 1):
        page = await owner.post(IMPORT, octets[:end])
        assert refused(page, 400, 3) == {"": "json.malformed"}
        assert "ends in the middle" in page.json()["message"]


async def test_a_compressed_body_is_refused(server, owner):
    octets = gzip.compress(json.dumps(package(*orgs(1))).encode())
    refused(await owner.post(IMPORT, octets, Content_Encoding="gzip"), 415, 3)
    refused(await owner.post(IMPORT, octets), 400, 3)


async def test_another_content_type_is_refused(server, owner):
    page = await owner.request(
        "POST", IMPORT, json.dumps(package(*orgs(1))).encode(), **{"Content-Type": "text/plain"}
    )
    refused(page, 415, 3)


async def test_under_one_key_a_package_is_one_job(server, owner):
    first = await imported(owner, package(*orgs(2)), Idempotency_Key="k")
    again = await imported(owner, package(*orgs(2)), Idempotency_Key="k")
    other = await owner.post(IMPORT, package(*orgs(3)), Idempotency_Key="k")

    assert first == again
    assert other.status == 409
    assert [one.id async for one in server.store.scan(JOBS)] == [first["jobId"]]


@pytest.mark.promise("client authentication: import")
async def test_a_person_may_not_import_even_by_a_personal_token(server, visitor):
    organization = await new_organization(server, "own.example")
    caller = await new_caller(server, visitor, organization, "IAM_OWNER", everywhere=True)
    await server.store.commit(Update(USERS, caller.user_id, set={"kind": "human"}))

    found = refused(await caller.post(IMPORT, package(*orgs(1))), 403, 7)

    assert found == {"": "caller.not_a_service"}
    assert await server.store.get(ORGANIZATIONS, "o0") is None
