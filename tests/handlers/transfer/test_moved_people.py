"""An organization that moves into another installation: whoever is in it gets in there as here,
and what an export never holds stays behind."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from idp.records import PASSKEYS, PATS, RECOVERY_CODES, USER_KEYS
from tests.support.browsers.visitor import Visitor
from tests.support.management.api_samples import MACHINES, PROJECTS
from tests.support.management.callers import (
    Caller,
    instance_owner,
    new_caller,
    new_organization,
    refused,
)
from tests.support.protocol.answers import assert_granted
from tests.support.protocol.relying_party import RelyingParty
from tests.support.servers.mongod import fresh_database
from tests.support.service import start_server, stop_server
from tests.support.sign_in.factors import code, give_app, give_codes
from tests.support.sign_in.people import PASSWORD, PATH
from tests.support.store.audit import events_agree
from tests.support.transfer.bulk import IMPORT, imported

EXPORT = "/admin/v1/export"
NAME, WITH_APP = "mini@mouse.example", "maxi@mouse.example"
EVERYTHING = {"withPasswords": True, "withOtp": True}
# Specification 4.11: what an export never holds, by any name that a package may have for it.
EXCLUDED = {
    *("machineKeys", "appKeys", "pats", "personalAccessTokens", "passkeys", "passwordless"),
    *("instanceMembers", "iamMembers", "domainPolicy", "iamPolicy", "secondFactors"),
    *("multiFactors", "oidcIdps", "jwtIdps", "idps", "recoveryCodes", "sessions"),
}


@dataclass
class Moved:
    """What its owner knows of an organization."""

    org_id: str
    app: dict
    robot: dict
    token: str

    def party(self, server) -> RelyingParty:
        """Its application, which asks that installation."""
        redirect_uri = "https://shop.example/cb"
        return RelyingParty(
            server.issuer, self.app["clientId"], self.app["clientSecret"], redirect_uri
        )

    async def by_secret(self, server, visitor):
        party = RelyingParty(server.issuer, self.robot["clientId"], self.robot["clientSecret"], "")
        return await party.token(visitor, {"grant_type": "client_credentials", "scope": "openid"})


@pytest.fixture
def settings(tmp_path):
    return {"store": f"sqlite:///{tmp_path}/first.sqlite3"}


@pytest.fixture(params=["sqlite", pytest.param("mongodb", marks=pytest.mark.load)])
def other(request, io_loop, server, tmp_path):
    """Another installation."""
    if request.param == "sqlite":
        yield from _started(io_loop, server.clock, f"sqlite:///{tmp_path}/second.sqlite3")
        return
    with fresh_database(request.getfixturevalue("mongod")) as url:
        yield from _started(io_loop, server.clock, url)


def _started(io_loop, clock, url):
    made, http = io_loop.run_sync(lambda: start_server(clock, store=url))
    yield made
    io_loop.run_sync(lambda: stop_server(made, http))


@pytest.fixture
def third(io_loop, server, tmp_path):
    """One more, on the kind of store that the first one has."""
    yield from _started(io_loop, server.clock, f"sqlite:///{tmp_path}/third.sqlite3")


@pytest.fixture
def stranger(io_loop, other):
    """A browser at the other installation."""
    visitor = Visitor(other.issuer)
    yield visitor
    io_loop.run_sync(visitor.close)


@pytest.fixture
def moved(io_loop, server, visitor):
    return io_loop.run_sync(lambda: make(server, visitor))


async def make(server, visitor) -> Moved:
    """People, one with an authenticator app, a service user, and an application."""
    home = await new_organization(server, "mouse.example")
    owner = await instance_owner(server, visitor)

    async def made(path, body, method="POST"):
        page = await owner.request(method, path, body, x_idp_orgid=home.id)
        assert page.status == 200, page.text
        return page.json()

    for name in (NAME, WITH_APP):
        await made(PATH, person(name, home.id))
    await give_app(server, WITH_APP)
    project = (await made(PROJECTS, {"name": "Shop"}))["id"]
    app = await made(f"{PROJECTS}/{project}/apps/oidc", web())
    robot = (await made(MACHINES, {"userName": "robot", "name": "Robot"}))["userId"]
    address = f"/management/v1/users/{robot}"
    secret = await made(f"{address}/secret", {}, "PUT")
    token = (await made(f"{address}/pats", {"expirationDate": "2100-01-01T00:00:00Z"}))["token"]
    await made(f"{address}/keys", {"expirationDate": "2100-01-01T00:00:00Z"})
    await made("/management/v1/orgs/me/members", {"userId": robot, "roles": ["ORG_OWNER"]})
    return Moved(home.id, app, secret, token)


def person(name, org_id):
    return {
        "username": name,
        "organization": {"orgId": org_id},
        "profile": {"givenName": "Mini", "familyName": "Mouse"},
        "email": {"email": name, "isVerified": True},
        "password": {"password": PASSWORD},
    }


def web():
    return {
        "name": "Web",
        "redirectUris": ["https://shop.example/cb"],
        "authMethodType": "OIDC_AUTH_METHOD_TYPE_BASIC",
    }


async def exported_organization(server, visitor, org_id) -> dict:
    """What the installation's owner is told of the organization, with everything."""
    owner = await instance_owner(server, visitor)
    page = await owner.post(EXPORT, {"orgIds": [org_id], **EVERYTHING})
    assert page.status == 200, page.text
    (found,) = page.json()["orgs"]
    return found


