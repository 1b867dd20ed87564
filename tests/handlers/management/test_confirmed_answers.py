"""A change that is found done or impossible is answered once no loss of a server can take that
back."""

from __future__ import annotations

import pytest

from storage import Unavailable
from tests.support.store.stored import everything

PROJECTS = "/management/v1/projects"
ROLE = {"roleKey": "editor", "displayName": "Editor"}


@pytest.fixture
def project(io_loop, owner):
    async def make():
        page = await owner.post(PROJECTS, {"name": "Shop"})
        path = f"{PROJECTS}/{page.json()['id']}"
        await owner.post(f"{path}/roles", ROLE)
        return path

    owner.visitor.may_fail = True
    return io_loop.run_sync(make)


@pytest.fixture
def without_majority(server, monkeypatch):
    """Has no read be confirmed."""

    async def confirm(point):
        raise Unavailable("there is no majority")

    monkeypatch.setattr(server.store, "confirm", confirm)


async def is_taken(owner, project):
    return await owner.post(f"{project}/roles", ROLE)


async def is_in_that_state(owner, project):
    return await owner.post(f"{project}/_reactivate", {})


async def is_gone(owner, project):
    return await owner.request("DELETE", f"{project}/roles/none", None)


async def is_equal(owner, project):
    return await owner.request("PUT", project, {"name": "Shop"})


CASES = {is_taken: 409, is_in_that_state: 400, is_gone: 404, is_equal: 200}


@pytest.mark.promise("faults: majority")
@pytest.mark.every_row
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
async def test_what_was_read_and_not_written_is_confirmed(server, owner, project, case):
    confirmed, confirm = [], server.store.confirm

    async def recording(point):
        confirmed.append(point)
        await confirm(point)

    server.store.confirm = recording
    page = await case(owner, project)

    assert (page.status, len(confirmed)) == (CASES[case], 1)


@pytest.mark.promise("faults: majority")
@pytest.mark.every_row
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
async def test_without_a_majority_it_is_503(server, owner, project, without_majority, case):
    before = await everything(server.store)
    page = await case(owner, project)

    assert (page.status, "Retry-After" in page.headers) == (503, True)
    assert await everything(server.store) == before


async def test_reads_and_writes_are_not_confirmed(owner, project, without_majority):
    pages = [
        await owner.get(project),
        await owner.post(f"{PROJECTS}/_search", {}),
        await owner.request("PUT", project, {"name": "Store"}),
        await owner.post(PROJECTS, {"name": "Other"}, Idempotency_Key="k"),
    ]

    assert [page.status for page in pages] == [200] * 4
