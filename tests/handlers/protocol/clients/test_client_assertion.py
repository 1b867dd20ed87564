"""private_key_jwt (OpenID Connect Core 9, RFC 7523 2.2): the right assertion and wrong ones."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
from datetime import timedelta

import pytest

from idp.records import APP_KEYS, APPLICATIONS, USED_VALUES
from storage import Delete, Update
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.protocol.asserting import (
    ASSERTION_TYPE,
    base64url,
    jwk_of,
    private_key,
    public_pem,
    register_key,
    sign_raw,
)
from tests.support.store.stored import everything, refusals

TOKEN = "/oauth/v2/token"


@pytest.fixture
def party(io_loop, server):
    """A client that authenticates by its key alone."""
    return io_loop.run_sync(
        lambda: server.register(
            "Keyed", auth_method="private_key_jwt", grant_types=["client_credentials"]
        )
    )


@pytest.fixture
def keyed(io_loop, server, party):
    return io_loop.run_sync(lambda: register_key(server, party.client_id, "key-1"))


def send(visitor, form: dict, headers: dict | None = None):
    return visitor.post(TOKEN, {"grant_type": "client_credentials"} | form, headers=headers or {})


@pytest.mark.promise("client: registered public key", "client authentication: private_key_jwt")
@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
async def test_a_fresh_assertion_authenticates_its_client(server, visitor, party, algorithm):
    keyed = await register_key(server, party.client_id, "key", algorithm=algorithm)

    body = assert_granted(await send(visitor, keyed.client_form()))
    assert body["access_token"]
    assert len((await everything(server.store))["replay"]) == 1


@pytest.mark.promise("token endpoint: private_key_jwt")
@pytest.mark.parametrize("audience", [lambda i: i, lambda i: i + TOKEN, lambda i: [i, i + TOKEN]])
async def test_the_audience_is_the_issuer_or_the_token_endpoint(server, visitor, keyed, audience):
    assert_granted(await send(visitor, keyed.client_form(aud=audience(server.issuer))))


@pytest.mark.promise("token endpoint: private_key_jwt")
@pytest.mark.parametrize("ahead", [-9, 0, 9, 3600])
async def test_clocks_may_differ_by_ten_seconds(server, visitor, keyed, ahead):
    now = int(server.clock.now().timestamp())
    form = keyed.client_form(exp=now + ahead, iat=None, nbf=now + min(ahead, 9))

    assert_granted(await send(visitor, form))


def hs256(keyed, claims: dict) -> str:
    """The public key as if it were a secret that both know."""
    head = base64url(json.dumps({"alg": "HS256", "kid": keyed.kid}).encode())
    signed = f"{head}.{base64url(json.dumps(claims).encode())}"
    secret = public_pem(keyed.private).encode()
    return f"{signed}.{base64url(hmac.digest(secret, signed.encode(), 'sha256'))}"


def unsigned(keyed, algorithm: object) -> str:
    head = base64url(json.dumps({"alg": algorithm, "kid": keyed.kid}).encode())
    return f"{head}.{base64url(json.dumps(keyed.claims()).encode())}."


def raw(keyed, header: object = None, payload: bytes | None = None) -> str:
    head = header if header is not None else {"alg": "RS256", "kid": keyed.kid}
    octets = head if isinstance(head, bytes) else json.dumps(head).encode()
    return sign_raw(keyed.private, octets, payload or json.dumps(keyed.claims()).encode())


def brings_its_key(keyed) -> str:
    other = private_key("RS256", 7)
    jwk = json.loads(jwk_of(other).export_public())
    return keyed.sign(keyed.claims(), key=other, jwk=jwk, jku="https://evil.example/keys")


def claiming(**changes):
    return lambda keyed: keyed.assertion(**changes)


def heading(**changes):
    return lambda keyed: raw(keyed, {"alg": "RS256", "kid": keyed.kid} | changes)


def without(name):
    def made(keyed):
        head = {"alg": "RS256", "kid": keyed.kid}
        del head[name]
        return raw(keyed, head)

    return made


def at(seconds, **claims):
    """Claims that are instants, so many seconds from now."""

    def made(keyed):
        now = int(keyed.server.clock.now().timestamp())
        values = {name: now + seconds + shift for name, shift in claims.items()}
        return keyed.assertion(**values)

    return made


def payload(text: str):
    return lambda keyed: raw(keyed, payload=text.encode())


def doubled(name: str):
    def made(keyed):
        text = json.dumps(keyed.claims())
        return raw(keyed, payload=(text[:-1] + f', "{name}": "twice"}}').encode())

    return made


WRONG = {
    "alg none": lambda k: unsigned(k, "none"),
    "alg None": lambda k: unsigned(k, "None"),
    "alg null": lambda k: unsigned(k, None),
    "alg a list": lambda k: unsigned(k, ["RS256"]),
    "no alg": without("alg"),
    "HS256 by the public key": lambda k: hs256(k, k.claims()),
    "RS384, which is not taken": heading(alg="RS384"),
    "RS512, which is not taken": heading(alg="RS512"),
    "ES256 said of an RSA key": heading(alg="ES256"),
    "EdDSA said of an RSA key": heading(alg="EdDSA"),
    "PS256 said of an RS256 signature": heading(alg="PS256"),
    "no kid": without("kid"),
    "kid unknown": heading(kid="key-2"),
    "kid empty": heading(kid=""),
    "kid null": heading(kid=None),
    "kid a number": heading(kid=1),
    "kid a list": heading(kid=["key-1"]),
    "kid an object": heading(kid={"$ne": ""}),
    "kid of 10 KB": heading(kid="k" * 10_000),
    "kid a path": heading(kid="../../key-1"),
    "kid SQL": heading(kid="' OR 1=1 --"),
    "kid with NUL": heading(kid="key-1\0"),
    "kid half a character": lambda k: raw(k, b'{"alg":"RS256","kid":"\\ud800"}'),
    "crit unknown": heading(crit=["exp"]),
    "crit empty": heading(crit=[]),
    "crit of a parameter that is there": heading(crit=["x5t"], x5t="AA"),
    "b64 false, in crit": heading(b64=False, crit=["b64"]),
    "another key, in jwk": lambda k: brings_its_key(k),
    "a doubled header": lambda k: raw(k, b'{"alg":"RS256","alg":"RS256","kid":"key-1"}'),
    "a header that is a list": lambda k: raw(k, b"[]"),
    "a header that is no JSON": lambda k: raw(k, b"alg"),
    "another key": lambda k: k.sign(k.claims(), key=private_key("RS256", 7)),
    "a signature cut": lambda k: k.assertion()[:-2],
    "a signature longer": lambda k: k.assertion() + "AA",
    "no signature": lambda k: k.assertion().rpartition(".")[0] + ".",
    "padding": lambda k: k.assertion() + "=",
    "a line break at the end": lambda k: k.assertion() + "\n",
    "two parts": lambda k: k.assertion().rpartition(".")[0],
    "four parts": lambda k: k.assertion() + ".AAAA",
    "five parts": lambda k: "e30.e30.e30.e30.e30",
    "no JWT": lambda k: "assertion",
    "1 MB less a little": lambda k: "e30." + "A" * 60_000 + ".AAAA",
    "claims a list": payload("[]"),
    "claims a text": payload('"iss"'),
    "claims null": payload("null"),
    "claims no JSON": payload("{"),
    "claims not UTF-8": lambda k: raw(k, payload=b'{"iss":"\xff"}'),
    "claims too deep": payload("[" * 5000),
    "iss doubled": doubled("iss"),
    "exp doubled": doubled("exp"),
    "no iss": claiming(iss=None),
    "iss empty": claiming(iss=""),
    "iss another client": claiming(iss="other", sub="other"),
    "iss a list": claiming(iss=["x"]),
    "no sub": claiming(sub=None),
    "sub another": claiming(sub="other"),
    "sub null": lambda k: raw(k, payload=json.dumps(k.claims() | {"sub": None}).encode()),
    "no aud": claiming(aud=None),
    "aud empty": claiming(aud=""),
    "aud an empty list": claiming(aud=[]),
    "aud another issuer": claiming(aud="https://other.example"),
    "aud with a slash": lambda k: k.assertion(aud=k.server.issuer + "/"),
    "aud a prefix": lambda k: k.assertion(aud=k.server.issuer[:-1]),
    "aud in capitals": lambda k: k.assertion(aud=k.server.issuer.upper()),
    "aud and one more": lambda k: k.assertion(aud=[k.server.issuer, "https://other.example"]),
    "aud the introspection endpoint": lambda k: k.assertion(
        aud=k.server.issuer + "/oauth/v2/introspect"
    ),
    "aud an object": claiming(aud={"a": 1}),
    "aud a list of lists": lambda k: k.assertion(aud=[[k.server.issuer]]),
    "no exp": claiming(exp=None),
    "exp past": at(-11, exp=0),
    "exp this very moment past the skew": at(-10, exp=0),
    "exp beyond the hour": at(3611, exp=0),
    "exp far": at(10**9, exp=0),
    "exp a text": claiming(exp="9999999999"),
    "exp true": claiming(exp=True),
    "exp null": lambda k: raw(k, payload=json.dumps(k.claims() | {"exp": None}).encode()),
    "exp negative": claiming(exp=-1),
    "exp 2^70": claiming(exp=2**70),
    "exp 1e308": claiming(exp=1e308),
    "exp NaN": lambda k: raw(k, payload=json.dumps(k.claims() | {"exp": float("nan")}).encode()),
    "exp infinite": lambda k: raw(
        k, payload=json.dumps(k.claims() | {"exp": float("inf")}).encode()
    ),
    "exp a list": claiming(exp=[1]),
    "iat ahead": at(11, iat=0),
    "iat too old": at(-3611, iat=0),
    "iat a text": claiming(iat="1"),
    "iat 2^70": claiming(iat=2**70),
    "nbf ahead": at(11, nbf=0),
    "nbf a text": claiming(nbf="0"),
    "nbf 1e308": claiming(nbf=1e308),
    "no jti": claiming(jti=None),
    "jti empty": claiming(jti=""),
    "jti a number": claiming(jti=7),
    "jti of 201": claiming(jti="j" * 201),
}


@pytest.mark.promise("client authentication: private_key_jwt", "token endpoint: private_key_jwt")
@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG.keys())
async def test_a_wrong_assertion_does_not_authenticate(server, visitor, keyed, make):
    before = await everything(server.store)
    form = {"client_assertion_type": ASSERTION_TYPE, "client_assertion": make(keyed)}
    page = await send(visitor, form)

    assert_refused(page, 400, "invalid_client")
    assert await everything(server.store) == before


@pytest.mark.promise("token endpoint: private_key_jwt")
async def test_an_assertion_counts_once(server, visitor, keyed):
    form = keyed.client_form()
    assert_granted(await send(visitor, form))
    again = keyed.client_form(jti=keyed.claims()["jti"][:-1] + "1")

    assert_refused(await send(visitor, form), 400, "invalid_client")
    assert_refused(await send(visitor, again), 400, "invalid_client")


@pytest.mark.promise("token endpoint: private_key_jwt")
async def test_of_many_at_once_one_counts(visitor, keyed):
    form = keyed.client_form()
    pages = await asyncio.gather(*[send(visitor, form) for _ in range(16)])

    assert sorted(page.status for page in pages) == [200, *[400] * 15]


async def test_a_jti_is_forgotten_only_after_its_assertion_has_expired(server, visitor, keyed):
    form = keyed.client_form()
    assert_granted(await send(visitor, form))
    server.clock.advance(timedelta(seconds=309))

    assert len((await everything(server.store))["replay"]) == 1
    assert_refused(await send(visitor, form), 400, "invalid_client")


@pytest.mark.full
async def test_the_same_jti_of_another_client_counts_for_itself(server, visitor, keyed):
    other = await server.register(
        "Other", auth_method="private_key_jwt", grant_types=["client_credentials"]
    )
    theirs = await register_key(server, other.client_id, "key-2", number=1)

    assert_granted(await send(visitor, keyed.client_form(jti="the-same")))
    assert_granted(await send(visitor, theirs.client_form(jti="the-same")))


@pytest.mark.promise("client: registered public key")
async def test_a_key_of_another_client_does_not_authenticate(server, visitor, keyed):
    other = await server.register(
        "Other", auth_method="private_key_jwt", grant_types=["client_credentials"]
    )
    await register_key(server, other.client_id, "key-2", number=1)
    before = await everything(server.store)
    stolen = keyed.client_form(iss=other.client_id, sub=other.client_id)

    assert_refused(await send(visitor, stolen), 400, "invalid_client")
    assert await everything(server.store) == before


@pytest.mark.promise("client: registered public key")
async def test_a_key_that_expired_or_was_removed_does_not_authenticate(
    server, visitor, party, keyed
):
    ends = server.clock.now() + timedelta(minutes=1)
    short = await register_key(server, party.client_id, "short", number=2, expires_at=ends)
    assert_granted(await send(visitor, short.client_form()))

    server.clock.advance(timedelta(minutes=1))
    assert_refused(await send(visitor, short.client_form()), 400, "invalid_client")
    await server.store.commit(Delete(APP_KEYS, "key-1"))
    assert_refused(await send(visitor, keyed.client_form()), 400, "invalid_client")


TWO = {
    "a Basic header": lambda p: (p.basic(), {}),
    "another header": lambda p: ({"Authorization": "Bearer x"}, {}),
    "a secret": lambda p: ({}, {"client_secret": "s", "client_id": p.client_id}),
    "another client_id": lambda p: ({}, {"client_id": "other"}),
    "another type": lambda p: ({}, {"client_assertion_type": "urn:other"}),
    "no type": lambda p: ({}, {"client_assertion_type": ""}),
    "no assertion": lambda p: ({}, {"client_assertion": ""}),
}


@pytest.mark.promise("client authentication: private_key_jwt")
@pytest.mark.parametrize("more", TWO.values(), ids=TWO.keys())
async def test_an_assertion_comes_alone_and_whole(server, visitor, party, keyed, more):
    headers, form = more(party)
    before = await everything(server.store)
    page = await send(visitor, keyed.client_form() | form, headers)

    assert_refused(page, 400, "invalid_request")
    assert await everything(server.store) == before


async def test_the_client_id_may_stand_beside_its_assertion(visitor, party, keyed):
    assert_granted(await send(visitor, keyed.client_form() | {"client_id": party.client_id}))


@pytest.mark.promise("client: authentication method")
@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
async def test_a_client_of_another_method_is_not_authenticated_by_a_key(
    server, visitor, party, keyed, method
):
    await server.store.commit(Update(APPLICATIONS, party.client_id, set={"auth_method": method}))
    before = await everything(server.store)

    assert_refused(await send(visitor, keyed.client_form()), 400, "invalid_client")
    assert await everything(server.store) == before


@pytest.mark.promise("client: authentication method")
async def test_a_secret_does_not_authenticate_a_client_that_is_registered_for_keys(
    server, visitor, party
):
    page = await send(visitor, {}, party.basic())

    assert_refused(page, 401, "invalid_client")
    assert [record async for record in server.store.scan(USED_VALUES)] == []


async def test_a_refusal_never_contains_its_assertion(server, visitor, keyed):
    sent = keyed.assertion(aud="https://other.example")
    await send(visitor, {"client_assertion_type": ASSERTION_TYPE, "client_assertion": sent})

    kept = str((await everything(server.store), await refusals(server.store)))
    assert sent.split(".")[2] not in kept
    assert base64.urlsafe_b64decode(sent.split(".")[1] + "==").decode() not in kept
