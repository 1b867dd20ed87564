"""What another provider answers is refused: nobody is signed in, nothing of it is stored, the
person can go on, and an administrator finds out why."""

from __future__ import annotations

import json

import pytest
from jwcrypto import jwk

from idp.records import SESSIONS, USERS
from idp.records.identity_links import IDENTITY_LINKS
from idp.records.refusals import REFUSALS
from tests.support.sign_in.federating import AT_ONCE, NAMES
from tests.support.sign_in.hostile_provider import ACCESS_TOKEN, CLIENT_ID, elliptic, rsa

FAILED = "did not work"
NOW = 0
HOUR = 3600
DAY = 24 * HOUR


def stated(**claims):
    """The ID token states this."""

    def prepare(provider):
        provider.claims = {**NAMES, **claims}

    return prepare


def timed(**seconds):
    """The ID token has these times, from now."""

    def prepare(provider):
        now = int(provider.clock.now().timestamp())
        times = {name: None if each is None else now + each for name, each in seconds.items()}
        provider.claims = {**NAMES, **times}

    return prepare


def headed(**header):
    def prepare(provider):
        provider.header = header

    return prepare


def answered(path, status, body):
    def prepare(provider):
        provider.answers[path] = (status, body)

    return prepare


def token(text):
    def prepare(provider):
        provider.token_response = {"id_token": text}

    return prepare


def discovered(**changes):
    def prepare(provider):
        provider.discovery = changes

    return prepare


def by_another_key(provider):
    provider.signing_key = rsa(number=2)


def by_the_secret(provider):
    """HS256 with the public key as the secret, as a confused verifier would take it."""
    pem = provider.key.export_to_pem()
    provider.signing_key = jwk.JWK(kty="oct", k=jwk.base64url_encode(pem))
    provider.algorithm = "HS256"


def by_a_short_key(provider):
    provider.keys, provider.signing_key = [rsa(1024)], rsa(1024)


def by_a_key_of_another_kind(provider):
    """The header says RS256, and the key set has only an elliptic key of that id."""
    provider.keys = [elliptic()]


def by_two_keys(provider):
    """Without kid, and two keys that could be meant."""
    provider.keys = [provider.key, rsa(number=2)]
    provider.header = {"kid": None}


def with_its_key_in_the_header(provider):
    provider.signing_key = rsa(number=2)
    provider.header = {"jwk": json.loads(rsa(number=2).export_public())}


def unsigned(provider):
    """Set by the answer, because no library makes it: the parts of a right one, with alg none."""
    head = jwk.base64url_encode(b'{"alg":"none","kid":"k1"}')
    provider.make_token = lambda right: f"{head}.{right.split('.')[1]}."


def altered(provider):
    def change(right):
        head, claims, signature = right.split(".")
        text = jwk.base64url_decode(claims).decode().replace("person-1", "person-2")
        return f"{head}.{jwk.base64url_encode(text)}.{signature}"

    provider.make_token = change


def without_access_token(provider):
    provider.token_response = {"access_token": None}


MISTAKES = {
    # Signature and form
    "alg none": (unsigned, "id_token_signed"),
    "altered claims": (altered, "id_token_signed"),
    "another key with the same kid": (by_another_key, "id_token_signed"),
    "HS256 with the public key": (by_the_secret, "id_token_signed"),
    "an RSA key of 1024 bits": (by_a_short_key, "id_token_signed"),
    "a key of another kind": (by_a_key_of_another_kind, "id_token_signed"),
    "no kid and two keys": (by_two_keys, "id_token_signed"),
    "a key in the header": (with_its_key_in_the_header, "id_token_signed"),
    "an unknown kid": (headed(kid="other"), "id_token_signed"),
    "an extension that must be understood": (headed(crit=["exp"]), "id_token_signed"),
    "no ID token": (token(None), "id_token_signed"),
    "an encrypted token": (token("a.b.c.d.e"), "id_token_signed"),
    "no token at all": (token("x"), "id_token_signed"),
    "a number as token": (token(1), "id_token_signed"),
    "a very long token": (token("a" * 70_000), "id_token_signed"),
    # Claims
    "another issuer": (stated(iss="https://other.example"), "id_token_issued"),
    "the issuer with a slash": (lambda p: stated(iss=p.issuer + "/")(p), "id_token_issued"),
    "no issuer": (stated(iss=None), "id_token_issued"),
    "another audience": (stated(aud="other"), "id_token_audience"),
    "no audience": (stated(aud=None), "id_token_audience"),
    "several audiences without azp": (stated(aud=[CLIENT_ID, "other"]), "id_token_audience"),
    "another authorized party": (stated(azp="other"), "id_token_audience"),
    "expired": (timed(exp=-61), "id_token_current"),
    "no exp": (stated(exp=None), "id_token_current"),
    "exp is a text": (stated(exp="9999999999"), "id_token_current"),
    "exp is true": (stated(exp=True), "id_token_current"),
    "issued in the future": (timed(iat=61), "id_token_current"),
    "issued two days ago": (timed(iat=-2 * DAY), "id_token_current"),
    "no iat": (stated(iat=None), "id_token_current"),
    "not valid yet": (timed(nbf=61), "id_token_current"),
    "signed in there in the future": (timed(auth_time=61), "id_token_current"),
    "no nonce": (stated(nonce=None), "id_token_nonce"),
    "another nonce": (stated(nonce="other"), "id_token_nonce"),
    "at_hash of another token": (stated(at_hash="AAAAAAAAAAAAAAAAAAAAAA"), "id_token_nonce"),
    "no sub": (stated(sub=None), "id_token_subject"),
    "an empty sub": (stated(sub=""), "id_token_subject"),
    "a sub that is a number": (stated(sub=1), "id_token_subject"),
    "a long sub": (stated(sub="x" * 256), "id_token_subject"),
    "a sub with a line end": (stated(sub="a\nb"), "id_token_subject"),
    # Calls
    "the token endpoint refuses": (
        answered("/token", 400, b'{"error":"invalid_grant"}'),
        "code_redeemed",
    ),
    "the token endpoint fails": (answered("/token", 500, b"oops"), "code_redeemed"),
    "the token endpoint is no JSON": (answered("/token", 200, b"<html>"), "code_redeemed"),
    "the token endpoint answers a list": (answered("/token", 200, b"[]"), "code_redeemed"),
    "members twice": (answered("/token", 200, b'{"a":1,"a":2}'), "code_redeemed"),
    "a very long answer": (answered("/token", 200, b" " * 1_100_000), "code_redeemed"),
    "userinfo of another person": (
        answered("/userinfo", 200, b'{"sub":"person-2"}'),
        "userinfo_matches",
    ),
    "userinfo without sub": (answered("/userinfo", 200, b"{}"), "userinfo_matches"),
    "userinfo refuses": (answered("/userinfo", 401, b""), "userinfo_matches"),
    "no access token": (without_access_token, "userinfo_matches"),
    "no key set": (answered("/keys", 404, b""), "provider_reached"),
    "a key set without keys": (answered("/keys", 200, b"{}"), "id_token_signed"),
}


