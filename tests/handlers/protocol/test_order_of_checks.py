"""Mending one mistake after the other walks through the checks, in the order that is declared."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from idp.oauth.refusals import authorize, device, par, token
from idp.oauth.refusals.check import USER_ALLOWED
from idp.records import APPLICATIONS, USERS
from storage import Update
from tests.handlers.protocol.mistakes.world import AUTHORIZE, TOKEN, World
from tests.support.browsers.visitor import Visitor
from tests.support.browsers.wire import FORM
from tests.support.protocol.device import GRANT, GRANTS, Device, at_confirmation
from tests.support.protocol.relying_party import CHALLENGE, VERIFIER, RelyingParty
from tests.support.store.stored import refusals

ANOTHER = "https://evil.example/"
PAR = "/oauth/v2/par"
DEVICE = "/oauth/v2/device_authorization"
REFERENCE = "urn:ietf:params:oauth:request_uri:unknown"


def walked(checks):
    """The names of the checks that a walk meets: who may use the application is no mistake in a
    request, and is judged together with all else that stands behind a grant."""
    return [check.name for check in checks if check is not USER_ALLOWED]


class Request:
    """A request in which everything is wrong, until it is mended. `twice` is sent two times."""

    def __init__(self, world, path, **fields):
        self.world, self.path, self.fields = world, path, fields
        self.method, self.kind, self.twice, self.headers = "PUT", "text/plain", ["state", "x"], {}
        self.seen = set()

    async def send(self):
        pairs = [(name, value) for name, value in self.fields.items() if value]
        pairs += [(name, "1") for name in self.twice for _ in range(2)]
        return await self.world.visitor.request(
            self.method,
            self.path,
            content=urlencode(pairs),
            headers={"Content-Type": self.kind} | self.headers,
        )

    async def walk(self, mends):
        """The checks that fail, one mended after the other; and the answer to the last mend."""
        failed = []
        for mend in [{}, *mends]:
            for name, value in mend.items():
                if hasattr(self, name):
                    setattr(self, name, value)
                else:
                    self.fields[name] = value
            page = await self.send()
            kept = await refusals(self.world.server.store)
            kept = [each for each in kept if each.id not in self.seen]
            self.seen |= {each.id for each in kept}
            failed += [made.name for each in kept for made in each.checks if not made.passed]
        return failed, page


async def hint_of_somebody(world):
    """An ID token; the browser itself is nobody's."""
    other = Visitor(world.server.issuer)
    tokens = await World(world.server, other, world.wiki).tokens()
    await other.close()
    return tokens["id_token"]


WRONG = {
    "nonce": "n" * 5000,
    "request": "e30.e30.",
    "response_type": "token",
    "response_mode": "telepathy",
    "scope": "email",
    "code_challenge": "c",
    "code_challenge_method": "S256",
    "prompt": "none login",
    "max_age": "1h",
    "id_token_hint": "e30.e30.e30",
}


def mends(hint):
    """What mends these parameters, one after the other."""
    return [
        {"nonce": "\0"},
        {"request": ""},
        {"response_type": "code"},
        {"response_mode": ""},
        {"scope": "openid"},
        {"code_challenge": CHALLENGE},
        {"nonce": "n"},
        {"prompt": "none"},
        {
            "max_age": "",
            "id_token_hint": hint,
            "claims": '{"id_token": {"sub": {"value": "x"}}}',
        },
        {"claims": "", "id_token_hint": ""},
    ]


async def test_the_checks_of_an_authorization_request(world):
    pushing = await world.another(requires_pushed_requests=True)
    request = Request(
        world, AUTHORIZE, client_id="wiki", redirect_uri=ANOTHER, request_uri=REFERENCE, **WRONG
    )
    failed, page = await request.walk(
        [
            {"method": "POST"},
            {"kind": FORM},
            {"twice": ["x"]},
            {"client_id": pushing.client_id},
            {"request_uri": ""},
            {"redirect_uri": world.wiki.redirect_uri},
            {"twice": []},
            {"client_id": world.wiki.client_id},
            *mends(await hint_of_somebody(world)),
            {"prompt": ""},
        ]
    )

    assert failed == walked(authorize.CHECKS)
    assert "/ui/login?flow=" in page.location


async def test_the_checks_of_a_pushed_request(world):
    api = await world.another(app_type="api")
    request = Request(world, PAR, redirect_uri=ANOTHER, request_uri=REFERENCE, **WRONG)
    failed, page = await request.walk(
        [
            *until_the_client(api),
            {"headers": world.wiki.basic()},
            {"request_uri": ""},
            {"redirect_uri": world.wiki.redirect_uri},
            *mends(await hint_of_somebody(world)),
        ]
    )

    # whether it was pushed is the one thing that a pushed request can't get wrong
    assert failed == [check.name for check in par.CHECKS if check is not authorize.PUSHED]
    assert page.status == 201


def header(party, client_id=None, secret="wrong"):
    """The Authorization header of the party, but for what is given."""
    other = RelyingParty(party.issuer, client_id or party.client_id, secret, party.redirect_uri)
    return other.basic()


def until_the_client(party):
    """What mends a request until the client is proven."""
    return [
        {"method": "POST"},
        {"kind": FORM},
        {"twice": []},
        {"headers": header(party, client_id="wiki")},
        {"headers": {}, "client_id": party.client_id},
        {"headers": header(party), "client_id": "", "client_secret": ""},
        {"headers": party.basic()},
    ]


