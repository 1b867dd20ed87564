"""A token that is refused costs the management API as little as any other endpoint."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from idp.keys.key_ring import KeyRing
from idp.limits import refused_tokens
from idp.limits.admission import GroupSlots
from idp.limits.refused_tokens import RefusedTokens
from idp.oauth.authentication import access_token_verification
from idp.oauth.tokens import access_tokens
from idp.oauth.tokens.access_tokens import AccessTokenRequest
from idp.oauth.tokens.dependencies import TokenDependencies
from tests.support import patience
from tests.support.attacks import forged

PATH = "/management/v1/orgs/me"
WRONG = "idp_pat_" + "A" * 65


@pytest.fixture
def reads(server, monkeypatch):
    """The reads of personal access tokens."""
    seen, get_following = [], server.store.get_following

    async def noted(keys, follows):
        seen.append(keys)
        return await get_following(keys, follows)

    monkeypatch.setattr(server.store, "get_following", noted)
    return seen


@pytest.fixture
def entered(monkeypatch):
    """The groups whose places requests have taken."""
    seen, enter = [], GroupSlots.enter

    def noted(self, *values):
        seen.append(self._group.name)
        return enter(self, *values)

    monkeypatch.setattr(GroupSlots, "enter", noted)
    return seen


async def call(visitor, token, **options):
    return await visitor.get(PATH, headers={"Authorization": f"Bearer {token}"}, **options)


async def test_a_wrong_token_is_read_once_and_takes_no_place_of_the_api_again(
    visitor, reads, entered
):
    answers = [await call(visitor, WRONG) for _ in range(5)]

    assert {(each.status, each.json()["details"][0]["id"]) for each in answers} == {
        (401, answers[0].json()["details"][0]["id"])
    }
    assert len(reads) == 1
    assert entered == ["management", *["protocol"] * 4]


@pytest.mark.every_row
@pytest.mark.parametrize("header", [None, "Bearer", "Bearer x", "Basic x", "Bearer idp_pat_x"])
async def test_what_can_be_no_token_is_not_read_and_takes_no_place_of_the_api(
    visitor, reads, entered, header
):
    headers = {} if header is None else {"Authorization": header}
    answer = await visitor.get(PATH, headers=headers)

    assert answer.status == 401
    assert reads == []
    assert entered == ["protocol"]


@pytest.fixture
def issued(server):
    """Access tokens of a person for the service, of each kind, which expire in minutes."""

    async def issued(kind):
        request = AccessTokenRequest(
            sub="someone",
            client_id="app",
            audience=[server.service.config.issuer],
            scopes=["openid"],
            kind=kind,
            dependencies=TokenDependencies(stamps=""),
        )
        return await access_tokens.issue(server.service, request, server.clock.now())

    return issued


def _changed(part):
    def change(token):
        parts = token.split(".")
        parts[part] = forged.OTHER.get(parts[part][0], "A") + parts[part][1:]
        return ".".join(parts)

    return change


REFUSED = {
    "dots alone": ("jwt", lambda token: "a.b"),
    "a foreign JWT": ("jwt", lambda token: forged.resigned(token, {"kid": "another"})),
    "a header that is no JSON": ("jwt", _changed(0)),
    "an ID token": ("jwt", lambda token: forged.resigned(token, {"typ": "JWT"})),
    "another content": ("jwt", _changed(1)),
    "another signature": ("jwt", _changed(2)),
    "a key that is none": ("opaque", _changed(1)),
    "another text that is encrypted": ("opaque", _changed(2)),
    "no text": ("opaque", lambda token: "v1."),
}


@pytest.mark.every_row
@pytest.mark.parametrize(("kind", "change"), REFUSED.values(), ids=REFUSED)
async def test_a_token_that_does_not_open_takes_no_place_of_the_api(
    visitor, issued, entered, kind, change
):
    answer = await call(visitor, change((await issued(kind)).token))

    assert answer.status == 401
    assert entered == ["protocol"]


@pytest.mark.parametrize("kind", ["jwt", "opaque"])
async def test_a_token_that_has_expired_takes_no_place_of_the_api(
    server, visitor, issued, entered, kind
):
    token = await issued(kind)
    await call(visitor, token.token)
    server.clock.advance(token.expires_in)
    answer = await call(visitor, token.token)

    assert answer.status == 401
    assert entered == ["management", "protocol"]


async def test_without_keys_in_memory_a_token_is_judged_by_its_form_alone(server, issued):
    token = (await issued("jwt")).token
    keys = KeyRing(server.store, server.service.master_key, server.clock, 60)
    service = replace(server.service, keys=keys)

    assert not access_token_verification.is_refused(service, token)
    assert access_token_verification.is_refused(service, "a.b")


async def test_a_wrong_token_is_refused_before_its_body_is_received(server, visitor):
    await call(visitor, WRONG)
    host = urlsplit(server.issuer)
    lines = ["POST /management/v1/projects HTTP/1.1", f"Host: {host.netloc}"]
    lines += [f"Authorization: Bearer {WRONG}", "Content-Type: text/plain"]
    lines += ["Content-Length: 100000", "", "x" * 100]
    reader, writer = await asyncio.open_connection("127.0.0.1", host.port)
    writer.write("\r\n".join(lines).encode())
    first = await asyncio.wait_for(reader.readline(), patience.SECONDS)
    writer.close()
    await writer.wait_closed()

    assert first.startswith(b"HTTP/1.1 401 ")


async def test_other_endpoints_read_a_wrong_token_once_too(visitor, reads):
    headers = {"Authorization": f"Bearer {WRONG}"}
    answers = [await visitor.get("/oidc/v1/userinfo", headers=headers) for _ in range(3)]

    assert [each.status for each in answers] == [401] * 3
    assert len(reads) == 1


async def test_a_right_token_is_accepted_among_wrong_ones_and_read_each_time(
    server, visitor, owner, reads
):
    for _ in range(2):
        await call(visitor, WRONG)
        assert (await owner.get(PATH)).status == 200


def test_a_refused_token_is_remembered_for_some_seconds(server):
    tokens, now = RefusedTokens(), server.clock.now()
    tokens.add("a", now)

    assert tokens.has("a", now)
    assert not tokens.has("b", now)
    assert not tokens.has("a", now + refused_tokens.REMEMBERED_FOR)


def test_so_many_refused_tokens_are_remembered(server, monkeypatch):
    monkeypatch.setattr(refused_tokens, "MAX_TOKENS", 2)
    tokens, now = RefusedTokens(), server.clock.now()
    for token in "abc":
        tokens.add(token, now)

    assert [tokens.has(token, now) for token in "abc"] == [False, True, True]
