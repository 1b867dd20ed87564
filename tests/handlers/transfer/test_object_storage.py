"""Imports out of object storage, exports into it: whole or not at all, the account forgotten."""

from __future__ import annotations

import asyncio
import json
import tempfile

import pytest

from idp.records import EVENTS, JOBS, ORGANIZATIONS
from idp.transfer.bucket import store as bucket_store
from tests.support.browsers.leaving import calling
from tests.support.management.callers import refused
from tests.support.measured.logged import logged as logged_from
from tests.support.patience import until
from tests.support.servers.bucket import (
    ACCOUNT,
    EMAIL,
    MEDIA,
    PEM,
    UPLOAD,
    holds,
    packed,
    serving,
    silent,
    slow,
    takes,
    told,
)
from tests.support.store.stored import everything
from tests.support.transfer.bulk import IMPORT, imported, large, orgs, package
from tests.support.transfer.scratch_files import all_removed, nothing_left

EXPORT = "/admin/v1/export"
PLACE = {"bucket": "acme", "path": "a/b.json", "serviceaccountJson": packed(ACCOUNT)}
NAMES = ["dataOrgsGcs", "data_orgs_gcs", "dataOrgsv1Gcs", "data_orgsv1_gcs"]


@pytest.fixture
def bucket():
    with serving() as running:
        holds(running, json.dumps({"orgs": orgs(2)}).encode())
        yield running


