"""What requests count, and that nothing that they send becomes a label."""

from __future__ import annotations

import pytest

from handlers import app
from handlers.http.endpoint_names import OTHER, endpoint_name

MOST_ENDPOINTS = 40
MOST_SERIES = 5_000


async def test_a_sign_in_is_counted_by_endpoint_outcome_and_token(counted, server, visitor, demo):
    tokens = await demo.tokens_by_pages(visitor, *server.user)
    await demo.userinfo(visitor, tokens["access_token"])
    server.app.admission.measure()

    assert counted("http_requests_total", endpoint="token", method="POST", status="200") == 1
    assert counted("http_request_duration_seconds_count", endpoint="userinfo") == 1
    assert counted("sign_ins_total", outcome="accepted", method="password") == 1
    assert counted("sign_ins_total", outcome="completed", method="pwd") == 1
    assert counted("hashing_seconds_count", scheme="argon2id") >= 1
    assert counted("hashing_wait_seconds_count") >= 1
    assert counted("hashing_running") == counted("hashing_waiting") == 0
    assert counted("http_in_flight", group="protocol") == 0
    grant = {"grant": "authorization_code", "format": "opaque"}
    assert counted("tokens_issued_total", **grant) == 1


async def test_wrong_passwords_and_unknown_names_are_counted_apart(counted, server, visitor, demo):
    name, _ = server.user
    await visitor.sign_in(demo.authorize_url(), name, "wrong")
    await visitor.sign_in(demo.authorize_url(), "nobody@example.com", "wrong")

    assert counted("sign_ins_total", outcome="wrong", method="password") == 1
    assert counted("sign_ins_total", outcome="unknown", method="password") == 1


async def test_uses_of_refresh_tokens_are_counted_by_outcome(counted, server, visitor, demo):
    tokens = await demo.tokens(visitor, *server.user)
    await demo.refresh(visitor, tokens["refresh_token"])
    await demo.refresh(visitor, "forged")
    await demo.refresh(visitor, tokens["refresh_token"])

    outcomes = {
        outcome: counted("refreshes_total", outcome=outcome)
        for outcome in ("rotated", "replayed", "refused")
    }
    assert outcomes == {"rotated": 1, "replayed": 1, "refused": 1}
    refusal = {"endpoint": "token", "check": "refresh_current", "error": "invalid_grant"}
    assert counted("refusals_total", **refusal) == 1


async def test_the_commands_of_a_request_are_counted(counted, server, visitor, demo):
    tokens = await demo.tokens(visitor, *server.user)
    before = counted("store_commands_per_request_sum", endpoint="userinfo") or 0
    await demo.userinfo(visitor, tokens["access_token"])

    assert counted("store_commands_per_request_count", endpoint="userinfo") == 1
    assert counted("store_commands_per_request_sum", endpoint="userinfo") - before == 1
    assert counted("store_commands_total", command="get_many", outcome="ok") > 0
    assert counted("store_command_seconds_count", command="commit") > 0
    assert counted("store_batch_size_count", kind="write") > 0


async def many_requests(visitor, demo, number):
    """Requests that differ in all that a sender may choose."""
    headers = {"Authorization": f"Bearer {number}", "X-Request-Id": f"id{number}"}
    await visitor.request("BREW" if number % 2 else "PROPFIND", f"/x{number}")
    await visitor.get(f"/v2/users/user{number}", headers=headers)
    form = {"grant_type": f"g{number}", "client_id": f"c{number}", "client_secret": "x"}
    await visitor.post("/oauth/v2/token", form)
    if number < 8 or number % 100 == 0:  # a hash each
        await visitor.get(f"/oauth/v2/authorize?client_id=c{number}&scope=s{number}")
        await visitor.get(f"/ui/v2/assets/{number}")
        await visitor.get("/oidc/v1/userinfo", headers=headers)
        await visitor.sign_in(demo.authorize_url(), f"user{number}@example.com", "wrong")


@pytest.mark.full
@pytest.mark.parametrize("number", [8, pytest.param(10_000, marks=pytest.mark.load)])
@pytest.mark.gen_test(timeout=1200)
async def test_paths_clients_and_users_add_no_series(counted, server, visitor, demo, number):
    await many_requests(visitor, demo, 0)
    await many_requests(visitor, demo, 1)
    before = counted.series()
    for each in range(2, number):
        server.clock.advance(1)  # no network sends more than its limits
        await many_requests(visitor, demo, each)

    added = {name for name in counted.series() - before if "status" not in str(name)}
    assert not [name for name in added if not is_a_limit(name)]
    assert len(counted.series()) < MOST_SERIES


def is_a_limit(name):
    """Whether the series says that a limit was reached, which it is at some number of requests, or
    that records have expired."""
    counted = ("idp_throttled", "idp_log_lines", "idp_swept")
    return name[0].startswith(counted) or "paced" in str(name)


def test_every_route_has_the_name_of_an_endpoint_and_there_are_few():
    routes = [*app.ROUTES, *app.LOCAL_ROUTES, *app.test_mode.ROUTES, *app.api.ROUTES]
    names = {endpoint_name(kind) for _, kind, *_ in routes}

    assert OTHER not in names
    assert len(names) < MOST_ENDPOINTS
    assert endpoint_name(app.not_found.MissingHandler) == OTHER
