"""What a request costs the store that a limit refuses: nothing is written, and nothing is read but
what decides whether the limit applies to it."""

from __future__ import annotations

import base64
from collections import Counter
from contextlib import suppress
from contextvars import ContextVar
from functools import partial

import pytest

from idp.foundation.opaque_tokens import ID_LENGTH, SECRET_LENGTH
from idp.identity.guesses import mail_limits
from idp.limits.origin import AttemptOrigin
from idp.limits.throttled import Throttled
from idp.oauth import request_limits
from idp.oauth.errors import TooManyRequests
from tests.support.protocol.device import GRANTS
from tests.support.sign_in.resetting import at_reset, give_address
from tests.support.sign_in.steps import at_password

ADDRESS = "192.0.2.1"
LIMIT = 3
CREDENTIALS = {"grant_type": "client_credentials"}
TOKEN = "A" * (ID_LENGTH + SECRET_LENGTH)
READS = ("get", "get_many", "get_following", "find", "find_each", "count")
WRITES = ("commit", "commit_each", "increment")
is_inside: ContextVar[bool] = ContextVar("is_inside", default=False)  # one of these


@pytest.fixture
def settings():
    return {"refused_credentials_limit": LIMIT, "trusted_proxies": ("127.0.0.1",)}


@pytest.fixture
def stranger(new_visitor):
    return new_visitor(headers={"X-Forwarded-For": ADDRESS})


@pytest.fixture
def calls(server, monkeypatch):
    """The calls of the store, by method, without those that another one makes."""
    counted = Counter()
    for name in (*READS, *WRITES):
        monkeypatch.setattr(type(server.store), name, _counting(server.store, name, counted))
    return counted


def _counting(store, name, counted):
    method = getattr(type(store), name)

    async def called(self, *args, **options):
        if is_inside.get():
            return await method(self, *args, **options)
        counted[name] += 1
        token = is_inside.set(True)
        try:
            return await method(self, *args, **options)
        finally:
            is_inside.reset(token)

    return called


def use_up(admit, *args):
    """Counts requests of this kind until no more are admitted."""
    with suppress(TooManyRequests, Throttled):
        while True:
            admit(*args)


def basic(client_id, secret):
    value = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    return {"Authorization": f"Basic {value}"}


# Each sends a request that is refused by a limit, sooner or later.


async def wrong_secret(server, stranger, demo):
    return lambda: stranger.post(
        "/oauth/v2/token", CREDENTIALS, headers=basic(demo.client_id, "x")
    )


async def wrong_secret_at_introspection(server, stranger, demo):
    headers = basic(demo.client_id, "x")
    return lambda: stranger.post("/oauth/v2/introspect", {"token": "t"}, headers=headers)


async def wrong_secret_at_revocation(server, stranger, demo):
    headers = basic(demo.client_id, "x")
    return lambda: stranger.post("/oauth/v2/revoke", {"token": "t"}, headers=headers)


async def invented_client(server, stranger, demo):
    return lambda: stranger.post("/oauth/v2/token", CREDENTIALS, headers=basic("nobody", "x"))


def bearer(stranger, path, token):
    return lambda: stranger.get(path, headers={"Authorization": f"Bearer {token}"})


async def garbage_at_userinfo(server, stranger, demo):
    return bearer(stranger, "/oidc/v1/userinfo", "x")


async def forged_pat_at_userinfo(server, stranger, demo):
    return bearer(stranger, "/oidc/v1/userinfo", f"idp_pat_{TOKEN}")


async def garbage_at_the_api(server, stranger, demo):
    return bearer(stranger, "/management/v1/orgs/me", "x")


async def malformed_pat_at_the_api(server, stranger, demo):
    return bearer(stranger, "/management/v1/orgs/me", "idp_pat_x")


async def forged_pat_at_the_api(server, stranger, demo):
    return bearer(stranger, "/management/v1/orgs/me", f"idp_pat_{TOKEN}")


async def authorization(server, stranger, demo):
    use_up(request_limits.admit_authorization, server.service, AttemptOrigin(ADDRESS))
    return lambda: stranger.get(demo.authorize_url())


async def long_authorization(server, stranger, demo):
    use_up(request_limits.admit_long, server.service, AttemptOrigin(ADDRESS))
    url = demo.authorize_url(state="x" * 4000)
    return lambda: stranger.get(url)


async def first_form(server, stranger, demo):
    page = await stranger.open(demo.authorize_url())
    use_up(request_limits.admit_first_form, server.service, AttemptOrigin(ADDRESS))
    return lambda: stranger.send(page, loginName="demo")


async def device_authorization(server, stranger, demo):
    party = await server.register("Television", grant_types=GRANTS)
    use_up(request_limits.admit_device, server.service, party.client_id, AttemptOrigin(ADDRESS))
    form, headers = {"scope": "openid"}, party.basic()
    return lambda: stranger.post("/oauth/v2/device_authorization", form, headers=headers)


async def pushed_request(server, stranger, demo):
    admit = partial(request_limits.admit_push, is_public=False)
    use_up(admit, server.service, demo.client_id, AttemptOrigin(ADDRESS))
    form, headers = demo.authorize_form(), demo.basic()
    return lambda: stranger.post("/oauth/v2/par", form, headers=headers)


async def forgotten_password(server, stranger, demo):
    await give_address(server)
    page = await at_reset(stranger, demo)
    use_up(mail_limits.refuse_flood, server.service, AttemptOrigin(ADDRESS))
    return lambda: stranger.send(page, loginName="demo")


async def password(server, stranger, demo):
    page = await at_password(stranger, demo, "demo")
    return lambda: stranger.send(page, password="wrong")


KINDS = {
    wrong_secret: 1,  # the application, whose secret may be the right one
    wrong_secret_at_introspection: 1,
    wrong_secret_at_revocation: 1,
    invented_client: 2,  # the application, then the service user
    garbage_at_userinfo: 0,
    forged_pat_at_userinfo: 0,  # it was read some seconds ago
    garbage_at_the_api: 0,
    malformed_pat_at_the_api: 0,
    forged_pat_at_the_api: 0,
    authorization: 0,
    long_authorization: 1,  # the application, without which the request is not known to be valid
    first_form: 1,
    device_authorization: 1,
    pushed_request: 1,
    forgotten_password: 1,
    password: 3,  # the page, the user of that name, and the counts of tries
}


@pytest.mark.promise("overload: limits")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
async def test_a_request_beyond_a_limit_writes_nothing_and_reads_what_decides(
    server, stranger, demo, calls, kind
):
    send = await kind(server, stranger, demo)
    for _ in range(10):
        if (await send()).status == 429:
            break
    calls.clear()

    page = await send()

    assert page.status == 429
    assert int(page.headers["Retry-After"]) >= 1
    assert sum(calls[name] for name in WRITES) == 0, calls
    assert sum(calls[name] for name in READS) == KINDS[kind], calls
