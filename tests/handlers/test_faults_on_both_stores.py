"""Faults and bounds of the API, over HTTP, on SQLite and on MongoDB."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from storage import Unavailable, Unknown, settling
from tests.handlers.people import create
from tests.support.callers import instance_owner, refused
from tests.support.mongod import fresh_database

PROJECT = "/management/v1/projects"
PHPASS_19 = "$P$H12345678Yffhn1wkB.NF0nc8V2DIT0"


@pytest.fixture(params=["sqlite", "mongodb"])
def settings(request, tmp_path):
    if request.param == "sqlite":
        yield {"store": f"sqlite:///{tmp_path}/db.sqlite3"}
        return
    with fresh_database(request.getfixturevalue("mongod")) as url:
        yield {"store": url}


@pytest.fixture
def owner(io_loop, server, visitor):
    return io_loop.run_sync(lambda: instance_owner(server, visitor))


async def test_a_phpass_hash_of_two_to_the_nineteen_rounds_signs_in(owner, new_visitor, demo):
    await create(owner, username="mini", hashedPassword={"hash": PHPASS_19})

    tokens = await demo.tokens(new_visitor(), "mini", "old but right")

    assert tokens["token_type"] == "Bearer"


async def test_a_write_whose_outcome_nobody_can_tell_is_answered_by_503(
    server, owner, monkeypatch
):
    async def losing(store, *writes):
        raise Unknown(SimpleNamespace(id="a unit"))

    async def silent(store, unit):
        raise Unavailable("gone")

    assert settling.SETTLES_WITHIN_SECONDS == 8
    monkeypatch.setattr(settling, "SETTLES_WITHIN_SECONDS", 0.1)
    monkeypatch.setattr(type(server.store), "commit", losing)
    monkeypatch.setattr(type(server.store), "applied", silent)
    owner.visitor.may_fail = True
    page = await owner.post(PROJECT, {"name": "Shop"})

    assert refused(page, 503, 14) == {"": "unavailable"}
    assert page.headers["Retry-After"]
