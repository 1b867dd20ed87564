"""The lines and fields that an operator looks for in the log of a running service."""

from __future__ import annotations

import json

import pytest

from idp import __version__


def lines(program):
    return [json.loads(line) for line in program.errors if line.startswith("{")]


def events(program, *names):
    return [line for line in lines(program) if line["event"] in names]


@pytest.mark.parametrize("processes", ["1", "2"])
async def test_a_service_logs_its_life_and_what_requests_cost(
    start_program, open_browser, processes
):
    program = start_program("--processes", processes, IDP_LOG_FORMAT="json")
    program.wait_for(lambda: bool(events(program, "started")), "the line of the start")
    visitor, demo = open_browser(program), program.demo()
    await demo.tokens(visitor, *program.user)
    await demo.redeem(visitor, "a-guessed-code")
    program.stop()

    (started, stopping, stopped) = events(program, "started", "stopping", "stopped")
    assert [each["event"] for each in (started, stopping, stopped)] == [
        "started",
        "stopping",
        "stopped",
    ]
    assert started["version"] == __version__
    assert started["issuer"] == program.issuer
    assert (started["store"], started["processes"]) == ("sqlite", int(processes))

    requests = events(program, "request")
    (redeemed, refused) = [line for line in requests if line["path"] == "/oauth/v2/token"]
    assert redeemed["client_id"] == refused["client_id"] == demo.client_id
    assert "refused_check" not in redeemed
    assert refused["refused_check"]
    endpoints = {line["path"]: line["endpoint"] for line in requests}
    assert endpoints["/oauth/v2/authorize"] == "authorize"
    assert endpoints["/ui/login/password"] == "login_password"
    for line in (redeemed, refused):
        assert line["endpoint"] == "token"
        assert line["store_commands"] >= 1
        assert line["store_milliseconds"] >= 0
        assert line["waited_milliseconds"] >= 0
    workers = {line.get("worker") for line in requests}
    assert workers <= ({0, 1} if processes == "2" else {None})