@pytest.fixture
def settings(bucket):
    return {"gcs_endpoint": bucket.url}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def logged():
    with logged_from("debug") as stream:
        yield stream


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """The folder of temporary files of one test: no other test writes there."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


async def reached(bucket, beginning):
    """Once the bucket was asked that."""
    await until(lambda: any(line.startswith(beginning) for line, *_ in bucket.seen))


# Import


@pytest.mark.promise("import: data_orgsv1_gcs")
@pytest.mark.parametrize("name", NAMES)
async def test_a_package_is_read_from_object_storage(server, owner, bucket, name):
    found = await imported(owner, {name: PLACE, "timeout": "30s"})

    assert (found["state"], found["created"]) == ("JOB_STATE_SUCCEEDED", 2)
    assert await server.store.get(ORGANIZATIONS, "o1")
    await all_removed()  # by the job, whose end the answer does not wait for


@pytest.mark.promise("import: data_orgsv1_gcs")
async def test_names_of_the_place_may_be_in_snake_case(owner, bucket):
    place = {name: PLACE[name] for name in ("bucket", "path")}
    place["serviceaccount_json"] = PLACE["serviceaccountJson"]

    assert (await imported(owner, {"data_orgsv1_gcs": place}))["created"] == 2


@pytest.mark.parametrize(
    "document",
    [
        package(*orgs(2)),
        package(*orgs(2), timeout="1h"),
        {"dataOrgsv1": {"orgs": orgs(2)}},
        {"data_orgsv1": json.dumps({"orgs": orgs(2)})},
    ],
)
async def test_whatever_can_be_sent_can_be_stored(owner, bucket, document):
    holds(bucket, json.dumps(document).encode())

    assert (await imported(owner, {"dataOrgsv1Gcs": PLACE}))["created"] == 2


@pytest.mark.full
async def test_a_large_package_is_stored_and_read_when_it_is_complete(server, owner, bucket):
    holds(bucket, large())
    found = await imported(owner, {"dataOrgsGcs": PLACE})
    await server.service.background_tasks.finished()

    job = await server.store.get(JOBS, found["jobId"])
    assert (job.state, job.created, job.source) == ("succeeded", 1500, None)


async def test_a_dry_run_of_a_stored_package_stores_nothing(server, owner, bucket):
    found = await imported(owner, {"dataOrgsGcs": PLACE, "dryRun": True})

    assert found["created"] == 2
    assert await server.store.get(ORGANIZATIONS, "o1") is None


BAD_PLACES = {
    "no bucket": ({"bucket": ""}, "bucket", "field.empty"),
    "another host": ({"bucket": "a@evil.example"}, "bucket", "object_storage.bucket"),
    "a line": ({"bucket": "a\r\nX: y"}, "bucket", None),
    "a way up": ({"path": "a/../b"}, "path", "object_storage.path"),
    "no account": ({"serviceaccountJson": "e30="}, "serviceaccountJson", "object_storage.account"),
    "no base64": ({"serviceaccountJson": "%"}, "serviceaccountJson", "field.base64"),
    "another token server": (
        {"serviceaccountJson": packed(ACCOUNT | {"token_uri": "http://169.254.169.254/"})},
        "serviceaccountJson",
        "object_storage.account",
    ),
    "another universe": (
        {"serviceaccountJson": packed(ACCOUNT | {"universe_domain": "evil.example"})},
        "serviceaccountJson",
        "object_storage.account",
    ),
    "something else": ({"endpoint": "https://evil.example"}, "endpoint", "field.unknown"),
}


@pytest.mark.promise("export: path, bucket, serviceaccount_json", "import: data_orgsv1_gcs")
@pytest.mark.parametrize(
    ("path", "member"), [(IMPORT, "dataOrgsv1Gcs"), (EXPORT, "gcsOutput")], ids=["in", "out"]
)
async def test_a_place_that_is_none_is_refused_before_anything_is_called(
    server, owner, bucket, path, member
):
    before = await everything(server.store)

    for changed, field, error_code in BAD_PLACES.values():
        fields = refused(await owner.post(path, {member: PLACE | changed}), 400, 3)

        assert [*fields] == [f"{member}.{field}"]
        assert error_code in (None, fields[f"{member}.{field}"])
    assert await everything(server.store) == before
    assert bucket.connections == 0


CONTRADICTING = [
    ({"dataOrgsGcs": PLACE, "dataOrgsv1Gcs": PLACE}, "dataOrgsv1Gcs", "field.conflict"),
    ({"dataOrgsGcs": PLACE, "data_orgs_gcs": PLACE}, "dataOrgsGcs", "field.duplicate"),
    ({"dataOrgsGcs": PLACE, "dataOrgs": {"orgs": []}}, "dataOrgsGcs", "field.conflict"),
    ({"dataOrgsGcs": PLACE, "orgs": []}, "orgs", "field.unknown"),
    ({"dataOrgsGcs": None}, "dataOrgsGcs", "field.wrong_type"),
    ({"dataOrgsGcs": PLACE, "timeout": "soon"}, "timeout", "field.duration"),
    ({"dataOrgsGcs": PLACE, "more": [0] * 600_000}, "dataOrgsGcs", "json.too_large"),
]


async def test_what_contradicts_itself_is_refused(server, owner, bucket):
    before = await everything(server.store)

    for document, field, error_code in CONTRADICTING:
        assert refused(await owner.post(IMPORT, document), 400, 3)[field] == error_code
    assert await everything(server.store) == before
    assert bucket.connections == 0


NO_PACKAGES = [
    (b"", "dataOrgsGcs"),
    (b"[]", "dataOrgsGcs"),
    (b"{}", "dataOrgsGcs.dataOrgs"),
    (b'{"orgs":[]', "dataOrgsGcs"),
    (b'{"orgs":[],"dryRun":true}', "dataOrgsGcs.dryRun"),
    (b'{"orgs":[],"dataOrgs":{"orgs":[]}}', "dataOrgsGcs.dataOrgs"),
    (json.dumps({"dataOrgsGcs": PLACE}).encode(), "dataOrgsGcs.dataOrgsGcs"),
]


@pytest.mark.promise("import: data_orgsv1_gcs")
async def test_an_object_that_is_no_package_is_refused(server, owner, bucket):
    """What an object wishes is no wish, and is not passed over either."""
    before = await everything(server.store)

    for octets, field in NO_PACKAGES:
        holds(bucket, octets)
        assert field in refused(await owner.post(IMPORT, {"dataOrgsGcs": PLACE}), 400, 3)
    assert await everything(server.store) == before
    assert nothing_left()


FAILING = {
    "forbidden": (told(403), "object_storage.forbidden"),
    "absent": (told(404), "object_storage.not_found"),
    "elsewhere": (told(302, Location="http://[::1]:1/"), "object_storage.unreachable"),
    "too large": (told(200, Content_Length=str(1 << 50)), "object_storage.too_large"),
    "slow": (slow, "object_storage.timeout"),
}


@pytest.mark.full
@pytest.mark.promise("import: data_orgsv1_gcs")
@pytest.mark.parametrize("name", FAILING)
async def test_an_object_that_cant_be_read_is_reported_and_nothing_is_stored(
    server, owner, bucket, name
):
    bucket.answers[MEDIA], error_code = FAILING[name]
    before = await everything(server.store)
    timeout = "0.3s" if name == "slow" else "30s"

    page = await owner.post(IMPORT, {"dataOrgsGcs": PLACE, "timeout": timeout})

    assert refused(page, 400, 3) == {"dataOrgsGcs": error_code}
    assert await everything(server.store) == before
    assert nothing_left()


# How many at once, and the end of a call


async def test_one_request_too_many_is_asked_to_come_back(server, owner, bucket, monkeypatch):
    monkeypatch.setattr(bucket_store, "_transfer_slots", asyncio.Semaphore(1))
    bucket.answers[MEDIA] = silent
    owner.visitor.may_fail = True
    caller = await calling(server, owner, IMPORT, {"dataOrgsGcs": PLACE, "timeout": "1h"})
    await reached(bucket, MEDIA)

    page = await owner.post(IMPORT, {"dataOrgsGcs": PLACE})

    assert refused(page, 503, 14) == {"": "busy"}
    assert page.headers["Retry-After"]
    caller.close()
    await all_removed()
    holds(bucket, b'{"orgs":[]}')
    assert await imported(owner, {"dataOrgsGcs": PLACE})


async def test_a_caller_who_leaves_has_cut_the_transfer(server, owner, bucket):
    bucket.answers[MEDIA] = silent
    before = await everything(server.store)
    caller = await calling(server, owner, IMPORT, {"dataOrgsGcs": PLACE, "timeout": "1h"})
    await reached(bucket, MEDIA)
    assert not nothing_left()

    caller.close()
    await all_removed()

    assert await everything(server.store) == before


# Export


@pytest.mark.promise("export: gcs_output")
async def test_an_export_is_written_to_object_storage_instead(server, owner, bucket):
    await imported(owner, package(*orgs(2)))
    kept = takes(bucket)

    page = await owner.post(EXPORT, {"orgIds": ["o0", "o1"], "gcsOutput": PLACE})

    assert page.status == 200, page.text
    (octets,) = kept
    assert [each["orgId"] for each in json.loads(octets)["orgs"]] == ["o0", "o1"]
    output = {"bucket": "acme", "path": "a/b.json", "size": len(octets)}
    assert page.json() == {"output": output}
    assert nothing_left()


@pytest.mark.promise("export: response_output")
@pytest.mark.parametrize("name", ["responseOutput", "response_output"])
async def test_with_both_outputs_it_is_written_and_answered(server, owner, bucket, name):
    kept = takes(bucket)
    page = await owner.post(EXPORT, {"gcs_output": PLACE, name: True})

    assert [each.decode() for each in kept] == [page.text]
    assert page.json()["orgs"]


@pytest.mark.promise("export: response_output")
async def test_without_an_output_it_is_answered(owner, bucket):
    page = await owner.post(EXPORT, {"responseOutput": False})

    assert page.json()["orgs"]
    assert bucket.connections == 0


@pytest.mark.full
@pytest.mark.promise("export: gcs_output")
@pytest.mark.parametrize(
    ("answer", "error_code"),
    [
        (told(403), "object_storage.forbidden"),
        (told(404), "object_storage.not_found"),
        (told(412), "object_storage.exists"),
        (slow, "object_storage.timeout"),
    ],
    ids=["forbidden", "absent", "there already", "slow"],
)
async def test_an_export_that_cant_be_written_is_refused(
    server, owner, bucket, answer, error_code
):
    bucket.answers = {UPLOAD: answer}
    timeout = "1s" if answer is slow else "30s"

    page = await owner.post(
        EXPORT, {"gcsOutput": PLACE, "responseOutput": True, "timeout": timeout}
    )

    assert refused(page, 400, 3) == {"gcsOutput": error_code}
    assert nothing_left()


async def test_the_audit_log_says_where_an_export_went(server, owner, bucket):
    takes(bucket)
    for body in ({"gcsOutput": PLACE}, {"gcsOutput": PLACE, "responseOutput": True}, {}):
        assert (await owner.post(EXPORT, body)).status == 200

    events = [each async for each in server.store.scan(EVENTS) if each.type == "export.made"]
    places = {dict(event.payload)["destination"] for event in events}
    there = "gs://acme/a/b.json"
    assert places == {there, f"inline, {there}", "inline"}


async def test_a_caller_who_leaves_has_cut_the_writing_to_object_storage(server, owner, bucket):
    bucket.answers = {UPLOAD: silent}
    caller = await calling(server, owner, EXPORT, {"gcsOutput": PLACE, "timeout": "1h"})
    await reached(bucket, UPLOAD)
    assert not nothing_left()

    caller.close()
    await all_removed()

    takes(bucket)
    assert (await owner.post(EXPORT, {"gcsOutput": PLACE})).status == 200


async def test_what_was_exported_there_is_imported_from_there(server, owner, bucket):
    await imported(owner, package(*orgs(2)))
    kept = takes(bucket)
    await owner.post(EXPORT, {"orgIds": ["o0", "o1"], "gcsOutput": PLACE})
    holds(bucket, kept[0])

    found = await imported(owner, {"dataOrgsv1Gcs": PLACE})

    assert "errors" not in found
    assert found["skipped"] == found["total"]


# The account


@pytest.mark.promise("export: path, bucket, serviceaccount_json", "import: data_orgsv1_gcs")
async def test_the_account_is_nowhere_when_the_call_is_over(server, owner, bucket, logged):
    secrets = (PLACE["serviceaccountJson"][200:260], PEM[40:80], EMAIL)
    keyed = {"Idempotency_Key": "k"}
    page = await owner.post(IMPORT, {"dataOrgsGcs": PLACE}, **keyed)
    pages = [page]
    holds(bucket, b"{}")
    pages.append(await owner.post(IMPORT, {"dataOrgsGcs": PLACE}))
    bucket.answers = dict.fromkeys((MEDIA, UPLOAD), told(403, EMAIL.encode()))
    pages.append(await owner.post(IMPORT, {"dataOrgsGcs": PLACE}))
    pages.append(await owner.post(EXPORT, {"gcsOutput": PLACE}))
    wrong = PLACE | {"serviceaccountJson": packed(ACCOUNT | {"type": "authorized_user"})}
    pages.append(await owner.post(IMPORT, {"dataOrgsGcs": wrong}))
    takes(bucket)
    pages.append(await owner.post(EXPORT, {"gcsOutput": PLACE}))

    assert [page.status for page in pages] == [200, 400, 400, 400, 400, 200]
    assert "object storage failed" in logged.getvalue()
    assert [each async for each in server.store.scan(EVENTS) if each.type == "export.made"]
    kept = repr(await everything(server.store))
    for told_somewhere in (kept, logged.getvalue(), *(page.text for page in pages)):
        assert not [secret for secret in secrets if secret in told_somewhere]
    assert nothing_left()
