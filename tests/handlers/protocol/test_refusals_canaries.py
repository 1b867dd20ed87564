"""A secret in the wrong place: whatever and wherever it is, nothing keeps it or tells of it."""

from __future__ import annotations

import base64
from urllib.parse import quote, urlencode

import msgspec
import pytest

from idp.cli.commands import explain
from idp.identity.users import personal_access_tokens as user_personal_access_tokens
from idp.identity.users.subjects import Subject
from idp.records import INSTANCE_ID, INSTANCES, ORGANIZATIONS, USERS
from tests.handlers.protocol.mistakes.world import AUTHORIZE, END_SESSION, TOKEN, USERINFO
from tests.support.browsers.wire import FORM
from tests.support.measured.logged import log_fixture  # noqa: F401 - a fixture
from tests.support.protocol.relying_party import VERIFIER
from tests.support.slices import one_in
from tests.support.store.stored import refusals

ENDPOINTS = [AUTHORIZE, TOKEN, USERINFO, END_SESSION]
KINDS = [
    "client secret",
    "code",
    "code verifier",
    "refresh token",
    "access token",
    "ID token",
    "personal access token",
    "password",
    "cookie",
    "code by mail",
]
PARAMETERS = [
    "access_token",
    "acr_values",
    "client_assertion",
    "client_assertion_type",
    "client_id",
    "client_secret",
    "code",
    "code_challenge",
    "code_challenge_method",
    "code_verifier",
    "display",
    "error",
    "grant_type",
    "id_token_hint",
    "login_hint",
    "max_age",
    "nonce",
    "password",
    "post_logout_redirect_uri",
    "prompt",
    "redirect_uri",
    "refresh_token",
    "request",
    "request_uri",
    "resource",
    "response_mode",
    "response_type",
    "scope",
    "state",
    "ui_locales",
    "username",
    "unknown",
]
HEADERS = ["Content-Type", "Cookie", "DPoP", "Origin", "Referer", "User-Agent", "X-Request-Id"]
# By default each kind is sent to one endpoint, the next one to the next.
PLACES = one_in(
    len(ENDPOINTS),
    [
        (kind, ENDPOINTS[(n + turn) % len(ENDPOINTS)])
        for n, kind in enumerate(KINDS)
        for turn in range(len(ENDPOINTS))
    ],
)
# Their shape tells nothing: a caller who chooses them as a request's id wants to read them there.
SHAPELESS = ["password", "code by mail", "code verifier"]


async def secret_of(world, kind):
    """A live secret of this kind."""
    if kind == "code":
        return await world.code()
    if kind == "personal access token":
        return await personal_access_token(world)
    tokens = await world.tokens()
    return {
        "client secret": world.wiki.client_secret,
        "code verifier": VERIFIER,
        "refresh token": tokens["refresh_token"],
        "access token": tokens["access_token"],
        "ID token": tokens["id_token"],
        "password": world.server.user[1],
        "cookie": next(iter(world.visitor.cookies.values())),
        "code by mail": "48151623",
    }[kind]


async def personal_access_token(world):
    service = world.server.service
    (user,) = (await service.store.find(USERS, {"login_key": world.server.user[0]})).records
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    organization = await service.store.get(ORGANIZATIONS, user.org_id)
    subject = Subject(instance=instance, organization=organization, user=user)
    now = service.clock.now()
    return user_personal_access_tokens.new(
        service.random, service.config.vendor, subject, now, now
    )[1]


def forms_of(world, path, name, secret):
    """Requests that are right but for the secret in this parameter, or beside nothing else."""
    whole = world.wiki.authorize_form() if path == AUTHORIZE else {"grant_type": "refresh_token"}
    yield whole | {name: secret}
    yield whole | {name: f"openid {secret}"}
    yield {name: secret}


def basics(world, secret):
    """Authorization headers with the secret in every part."""
    wiki = world.wiki.client_id
    for pair in (f"{secret}:", f"{secret}:{wiki}", f"{wiki}:{secret}", f"{secret}:{secret}"):
        yield "Basic " + base64.b64encode(pair.encode()).decode()
    yield from (f"Bearer {secret}", f"DPoP {secret}", f"Basic {secret}", secret, f"{secret} x")


async def send(world, path, form, **headers):
    """By GET and by POST; with a clock that runs, so that every refusal is kept."""
    asked = await world.visitor.get(path, params=form, headers=headers)
    posted = await world.visitor.post(
        path, content=urlencode(form), headers={"Content-Type": FORM} | headers
    )
    world.server.clock.advance(20)
    return [asked, posted]


async def all_output(world, log, answers):
    """What the store keeps, the log says and `idp explain` prints."""
    kept = await refusals(world.server.store)
    ids = {each.request_id for each in kept}
    found = [await explain.find(world.server.service, id) for id in sorted(ids)]
    told = [explain.in_text(each) + explain.in_json(each) for each in found]
    lines = [line for line in log.getvalue().splitlines() if '"HTTP Request:' not in line]
    assert lines
    assert len(kept) >= len([page for page in answers if page.status in (400, 401)])
    return "\n".join([msgspec.json.encode(kept).decode(), *lines, *told])


def leaked(secret, told):
    """Whether the secret is there, or a piece of it that makes the rest guessable."""
    pieces = [secret, quote(secret, safe=""), secret[:16], secret[-16:]]
    return [piece for piece in pieces if len(piece) > 7 and piece in told]


@pytest.mark.full
@pytest.mark.parametrize(("kind", "path"), PLACES)
async def test_no_secret_in_a_wrong_parameter_is_stored_logged_or_returned(world, log, path, kind):
    secret = await secret_of(world, kind)
    log.truncate(0)
    answers = []
    for name in PARAMETERS:
        for form in forms_of(world, path, name, secret):
            answers += await send(world, path, form)
    answers += await send(world, path, {secret: secret})
    told = await all_output(world, log, answers)

    assert not leaked(secret, told)


@pytest.mark.load
@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("kind", KINDS)
async def test_no_secret_in_a_wrong_header_is_stored_logged_or_returned(world, log, path, kind):
    secret = await secret_of(world, kind)
    log.truncate(0)
    form, answers = {"client_id": world.wiki.client_id}, []
    for authorization in basics(world, secret):
        answers += await send(world, path, form, Authorization=authorization)
    for name in HEADERS:
        if name != "X-Request-Id" or kind not in SHAPELESS:
            answers += await send(world, path, form, **{name: secret})
    told = await all_output(world, log, answers)
    words = [base64.b64encode(f"{secret}:".encode()).decode()[:16]]

    assert not leaked(secret, told)
    assert not [word for word in words if word in told]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in SHAPELESS])
async def test_no_secret_within_an_address_is_stored_logged_or_returned(world, log, kind):
    secret = await secret_of(world, kind)
    log.truncate(0)
    answers = []
    for address in (f"https://client.example/cb?x={secret}", f"https://x/{'y' * 280}/{secret}"):
        form = world.wiki.authorize_form(redirect_uri=address)
        answers += await send(world, AUTHORIZE, form)
    told = await all_output(world, log, answers)

    assert "https://client.example/cb?x=" in told
    assert not leaked(secret, told)


async def test_what_is_no_secret_stays_readable(world, log):
    page = await world.authorize(redirect_uri="https://client.example/CB")
    told = await all_output(world, log, [page])

    assert world.wiki.client_id in log.getvalue()
    assert page.headers["X-Request-Id"] in log.getvalue()
    assert "https://client.example/CB" in log.getvalue()
    assert told.count(world.wiki.client_id) > 2
