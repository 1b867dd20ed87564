"""POST /admin/v1/export: what it answers, who may call it, and what it is refused for."""

from __future__ import annotations

import asyncio
import json
import tempfile

import pytest

from idp.records import EVENTS, ORGANIZATIONS
from idp.transfer.calls import export_document
from tests.idp.transfer.calls.test_export_document import HASH, organization
from tests.support.browsers.leaving import calling
from tests.support.management.callers import new_caller
from tests.support.patience import until
from tests.support.store.stored import everything
from tests.support.transfer.bringing import brought

EXPORT = "/admin/v1/export"


async def made(server):
    return [each async for each in server.store.scan(EVENTS) if each.type == "export.made"]


async def test_it_answers_every_organization(server, owner):
    await brought(server, organization("a"))
    page = await owner.post(EXPORT, {})

    assert page.status == 200
    assert page.headers["content-type"] == "application/json"
    assert {each["orgId"] for each in page.json()["orgs"]} == {
        each.id async for each in server.store.scan(ORGANIZATIONS)
    }
    assert HASH not in page.text


@pytest.mark.parametrize(
    "body",
    [
        {
            "org_ids": ["a", "b"],
            "excluded_org_ids": ["b"],
            "with_passwords": True,
            "with_otp": True,
            "timeout": "1m",
            "response_output": True,
        },
        {
            "orgIds": ["a", "b"],
            "excludedOrgIds": ["b"],
            "withPasswords": True,
            "withOtp": True,
            "timeout": "60s",
            "responseOutput": True,
        },
    ],
)
async def test_every_field_counts_under_both_of_its_names(server, owner, body):
    await brought(server, organization("a"), organization("b"))
    page = await owner.post(EXPORT, body)

    assert [each["orgId"] for each in page.json()["orgs"]] == ["a"]
    assert HASH in page.text
    assert "JBSWY3DPEHPK3PXP" in page.text
    (event,) = await made(server)
    assert dict(event.payload)["with_otp"] == "true"


async def test_the_answer_is_a_package_that_an_import_takes(server, owner):
    await brought(server, organization("a"))
    page = await owner.post(EXPORT, {"orgIds": ["a"], "withPasswords": True})
    before = await everything(server.store)

    outcomes = await brought(server, *page.json()["orgs"], job="second", updates=True)

    assert {each.action for each in outcomes} == {"skip"}
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    ("body", "status", "field", "error_code"),
    [
        ({"orgIds": ["nobody"]}, 404, "orgIds[0]", "organization.not_found"),
        ({"orgIds": "a"}, 400, "orgIds", "field.wrong_type"),
        ({"orgIds": [""]}, 400, "orgIds[0]", "field.empty"),
        ({"withPasswords": "yes"}, 400, "withPasswords", "field.wrong_type"),
        ({"timeout": "NaN"}, 400, "timeout", "field.duration"),
        ({"timeout": "-1s"}, 400, "timeout", "field.duration"),
        ({"timeout": "10000h"}, 400, "timeout", "field.out_of_range"),
        ({"timeout": "1ns"}, 504, "", "deadline.exceeded"),
        ({"localOutput": {"path": "/etc/passwd"}}, 400, "localOutput", "export.output"),
        ({"org_ids": [], "orgIds": []}, 400, "orgIds", "field.duplicate"),
        ({"other": 1}, 400, "other", "field.unknown"),
    ],
)
async def test_what_it_is_refused_for(server, owner, body, status, field, error_code):
    owner.visitor.may_fail = True  # 504 is an answer here
    before = await everything(server.store)
    page = await owner.post(EXPORT, body)

    assert page.status == status
    detail = page.json()["details"][0]
    assert (detail.get("field", ""), detail["id"]) == (field, error_code)
    assert page.json()["code"] == {400: 3, 404: 5, 504: 4}[status]
    assert await everything(server.store) == before


@pytest.mark.parametrize("role", ["IAM_OWNER_VIEWER", "ORG_OWNER"])
async def test_other_roles_are_refused_and_learn_nothing(server, visitor, owner, role):
    await brought(server, organization("a"))
    home = await server.store.get(ORGANIZATIONS, "a")
    everywhere = role.startswith("IAM")
    other = await new_caller(server, visitor, home, role, everywhere=everywhere)

    page = await other.post(EXPORT, {"orgIds": ["a"]})

    assert page.status == 403
    assert "a.example" not in json.dumps(page.json())
    assert not await made(server)


@pytest.mark.full
async def test_a_caller_who_leaves_has_cut_the_export(server, owner, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    is_begun, is_cut = asyncio.Event(), asyncio.Event()

    async def write(*_):
        is_begun.set()
        try:
            await asyncio.Future()
        finally:
            is_cut.set()

    monkeypatch.setattr(export_document._BufferedWriter, "write", write)
    caller = await calling(server, owner, EXPORT, {"timeout": "24h"})
    await is_begun.wait()
    assert [*tmp_path.iterdir()]

    caller.close()
    await is_cut.wait()
    await until(lambda: not [*tmp_path.iterdir()])

    assert await made(server) == []
