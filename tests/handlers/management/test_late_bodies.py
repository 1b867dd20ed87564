"""A call whose body arrives after its head is authorized again when it has arrived."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager

import pytest

from idp.management import call as management_call
from idp.records import MEMBERSHIPS, PATS, POLICIES
from storage import Delete
from tests.support.browsers.wire import head, opened
from tests.support.management.callers import new_caller
from tests.support.patience import until
from tests.support.store.stored import everything

PERSON = {
    "profile": {"givenName": "Ada", "familyName": "Byron"},
    "email": {"email": "a@b.example"},
}
JSON = "Content-Type: application/json"


@pytest.fixture
def calls(monkeypatch):
    """The calls that were authorized."""
    admit, admitted = management_call.admit, []

    async def watched(*arguments):
        admitted.append(await admit(*arguments))
        return admitted[-1]

    monkeypatch.setattr(management_call, "admit", watched)
    return admitted


@asynccontextmanager
async def begun(server, calls, caller, body):
    """A call that was authorized and whose body was not sent."""
    lines = [f"Authorization: Bearer {caller.token}", f"Content-Length: {len(body)}", JSON]
    request = head(server, "POST", "/v2/users/human", *lines, "Connection: close")
    async with opened(server, request) as (reader, writer):
        await until(lambda: calls)
        yield reader, writer


async def answer_to(server, calls, caller, person, change):
    body = json.dumps(person).encode()
    async with begun(server, calls, caller, body) as (reader, writer):
        await change()
        before = await everything(server.store)
        writer.write(body)
        answer = await reader.read()
    return answer, before


@pytest.mark.parametrize(("lost", "status"), [(PATS, 401), (MEMBERSHIPS, 403)])
async def test_a_caller_who_has_lost_the_permission_meanwhile_changes_nothing(
    server, visitor, own, calls, lost, status
):
    caller = await new_caller(server, visitor, own, "ORG_OWNER")

    async def revoke():
        (record,) = (await server.store.find(lost, {"user_id": caller.user_id})).records
        await server.store.commit(Delete(lost, record.id))

    answer, before = await answer_to(server, calls, caller, PERSON, revoke)

    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert await everything(server.store) == before


async def test_a_policy_that_is_set_meanwhile_decides(server, visitor, own, calls):
    caller = await new_caller(server, visitor, own, "ORG_OWNER")
    person = PERSON | {"password": {"password": "seventeen letters 1"}}

    async def require_long_passwords():
        path = "/management/v1/policies/password/complexity"
        page = await caller.post(path, {"minLength": 40})
        assert page.status == 200, page.text
        assert (await server.store.find(POLICIES, {})).records

    answer, _ = await answer_to(server, calls, caller, person, require_long_passwords)

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Use at least 40 characters" in answer