async def import_organization(other, stranger, org) -> dict:
    owner = await instance_owner(other, stranger)
    return await imported(owner, {"dataOrgs": {"orgs": [org]}, "timeout": "1m"})


@pytest.mark.full
@pytest.mark.promise("import: data_orgsv1")
async def test_everybody_gets_in_after_a_move_as_before(server, visitor, other, stranger, moved):
    report = await import_organization(
        other, stranger, await exported_organization(server, visitor, moved.org_id)
    )
    assert (report["state"], report.get("errors", [])) == ("JOB_STATE_SUCCEEDED", [])

    party = moved.party(other)
    tokens = await party.tokens(stranger, NAME, PASSWORD)
    userinfo = (await party.userinfo(stranger, tokens["access_token"])).json()
    assert userinfo["email"] == NAME
    assert_granted(await moved.by_secret(other, stranger))


@pytest.mark.full
@pytest.mark.promise("import: data_orgsv1")
async def test_an_authenticator_app_goes_on_counting(server, visitor, other, stranger, moved):
    await import_organization(
        other, stranger, await exported_organization(server, visitor, moved.org_id)
    )
    party = moved.party(other)

    page = await stranger.sign_in(party.authorize_url(), WITH_APP, PASSWORD)
    assert page.name == "totp"
    page = await stranger.submit(page, code=code(other.clock))

    assert (await party.redeem(stranger, page.answer["code"])).status == 200


@pytest.mark.parametrize("other", ["mongodb"], indirect=True)
async def test_it_is_the_same_after_the_way_back_to_the_first_kind_of_store(
    server, visitor, other, stranger, third, moved
):
    first = await exported_organization(server, visitor, moved.org_id)
    await import_organization(other, stranger, first)
    second = await exported_organization(other, stranger, moved.org_id)
    third_visitor = Visitor(third.issuer)
    try:
        report = await import_organization(third, third_visitor, second)
        assert (report["state"], report.get("errors", [])) == ("JOB_STATE_SUCCEEDED", [])
        assert first == second == await exported_organization(third, third_visitor, moved.org_id)
        tokens = await moved.party(third).tokens(third_visitor, NAME, PASSWORD)
        assert tokens["token_type"] == "Bearer"
    finally:
        await third_visitor.close()
    for each in (other, third):
        await events_agree(each.store)


@pytest.mark.full
@pytest.mark.promise("export: not included")
async def test_what_an_export_never_holds_stays_behind(server, visitor, other, stranger, moved):
    codes = await give_codes(server, WITH_APP)
    org = await exported_organization(server, visitor, moved.org_id)
    await import_organization(other, stranger, org)

    assert not EXCLUDED & set(org)
    text = json.dumps(org)
    assert not [secret for secret in (moved.token, *codes) if secret in text]
    assert not [secret for secret in (PASSWORD, *secrets_of(moved)) if secret in text]
    refused(await Caller(stranger, moved.token).get("/management/v1/orgs/me"), 401, 16)
    users = {each["userId"] for member in ("humanUsers", "machineUsers") for each in org[member]}
    for collection in (PATS, PASSKEYS, RECOVERY_CODES):
        left = [each.user_id async for each in other.store.scan(collection)]
        assert not users & set(left)
    assert not users & {each.owner_id async for each in other.store.scan(USER_KEYS)}


def secrets_of(moved):
    return (moved.app["clientSecret"], moved.robot["clientSecret"])


@pytest.mark.full
async def test_without_the_option_neither_passwords_nor_apps_move(
    server, visitor, other, stranger, moved
):
    owner = await instance_owner(server, visitor)
    (org,) = (await owner.post(EXPORT, {"orgIds": [moved.org_id]})).json()["orgs"]
    await import_organization(other, stranger, org)

    page = await stranger.sign_in(other.demo().authorize_url(), WITH_APP, PASSWORD)
    assert (page.status, page.name) == (400, "password")
    assert (await moved.by_secret(other, stranger)).status == 401


async def test_only_who_owns_the_installation_moves_anything(server, visitor, moved):
    home = await new_organization(server, "own.example")
    manager = await new_caller(server, visitor, home, "ORG_OWNER")

    refused(await manager.post(EXPORT, {"orgIds": [home.id]}), 403, 7)
    refused(await manager.post(IMPORT, {"dataOrgs": {"orgs": []}}), 403, 7)
