"""`idp audit`: what was changed, as the command line tells it."""

from __future__ import annotations

import json

import pytest

from idp import api
from idp.cli import local
from idp.cli.nouns.audit import COLUMNS, Tail
from idp.cli.output import formatted
from tests.support.programs.shell import Shell


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return Shell(tmp_path_factory.mktemp("data")).install()


@pytest.mark.full
def test_a_change_by_the_command_line_is_found_with_its_actor(shell):
    project = shell.get("project", "create", "--name", "Shop", "--get", "id")

    found = shell("audit", "search", "--aggregate-id", project, "--since", "1h").out.splitlines()

    assert found[0].split()[:2] == ["CREATIONDATE", "TYPE"]
    (event,) = found[1:]
    assert event.split(maxsplit=3)[1:] == ["project.created", project, "command line"]


@pytest.mark.promise("credentials: events")
def test_the_table_has_the_details_of_refused_attempts():
    event = {
        "type": {"type": "user.sign_in.failed"},
        "aggregate": {"id": "u1", "loginName": "ada"},
        "summary": "Cause: wrong password or code; Count: 3",
    }
    head, row = formatted({"events": [event]}, "table", COLUMNS).splitlines()

    assert head.split()[-2:] == ["REQUESTID", "DETAILS"]
    assert row.split() == ["user.sign_in.failed", "u1", "ada", *event["summary"].split()]


def test_a_search_of_the_past_finds_nothing_that_is_older(shell):
    ran = shell("audit", "search", "--until", "24h")

    assert (ran.out, ran.err) == ("", "")


def test_the_tail_is_the_newest_last(shell):
    for name in ("First", "Second", "Third"):
        shell("project", "create", "--name", name)

    lines = shell("audit", "tail", "-n", "2", "--format", "ndjson").out.splitlines()
    dates = [json.loads(line)["creationDate"] for line in lines]

    assert len(dates) == 2
    assert dates == sorted(dates)


def test_every_event_is_printed_page_after_page(shell):
    events = shell("audit", "search", "--all", "--format", "ndjson").out.splitlines()

    assert len(events) == len(shell.stored()["events"])


async def test_a_follower_gets_each_change_once(server):
    way = await local.backend(server.service, None)
    tail = Tail(way, own=False)
    create = api.projects.CREATE

    before = await tail.last(3)
    server.clock.advance(1)
    for name in ("First", "Second"):
        await way.call(create, [], {"name": name})
    new_events = await tail.new_events()

    assert len(before) == 3
    assert [event["type"]["type"] for event in new_events] == ["project.created"] * 2
    assert await tail.new_events() == []
