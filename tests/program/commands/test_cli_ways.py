"""Operations on the store and on a running service: the same answers, the same refusals."""

from __future__ import annotations

import pytest

from idp.cli import local, remote
from idp.foundation.clock import SystemClock
from idp.foundation.errors import IdpError
from idp.start import exit_codes
from tests.support.management.api_samples import CALLS
from tests.support.management.api_world import World
from tests.support.management.callers import instance_owner, new_organization
from tests.support.store.stored import everything

NOBODY = "http://127.0.0.1:1"


@pytest.fixture
def owner(io_loop, server, visitor):
    return io_loop.run_sync(lambda: instance_owner(server, visitor))


@pytest.fixture
def world(io_loop, server, visitor, owner):
    return io_loop.run_sync(lambda: World(server, visitor, owner).make())


@pytest.fixture
def ways(io_loop, server, world):
    """The two ways, each in the organization of the world."""
    directly = io_loop.run_sync(lambda: local.backend(server.service, world.own.id))
    url, token = server.issuer, world.owner.token
    return directly, remote.backend(url, token, world.own.id, "idp", SystemClock())


async def made(way, world, call):
    """What the call answers, or its refusal as an exit code and problems."""
    operation = CALLS[call]
    ids, body = await world.ids(operation), world.body(operation)
    if operation.permission == "org.delete":  # others are to act in the world's organization yet
        ended = await new_organization(world.server, f"{world.new_name('ended')}.example")
        way = way.within(ended.id)
    values = [ids[name] for name in operation.parameters]
    return await answered(way, operation, values, body)


async def answered(way, operation, values, body):
    try:
        return await way.call(operation, values, body)
    except IdpError as error:
        return outcome_of(error)


def outcome_of(error):
    problems = [(each.error_code, each.field, each.message, each.limit) for each in error.details]
    return exit_codes.code(error), problems


def shape(answer):
    """An answer without what is different each time."""
    if isinstance(answer, dict):
        return {name: shape(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return [shape(each) for each in answer[:1]]
    return type(answer)


@pytest.mark.full
async def test_each_operation_answers_the_same_both_ways(ways, world):
    differing = {}
    for call in CALLS:
        directly, served = [await made(way, world, call) for way in ways]
        if shape(directly) != shape(served):
            differing[call] = (directly, served)

    assert not differing


@pytest.mark.full
async def test_what_is_unknown_is_refused_the_same_both_ways_and_stores_nothing(
    server, ways, world
):
    differing, before = {}, await everything(server.store)
    for call, operation in CALLS.items():
        values = ["nobody"] * len(operation.parameters)
        body = {"nonsense": True} if operation.request else None
        if not values and body is None:
            continue
        found = [await answered(way, operation, values, body) for way in ways]
        if found[0] != found[1] or not isinstance(found[0], tuple):
            differing[call] = found

    assert not differing
    assert await everything(server.store) == before


@pytest.mark.parametrize("value", ["", ".", "..", "a" * 201, "a\nb"])
async def test_what_can_be_no_id_names_nothing_both_ways(ways, value):
    operation = CALLS["GET /v2/users/{userId}"]

    for way in ways:
        code, _ = await answered(way, operation, [value], None)
        assert code == exit_codes.NOT_FOUND


async def test_an_organization_that_is_none_is_refused_the_same_both_ways(ways):
    operation = CALLS["GET /v2/features/instance"]

    first, second = [await answered(way.within("nobody"), operation, [], None) for way in ways]

    assert first == second
    assert first[0] == exit_codes.NOT_FOUND


@pytest.mark.parametrize(
    ("token", "error_code"),
    [("invented", "token.invalid"), ("idp_pat_" + "A" * 65, "token.invalid")],
)
async def test_a_token_that_counts_for_nothing_ends_with_4(server, token, error_code):
    way = remote.backend(server.issuer, token, None, "idp", SystemClock())

    code, problems = await answered(way, CALLS["GET /v2/features/instance"], [], None)

    assert code == exit_codes.NOT_AUTHORISED
    assert [each[0] for each in problems] == [error_code]


async def test_a_service_that_is_not_there_ends_with_69():
    way = remote.backend(NOBODY, "t", None, "idp", SystemClock())

    code, problems = await answered(way, CALLS["GET /v2/features/instance"], [], None)

    assert code == exit_codes.UNREACHABLE
    assert "can't be reached" in problems[0][2]


async def test_changes_on_the_store_are_made_by_the_command_line(server, ways, world):
    directly, _ = ways

    await directly.call(CALLS["POST /management/v1/projects"], [], {"name": "Mine"})

    made = (await everything(server.store))["events"].values()
    assert [each.type for each in made if each.actor == "command line"] == ["project.created"]