@pytest.mark.promise("connections: refused")
@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_wrong_answer_signs_nobody_in(server, federation, provider, mistake):
    prepare, check = MISTAKES[mistake]
    await federation.change(AT_ONCE)
    left = await federation.leave(await federation.begin())
    counts = [await server.store.count(each) for each in (USERS, SESSIONS, IDENTITY_LINKS)]
    prepare(provider)

    page = await federation.come_back(left)

    assert page.name == "login-name", page.text
    assert FAILED in page.text
    after = [await server.store.count(each) for each in (USERS, SESSIONS, IDENTITY_LINKS)]
    assert after == counts
    (refusal,) = (await server.store.find(REFUSALS)).records
    assert refusal.checks[-1].name == check, refusal.sentence
    assert refusal.request_id in page.text
    for secret in (ACCESS_TOKEN, left.answer["state"], left.answer["nonce"]):
        assert secret not in repr(refusal)


DISCOVERY = {
    "another issuer": (discovered(issuer="https://other.example"), "provider_configured"),
    "no authorization endpoint": (
        discovered(authorization_endpoint=None),
        "provider_configured",
    ),
    "an endpoint that is no address": (discovered(token_endpoint="x"), "provider_configured"),
    "an endpoint of another scheme": (
        discovered(authorization_endpoint="javascript:alert(1)"),
        "provider_configured",
    ),
    "a key set with a password": (
        discovered(jwks_uri="https://a:b@corp.example/keys"),
        "provider_configured",
    ),
    "an endpoint at a port of mail": (
        discovered(token_endpoint="https://corp.example:25/"),
        "provider_configured",
    ),
    "pushed requests only": (
        discovered(require_pushed_authorization_requests=True),
        "provider_configured",
    ),
    "not there": (
        answered("/.well-known/openid-configuration", 404, b"{}"),
        "provider_reached",
    ),
    "not JSON": (answered("/.well-known/openid-configuration", 200, b"<"), "provider_reached"),
    "a list": (answered("/.well-known/openid-configuration", 200, b"[]"), "provider_reached"),
}


@pytest.mark.promise("connections: refused")
@pytest.mark.parametrize("mistake", DISCOVERY)
async def test_nobody_leaves_for_a_provider_whose_document_is_wrong(
    server, federation, provider, mistake
):
    prepare, check = DISCOVERY[mistake]
    prepare(provider)

    page = await federation.visitor.follow(await federation.leave(await federation.begin()))

    assert (page.name, FAILED in page.text) == ("login-name", True), page.text
    (refusal,) = (await server.store.find(REFUSALS)).records
    assert refusal.checks[-1].name == check, refusal.sentence


ANSWERS = {
    "access denied": ({"code": None, "error": "access_denied"}, "did not sign you in"),
    "an error of the provider": ({"code": None, "error": "server_error"}, "did not sign you in"),
    "no code": ({"code": None}, "did not sign you in"),
    "iss of another": ({"iss": "https://other.example"}, FAILED),
}


@pytest.mark.promise("connections: refused")
@pytest.mark.parametrize("answer", ANSWERS)
async def test_an_answer_without_a_usable_code_leads_back(federation, provider, answer):
    sent, text = ANSWERS[answer]
    left = await federation.leave(await federation.begin())

    page = await federation.come_back(left, **sent)

    assert (page.name, text in page.text) == ("login-name", True), page.text
    assert not [path for path, *_ in provider.calls if path == "/token"]


@pytest.mark.promise("connections: refused")
async def test_a_provider_that_names_its_issuer_has_to_do_so(federation, provider):
    provider.discovery = {"authorization_response_iss_parameter_supported": True}
    left = await federation.leave(await federation.begin())

    page = await federation.come_back(left)

    assert FAILED in page.text
