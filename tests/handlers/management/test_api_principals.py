"""Every kind of caller at every call, at what is theirs, another's, missing and malformed.

One world serves all calls of a caller: what is refused leaves it as it is, and what is
let in is tested elsewhere.
"""

from __future__ import annotations

import pytest

from idp.identity.users.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from idp.records import AUTHORIZATIONS, PATS, USERS
from storage import Delete, Update
from tests.support.management.api_samples import CALLS, address
from tests.support.management.callers import Caller, new_caller, refused
from tests.support.protocol.exchanging import Broker
from tests.support.samples import policies
from tests.support.store import writes
from tests.support.store.stored import only
from tests.support.store.writes import at

ORGANIZATION = "x-idp-orgid"
MALFORMED = ["x" * 300, "%00", "%ff", "ä"]
# Whoever asks has it: the same for everybody, or of their own organization.
OF_ORGANIZATIONS = {permission for held in ORGANIZATION_ROLES.values() for permission in held}
OF_NOBODY = {"GET /management/v1/presets/{name}", *policies.OF_WHOEVER_ASKS}


@pytest.fixture
def settings():
    return {"refused_credentials_limit": 1_000_000}


@pytest.fixture
def written(server, monkeypatch):
    return writes.recorded(server.store, monkeypatch)


async def dead(server, visitor, new_visitor, demo, world):
    """Credentials that open nothing here, by their names."""
    browser = new_visitor()
    tokens = await demo.tokens(browser, *server.user)
    broker = await Broker.make(server, visitor, new_visitor)
    _, person = await broker.person()
    app = await server.register(grant_types=["client_credentials"])
    own = await app.token(new_visitor(), {"grant_type": "client_credentials"})
    return {
        "anonymous": None,
        "an application's token of a person": tokens["access_token"],
        "an application's own token": own.json()["access_token"],
        "an exchanged token": (await broker.granted(person["access_token"]))["access_token"],
        "an ID token": tokens["id_token"],
        "a refresh token": tokens["refresh_token"],
        "a session cookie": next(iter(browser.cookies.jar)).value,
        "a revoked token": await ended(server, world, revoke),
        "an expired token": await ended(server, world, expire),
        "a token of a deactivated user": await ended(server, world, deactivate),
    }


async def ended(server, world, end):
    """A token of an owner of the instance that counts no more."""
    caller = await new_caller(server, world.visitor, world.other, "IAM_OWNER", everywhere=True)
    held = await server.store.find(PATS, {"user_id": caller.user_id})
    await server.store.commit(end(server, held.records[0]))
    return caller.token


def revoke(server, pat):
    return Delete(PATS, pat.id)


def expire(server, pat):
    return Update(PATS, pat.id, set={"expires_at": server.clock.now()})


def deactivate(server, pat):
    return Update(USERS, pat.user_id, set={"state": "inactive"})


def places(call, target, n=0):
    """What the call can be made at, by name: its address, and the organization that is named."""
    parameters = CALLS[call].parameters
    missing = address(CALLS[call], **dict.fromkeys(parameters, "nobody"))
    malformed = dict.fromkeys(parameters, MALFORMED[n % len(MALFORMED)])
    return {
        "own": (target.address, "own"),
        "another organization": (target.address, "other"),
        "missing": (missing, "own" if parameters else "nobody"),
        "malformed": (address(CALLS[call], **malformed), "own" if parameters else "x" * 300),
    }


async def made(world, call, target, place, caller):
    url, named = place
    org_id = {"own": world.own.id, "other": world.other.id}.get(named, named)
    return await target._replace(address=url).by(caller, **{ORGANIZATION: org_id})


@pytest.mark.full
async def test_credentials_that_do_not_count_open_no_call(
    server, visitor, new_visitor, demo, world, written
):
    callers = await dead(server, visitor, new_visitor, demo, world)
    for n, call in enumerate(CALLS):
        target = await world.target(CALLS[call])
        where = list(places(call, target, n).items())
        for m, (name, token) in enumerate(callers.items()):
            what, place = where[(n + m) % len(where)]
            with at(call, f"{name}, {what}", written):
                page = await made(world, call, target, place, Caller(visitor, token))
                error_code = refused(page, 401, 16)[""]
                assert (error_code == "token.missing") == (token is None)
                assert page.headers["WWW-Authenticate"].startswith("Bearer ")


async def human(server, new_visitor, world):
    """A person whose application got a token for this service, and who manages nothing."""
    party, browser = await server.register(), new_visitor()
    page = await browser.sign_in(party.authorize_url(), *server.user)
    authorization = await only(server.store, AUTHORIZATIONS)
    await server.store.commit(
        Update(AUTHORIZATIONS, authorization.id, set={"audience": [server.issuer]})
    )
    token = (await party.redeem(browser, page.answer["code"])).json()["access_token"]
    return Caller(browser, token)


# By the name of a caller: their role, whether it counts everywhere, and where they are at home.
LIVE = {
    "human": (None, False, "own"),
    "owner": ("ORG_OWNER", False, "own"),
    "another organization's owner": ("ORG_OWNER", False, "other"),
    "user manager": ("ORG_USER_MANAGER", False, "own"),
    "owner of the instance": ("IAM_OWNER", True, "other"),
}


@pytest.mark.promise(
    "client authentication: missing permission",
    "client authentication: creation of organizations and users",
    "organization setup: 403",
)
@pytest.mark.full
@pytest.mark.parametrize("name", LIVE)
async def test_a_caller_reaches_what_their_role_says_and_nothing_else(
    server, visitor, new_visitor, world, written, name
):
    role, everywhere, home = LIVE[name]
    if role is None:
        caller = await human(server, new_visitor, world)
    else:
        organization = world.own if home == "own" else world.other
        caller = await new_caller(server, visitor, organization, role, everywhere=everywhere)
    held = {**INSTANCE_ROLES, **ORGANIZATION_ROLES}.get(role, frozenset())
    for n, call in enumerate(CALLS):
        target = await world.target(CALLS[call])
        for what, place in places(call, target, n).items():
            status = expected(call, what, held, everywhere, home)
            if status is None:
                continue
            with at(call, what, written):
                page = await made(world, call, target, place, caller)
                refused(page, status, {403: 7, 404: 5}[status])


def expected(call, what, held, everywhere, home):
    """The status of a refusal; None where the call is let in, which is tested elsewhere."""
    permission, has_address = CALLS[call].permission, bool(CALLS[call].parameters)
    if permission not in held:
        return 403
    is_there = what in ("own", "another organization")
    named = "other" if what == "another organization" else "own"
    if not everywhere and (named != home or not (is_there or has_address)):
        return 403
    if not is_there:
        return 404
    is_somebody_s = has_address and call not in OF_NOBODY and permission in OF_ORGANIZATIONS
    return 404 if what == "another organization" and is_somebody_s else None