def until_the_grant(party, other_grant, grant):
    """What mends a token request until the grant itself is looked at."""
    return [*until_the_client(party), {"grant_type": other_grant}, {"grant_type": grant}]


async def code_of_another_person(world, party, visitor):
    person = await world.server.copy_user("gone@localhost")
    return (await party.sign_in(visitor, *person)).answer["code"]


async def deactivate_the_other_person(store):
    (user,) = (await store.find(USERS, {"login_key": "gone@localhost"})).records
    await store.commit(Update(USERS, user.id, set={"state": "inactive"}))


async def code_of_an_ended_session(world, party, visitor):
    other = World(world.server, visitor, party)
    hint = (await other.tokens())["id_token"]
    code = await other.code()
    await visitor.get(party.logout_url(id_token_hint=hint))
    return code


async def test_the_checks_of_a_code(world, new_visitor):
    party = await world.another(grant_types=["authorization_code"])
    used, late = await world.code(party), await world.code(party)
    await party.redeem(world.visitor, used)
    world.server.clock.advance(100)
    gone = await code_of_another_person(world, party, new_visitor())
    await deactivate_the_other_person(world.server.store)
    ended = await code_of_an_ended_session(world, party, new_visitor())
    foreign, fresh = await world.code(), await world.code(party)
    request = Request(world, TOKEN, grant_type="password")
    failed, page = await request.walk(
        [
            *until_the_grant(party, "refresh_token", "authorization_code"),
            {"redirect_uri": ANOTHER, "code": "c"},
            {"code": foreign},
            {"code": used},
            {"redirect_uri": party.redirect_uri},
            {"code_verifier": VERIFIER},
            {"code": late},
            {"code": gone},
            {"code": ended},
            {"code": fresh},
        ]
    )

    assert failed == walked(token.CODE_CHECKS)
    assert page.status == 200


async def test_the_checks_of_a_refresh_token(world, new_visitor):
    party, store = await world.another(), world.server.store
    late = (await world.tokens(party))["refresh_token"]
    world.server.clock.advance(31 * 86_400)
    code = await code_of_another_person(world, party, new_visitor())
    gone = (await party.redeem(world.visitor, code)).json()["refresh_token"]
    await deactivate_the_other_person(store)
    revoked, spent, fresh = [(await world.tokens(party))["refresh_token"] for _ in range(3)]
    foreign = (await world.tokens())["refresh_token"]
    for each in (revoked, revoked, spent):
        await party.refresh(world.visitor, each)
    only = {"grant_types": ["refresh_token"]}
    await store.commit(Update(APPLICATIONS, party.client_id, set=only))
    request = Request(world, TOKEN, grant_type="password")
    request.seen = {each.id for each in await refusals(store)}
    failed, page = await request.walk(
        [
            *until_the_grant(party, "authorization_code", "refresh_token"),
            {"refresh_token": "r"},
            {"refresh_token": foreign},
            {"refresh_token": revoked},
            {"refresh_token": spent},
            {"refresh_token": late},
            {"refresh_token": gone, "scope": "openid phone"},
            {"scope": ""},
            {"refresh_token": fresh},
        ]
    )

    assert failed == walked(token.REFRESH_CHECKS)
    assert page.status == 200


async def test_the_checks_of_a_device_authorization(world):
    allowed = await world.another(grant_types=GRANTS)
    request = Request(world, DEVICE, scope='"openid"')
    failed, page = await request.walk(
        [
            *until_the_client(world.wiki),
            {"headers": allowed.basic()},
            {"scope": "openid"},
        ]
    )

    assert failed == [check.name for check in device.CHECKS]
    assert page.status == 200


@pytest.mark.full
async def test_the_checks_of_a_poll(world, new_visitor):
    party = await world.another(grant_types=[GRANT])
    foreign = await shown(world, await world.server.register("Radio", grant_types=GRANTS))
    late = await shown(world, party)
    world.server.clock.advance(300)
    person, other = world.server.user, await world.server.copy_user("gone@localhost")
    used = await decided(world.visitor, await shown(world, party), person)
    await used.poll()
    denied = await decided(world.visitor, await shown(world, party), person, "deny")
    hasty = await shown(world, party)
    await hasty.poll()
    gone = await decided(new_visitor(), await shown(world, party), other)
    await deactivate_the_other_person(world.server.store)
    leaving = new_visitor()
    ended = await decided(leaving, await shown(world, party), person)
    await leaving.submit(await leaving.open("/oidc/v1/end_session"), decision="logout")
    fresh = await decided(world.visitor, await shown(world, party), person)
    request = Request(world, TOKEN, grant_type="password")
    failed, page = await request.walk(
        [
            *until_the_grant(party, "refresh_token", GRANT),
            {"device_code": "d"},
            *[
                {"device_code": each.answer["device_code"]}
                for each in (foreign, used, denied, late, hasty, gone, ended, fresh)
            ],
        ]
    )

    assert failed == walked(device.POLL_CHECKS)
    assert page.status == 200


async def shown(world, party) -> Device:
    """A device that shows its code."""
    made = Device(party, world.visitor)
    await made.begin(scope="openid")
    return made


async def decided(visitor, waiting: Device, person, decision="allow") -> Device:
    page = await at_confirmation(visitor, waiting.answer["user_code"], person)
    await visitor.submit(page, decision=decision)
    return waiting
